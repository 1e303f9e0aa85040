//! Engines: a stand-in for HyperQueue's `hq` does what a server and its workers do, in a page of shell. `scripts/check_hyperqueue.sh` and
//! `scripts/check_slurm.sh` do the same with the real ones.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

use super::*;

/// Does the tasks as they are submitted, one after another. While there is a file `fails`, tasks fail before they begin, except the first.
/// While there is a file `slow`, a job is said to run.
const HQ: &str = r#"#!/bin/sh
here=$(dirname "$0")
case "$*" in
--version) exit ;;
*"job info"*)
    running=0; [ -e "$here/slow" ] && running=1
    echo "[{\"info\": {\"name\": \"$(cat "$here/name")\", \"task_stats\": {\"running\": $running, \"waiting\": 0}}}]"
    exit ;;
esac
echo "$*" >> "$here/calls"
while [ "$1" != -- ]; do
    case "$1" in
    --array) tasks=$2 ;;
    --name) echo "$2" > "$here/name" ;;
    esac
    shift
done
shift
for span in $(echo "$tasks" | tr , ' '); do
    for task in $(seq "${span%-*}" "${span#*-}"); do
        if [ -e "$here/fails" ] && [ "$task" != 1 ]; then continue; fi
        HQ_TASK_ID=$task "$@" > "$here/$task.log" 2>&1 || true
    done
done
rm -f "$here/fails"
echo 1
"#;

/// A folder with the stand-in, and the search path that finds it.
fn stand_in(place: &Place) -> String {
    let bin = place.path("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("hq"), HQ).unwrap();
    fs::set_permissions(bin.join("hq"), fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

fn calls(place: &Place) -> Vec<String> {
    let calls = fs::read_to_string(place.path("bin/calls")).unwrap_or_default();
    calls.lines().map(Into::into).collect()
}

#[test]
fn an_engine_brings_the_same_table_and_failed_tasks_are_submitted_again() {
    let place = Place::new();
    let path = stand_in(&place);
    place.done(&format!("{SMALL} {AXES} --rows --out local"));
    fs::write(place.path("bin/fails"), "").unwrap();
    let line = format!("{SMALL} {AXES} --rows --out remote --engine hyperqueue --tasks 4");
    let output = place.command(&line).env("PATH", &path).output().unwrap();
    let said = both(&output).1;
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("submitted 8 runs in 4 tasks as job 1"),
        "{said}"
    );
    assert!(
        said.contains("submitted 6 runs in 3 tasks as job 1"),
        "{said}"
    );
    assert!(said.contains("0 runs done, 8 were there already"), "{said}");
    let calls = calls(&place);
    assert_eq!(calls.len(), 2);
    assert!(calls[0].contains("--array 1-4 ") && calls[1].contains("--array 2-4 "));
    assert!(told(&place, "local") == told(&place, "remote"));
}

#[test]
fn comparisons_and_experiments_have_engines_too() {
    let place = Place::new();
    let path = stand_in(&place);
    let compare = SMALL.replace("sweep", "compare") + " --methods hfl,hierfavg --seeds 2 --out c";
    let experiment = "name = \"mine\"\ntitle = \"t\"\nmethods = [\"hfl\"]\nseeds = 2\n[scenario]\ndevices.count = 10\n\
                      data.data_volume = 100\nmodel.name = \"logistic\"\nstop.max_rounds = 2\n";
    fs::write(place.path("mine.toml"), experiment).unwrap();
    for (line, table) in [
        (compare.as_str(), "c/runs.csv"),
        ("reproduce mine.toml --out r", "r/runs.csv"),
    ] {
        let line = format!("{line} --engine hyperqueue --tasks 2");
        let output = place.command(&line).env("PATH", &path).output().unwrap();
        let (_, said) = both(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("0 runs done"), "{said}");
        assert!(place.path(table).exists());
    }
    let log = place.text("bin/1.log");
    assert!(!log.contains("figure"), "a task sums nothing up: {log}");
}

#[test]
fn what_no_task_brings_about_is_told_with_what_tasks_said() {
    let place = Place::new();
    let path = stand_in(&place);
    let hq = HQ.replace(
        "HQ_TASK_ID=$task \"$@\" >",
        "echo 'error: no room' > \"$here/../s/engine/logs/1.err\"; false >",
    );
    fs::write(place.path("bin/hq"), hq).unwrap();
    let line = format!("{SMALL} {AXES} --rows --out s --engine hyperqueue --retries 1");
    let output = place.command(&line).env("PATH", &path).output().unwrap();
    let said = both(&output).1;
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("8 runs are missing") && said.contains("no room"),
        "{said}"
    );
    assert_eq!(calls(&place).len(), 2);
}

#[test]
fn an_interrupted_call_leaves_the_array_and_the_next_one_takes_it_up() {
    let place = Place::new();
    let path = stand_in(&place);
    fs::write(place.path("bin/slow"), "").unwrap();
    let line = format!("{SMALL} {AXES} --rows --out s --engine hyperqueue");
    let child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("aerofed"))
        .current_dir(place.path(""))
        .args(line.split_whitespace())
        .env("PATH", &path)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while !place.path("s/engine/job.json").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-INT", &id])
        .status()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let said = both(&output).1;
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("job 1 goes on") && said.contains("hq job cancel 1"),
        "{said}"
    );
    // It ends some time after the second call.
    let slow = place.path("bin/slow");
    let ends = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        fs::remove_file(slow).unwrap();
    });
    let output = place.command(&line).env("PATH", &path).output().unwrap();
    ends.join().unwrap();
    let said = both(&output).1;
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("job 1 is still under way"), "{said}");
    assert_eq!(calls(&place).len(), 1, "it was submitted once");
}

#[test]
fn an_engine_that_is_not_there_is_named() {
    let place = Place::new();
    for (engine, command) in [("hyperqueue", "hq"), ("slurm", "sbatch")] {
        let line = format!("{SMALL} {AXES} --rows --out s --engine {engine}");
        let output = place
            .command(&line)
            .env("PATH", "/nowhere")
            .output()
            .unwrap();
        let said = both(&output).1;
        assert_eq!(output.status.code(), Some(2), "{said}");
        let words = format!("`--engine {engine}` needs the command `{command}`");
        assert!(said.contains(&words), "{said}");
        assert!(!place.path("s").exists());
    }
    let path = stand_in(&place);
    let both_of_them = format!("{SMALL} {AXES} --out s --engine hyperqueue --shard 1/2");
    let output = place
        .command(&both_of_them)
        .env("PATH", &path)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(both(&output).1.contains("`--shard 1/2`"));
}
