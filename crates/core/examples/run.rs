//! One run through the library: a scenario, a method, every round as it happens, the bill at the end.
//!
//! `cargo run --release -p aerofed --example run`
#![allow(clippy::print_stdout, reason = "an example")]

use std::ops::ControlFlow;

use aerofed::{Error, Method, Scenario, run};

pub(crate) fn main() -> Result<(), Error> {
    let settings = [
        "devices.count=40",
        "data.data_volume=800",
        "model.name=logistic",
        "training.learning_rate=0.05",
        "stop.max_rounds=4",
    ];
    let scenario = Scenario::parse("name = \"example\"", &settings)?.check()?;
    let mut method = Method::of(&scenario)?;
    let outcome = run(&scenario, &mut method, |round| {
        println!(
            "round {}: {:.1} %, {} of {} covered devices, {:.2} s",
            round.round,
            100.0 * round.test_accuracy,
            round.selected,
            round.covered,
            round.clock_s
        );
        ControlFlow::Continue(())
    })?;
    let summary = outcome.summary;
    println!(
        "{}: {:.2} s, {:.2} kJ, {} of {} updates lost",
        summary.method,
        summary.total_time_s,
        summary.total_energy_j / 1e3,
        summary.updates_lost,
        summary.updates_computed
    );
    Ok(())
}
