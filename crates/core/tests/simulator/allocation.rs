//! P1 inside a run.

use std::ops::ControlFlow;

use crate::common::run_on;
use crate::common::{run, tiny};
use aerofed::decide::allocation::{Allocation, Cell, CellError, CellPlan, Equal};
use aerofed::record::{EnergyItem, EventKind};
use aerofed::world::UavId;
use aerofed::{Method, RoundRecord};

/// Seconds of one edge round of each cell that trained.
fn edge_round_s(outcome: &aerofed::run::Outcome) -> Vec<f64> {
    let records = outcome.records.iter();
    let times = records.flat_map(|record| {
        let cells = record.uavs.iter().filter(|uav| !uav.devices.is_empty());
        cells.map(|uav| uav.edge_time_s / record.edge_rounds as f64)
    });
    times.collect()
}

#[test]
fn nobody_trains_past_the_deadline_and_the_others_still_do() {
    let free = run(&tiny(&[]), 2);
    let slowest = edge_round_s(&free).into_iter().fold(0.0, f64::max);
    let deadline_s = 0.6 * slowest;
    let bound = run(&tiny(&[&format!("devices.deadline_s={deadline_s}")]), 2);
    let times = edge_round_s(&bound);
    assert!(!times.is_empty() && times.iter().all(|&time_s| time_s <= deadline_s));
    assert!(bound.summary.updates_computed < free.summary.updates_computed);
    assert!(bound.summary.updates_computed > 0);
    let impossible = run(&tiny(&["devices.deadline_s=1e-9"]), 2);
    assert!(
        impossible.records[0]
            .events
            .iter()
            .any(|e| e.kind == EventKind::NobodyTrained)
    );
}

/// What P1 minimises, summed over cells and rounds: energy and time of edge rounds.
fn edge_objective(outcome: &aerofed::run::Outcome) -> f64 {
    let items = [
        EnergyItem::DeviceCompute,
        EnergyItem::DeviceUpload,
        EnergyItem::EdgeHover,
        EnergyItem::Downlink,
    ];
    let energy_j: f64 = items
        .iter()
        .map(|&item| outcome.summary.energy.get(item))
        .sum();
    let uavs = outcome.records.iter().flat_map(|record| &record.uavs);
    0.5 * energy_j + 0.5 * uavs.map(|uav| uav.edge_time_s).sum::<f64>()
}

/// An allocation that makes somebody late, however often it is asked again.
struct Unfair;

impl Allocation for Unfair {
    fn allocate(&mut self, uav: UavId, cell: &Cell) -> Result<CellPlan, CellError> {
        let mut plan = Equal {
            local_iterations: 1,
        }
        .allocate(uav, cell)?;
        plan.bandwidth_up_hz[0] *= 1e-9;
        Ok(plan)
    }
}

#[test]
fn when_selection_does_not_come_to_rest_the_punctual_train_anyway() {
    let scenario = tiny(&["devices.deadline_s=100", "stop.max_rounds=1"]);
    let mut method = Method {
        allocation: Box::new(Unfair),
        ..Method::of(&scenario).unwrap()
    };
    let go_on = |_: &RoundRecord| ControlFlow::Continue(());
    let unfair = run_on(&scenario, &mut method, 1, go_on).unwrap();
    let usual = run(&scenario, 1);
    // Five turns drop one device each.
    for (left, all) in unfair.records[0].uavs.iter().zip(&usual.records[0].uavs) {
        assert_eq!(left.devices.len(), all.devices.len().saturating_sub(5));
        assert!(left.edge_time_s <= 100.0 * unfair.records[0].edge_rounds as f64);
    }
    assert!(unfair.records[0].selected > 0);
}

#[test]
fn p1_is_cheaper_than_equal_shares_for_the_same_work() {
    let cost = |allocation: &str| edge_objective(&run(&tiny(&[allocation]), 2));
    let equal = cost("allocation={kind=\"equal\", local_iterations=4}");
    for solver in ["exact", "palm"] {
        let same_work =
            format!("allocation={{kind=\"p1\", h_min=4, h_max=4, solver=\"{solver}\"}}");
        let p1 = cost(&same_work);
        assert!(p1 < 0.97 * equal, "{solver}: {p1} against {equal}");
    }
}

#[test]
fn the_papers_objective_always_takes_the_least_iterations() {
    let outcome = run(
        &tiny(&["allocation={kind=\"p1\", objective=\"paper\", h_min=3}"]),
        2,
    );
    for uav in outcome.records.iter().flat_map(|record| &record.uavs) {
        assert!(uav.devices.is_empty() || uav.local_iterations == 3);
    }
}

#[test]
fn iterations_grow_when_communication_is_dear_and_shrink_when_computation_is() {
    let mean_h = |setting: &str| {
        let p1 = "allocation={kind=\"p1\", estimate=false}";
        let outcome = run(&tiny(&[p1, "stop.max_rounds=1", setting]), 2);
        let cells: Vec<_> = outcome.records[0]
            .uavs
            .iter()
            .filter(|uav| !uav.devices.is_empty())
            .collect();
        cells
            .iter()
            .map(|uav| uav.local_iterations as f64)
            .sum::<f64>()
            / cells.len() as f64
    };
    let usual = mean_h("seed=1");
    let dear_radio = mean_h("uavs.bandwidth_up_hz=[1e5, 1e5]");
    let dear_computing = mean_h("devices.fixed_time_s=0.1");
    assert!(
        dear_radio > usual && usual > dear_computing,
        "{dear_radio} {usual} {dear_computing}"
    );
}
