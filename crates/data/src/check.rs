//! What a folder holds, for `aerofed data check`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::error::{bad_files, some_names};
use crate::idx_folder::{FileSum, find, read_folder, require_folder};
use crate::image_folder::{Tree, decode};
use crate::known::Part;
use crate::{BadFile, Error, FullSet, Split, cifar};

/// What [`check_folder`] found. Its `Display` is a text for a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderReport {
    /// The folder.
    pub dir: PathBuf,
    /// What it holds.
    pub kind: FolderKind,
    /// Samples per class, by label.
    pub classes: Vec<ClassReport>,
    /// How many images have which width and height.
    pub sizes: BTreeMap<(u32, u32), usize>,
    /// Users that a file `users.csv` names; of an image tree it is read only when the tree is loaded.
    pub users: Option<usize>,
    /// Files that cannot be used (image trees only).
    pub bad: Vec<BadFile>,
}

/// The kinds of folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderKind {
    /// Four idx files.
    Idx {
        /// The official set that all four belong to, by their sums.
        known: Option<FullSet>,
        /// The files.
        files: Vec<FileReport>,
    },
    /// The six files of CIFAR-10's binary version.
    Cifar10 {
        /// Whether all of them are the official ones, by their sums.
        official: bool,
        /// The files.
        files: Vec<FileReport>,
    },
    /// A folder per class.
    Images,
}

/// A file and its sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReport {
    /// Where it is.
    pub path: PathBuf,
    /// SHA-256 of its decompressed bytes.
    pub sha256: String,
    /// The official set with this file.
    pub known: Option<FullSet>,
}

/// Samples of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassReport {
    /// Its name.
    pub name: String,
    /// Training samples; in an image tree, all samples.
    pub train: usize,
    /// Test samples; an image tree is divided only when it is loaded.
    pub test: usize,
}

/// Images a class needs: one for training, one for testing.
const FEWEST_IMAGES: usize = 2;

impl FolderReport {
    /// Whether the folder can be loaded as it is.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.bad.is_empty() && self.lacking().next().is_none()
    }

    /// An error that counts what is wrong, unless the folder can be loaded as it is.
    pub fn require_usable(&self) -> Result<(), Error> {
        if self.is_usable() {
            return Ok(());
        }
        Err(Error::Unusable {
            dir: self.dir.clone(),
            bad_files: self.bad.len(),
            lacking_classes: self.lacking().count(),
        })
    }

    /// Classes with too few images. (In idx files a class may be empty: some sets count from 1.)
    fn lacking(&self) -> impl Iterator<Item = &ClassReport> {
        let fewest = match self.kind {
            FolderKind::Idx { .. } | FolderKind::Cifar10 { .. } => 0,
            FolderKind::Images => FEWEST_IMAGES,
        };
        self.classes
            .iter()
            .filter(move |class| class.train < fewest)
    }
}

/// Whether a folder holds at least one of the four idx files (or is meant to).
#[must_use]
fn is_idx_folder(dir: &Path) -> bool {
    Part::ALL.iter().any(|&part| find(dir, part).is_ok())
}

/// Looks through a folder of idx files, of CIFAR-10, or a tree of class folders; opens every file.
///
/// ```
/// use aerofed_data::{FolderKind, check_folder};
///
/// let dir = tempfile::tempdir()?;
/// for class in ["lake", "sand"] {
///     std::fs::create_dir(dir.path().join(class))?;
///     for name in ["1.png", "2.png"] {
///         image::GrayImage::new(8, 8).save(dir.path().join(class).join(name))?;
///     }
/// }
/// assert!(check_folder(dir.path())?.is_usable());
///
/// std::fs::write(dir.path().join("sand/3.png"), "not an image")?;
/// let report = check_folder(dir.path())?;
/// assert_eq!(report.kind, FolderKind::Images);
/// assert_eq!(report.bad.len(), 1);
/// assert!(report.to_string().contains("3.png"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_folder(dir: &Path) -> Result<FolderReport, Error> {
    require_folder(dir)?;
    if is_idx_folder(dir) {
        let folder = read_folder(dir, None)?;
        let files = reports(folder.files);
        let known = folder.known;
        return Ok(report(dir, &folder.split, FolderKind::Idx { known, files }));
    }
    if cifar::BATCHES
        .iter()
        .any(|batch| dir.join(batch.name).exists())
    {
        let (split, files) = cifar::read_folder(dir, false)?;
        let files = reports(files);
        let official = files.iter().all(|file| file.known.is_some());
        return Ok(report(dir, &split, FolderKind::Cifar10 { official, files }));
    }
    match Tree::scan(dir, &[]) {
        Ok(tree) if tree.classes.iter().any(|class| !class.files.is_empty()) => {
            Ok(check_tree(dir, &tree))
        }
        Ok(_) | Err(Error::ClassCount { found: 0, .. }) => {
            Err(Error::Unrecognised(dir.to_path_buf()))
        }
        Err(error) => Err(error),
    }
}

