//! Image trees: what is read, and every way in which a tree can be wrong.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use aerofed_data::{Error, FolderKind, ImageFolder, check_folder, image_folder};
use image::{ImageFormat, Rgb, RgbImage};
use proptest::prelude::*;
use tempfile::TempDir;

fn put(dir: &Path, name: &str, pixel: [u8; 3], side: u32) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    RgbImage::from_pixel(side, side, Rgb(pixel))
        .save(path)
        .unwrap();
}

/// Two classes of ten images.
fn tree() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for i in 0..10 {
        put(dir.path(), &format!("forest/{i}.png"), [0, 102, 51], 12);
        put(dir.path(), &format!("beach/{i}.JPG"), [255, 204, 0], 8);
    }
    dir
}

fn options(image_size: usize) -> ImageFolder {
    ImageFolder {
        image_size,
        color: true,
        ..ImageFolder::default()
    }
}

#[test]
fn colours_lie_channel_after_channel() {
    let split = image_folder(tree().path(), &options(4)).unwrap();
    let train = &split.train;
    train.check().unwrap();
    assert_eq!(train.class_names, ["beach", "forest"]);
    assert_eq!(
        (train.len(), split.test.len(), train.input_len()),
        (16, 4, 48)
    );
    assert_eq!(train.label_counts(), [8, 8]);
    assert_eq!(split.test.label_counts(), [2, 2]);
    let forest = train.labels.iter().position(|&label| label == 1).unwrap();
    let values = train.input(forest).unwrap();
    assert_eq!(values, [[0.0; 16], [0.4; 16], [0.2; 16]].concat());
    // jpeg is not exact, but near.
    let beach = train.input(0).unwrap();
    assert!(
        beach[..16].iter().all(|v| (v - 1.0).abs() < 0.03),
        "{beach:?}"
    );
    assert!(beach[32..].iter().all(|v| v.abs() < 0.03), "{beach:?}");
}

#[test]
fn grey_and_shrinking_average() {
    let dir = tempfile::tempdir().unwrap();
    for class in ["a", "b"] {
        fs::create_dir(dir.path().join(class)).unwrap();
        // A chequerboard of black and white becomes grey, not black or white.
        let board =
            image::GrayImage::from_fn(64, 32, |x, y| image::Luma([255 * ((x + y) % 2) as u8]));
        board
            .save(dir.path().join(class).join("board.png"))
            .unwrap();
    }
    let grey = ImageFolder {
        color: false,
        test_fraction: 0.0,
        ..options(8)
    };
    let split = image_folder(dir.path(), &grey).unwrap();
    assert_eq!(
        (split.train.channels, split.train.len(), split.test.len()),
        (1, 2, 0)
    );
    assert!(
        split
            .train
            .inputs
            .to_vec()
            .iter()
            .all(|v| (v - 0.5).abs() < 0.05),
        "{:?}",
        split.train.inputs
    );
}

#[test]
fn the_test_split_depends_on_names_only() {
    let (dir, elsewhere) = (tree(), tree());
    let marks = |dir: &Path| {
        let split = image_folder(dir, &options(1)).unwrap();
        split.test.inputs.to_vec()
    };
    // Each image has its own colour, so that samples can be told apart.
    for i in 0..10 {
        for dir in [&dir, &elsewhere] {
            put(dir.path(), &format!("forest/{i}.png"), [i * 20, 0, 0], 12);
        }
    }
    let before = marks(dir.path());
    assert_eq!(before, marks(elsewhere.path()));
    for i in 0..10 {
        put(dir.path(), &format!("airport/{i}.png"), [1, 2, 3], 12);
    }
    let after = marks(dir.path());
    assert_eq!(before[..], after[after.len() - before.len()..]);
}

