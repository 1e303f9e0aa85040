//! `aerofed sweep`, and engines that do its runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use aerofed_data::Table;
use aerofed_experiment::results::Results;
use assert_cmd::Command;

#[cfg(unix)]
mod engines;

/// Logistic models on ten devices for two rounds: milliseconds.
const SMALL: &str = "sweep --set devices.count=10 --set data.data_volume=100 --set data.probe_samples=50 --set data.personal_samples=20 \
                     --set model.name=logistic --set stop.max_rounds=2 --set training.max_edge_rounds=2";
/// Two values, two samples, two seeds: eight runs.
const AXES: &str =
    "--grid uavs.count=2,3 --random uavs.speed_mps=10..30 --samples 2 --seeds 2 --methods hfl";

pub(super) struct Place(tempfile::TempDir);

impl Place {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(super) fn command(&self, line: &str) -> Command {
        let mut command = Command::cargo_bin("aerofed").unwrap();
        command
            .current_dir(self.0.path())
            .args(line.split_whitespace());
        command
    }

    /// What it said, to stdout and stderr.
    pub(super) fn done(&self, line: &str) -> (String, String) {
        let output = self.command(line).output().unwrap();
        let (result, said) = both(&output);
        assert_eq!(output.status.code(), Some(0), "{line}: {said}");
        (result, said)
    }
}

