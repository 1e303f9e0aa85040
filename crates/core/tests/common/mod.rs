//! Small worlds that run in milliseconds.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::ops::ControlFlow;

use aerofed::run::{Outcome, run_on};
use aerofed::{Method, Scenario, ValidScenario};

/// 30 devices, a linear model, 3 rounds of 2 edge rounds.
pub(crate) const TINY: &str = r#"
name = "tiny"
[devices]
count = 30
[data]
data_volume = 300
probe_samples = 50
personal_samples = 10
[model]
name = "logistic"
[training]
learning_rate = 0.05
max_edge_rounds = 2
[stop]
max_rounds = 3
"#;

pub(crate) fn tiny(settings: &[&str]) -> ValidScenario {
    Scenario::parse(TINY, settings).unwrap().check().unwrap()
}

pub(crate) fn run(scenario: &ValidScenario, threads: usize) -> Outcome {
    let mut method = Method::of(scenario);
    run_on(
        scenario,
        &mut method,
        threads,
        |_| ControlFlow::Continue(()),
    )
    .unwrap()
}
