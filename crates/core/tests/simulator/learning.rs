//! The simulator learns, and stops when told.

use std::ops::ControlFlow;

use crate::common::run_on;
use crate::common::{run, tiny};
use aerofed::decide::association::{Association, Scene};
use aerofed::record::{EventKind, StoppedBy};
use aerofed::seed::Random;
use aerofed::world::DeviceId;
use aerofed::{Error, Method};

#[test]
fn accuracy_rises_far_above_chance() {
    let outcome = run(
        &tiny(&["stop.max_rounds=8", "training.max_edge_rounds=5"]),
        2,
    );
    assert!(
        outcome.summary.final_accuracy > 0.6,
        "{}",
        outcome.summary.final_accuracy
    );
    assert!(outcome.records[0].test_loss > outcome.records[7].test_loss);
}

#[test]
fn stops_at_the_target_and_reports_what_it_took() {
    let scenario = tiny(&[
        "stop.max_rounds=50",
        "stop.target_accuracy=0.5",
        "stop.targets=[0.3, 0.5, 0.99]",
    ]);
    let summary = run(&scenario, 2).summary;
    assert_eq!(summary.stopped_by, StoppedBy::TargetAccuracy);
    assert!(summary.final_accuracy >= 0.5);
    let [low, reached, never] = &summary.targets[..] else {
        panic!()
    };
    assert!(low.rounds.unwrap() <= reached.rounds.unwrap());
    assert_eq!(reached.rounds, Some(summary.rounds));
    assert!((reached.energy_j.unwrap() - summary.total_energy_j).abs() < 1e-6);
    assert_eq!(
        (never.rounds, never.time_s, never.energy_j),
        (None, None, None)
    );
}

#[test]
fn stops_when_the_model_stands_still() {
    let summary = run(
        &tiny(&["stop.max_rounds=50", "stop.convergence_norm=1e9"]),
        2,
    )
    .summary;
    assert_eq!(
        (summary.stopped_by, summary.rounds),
        (StoppedBy::Converged, 1)
    );
}

#[test]
fn a_huge_learning_rate_is_recorded_as_divergence() {
    let outcome = run(
        &tiny(&[
            "training.learning_rate=1000",
            "training.weight_decay=10",
            "stop.max_rounds=50",
        ]),
        2,
    );
    assert_eq!(outcome.summary.stopped_by, StoppedBy::Diverged);
    assert!(
        outcome
            .records
            .last()
            .unwrap()
            .events
            .iter()
            .any(|e| e.kind == EventKind::Diverged)
    );
}

#[test]
fn nobody_covered_is_an_outcome() {
    let settings = [
        "uavs.count=1",
        "uavs.layout={kind=\"fixed\", positions_m=[[0, 0]]}",
        "uavs.coverage_radius_m=1",
    ];
    let outcome = run(&tiny(&settings), 2);
    assert_eq!(outcome.summary.rounds, 3);
    assert_eq!(outcome.summary.updates_computed, 0);
    assert!(
        outcome
            .records
            .iter()
            .all(|r| r.events.iter().any(|e| e.kind == EventKind::NobodyTrained))
    );
    assert!(
        outcome
            .records
            .iter()
            .all(|r| r.aggregator.is_none() && r.model_change == 0.0)
    );
}

#[test]
fn whoever_watches_can_end_the_run() {
    let scenario = tiny(&[]);
    let outcome = run_on(&scenario, &mut Method::of(&scenario).unwrap(), 1, |_| {
        ControlFlow::Break(())
    })
    .unwrap();
    assert_eq!(
        (outcome.summary.rounds, outcome.summary.stopped_by),
        (1, StoppedBy::Interrupted)
    );
}

#[test]
fn an_impossible_decision_is_an_error_that_names_the_method() {
    struct Everybody;
    impl Association for Everybody {
        fn select(&mut self, scene: &Scene, _: &mut Random) -> Vec<Vec<DeviceId>> {
            let all = (0..scene.world.devices.position.len() as u32)
                .map(DeviceId)
                .collect();
            let mut cells = vec![Vec::new(); scene.world.uavs.len()];
            cells[0] = all;
            cells
        }
    }
    let scenario = tiny(&[]);
    let mut method = Method {
        name: "greedy".into(),
        association: Box::new(Everybody),
        ..Method::of(&scenario).unwrap()
    };
    let error = run_on(&scenario, &mut method, 1, |_| ControlFlow::Continue(()))
        .err()
        .unwrap();
    assert!(
        matches!(&error, Error::Decision { method, .. } if method == "greedy"),
        "{error}"
    );
}

/// Costs do not depend on what is learned: the same fleet pays the same for any learning rate.
#[test]
fn costs_do_not_depend_on_the_learning_rate() {
    let costs = |rate: &str| {
        let summary = run(&tiny(&[rate]), 2).summary;
        (summary.total_time_s, summary.total_energy_j)
    };
    assert_eq!(
        costs("training.learning_rate=0.1"),
        costs("training.learning_rate=0.001")
    );
}
