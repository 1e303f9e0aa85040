//! Small worlds that run in milliseconds.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::ops::ControlFlow;

use aerofed::record::{EnergyItem, UavRecord};
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

/// A battery's books: what came in went out, item by item.
pub(crate) fn assert_balanced(uav: &UavRecord) {
    let came_in = uav.battery_before_j + uav.recharged_j;
    let went_out = uav.battery_after_j + uav.energy.total_j();
    assert!(
        (came_in - went_out).abs() <= 1e-9 * came_in.max(1.0),
        "{uav:?}"
    );
    assert!(uav.battery_after_j >= 0.0, "{uav:?}");
    for device_item in [EnergyItem::DeviceCompute, EnergyItem::DeviceUpload] {
        assert_eq!(uav.energy.get(device_item), 0.0);
    }
}
