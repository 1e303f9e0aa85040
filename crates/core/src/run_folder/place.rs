//! Where a run is written, and what may stand there already.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::ours;
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
            // Whoever names the partial folder itself means the same. A run may be called so, too.
            Some(ending) if ending == PARTIAL && (ours::is_marked(path) || !path.exists()) => {
                &path.with_extension("")
            }
            _ => path,
        };
        let partial = partial_of(path);
        let folder = if ours::is_marked(&partial) {
            partial
        } else if holds_a_run(path) && is_finished(path) {
            // A kill at the very last moment leaves what nobody needs.
            checkpoint::remove_all(path)?;
            ours::unmark(path)?;
            return Ok(None);
        } else if partial.is_dir() && !is_empty(&partial) {
            return Err(unmarked(&partial));
        } else if !checkpoint::list(path).is_empty() {
            path.into()
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
    refuse_foreign(path)
}

/// Whether a folder is one of ours: other folders with a `scenario.toml` have no table of rounds.
fn holds_a_run(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).is_file();
    has("scenario.toml") && (has("rounds.csv") || has("summary.json"))
}

/// Refuses a folder that holds something besides the files of a run: whoever removes the one removes the other.
fn refuse_foreign(folder: &Path) -> Result<(), Error> {
    match ours::foreign(folder)? {
        Some(entry) => Err(refuse(
            folder,
            format!("holds {entry:?}, which no run writes; move that away, or choose another"),
        )),
        None => Ok(()),
    }
}

/// Makes a partial folder, which is locked, ready for a new run: marked, and empty besides. Whatever is not known to be
/// what an unfinished run left is refused, and stays.
pub(super) fn prepare(path: &Path, partial: &Path, force: bool) -> Result<(), Error> {
    if is_empty(partial) {
        return ours::mark(partial, path);
    }
    if !ours::is_marked(partial) {
        return Err(unmarked(partial));
    }
    refuse_foreign(partial)?;
    let name = path.display();
    if is_finished(partial) {
        return Err(refuse(
            partial,
            format!(
                "holds a run that lacks only its name; `aerofed run --resume {name}` gives it that"
            ),
        ));
    }
    if let (false, Some((round, _))) = (force, checkpoint::list(partial).first()) {
        return Err(refuse(
            partial,
            format!(
                "holds an unfinished run with a checkpoint after round {round}; `aerofed run --resume {name}` \
                 continues it, --force starts anew"
            ),
        ));
    }
    ours::clear(partial)
}

/// A folder that has a partial folder's name and may be anything.
fn unmarked(partial: &Path) -> Error {
    let what = match ours::foreign(partial) {
        Ok(Some(entry)) => format!("holds something else than an unfinished run ({entry:?})"),
        _ if holds_a_run(partial) && is_finished(partial) => "holds a finished run".into(),
        _ => "holds something else than an unfinished run".into(),
    };
    let mark = ours::MARK;
    refuse(
        partial,
        format!(
            "{what} (no file {mark} of ours in it), and stays; move it away, or choose another"
        ),
    )
}

/// Whether a run that was begun under this name can go on, or lacks nothing but its name.
pub(crate) fn can_go_on(path: &Path) -> bool {
    let partial = partial_of(path);
    !checkpoint::list(&partial).is_empty() || is_finished(&partial)
}

/// Makes sure that nobody else writes to a folder as long as the handle lives. Where the system has no such locks, nobody
/// is kept out.
pub(super) fn lock(folder: &Path) -> Result<Option<File>, Error> {
    if cfg!(not(unix)) {
        return Ok(None);
    }
    let busy = || Error::Busy {
        path: folder.into(),
    };
    let handle = match File::open(folder) {
        // Its run has finished and renamed it, or given up, since somebody saw it here.
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(busy()),
        other => other.map_err(Error::io("open", folder))?,
    };
    match handle.try_lock() {
        // The same may have happened between opening and locking.
        Ok(()) if is_at(&handle, folder) => Ok(Some(handle)),
        Ok(()) | Err(TryLockError::WouldBlock) => Err(busy()),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Whether an open folder is still the one that a path leads to.
#[cfg(unix)]
fn is_at(handle: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |a: fs::Metadata, b: fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    let metadata = handle.metadata().ok().zip(fs::metadata(path).ok());
    metadata.is_some_and(|(open, there)| same(open, there))
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
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
