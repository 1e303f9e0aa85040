//! CIFAR-10's binary files: what is read, and every way in which a folder can be wrong.

use std::fs;

use aerofed_data::{Error, FolderKind, check_folder, cifar10_folder};
use tempfile::TempDir;

const RECORD: usize = 3073;
const NAMES: [&str; 6] = [
    "data_batch_1.bin",
    "data_batch_2.bin",
    "data_batch_3.bin",
    "data_batch_4.bin",
    "data_batch_5.bin",
    "test_batch.bin",
];

/// A folder that loads: in each file a record with its number as the label, pixels 10, 20 and 30.
fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (label, name) in (0..).zip(NAMES) {
        let record = [&[label][..], &[10; 1024], &[20; 1024], &[30; 1024]].concat();
        fs::write(dir.path().join(name), record).unwrap();
    }
    dir
}

#[test]
fn batches_are_read_in_order_and_by_channel() {
    let dir = folder();
    let split = cifar10_folder(dir.path(), false).unwrap();
    assert_eq!(split.train.labels, [0, 1, 2, 3, 4]);
    assert_eq!(split.test.labels, [5]);
    let train = &split.train;
    assert_eq!((train.channels, train.height, train.width), (3, 32, 32));
    assert_eq!(train.class_names.len(), 10);
    for (channel, value) in [10.0_f32, 20.0, 30.0].into_iter().enumerate() {
        let plane = &train.input(4).unwrap()[1024 * channel..][..1024];
        assert!(plane.iter().all(|&pixel| pixel == value / 255.0));
    }
    let report = check_folder(dir.path()).unwrap();
    let FolderKind::Cifar10 { official, files } = &report.kind else {
        unreachable!()
    };
    assert_eq!((*official, files.len()), (false, 6));
    let text = report.to_string();
    assert!(text.contains("not the published ones") && text.contains("size 32x32: 6 images"));
}

#[test]
fn the_official_sums_of_cifar10_are_asked_for() {
    let text = cifar10_folder(folder().path(), true)
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("data_batch_1.bin") && text.contains("SHA-256") && text.contains("cifar10"),
        "{text}"
    );
}

#[test]
fn a_wrong_file_is_named_with_what_is_wrong() {
    let broken = |name: &str, bytes: &[u8]| {
        let dir = folder();
        fs::write(dir.path().join(name), bytes).unwrap();
        let text = cifar10_folder(dir.path(), false).unwrap_err().to_string();
        assert!(text.contains(name), "{text}");
        assert_eq!(check_folder(dir.path()).unwrap_err().to_string(), text);
        text
    };
    for bytes in [&[][..], &[0; RECORD - 1], &[0; RECORD + 1]] {
        let text = broken("data_batch_3.bin", bytes);
        assert!(text.contains(&format!("{} bytes", bytes.len())), "{text}");
        assert!(text.contains("30730000"), "{text}");
    }
    let mut records = vec![1; 2 * RECORD];
    records[RECORD] = 10;
    let text = broken("test_batch.bin", &records);
    assert!(text.contains("label 10 in record 1"), "{text}");
}

#[test]
fn a_folder_without_the_files_is_told_what_it_may_hold_instead() {
    let dir = folder();
    let missing = || cifar10_folder(dir.path(), false).unwrap_err().to_string();
    fs::remove_file(dir.path().join("data_batch_2.bin")).unwrap();
    assert!(
        missing().ends_with("data_batch_2.bin: is not there"),
        "{}",
        missing()
    );
    fs::write(dir.path().join("data_batch_2"), "pickled").unwrap();
    assert!(missing().contains("Python version"), "{}", missing());
    let above = tempfile::tempdir().unwrap();
    fs::create_dir(above.path().join("cifar-10-batches-bin")).unwrap();
    let text = cifar10_folder(above.path(), false).unwrap_err().to_string();
    assert!(text.contains("cifar-10-batches-bin in it"), "{text}");
    let file = dir.path().join("test_batch.bin");
    assert!(matches!(
        cifar10_folder(&file, false),
        Err(Error::NotAFolder(_))
    ));
    assert!(matches!(
        cifar10_folder(&dir.path().join("nowhere"), false),
        Err(Error::Io { .. })
    ));
}
