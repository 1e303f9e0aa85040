//! `aerofed run --dry` and `aerofed calibrate` as a user types them.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

const SMALL: [&str; 12] = [
    "--set",
    "devices.count=30",
    "--set",
    "data.data_volume=600",
    "--set",
    "model.name=logistic",
    "--set",
    "training.max_edge_rounds=2",
    "--set",
    "stop.targets=[0.3]",
    "--rounds",
    "6",
];

fn aerofed(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("aerofed").unwrap();
    command.current_dir(dir).args(args).output().unwrap()
}

fn run(dir: &Path, out: &str, more: &[&str]) -> Output {
    let output = aerofed(
        dir,
        &[&["run", "-q", "--out", out], &SMALL[..], more].concat(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_dry_run_leaves_what_a_run_leaves_and_goes_on_after_an_interruption() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "dry", &["--dry", "--method", "cehfed"]);
    let file = |folder: &str, name: &str| fs::read(dir.path().join(folder).join(name)).unwrap();
    for name in [
        "rounds.csv",
        "uavs.csv",
        "summary.json",
        "report.html",
        "model.safetensors",
    ] {
        assert!(!file("dry", name).is_empty(), "{name}");
    }
    let scenario = text(&file("dry", "scenario.toml"));
    assert!(scenario.contains("learner = \"surrogate\""), "{scenario}");
    run(
        dir.path(),
        "again",
        &["--set", "learner=surrogate", "--method", "cehfed"],
    );
    assert_eq!(file("dry", "rounds.csv"), file("again", "rounds.csv"));
    let refused = aerofed(dir.path(), &["run", "--dry", "--resume", "dry"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_law_is_fitted_to_runs_judged_on_others_and_followed() {
    let dir = tempfile::tempdir().unwrap();
    for (name, method, seed) in [
        ("a", "hfl", "1"),
        ("b", "rhfed", "2"),
        ("c", "gdhfed", "3"),
        ("d", "hfl", "4"),
        ("e", "hfedat", "5"),
    ] {
        run(dir.path(), name, &["--method", method, "--seed", seed]);
    }
    let output = aerofed(dir.path(), &["calibrate", "a", "b", "c", "d", "e"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let (told, remarks) = (text(&output.stdout), text(&output.stderr));
    // Every fourth is held out; the asynchronous one cannot be fitted to.
    for part in [
        "mnist logistic",
        "3 runs",
        "Held out: 1 run",
        "| d ",
        "Cross-validation: 3 runs",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(remarks.contains("hfedat"), "{remarks}");
    let law = fs::read_to_string(dir.path().join("law.toml")).unwrap();
    assert!(
        law.starts_with("# ") && law.contains("[group.law]"),
        "{law}"
    );

    let again = [
        "calibrate",
        "a",
        "b",
        "c",
        "--held-out",
        "d",
        "--out",
        "two.toml",
        "-q",
    ];
    let output = aerofed(
        dir.path(),
        &[&again[..], &["--no-cross-validation"]].concat(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let two = fs::read_to_string(dir.path().join("two.toml")).unwrap();
    let numbers = |text: &str| text[text.find("format").unwrap()..].to_owned();
    assert_eq!(numbers(&law), numbers(&two), "same runs, same law");

    let own = [
        "--dry",
        "--set",
        "surrogate.law=law.toml",
        "--method",
        "hfl",
    ];
    run(dir.path(), "own", &own);
    run(dir.path(), "shipped", &["--dry", "--method", "hfl"]);
    let rounds = |folder: &str| fs::read(dir.path().join(folder).join("rounds.csv")).unwrap();
    assert_ne!(rounds("own"), rounds("shipped"));
}

#[test]
fn what_no_law_can_be_fitted_to_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "dry", &["--dry"]);
    run(dir.path(), "late", &["--method", "hfedat"]);
    fs::write(dir.path().join("there.toml"), "mine").unwrap();
    for (args, told) in [
        (&["calibrate", "dry"][..], "surrogate"),
        (&["calibrate", "late"], "asynchronous"),
        (&["calibrate", "nowhere"], "nowhere"),
        (&["calibrate", "late", "--out", "there.toml"], "--force"),
        (&["calibrate", "late", "--out", "."], "--out"),
        (&["calibrate"], "RUN"),
    ] {
        let output = aerofed(dir.path(), args);
        let said = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{args:?}");
        assert!(said.contains(told), "{args:?}: {said}");
    }
    assert_eq!(
        fs::read_to_string(dir.path().join("there.toml")).unwrap(),
        "mine"
    );
}
