//! Pages and plots without a browser: what is in them, what is not, and how large they are.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use aerofed::record::{Part, Sightings};
use aerofed::run_folder::{RunFolder, RunLog};
use aerofed::{Method, Scenario};
use aerofed_experiment::results::{
    Axis, Cell, Claim, Figure, Map, MapUav, Measure, Panel, PanelKind, Point, Results, Row,
    RunEntry, SCHEMA, Scale, Series, Skipped, Table, Tick, Verdict,
};
use aerofed_experiment::statistics::Estimate;
use aerofed_report::Report;
use serde_json::Value;

#[path = "report/panels.rs"]
mod panels;

const SMALL: &str = r#"
    name = "small"
    [devices]
    count = 150
    [data]
    data_volume = 600
    [model]
    name = "logistic"
    [training]
    max_edge_rounds = 2
    [stop]
    max_rounds = 2
"#;

/// A run, and its folder.
static RUN: LazyLock<(RunLog, tempfile::TempDir)> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    (run(&dir.path().join("runs/hfl-1"), &[]), dir)
});

/// Runs into a folder.
fn run(folder: &Path, settings: &[&str]) -> RunLog {
    run_as(None, folder, settings)
}

/// The same, with the method under another name.
fn run_as(name: Option<&str>, folder: &Path, settings: &[&str]) -> RunLog {
    let scenario = Scenario::parse(SMALL, settings).unwrap();
    let scenario = scenario.check().unwrap();
    let mut folder = RunFolder::create(folder, &scenario, false).unwrap();
    let mut method = Method::of(&scenario).unwrap();
    if let Some(name) = name {
        method.name = name.into();
    }
    let outcome = aerofed::run(&scenario, &mut method, |record| {
        folder.append(record).unwrap();
        ControlFlow::Continue(())
    });
    let outcome = outcome.unwrap();
    folder.finish(&outcome).unwrap();
    RunLog {
        scenario: Scenario::clone(&scenario),
        records: outcome.records,
        summary: outcome.summary,
    }
}

/// The same run with its last round told again and again.
fn stretched(rounds: usize) -> RunLog {
    let mut log = RUN.0.clone();
    let last = log.records.last().unwrap().clone();
    while log.records.len() < rounds {
        let mut record = last.clone();
        record.round = log.records.len() + 1;
        log.records.push(record);
    }
    log
}

/// What the page hands to its scripts.
fn data(html: &str) -> Value {
    let start = html.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = start + html[start..].find("</script>").unwrap();
    serde_json::from_str(&html[start..end]).unwrap()
}

#[test]
fn a_page_is_small_and_the_same_every_time() {
    let html = Report::of_runs(vec![stretched(25)]).html();
    assert!(html.len() < 300_000, "{} bytes", html.len());
    assert_eq!(html, Report::of_runs(vec![stretched(25)]).html());
    let frames = &data(&html)["replays"][0]["frames"];
    assert_eq!(frames.as_array().unwrap().len(), 25);
    assert_eq!(frames[0]["x"].as_array().unwrap().len(), 150);
    // Nothing of the machine it ran on.
    assert!(!html.contains("thread") && !html.contains("wall"));
}

#[test]
fn a_page_of_a_huge_run_is_cut_and_says_so() {
    let mut log = stretched(3_000);
    let crowd = Sightings {
        every: 50,
        x_m: vec![12_345; 2_000],
        y_m: vec![12_345; 2_000],
        uav: vec![Part::Idle; 2_000],
    };
    for record in &mut log.records {
        record.devices = crowd.clone();
    }
    log.scenario.devices.count = 100_000;
    let html = Report::of_runs(vec![log]).html();
    assert!(html.len() < 4_000_000, "{} bytes", html.len());
    let replay = &data(&html)["replays"][0];
    assert_eq!(replay["rounds"], 3_000);
    assert_eq!(replay["frames"].as_array().unwrap().len(), 1_000);
    let (every, shown) = (
        &replay["every"],
        replay["frames"][0]["x"].as_array().unwrap(),
    );
    assert_eq!((every.as_u64(), shown.len()), (Some(50 * 17), 118));
}

