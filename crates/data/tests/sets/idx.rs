//! idx folders: what is read, and every way in which a file can be wrong.

use std::fs;
use std::io::Write;
use std::path::Path;

use aerofed_data::{
    Embedded, Error, FolderKind, FullSet, IdxProblem, Values, check_folder, embedded, idx_folder,
};
use flate2::{Compression, write::GzEncoder};
use tempfile::TempDir;

fn idx(magic: u32, dimensions: &[u32], body: &[u8]) -> Vec<u8> {
    let words = [magic].into_iter().chain(dimensions.iter().copied());
    let mut bytes: Vec<u8> = words.flat_map(u32::to_be_bytes).collect();
    bytes.extend(body);
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const TRAIN_IMAGES: &str = "train-images-idx3-ubyte";
const TRAIN_LABELS: &str = "train-labels-idx1-ubyte";
const TEST_IMAGES: &str = "t10k-images-idx3-ubyte";
const TEST_LABELS: &str = "t10k-labels-idx1-ubyte";

fn images() -> Vec<u8> {
    idx(
        0x803,
        &[3, 2, 2],
        &[0, 51, 102, 255, 1, 2, 3, 4, 5, 6, 7, 8],
    )
}

fn labels() -> Vec<u8> {
    idx(0x801, &[3], &[0, 2, 1])
}

/// A folder that loads.
fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        (TRAIN_IMAGES, images()),
        (TRAIN_LABELS, labels()),
        (TEST_IMAGES, images()),
        (TEST_LABELS, labels()),
    ] {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    dir
}

/// The error when one file of a good folder is replaced.
fn broken(name: &str, bytes: &[u8]) -> Error {
    let dir = folder();
    fs::write(dir.path().join(name), bytes).unwrap();
    let error = idx_folder(dir.path(), None).unwrap_err();
    assert!(error.to_string().contains(name), "{error}");
    // What cannot be loaded does not pass the check either.
    assert_eq!(
        check_folder(dir.path()).unwrap_err().to_string(),
        error.to_string()
    );
    error
}

fn problem(error: Error) -> IdxProblem {
    match error {
        Error::Idx { problem, .. } => problem,
        other => unreachable!("{other}"),
    }
}

#[test]
fn a_small_set_is_read() {
    let dir = folder();
    let split = idx_folder(dir.path(), None).unwrap();
    assert_eq!(split.train.input(0).unwrap(), [0.0, 0.2, 0.4, 1.0]);
    assert_eq!(split.train.input(3), None);
    assert_eq!(split.train.labels, [0, 2, 1]);
    assert_eq!(split.train.class_names, ["0", "1", "2"]);
    assert_eq!(
        (split.test.height, split.test.width, split.test.channels),
        (2, 2, 1)
    );
    let name = dir.path().file_name().unwrap().to_str().unwrap();
    assert_eq!(split.train.name, name);
}

#[test]
fn gzip_and_dotted_names_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    put("train-images.idx3-ubyte", &images());
    put("train-labels-idx1-ubyte.gz", &gzip(&labels()));
    put("t10k-images.idx3-ubyte.gz", &gzip(&images()));
    // A browser may have unpacked a file and kept its name.
    put("t10k-labels-idx1-ubyte.gz", &labels());
    let split = idx_folder(dir.path(), None).unwrap();
    assert_eq!(split, {
        let mut plain = idx_folder(folder().path(), None).unwrap();
        plain.train.name.clone_from(&split.train.name);
        plain.test.name.clone_from(&split.test.name);
        plain
    });
}

#[test]
fn broken_files_are_named_with_what_is_wrong() {
    let mut short = images();
    short.pop();
    let expected = 28;
    assert_eq!(
        problem(broken(TRAIN_IMAGES, &short)),
        IdxProblem::Truncated {
            found: 27,
            expected
        }
    );
    assert_eq!(
        problem(broken(TEST_IMAGES, &gzip(&short))),
        IdxProblem::Truncated {
            found: 27,
            expected
        }
    );
    assert_eq!(
        problem(broken(TRAIN_IMAGES, &images()[..10])),
        IdxProblem::Truncated {
            found: 10,
            expected: 16
        }
    );
    assert_eq!(
        problem(broken(TRAIN_LABELS, &[0, 0])),
        IdxProblem::Truncated {
            found: 2,
            expected: 8
        }
    );
    let mut long = labels();
    long.push(0);
    assert_eq!(
        problem(broken(TEST_LABELS, &long)),
        IdxProblem::TooLong { expected: 11 }
    );
    assert_eq!(problem(broken(TRAIN_LABELS, &[])), IdxProblem::Empty);
    assert_eq!(
        problem(broken(TRAIN_IMAGES, &labels())),
        IdxProblem::Magic {
            found: 0x801,
            expected: 0x803
        }
    );
    assert!(matches!(
        problem(broken(TRAIN_LABELS, b"hello world, this is no idx")),
        IdxProblem::Magic { .. }
    ));
    let test_label = idx(0x801, &[3], &[0, 1, 7]);
    assert_eq!(
        problem(broken(TEST_LABELS, &test_label)),
        IdxProblem::Label {
            label: 7,
            classes: 3
        }
    );
}

