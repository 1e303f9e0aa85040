//! Files and folders that a user names to be written.

use std::fs;
use std::path::{Path, PathBuf};

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
