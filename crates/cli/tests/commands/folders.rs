//! What is complete is never lost: not to another run, not to a full disk, not to a folder that cannot be written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
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
        (
            "mine",
            "mine.partial: holds something else than an unfinished run (\"src\")",
        ),
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

/// All that is in a folder, to the byte.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Of a folder only its name.
        found.insert(
            path.display().to_string(),
            fs::read(&path).unwrap_or_default(),
        );
    }
    found
}

/// That whatever one runs under a name is refused, for this reason, and leaves a folder as it is.
fn stays(place: &Place, name: &str, folder: &Path, reason: &str) {
    let before = contents(folder);
    for args in [
        &["small.toml", "--rounds", "1", "--out", name][..],
        &["small.toml", "--rounds", "1", "--out", name, "--force"],
        &["--resume", name],
        &["--resume", name, "--force"],
    ] {
        let output = place.run(args);
        let message = told(&output);
        assert_eq!(code(&output), 2, "{args:?}: {message}");
        assert!(message.contains(reason), "{args:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(contents(folder) == before, "{args:?} has changed it");
        assert!(!place.path(name).exists());
    }
}

#[test]
fn a_finished_run_that_is_called_partial_is_never_touched() {
    let place = Place::new();
    let run = |args: &[&str]| place.run(&[&["small.toml", "--rounds", "1"], args].concat());
    assert_eq!(code(&run(&["--out", "s31.partial"])), 0);
    let finished = place.path("s31.partial");
    stays(
        &place,
        "s31",
        &finished,
        "s31.partial: holds a finished run",
    );
    // By its own name it is a run like any other.
    let output = place.run(&["--resume", "s31.partial"]);
    assert_eq!(code(&output), 0, "{}", told(&output));
    assert!(told(&output).contains("finished"), "{}", told(&output));
    assert_eq!(code(&run(&["--out", "s31.partial"])), 2);
    assert_eq!(code(&run(&["--out", "s31.partial", "--force"])), 0);
    assert!(!place.path("s31.partial.partial").exists());
}

#[test]
fn a_partial_folder_that_is_not_ours_alone_is_never_emptied() {
    let place = Place::new();
    // Somebody's folder with a scenario in it.
    let theirs = place.path("u1.partial");
    fs::create_dir_all(theirs.join("photos")).unwrap();
    fs::copy(place.path("small.toml"), theirs.join("scenario.toml")).unwrap();
    fs::write(theirs.join("thesis.txt"), "x").unwrap();
    stays(&place, "u1", &theirs, "\"photos\"");

    // What an earlier version left, without a mark.
    place.broken_off("old");
    let old = place.path("old.partial");
    fs::remove_file(old.join("UNFINISHED")).unwrap();
    stays(&place, "old", &old, "no file UNFINISHED of ours in it");
    // A mark of somebody else is none.
    fs::write(old.join("UNFINISHED"), "my novel").unwrap();
    stays(&place, "old", &old, "no file UNFINISHED of ours in it");

    // An unfinished run of ours, and something besides: it goes on, but nothing is emptied.
    for (name, stranger) in [
        ("a", "thesis.txt"),
        ("b", "notes.new"),
        ("c", "checkpoint-7.bin"),
    ] {
        place.broken_off(name);
        let partial = place.path(&format!("{name}.partial"));
        fs::write(partial.join(stranger), "x").unwrap();
        let before = contents(&partial);
        for force in [&[][..], &["--force"]] {
            let output = place.run(&[&["small.toml", "--out", name], force].concat());
            assert_eq!(code(&output), 2);
            let message = told(&output);
            assert!(message.contains(stranger), "{message}");
            assert!(message.contains("move that away"), "{message}");
        }
        assert!(contents(&partial) == before);
    }
    std::os::unix::fs::symlink(&theirs, place.path("a.partial/rounds.csv.1-1.new")).unwrap();
    fs::remove_file(place.path("a.partial/thesis.txt")).unwrap();
    let output = place.run(&["small.toml", "--out", "a", "--force"]);
    assert!(
        told(&output).contains("rounds.csv.1-1.new"),
        "a link is no file of ours"
    );
    // Only a round more than there were shows that the run has been taken up, and hears signals.
    let table = place.path("b.partial/rounds.csv");
    let rounds = fs::read_to_string(table).unwrap().lines().count();
    let child = place.begin_resumed("b");
    place.wait_for_rounds("b", rounds);
    Command::new("kill")
        .arg(child.id().to_string())
        .status()
        .unwrap();
    assert_eq!(code(&child.wait_with_output().unwrap()), 130);
    assert_eq!(fs::read_to_string(place.path("b/notes.new")).unwrap(), "x");
}

#[test]
fn force_replaces_no_run_that_holds_something_besides() {
    let place = Place::new();
    let run = |args: &[&str]| place.run(&[&["small.toml", "--rounds", "1"], args].concat());
    assert_eq!(code(&run(&["--out", "run"])), 0);
    // Folders that only look like what a replaced run is called.
    for name in ["run.replaced.partial", "run.replaced-1"] {
        fs::create_dir(place.path(name)).unwrap();
        fs::write(place.path(name).join("scenario.toml"), "x").unwrap();
    }
    fs::write(place.path("run/thesis.txt"), "x").unwrap();
    let before = contents(&place.path("run"));
    let output = run(&["--out", "run", "--force"]);
    assert_eq!(code(&output), 2);
    assert!(
        told(&output).contains("\"thesis.txt\""),
        "{}",
        told(&output)
    );
    assert!(contents(&place.path("run")) == before);
    fs::remove_file(place.path("run/thesis.txt")).unwrap();
    assert_eq!(code(&run(&["--out", "run", "--force"])), 0);
    for name in ["run.replaced.partial", "run.replaced-1"] {
        assert!(place.path(name).join("scenario.toml").exists());
    }
    assert!(!place.path("run.replaced-2").exists());

    // Checkpoints and a summary of another program.
    let theirs = place.path("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::write(
        theirs.join("summary.json"),
        r#"{"stopped_by": "max_rounds"}"#,
    )
    .unwrap();
    fs::write(theirs.join("checkpoint-000100.bin"), "x").unwrap();
    let before = contents(&theirs);
    assert_eq!(code(&place.run(&["--resume", "theirs"])), 2);
    assert!(contents(&theirs) == before);
}

/// What a kill leaves, built by hand: moments that are too short to be hit.
#[test]
fn killed_at_any_moment_of_its_first_or_last_steps_a_run_is_whole_or_goes_on() {
    let place = Place::new();
    assert!(place.begin("whole", &[]).wait().unwrap().success());
    let whole = files(&place.path("whole"));
    let is_whole = |name: &str| {
        assert!(files(&place.path(name)) == whole, "{name}");
        assert!(!place.path(&format!("{name}.partial")).exists());
    };
    let mut child = place.begin_and_wait("long", &["--rounds", "1000000"], 1);
    let mark = fs::read_to_string(place.path("long.partial/UNFINISHED")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(mark.contains("--resume long"), "{mark}");

    // Its first steps: the folder, the mark, the scenario.
    let first: [(&str, &[(&str, &str)]); 4] = [
        ("folder", &[]),
        ("half", &[("UNFINISHED", &mark[..7])]),
        ("mark", &[("UNFINISHED", &mark)]),
        (
            "stray",
            &[("UNFINISHED", &mark), ("scenario.toml.12-0.new", "seed =")],
        ),
    ];
    for (name, left) in first {
        let partial = place.path(&format!("{name}.partial"));
        fs::create_dir(&partial).unwrap();
        for (file, text) in left {
            fs::write(partial.join(file), text).unwrap();
        }
        assert!(place.begin(name, &[]).wait().unwrap().success(), "{name}");
        is_whole(name);
    }

    // Its last: complete but for the name.
    let copy = |from: &str, to: &str| {
        fs::create_dir(place.path(to)).unwrap();
        for entry in fs::read_dir(place.path(from)).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, place.path(to).join(path.file_name().unwrap())).unwrap();
        }
    };
    copy("whole", "named.partial");
    fs::write(place.path("named.partial/UNFINISHED"), &mark).unwrap();
    for force in [&[][..], &["--force"]] {
        let output = place.run(&[&["small.toml", "--out", "named"], force].concat());
        assert_eq!(code(&output), 2);
        assert!(
            told(&output).contains("--resume named"),
            "{}",
            told(&output)
        );
        assert!(place.path("named.partial/summary.json").exists());
    }
    assert_eq!(code(&place.run(&["--resume", "named"])), 0);
    is_whole("named");

    // Named, and still with the mark and a checkpoint.
    copy("whole", "marked");
    fs::write(place.path("marked/UNFINISHED"), &mark).unwrap();
    fs::write(place.path("marked/checkpoint-000010.bin"), "x").unwrap();
    assert_eq!(code(&place.run(&["small.toml", "--out", "marked"])), 2);
    let output = place.run(&["--resume", "marked"]);
    assert!(told(&output).contains("finished"), "{}", told(&output));
    is_whole("marked");

    // An interrupted run that was about to go on: marked, and not yet renamed.
    let child = place.begin("again", &["--checkpoint-every", "0"]);
    place.wait_for_rounds("again", 2);
    let id = child.id().to_string();
    Command::new("kill").args(["-INT", &id]).status().unwrap();
    child.wait_with_output().unwrap();
    fs::write(place.path("again/UNFINISHED"), &mark).unwrap();
    assert_eq!(code(&place.run(&["--resume", "again"])), 0);
    is_whole("again");

    // The run that it replaces is out of the way, and it has not taken its place yet.
    copy("whole", "new.replaced-1");
    copy("whole", "new.partial");
    fs::write(place.path("new.partial/UNFINISHED"), &mark).unwrap();
    assert_eq!(code(&place.run(&["--resume", "new"])), 0);
    is_whole("new");
    assert!(files(&place.path("new.replaced-1")) == whole);
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
        .args(["-t", "tmpfs", "-o", "size=320k", "tmpfs"])
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
