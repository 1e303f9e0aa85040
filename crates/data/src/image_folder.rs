//! Any tree of one folder per class with jpg and png files in it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use image::imageops::{self, FilterType};
use image::{DynamicImage, ImageBuffer, ImageReader, Limits, Pixel};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::idx_folder::{folder_name, require_folder};
use crate::{BadFile, Dataset, Error, Split, Values, users};

/// Sides of a resized sample at most.
const MAX_IMAGE_SIZE: usize = 1_024;
/// Sides of a file's image at most: more is a mistake or an attack.
const MAX_FILE_SIDE: u32 = 16_384;
/// Bytes one file's decoder may ask for.
const MAX_DECODER_BYTES: u64 = 512 << 20;
/// Values of a loaded tree at most (2 GiB, a byte each).
const MAX_VALUES: u64 = 1 << 31;

/// How an image tree is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImageFolder {
    /// Rows and columns that every image is scaled to (an oblong one is stretched).
    pub image_size: usize,
    /// Three channels (red, green, blue) instead of one (grey).
    pub color: bool,
    /// The class folders to read, in the order of their labels; empty reads all, by name.
    pub classes: Vec<String>,
    /// Share of each class that is kept for testing.
    pub test_fraction: f64,
}

impl Default for ImageFolder {
    fn default() -> Self {
        Self {
            image_size: 28,
            color: false,
            classes: Vec::new(),
            test_fraction: 0.2,
        }
    }
}

impl ImageFolder {
    /// Refuses values out of range, by name.
    pub fn check(&self) -> Result<(), Error> {
        if !(1..=MAX_IMAGE_SIZE).contains(&self.image_size) {
            let allowed = format!("1 to {MAX_IMAGE_SIZE}");
            return Err(Error::field("image_size", self.image_size, allowed));
        }
        if !(0.0..=0.9).contains(&self.test_fraction) {
            return Err(Error::field(
                "test_fraction",
                self.test_fraction,
                "0 to 0.9",
            ));
        }
        let repeated =
            (1..self.classes.len()).find(|&i| self.classes[..i].contains(&self.classes[i]));
        match repeated {
            Some(i) => Err(Error::field("classes", &self.classes[i], "each class once")),
            None => Ok(()),
        }
    }

    fn channels(&self) -> usize {
        if self.color { 3 } else { 1 }
    }
}