fn reports(files: Vec<FileSum>) -> Vec<FileReport> {
    let report = |file: FileSum| FileReport {
        path: file.path,
        sha256: file.sha256,
        known: file.owner,
    };
    files.into_iter().map(report).collect()
}

/// What there is to say of a set that is divided already.
fn report(dir: &Path, Split { train, test }: &Split, kind: FolderKind) -> FolderReport {
    let counts = train.label_counts().into_iter().zip(test.label_counts());
    let side = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let size = (side(train.width), side(train.height));
    FolderReport {
        dir: dir.to_path_buf(),
        kind,
        classes: train
            .class_names
            .iter()
            .zip(counts)
            .map(|(name, (train, test))| ClassReport {
                name: name.clone(),
                train,
                test,
            })
            .collect(),
        sizes: BTreeMap::from([(size, train.len() + test.len())]),
        users: train.users.as_ref().map(|users| users.names.len()),
        bad: Vec::new(),
    }
}

fn check_tree(dir: &Path, tree: &Tree) -> FolderReport {
    let mut bad = tree.bad.clone();
    let mut sizes = BTreeMap::new();
    let mut classes = Vec::new();
    for class in &tree.classes {
        let decoded: Vec<_> = class
            .files
            .par_iter()
            .map(|path| decode(path).map(|image| (image.width(), image.height())))
            .collect();
        let mut good = 0;
        for result in decoded {
            match result {
                Ok(size) => {
                    good += 1;
                    *sizes.entry(size).or_insert(0) += 1;
                }
                Err(file) => bad.push(file),
            }
        }
        classes.push(ClassReport {
            name: class.name.clone(),
            train: good,
            test: 0,
        });
    }
    bad.sort_by(|a, b| a.path.cmp(&b.path));
    FolderReport {
        dir: dir.to_path_buf(),
        kind: FolderKind::Images,
        classes,
        sizes,
        users: None,
        bad,
    }
}

impl fmt::Display for FolderReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dir = self.dir.display();
        match &self.kind {
            FolderKind::Idx { known, files } => {
                match known {
                    Some(set) => writeln!(f, "{dir}: idx files of {set}, SHA-256 as published")?,
                    None => writeln!(f, "{dir}: idx files of an unknown set")?,
                }
                write_files(f, files)?;
            }
            FolderKind::Cifar10 { official, files } => {
                match official {
                    true => writeln!(f, "{dir}: CIFAR-10, SHA-256 as published")?,
                    false => writeln!(f, "{dir}: files like CIFAR-10's, not the published ones")?,
                }
                write_files(f, files)?;
            }
            FolderKind::Images => writeln!(f, "{dir}: a folder per class")?,
        }
        self.write_classes(f)?;
        for ((width, height), count) in self.sizes.iter().take(10) {
            writeln!(f, "size {width}x{height}: {count} images")?;
        }
        if self.sizes.len() > 10 {
            writeln!(f, "and {} more sizes", self.sizes.len() - 10)?;
        }
        if let Some(users) = self.users {
            writeln!(f, "users of the training samples (users.csv): {users}")?;
        }
        let lacking: Vec<String> = self.lacking().map(|class| class.name.clone()).collect();
        if !lacking.is_empty() {
            let names = some_names(&lacking);
            writeln!(f, "fewer than {FEWEST_IMAGES} usable images in {names}")?;
        }
        if !self.bad.is_empty() {
            writeln!(f, "{}", bad_files(&self.dir, &self.bad))?;
        }
        Ok(())
    }
}

fn write_files(f: &mut fmt::Formatter<'_>, files: &[FileReport]) -> fmt::Result {
    for file in files {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let known = file.known.map_or("unknown", FullSet::name);
        writeln!(f, "  {name:<28} {}  {known}", file.sha256)?;
    }
    Ok(())
}

impl FolderReport {
    fn write_classes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = self.classes.iter().map(|c| c.name.chars().count()).max();
        let width = longest.unwrap_or(0).max(5);
        let train: usize = self.classes.iter().map(|class| class.train).sum();
        let test: usize = self.classes.iter().map(|class| class.test).sum();
        if self.kind == FolderKind::Images {
            writeln!(f, "{:<width$} {:>7}", "class", "images")?;
            for class in &self.classes {
                writeln!(f, "{:<width$} {:>7}", class.name, class.train)?;
            }
            writeln!(f, "{:<width$} {train:>7}", "total")
        } else {
            writeln!(f, "{:<width$} {:>7} {:>7}", "class", "train", "test")?;
            for class in &self.classes {
                writeln!(
                    f,
                    "{:<width$} {:>7} {:>7}",
                    class.name, class.train, class.test
                )?;
            }
            writeln!(f, "{:<width$} {train:>7} {test:>7}", "total")
        }
    }
}
