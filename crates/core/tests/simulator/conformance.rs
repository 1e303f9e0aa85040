//! What every registered method must do, whatever it is: a new entry in the registry is tested here without
//! a line of its own. That each of them can be set down and taken up again is tested in `resume.rs`.

use std::collections::BTreeMap;

use crate::common::{run, tiny};
use aerofed::method::{Registry, Schedule};
use aerofed::record::{EnergyItem, EventKind, RoundRecord, StoppedBy};
use aerofed::run::Outcome;
use aerofed::world::DeviceId;
use aerofed::{Method, Simulation, ValidScenario};

/// Small, with personal samples for methods that compare models.
fn small(method: &str, more: &[&str]) -> ValidScenario {
    let method = format!("method={method}");
    let method: Vec<&str> = method.split(' ').collect();
    tiny(&[&method[..], more].concat())
}

/// Methods, and what makes another one of them, after a space.
pub(crate) const VARIANTS: [&str; 1] = ["cehfed association.kind=td3"];

pub(crate) fn each_method(check: impl Fn(&str)) {
    let registry = Registry::builtin();
    registry.names().chain(VARIANTS).for_each(check);
}

fn is_asynchronous(scenario: &ValidScenario) -> bool {
    let schedule = Method::of(scenario).unwrap().schedule;
    matches!(schedule, Schedule::Asynchronous { .. })
}

/// Relative to the larger of the two, or to 1.
fn assert_close(a: f64, b: f64, what: &str) {
    let scale = a.abs().max(b.abs()).max(1.0);
    assert!((a - b).abs() <= 1e-9 * scale, "{what}: {a} and {b}");
}

/// Before + recharged = after + items, batteries carry over, and totals are the sums of their items.
pub(crate) fn assert_books_balance(method: &str, outcome: &Outcome, full_j: f64) {
    let mut left_j = vec![full_j; outcome.world.uavs.len()];
    let (mut clock_s, mut spent_j) = (0.0, 0.0);
    for record in &outcome.records {
        let what = format!("{method}, round {}", record.round);
        for (uav, left_j) in record.uavs.iter().zip(&mut left_j) {
            assert_eq!(uav.battery_before_j, *left_j, "{what}");
            let in_j = uav.battery_before_j + uav.recharged_j + uav.harvested_j;
            assert_close(in_j, uav.battery_after_j + uav.energy.total_j(), &what);
            assert!(uav.battery_after_j >= 0.0, "{what}");
            *left_j = uav.battery_after_j;
        }
        for item in EnergyItem::ALL {
            let by_uavs: f64 = record.uavs.iter().map(|uav| uav.energy.get(item)).sum();
            let device_item = matches!(item, EnergyItem::DeviceCompute | EnergyItem::DeviceUpload);
            match device_item {
                true => assert!(record.energy.get(item) >= by_uavs, "{what}"),
                false => assert_close(record.energy.get(item), by_uavs, &what),
            }
        }
        clock_s += record.time.total_s();
        spent_j += record.energy.spent_j();
        assert_close(record.clock_s, clock_s, &what);
        assert_close(record.cumulative_energy_j, spent_j, &what);
        assert!(record.updates_lost <= record.updates_computed, "{what}");
    }
    assert_close(outcome.summary.total_time_s, clock_s, method);
    assert_close(outcome.summary.total_energy_j, spent_j, method);
    assert!(
        spent_j > 0.0 && spent_j.is_finite() && clock_s > 0.0,
        "{method}"
    );
}

/// Nobody trains under two UAVs in a round; where cells run on their own, a device may change its
/// UAV in a round, but trains with one at a time (`nobody_trains_in_two_cells_at_once`).
fn assert_partition(method: &str, record: &RoundRecord) {
    let mut trained: Vec<DeviceId> = record
        .uavs
        .iter()
        .flat_map(|uav| uav.devices.clone())
        .collect();
    let all = trained.len();
    trained.sort_unstable();
    trained.dedup();
    assert_eq!(trained.len(), all, "{method}, round {}", record.round);
    assert!(record.selected <= record.covered, "{method}");
}

