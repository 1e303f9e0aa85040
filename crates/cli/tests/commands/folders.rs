//! What is complete is never lost: not to another run, not to a full disk, not to a folder that cannot be written.

use std::fs;
use std::process::{Command, Stdio};

use crate::place::{Place, checkpoints, code, files, told};

#[test]
fn an_unfinished_run_is_not_overwritten_and_one_under_way_not_even_by_force() {
    let place = Place::new();
    let endless = ["--checkpoint-every", "1", "--rounds", "1000000"];
    let mut child = place.begin_and_wait("run", &endless, 3);
    for args in [
        &["small.toml", "--out", "run"][..],
        &["small.toml", "--out", "run", "--force"],
        &["--resume", "run"],
        &["--resume", "run.partial/"],
    ] {
        let output = place.run(args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(told(&output).contains("being written"), "{}", told(&output));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let output = place.run(&["small.toml", "--out", "run"]);
    assert_eq!(code(&output), 2);
    assert!(told(&output).contains("unfinished"), "{}", told(&output));
    let output = place.run(&["small.toml", "--out", "run", "--force", "--rounds", "1"]);
    assert_eq!(code(&output), 0, "{}", told(&output));
    assert!(!place.path("run.partial").exists());

    // A run that replaces another and is killed continues only by force.
    let forced = [&endless[..], &["--force"]].concat();
    let mut child = place.begin_and_wait("run", &forced, 3);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(place.path("run/summary.json").exists());
    assert_eq!(code(&place.run(&["--resume", "run"])), 2);
    assert!(place.path("run/summary.json").exists());
}

#[test]
fn force_replaces_runs_and_nothing_else() {
    let place = Place::new();
    fs::create_dir_all(place.path("empty")).unwrap();
    let compare =
        "compare small.toml --methods hfl --seeds 1 --out compared --set stop.max_rounds=1";
    let compared = Command::new(assert_cmd::cargo::cargo_bin!("aerofed"))
        .current_dir(place.path(""))
        .args(compare.split(' '))
        .output();
    assert_eq!(code(&compared.unwrap()), 0);
    fs::create_dir_all(place.path("thesis/src")).unwrap();
    fs::write(place.path("thesis/scenario.toml"), "x").unwrap();
    fs::create_dir_all(place.path("mine.partial/src")).unwrap();
    let forced = |out| place.run(&["small.toml", "--rounds", "1", "--force", "--out", out]);
    for (out, named) in [
        ("compared", "compared: exists and holds something else"),
        ("thesis", "thesis: exists and holds something else"),
        ("mine", "mine.partial: holds something else"),
    ] {
        let output = forced(out);
        assert_eq!(code(&output), 2, "{out}");
        assert!(told(&output).contains(named), "{}", told(&output));
        assert_eq!(told(&output).lines().count(), 1, "{}", told(&output));
    }
    assert!(place.path("compared/compare.csv").exists());
    assert!(place.path("thesis/src").exists() && place.path("mine.partial/src").exists());
    for out in ["empty", "run", "run"] {
        let output = forced(out);
        assert_eq!(code(&output), 0, "{}", told(&output));
    }
}

/// Files that may not grow beyond so many blocks of 512 bytes stand in for a full disk, without a mount.
#[test]
fn a_disk_that_fills_up_ends_the_run_and_what_was_complete_goes_on_later() {
    let place = Place::new();
    assert!(place.begin("whole", &[]).wait().unwrap().success());
    let program = assert_cmd::cargo::cargo_bin!("aerofed");
    // Enough for some checkpoints of some 40 kB, not for the last.
    let limited = format!(
        "trap '' XFSZ; ulimit -f 90; exec {} run small.toml --quiet --threads 2 --out run --checkpoint-every 1",
        program.display()
    );
    let output = Command::new("sh")
        .args(["-c", &limited])
        .current_dir(place.path(""))
        .output()
        .unwrap();
    let message = told(&output);
    assert_eq!(code(&output), 1, "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains("--resume run"), "{message}");
    assert!(!place.path("run").exists());
    assert!(!checkpoints(&place.path("run.partial")).is_empty());

    let output = place.run(&["--resume", "run"]);
    assert_eq!(code(&output), 0, "{}", told(&output));
    assert!(files(&place.path("run")) == files(&place.path("whole")));
}

#[test]
fn a_full_disk_leaves_the_run_that_was_to_be_replaced() {
    let place = Place::new();
    let disk = place.path("disk");
    fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
        .arg(&disk)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("skipped: only root can mount a small disk");
        return;
    }
    let first = place.run(&["small.toml", "--out", "disk/run", "--rounds", "2"]);
    let before = (code(&first) == 0).then(|| files(&disk.join("run")));
    let second = place.run(&[
        "small.toml",
        "--out",
        "disk/run",
        "--force",
        "--checkpoint-every",
        "1",
    ]);
    let after = files(&disk.join("run"));
    let left = checkpoints(&disk.join("run.partial"));
    Command::new("umount").arg(&disk).status().unwrap();
    assert_eq!(code(&first), 0, "{}", told(&first));
    let message = told(&second);
    assert_eq!(code(&second), 1, "{message}");
    assert_eq!(message.matches("No space left").count(), 1, "{message}");
    assert_eq!(Some(after), before);
    assert!(!left.is_empty());
}

#[test]
fn a_folder_that_cannot_be_written_is_one_clear_error() {
    let place = Place::new();
    // Nobody can make a folder there, not even root.
    let output = place.run(&["small.toml", "--out", "/proc/aerofed"]);
    assert_eq!(code(&output), 1);
    let message = told(&output);
    assert!(message.contains("/proc/aerofed.partial"), "{message}");
    assert_eq!(message.matches("os error").count(), 1, "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[test]
fn a_folder_that_vanishes_ends_the_run() {
    let place = Place::new();
    let child = place
        .command(&[
            "small.toml",
            "--out",
            "run",
            "--rounds",
            "1000000",
            "--checkpoint-every",
            "0",
        ])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    place.wait_for_rounds("run", 2);
    fs::remove_dir_all(place.path("run.partial")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 1);
    assert!(told(&output).contains("has vanished"), "{}", told(&output));
    assert!(!place.path("run").exists());
}