#[test]
fn damaged_gzip_is_said_so() {
    let packed = gzip(&images());
    assert!(matches!(
        problem(broken(TRAIN_IMAGES, &packed[..packed.len() - 6])),
        IdxProblem::Gzip(_)
    ));
    let garbage = [&[0x1f, 0x8b][..], &[0x5a; 300]].concat();
    assert!(matches!(
        problem(broken(TRAIN_IMAGES, &garbage)),
        IdxProblem::Gzip(_)
    ));
    let mut flipped = packed;
    let last = flipped.len() - 5;
    flipped[last] ^= 0xff; // in the check sum
    assert!(matches!(
        problem(broken(TRAIN_IMAGES, &flipped)),
        IdxProblem::Gzip(_)
    ));
    assert_eq!(problem(broken(TRAIN_IMAGES, &gzip(&[]))), IdxProblem::Empty);
}

#[test]
fn declared_sizes_are_not_believed() {
    let huge =
        |dimensions: &[u32]| problem(broken(TRAIN_IMAGES, &idx(0x803, dimensions, &[0; 64])));
    for dimensions in [
        [u32::MAX; 3],
        [u32::MAX, 28, 28],
        [1, u32::MAX, 1],
        [1, 1, 100_000],
        [0, 28, 28],
        [3, 0, 28],
    ] {
        assert!(
            matches!(huge(&dimensions), IdxProblem::Dimensions { .. }),
            "{dimensions:?}"
        );
    }
    // Allowed sizes, but the bytes are not there; half a GiB must not be asked for.
    assert!(matches!(
        huge(&[700_000, 28, 28]),
        IdxProblem::Truncated { found: 80, .. }
    ));
    assert!(matches!(
        problem(broken(TRAIN_LABELS, &idx(0x801, &[u32::MAX], &[]))),
        IdxProblem::Dimensions { .. }
    ));
}

#[test]
fn a_gzip_bomb_is_not_unpacked() {
    // 64 MiB of zeros behind a header of three small images: reading stops at the header's end.
    let mut bomb = images();
    bomb.resize(64 << 20, 0);
    assert_eq!(
        problem(broken(TRAIN_IMAGES, &gzip(&bomb))),
        IdxProblem::TooLong { expected: 28 }
    );
    // More declared than so few packed bytes can ever hold: refused before unpacking.
    let claims = gzip(&idx(0x803, &[1_000_000, 28, 28], &[0; 100]));
    let possible = claims.len() as u64 * 1_032;
    assert_eq!(
        problem(broken(TRAIN_IMAGES, &claims)),
        IdxProblem::Truncated {
            found: possible,
            expected: 784_000_016
        }
    );
}

#[test]
fn images_and_labels_must_belong_together() {
    let error = broken(TRAIN_LABELS, &idx(0x801, &[2], &[0, 1]));
    let text = error.to_string();
    assert!(matches!(
        error,
        Error::CountMismatch {
            image_count: 3,
            label_count: 2,
            ..
        }
    ));
    assert!(
        text.contains("3 images") && text.contains("2 labels"),
        "{text}"
    );

    let dir = folder();
    let wide = idx(0x803, &[3, 2, 3], &[0; 18]);
    fs::write(dir.path().join(TEST_IMAGES), wide).unwrap();
    assert!(matches!(
        idx_folder(dir.path(), None),
        Err(Error::ShapeMismatch { .. })
    ));

    let dir = folder();
    fs::write(dir.path().join(TRAIN_LABELS), idx(0x801, &[3], &[0; 3])).unwrap();
    assert!(matches!(
        idx_folder(dir.path(), None),
        Err(Error::ClassCount { found: 1, .. })
    ));
}

