//! Experiments of one's own: no paper, no claims, and tables to plot from.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::compare::{column, text};
use serde_json::Value;

const SWEEP: &str = r#"
name = "bandwidth"
title = "Does bandwidth matter?"
methods = ["hfl", "long=hfl:allocation.local_iterations=9"]
seeds = 2

[scenario]
devices.count = 20
data = { data_volume = 200, probe_samples = 50, personal_samples = 10 }
model.name = "logistic"
training = { learning_rate = 0.05, max_edge_rounds = 2 }
stop = { max_rounds = 4, targets = [0.2], smooth = 2 }

[[axes]]
name = "bandwidth"
unit = "MHz"
points = [
    { label = "narrow", x = 2, set = ["uavs.bandwidth_up_hz=[2e6, 2e6]"] },
    { label = "wide", x = 20, set = ["uavs.bandwidth_up_hz=[20e6, 20e6]", "uavs.speed_mps=9"] },
]
"#;

const PANEL: &str = r#"
[[panels]]
title = "Time to 20 %"
x = "bandwidth"
y = "time_to_target_s"
target = 0.2
"#;

const LOSSES: &str = r#"
name = "losses"
title = "Losses"
[redeployment]
layouts = 3
losses = [[4]]
table = "coverage_change"
methods = [{ label = "nobody moves", set = ["redeploy.method=none"] }]
"#;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.path("sweep.toml"), format!("{SWEEP}{PANEL}")).unwrap();
        fs::write(place.path("bare.toml"), SWEEP).unwrap();
        fs::write(place.path("losses.toml"), LOSSES).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn aerofed(&self, args: &[&str]) -> Output {
        let mut command = assert_cmd::Command::cargo_bin("aerofed").unwrap();
        command
            .current_dir(self.0.path())
            .args(args)
            .output()
            .unwrap()
    }

    fn done(&self, args: &[&str]) -> String {
        let output = self.aerofed(args);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn an_own_experiment_is_told_under_its_own_title() {
    let place = Place::new();
    let printed = place.done(&["reproduce", "sweep.toml", "--out", "r"]);
    for words in [
        "Does bandwidth matter?",
        "narrow",
        "time to 20 % (s)",
        "1 figure from 8 runs",
    ] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    assert!(
        !printed.contains("claim") && !printed.contains('±'),
        "{printed}"
    );
    let page = read(&place.path("r/report.html"));
    let (_, title) = page.split_once("<title>").unwrap();
    assert!(
        title.starts_with("Does bandwidth matter?"),
        "{}",
        &title[..80]
    );
    for words in ["paper's claims", "class=\"verdict", "Figures and claims"] {
        assert!(!page.contains(words), "{words}");
    }
    assert!(page.contains("final test accuracy"), "the summary table");
    assert!(page.contains("8 runs, seeds 1 to 2"), "the heading");
    assert!(read(&place.path("r/results.md")).starts_with("# Does bandwidth matter?"));
    assert!(read(&place.path("r/figures/bandwidth-a.svg")).contains("<svg"));

    // Without panels there is no figure, and the table is there all the same.
    let printed = place.done(&["reproduce", "bare.toml", "--out", "r"]);
    assert!(printed.contains("Does bandwidth matter?"), "{printed}");
    assert!(
        printed.ends_with("8 runs, seeds 1 to 2, scale quick\n"),
        "{printed}"
    );
}

#[test]
fn what_was_varied_stands_in_columns_named_by_their_paths() {
    let place = Place::new();
    place.done(&["reproduce", "sweep.toml", "--out", "r", "--quiet"]);
    let runs = place.path("r/runs.csv");
    let of = |name: &str| column(&runs, name);
    assert_eq!(of("seed"), ["1", "2", "1", "2", "1", "2", "1", "2"]);
    assert_eq!(of("label")[..3], ["hfl", "hfl", "long"]);
    assert_eq!(of("bandwidth")[3..5], ["narrow", "wide"]);
    let hz = of("uavs.bandwidth_up_hz");
    assert_eq!(hz[3..5], ["2000000", "20000000"]);
    // What a point leaves alone has the scenario's value.
    let speed = of("uavs.speed_mps");
    assert!(
        speed[0].parse::<f64>().unwrap() > 9.0 && speed[4] == "9",
        "{speed:?}"
    );
    assert!(of("panels").iter().all(|panels| panels == "a"));
    assert!(of("local_iterations_mean").iter().any(|h| h == "9"));
    assert!(
        of("smooth").iter().all(|rounds| rounds == "2"),
        "as the experiment says"
    );
    assert!(
        of("run")
            .iter()
            .all(|run| place.path("r").join(run).is_dir())
    );
    let curves = place.path("r/curves.csv");
    assert_eq!(column(&curves, "round").len(), 8 * 4);
    assert_eq!(
        column(&curves, "uavs.bandwidth_up_hz").last().unwrap(),
        "20000000"
    );
    assert_eq!(
        column(&curves, "smoothed_accuracy")[0],
        "",
        "no mean of two yet"
    );

    let merged = place.done(&["merge", "r", "--out", "m"]);
    assert!(merged.contains("1 figure from 8 runs"), "{merged}");
    for name in [
        "runs.csv",
        "curves.csv",
        "schema.json",
        "figures/bandwidth-a.svg",
    ] {
        assert_eq!(
            read(&place.path("m").join(name)),
            read(&place.path("r").join(name))
        );
    }
}

#[test]
fn results_are_one_object_for_programs() {
    let place = Place::new();
    let printed = place.done(&[
        "reproduce",
        "sweep.toml",
        "losses.toml",
        "--json",
        "--out",
        "r",
    ]);
    let json: Value = serde_json::from_str(&printed).unwrap();
    let stored: Value = serde_json::from_str(&read(&place.path("r/results.json"))).unwrap();
    assert_eq!(json, stored);
    assert_eq!(
        json["experiments"][0]["summary"]["rows"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    let smooth = place.done(&[
        "reproduce",
        "sweep.toml",
        "--smooth",
        "3",
        "--json",
        "--out",
        "s",
    ]);
    assert!(serde_json::from_str::<Value>(&smooth).is_ok());
    assert_eq!(column(&place.path("s/runs.csv"), "smooth")[0], "3");
}

/// Losses of UAVs are studied in layouts: no runs, no seeds.
#[test]
fn seeds_are_refused_where_nothing_trains_and_nothing_is_headed_by_none() {
    let place = Place::new();
    for flags in [["--seeds", "2"], ["--first-seed", "3"], ["--smooth", "3"]] {
        for names in [&["table3", "fig11"][..], &["losses.toml"]] {
            let args = [&["reproduce"], names, &flags, &["--out", "x"]].concat();
            let output = place.aerofed(&args);
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{said}");
            let flag = format!("`{}`", flags.join(" "));
            assert!(
                said.contains(&flag) && said.contains("experiments that train"),
                "{said}"
            );
            assert!(!place.path("x").exists());
        }
    }
    let printed = place.done(&["reproduce", "losses.toml", "--out", "r"]);
    assert!(
        printed.contains("1 table from 3 layouts of devices"),
        "{printed}"
    );
    for file in ["r/report.html", "r/results.md"] {
        let page = read(&place.path(file));
        assert!(page.contains("3 layouts of devices"), "{file}");
        assert!(
            !page.contains("0 runs") && !page.contains("0 seeds"),
            "{file}"
        );
    }
    // Beside one that trains they apply to that.
    place.done(&[
        "reproduce",
        "sweep.toml",
        "losses.toml",
        "--seeds",
        "1",
        "--out",
        "both",
    ]);
    assert_eq!(column(&place.path("both/runs.csv"), "seed").len(), 4);
}

#[test]
fn an_axis_cannot_be_called_like_a_column() {
    let place = Place::new();
    let text_of = SWEEP.replace("name = \"bandwidth\"\nunit", "name = \"seed\"\nunit");
    fs::write(place.path("odd.toml"), text_of).unwrap();
    let output = place.aerofed(&["reproduce", "odd.toml", "--out", "x"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("axes[0].name") && said.contains("\"seed\" is taken"),
        "{said}"
    );
}
