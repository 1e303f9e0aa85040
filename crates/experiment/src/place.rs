//! Folders of comparisons and sweeps: whose they are.

use std::fs;
use std::path::Path;

use aerofed::disk::place_file;
use aerofed::scenario::{Scenario, ScenarioError};

use crate::stored::first_difference;
use crate::{Error, check_place};

/// Makes a folder a comparison's or a sweep's, or refuses one that is another's: `mark` is a file with what all calls on it share.
///
/// # Errors
/// When the folder holds something else, or the same kind of thing in another scenario.
pub fn claim(out: &Path, mark: &str, kind: &str, shared: &str) -> Result<(), Error> {
    let refuse = |reason: String| aerofed::Error::Output {
        path: out.into(),
        reason,
    };
    check_place(out, mark, kind)?;
    let path = out.join(mark);
    if !path.exists() {
        fs::create_dir_all(out).map_err(aerofed::Error::io("create", out))?;
        if place_file(&path, shared.as_bytes())? {
            return Ok(());
        }
        // Another process was faster: the folder is this one's if it is the same.
    }
    // Runs and reproductions have files of the mark's name or may have: these are theirs alone.
    if let Some(theirs) = ["summary.json", "request.json"]
        .iter()
        .find(|name| out.join(name).exists())
    {
        let reason = format!("holds a run or a reproduction ({theirs}); choose another");
        return Err(refuse(reason).into());
    }
    let there = fs::read_to_string(&path).map_err(aerofed::Error::io("read", &path))?;
    if there != shared {
        let difference = first_difference(&there, shared);
        let reason = format!("holds a {kind} in another scenario ({difference}); choose another");
        return Err(refuse(reason).into());
    }
    Ok(())
}

/// Removes a new folder in which nothing came about, so that it does not refuse the corrected call.
pub fn release(out: &Path, mark: &str) {
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
///
/// # Errors
/// When `data.dir` is no folder.
pub fn check_data(scenario: &Scenario) -> Result<(), Error> {
    let dir = &scenario.data.dir;
    if dir.as_os_str().is_empty() || dir.is_dir() {
        return Ok(());
    }
    let refused = ScenarioError::Field {
        field: "data.dir".into(),
        value: format!("{dir:?}"),
        allowed: "a folder that exists".into(),
    };
    Err(refused.into())
}