#[test]
fn a_run_without_rounds_has_a_page() {
    let mut log = RUN.0.clone();
    log.records.clear();
    log.summary.rounds = 0;
    let html = Report::of_runs(vec![log]).html();
    assert!(html.contains("Summary") && !html.contains("<div data-stage>"));
    assert!(Report::of_runs(Vec::new()).html().contains("No runs"));
}

#[test]
fn a_method_from_outside_the_registry_has_its_own_name_and_colour() {
    let dir = tempfile::tempdir().unwrap();
    // One scenario, which names `hfl`.
    let names = ["hfl", "mine", "hfl[allocation=equal]", "yours"];
    let folders: Vec<PathBuf> = names.iter().map(|name| dir.path().join(name)).collect();
    for (name, folder) in names.iter().zip(&folders) {
        run_as(Some(name), folder, &[]);
    }
    let report = Report::read(&folders).unwrap();
    let html = report.html();
    let data = data(&html);
    let series = data["charts"][0]["series"].as_array().unwrap();
    let labels: Vec<&Value> = series.iter().map(|series| &series["label"]).collect();
    assert_eq!(labels, names);
    assert_eq!(data["costs"][0]["rows"], serde_json::json!(names));
    let mut colours: Vec<&str> = Vec::new();
    for (name, series) in names.iter().zip(series) {
        let colour = series["colour"].as_str().unwrap();
        let row = format!("var(--{colour})\"></i>{name}</td>");
        assert!(html.contains(&row), "{row}");
        assert!(html.contains(&format!("--{colour}: #")), "{colour}");
        colours.push(colour);
    }
    assert_eq!(colours[0], colours[2], "a shade of the method it varies");
    assert_ne!(series[0]["dash"], series[2]["dash"]);
    assert_eq!(series[2]["opacity"], 0.72);
    assert!(colours[0] != colours[1] && colours[1] != colours[3] && colours[0] != colours[3]);
    for (_, svg) in report.figures() {
        assert!(names.iter().all(|name| svg.contains(name)));
        assert_eq!(
            svg.matches("stroke=\"#D4119B\"").count(),
            2,
            "curve and legend"
        );
    }
    // Alone it is called by its name too.
    let alone = Report::read(&folders[1..2]).unwrap().html();
    assert!(alone.contains("method mine") && !alone.contains("method hfl"));
    // The same run twice is still refused.
    let twice = [folders[1].clone(), folders[1].clone()];
    let error = Report::read(&twice).err().unwrap();
    assert!(error.to_string().contains("every run once"), "{error}");
}

fn axis(label: &str, unit: &str, names: &[&str]) -> Axis {
    let tick = |(at, label): (usize, &&str)| Tick {
        at: at as f64,
        label: (*label).into(),
    };
    Axis {
        label: label.into(),
        unit: unit.into(),
        ticks: names.iter().enumerate().map(tick).collect(),
    }
}

fn series(label: &str, style: usize, means: &[f64]) -> Series {
    let point = |(x, mean): (usize, &f64)| Point {
        x: x as f64,
        y: Estimate::of(&[mean - 0.1 * mean, mean + 0.1 * mean]),
        of: 3,
    };
    Series {
        label: label.into(),
        method: "hfl".into(),
        style,
        points: means.iter().enumerate().map(point).collect(),
        ends: Vec::new(),
        runs: vec!["0123456789ab".into()],
    }
}

const HOSTILE: &str = "</script><script>alert(1)</script>|";

fn panel(kind: PanelKind) -> Panel {
    let (x, y) = match kind {
        PanelKind::Lines | PanelKind::Dots => {
            (axis("energy", "J", &[]), axis("test accuracy", "", &[]))
        }
        PanelKind::Bars => (
            axis("data set", "", &["MNIST", "Fashion-MNIST"]),
            axis("time to 90 %", "s", &[]),
        ),
    };
    let (first, second) = match kind {
        PanelKind::Lines | PanelKind::Dots => ([0.2, 0.8], [0.1, 0.5]),
        PanelKind::Bars => ([120.0, 300.0], [240.0, 900.0]),
    };
    Panel {
        id: match kind {
            PanelKind::Lines => "a".into(),
            PanelKind::Bars => "b".into(),
            PanelKind::Dots => "c".into(),
        },
        title: "CNN on MNIST".into(),
        kind,
        x,
        y,
        series: vec![series("hfl", 0, &first), series(HOSTILE, 9, &second)],
    }
}