/// Loads a tree of class folders; files directly in a class folder are its samples.
///
/// Which files become test samples depends on their names alone (the order of the SHA-256 of
/// the names), so that a class added or removed does not move the others' samples. Hidden files
/// and the debris of file managers are passed over; any other file that is not a readable jpg or
/// png makes an [`Error::BadImages`] that lists all of them. A file `users.csv` in the tree's folder, with a
/// line `file,user` and then one for each image, says whose the images are.
///
/// ```
/// use aerofed_data::{ImageFolder, image_folder};
///
/// let dir = tempfile::tempdir()?;
/// for (class, shade) in [("lake", 40), ("sand", 220)] {
///     std::fs::create_dir(dir.path().join(class))?;
///     for i in 0..5 {
///         let image = image::GrayImage::from_pixel(64, 64, image::Luma([shade]));
///         image.save(dir.path().join(class).join(format!("{i}.png")))?;
///     }
/// }
/// let options = ImageFolder { image_size: 16, ..ImageFolder::default() };
/// let split = image_folder(dir.path(), &options)?;
/// assert_eq!(split.train.class_names, ["lake", "sand"]);
/// assert_eq!((split.train.len(), split.test.len()), (8, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn image_folder(dir: &Path, options: &ImageFolder) -> Result<Split, Error> {
    options.check()?;
    let tree = Tree::scan(dir, &options.classes)?;
    let values = options.channels() * options.image_size * options.image_size;
    let samples: usize = tree.classes.iter().map(|class| class.files.len()).sum();
    if (samples as u64).saturating_mul(values as u64) > MAX_VALUES {
        let allowed = format!("what keeps {samples} images below {MAX_VALUES} values in all");
        return Err(Error::field("image_size", options.image_size, allowed));
    }
    let with_test = options.test_fraction > 0.0;
    let smallest = if with_test { 2 } else { 1 };
    let lacking = tree.classes.iter().filter(|c| c.files.len() < smallest);
    let lacking: Vec<String> = lacking.map(|class| class.name.clone()).collect();
    if tree.bad.is_empty() && !lacking.is_empty() {
        return Err(Error::EmptyClasses {
            dir: dir.to_path_buf(),
            classes: lacking,
            with_test,
        });
    }

    let (mut train_files, mut test_files) = (Vec::new(), Vec::new());
    for (label, class) in (0_u8..=u8::MAX).zip(&tree.classes) {
        let (test, train) = divide(&class.files, options.test_fraction);
        test_files.extend(test.into_iter().map(|file| (label, file)));
        train_files.extend(train.into_iter().map(|file| (label, file)));
    }
    let mut bad = tree.bad.clone();
    let mut load = |files: &[(u8, &PathBuf)]| {
        let pixels = load_all(files, options, &mut bad);
        Dataset {
            name: folder_name(dir),
            channels: options.channels(),
            height: options.image_size,
            width: options.image_size,
            class_names: tree.classes.iter().map(|c| c.name.clone()).collect(),
            inputs: Values::Pixels(pixels),
            labels: files.iter().map(|&(label, _)| label).collect(),
            users: None,
        }
    };
    let mut split = Split {
        train: load(&train_files),
        test: load(&test_files),
    };
    if bad.is_empty() {
        let files: Vec<&PathBuf> = train_files.iter().map(|&(_, file)| file).collect();
        split.train.users = users::by_file(dir, &files)?;
        Ok(split)
    } else {
        bad.sort_by(|a, b| a.path.cmp(&b.path));
        Err(Error::BadImages {
            dir: dir.to_path_buf(),
            files: bad,
        })
    }
}

/// The files that [`image_folder`] reads, class by class, and the list of users where there is one. Links are followed as it does: no deeper than a class folder.
///
/// # Errors
/// When there are no such class folders.
pub fn image_files(dir: &Path, options: &ImageFolder) -> Result<Vec<PathBuf>, Error> {
    let tree = Tree::scan(dir, &options.classes)?;
    Ok(tree
        .classes
        .into_iter()
        .flat_map(|class| class.files)
        .chain(users::file(dir))
        .collect())
}

/// A tree as it lies on the disk, before a file is opened.
pub(crate) struct Tree {
    pub(crate) classes: Vec<Class>,
    /// Entries that are no samples and no known debris.
    pub(crate) bad: Vec<BadFile>,
}

/// A class folder and the files that look like images, sorted by name.
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) files: Vec<PathBuf>,
}

impl Tree {
    /// Lists the class folders asked for, or all.
    pub(crate) fn scan(dir: &Path, wanted: &[String]) -> Result<Self, Error> {
        require_folder(dir)?;
        let mut bad = Vec::new();
        let mut folders = Vec::new();
        for path in entries(dir)?.into_iter().filter(|path| path.is_dir()) {
            match path.file_name().and_then(OsStr::to_str) {
                Some(name) => folders.push(name.to_owned()),
                None => bad.push(BadFile {
                    path,
                    reason: "the class folder's name is not UTF-8".to_owned(),
                }),
            }
        }
        let names = if wanted.is_empty() {
            folders
        } else {
            let unknown = wanted.iter().filter(|name| !folders.contains(name));
            let unknown: Vec<String> = unknown.cloned().collect();
            if !unknown.is_empty() {
                return Err(Error::UnknownClasses {
                    dir: dir.to_path_buf(),
                    unknown,
                    available: folders,
                });
            }
            // A folder that was not asked for may have any name.
            bad.clear();
            wanted.to_vec()
        };
        if bad.is_empty() && !(2..=256).contains(&names.len()) {
            return Err(Error::ClassCount {
                dir: dir.to_path_buf(),
                found: names.len(),
            });
        }
        let mut classes = Vec::with_capacity(names.len());
        for name in names {
            let mut files = Vec::new();
            for path in entries(&dir.join(&name))? {
                match why_no_image(&path) {
                    None => files.push(path),
                    Some(reason) => bad.push(BadFile {
                        path,
                        reason: reason.to_owned(),
                    }),
                }
            }
            classes.push(Class { name, files });
        }
        Ok(Self { classes, bad })
    }
}

