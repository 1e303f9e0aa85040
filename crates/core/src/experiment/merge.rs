//! Results folders of several machines become one.

use std::fs;
use std::path::Path;

use super::reproduction::Request;
use super::stored::{StoredRun, first_difference};
use crate::Error;

/// Files of a run that must be the same wherever it was done; the rest holds wall-clock times.
const SAME: [&str; 2] = ["scenario.toml", "rounds.csv"];

/// Brings the finished runs of results folders into one, `out`, which may hold some already.
/// Returns what they were asked for together, and how many runs were new.
///
/// # Errors
/// When a folder is no results folder, when they were asked for different things, or when a run
/// that two of them hold came out differently.
pub fn merge(folders: &[&Path], out: &Path) -> Result<(Request, usize), Error> {
    let mut request: Option<Request> = None;
    let before = out.join("request.json").exists().then_some(out);
    for folder in before.iter().chain(folders) {
        let theirs = Request::read(folder)?;
        match &mut request {
            None => request = Some(theirs),
            Some(request) => request.join(theirs)?,
        }
    }
    let request = request.ok_or_else(|| Error::Plan {
        place: "merge".into(),
        reason: "no folder given".into(),
    })?;
    let runs = out.join("runs");
    fs::create_dir_all(&runs).map_err(Error::io("create", &runs))?;
    let mut new = 0;
    for folder in folders {
        new += take_runs(&folder.join("runs"), &runs)?;
    }
    request.write(out)?;
    Ok((request, new))
}

fn take_runs(from: &Path, to: &Path) -> Result<usize, Error> {
    if !from.exists() {
        return Ok(0);
    }
    let mut new = 0;
    for entry in fs::read_dir(from).map_err(Error::io("read", from))? {
        let entry = entry.map_err(Error::io("read", from))?;
        let (source, name) = (entry.path(), entry.file_name());
        if !source.is_dir() || name.to_string_lossy().ends_with(".partial") {
            continue;
        }
        // Whatever is broken is found here and not when it is read the next time.
        StoredRun::read(source.clone())?;
        let target = to.join(&name);
        if target.exists() {
            check_same(&source, &target)?;
            continue;
        }
        let mut partial = name.clone();
        partial.push(".partial");
        let partial = to.join(partial);
        copy_folder(&source, &partial)?;
        fs::rename(&partial, &target).map_err(Error::io("finish", &target))?;
        new += 1;
    }
    Ok(new)
}

fn check_same(source: &Path, target: &Path) -> Result<(), Error> {
    for name in SAME {
        let read = |folder: &Path| {
            let path = folder.join(name);
            fs::read_to_string(&path).map_err(Error::io("read", &path))
        };
        let (theirs, ours) = (read(source)?, read(target)?);
        if theirs != ours {
            return Err(Error::Output {
                path: target.into(),
                reason: format!(
                    "{name} differs from the one in {} ({})",
                    source.display(),
                    first_difference(&ours, &theirs)
                ),
            });
        }
    }
    Ok(())
}

/// A run folder has no folders in it.
fn copy_folder(from: &Path, to: &Path) -> Result<(), Error> {
    if to.exists() {
        fs::remove_dir_all(to).map_err(Error::io("remove", to))?;
    }
    fs::create_dir_all(to).map_err(Error::io("create", to))?;
    for entry in fs::read_dir(from).map_err(Error::io("read", from))? {
        let entry = entry.map_err(Error::io("read", from))?;
        if entry.path().is_file() {
            let target = to.join(entry.file_name());
            fs::copy(entry.path(), &target).map_err(Error::io("write", &target))?;
        }
    }
    Ok(())
}
