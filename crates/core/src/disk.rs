//! Writing files so that a crash leaves the old one or the new one, never half of one.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::Error;

/// Behind the name of a file that is not in place yet.
const BESIDE: &str = "new";

/// The path with another word behind its last name.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}

/// Writes a file and waits until it is on the disk.
pub(crate) fn write_synced(path: &Path, contents: &[u8]) -> Result<(), Error> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(contents)?;
        file.sync_all()
    };
    write().map_err(Error::io("write", path))
}

/// Puts a file in place whole: written beside it, then renamed. What was there before stays until then, and
/// stays altogether when this fails.
///
/// # Errors
/// When the disk does not take it.
pub fn replace_file(path: &Path, contents: &[u8]) -> Result<(), Error> {
    let beside = beside(path, BESIDE);
    let result = write_synced(&beside, contents)
        .and_then(|()| fs::rename(&beside, path).map_err(Error::io("write", path)));
    if result.is_err() {
        // Best effort: the error is told, and a stray file in the way of nothing.
        _ = fs::remove_file(&beside);
        return result;
    }
    sync_folder_of(path)
}

/// Removes what a [`replace_file`] left beside its file when the process was killed in it.
pub(crate) fn remove_strays(folder: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
        let path = entry.map_err(Error::io("read", folder))?.path();
        if path.extension().is_some_and(|ending| ending == BESIDE) {
            fs::remove_file(&path).map_err(Error::io("remove", path))?;
        }
    }
    Ok(())
}

/// Waits until a rename or removal in a file's folder is on the disk.
pub(crate) fn sync_folder_of(path: &Path) -> Result<(), Error> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if cfg!(unix) {
        let sync = || File::open(folder)?.sync_all();
        sync().map_err(Error::io("write", folder))?;
    }
    Ok(())
}
