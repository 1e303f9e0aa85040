//! The gallery is made whole, once for each run, and over nobody's files.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

#[path = "../examples/gallery.rs"]
#[allow(dead_code, reason = "a program of its own has a main")]
mod gallery;

/// Ten devices and a linear model.
const SMALL: &str = "# A village. With a pond.\nname = \"village\"\n[devices]\ncount = 10\n[data]\ndata_volume = 50\n\
                     [model]\nname = \"logistic\"\n[stop]\nmax_rounds = 2\n";

fn make(docs: &Path, runs: &Path, settings: &[&str]) -> Result<(), String> {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.into()).collect();
    let scenarios = [("village", SMALL), ("pond", SMALL)];
    gallery::make(docs, runs, &scenarios, &settings).map_err(|error| error.to_string())
}

#[test]
fn a_gallery_shows_every_scenario_and_does_no_run_twice() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, runs) = (folder.path().join("docs"), folder.path().join("runs"));
    make(&docs, &runs, &[]).unwrap();
    let page = fs::read_to_string(docs.join("gallery.md")).unwrap();
    for part in [
        "## village\n\nA village. 10 devices, 5 UAVs, 20 x 20 km, method `cehfed`; `aerofed run village`.",
        "after 2 rounds",
        "![village: map](gallery/village-map.svg)",
        "![pond: progress](gallery/pond-progress.svg)",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for name in ["village-map.svg", "village-progress.svg", "pond-map.svg"] {
        let picture = fs::read_to_string(docs.join("gallery").join(name)).unwrap();
        assert!(roxmltree::Document::parse(&picture).is_ok(), "{name}");
    }

    // Again: the runs are those of before.
    let made = |name: &str| {
        let file = runs.join(name).join("summary.json");
        fs::metadata(file).unwrap().modified().unwrap()
    };
    let before = made("village");
    make(&docs, &runs, &[]).unwrap();
    assert_eq!(made("village"), before);
    assert_eq!(fs::read_to_string(docs.join("gallery.md")).unwrap(), page);

    // Other runs take their place, and the page says what was changed.
    make(&docs, &runs, &["stop.max_rounds=1"]).unwrap();
    let page = fs::read_to_string(docs.join("gallery.md")).unwrap();
    assert!(page.contains("`stop.max_rounds=1`") && page.contains("after 1 round,"));
}

#[test]
fn what_is_not_ours_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, runs) = (folder.path().join("docs"), folder.path().join("runs"));
    fs::create_dir_all(docs.join("gallery")).unwrap();
    for file in ["gallery.md", "gallery/pond-map.svg"] {
        let file = docs.join(file);
        fs::write(&file, "mine").unwrap();
        let told = make(&docs, &runs, &[]).unwrap_err();
        assert!(told.contains("not made by this program"), "{told}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        fs::remove_file(file).unwrap();
    }
    assert!(!runs.exists(), "nothing was run");
    // A folder of runs that holds something else.
    fs::create_dir_all(runs.join("village")).unwrap();
    fs::write(runs.join("village/notes"), "mine").unwrap();
    assert!(make(&docs, &runs, &[]).is_err());
    assert!(runs.join("village/notes").exists() && !docs.join("gallery.md").exists());
}
