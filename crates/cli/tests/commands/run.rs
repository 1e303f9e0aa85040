//! The command line as a user types it.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

/// A quick start small enough for a test.
const SMALL: [&str; 10] = [
    "run",
    "--set",
    "devices.count=30",
    "--set",
    "data.data_volume=600",
    "--set",
    "model.name=logistic",
    "--set",
    "stop.max_rounds=3",
    "--out",
];

fn aerofed(args: &[&str]) -> std::process::Output {
    Command::cargo_bin("aerofed")
        .unwrap()
        .args(args)
        .output()
        .unwrap()
}

fn small(out: &Path, more: &[&str]) -> std::process::Output {
    aerofed(&[&SMALL[..], &[out.to_str().unwrap()], more].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_run_leaves_everything_promised() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    let output = small(&out, &["--json", "--seed", "5"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));

    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let written: Value =
        serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(printed, written);
    for key in [
        "method",
        "seed",
        "rounds",
        "stopped_by",
        "final_accuracy",
        "best_accuracy",
        "total_time_s",
        "total_energy_j",
        "time",
        "energy",
        "targets",
        "wall_clock_s",
        "threads",
        "version",
    ] {
        assert!(!printed[key].is_null(), "{key}");
    }
    assert_eq!(
        (printed["seed"].as_u64(), printed["rounds"].as_u64()),
        (Some(5), Some(3))
    );

    // The table of rounds tells the same story as the summary.
    let rounds = fs::read_to_string(out.join("rounds.csv")).unwrap();
    let mut lines = rounds.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|h| *h == name).unwrap();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row.len() == header.len()));
    let sum = |name: &str| {
        rows.iter()
            .map(|row| row[column(name)].parse::<f64>().unwrap())
            .sum::<f64>()
    };
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs();
    assert!(near(
        sum("energy_j"),
        printed["total_energy_j"].as_f64().unwrap()
    ));
    assert!(near(
        sum("time_s"),
        printed["total_time_s"].as_f64().unwrap()
    ));
    assert!(near(
        sum("edge_hover_j"),
        printed["energy"]["edge_hover_j"].as_f64().unwrap()
    ));
    assert_eq!(
        fs::read_to_string(out.join("uavs.csv"))
            .unwrap()
            .lines()
            .count(),
        1 + 3 * 5
    );

    // The scenario is complete: it repeats the run to the byte.
    let again = dir.path().join("again");
    let scenario = out.join("scenario.toml");
    let output = aerofed(&[
        "run",
        scenario.to_str().unwrap(),
        "--out",
        again.to_str().unwrap(),
        "--threads",
        "1",
    ]);
    assert_eq!(output.status.code(), Some(0));
    for name in [
        "scenario.toml",
        "rounds.csv",
        "uavs.csv",
        "events.jsonl",
        "model.safetensors",
        "map.svg",
    ] {
        assert_eq!(
            fs::read(out.join(name)).unwrap(),
            fs::read(again.join(name)).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn results_on_stdout_the_rest_on_stderr_and_no_colour_when_piped() {
    let dir = tempfile::tempdir().unwrap();
    let output = small(&dir.path().join("a"), &[]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(
        out.contains("accuracy") && out.contains("Energy by item"),
        "{out}"
    );
    assert!(err.contains("round 1/3") && err.contains("wrote"), "{err}");
    assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}'));
    let quiet = small(&dir.path().join("b"), &["--quiet"]);
    let said = text(&quiet.stderr);
    assert!(
        said.starts_with("wrote ") && said.lines().count() == 1,
        "{said}"
    );
    assert!(!quiet.stdout.is_empty());
}

#[test]
fn a_finished_run_is_not_overwritten_unless_forced() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    assert_eq!(small(&out, &["--quiet"]).status.code(), Some(0));
    let before = fs::read(out.join("summary.json")).unwrap();
    let refused = small(&out, &["--quiet"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--force"));
    assert_eq!(fs::read(out.join("summary.json")).unwrap(), before);
    assert_eq!(
        small(&out, &["--quiet", "--force", "--seed", "9"])
            .status
            .code(),
        Some(0)
    );
    assert_ne!(fs::read(out.join("summary.json")).unwrap(), before);
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_of_the_machine() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    let output = small(&file.join("below"), &["--quiet"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(small(&file, &["--quiet"]).status.code(), Some(2));
    assert_eq!(fs::read(&file).unwrap(), b"x");
}

#[test]
fn the_small_commands_answer() {
    assert!(text(&aerofed(&["methods"]).stdout).contains("hfl"));
    assert!(text(&aerofed(&["--version"]).stdout).contains(env!("CARGO_PKG_VERSION")));
    let sets = text(&aerofed(&["data", "list"]).stdout);
    assert!(
        sets.contains("fashion-mnist") && sets.contains("8000 training and 2000 test"),
        "{sets}"
    );
    let table = text(&aerofed(&["data", "partition", "--set", "devices.count=20"]).stdout);
    assert!(table.lines().count() > 20, "{table}");
    for command in [
        &["run"][..],
        &["methods"],
        &["scenario", "check"],
        &["scenario", "defaults"],
        &["data", "get"],
        &["data", "check"],
    ] {
        let help = aerofed(&[command, &["--help"]].concat());
        assert_eq!(help.status.code(), Some(0));
        assert!(text(&help.stdout).contains("Usage"));
    }
}

#[test]
fn the_defaults_are_a_scenario_that_checks() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.toml");
    fs::write(&file, aerofed(&["scenario", "defaults"]).stdout).unwrap();
    let output = aerofed(&["scenario", "check", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("150 devices, 5 UAVs"));
}

/// The newcomer's command, cut short where it has shown what it promises.
#[test]
fn the_quick_start_reaches_90_percent() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    let stop = "stop.target_accuracy=0.9";
    let output = aerofed(&[
        "run",
        "--set",
        stop,
        "--json",
        "--quiet",
        "--out",
        out.to_str().unwrap(),
    ]);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["stopped_by"], "target_accuracy", "{summary}");
    assert!(summary["rounds"].as_u64().unwrap() <= 25);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_its_rounds() {
    use std::process::{Command as Process, Stdio};
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    let mut child = Process::new(assert_cmd::cargo::cargo_bin!("aerofed"))
        .args(SMALL)
        .args([out.to_str().unwrap(), "--set", "stop.max_rounds=1000000"])
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let rounds = dir.path().join("run.partial/rounds.csv");
    while fs::read_to_string(&rounds).map_or(0, |text| text.lines().count()) < 3 {
        assert!(child.try_wait().unwrap().is_none(), "ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Process::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let summary: Value =
        serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["stopped_by"], "interrupted");
    assert!(summary["rounds"].as_u64().unwrap() >= 2);
}

/// The paper does not say where UAVs charge: from the corner some would leave for good. From the middle everybody returns.
#[test]
fn a_check_says_which_uavs_could_not_come_back() {
    let said = |name: &str| {
        let output = aerofed(&["scenario", "check", name]);
        assert_eq!(output.status.code(), Some(0));
        text(&output.stderr)
    };
    assert!(
        said("paper").contains("UAVs 1, 2, 3 could not come back")
            && said("paper").contains("a full battery gives 250 kJ"),
        "{}",
        said("paper")
    );
    for name in ["defaults", "quickstart"] {
        assert_eq!(said(name), "", "{name}");
    }
}

/// Tests are built without a GPU: asked for by name it is refused before anything is written, `auto` takes the cores and says so, to the same bytes.
#[test]
fn a_gpu_that_is_not_there_is_refused_unless_anything_will_do() {
    let folder = tempfile::tempdir().unwrap();
    let (refused, auto, cores) = (
        folder.path().join("refused"),
        folder.path().join("auto"),
        folder.path().join("cores"),
    );
    let output = small(&refused, &["--device", "cuda"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("`--device` is cuda: "), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let output = small(&auto, &["--device", "auto"]);
    assert!(output.status.success());
    let said = text(&output.stderr);
    assert!(said.contains("training on the cores: "), "{said}");
    assert!(small(&cores, &[]).status.success());
    let rounds = |run: &Path| fs::read(run.join("rounds.csv")).unwrap();
    assert_eq!(rounds(&auto), rounds(&cores));
}
