//! A set in four idx files, such as the full MNIST.

use std::path::{Path, PathBuf};

use crate::idx::{self, Images};
use crate::known::{self, Part};
use crate::{Dataset, Embedded, Error, FullSet, IdxProblem, Split, users};

/// Loads a set from the usual four idx files in `dir`, each raw or gzip:
/// `train-images-idx3-ubyte`, `train-labels-idx1-ubyte`, `t10k-images-idx3-ubyte` and
/// `t10k-labels-idx1-ubyte` (or with a dot before `idx`; and with or without `.gz`).
///
/// A file `users.csv` with a line `user` and then one for each training sample says whose they are.
///
/// With `expect`, the SHA-256 of every file's decompressed bytes must be that of the official
/// set. Without, any set is taken: one whose four sums are known gets the official name and
/// class names, another one the folder's name and numbered classes
/// ([`check_folder`](crate::check_folder) tells the sums).
///
/// ```
/// use aerofed_data::idx_folder;
///
/// // Two images of one pixel for training, two for testing.
/// let dir = tempfile::tempdir()?;
/// for part in ["train", "t10k"] {
///     let images = [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 255];
///     std::fs::write(dir.path().join(format!("{part}-images-idx3-ubyte")), images)?;
///     std::fs::write(dir.path().join(format!("{part}-labels-idx1-ubyte")), [0, 0, 8, 1, 0, 0, 0, 2, 0, 1])?;
/// }
/// let split = idx_folder(dir.path(), None)?;
/// assert_eq!(split.train.inputs.to_vec(), [0.0, 1.0]);
/// assert_eq!(split.test.labels, [0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn idx_folder(dir: &Path, expect: Option<Embedded>) -> Result<Split, Error> {
    read_folder(dir, expect).map(|folder| folder.split)
}

/// The files that [`idx_folder`] reads: four, and the list of users where there is one.
///
/// # Errors
/// When one is missing, or is no file.
pub fn idx_files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    require_folder(dir)?;
    let file = |part| {
        let path = find(dir, part)?;
        match path.is_file() {
            true => Ok(path),
            false => Err(Error::NotAFile(path)),
        }
    };
    let listed = users::file(dir).into_iter().map(Ok);
    Part::ALL.into_iter().map(file).chain(listed).collect()
}

/// A loaded folder and what its files are.
pub(crate) struct Folder {
    pub(crate) split: Split,
    pub(crate) files: Vec<FileSum>,
    /// The official set that all four files belong to.
    pub(crate) known: Option<FullSet>,
}

/// A file and the sum of its decompressed bytes.
pub(crate) struct FileSum {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
    pub(crate) owner: Option<FullSet>,
}

/// The file of a part, or the names it could have had.
pub(crate) fn find(dir: &Path, part: Part) -> Result<PathBuf, Error> {
    let tried = part.file_names();
    let found = tried.iter().map(|name| dir.join(name)).find(|p| p.exists());
    found.ok_or_else(|| Error::MissingFile {
        dir: dir.to_path_buf(),
        tried: tried.to_vec(),
    })
}

pub(crate) fn read_folder(dir: &Path, expect: Option<Embedded>) -> Result<Folder, Error> {
    require_folder(dir)?;
    let mut files = Vec::new();
    let (train_images, train_labels) = read_pair(
        dir,
        Part::TrainImages,
        Part::TrainLabels,
        expect,
        &mut files,
    )?;
    let (test_images, test_labels) =
        read_pair(dir, Part::TestImages, Part::TestLabels, expect, &mut files)?;
    let shape = |images: &Images| (images.rows, images.columns);
    if shape(&train_images) != shape(&test_images) {
        return Err(Error::ShapeMismatch {
            dir: dir.to_path_buf(),
            train: shape(&train_images),
            test: shape(&test_images),
        });
    }

    let first_owner = files.first().and_then(|file| file.owner);
    let known = first_owner.filter(|_| files.iter().all(|file| file.owner == first_owner));
    let class_names = match known {
        Some(set) => known::class_names(set),
        None => numbered_classes(dir, &train_labels)?,
    };
    let classes = class_names.len();
    if let Some(&label) = test_labels.iter().find(|&&l| usize::from(l) >= classes) {
        return Err(Error::Idx {
            path: find(dir, Part::TestLabels)?,
            problem: IdxProblem::Label { label, classes },
        });
    }
    let name = known.map_or_else(|| folder_name(dir), |set| set.name().to_owned());
    let users = users::in_order(dir, train_labels.len())?;
    let train = train_images.into_dataset(name.clone(), class_names.clone(), train_labels);
    Ok(Folder {
        split: Split {
            train: Dataset { users, ..train },
            test: test_images.into_dataset(name, class_names, test_labels),
        },
        files,
        known,
    })
}

/// Images and their labels, as many of the one as of the other.
fn read_pair(
    dir: &Path,
    images_part: Part,
    labels_part: Part,
    expect: Option<Embedded>,
    files: &mut Vec<FileSum>,
) -> Result<(Images, Vec<u8>), Error> {
    let (images_path, labels_path) = (find(dir, images_part)?, find(dir, labels_part)?);
    let mut read = |path: &Path, part: Part| -> Result<Vec<u8>, Error> {
        let bytes = idx::read(path, part.kind())?;
        let sha256 = known::sha256_hex(&bytes);
        if let Some(set) = expect {
            part.require_official(path, set.into(), &sha256)?;
        }
        files.push(FileSum {
            path: path.to_path_buf(),
            owner: part.owner(&sha256),
            sha256,
        });
        Ok(bytes)
    };
    let labels = read(&labels_path, labels_part)?;
    let labels = idx::parse_labels(&labels, &labels_path)?;
    let images = read(&images_path, images_part)?;
    let images = Images::parse(images, &images_path)?;
    if images.count == labels.len() {
        Ok((images, labels))
    } else {
        Err(Error::CountMismatch {
            images: images_path,
            image_count: images.count,
            labels: labels_path,
            label_count: labels.len(),
        })
    }
}

/// Classes `0` to the largest training label.
fn numbered_classes(dir: &Path, labels: &[u8]) -> Result<Vec<String>, Error> {
    let classes = labels
        .iter()
        .max()
        .map_or(0, |&label| usize::from(label) + 1);
    if classes < 2 {
        return Err(Error::ClassCount {
            dir: dir.to_path_buf(),
            found: classes,
        });
    }
    Ok((0..classes).map(|class| class.to_string()).collect())
}

pub(crate) fn require_folder(dir: &Path) -> Result<(), Error> {
    let metadata = std::fs::metadata(dir).map_err(Error::io(dir))?;
    if metadata.is_dir() {
        Ok(())
    } else {
        Err(Error::NotAFolder(dir.to_path_buf()))
    }
}

/// Last part of the path, for naming a set after its folder.
pub(crate) fn folder_name(dir: &Path) -> String {
    let resolved = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
    resolved.file_name().map_or_else(
        || "folder".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
