//! What the finished runs of a sweep left, a row each.

use std::path::Path;

use super::{RowFiles, RowKeeper, SweepCase};
use crate::Error;
use crate::stored::StoredRun;
use crate::tidy::run_cells;

/// What row files hold of each case; `out` is the sweep's folder.
///
/// # Errors
/// When a case is missing.
pub fn stored_rows(
    cases: &[SweepCase],
    files: &RowFiles,
    out: &Path,
) -> Result<Vec<Vec<String>>, Error> {
    let (known, _) = files.read()?;
    let row = |case: &SweepCase| {
        let missing = || aerofed::Error::Output {
            path: out.into(),
            reason: format!("{} is missing", case.run.folder_name()),
        };
        let key = RowKeeper::key(&case.run, &|| false)?;
        Ok(known.get(&key).cloned().ok_or_else(missing)?)
    };
    cases.iter().map(row).collect()
}

/// What run folders hold of each case.
///
/// # Errors
/// When a case is missing, or its folder is damaged.
pub fn folder_rows(
    cases: &[SweepCase],
    folders: &Path,
    target: f64,
) -> Result<Vec<Vec<String>>, Error> {
    let row = |case: &SweepCase| {
        let name = case.run.folder_name();
        let missing = || aerofed::Error::Output {
            path: folders.join(&name),
            reason: "is missing".into(),
        };
        let run = StoredRun::find(folders, &case.run)?.ok_or_else(missing)?;
        Ok(run_cells(&run, target, &format!("runs/{name}")))
    };
    cases.iter().map(row).collect()
}
