//! Writing files so that a crash leaves the old one or the new one, never half of one.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

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
    File::create(path)
        .and_then(|file| write_all(file, contents))
        .map_err(Error::io("write", path))
}

fn write_all(mut file: File, contents: &[u8]) -> std::io::Result<()> {
    file.write_all(contents)?;
    file.sync_all()
}

/// Puts a file in place whole: written beside it, then renamed. What was there before stays until then, and
/// stays altogether when this fails. Two processes may do it at once: one of the two files is there in the end.
///
/// # Errors
/// When the disk does not take it.
pub fn replace_file(path: &Path, contents: &[u8]) -> Result<(), Error> {
    put_in_place(path, contents, |beside| fs::rename(beside, path))
}

/// The same where no file is yet; false, and nothing is written, when there is one: of two processes one gets the place.
///
/// # Errors
/// When the disk does not take it.
pub fn place_file(path: &Path, contents: &[u8]) -> Result<bool, Error> {
    let mut placed = true;
    put_in_place(path, contents, |beside| {
        match fs::hard_link(beside, path) {
            Ok(()) => {}
            Err(_) if path.exists() => placed = false,
            // A disk without links: not quite at once, but whole.
            Err(_) => return fs::rename(beside, path),
        }
        fs::remove_file(beside)
    })?;
    Ok(placed)
}

fn put_in_place(
    path: &Path,
    contents: &[u8],
    put: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<(), Error> {
    let (beside, file) = create_beside(path)?;
    let result = write_all(file, contents)
        .map_err(Error::io("write", &beside))
        .and_then(|()| put(&beside).map_err(Error::io("write", path)));
    if result.is_err() {
        // Best effort: the error is told, and a stray file in the way of nothing.
        _ = fs::remove_file(&beside);
        return result;
    }
    sync_folder_of(path)
}

/// A new file beside another, under a name that nobody has: `NAME.PROCESS-COUNT.new`.
fn create_beside(path: &Path) -> Result<(PathBuf, File), Error> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let beside = beside(path, &format!("{}-{count}.{BESIDE}", std::process::id()));
        match File::create_new(&beside) {
            Ok(file) => return Ok((beside, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io("write", path)(error)),
        }
    }
}

/// The name of the file that a [`replace_file`] was about to put in place when its process was killed.
pub(crate) fn stray_of(name: &str) -> Option<&str> {
    let (file, number) = name
        .strip_suffix(BESIDE)?
        .strip_suffix('.')?
        .rsplit_once('.')?;
    let (process, count) = number.split_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(process) && digits(count)).then_some(file)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_that_want_a_place_one_gets_it_and_nothing_is_left_beside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mark");
        let placed = std::thread::scope(|scope| {
            let claims = ["one", "two"].map(|text| {
                let path = &path;
                scope.spawn(move || place_file(path, text.as_bytes()).unwrap())
            });
            claims.map(|claim| claim.join().unwrap())
        });
        assert_eq!(placed.iter().filter(|&&placed| placed).count(), 1);
        let winner = if placed[0] { "one" } else { "two" };
        assert_eq!(fs::read_to_string(&path).unwrap(), winner);
        replace_file(&path, b"three").unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn strays_are_known_by_their_names() {
        assert_eq!(stray_of("rounds.csv.4711-0.new"), Some("rounds.csv"));
        for other in [
            "rounds.csv.new",
            "thesis.new",
            "a.1-.new",
            "a.1-2",
            "1-2.new",
        ] {
            assert_eq!(stray_of(other), None, "{other}");
        }
    }
}
