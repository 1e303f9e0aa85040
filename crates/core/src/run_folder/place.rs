//! Where a run is written, and what may stand there already.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::record::StoppedBy;
use crate::scenario::{Scenario, ValidScenario};
use crate::{Error, checkpoint, disk};

/// A run that was set down or broken off, locked so that only one process takes it up.
pub(crate) struct LeftBehind {
    /// The final place.
    pub(super) path: PathBuf,
    /// Where it is now: the final place for a run that was interrupted in good order.
    pub(super) folder: PathBuf,
    pub(super) lock: Option<File>,
}

impl LeftBehind {
    /// Finds the unfinished run that has, or would have got, this name. None when the run is finished.
    ///
    /// # Errors
    /// When there is no run, or one that is being written.
    pub(crate) fn find(path: &Path) -> Result<Option<Self>, Error> {
        let path = match path.extension() {
            // Whoever names the partial folder itself means the same.
            Some(ending) if ending == PARTIAL => &path.with_extension(""),
            _ => path,
        };
        let partial = partial_of(path);
        let folder = if partial.is_dir() {
            partial
        } else if !checkpoint::list(path).is_empty() && !is_finished(path) {
            path.into()
        } else if path.join("summary.json").exists() {
            // A kill at the very last moment leaves a checkpoint that nobody needs.
            checkpoint::remove_all(path)?;
            return Ok(None);
        } else {
            return Err(refuse(path, "holds no run to continue"));
        };
        let lock = lock(&folder)?;
        Ok(Some(Self {
            path: path.into(),
            folder,
            lock,
        }))
    }

    /// Where it is.
    #[must_use]
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where it will be when it is finished.
    #[must_use]
    pub(crate) fn destination(&self) -> &Path {
        &self.path
    }

    /// What it runs.
    ///
    /// # Errors
    /// When that is not there or no scenario.
    pub(crate) fn scenario(&self) -> Result<ValidScenario, Error> {
        let file = self.folder.join("scenario.toml");
        Ok(Scenario::load(&file, &[] as &[&str])?.check()?)
    }
}

const PARTIAL: &str = "partial";

/// Where a run is written until it is finished: beside its final place.
#[must_use]
pub fn partial_of(path: &Path) -> PathBuf {
    disk::beside(path, PARTIAL)
}

/// Whether neither a run nor an unfinished one has this name.
#[must_use]
pub fn is_free(path: &Path) -> bool {
    !path.exists() && !partial_of(path).exists()
}

pub(super) fn refuse(path: &Path, reason: impl Into<String>) -> Error {
    Error::Output {
        path: path.into(),
        reason: reason.into(),
    }
}

/// Whether a run may get this name in the end.
pub(super) fn check_target(path: &Path, force: bool) -> Result<(), Error> {
    if path.file_name().is_none() {
        return Err(refuse(path, "not a folder name"));
    }
    if path.exists() && !path.is_dir() {
        return Err(refuse(path, "is a file"));
    }
    if !path.exists() || is_empty(path) {
        return Ok(());
    }
    if !holds_a_run(path) {
        // Not even by force: what is in there may be anything.
        return Err(refuse(
            path,
            "exists and holds something else than a run; choose another",
        ));
    }
    if !force {
        return Err(refuse(
            path,
            match checkpoint::list(path).is_empty() {
                true => "exists and is not empty; choose another, or --force to replace it",
                false => "holds an interrupted run; --resume to continue it, --force to replace it",
            },
        ));
    }
    Ok(())
}

/// Whether a folder is one of ours: other folders with a `scenario.toml` have no table of rounds.
fn holds_a_run(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).is_file();
    has("scenario.toml") && (has("rounds.csv") || has("summary.json"))
}

/// Refuses a partial folder that no run began: it would be emptied.
pub(super) fn check_partial(partial: &Path) -> Result<(), Error> {
    // A run that was killed at once leaves no more than a part of its first file.
    let begun = ["scenario.toml", "scenario.toml.new"];
    if is_empty(partial) || begun.iter().any(|name| partial.join(name).is_file()) {
        return Ok(());
    }
    Err(refuse(
        partial,
        "holds something else than an unfinished run; choose another",
    ))
}

/// Makes sure that nobody else writes to a folder as long as the handle lives. Where the system has no such locks, nobody
/// is kept out.
pub(super) fn lock(folder: &Path) -> Result<Option<File>, Error> {
    if cfg!(not(unix)) {
        return Ok(None);
    }
    let handle = File::open(folder).map_err(Error::io("open", folder))?;
    match handle.try_lock() {
        // Between opening and locking its run may have finished and renamed it.
        Ok(()) if folder.exists() => Ok(Some(handle)),
        Ok(()) | Err(TryLockError::WouldBlock) => {
            Err(refuse(folder, "a run is being written there now"))
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

pub(super) fn clear(folder: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
        let path = entry.map_err(Error::io("read", folder))?.path();
        match path.is_dir() {
            true => fs::remove_dir_all(&path),
            false => fs::remove_file(&path),
        }
        .map_err(Error::io("remove", path))?;
    }
    Ok(())
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// Whether a folder's summary says that its run came to an end of its own.
fn is_finished(folder: &Path) -> bool {
    #[derive(serde::Deserialize)]
    struct Ended {
        stopped_by: StoppedBy,
    }
    let text = fs::read(folder.join("summary.json")).unwrap_or_default();
    serde_json::from_slice(&text)
        .is_ok_and(|ended: Ended| ended.stopped_by != StoppedBy::Interrupted)
}
