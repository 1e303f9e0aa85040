//! The checkpoints of a run folder: `checkpoint-000020.bin` after round 20, the last two kept.

use std::fs;
use std::path::{Path, PathBuf};

use super::file::{self, Fingerprint, Flaw};
use crate::{Error, disk};

const PREFIX: &str = "checkpoint-";
const SUFFIX: &str = ".bin";
const KEPT: usize = 2;

/// Where a run's checkpoints are.
pub(crate) struct Checkpoints {
    folder: PathBuf,
    scenario: Fingerprint,
}

impl Checkpoints {
    /// The checkpoints of a scenario's run in a folder.
    #[must_use]
    pub(crate) fn new(folder: &Path, scenario: Fingerprint) -> Self {
        Self {
            folder: folder.into(),
            scenario,
        }
    }

    /// Adds the state after a round, and removes all but the last two.
    ///
    /// # Errors
    /// When the disk does not take it; the earlier ones are then still there.
    pub(crate) fn write(&self, round: usize, body: &[u8]) -> Result<(), Error> {
        let path = self.folder.join(file_name(round));
        disk::replace_file(&path, &file::seal(body, &self.scenario))?;
        for (_, old) in list(&self.folder).into_iter().skip(KEPT) {
            fs::remove_file(&old).map_err(Error::io("remove", old))?;
        }
        Ok(())
    }

    /// The newest state that `take_up` accepts; none when there is no checkpoint at all. What is wrong with those
    /// passed over goes to `refused`.
    ///
    /// # Errors
    /// When none of those there can be used, or taking one up fails for another reason.
    pub(crate) fn latest<T>(
        &self,
        mut take_up: impl FnMut(&[u8]) -> Result<T, Error>,
        mut refused: impl FnMut(&Error),
    ) -> Result<Option<T>, Error> {
        let found = list(&self.folder);
        if found.is_empty() {
            return Ok(None);
        }
        let count = found.len();
        for (_, path) in found {
            match self.read(&path, &mut take_up) {
                Err(error @ Error::Checkpoint { .. }) => refused(&error),
                other => return other.map(Some),
            }
        }
        Err(Error::Output {
            path: self.folder.clone(),
            reason: format!("none of its {count} checkpoints can be used"),
        })
    }

    fn read<T>(
        &self,
        path: &Path,
        take_up: &mut impl FnMut(&[u8]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let refuse = |flaw: Flaw| Error::Checkpoint {
            path: path.into(),
            flaw,
        };
        let contents =
            fs::read(path).map_err(|error| refuse(Flaw::Unreadable(error.to_string())))?;
        let body = file::open(&contents, &self.scenario).map_err(refuse)?;
        take_up(body).map_err(|error| match error {
            Error::State { .. } => refuse(Flaw::Misfit(error.to_string())),
            other => other,
        })
    }
}

fn file_name(round: usize) -> String {
    format!("{PREFIX}{round:06}{SUFFIX}")
}

/// The round of the checkpoint that has this name; none when it is no checkpoint's.
pub(crate) fn round_of(name: &str) -> Option<usize> {
    let digits = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let round = digits.parse().ok()?;
    (file_name(round) == name).then_some(round)
}

/// The checkpoints in a folder with their rounds, newest first.
#[must_use]
pub fn list(folder: &Path) -> Vec<(usize, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(usize, PathBuf)> = entries
        .filter_map(|entry| {
            let round = round_of(entry.file_name().to_str()?)?;
            Some((round, entry.path()))
        })
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found
}

/// Removes the checkpoints of a folder.
///
/// # Errors
/// When the disk does not let go of one.
pub(crate) fn remove_all(folder: &Path) -> Result<(), Error> {
    for (_, path) in list(folder) {
        fs::remove_file(&path).map_err(Error::io("remove", path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    fn checkpoints(folder: &Path) -> Checkpoints {
        Checkpoints::new(folder, Fingerprint::of(&Scenario::default()).unwrap())
    }

    fn latest(folder: &Path) -> (Result<Option<Vec<u8>>, Error>, Vec<String>) {
        let mut reasons = Vec::new();
        let body = checkpoints(folder).latest(
            |body| Ok(body.to_vec()),
            |error| reasons.push(error.to_string()),
        );
        (body, reasons)
    }

    #[test]
    fn the_last_two_are_kept_and_the_newest_good_one_is_used() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path();
        assert!(latest(folder).0.unwrap().is_none());
        for round in [5, 10, 999_999, 1_000_000] {
            checkpoints(folder)
                .write(round, format!("after {round}").as_bytes())
                .unwrap();
        }
        let rounds: Vec<usize> = list(folder).into_iter().map(|(round, _)| round).collect();
        assert_eq!(rounds, [1_000_000, 999_999]);
        assert_eq!(fs::read_dir(folder).unwrap().count(), 2);
        let (body, reasons) = latest(folder);
        assert_eq!(body.unwrap().unwrap(), b"after 1000000");
        assert!(reasons.is_empty());

        let newest = folder.join("checkpoint-1000000.bin");
        let contents = fs::read(&newest).unwrap();
        fs::write(&newest, &contents[..contents.len() - 3]).unwrap();
        let (body, reasons) = latest(folder);
        assert_eq!(body.unwrap().unwrap(), b"after 999999");
        assert!(reasons[0].contains("checkpoint-1000000.bin"), "{reasons:?}");

        fs::write(folder.join("checkpoint-999999.bin"), "nonsense").unwrap();
        let (body, reasons) = latest(folder);
        let message = body.unwrap_err().to_string();
        assert!(message.contains("none of its 2 checkpoints"), "{message}");
        assert_eq!(reasons.len(), 2);
        remove_all(folder).unwrap();
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    }

    #[test]
    fn a_failed_write_leaves_the_earlier_ones() {
        let dir = tempfile::tempdir().unwrap();
        checkpoints(dir.path()).write(1, b"one").unwrap();
        // A folder in its place cannot be replaced by a file.
        fs::create_dir(dir.path().join("checkpoint-000002.bin")).unwrap();
        assert!(checkpoints(dir.path()).write(2, b"two").is_err());
        let (body, reasons) = latest(dir.path());
        assert_eq!(body.unwrap().unwrap(), b"one");
        assert_eq!(reasons.len(), 1);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