#[test]
fn books_balance_and_nobody_trains_twice() {
    each_method(|name| {
        let scenario = small(
            name,
            &["stop.max_rounds=4", "redeploy.method=marginal_gains"],
        );
        let outcome = run(&scenario, 2);
        assert_eq!(outcome.summary.stopped_by, StoppedBy::MaxRounds, "{name}");
        assert_books_balance(name, &outcome, scenario.full_battery_j(0));
        for record in &outcome.records {
            assert!(
                record.aggregator.is_some() && record.updates_computed > 0,
                "{name}"
            );
            if !is_asynchronous(&scenario) {
                assert_partition(name, record);
                let once = record.edge_rounds * record.selected;
                assert_eq!(record.updates_computed, once, "{name}");
            }
        }
    });
}

/// Also after a loss, when some methods move their UAVs and others do not.
#[test]
fn devices_and_their_ways_are_the_same_for_every_method() {
    let loss = "faults=[{kind=\"loss\", uav=0, round=2}]";
    let settings = [loss, "redeploy.method=marginal_gains"];
    let worlds = |name: &str| {
        let scenario = small(name, &settings);
        let mut simulation = Simulation::builder(&scenario).threads(2).build().unwrap();
        let mut method = Method::of(&scenario).unwrap();
        let round = |_| {
            simulation.step(&mut method).unwrap().unwrap();
            simulation.world().devices.clone()
        };
        (0..4).map(round).collect::<Vec<_>>()
    };
    let expected = worlds("cehfed");
    assert_ne!(expected[0].position, expected[3].position, "nobody moves");
    each_method(|name| {
        for (ours, expected) in worlds(name).iter().zip(&expected) {
            assert_eq!(ours.position, expected.position, "{name}");
            assert_eq!(ours.cpu_hz, expected.cpu_hz, "{name}");
            assert_eq!(ours.tx_power_w, expected.tx_power_w, "{name}");
            assert_eq!(ours.samples, expected.samples, "{name}");
        }
    });
}

#[test]
fn bytes_do_not_depend_on_threads() {
    each_method(|name| {
        let scenario = small(name, &["stop.max_rounds=2"]);
        let bytes = |threads| {
            let outcome = run(&scenario, threads);
            let records = serde_json::to_string(&outcome.records).unwrap();
            let weights: Vec<u32> = outcome.weights.iter().map(|w| w.to_bits()).collect();
            (records, weights)
        };
        let one = bytes(1);
        assert!(one.0.len() > 1_000);
        assert_eq!(one, bytes(2), "{name}");
        assert_eq!(one, bytes(8), "{name}");
    });
}

const FAULTS: [(&str, &str); 8] = [
    ("drain", "{kind=\"drain\", uav=0, round=2}"),
    ("loss before", "{kind=\"loss\", uav=0, round=2}"),
    (
        "loss between",
        "{kind=\"loss\", uav=0, round=2, moment=\"edge\", edge_round=2}",
    ),
    (
        "warned",
        "{kind=\"loss\", uav=0, round=2, moment=\"edge\", warned=true}",
    ),
    (
        "aggregator",
        "{kind=\"loss\", uav=4, round=2, moment=\"aggregating\"}",
    ),
    (
        "links",
        "{kind=\"link_outage\", uavs=[4, 0], from=2, until=2}, {kind=\"link_outage\", uavs=[4, 1], from=2, until=3}",
    ),
    (
        "leak",
        "{kind=\"leak\", uav=1, from=1, until=9, power_w=1e7}",
    ),
    (
        "cut off",
        "{kind=\"cell_outage\", uav=2, from=2, until=2}, {kind=\"device_crash\", device=3, from=1, until=3}",
    ),
];

