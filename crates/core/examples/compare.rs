//! Two ways of running a fleet over three seeds, through the library: what 40 % accuracy costs each.
//!
//! `cargo run --release -p aerofed --example compare [FOLDER]`; with the same folder again, nothing is run twice.
#![allow(clippy::print_stdout, reason = "an example")]

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use aerofed::experiment::comparison::Comparison;
use aerofed::experiment::plan::{ComparePlan, Contender};
use aerofed::experiment::runner::run_missing;
use aerofed::method::Registry;
use aerofed::{Error, Scenario};

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
    run_missing(&registry, &runs, &folder, 2, &stop, &|_, _| {})?;
    let stored = plan.stored(&registry, &folder)?;
    println!("{}", Comparison::new(&plan, &stored).markdown());
    Ok(())
}