#[test]
fn classes_are_chosen_and_ordered() {
    let dir = tree();
    put(dir.path(), "desert/1.png", [1, 1, 1], 4);
    put(dir.path(), "desert/2.png", [1, 1, 1], 4);
    let wanted = |names: &[&str]| ImageFolder {
        classes: names.iter().map(|&name| name.to_owned()).collect(),
        ..options(2)
    };
    let split = image_folder(dir.path(), &wanted(&["forest", "desert"])).unwrap();
    assert_eq!(split.train.class_names, ["forest", "desert"]);
    assert_eq!(split.train.label_counts(), [8, 1]);
    assert_eq!(split.test.label_counts(), [2, 1]);
    let text = image_folder(dir.path(), &wanted(&["forest", "moon"]))
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("moon") && text.contains("beach, desert, forest"),
        "{text}"
    );
    let error = image_folder(dir.path(), &wanted(&["forest"])).unwrap_err();
    assert!(matches!(error, Error::ClassCount { found: 1, .. }));
    let text = image_folder(dir.path(), &wanted(&["beach", "beach"]))
        .unwrap_err()
        .to_string();
    assert!(text.contains("classes = beach"), "{text}");
    let error = image_folder(dir.path(), &wanted(&["..", "beach"])).unwrap_err();
    assert!(matches!(error, Error::UnknownClasses { .. }), "{error}");
}

#[test]
fn bad_files_are_listed_by_name() {
    let dir = tree();
    fs::write(dir.path().join("beach/notes.jpg"), "no image at all").unwrap();
    fs::write(dir.path().join("beach/empty.png"), "").unwrap();
    fs::write(dir.path().join("forest/readme.txt"), "text").unwrap();
    fs::create_dir(dir.path().join("forest/inner.png")).unwrap();
    let whole = fs::read(dir.path().join("forest/0.png")).unwrap();
    fs::write(
        dir.path().join("forest/half.png"),
        &whole[..whole.len() / 2],
    )
    .unwrap();
    // Passed over.
    fs::write(dir.path().join("forest/.DS_Store"), "x").unwrap();
    fs::write(dir.path().join("forest/Thumbs.db"), "x").unwrap();
    fs::write(dir.path().join("LICENSE"), "x").unwrap();

    let error = image_folder(dir.path(), &options(4)).unwrap_err();
    let text = error.to_string();
    let Error::BadImages { files, .. } = error else {
        unreachable!("{text}")
    };
    let names: Vec<_> = files
        .iter()
        .map(|f| f.path.file_name().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "empty.png",
            "notes.jpg",
            "half.png",
            "inner.png",
            "readme.txt"
        ]
    );
    assert!(names.iter().all(|name| text.contains(name)), "{text}");

    let report = check_folder(dir.path()).unwrap();
    assert_eq!(
        report.bad.iter().map(|f| &f.path).collect::<Vec<_>>(),
        files.iter().map(|f| &f.path).collect::<Vec<_>>()
    );
    let text = report.require_usable().unwrap_err().to_string();
    assert!(
        text.contains("cannot be used: 5") && text.contains("too few images: 0"),
        "{text}"
    );
    assert_eq!(report.kind, FolderKind::Images);
    assert_eq!(report.sizes[&(12, 12)], 10);
    assert!(
        report.to_string().contains("5 files cannot be used"),
        "{report}"
    );
}

#[test]
fn ten_bad_files_are_named_and_the_others_counted() {
    let dir = tree();
    for i in 10..25 {
        fs::write(dir.path().join(format!("beach/{i}.jpg")), "x").unwrap();
    }
    let text = image_folder(dir.path(), &options(4))
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("15 files cannot be used") && text.contains("and 5 more"),
        "{text}"
    );
    assert_eq!(text.matches(".jpg:").count(), 10, "{text}");
}

#[test]
fn empty_and_single_classes_are_refused() {
    let dir = tree();
    fs::create_dir(dir.path().join("void")).unwrap();
    let text = image_folder(dir.path(), &options(4))
        .unwrap_err()
        .to_string();
    assert!(text.contains("void") && !text.contains("forest"), "{text}");
    assert!(!check_folder(dir.path()).unwrap().is_usable());
    put(dir.path(), "void/only.png", [0; 3], 4);
    assert!(matches!(
        image_folder(dir.path(), &options(4)),
        Err(Error::EmptyClasses {
            with_test: true,
            ..
        })
    ));
    let all_for_training = ImageFolder {
        test_fraction: 0.0,
        ..options(4)
    };
    assert!(image_folder(dir.path(), &all_for_training).is_ok());

    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(
        image_folder(dir.path(), &options(4)),
        Err(Error::ClassCount { found: 0, .. })
    ));
    assert!(matches!(
        check_folder(dir.path()),
        Err(Error::Unrecognised(_))
    ));
    put(dir.path(), "alone/1.png", [0; 3], 4);
    put(dir.path(), "alone/2.png", [0; 3], 4);
    assert!(matches!(
        image_folder(dir.path(), &options(4)),
        Err(Error::ClassCount { found: 1, .. })
    ));
    assert!(matches!(
        image_folder(&dir.path().join("alone/1.png"), &options(4)),
        Err(Error::NotAFolder(_))
    ));
    assert!(matches!(
        image_folder(&dir.path().join("nowhere"), &options(4)),
        Err(Error::Io { .. })
    ));
}