fn results() -> Results {
    let claim = |verdict, ours, text: &str| Claim {
        experiment: "fig5".into(),
        text: text.into(),
        measure: Measure::Saving,
        unit: String::new(),
        paper: 0.17,
        ours,
        of: 3,
        verdict,
        sure: true,
    };
    Results {
        schema: SCHEMA,
        version: "0.1.0".into(),
        scale: Scale::Quick,
        seeds: vec![1, 2, 3],
        sources: String::new(),
        experiments: Vec::new(),
        figures: vec![Figure {
            id: "fig5".into(),
            title: HOSTILE.into(),
            caption: "Four thousand samples.".into(),
            panels: vec![
                panel(PanelKind::Lines),
                panel(PanelKind::Bars),
                panel(PanelKind::Dots),
            ],
            maps: vec![Map {
                title: "after UAV 4 was lost".into(),
                width_m: 2e4,
                height_m: 2e4,
                coverage_radius_m: 5e3,
                devices_m: vec![[1.0, 2.0], [3e3, 4e3]],
                uavs: vec![MapUav {
                    number: 1,
                    position_m: [5e3, 5e3],
                    moved_from_m: Some([4e3, 5e3]),
                }],
                covered: 0.773,
            }],
        }],
        tables: vec![Table {
            id: "table3".into(),
            title: "Coverage change".into(),
            caption: HOSTILE.into(),
            unit: "points".into(),
            columns: vec!["UAV 1".into(), "mean".into()],
            rows: vec![Row {
                label: "two_stage".into(),
                cells: vec![
                    Cell {
                        ours: Estimate::of(&[-5.0, -6.0]),
                        paper: Some(-5.3),
                    },
                    Cell {
                        ours: None,
                        paper: None,
                    },
                ],
            }],
        }],
        claims: vec![
            claim(
                Verdict::Agrees,
                Estimate::of(&[0.2, 0.3, 0.25]),
                "17 % of the time saved",
            ),
            claim(Verdict::Contradicts, Estimate::of(&[-0.2, -0.3]), HOSTILE),
            claim(Verdict::Open, None, "nobody knows"),
            Claim {
                sure: false,
                ..claim(Verdict::Weaker, Estimate::of(&[0.01]), "hardly")
            },
        ],
        runs: vec![RunEntry {
            id: "0123456789ab".into(),
            folder: "runs/hfl-1".into(),
            method: "hfl".into(),
            seed: 1,
            experiments: vec!["fig5".into()],
            rounds: 2,
            stopped_by: "max_rounds".into(),
            best_accuracy: 0.5,
            total_time_s: 1.0,
            total_energy_j: 1.0,
        }],
        runs_missing: 4,
        skipped: vec![Skipped {
            experiment: "fig9".into(),
            reason: "the data set is not there".into(),
        }],
    }
}

