//! Results folders of several machines become one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use aerofed::run_folder;

use super::reproduction::Request;
use super::stored::{check_whole, first_difference};
use crate::Error;

/// Files of a run that must be the same wherever it was done; the rest holds wall-clock times.
const SAME: [&str; 2] = ["scenario.toml", "rounds.csv"];

/// Brings the finished runs of results folders into one, `out`, which may hold some already.
/// Returns what they were asked for together, and how many runs were new. Nothing is written before all of
/// them have been checked.
///
/// # Errors
/// When a folder is no results folder, when they were asked for different things, when a run is damaged, or
/// when a run that two of them hold came out differently.
pub fn merge(folders: &[&Path], out: &Path) -> Result<(Request, usize), Error> {
    Request::check_place(out)?;
    let request = joined(folders, out)?;
    let runs = out.join("runs");
    let new = new_runs(folders, &runs)?;
    // First of all: it makes the folder a results folder, whatever happens to the rest.
    request.write(out)?;
    fs::create_dir_all(&runs).map_err(aerofed::Error::io("create", &runs))?;
    for (name, source) in &new {
        run_folder::copy(source, &runs.join(name), false)?;
    }
    Ok((request, new.len()))
}

/// What was asked for in all folders together.
fn joined(folders: &[&Path], out: &Path) -> Result<Request, Error> {
    let mut request: Option<Request> = None;
    let before = out.join("request.json").exists().then_some(out);
    for folder in before.iter().chain(folders) {
        let theirs = Request::read(folder)?;
        match &mut request {
            None => request = Some(theirs),
            Some(request) => request.join(theirs).map_err(|error| match error {
                Error::Plan { reason, .. } => Error::Plan {
                    place: format!("merge {}", folder.display()),
                    reason,
                },
                other => other,
            })?,
        }
    }
    request.ok_or_else(|| Error::Plan {
        place: "merge".into(),
        reason: "no folder given".into(),
    })
}

/// The runs that `to` does not hold, by the names of their folders.
fn new_runs(folders: &[&Path], to: &Path) -> Result<BTreeMap<OsString, PathBuf>, Error> {
    let mut new: BTreeMap<OsString, PathBuf> = BTreeMap::new();
    for from in folders.iter().map(|folder| folder.join("runs")) {
        if !from.exists() {
            continue;
        }
        for entry in fs::read_dir(&from).map_err(aerofed::Error::io("read", &from))? {
            let entry = entry.map_err(aerofed::Error::io("read", &from))?;
            let (source, name) = (entry.path(), entry.file_name());
            if !source.is_dir() || name.to_string_lossy().ends_with(".partial") {
                continue;
            }
            let target = to.join(&name);
            let known = if target.exists() {
                Some(&target)
            } else {
                new.get(&name)
            };
            if let Some(known) = known {
                check_same(&source, known)?;
            } else {
                check_whole(&source)?;
                new.insert(name, source);
            }
        }
    }
    Ok(new)
}

fn check_same(source: &Path, target: &Path) -> Result<(), Error> {
    for name in SAME {
        let read = |folder: &Path| {
            let path = folder.join(name);
            fs::read_to_string(&path).map_err(aerofed::Error::io("read", &path))
        };
        let (theirs, ours) = (read(source)?, read(target)?);
        if theirs != ours {
            let differs = aerofed::Error::Output {
                path: target.into(),
                reason: format!(
                    "{name} differs from the one in {} ({})",
                    source.display(),
                    first_difference(&ours, &theirs)
                ),
            };
            return Err(differs.into());
        }
    }
    Ok(())
}
