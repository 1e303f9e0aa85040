//! `aerofed compare` as a user types it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::SystemTime;

use assert_cmd::Command;
use serde_json::Value;

#[cfg(unix)]
pub(crate) mod killed;

/// Few devices, a linear model, two short rounds.
const SMALL: [&str; 15] = [
    "compare",
    "--smooth",
    "1",
    "--set",
    "devices.count=20",
    "--set",
    "data.data_volume=300",
    "--set",
    "data.probe_samples=50",
    "--set",
    "model.name=logistic",
    "--set",
    "training.max_edge_rounds=2",
    "--set",
    "stop.max_rounds=2",
];
const METHODS: &str = "hfl,long=hfl:allocation.local_iterations=9,bold=hfl:uavs.reserve=none";

fn aerofed(args: &[&str]) -> Output {
    Command::cargo_bin("aerofed")
        .unwrap()
        .args(args)
        .output()
        .unwrap()
}

pub(crate) fn small(out: &Path, more: &[&str]) -> Output {
    aerofed(&[&SMALL[..], &["--out", out.to_str().unwrap()], more].concat())
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A column of a table in which nothing is quoted.
pub(crate) fn column(table: &Path, name: &str) -> Vec<String> {
    let text = fs::read_to_string(table).unwrap();
    let (head, rows) = text.split_once('\n').unwrap();
    let place = head.split(',').position(|column| column == name);
    let place = place.unwrap_or_else(|| panic!("no {name} in {head}"));
    let cell = |row: &str| row.split(',').nth(place).unwrap().to_owned();
    rows.lines().map(cell).collect()
}

/// When each run's summary was written.
fn written(out: &Path) -> BTreeMap<String, SystemTime> {
    let folders = fs::read_dir(out.join("runs")).unwrap();
    let entry = |folder: std::io::Result<fs::DirEntry>| {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        let summary = folder.path().join("summary.json");
        (name, fs::metadata(summary).unwrap().modified().unwrap())
    };
    folders.map(entry).collect()
}

const DERIVED: [&str; 9] = [
    "compare.csv",
    "compare.json",
    "compare.md",
    "compare-time.svg",
    "compare-energy.svg",
    "report.html",
    "runs.csv",
    "curves.csv",
    "schema.json",
];

pub(crate) fn derived(out: &Path) -> Vec<Vec<u8>> {
    DERIVED
        .iter()
        .map(|name| fs::read(out.join(name)).unwrap())
        .collect()
}

#[test]
fn a_table_for_people_and_files_for_programs() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("c");
    let flags = [
        "--methods",
        METHODS,
        "--seeds",
        "3",
        "--targets",
        "0.1,0.999",
    ];
    let output = small(&out, &flags);
    let (printed, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(printed.contains("To 10 % accuracy"), "{printed}");
    assert!(printed.contains("time saved by hfl"), "{printed}");
    assert!(printed.contains("0/3 reached"), "{printed}");
    assert!(
        said.contains("run 9/9") && said.contains("9 runs done, 0"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(out.join("compare.md")).unwrap(), printed);

    let lines = |name: &str| fs::read_to_string(out.join(name)).unwrap().lines().count();
    assert_eq!(lines("compare.csv"), 1 + 3 * 2, "methods and targets");
    assert_eq!(lines("runs.csv"), 1 + 3 * 3 * 2, "and seeds");
    assert_eq!(lines("curves.csv"), 1 + 3 * 3 * 2, "two rounds each");
    let json: Value = serde_json::from_slice(&derived(&out)[1]).unwrap();
    assert_eq!(json["methods"][1]["label"], "long");
    assert_eq!(json["methods"][1]["targets"][0]["of"], 3);
    assert!(json["methods"][1]["targets"][0]["time_saving_of_first"]["mean"].is_number());
    assert!(text(&derived(&out)[3]).contains("<svg"));

    // Methods that differ in nothing here are told nothing apart, seed by seed.
    let saving = &json["methods"][2]["targets"][0]["time_saving_of_first"];
    assert_eq!(
        (saving["mean"].as_f64(), saving["high"].as_f64()),
        (Some(0.0), Some(0.0))
    );
}

#[test]
fn the_same_command_again_runs_nothing_and_more_seeds_run_only_those() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("c");
    let flags = |seeds| ["--methods", METHODS, "--seeds", seeds, "--targets", "0.5"];
    assert_eq!(small(&out, &flags("2")).status.code(), Some(0));
    let (before, files) = (written(&out), derived(&out));
    let again = small(&out, &flags("2"));
    assert!(
        text(&again.stderr).contains("0 runs done, 6 were there"),
        "{}",
        text(&again.stderr)
    );
    assert_eq!((written(&out), derived(&out)), (before.clone(), files));

    let more = small(&out, &[&flags("3")[..], &["--jobs", "1"]].concat());
    assert!(
        text(&more.stderr).contains("3 runs done, 6 were there"),
        "{}",
        text(&more.stderr)
    );
    let after = written(&out);
    assert!(before.iter().all(|(name, time)| after[name] == *time));
}

#[test]
fn the_number_of_jobs_changes_no_byte() {
    let dir = tempfile::tempdir().unwrap();
    let of = |jobs| {
        let out = dir.path().join(jobs);
        let flags = [
            "--methods",
            METHODS,
            "--seeds",
            "2",
            "--targets",
            "0.5",
            "--jobs",
            jobs,
        ];
        assert_eq!(small(&out, &flags).status.code(), Some(0));
        derived(&out)
    };
    assert_eq!(of("1"), of("4"));
}

#[test]
fn runs_stop_at_the_largest_target_unless_told_not_to() {
    let dir = tempfile::tempdir().unwrap();
    let rounds = |name: &str, flag: &[&str]| {
        let flags = [
            "--methods",
            "hfl",
            "--seeds",
            "1",
            "--targets",
            "0.01",
            "--json",
        ];
        let output = small(&dir.path().join(name), &[&flags[..], flag].concat());
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["methods"][0]["targets"][0]["rounds"]["mean"], 1.0);
        let runs = dir.path().join(name).join("runs.csv");
        column(&runs, "run_rounds").remove(0)
    };
    assert_eq!(
        (rounds("short", &[]), rounds("full", &["--full"])),
        ("1".into(), "2".into())
    );
}