#[test]
fn results_become_figures_beside_claims() {
    let folder = RUN.1.path();
    let json = serde_json::to_string(&results()).unwrap();
    fs::write(folder.join("results.json"), json).unwrap();
    let report = Report::read(&[folder.to_path_buf()]).unwrap();
    let html = report.html();
    assert!(!html.contains("<script>alert"));
    for words in [
        "✓ agrees: 1",
        "≈ weaker: 1",
        "17 %",
        "25.0 ± 12.4 %",
        "<td>3 of 3</td>",
        "<td>2 of 3</td>",
        "<td>0 of 3</td>",
        ">✗ contradicts</span>",
        ">(≈ weaker)</span>",
        "4 runs are still missing",
        "fig9 was not done",
        "(paper -5.3)",
    ] {
        assert!(html.contains(words), "{words}");
    }
    let data = data(&html);
    let charts = data["charts"].as_array().unwrap();
    assert_eq!(
        [0, 1, 2].map(|chart: usize| charts[chart]["kind"].as_str().unwrap()),
        ["lines", "bars", "dots"]
    );
    let view = &charts[0]["views"][0];
    assert_eq!(
        (&view["x"]["unit"], &view["y"]["label"]),
        (&"J".into(), &"test accuracy (%)".into())
    );
    // x, mean, low, high, n, of: the range of two seeds, in percent.
    for (shown, expected) in view["points"][0][0]
        .as_array()
        .unwrap()
        .iter()
        .zip([0.0, 20.0, 18.0, 22.0, 2.0, 3.0])
    {
        let shown = shown.as_f64().unwrap();
        assert!((shown - expected).abs() < 1e-3, "{shown} {expected}");
    }
    assert_eq!(
        charts[1]["views"][0]["x"]["ticks"][1]["label"],
        "Fashion-MNIST"
    );
    assert_eq!(charts[0]["series"][1]["label"], HOSTILE);
    // Costs and replay come from the run behind the series.
    let costs = &data["costs"][0];
    assert_eq!(costs["rows"][0], "hfl");
    let total = RUN.0.summary.total_energy_j;
    let energy = &costs["spans"][0]["energy"];
    assert_eq!(energy["unit"], "J");
    let sum = energy["rows"][0]["sum"].as_f64().unwrap();
    assert!((sum - total).abs() < 1e-3 * total, "{sum} {total}");
    assert_eq!(data["replays"][0]["label"], "hfl, seed 1");
    assert_eq!(data["maps"][0]["uavs"][0]["from"][0], 4_000.0);

    let figures = report.figures();
    let names: Vec<&str> = figures.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["fig5-a.svg", "fig5-b.svg", "fig5-c.svg", "results.md"]
    );
}

#[test]
fn runs_in_which_something_goes_wrong_are_replayed_first() {
    let dir = tempfile::tempdir().unwrap();
    run(&dir.path().join("runs/hfl-1"), &[]);
    let drain = r#"faults=[{kind="drain", uav=0, round=2}]"#;
    run(&dir.path().join("runs/hfl-2"), &["seed=2", drain]);
    let mut results = results();
    let eventful = RunEntry {
        id: "ba9876543210".into(),
        folder: "runs/hfl-2".into(),
        ..results.runs[0].clone()
    };
    for series in &mut results.figures[0].panels[1].series {
        series.runs = vec![eventful.id.clone()];
    }
    results.runs.push(eventful);
    let json = serde_json::to_string(&results).unwrap();
    fs::write(dir.path().join("results.json"), json).unwrap();
    let report = Report::read(&[dir.path().to_path_buf()]).unwrap();
    let data = data(&report.html());
    assert_eq!(data["replays"][0]["label"], "hfl, seed 2");
}

#[test]
fn one_of_a_kind_is_not_told_as_many() {
    let mut log = RUN.0.clone();
    log.records.truncate(1);
    log.summary.rounds = 1;
    let html = Report::of_runs(vec![log]).html();
    assert!(html.contains("· 1 round,") && !html.contains("1 rounds"));
    let mut one = results();
    one.seeds.truncate(1);
    one.runs_missing = 1;
    let folder = RUN.1.path();
    let html = Report::of_results(folder, one).unwrap().html();
    assert!(html.contains("1 run, seed ") && html.contains("1 run is still missing"));
}

#[path = "../examples/own_method.rs"]
mod own_method;

/// A method that a program adds is compared and shown beside the others, under its own name.
#[test]
fn a_method_from_outside_is_compared_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    own_method::compare(folder.path()).unwrap();
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("in_turn") && page.contains("rhfed"));
    let runs = fs::read_dir(folder.path().join("runs")).unwrap();
    let names = runs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let own = names.filter(|name| name.starts_with("in_turn-")).count();
    assert_eq!(own, 3);
    // What is there is found again, and nothing is run twice.
    own_method::compare(folder.path()).unwrap();
}