pub(super) fn both(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// All files of a sweep that tell what came of it.
pub(super) fn told(place: &Place, out: &str) -> Vec<Vec<u8>> {
    let names = [
        "sweep.csv",
        "sweep.parquet",
        "results.json",
        "results.md",
        "report.html",
        "schema.json",
        "figures/pareto-a.svg",
        "figures/axes-a.svg",
    ];
    let read = |name: &str| fs::read(place.path(out).join(name)).unwrap();
    names.map(read).to_vec()
}

fn cells(csv: &str) -> Vec<Vec<&str>> {
    csv.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn one_table_has_what_was_varied_in_columns() {
    let place = Place::new();
    let (printed, said) = place.done(&format!("{SMALL} {AXES} --out s --jobs 2"));
    assert!(said.contains("8 runs done"), "{said}");
    for part in [
        "beats in time, energy and accuracy",
        "8 runs of 4 configurations, seeds 1 to 2",
        "uavs.count (share of variance)",
        "uavs.speed_mps (rank correlation)",
        "seed (share of variance)",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let csv = place.text("s/sweep.csv");
    let rows = cells(&csv);
    assert_eq!(rows.len(), 1 + 8);
    assert_eq!(
        rows[0][..6],
        [
            "label",
            "method",
            "seed",
            "uavs.count",
            "uavs.speed_mps",
            "target"
        ]
    );
    assert_eq!(rows[1][..4], ["hfl", "hfl", "1", "2"]);
    assert_eq!(rows[2][2], "2");
    assert_eq!(rows[8][..4], ["hfl", "hfl", "2", "3"]);
    let speed: f64 = rows[1][4].parse().unwrap();
    assert!((10.0..=30.0).contains(&speed));
    assert_eq!(rows[1][4], rows[5][4], "the same samples at every point");
    // A run by itself comes to the same.
    let folder = rows[1].last().unwrap();
    let alone = place.path("s").join(folder).join("scenario.toml");
    place.done(&format!("run {} --out alone --quiet", alone.display()));
    let at = |name: &str| rows[0].iter().position(|column| *column == name).unwrap();
    let summary: serde_json::Value =
        serde_json::from_str(&place.text("alone/summary.json")).unwrap();
    assert_eq!(
        summary["total_energy_j"].as_f64().unwrap().to_string(),
        rows[1][at("run_energy_j")]
    );

    let table = Table::read(&place.path("s/sweep.parquet")).unwrap();
    for (column, name) in rows[0].iter().enumerate() {
        let words = table.words(name).unwrap();
        for (row, word) in words.iter().enumerate() {
            let cell = rows[row + 1][column];
            let same = *word == cell || word.parse::<f64>().ok() == cell.parse().ok();
            assert!(same, "{name}: {word} for {cell}");
        }
    }
    assert_eq!(table.numbers("uavs.count").unwrap()[7], 3.0);

    let results: Results = serde_json::from_str(&place.text("s/results.json")).unwrap();
    let front = results.experiments[0].summary.as_ref().unwrap();
    assert!(!front.rows.is_empty() && front.rows.len() <= 4);
    assert_eq!(front.axes, ["uavs.count", "uavs.speed_mps"]);
    let svg = place.text("s/figures/pareto-a.svg");
    assert!(svg.contains("simulated time (") && svg.contains("final test accuracy (%)"));
    assert!(svg.contains("hfl, front"));
    let page = place.text("s/report.html");
    assert!(page.contains("\"dots\"") && page.contains("Pareto front"));
    // Whoever has the folder can make the page again.
    place.done("report s --out again.html --quiet");
    assert_eq!(place.text("again.html"), page);
}

#[test]
fn the_number_of_threads_and_the_order_change_no_byte() {
    let place = Place::new();
    place.done(&format!("{SMALL} {AXES} --rows --out one --jobs 1"));
    place.done(&format!("{SMALL} {AXES} --rows --out four --jobs 4"));
    for part in ["3/3", "1/3", "2/3"] {
        let (result, said) =
            place.done(&format!("{SMALL} {AXES} --rows --out parts --shard {part}"));
        assert!(result.is_empty() && said.contains(&format!("part {part} is done")));
    }
    let (_, said) = place.done(&format!("{SMALL} {AXES} --rows --out parts"));
    assert!(said.contains("0 runs done, 8 were there already"), "{said}");
    for other in ["four", "parts"] {
        assert!(told(&place, "one") == told(&place, other), "{other}");
    }
    // Folders tell the same, and where they are.
    place.done(&format!("{SMALL} {AXES} --out folders --quiet"));
    let without_folder = |name: &str| -> Vec<String> {
        let csv = place.text(name);
        let head = |line: &str| line.rsplit_once(',').unwrap().0.to_owned();
        csv.lines().map(head).collect()
    };
    assert_eq!(
        without_folder("one/sweep.csv"),
        without_folder("folders/sweep.csv")
    );
}

#[test]
fn what_is_there_is_not_done_again() {
    let place = Place::new();
    place.done(&format!("{SMALL} {AXES} --rows --out s --jobs 1"));
    let whole = told(&place, "s");
    // Killed in the middle of a row.
    let rows = place.text("s/rows/1.csv");
    let kept: Vec<&str> = rows.lines().take(5).collect();
    let cut = kept.join("\n") + "\n" + &rows.lines().nth(5).unwrap()[..40];
    fs::write(place.path("s/rows/1.csv"), cut).unwrap();
    let (_, said) = place.done(&format!("{SMALL} {AXES} --rows --out s"));
    assert!(said.contains("4 runs done, 4 were there already"), "{said}");
    assert!(told(&place, "s") == whole);
    // More samples leave the first as they are.
    let more = AXES.replace("--samples 2", "--samples 3");
    let (_, said) = place.done(&format!("{SMALL} {more} --rows --out s"));
    assert!(said.contains("4 runs done, 8 were there already"), "{said}");
    // Another scenario has another folder.
    let other = format!("{SMALL} {AXES} --rows --out s --set uavs.battery_j=2e5");
    let output = place.command(&other).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(both(&output).1.contains("sweep in another scenario"));
}

#[test]
fn a_dry_sweep_trains_nobody_and_keeps_rows() {
    let place = Place::new();
    let line = "sweep --dry --rounds 3 --grid uavs.count=3,5 --methods cehfed,hfl --out s --json";
    let (json, _) = place.done(line);
    let results: Results = serde_json::from_str(&json).unwrap();
    assert_eq!(results.made_of(), "4 runs of 4 configurations, seed 1");
    assert!(!place.path("s/runs").exists());
    assert_eq!(cells(&place.text("s/sweep.csv")).len(), 5);
}

#[test]
fn a_sweep_in_which_nothing_came_about_leaves_nothing() {
    let place = Place::new();
    let line = format!("{SMALL} --grid devices.count=20,30000 --methods hfl --out s");
    let line = line.replace("--set devices.count=10 ", "");
    let output = place.command(&line).output().unwrap();
    let said = both(&output).1;
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("data"), "{said}");
    let elsewhere = format!("{SMALL} {AXES} --out .");
    fs::write(place.path("thesis.txt"), "mine").unwrap();
    let output = place.command(&elsewhere).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(both(&output).1.contains("holds no sweep"));
    assert!(Path::new(&place.path("thesis.txt")).exists());
}