#[test]
fn folders_of_others_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("c");
    let flags = [
        "--methods",
        "hfl",
        "--seeds",
        "1",
        "--targets",
        "0.5",
        "--quiet",
    ];
    assert_eq!(small(&out, &flags).status.code(), Some(0));
    let other = small(
        &out,
        &[&flags[..], &["--set", "uavs.speed_mps=15"]].concat(),
    );
    assert_eq!(other.status.code(), Some(2));
    assert!(
        text(&other.stderr).contains("speed_mps"),
        "{}",
        text(&other.stderr)
    );

    let precious = dir.path().join("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("thesis.txt"), "x").unwrap();
    assert_eq!(small(&precious, &flags).status.code(), Some(2));
    assert_eq!(fs::read_dir(&precious).unwrap().count(), 1);

    // A run folder that someone meddled with is neither taken nor replaced.
    let run = fs::read_dir(out.join("runs"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let scenario = fs::read_to_string(run.join("scenario.toml")).unwrap();
    fs::write(
        run.join("scenario.toml"),
        scenario.replace("seed = 1", "seed = 2"),
    )
    .unwrap();
    let meddled = small(&out, &flags);
    assert_eq!(meddled.status.code(), Some(2));
    assert!(
        text(&meddled.stderr).contains("another scenario"),
        "{}",
        text(&meddled.stderr)
    );
    assert!(run.join("summary.json").exists());
}

/// P1 refuses a power that it cannot reckon with; equal shares do not look at it, and their runs are done.
#[test]
fn what_one_method_cannot_do_does_not_keep_others_from_it() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("odd");
    let odd = ["--set", "uavs.hover_power_w=1e-13"];
    let flags = ["--methods", "rhfed,hfl", "--seeds", "2", "--jobs", "1"];
    let output = small(&out, &[&flags[..], &odd].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("hover_power_w") && said.contains("2 runs are finished"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_compared_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("c");
    for (methods, seeds, targets, named) in [
        ("telepathy", "1", "0.5", "direct_drop"),
        ("hfl,hfl", "1", "0.5", "twice"),
        ("hfl:nothing.like=it", "1", "0.5", "nothing"),
        ("hfl:uavs.battery_j=-5", "1", "0.5", "uavs.battery_j"),
        ("hfl:seed=4", "1", "0.5", "seed"),
        (
            "hfl,x=hfl:devices.count=9",
            "1",
            "0.5",
            "which all methods share",
        ),
        (
            "hfl,x=hfl:stop.targets=[0.1]",
            "1",
            "0.5",
            "which all methods share",
        ),
        ("", "1", "0.5", "method"),
        ("hfl", "0", "0.5", "--seeds"),
        ("hfl", "-1", "0.5", "--seeds"),
        ("hfl", "1", "1.5", "targets"),
        ("hfl", "1", "0", "targets"),
        ("hfl", "1", "nan", "targets"),
        ("hfl", "1", "high", "--targets"),
    ] {
        let targets = format!("--targets={targets}");
        let seeds = format!("--seeds={seeds}");
        let output = small(&out, &["--methods", methods, &seeds, &targets]);
        let said = text(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{methods} {seeds} {targets}: {said}"
        );
        assert!(said.contains(named) && !said.contains("panicked"), "{said}");
        assert!(!out.exists());
    }
    for flag in ["--seeds", "--jobs", "--first-seed", "--targets"] {
        let seeds = if flag == "--seeds" {
            &[][..]
        } else {
            &["--seeds", "1"]
        };
        let flags = [&["--methods", "hfl", flag, "-1"], seeds].concat();
        let output = small(&out, &flags);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flag}: {said}");
        let mut ranges = ["allowed: ", "is not in 1..=1024"].iter();
        assert!(ranges.any(|words| said.contains(words)), "{flag}: {said}");
    }
    for (setting, named) in [
        ("seed=7", "--first-seed"),
        ("method=direct_drop", "--methods"),
        ("stop.target_accuracy=0.5", "--targets"),
        ("data.dir=/nope", "`data.dir` is \"/nope\""),
        // Nobody knows before the data are loaded.
        ("data.data_volume=50000", "the training set holds"),
    ] {
        let flags = ["--methods", "hfl", "--seeds", "1", "--set", setting];
        let output = small(&out, &flags);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{setting}: {said}");
        assert!(said.contains(named), "{setting}: {said}");
        assert!(!out.exists());
    }
    for flags in [
        &["--methods", "hfl"][..],
        &["--seeds", "1"],
        &["--methods", "hfl", "--seeds", "1", "--jobs", "0"],
        &["--methods", "hfl", "--seeds", "1", "--out", ""],
        &[
            "--methods",
            "hfl",
            "--seeds",
            "2",
            "--first-seed",
            "18446744073709551615",
        ],
        &[
            "--methods",
            "hfl",
            "--seeds",
            "1",
            "--first-seed",
            "18446744073709551615",
        ],
    ] {
        let output = aerofed(&[&SMALL[..], flags].concat());
        assert_eq!(
            output.status.code(),
            Some(2),
            "{flags:?}: {}",
            text(&output.stderr)
        );
    }
}

/// Each does a part of the runs, or finds them done.
#[cfg(unix)]
#[test]
fn two_comparisons_started_together_both_end_well() {
    use std::process::{Command as Process, Stdio};
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    let flags = ["--methods", METHODS, "--seeds", "2", "--jobs", "2"];
    let output = small(&whole, &flags);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for attempt in 0..4 {
        let out = dir.path().join(format!("both-{attempt}"));
        let start = || {
            Process::new(assert_cmd::cargo::cargo_bin!("aerofed"))
                .args(SMALL)
                .args(flags)
                .args(["--out", out.to_str().unwrap()])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let both = [start(), start()].map(|child| child.wait_with_output().unwrap());
        for output in &both {
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        }
        assert_eq!(both[0].stdout, both[1].stdout);
        let read = |out: &Path| fs::read_to_string(out.join("compare.csv")).unwrap();
        assert_eq!(read(&out), read(&whole));
        assert_eq!(fs::read_dir(out.join("runs")).unwrap().count(), 6);
    }
}

#[test]
fn rounds_are_short_for_the_field_of_the_scenario() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("c");
    let output = small(&out, &["--methods", "hfl", "--seeds", "1", "--rounds", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let scenario = fs::read_to_string(out.join("scenario.toml")).unwrap();
    assert!(scenario.contains("max_rounds = 1\n"), "{scenario}");
    assert!(
        text(&output.stderr).contains(" 1 round,"),
        "{}",
        text(&output.stderr)
    );
}
