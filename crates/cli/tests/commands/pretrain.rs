//! `aerofed pretrain` as a user types it.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

const SMALL: [&str; 8] = [
    "--set",
    "devices.count=20",
    "--set",
    "data.data_volume=200",
    "--set",
    "training.max_edge_rounds=2",
    "--set",
    "td3.most_share=1",
];

fn aerofed(dir: &Path) -> Command {
    let mut command = Command::cargo_bin("aerofed").unwrap();
    command.current_dir(dir);
    command
}

fn pretrain(dir: &Path, out: &str, more: &[&str]) {
    let plan = [
        "pretrain",
        "--episodes",
        "5",
        "--rounds",
        "2",
        "--updates",
        "60",
        "--out",
        out,
    ];
    aerofed(dir)
        .args(plan)
        .args(SMALL)
        .args(more)
        .assert()
        .success();
}

#[test]
fn a_policy_is_trained_and_drives_a_run() {
    let dir = tempfile::tempdir().unwrap();
    pretrain(dir.path(), "one.safetensors", &["--quiet"]);
    pretrain(dir.path(), "two.safetensors", &["--quiet"]);
    pretrain(dir.path(), "other.safetensors", &["--quiet", "--seed", "9"]);
    let policy = |name: &str| fs::read(dir.path().join(name)).unwrap();
    assert_eq!(policy("one.safetensors"), policy("two.safetensors"));
    assert_ne!(policy("one.safetensors"), policy("other.safetensors"));
    let curve = fs::read_to_string(dir.path().join("one.svg")).unwrap();
    assert!(curve.contains("accuracy at the budget"));

    let run = |agent: &str, out: &str| {
        let agent = format!("td3.agent={agent}");
        let args = [
            "run",
            "--method",
            "cehfed",
            "--rounds",
            "3",
            "-q",
            "--out",
            out,
            "--set",
            &agent,
            "--set",
            "association.kind=td3",
        ];
        aerofed(dir.path())
            .args(args)
            .args(SMALL)
            .assert()
            .success();
        fs::read(dir.path().join(out).join("rounds.csv")).unwrap()
    };
    let ours = run("one.safetensors", "ours");
    assert_ne!(ours, run("other.safetensors", "others"));
    assert_ne!(ours, run("fresh", "fresh"));
}

#[test]
fn what_is_no_policy_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("noise"), [7; 100]).unwrap();
    for agent in ["noise", "missing.safetensors"] {
        let output = aerofed(dir.path())
            .args([
                "run",
                "--method",
                "cehfed",
                "--set",
                "association.kind=td3",
                "--set",
                &format!("td3.agent={agent}"),
            ])
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(
            message.contains("td3.agent") && message.contains(agent),
            "{message}"
        );
    }
    // A policy for two numbers cannot read twelve.
    pretrain(
        dir.path(),
        "paper.safetensors",
        &["--quiet", "--set", "td3.state=paper"],
    );
    let output = aerofed(dir.path())
        .args([
            "run",
            "--method",
            "cehfed",
            "--set",
            "association.kind=td3",
            "--set",
            "td3.agent=paper.safetensors",
        ])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    // Nothing is overwritten unasked.
    let again = ["pretrain", "--episodes", "1", "--out", "paper.safetensors"];
    aerofed(dir.path()).args(again).assert().code(2);
}