#[test]
fn options_out_of_range_are_named() {
    let dir = tree();
    let message =
        |options: ImageFolder| image_folder(dir.path(), &options).unwrap_err().to_string();
    for image_size in [0, 1_025, usize::MAX] {
        let text = message(options(image_size));
        assert!(
            text.contains(&format!("image_size = {image_size}")) && text.contains("1 to 1024"),
            "{text}"
        );
    }
    for test_fraction in [f64::NAN, f64::INFINITY, -0.1, 0.95] {
        let text = message(ImageFolder {
            test_fraction,
            ..options(4)
        });
        assert!(
            text.contains("test_fraction = ") && text.contains("0 to 0.9"),
            "{text}"
        );
    }
}

#[test]
fn a_huge_declared_image_is_a_bad_file() {
    let dir = tree();
    // A png header that declares 2 000 000 000 x 2 000 000 000 pixels, check sum and all.
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend(2_000_000_000_u32.to_be_bytes());
    png.extend(2_000_000_000_u32.to_be_bytes());
    png.extend([8, 2, 0, 0, 0]);
    let mut sum = flate2::Crc::new();
    sum.update(&png[12..]);
    png.extend(sum.sum().to_be_bytes());
    png.extend(b"\0\0\0\0IDAT\x35\xaf\x06\x1e");
    fs::write(dir.path().join("beach/huge.png"), png).unwrap();
    let text = image_folder(dir.path(), &options(4))
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("huge.png") && text.contains("1 file"),
        "{text}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn names_need_not_be_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let dir = tree();
    let odd = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    let image = dir.path().join("forest/0.png");
    fs::copy(&image, dir.path().join("forest").join(odd(b"\xff\xfe.png"))).unwrap();
    let split = image_folder(dir.path(), &options(4)).unwrap();
    assert_eq!(split.train.len() + split.test.len(), 21);

    fs::create_dir(dir.path().join(odd(b"\xf0class"))).unwrap();
    let text = image_folder(dir.path(), &options(4))
        .unwrap_err()
        .to_string();
    assert!(text.contains("not UTF-8"), "{text}");
    assert!(!check_folder(dir.path()).unwrap().is_usable());
    // It is no hindrance to those who name their classes.
    let named = ImageFolder {
        classes: vec!["beach".to_owned(), "forest".to_owned()],
        ..options(4)
    };
    assert!(image_folder(dir.path(), &named).is_ok());
}

fn encoded(format: ImageFormat) -> Vec<u8> {
    let image = RgbImage::from_fn(16, 16, |x, y| Rgb([(x * 16) as u8, (y * 16) as u8, 128]));
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Damaged files are read or reported; they never bring the program down.
    #[test]
    fn damaged_images_do_not_panic(
        jpeg: bool,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        keep in any::<prop::sample::Index>(),
        cut: bool,
    ) {
        let dir = tempfile::tempdir().unwrap();
        for class in ["a", "b"] {
            put(dir.path(), &format!("{class}/good.png"), [9; 3], 4);
        }
        let mut bytes = encoded(if jpeg { ImageFormat::Jpeg } else { ImageFormat::Png });
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if cut {
            bytes.truncate(keep.index(bytes.len()));
        }
        fs::write(dir.path().join("a/damaged.png"), bytes).unwrap();
        let options = ImageFolder { test_fraction: 0.0, ..options(4) };
        match image_folder(dir.path(), &options) {
            Ok(split) => prop_assert_eq!(split.train.len(), 3),
            Err(error) => prop_assert!(error.to_string().contains("damaged.png")),
        }
    }
}