#[test]
fn faults_are_survived_and_accounted_for() {
    each_method(|name| {
        for (fault, text) in FAULTS {
            let faults = format!("faults=[{text}]");
            let scenario = small(name, &[&faults, "stop.max_rounds=4"]);
            let outcome = run(&scenario, 2);
            let what = format!("{name}, {fault}");
            assert_eq!(outcome.summary.stopped_by, StoppedBy::MaxRounds, "{what}");
            assert_books_balance(&what, &outcome, scenario.full_battery_j(0));
            assert!(outcome.weights.iter().all(|w| w.is_finite()), "{what}");
            assert!(outcome.records[3].aggregator.is_some(), "{what}");
            let gone = match fault {
                "drain" | "loss before" | "loss between" | "warned" => Some(0),
                "aggregator" => Some(4),
                "leak" => Some(1),
                _ => None,
            };
            for (uav, record) in outcome.records[3].uavs.iter().enumerate() {
                // Nobody drains to the reserve where nobody keeps one.
                let unchecked = fault == "drain" && !Method::of(&scenario).unwrap().checks_energy;
                let served = !record.devices.is_empty();
                assert!(
                    Some(uav) != gone || !served || unchecked,
                    "{what}: UAV {uav}"
                );
            }
            if fault == "cut off" {
                let trained = |round: usize, uav: usize| &outcome.records[round].uavs[uav].devices;
                assert!(trained(1, 2).is_empty(), "{what}");
                let mut all =
                    (0..3).flat_map(|round| (0..5).flat_map(move |uav| trained(round, uav)));
                assert!(all.all(|device| device.0 != 3), "{what}");
            }
            let told: usize = outcome
                .records
                .iter()
                .flat_map(|record| &record.events)
                .map(|event| match event.kind {
                    EventKind::UavDepleted { updates_lost, .. }
                    | EventKind::UavLost { updates_lost, .. }
                    | EventKind::ModelStranded { updates_lost, .. } => updates_lost,
                    _ => 0,
                })
                .sum();
            assert_eq!(told, outcome.summary.updates_lost, "{what}");
            let may_lose = matches!(fault, "loss between" | "aggregator" | "leak")
                || is_asynchronous(&scenario) && fault == "loss before";
            assert!(may_lose || told == 0, "{what}: {told} updates lost");
        }
    });
}

#[test]
fn batteries_end_and_the_run_does_too() {
    each_method(|name| {
        let scenario = small(
            name,
            &[
                "uavs.battery_j=6e4",
                "uavs.recharge_w=0",
                "uavs.bandwidth_up_hz=[2e4, 4e4]",
                "stop.max_rounds=500",
            ],
        );
        let outcome = run(&scenario, 2);
        assert_eq!(outcome.summary.stopped_by, StoppedBy::NoUavLeft, "{name}");
        assert_books_balance(name, &outcome, scenario.full_battery_j(0));
        let careful = Method::of(&scenario).unwrap().checks_energy;
        assert!(!careful || outcome.summary.updates_lost == 0, "{name}");
    });
}

#[test]
fn accuracy_improves_on_an_easy_task() {
    each_method(|name| {
        let easy = [
            "data.partition={kind=\"iid\"}",
            "data.data_volume=900",
            "training.max_edge_rounds=4",
            "stop.max_rounds=10",
        ];
        let outcome = run(&small(name, &easy), 2);
        let last = outcome.summary.final_accuracy;
        assert!(last > 0.7, "{name}: {last}");
        let first = outcome.records[0].test_accuracy;
        assert!(last > first, "{name}: {first}, then {last}");
    });
}

/// Where cells run on their own: arrivals come in the order of time, and their staleness is what they missed.
#[test]
fn asynchronous_time_runs_forward_and_staleness_counts_merges() {
    each_method(|name| {
        let scenario = small(name, &["stop.max_rounds=6", "mobility.hop_probability=0.5"]);
        if !is_asynchronous(&scenario) {
            return;
        }
        let outcome = run(&scenario, 2);
        let events = outcome.records.iter().flat_map(|record| &record.events);
        let arrivals: Vec<(u32, f64, usize)> = events
            .filter_map(|event| match event.kind {
                EventKind::ModelArrived {
                    uav,
                    time_s,
                    staleness,
                } => Some((uav.0, time_s, staleness)),
                _ => None,
            })
            .collect();
        assert!(arrivals.len() >= 20);
        assert!(
            arrivals.windows(2).all(|two| two[0].1 <= two[1].1),
            "time runs forward"
        );
        // Staleness by hand: the merges between a cell's own arrival, when it fetched, and its next.
        let mut merged_at: BTreeMap<u32, usize> = BTreeMap::new();
        for (merges, (uav, _, staleness)) in arrivals.iter().enumerate() {
            let fetched = merged_at.insert(*uav, merges + 1).unwrap_or(0);
            assert_eq!(*staleness, merges - fetched, "{name}: {arrivals:?}");
        }
    });
}