/// What lies in a folder, sorted by name, without hidden files and debris.
fn entries(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(Error::io(dir))? {
        let path = entry.map_err(Error::io(dir))?.path();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let debris = [&b"Thumbs.db"[..], b"desktop.ini", b"__MACOSX"];
        if !name.starts_with(b".") && !debris.contains(&name) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn why_no_image(path: &Path) -> Option<&'static str> {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let known = ["jpg", "jpeg", "png"];
    if !path.is_file() {
        Some("not a regular file")
    } else if known.iter().any(|k| extension.eq_ignore_ascii_case(k)) {
        None
    } else {
        Some("not a .jpg, .jpeg or .png file")
    }
}

/// Test and training files of a class, both sorted by name.
fn divide(files: &[PathBuf], test_fraction: f64) -> (Vec<&PathBuf>, Vec<&PathBuf>) {
    let mut order: Vec<_> = files
        .iter()
        .map(|path| {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            (Sha256::digest(name), path)
        })
        .collect();
    order.sort();
    let wanted = (files.len() as f64 * test_fraction).round() as usize;
    let fewest = usize::from(test_fraction > 0.0).min(files.len());
    let most = files.len().saturating_sub(1).max(fewest);
    let mut test: Vec<_> = order.into_iter().map(|(_, path)| path).collect();
    let mut train = test.split_off(wanted.clamp(fewest, most));
    test.sort();
    train.sort();
    (test, train)
}

/// Pixels of all files in order; what cannot be read goes to `bad`.
fn load_all(files: &[(u8, &PathBuf)], options: &ImageFolder, bad: &mut Vec<BadFile>) -> Vec<u8> {
    let size = options.channels() * options.image_size * options.image_size;
    let mut pixels = vec![0; size * files.len()];
    let failed: Vec<BadFile> = pixels
        .par_chunks_exact_mut(size)
        .zip(files)
        .filter_map(|(own, (_, path))| match decode(path) {
            Ok(image) => {
                write_pixels(&image, options, own);
                None
            }
            Err(file) => Some(file),
        })
        .collect();
    bad.extend(failed);
    pixels
}

/// Decodes a file by its content (a png named jpg is fine) within bounds of size.
pub(crate) fn decode(path: &Path) -> Result<DynamicImage, BadFile> {
    let refuse = |reason: String| BadFile {
        path: path.to_path_buf(),
        reason,
    };
    let reader = ImageReader::open(path).and_then(ImageReader::with_guessed_format);
    let mut reader = reader.map_err(|e| refuse(e.to_string()))?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_FILE_SIDE);
    limits.max_image_height = Some(MAX_FILE_SIDE);
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    reader.limits(limits);
    reader.decode().map_err(|e| refuse(e.to_string()))
}

/// Orders the pixels as channel, row, column. The triangle filter averages over the
/// source pixels when it shrinks, and needs no function whose last digit differs by platform.
fn write_pixels(image: &DynamicImage, options: &ImageFolder, to: &mut [u8]) {
    let side = u32::try_from(options.image_size).unwrap_or(u32::MAX);
    if options.color {
        let pixels = resized(image.to_rgb8(), side);
        let plane = to.len() / 3;
        for (i, pixel) in pixels.chunks_exact(3).enumerate() {
            for (channel, &value) in pixel.iter().enumerate() {
                to[channel * plane + i] = value;
            }
        }
    } else {
        let pixels = resized(image.to_luma8(), side);
        for (to, &pixel) in to.iter_mut().zip(pixels.iter()) {
            *to = pixel;
        }
    }
}

fn resized<P>(pixels: ImageBuffer<P, Vec<u8>>, side: u32) -> ImageBuffer<P, Vec<u8>>
where
    P: Pixel<Subpixel = u8> + 'static,
{
    if pixels.dimensions() == (side, side) {
        return pixels;
    }
    imageops::resize(&pixels, side, side, FilterType::Triangle)
}