#[test]
fn folders_and_files_are_not_mistaken() {
    let dir = folder();
    fs::remove_file(dir.path().join(TEST_LABELS)).unwrap();
    let text = idx_folder(dir.path(), None).unwrap_err().to_string();
    assert!(text.contains(TEST_LABELS), "{text}");
    fs::create_dir(dir.path().join(TEST_LABELS)).unwrap();
    assert!(matches!(
        idx_folder(dir.path(), None),
        Err(Error::NotAFile(_))
    ));
    assert!(matches!(
        idx_folder(&dir.path().join(TRAIN_IMAGES), None),
        Err(Error::NotAFolder(_))
    ));
    assert!(matches!(
        check_folder(&dir.path().join(TRAIN_IMAGES)),
        Err(Error::NotAFolder(_))
    ));
    assert!(matches!(
        idx_folder(Path::new("/no/such/folder"), None),
        Err(Error::Io { .. })
    ));
}

#[test]
fn the_official_sums_are_asked_for() {
    let dir = folder();
    for set in Embedded::ALL {
        let error = idx_folder(dir.path(), Some(set)).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("SHA-256") && text.contains(set.name()),
            "{text}"
        );
    }
    let report = check_folder(dir.path()).unwrap();
    let FolderKind::Idx { known, files } = &report.kind else {
        unreachable!()
    };
    assert_eq!((*known, files.len()), (None, 4));
    assert!(
        files
            .iter()
            .all(|file| file.known.is_none() && file.sha256.len() == 64)
    );
    assert!(report.is_usable());
    let text = report.to_string();
    assert!(
        text.contains("unknown set") && text.contains("size 2x2: 6 images"),
        "{text}"
    );
}

#[test]
fn labels_may_leave_gaps() {
    let dir = folder();
    for name in [TRAIN_LABELS, TEST_LABELS] {
        fs::write(dir.path().join(name), idx(0x801, &[3], &[1, 2, 1])).unwrap();
    }
    assert_eq!(
        idx_folder(dir.path(), None).unwrap().train.label_counts(),
        [0, 2, 1]
    );
    check_folder(dir.path()).unwrap().require_usable().unwrap();
}

#[test]
fn embedded_sets_are_balanced_and_differ() {
    let [digits, clothes] = Embedded::ALL.map(|set| embedded(set).unwrap());
    for split in [&digits, &clothes] {
        assert_eq!(split.train.label_counts(), [800; 10]);
        assert_eq!(split.test.label_counts(), [200; 10]);
        assert_eq!(
            (split.train.height, split.train.width, split.train.channels),
            (28, 28, 1)
        );
        for set in [&split.train, &split.test] {
            set.check().unwrap();
            // A byte each, as in the files.
            assert!(matches!(set.inputs, Values::Pixels(_)));
            let values = set.inputs.to_vec();
            assert!(values.iter().all(|value| (0.0..=1.0).contains(value)));
            assert!(values.contains(&1.0) && values.contains(&0.0));
        }
    }
    // The first training labels of the published files.
    assert_eq!(digits.train.labels[..10], [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]);
    assert_eq!(digits.test.labels[..5], [7, 2, 1, 0, 4]);
    assert_eq!(clothes.train.labels[..10], [9, 0, 0, 3, 0, 2, 7, 2, 5, 5]);
    // MNIST's pixels have mean 0.1307 and Fashion-MNIST's 0.2860.
    for (split, mean) in [(&digits, 0.1307), (&clothes, 0.2860)] {
        let inputs = split.train.inputs.to_vec();
        let found = inputs.iter().map(|&v| f64::from(v)).sum::<f64>() / inputs.len() as f64;
        assert!((found - mean).abs() < 0.003, "{found}");
    }
}

#[test]
fn sets_are_known_by_name() {
    for set in FullSet::ALL {
        assert_eq!(set.name().parse::<FullSet>().unwrap(), set);
    }
    for set in Embedded::ALL {
        assert_eq!(FullSet::from(set).embedded(), Some(set));
        assert_eq!(
            serde_json::to_string(&set).unwrap(),
            format!("{:?}", FullSet::from(set).name())
        );
    }
    let text = "cifar".parse::<FullSet>().unwrap_err().to_string();
    assert!(
        text.contains("cifar") && text.contains("fashion-mnist"),
        "{text}"
    );
}
