//! Settings that a method does not read are refused by name; those that replace a part of it show in its name.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

use crate::compare::{small as compare, text};

fn aerofed(args: &[&str]) -> Output {
    Command::cargo_bin("aerofed")
        .unwrap()
        .args(args)
        .output()
        .unwrap()
}

/// A short run of `cehfed` in which a UAV is lost.
fn cehfed(out: &Path, settings: &[&str]) -> Output {
    let out = out.to_str().unwrap();
    let mut args = vec!["run", "--method", "cehfed", "-q", "--out", out];
    for setting in [
        "devices.count=60",
        "data.data_volume=300",
        "data.probe_samples=50",
        "model.name=logistic",
        "stop.max_rounds=3",
        "faults=[{kind=\"loss\", uav=3, round=2}]",
    ]
    .iter()
    .chain(settings)
    {
        args.extend(["--set", setting]);
    }
    aerofed(&args)
}

fn method_of(run: &Path) -> String {
    let summary = fs::read(run.join("summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    summary["method"].as_str().unwrap().into()
}

#[test]
fn what_the_method_does_not_read_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    for (setting, words) in [
        (
            "allocation.local_iterations=40",
            "error: `allocation.local_iterations` is 40, but method `cehfed` does not read it: its local iterations",
        ),
        (
            "selection.threshold=0.05",
            "error: `selection.threshold` is 0.05, but method `cehfed` does not read it: its devices are the fittest",
        ),
    ] {
        let out = dir.path().join("refused");
        let output = cehfed(&out, &[setting]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.starts_with(words), "{told}");
        assert!(!out.exists() && !out.with_extension("partial").exists());
        // The same before anything runs.
        let check = [
            "scenario",
            "check",
            "quickstart",
            "--set",
            "method=cehfed",
            "--set",
            setting,
        ];
        let output = aerofed(&check);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).starts_with(words));
    }
}

#[test]
fn what_replaces_a_part_stands_in_the_summary() {
    let dir = tempfile::tempdir().unwrap();
    let rounds = |settings: &[&str], name: &str| {
        let out = dir.path().join(name);
        let output = cehfed(&out, settings);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(method_of(&out), name);
        fs::read_to_string(out.join("rounds.csv")).unwrap()
    };
    let plain = rounds(&[], "cehfed");
    for (setting, name) in [
        ("allocation.kind=equal", "cehfed[allocation=equal]"),
        ("association.kind=all", "cehfed[association=all]"),
        ("redeploy.method=none", "cehfed[redeploy=none]"),
    ] {
        assert_ne!(rounds(&[setting], name), plain, "{name}");
    }
    let moved = |run: &str| {
        let events = fs::read_to_string(dir.path().join(run).join("events.jsonl")).unwrap();
        events.contains("uav_moved")
    };
    assert!(moved("cehfed") && !moved("cehfed[redeploy=none]"));
    // A run's scenario is that run again.
    let scenario = dir.path().join("cehfed[allocation=equal]/scenario.toml");
    let again = dir.path().join("again");
    let output = aerofed(&[
        "run",
        scenario.to_str().unwrap(),
        "-q",
        "--out",
        again.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(method_of(&again), "cehfed[allocation=equal]");
}

#[test]
fn an_ablation_is_compared_with_the_whole() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("c");
    let methods = [
        "--methods",
        "eq=cehfed:allocation.kind=equal,cehfed",
        "--seeds",
        "1",
        "--targets",
        "0.1",
        "--full",
    ];
    let output = compare(&out, &methods);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut runs: Vec<(String, String)> = fs::read_dir(out.join("runs"))
        .unwrap()
        .map(|run| run.unwrap().path())
        .map(|run| {
            (
                method_of(&run),
                fs::read_to_string(run.join("rounds.csv")).unwrap(),
            )
        })
        .collect();
    runs.sort();
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["cehfed", "cehfed[allocation=equal]"]);
    assert_ne!(runs[0].1, runs[1].1);
    // Each run's own scenario can be run by itself, and the comparison can be looked at again.
    for run in fs::read_dir(out.join("runs")).unwrap() {
        let scenario = run.unwrap().path().join("scenario.toml");
        let output = aerofed(&["scenario", "check", scenario.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    let output = aerofed(&[
        "report",
        out.to_str().unwrap(),
        "--out",
        dir.path().join("r.html").to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn a_comparison_refuses_settings_that_nobody_reads() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("c");
    let refused = |more: &[&str], words: &str| {
        let output = compare(&out, &[more, &["--seeds", "1"]].concat());
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(words), "{told}");
        assert!(!out.exists());
    };
    refused(
        &[
            "--methods",
            "cehfed,hfl",
            "--set",
            "selection.threshold=0.5",
        ],
        "`selection.threshold` is 0.5: no method here reads it",
    );
    refused(
        &[
            "--methods",
            "fixed_threshold,cehfed:selection.threshold=0.5",
        ],
        "does not read `selection.threshold`",
    );
    refused(
        &["--methods", "hfl,hfedat:redeploy.method=two_stage"],
        "`redeploy.method` is \"two_stage\", allowed: auto, none",
    );
}

#[test]
fn every_command_refuses_a_method_that_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.toml");
    fs::write(&file, "method = \"telepathy\"").unwrap();
    let file = file.to_str().unwrap();
    for args in [
        &["run", file][..],
        &["scenario", "check", file],
        &["compare", file, "--methods", "hfl", "--seeds", "1"],
        &["pretrain", "--set", "method=telepathy"],
    ] {
        let output = aerofed(args);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(
            told.contains("`method` is \"telepathy\", allowed: cehfed, cfed"),
            "{told}"
        );
    }
}
