//! Comparisons that are broken off.

use super::*;
use std::process::{Child, Command as Process, Stdio};
use std::time::Duration;

const FLAGS: [&str; 8] = [
    "--methods",
    METHODS,
    "--seeds",
    "3",
    "--targets",
    "0.5",
    "--jobs",
    "2",
];

fn start(out: &Path) -> Child {
    Process::new(assert_cmd::cargo::cargo_bin!("aerofed"))
        .args(SMALL)
        .args(["--out", out.to_str().unwrap()])
        .args(FLAGS)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// How many runs in a folder of runs are complete.
fn finished(out: &Path) -> usize {
    let Ok(folders) = fs::read_dir(out.join("runs")) else {
        return 0;
    };
    let whole = |entry: &std::io::Result<fs::DirEntry>| {
        let path = entry.as_ref().unwrap().path();
        path.extension().is_none() && path.join("summary.json").exists()
    };
    folders.filter(whole).count()
}

/// Starts what runs into a folder and kills it, six times: after some time, and as soon as so many runs
/// are finished, in the middle of others. No finished run may be gone.
pub(crate) fn kill_six_times(out: &Path, runs: [usize; 3], start: impl Fn() -> Child) {
    let timed = [0, 5, 30].map(|pause_ms| (pause_ms, 0));
    for (pause_ms, runs) in timed.into_iter().chain(runs.map(|runs| (0, runs))) {
        let kept = finished(out);
        let mut child = start();
        std::thread::sleep(Duration::from_millis(pause_ms));
        while finished(out) < runs && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(finished(out) >= kept.max(runs), "a finished run is gone");
    }
}

#[test]
fn death_at_any_moment_loses_only_runs_under_way() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    assert_eq!(small(&whole, &FLAGS).status.code(), Some(0));

    let out = dir.path().join("killed");
    kill_six_times(&out, [1, 3, 6], || start(&out));
    let output = small(&out, &FLAGS);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(derived(&out), derived(&whole));
}

#[test]
fn an_interrupt_keeps_what_is_finished_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("c");
    // The last contender would run for ever.
    let flags = ["--methods", "hfl", "--seeds", "1", "--targets", "0.999"];
    let endless = [
        "--set",
        "stop.max_rounds=1000000",
        "--set",
        "stop.convergence_norm=0",
    ];
    let child = Process::new(assert_cmd::cargo::cargo_bin!("aerofed"))
        .args(SMALL)
        .args(endless)
        .args(flags)
        .args(["--out", out.to_str().unwrap()])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !out.join("runs").is_dir() || fs::read_dir(out.join("runs")).unwrap().count() == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = child.id().to_string();
    assert!(
        Process::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("0 runs are finished"), "{said}");
    assert!(said.contains("the same command does the rest"), "{said}");
    assert!(said.contains("set down"), "{said}");
    let left: Vec<_> = fs::read_dir(out.join("runs")).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "the run that was under way");
    let name = left[0].file_name().into_string().unwrap();
    assert!(name.ends_with(".partial"), "{name}");
    let saved = fs::read_dir(left[0].path()).unwrap().flatten();
    let mut saved = saved.map(|entry| entry.file_name().into_string().unwrap());
    assert!(saved.any(|name| name.starts_with("checkpoint-")));
}
