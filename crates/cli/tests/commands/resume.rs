//! Runs that are killed, interrupted or find a damaged checkpoint go on, or say why not.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::place::{Place, checkpoints, code, files, told};

/// A number from 0 to 1 that is another one each time.
fn chance() -> f64 {
    RandomState::new().hash_one(0) as f64 / u64::MAX as f64
}

#[test]
fn killed_at_20_random_moments_a_run_ends_in_the_same_bytes() {
    let place = Place::new();
    let started = Instant::now();
    assert!(place.begin("whole", &[]).wait().unwrap().success());
    let mut length = started.elapsed();
    let expected = files(&place.path("whole"));

    let (mut kills, mut attempt) = (0, 0);
    while kills < 20 {
        attempt += 1;
        let out = format!("run-{attempt}");
        let every = (1 + attempt % 3).to_string();
        let every = ["--checkpoint-every", every.as_str()];
        let moment = length.mul_f64(chance());
        let mut child = place.begin(&out, &every);
        std::thread::sleep(moment);
        child.kill().unwrap();
        if child.wait().unwrap().signal().is_some() {
            kills += 1;
        } else {
            // It was faster than the first.
            length = length.mul_f64(0.8);
        }

        // What continues may be killed, too.
        let finished = place.path(&out);
        if attempt % 4 == 3 && !finished.exists() {
            let mut child = place
                .command(&[&["--resume", &out], &every[..]].concat())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(length.mul_f64(chance() / 2.0));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let begun = place.path(&format!("{out}.partial/scenario.toml"));
        if begun.exists() || finished.exists() {
            let output = place.run(&["--resume", &out]);
            assert_eq!(code(&output), 0, "{attempt}: {}", told(&output));
        } else {
            assert!(place.begin(&out, &[]).wait().unwrap().success());
        }
        assert!(
            files(&finished) == expected,
            "attempt {attempt}, killed after {moment:?} of {length:?}, differs"
        );
        assert!(!place.path(&format!("{out}.partial")).exists());
    }
}

#[test]
fn interrupted_in_good_order_a_run_keeps_its_results_and_continues() {
    let place = Place::new();
    assert!(place.begin("whole", &[]).wait().unwrap().success());
    for signal in ["-INT", "-TERM"] {
        let out = format!("run{signal}");
        let mut child = place
            .command(&[
                "small.toml",
                "--out",
                &out,
                "--checkpoint-every",
                "0",
                "--parquet",
            ])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It may be done before anybody looks.
        while place.rounds_so_far(&out) < 2 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        let id = child.id().to_string();
        Command::new("kill").args([signal, &id]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let folder = place.path(&out);
        let summary = fs::read_to_string(folder.join("summary.json")).unwrap();
        if !summary.contains("\"interrupted\"") {
            // It was done before the signal came.
            assert_eq!(code(&output), 0, "{}", told(&output));
            continue;
        }
        assert_eq!(code(&output), 130, "{}", told(&output));
        let how = format!("`aerofed run --resume {out}` continues");
        assert!(told(&output).contains(&how), "{}", told(&output));
        assert_eq!(checkpoints(&folder).len(), 1);
        // Of the rounds so far: it goes when others are added, unless it is asked for again.
        assert!(folder.join("rounds.parquet").exists());
        // It is a run that nobody overwrites by accident.
        let again = place.run(&["small.toml", "--out", &out]);
        assert_eq!(code(&again), 2);
        assert!(told(&again).contains("--resume"), "{}", told(&again));

        let output = place.run(&["--resume", &out]);
        assert_eq!(code(&output), 0, "{}", told(&output));
        assert!(files(&folder) == files(&place.path("whole")));
    }
}

#[test]
fn damaged_and_foreign_checkpoints_are_refused_and_the_older_one_is_used() {
    let place = Place::new();
    place.broken_off("run");
    let partial = place.path("run.partial");
    let found = checkpoints(&partial);
    assert_eq!(found.len(), 2, "{found:?}");
    let newer = fs::read(&found[1]).unwrap();

    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let header = text(&newer).lines().next().unwrap().to_owned();
    let scenario = header.split(' ').next_back().unwrap().to_owned();
    let format = header.split(' ').nth(1).unwrap().to_owned();
    let in_header = |from: &str, to: &str| {
        let mut changed = header.replacen(from, to, 1).into_bytes();
        changed.extend(&newer[header.len()..]);
        changed
    };
    let mut flipped = newer.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let damages: [(&str, Vec<u8>); 6] = [
        ("checksum", flipped),
        ("bytes of content", newer[..newer.len() / 2].to_vec()),
        ("not a checkpoint", b"PK\x03\x04".to_vec()),
        ("not a checkpoint", Vec::new()),
        ("format 77", in_header(&format!(" {format} "), " 77 ")),
        ("another scenario", in_header(&scenario, &"0".repeat(64))),
    ];
    let copy = |name: &str| {
        let folder = place.path(&format!("{name}.partial"));
        fs::create_dir(&folder).unwrap();
        for entry in fs::read_dir(&partial).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
        }
        checkpoints(&folder)
    };
    for (number, (reason, contents)) in damages.iter().enumerate() {
        // None good: told why, nothing touched.
        let name = format!("hopeless-{number}");
        let files = copy(&name);
        for file in &files {
            fs::write(file, contents).unwrap();
        }
        let output = place.run(&["--resume", &name]);
        let message = told(&output);
        assert_eq!(code(&output), 2, "{message}");
        assert_eq!(message.matches(reason).count(), 2, "{message}");
        assert!(message.contains("none of its 2 checkpoints"), "{message}");
        assert!(files.iter().all(|file| file.exists()));
    }

    // The older one good: the run goes on from there.
    let files = copy("half");
    fs::write(&files[1], &damages[0].1).unwrap();
    fs::remove_file(place.path("half.partial/rounds.csv")).unwrap();
    let child = place
        .command(&["--resume", "half"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    place.wait_for_rounds("half", 2);
    Command::new("kill")
        .arg(child.id().to_string())
        .status()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", told(&output));
    assert!(told(&output).contains("checksum"), "{}", told(&output));
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let place = Place::new();
    let absent = place.run(&["--resume", "nowhere"]);
    assert_eq!(code(&absent), 2);
    assert!(told(&absent).contains("holds no run"), "{}", told(&absent));

    assert!(
        place
            .begin("done", &["--rounds", "1"])
            .wait()
            .unwrap()
            .success()
    );
    let before = files(&place.path("done"));
    let output = place.run(&["--resume", "done"]);
    assert_eq!(code(&output), 0);
    assert!(told(&output).contains("finished"), "{}", told(&output));
    for name in ["done", "done.partial"] {
        let mut command = place.command(&["--resume", name, "--json"]);
        let output = command.stdout(Stdio::piped()).output().unwrap();
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((code(&output), &summary["rounds"]), (0, &1.into()));
    }
    assert!(files(&place.path("done")) == before);

    // Whoever resumes gives nothing that the folder says.
    assert_eq!(code(&place.run(&["--resume", "done", "--seed", "3"])), 2);

    place.broken_off("run");
    fs::write(place.path("run.partial/scenario.toml"), "seed = ").unwrap();
    let output = place.run(&["--resume", "run"]);
    assert_eq!(code(&output), 2);
    assert!(told(&output).contains("scenario.toml"), "{}", told(&output));
}
