//! A method of one's own beside those that come with the program: registered under a name, compared, set down and taken up like
//! any other, and shown in a colour of its own.
//!
//! `cargo run --release -p aerofed-report --example own_method [FOLDER]`
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use aerofed::decide::association::{Association, Scene};
use aerofed::learn::DataStore;
use aerofed::method::{Entry, Registry};
use aerofed::seed::Random;
use aerofed::vocabulary::DeviceId;
use aerofed::{Method, Scenario, ValidScenario};
use aerofed_experiment::comparison::Comparison;
use aerofed_experiment::plan::{ComparePlan, Contender};
use aerofed_experiment::runner::Runner;
use aerofed_report::Report;

/// Every other device of a cell, in turn.
struct InTurn {
    share: f64,
}

impl Association for InTurn {
    fn select(&mut self, scene: &Scene, _: &mut Random) -> Vec<Vec<DeviceId>> {
        let turns = (1.0 / self.share.max(0.01)).round() as usize;
        let mut cells = vec![Vec::new(); scene.world.uavs.len()];
        for (device, uav) in scene.coverage.nearest.iter().enumerate() {
            if let Some(uav) = uav.filter(|_| (device + scene.round).is_multiple_of(turns)) {
                cells[uav.index()].push(DeviceId(device as u32));
            }
        }
        cells
    }
}

/// Plain `hfl` with another association, which reads `selection.share`.
fn in_turn() -> Entry {
    let build = |scenario: &ValidScenario| {
        Ok(Method {
            name: "in_turn".into(),
            association: Box::new(InTurn {
                share: scenario.selection.share,
            }),
            ..Registry::builtin().find("hfl")?.build(scenario)?
        })
    };
    let reads = [
        "selection.share",
        "allocation.local_iterations",
        "training.max_edge_rounds",
    ];
    let summary = "every so many-th device, in turn";
    Entry::custom("in_turn", summary, &reads, Arc::new(build))
}

#[allow(dead_code, reason = "the test calls what it calls")]
fn main() -> Result<(), Box<dyn Error>> {
    let folder: PathBuf = std::env::args().nth(1).map_or_else(
        || std::env::temp_dir().join("aerofed-example-own-method"),
        Into::into,
    );
    compare(&folder)
}

pub(crate) fn compare(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut registry = Registry::builtin();
    registry.add(in_turn())?;
    let settings = [
        "devices.count=30",
        "data.data_volume=600",
        "model.name=logistic",
        "training.learning_rate=0.05",
        "stop.max_rounds=6",
    ];
    let base = Scenario::parse("", &settings)?;
    let contenders = Contender::parse_list(&registry, "in_turn:selection.share=0.5,hfl,rhfed")?;
    let plan = ComparePlan::new(base, contenders, 1..=3, vec![0.3], false)?;
    fs::create_dir_all(folder)?;
    fs::write(folder.join("scenario.toml"), plan.shared_text()?)?;
    let runs = plan.runs(&registry)?;
    let runner = Runner {
        registry: &registry,
        store: &DataStore::new(),
        jobs: 2,
        simulate: None,
        stop: &AtomicBool::new(false),
    };
    let runs: Vec<_> = runs.iter().flatten().collect();
    runner.run_missing(&runs, &folder.join("runs"), &|_, _| {})?;
    let stored = plan.stored(&registry, &folder.join("runs"))?;
    let comparison = Comparison::new(&plan, &stored);
    println!("{}", comparison.markdown());
    let json = serde_json::to_value(&comparison)?;
    let page = Report::of_comparison(folder, serde_json::from_value(json)?, &registry)?.html();
    fs::write(folder.join("report.html"), page)?;
    println!("wrote {}", folder.join("report.html").display());
    Ok(())
}
