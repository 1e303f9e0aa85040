//! `aerofed reproduce` and `aerofed merge` as a user types them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use aerofed_experiment::results::{Results, SCHEMA, Verdict};
use assert_cmd::Command;

/// What every experiment here shares.
const SCENARIO: &str = r#"
[scenario]
name = "tiny"
devices.count = 20
data.probe_samples = 50
data.personal_samples = 10
model.name = "logistic"
training = { learning_rate = 0.05, max_edge_rounds = 2 }
stop.max_rounds = 3

[[axes]]
name = "volume"
points = [
    { label = "200", x = 200, set = ["data.data_volume=200"] },
    { label = "300", x = 300, set = ["data.data_volume=300"] },
]
"#;

const TIME: &str = r#"
name = "time"
title = "Time"
methods = ["hfl", "long=hfl:allocation.local_iterations=9"]
seeds = 3
[quick]
seeds = 2
[[panels]]
title = "Time"
kind = "bars"
x = "volume"
y = "time_to_target_s"
target = 0.2
[[claims]]
text = "Long training takes longer"
of = { method = "hfl", volume = "300" }
against = { method = "long" }
quantity = "total_time_s"
paper = 0.1
"#;

const CURVES: &str = r#"
name = "curves"
title = "Curves"
methods = ["hfl"]
seeds = 2
[[panels]]
title = "{volume} samples"
each = ["volume"]
x = "energy_j"
y = "accuracy"
"#;

const LOSSES: &str = r#"
name = "losses"
title = "Losses"
[redeployment]
layouts = 3
losses = [[4], [1, 2]]
table = "coverage_change"
maps = true
methods = [
    { label = "nobody moves", set = ["redeploy.method=none"], paper = [-16, -16, -16] },
    { label = "all move", set = ["redeploy.method=marginal_gains"] },
]
[[claims]]
text = "Moving helps"
of = { method = "all move", loss = "any one" }
against = { method = "nobody moves" }
quantity = "coverage_after"
measure = "difference"
paper = 0.01
"#;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.path("time.toml"), format!("{TIME}{SCENARIO}")).unwrap();
        fs::write(place.path("curves.toml"), format!("{CURVES}{SCENARIO}")).unwrap();
        fs::write(place.path("losses.toml"), LOSSES).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn aerofed(&self, args: &[&str]) -> Output {
        let mut command = Command::cargo_bin("aerofed").unwrap();
        command
            .current_dir(self.0.path())
            .args(args)
            .output()
            .unwrap()
    }

    fn done(&self, args: &[&str]) -> String {
        let output = self.aerofed(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", said(&output));
        said(&output)
    }

    fn refused(&self, args: &[&str]) -> String {
        let output = self.aerofed(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(!said(&output).contains("panicked"));
        said(&output)
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stderr[..], &output.stdout].concat()).into_owned()
}

fn results(folder: &Path) -> Results {
    serde_json::from_slice(&fs::read(folder.join("results.json")).unwrap()).unwrap()
}

#[test]
fn a_request_of_somebody_else_is_not_overwritten() {
    let place = Place::new();
    fs::create_dir(place.path("api")).unwrap();
    let theirs = r#"{"url": "https://example.org"}"#;
    fs::write(place.path("api/request.json"), theirs).unwrap();
    let told = place.refused(&["reproduce", "curves.toml", "--out", "api"]);
    assert!(told.contains("request.json"), "{told}");
    let there = fs::read_to_string(place.path("api/request.json")).unwrap();
    assert_eq!(there, theirs);
    assert_eq!(fs::read_dir(place.path("api")).unwrap().count(), 1);
}

#[test]
fn rounds_are_those_asked_for() {
    let place = Place::new();
    let args = ["reproduce", "curves.toml", "--seeds", "1", "--out", "r"];
    place.done(&[&args[..], &["--rounds", "1"]].concat());
    let results = results(&place.path("r"));
    assert_eq!(results.runs.len(), 2);
    assert!(results.runs.iter().all(|run| run.rounds == 1));
    let told = place.refused(&[&args[..], &["--rounds", "0"]].concat());
    assert!(told.contains("--rounds"), "{told}");
}

