//! Flights that pay, and flights that do not.

use std::ops::ControlFlow;

use aerofed::record::EventKind;
use aerofed::run::Outcome;
use aerofed::scenario::built_in;
use aerofed::{Method, Scenario};

/// The scenario `shelters` with a linear model, to an accuracy that this can reach, in steps so small that it takes long.
const LINEAR: [&str; 4] = [
    "model.name=logistic",
    "training.learning_rate=0.003",
    "stop.target_accuracy=0.84",
    "stop.max_rounds=150",
];

fn run(settings: &[&str]) -> Outcome {
    let settings = [&LINEAR[..], settings].concat();
    let text = built_in("shelters").unwrap();
    let scenario = Scenario::parse(text, &settings).unwrap().check().unwrap();
    let mut method = Method::of(&scenario).unwrap();
    aerofed::run(&scenario, &mut method, |_| ControlFlow::Continue(())).unwrap()
}

/// How often UAVs set off, and whether flights were ever weighed.
fn flights(outcome: &Outcome) -> (usize, bool) {
    let events = outcome.records.iter().flat_map(|round| &round.events);
    let kinds: Vec<&EventKind> = events.map(|event| &event.kind).collect();
    let moved = |kind: &&&EventKind| matches!(kind, EventKind::UavMoved { .. });
    let weighed = |kind: &&EventKind| matches!(kind, EventKind::FlightsWeighed { .. });
    (
        kinds.iter().filter(moved).count(),
        kinds.iter().copied().any(|kind| weighed(&kind)),
    )
}

/// Three quarters of the phones lose their cover early in a long training: a UAV flies over, and a fifth of the time is saved at least.
#[test]
fn a_crowd_without_cover_is_worth_a_flight() {
    let (mut moving_s, mut staying_s) = (0.0, 0.0);
    for seed in ["seed=1", "seed=2", "seed=3"] {
        let moves = run(&[seed]);
        assert_eq!(flights(&moves), (1, true), "{seed}");
        assert!(moves.summary.rounds < 150, "{seed}");
        moving_s += moves.summary.total_time_s;
        let stays = run(&[seed, "redeploy.method=none"]);
        assert_eq!(flights(&stays), (0, false), "{seed}");
        staying_s += stays.summary.total_time_s;
    }
    assert!(moving_s < 0.8 * staying_s, "{moving_s} s, {staying_s} s");
}

/// The crowd loses its cover when the accuracy that the run is made for has been reached: nobody flies, and nobody asks.
#[test]
fn nobody_flies_for_a_target_that_is_reached() {
    let settings = ["stop.target_accuracy=1", "stop.targets=[0.1, 0.2]"];
    let outcome = run(&[settings[0], settings[1], "stop.max_rounds=60"]);
    let before_the_loss = outcome.records[..5].iter();
    assert!(before_the_loss.last().unwrap().test_accuracy >= 0.2);
    assert_eq!(flights(&outcome), (0, false));
    // With an aim ahead of it the same fleet moves.
    let outcome = run(&[settings[0], "stop.targets=[0.84]", "stop.max_rounds=60"]);
    assert_eq!(flights(&outcome), (1, true));
}

/// The same crowd in a training that is nearly over: all stay, and the run is to the bit that of a fleet that cannot move.
#[test]
fn who_stays_loses_nothing() {
    let short = ["stop.target_accuracy=1", "stop.max_rounds=8"];
    let stays = run(&short);
    assert_eq!(flights(&stays), (0, true));
    let never = run(&[short[0], short[1], "redeploy.method=none"]);
    let of = |outcome: &Outcome| {
        let summary = &outcome.summary;
        let costs = [summary.total_time_s, summary.total_energy_j];
        (costs, summary.final_accuracy, outcome.weights.clone())
    };
    assert_eq!(of(&stays), of(&never));
}
