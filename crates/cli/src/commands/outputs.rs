//! Files and folders that a user names to be written.

use std::fs;
use std::path::{Path, PathBuf};

use aerofed::disk::place_file;
use aerofed::{Error, Scenario};
use aerofed_experiment::check_place;
use aerofed_experiment::stored::first_difference;
use anyhow::Result;

use crate::console::BadInput;

/// The folder that was named, or else another.
pub(super) fn folder(
    named: Option<&PathBuf>,
    otherwise: impl FnOnce() -> PathBuf,
) -> Result<PathBuf> {
    match named {
        Some(path) if path.as_os_str().is_empty() => {
            Err(BadInput("`--out` is empty, allowed: a folder".into()).into())
        }
        Some(path) => Ok(path.clone()),
        None => Ok(otherwise()),
    }
}

/// Makes a folder this command's, or refuses one that is another's: `mark` is a file with what all calls on it share.
pub(super) fn claim(out: &Path, mark: &str, kind: &str, shared: &str) -> Result<()> {
    let refuse = |reason: String| Error::Output {
        path: out.into(),
        reason,
    };
    check_place(out, mark, kind)?;
    let path = out.join(mark);
    if !path.exists() {
        fs::create_dir_all(out).map_err(Error::io("create", out))?;
        if place_file(&path, shared.as_bytes())? {
            return Ok(());
        }
        // Another process was faster: the folder is this command's if it is the same.
    }
    // Runs and reproductions have files of the mark's name or may have: these are theirs alone.
    if let Some(theirs) = ["summary.json", "request.json"]
        .iter()
        .find(|name| out.join(name).exists())
    {
        let reason = format!("holds a run or a reproduction ({theirs}); choose another");
        return Err(refuse(reason).into());
    }
    let there = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
    if there != shared {
        let difference = first_difference(&there, shared);
        let reason = format!("holds a {kind} in another scenario ({difference}); choose another");
        return Err(refuse(reason).into());
    }
    Ok(())
}

/// Removes a new folder in which nothing came about, so that it does not refuse the corrected command.
pub(super) fn release(out: &Path, mark: &str) {
    // Best effort: what is not empty stays, and there is an error to report already.
    for inside in ["runs", "rows"] {
        _ = fs::remove_dir(out.join(inside));
    }
    let only_mark = fs::read_dir(out).is_ok_and(|entries| entries.count() == 1);
    if only_mark && fs::remove_file(out.join(mark)).is_ok() {
        _ = fs::remove_dir(out);
    }
}

/// Refuses data that are not there.
pub(super) fn check_data(scenario: &Scenario) -> Result<()> {
    let dir = &scenario.data.dir;
    if dir.as_os_str().is_empty() || dir.is_dir() {
        return Ok(());
    }
    let reason = format!("`data.dir` is {:?}, allowed: a folder that exists", dir);
    Err(BadInput(reason).into())
}

/// Refuses to write over a file without `--force`, unless that is what stands there already; and over what is no file always.
pub(super) fn check(path: &Path, contents: Option<&[u8]>, force: bool) -> Result<(), BadInput> {
    let shown = path.display();
    let Ok(meta) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !meta.is_file() {
        return Err(BadInput(format!(
            "{shown} is no regular file; choose another"
        )));
    }
    let same = || contents.is_some_and(|new| fs::read(path).is_ok_and(|old| old == new));
    if force || same() {
        return Ok(());
    }
    Err(BadInput(format!("{shown} exists; --force replaces it")))
}
