//! The files that a scenario names: a run is known by those that are loaded, and by nothing else that lies beside them.

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use aerofed::run_folder::{RunFolder, check_inputs};
use aerofed::session::{Keeping, Session};
use aerofed::{Error, Method, Simulation, ValidScenario};

use crate::common::{few_digits, light, tiny};

/// Far less than reading all that can be reached takes, far more than reading what is loaded.
const SOON: Duration = Duration::from_secs(20);

fn copy_of_digits(to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(few_digits()).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// An 8 GB file that takes no place on the disk.
fn sparse(path: &Path) {
    File::create(path).unwrap().set_len(8 << 30).unwrap();
}

/// The checksum that a run of the scenario leaves.
fn checksum(scenario: &ValidScenario) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(&dir.path().join("run"), scenario, false).unwrap();
    fs::read_to_string(folder.partial().join("inputs.sha256")).ok()
}

#[cfg(unix)]
#[test]
fn links_and_unrelated_files_in_a_data_folder_are_not_read() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("digits");
    copy_of_digits(&data);
    let scenario = light(&[&format!("data.dir={data:?}")]);
    let alone = checksum(&scenario);
    assert!(alone.is_some());

    let started = Instant::now();
    for link in 0..10 {
        symlink(".", data.join(format!("link-{link}"))).unwrap();
    }
    sparse(&data.join("backup.tar"));
    fs::create_dir(data.join("more")).unwrap();
    sparse(&data.join("more/train-images-idx3-ubyte"));
    assert_eq!(checksum(&scenario), alone);
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());

    // What is loaded counts, also behind a link.
    let labels = data.join("train-labels-idx1-ubyte");
    let elsewhere = dir.path().join("labels");
    fs::rename(&labels, &elsewhere).unwrap();
    symlink(&elsewhere, &labels).unwrap();
    assert_eq!(checksum(&scenario), alone);
    let mut bytes = fs::read(&elsewhere).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&elsewhere, bytes).unwrap();
    assert_ne!(checksum(&scenario), alone);
}

#[cfg(unix)]
#[test]
fn of_a_tree_of_images_the_files_of_its_classes_count() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    for class in ["lake", "sand", "tar"] {
        fs::create_dir(dir.path().join(class)).unwrap();
        for name in ["1.png", "2.JPG", "3.jpeg"] {
            fs::write(dir.path().join(class).join(name), class).unwrap();
        }
    }
    let folder = format!("data.dir={:?}", dir.path());
    let classes = "data.classes=[\"lake\", \"sand\"]";
    let scenario = tiny(&["data.set=images", &folder, classes]);
    let alone = checksum(&scenario);
    assert!(alone.is_some());
    let started = Instant::now();
    sparse(&dir.path().join("backup.tar"));
    sparse(&dir.path().join("lake/.DS_Store"));
    sparse(&dir.path().join("tar/4.png"));
    for link in 0..10 {
        symlink(".", dir.path().join(format!("link-{link}"))).unwrap();
        symlink("..", dir.path().join(format!("lake/link-{link}"))).unwrap();
    }
    assert_eq!(checksum(&scenario), alone);
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    fs::write(dir.path().join("lake/1.png"), "changed").unwrap();
    assert_ne!(checksum(&scenario), alone);
}

#[test]
fn a_set_that_is_none_any_more_has_changed() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("digits");
    copy_of_digits(&data);
    let scenario = light(&[&format!("data.dir={data:?}")]);
    let folder = RunFolder::create(&dir.path().join("run"), &scenario, false).unwrap();
    check_inputs(folder.partial(), &scenario, &|| false).unwrap();
    fs::remove_file(data.join("train-labels-idx1-ubyte")).unwrap();
    let error = check_inputs(folder.partial(), &scenario, &|| false).unwrap_err();
    assert!(error.to_string().contains("has changed"), "{error}");
    // Where it is gone altogether nothing can be said.
    fs::remove_dir_all(&data).unwrap();
    check_inputs(folder.partial(), &scenario, &|| false).unwrap();
}

#[test]
fn whoever_is_told_to_stop_reads_no_further_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("digits");
    copy_of_digits(&data);
    sparse(&data.join("train-images-idx3-ubyte"));
    let scenario = light(&[&format!("data.dir={data:?}")]);
    let stop = AtomicBool::new(true);
    let keeping = Keeping {
        stop: Some(&stop),
        ..Keeping::default()
    };
    let set_up = |scenario: &ValidScenario| {
        let simulation = Simulation::builder(scenario).threads(1).build()?;
        Ok((simulation, Method::of(scenario)?))
    };
    let started = Instant::now();
    let path = dir.path().join("run");
    let ended = Session::begin(&path, &scenario, keeping, set_up);
    assert!(matches!(ended, Err(Error::Interrupted)));
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "the data");
}