#[test]
fn experiments_share_runs_and_leave_results_to_read() {
    let place = Place::new();
    let told = place.done(&[
        "reproduce",
        "time.toml",
        "curves.toml",
        "losses.toml",
        "--out",
        "r",
    ]);
    // time: 2 methods x 2 volumes x 2 seeds; curves: the half of them.
    assert!(told.contains("8 runs done, 0"), "{told}");
    let found = results(&place.path("r"));
    assert_eq!(
        (found.schema, found.runs.len(), found.runs_missing),
        (SCHEMA, 8, 0)
    );
    assert_eq!(found.seeds, [1, 2]);
    let shared = found
        .runs
        .iter()
        .filter(|run| run.experiments == ["time", "curves"]);
    assert_eq!(shared.count(), 4);
    assert!(
        found
            .runs
            .iter()
            .all(|run| place.path("r").join(&run.folder).is_dir())
    );

    let time = &found.figures[0].panels[0];
    assert_eq!(
        (time.series.len(), time.series[1].label.as_str()),
        (2, "long")
    );
    assert_eq!(time.series[0].points.len(), 2);
    assert_eq!(found.figures[1].panels[1].title, "300 samples");
    assert!(found.figures[1].panels[0].series[0].points.len() > 10);
    assert_eq!(found.figures[2].maps.len(), 3 + 5);
    let table = &found.tables[0];
    assert_eq!(table.columns, ["4", "1 (then 2)", "2 after 1"]);
    assert_eq!(table.rows[0].cells[0].paper, Some(-16.0));

    let [longer, moving] = found.claims.as_slice() else {
        unreachable!("two claims")
    };
    assert_eq!((longer.of, longer.ours.unwrap().n), (2, 2));
    assert!(longer.ours.unwrap().mean > 0.0 && longer.verdict != Verdict::Contradicts);
    assert_eq!((moving.verdict, moving.of), (Verdict::Agrees, 3));

    let page = fs::read_to_string(place.path("r/results.md")).unwrap();
    for words in [
        "## Claims",
        "Long training takes longer",
        "## losses",
        "[-16]",
        "(b) 300 samples",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let again = place.done(&["reproduce", "time.toml", "--out", "r"]);
    assert!(again.contains("0 runs done, 8 were there"), "{again}");
    let more = place.done(&["reproduce", "time.toml", "--out", "r", "--scale", "paper"]);
    assert!(more.contains("4 runs done, 8 were there"), "{more}");
}

#[test]
fn shards_merge_into_the_same_results() {
    let place = Place::new();
    let experiments = ["reproduce", "time.toml", "curves.toml"];
    place.done(&[&experiments[..], &["--out", "whole", "--jobs", "1"]].concat());
    for (shard, out) in [("1/3", "a"), ("2/3", "b"), ("3/3", "c")] {
        place.done(&[&experiments[..], &["--out", out, "--shard", shard]].concat());
    }
    assert_eq!(results(&place.path("b")).runs_missing, 5);
    let told = place.done(&["merge", "a", "b", "--out", "joined"]);
    assert!(told.contains("2 runs are missing"), "{told}");
    place.done(&["merge", "c", "b", "--out", "joined"]);
    for name in ["results.json", "results.md", "request.json", "report.html"] {
        let read = |out: &str| fs::read(place.path(out).join(name)).unwrap();
        assert!(read("whole") == read("joined"), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn death_at_any_moment_loses_only_runs_under_way() {
    let place = Place::new();
    let args = |out| ["reproduce", "time.toml", "curves.toml", "--out", out];
    place.done(&args("whole"));
    crate::compare::killed::kill_six_times(&place.path("killed"), [1, 4, 8], || {
        std::process::Command::new(assert_cmd::cargo::cargo_bin!("aerofed"))
            .current_dir(place.0.path())
            .args(args("killed"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    });
    place.done(&args("killed"));
    for name in ["results.json", "results.md", "request.json", "report.html"] {
        let read = |out: &str| fs::read(place.path(out).join(name)).unwrap();
        assert!(read("whole") == read("killed"), "{name}");
    }
}

#[test]
fn folders_that_do_not_belong_together_are_refused() {
    let place = Place::new();
    place.done(&["reproduce", "curves.toml", "--out", "a", "--seeds", "1"]);
    place.done(&["reproduce", "curves.toml", "--out", "b", "--seeds", "1"]);
    place.done(&["reproduce", "curves.toml", "--out", "more", "--seeds", "2"]);
    assert!(
        place
            .refused(&["merge", "a", "more", "--out", "x"])
            .contains("--seeds")
    );
    assert!(
        place
            .refused(&["merge", "a", "nowhere", "--out", "x"])
            .contains("nowhere")
    );

    let run = first_run(&place.path("b"));
    let rounds = fs::read_to_string(run.join("rounds.csv")).unwrap();
    let (before, last) = rounds.trim_end().rsplit_once('\n').unwrap();
    let later = last.replacen("3,", "3,9", 1);
    fs::write(run.join("rounds.csv"), format!("{before}\n{later}\n")).unwrap();
    let told = place.refused(&["merge", "a", "b", "--out", "y"]);
    assert!(told.contains("rounds.csv differs"), "{told}");
}

fn compare(out: &str) -> Vec<&str> {
    const FLAGS: &str = "compare --set devices.count=20 --set data.data_volume=300 --set model.name=logistic \
                         --set stop.max_rounds=1 --methods hfl --seeds 1 --out";
    FLAGS.split_whitespace().chain([out]).collect()
}

#[test]
fn folders_of_others_are_left_alone() {
    let place = Place::new();
    let reproduce = |out| ["reproduce", "losses.toml", "--quiet", "--out", out];
    fs::create_dir(place.path("precious")).unwrap();
    fs::write(place.path("precious/thesis.txt"), "x").unwrap();
    place.done(&reproduce("r"));
    place.done(&compare("c"));
    for out in ["precious", "c"] {
        for args in [&reproduce(out)[..], &["merge", "r", "--out", out]] {
            let told = place.refused(args);
            let words = format!("{out}: is not empty and holds no reproduction");
            assert!(told.contains(&words), "{told}");
        }
        assert!(!place.path(out).join("request.json").exists());
    }
    assert_eq!(fs::read_dir(place.path("precious")).unwrap().count(), 1);
    for (out, words) in [
        ("r", "holds no comparison"),
        ("precious", "holds no comparison"),
        ("c", "holds a run or a reproduction (request.json)"),
    ] {
        fs::write(place.path("c/request.json"), "{}").unwrap();
        let told = place.refused(&compare(out));
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn a_merge_that_fails_leaves_nothing_behind() {
    let place = Place::new();
    let shard = |shard, out| {
        let args = ["reproduce", "time.toml", "--shard", shard, "--out", out];
        place.done(&args);
    };
    shard("1/2", "a");
    shard("2/2", "b");
    place.done(&["reproduce", "curves.toml", "--seeds", "1", "--out", "other"]);
    let run = first_run(&place.path("b"));
    let name = run.file_name().unwrap().to_str().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let damages: [(&str, &str, &str, &str); 4] = [
        ("uavs.csv", ",active,", ",asleep,", "uavs.csv, line 2"),
        (
            "summary.json",
            "max_rounds",
            "interrupted",
            "interrupted run",
        ),
        ("summary.json", version, "0.0.1", "version 0.0.1"),
        (
            "scenario.toml",
            "max_rounds = 3",
            "max_rounds = 4",
            "another scenario",
        ),
    ];
    for (file, from, to, words) in damages {
        let whole = fs::read_to_string(run.join(file)).unwrap();
        fs::write(run.join(file), whole.replacen(from, to, 1)).unwrap();
        let told = place.refused(&["merge", "a", "b", "--out", "x"]);
        assert!(told.contains(&format!("b/runs/{name}")), "{told}");
        assert!(told.contains(words), "{told}");
        assert!(!place.path("x").exists(), "{words}");
        fs::write(run.join(file), whole).unwrap();
    }
    let told = place.refused(&["merge", "a", "other", "--out", "x"]);
    assert!(told.contains("merge other: the folders differ"), "{told}");
    assert!(!place.path("x").exists());
    let told = place.done(&["merge", "a", "b", "--out", "x"]);
    assert!(told.contains("took 8 runs"), "{told}");
}

fn first_run(results: &Path) -> PathBuf {
    let folders = fs::read_dir(results.join("runs")).unwrap();
    folders.map(|entry| entry.unwrap().path()).min().unwrap()
}

#[test]
fn a_damaged_run_is_named_before_results_are_overwritten() {
    let place = Place::new();
    let reproduce = ["reproduce", "curves.toml", "--out", "a", "--seeds", "1"];
    place.done(&reproduce);
    let derived = || {
        let names = ["results.json", "results.md", "report.html"];
        names.map(|name| fs::read(place.path("a").join(name)).unwrap())
    };
    let before = derived();
    let run = first_run(&place.path("a"));
    let rounds = fs::read_to_string(run.join("rounds.csv")).unwrap();
    let (fewer, _) = rounds.trim_end().rsplit_once('\n').unwrap();
    fs::write(run.join("rounds.csv"), format!("{fewer}\n")).unwrap();
    for args in [
        &reproduce[..],
        &["merge", "a", "--out", "b"],
        &["report", "a"],
    ] {
        let told = place.refused(args);
        let name = run.file_name().unwrap().to_str().unwrap();
        for words in [name, "rounds.csv 2", "delete the folder"] {
            assert!(told.contains(words), "{args:?}: {told}");
        }
        assert!(derived() == before, "{args:?}");
    }
}

#[test]
fn what_cannot_be_reproduced_is_refused_by_name() {
    let place = Place::new();
    assert!(place.refused(&["reproduce", "fig99"]).contains("fig8ab"));
    fs::write(place.path("broken.toml"), "name = = 3").unwrap();
    assert!(
        place
            .refused(&["reproduce", "broken.toml"])
            .contains("line 1")
    );
    let unknown = format!("{TIME}{SCENARIO}").replace("[\"hfl\",", "[\"telepathy\", \"hfl\",");
    fs::write(place.path("unknown.toml"), unknown).unwrap();
    let told = place.refused(&["reproduce", "unknown.toml"]);
    assert!(
        told.contains("telepathy") && told.contains("direct_drop"),
        "{told}"
    );
    let odd = format!("{TIME}{SCENARIO}").replace("data.data_volume=200", "data.data_volume=2");
    fs::write(place.path("odd.toml"), odd).unwrap();
    assert!(
        place
            .refused(&["reproduce", "odd.toml"])
            .contains("data_volume")
    );
    for flags in [
        &["--shard", "0/2"][..],
        &["--shard", "3/2"],
        &["--shard", "two"],
        &["--seeds", "0"],
        &["--first-seed", "18446744073709551615"],
        &["--jobs", "0"],
        &["--scale", "huge"],
        &["--out", ""],
        &["--data-dir", "nowhere"],
    ] {
        place.refused(&[&["reproduce", "time.toml"], flags].concat());
    }
    place.refused(&["reproduce"]);
    place.refused(&["reproduce", "time.toml", "time.toml"]);
    place.refused(&["merge", "--out", "x"]);
    assert!(!place.path("results").exists() && !place.path("x").exists());
}

#[test]
fn the_papers_experiments_are_listed_and_images_asked_for() {
    let place = Place::new();
    let listed = place.done(&["reproduce", "--list"]);
    let names: Vec<_> = listed.lines().map(|line| line.split(' ').next()).collect();
    assert_eq!(names.len(), 16, "{listed}");
    assert!(names.contains(&Some("table4")), "{listed}");
    assert!(names.contains(&Some("physics")), "{listed}");
    assert!(names.contains(&Some("worlds")), "{listed}");
    assert!(names.contains(&Some("flights")), "{listed}");
    assert!(names.contains(&Some("crowds")), "{listed}");
    assert!(names.contains(&Some("few")), "{listed}");
    let told = place.refused(&["reproduce", "phisics"]);
    assert!(told.contains("did you mean \"physics\"?"), "{told}");
    let told = place.refused(&["reproduce", "fig10", "--out", "r"]);
    assert!(
        told.contains("fig10 needs") && told.contains("--data-dir"),
        "{told}"
    );
    assert!(!place.path("r").exists());
    let told = place.done(&["reproduce", "fig10", "losses.toml", "--out", "r"]);
    assert!(
        told.contains("fig10 is skipped") && told.contains("--data-dir"),
        "{told}"
    );
    assert_eq!(results(&place.path("r")).skipped[0].experiment, "fig10");
}
