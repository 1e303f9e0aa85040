//! Two ways of running a fleet over three seeds, through the library: what 40 % accuracy costs each.
//!
//! `cargo run --release -p aerofed-experiment --example compare [FOLDER]`; with the same folder again, nothing is run twice.
#![allow(clippy::print_stdout, reason = "an example")]

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use aerofed::Scenario;
use aerofed::learn::DataStore;
use aerofed::method::Registry;
use aerofed_experiment::Error;
use aerofed_experiment::comparison::Comparison;
use aerofed_experiment::plan::{ComparePlan, Contender};
use aerofed_experiment::runner::Runner;

pub(crate) fn main() -> Result<(), Error> {
    let folder = std::env::args().nth(1).map_or_else(
        || std::env::temp_dir().join("aerofed-example-compare"),
        PathBuf::from,
    );
    let settings = [
        "devices.count=40",
        "data.data_volume=800",
        "model.name=logistic",
        "training.learning_rate=0.05",
        "stop.max_rounds=4",
    ];
    let base = Scenario::parse("name = \"example\"", &settings)?;
    let registry = Registry::builtin(); // or with methods of your own: registry.add(...)
    let methods = "hfl,hfl with P1=hfl:allocation.kind=p1";
    let contenders = Contender::parse_list(&registry, methods)?;
    let plan = ComparePlan::new(base, contenders, 1..=3, vec![0.4], false)?;

    let stop = AtomicBool::new(false); // raise it to end early
    let runs = plan.runs(&registry)?;
    let runs: Vec<_> = runs.iter().flatten().collect();
    let runner = Runner {
        registry: &registry,
        store: &DataStore::new(), // the data are loaded once for all runs
        jobs: 2,
        simulate: None,
        stop: &stop,
    };
    runner.run_missing(&runs, &folder, &|_, _| {})?;
    let stored = plan.stored(&registry, &folder)?;
    println!("{}", Comparison::new(&plan, &stored).markdown());
    Ok(())
}
