//! Worlds at the edge of what can be asked for: each runs, and says what happened.

use std::ops::ControlFlow;

use crate::common::run_on;
use crate::common::{TINY, light, run};
use aerofed::geometry::Point;
use aerofed::learn::data::{Data, partition_plan};
use aerofed::method::Registry;
use aerofed::record::{EnergyItem, EventKind, RoundRecord, StoppedBy, TimeItem};
use aerofed::run::Outcome;
use aerofed::seed::{Stream, stream};
use aerofed::world::{Status, UavId};
use aerofed::{Method, Scenario, Simulation};

/// Runs a world with every method, each of which must keep its wits, and returns what `hfl` made of it.
fn with_every_method(settings: &[&str]) -> Outcome {
    for entry in Registry::builtin().entries() {
        let named = format!("method={}", entry.name());
        let scenario = light(&[settings, &[&named]].concat());
        let outcome = run(&scenario, 2);
        let summary = &outcome.summary;
        assert!(summary.rounds <= scenario.stop.max_rounds);
        assert!(
            summary.total_time_s.is_finite() && summary.total_energy_j.is_finite(),
            "{}: {summary:?}",
            entry.name()
        );
        assert!(outcome.records.iter().all(|record| {
            (0.0..=1.0).contains(&record.test_accuracy)
                && record.updates_lost <= record.updates_computed
        }));
    }
    run(&light(&[settings, &["method=hfl"]].concat()), 2)
}

fn tells(record: &RoundRecord, wanted: impl Fn(&EventKind) -> bool) -> bool {
    record.events.iter().any(|event| wanted(&event.kind))
}

/// Where a device is in round 1.
fn place_of(device: usize, settings: &[&str]) -> Point {
    let simulation = Simulation::builder(&light(settings))
        .threads(1)
        .build()
        .unwrap();
    simulation.world().devices.position[device]
}

fn fixed(posts: &[Point]) -> [String; 2] {
    let posts: Vec<String> = posts
        .iter()
        .map(|at| format!("[{:?}, {:?}]", at.x_m, at.y_m))
        .collect();
    [
        format!("uavs.count={}", posts.len()),
        format!(
            "uavs.layout={{kind=\"fixed\", positions_m=[{}]}}",
            posts.join(", ")
        ),
    ]
}

#[test]
fn no_device_covered() {
    let posts = fixed(&[Point::new(0.0, 0.0), Point::new(1.0, 1.0)]);
    let outcome = with_every_method(&[&posts[0], &posts[1], "uavs.coverage_radius_m=1"]);
    assert_eq!(outcome.summary.stopped_by, StoppedBy::MaxRounds);
    let first = &outcome.records[0];
    for record in &outcome.records {
        assert!(tells(record, |kind| *kind == EventKind::NobodyTrained));
        assert_eq!(
            (record.covered, record.selected, record.updates_computed),
            (0, 0, 0)
        );
        assert!(record.train_loss.is_nan() && record.aggregator.is_none());
        assert_eq!(
            (record.model_change, record.test_accuracy),
            (0.0, first.test_accuracy)
        );
    }
}

#[test]
fn one_uav_aggregates_for_itself() {
    let outcome = with_every_method(&[
        "uavs.count=1",
        "redeploy.method=two_stage",
        "aggregator=cost",
    ]);
    assert_eq!(outcome.summary.rounds, 3);
    for record in &outcome.records {
        assert_eq!(record.aggregator, Some(UavId(0)));
        assert!(record.updates_computed > 0 && record.updates_lost == 0);
        assert_eq!(record.time.get(TimeItem::Move), 0.0);
    }
}

#[test]
fn uavs_on_the_same_spot() {
    let spot = Point::new(5_000.0, 5_000.0);
    let posts = fixed(&[spot; 3]);
    for redeploy in ["none", "two_stage", "joint_greedy", "marginal_gains"] {
        let outcome = with_every_method(&[
            &posts[0],
            &posts[1],
            &format!("redeploy.method={redeploy}"),
            "redeploy.when=every_round",
        ]);
        let first = &outcome.records[0];
        let covered: Vec<usize> = first.uavs.iter().map(|uav| uav.covered).collect();
        assert_eq!(covered, [first.covered; 3], "all cover the same");
        // Equally near: the lower number serves.
        assert_eq!(first.uavs[0].devices.len(), first.covered);
        assert!(first.updates_computed > 0);
        let posts: Vec<Point> = outcome.records[2]
            .uavs
            .iter()
            .map(|uav| uav.position_m)
            .collect();
        let apart = posts[1..].iter().any(|post| *post != posts[0]);
        assert_eq!(apart, redeploy != "none", "{redeploy}: {posts:?}");
    }
}

#[test]
fn a_device_exactly_under_a_uav() {
    let under = place_of(0, &[]);
    for altitude in ["uavs.altitude_m=1", "uavs.altitude_m=100"] {
        for allocation in ["equal", "p1"] {
            let posts = fixed(&[under]);
            let outcome = with_every_method(&[
                &posts[0],
                &posts[1],
                altitude,
                "uavs.coverage_radius_m=1",
                "mobility.kind=static",
                &format!("allocation={{kind=\"{allocation}\"}}"),
            ]);
            for record in &outcome.records {
                assert_eq!((record.covered, record.selected), (1, 1));
                assert_eq!(record.updates_computed, 2);
                assert!(record.time.get(TimeItem::Upload) > 0.0);
            }
        }
    }
}

#[test]
fn a_device_exactly_on_the_coverage_edge_is_covered() {
    let device = place_of(0, &[]);
    let post = Point::new(
        if device.x_m > 5_000.0 {
            device.x_m - 300.0
        } else {
            device.x_m + 300.0
        },
        device.y_m,
    );
    let posts = fixed(&[post]);
    let radius_m = device.distance(post);
    let covered = |radius_m: f64| {
        let scenario = light(&[
            &posts[0],
            &posts[1],
            &format!("uavs.coverage_radius_m={radius_m:?}"),
        ]);
        let coverage = Simulation::builder(&scenario)
            .threads(1)
            .build()
            .unwrap()
            .world()
            .coverage();
        coverage.nearest[0]
    };
    assert_eq!(covered(radius_m), Some(UavId(0)));
    assert_eq!(covered(radius_m.next_down()), None);
    let outcome = with_every_method(&[
        &posts[0],
        &posts[1],
        &format!("uavs.coverage_radius_m={radius_m:?}"),
        "mobility.kind=static",
    ]);
    assert!(
        outcome
            .records
            .iter()
            .all(|record| record.uavs[0].devices.iter().any(|id| id.0 == 0))
    );
}

#[test]
fn no_bandwidth_is_refused_and_the_least_there_can_be_is_slow_or_too_late() {
    let refused = Scenario::parse(TINY, &["uavs.bandwidth_up_hz=[0, 0]"])
        .unwrap()
        .check();
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("uavs.bandwidth_up_hz")
    );
    let least = [
        "uavs.bandwidth_up_hz=[1, 1]",
        "uavs.bandwidth_down_hz=[1, 1]",
        "stop.max_rounds=2",
    ];
    for allocation in ["allocation={kind=\"equal\"}", "allocation={kind=\"p1\"}"] {
        // Hovering that long empties any battery: nobody even starts.
        let outcome = with_every_method(&[&least[..], &[allocation]].concat());
        assert_eq!(outcome.summary.updates_computed, 0);
        assert!(tells(&outcome.records[0], |kind| matches!(
            kind,
            EventKind::UavLow { .. }
        )));
        // With a deadline nobody is chosen, and the UAVs stay.
        let late = [&least[..], &[allocation, "devices.deadline_s=60"]].concat();
        let outcome = with_every_method(&late);
        assert_eq!(outcome.summary.rounds, 2);
        for record in &outcome.records {
            assert!(tells(record, |kind| *kind == EventKind::NobodyTrained));
            assert!(record.covered > 0 && record.selected == 0);
            assert!(record.uavs.iter().all(|uav| uav.status == Status::Active));
        }
    }
}

/// Links that carry nothing are an outage, whatever shares the bandwidth: nobody is covered over them, and the run goes on.
#[test]
fn a_link_too_weak_to_ever_send() {
    let weak = [
        "devices.tx_power_w=[1e-6, 1e-6]",
        "radio.noise_dbm_per_hz=-150",
        "channel.exponent_up=6",
        "uavs.altitude_m=1500",
        "stop.max_rounds=2",
    ];
    for allocation in ["allocation.kind=equal", "allocation.kind=p1"] {
        let outcome = with_every_method(&[&weak[..], &[allocation]].concat());
        assert_eq!(outcome.summary.rounds, 2);
        assert_eq!(outcome.summary.updates_computed, 0);
        for record in &outcome.records {
            assert!(tells(
                record,
                |kind| matches!(kind, EventKind::DevicesOutOfReach { devices, .. } if *devices > 0)
            ));
            assert_eq!(record.covered, 0);
        }
    }
}

/// Then the global model stands in for the UAV's own.
#[test]
fn uavs_without_samples_of_their_own() {
    let outcome = with_every_method(&["data.personal_samples=0"]);
    assert!(outcome.summary.updates_computed > 0);
}

#[test]
fn one_sample_a_device() {
    let outcome = with_every_method(&["data.data_volume=30", "data.partition={kind=\"iid\"}"]);
    assert_eq!(outcome.world.devices.samples, [1; 30]);
    assert_eq!(outcome.summary.rounds, 3);
    assert!(
        outcome
            .records
            .iter()
            .all(|record| record.updates_computed > 0 && record.train_loss.is_finite())
    );
}

/// Three devices of two labels each: at least four of the ten are nobody's.
#[test]
fn a_class_nobody_holds() {
    let settings = [
        "devices.count=3",
        "data.data_volume=60",
        "uavs.coverage_radius_m=20000",
        "stop.max_rounds=6",
    ];
    let scenario = light(&settings);
    let data = Data::load(&scenario).unwrap().train;
    let mut rng = stream(scenario.seed, Stream::Partition, 0, 0);
    let held = aerofed_data::partition(&data, &partition_plan(&scenario), &mut rng)
        .unwrap()
        .devices;
    let mut labels: Vec<_> = held
        .iter()
        .flatten()
        .map(|&sample| data.labels[sample as usize])
        .collect();
    labels.sort_unstable();
    labels.dedup();
    assert!(labels.len() <= 6, "{labels:?}");

    let outcome = with_every_method(&settings);
    assert_eq!(outcome.summary.rounds, 6);
    let last = outcome.records.last().unwrap();
    // Every class has a tenth of the test set, and those that nobody holds cannot be learned.
    assert!(
        last.test_accuracy < 0.1 * labels.len() as f64 + 0.1,
        "{}",
        last.test_accuracy
    );
    assert!(last.test_loss.is_finite() && last.train_loss < outcome.records[0].train_loss);
}

#[test]
fn batteries_that_die_in_the_first_round() {
    // Too little for an edge round and the way home: nobody starts, and nobody gets home.
    let outcome = with_every_method(&["uavs.battery_j=5", "uavs.base_m=[0, 0]"]);
    assert_eq!(
        (outcome.summary.stopped_by, outcome.summary.rounds),
        (StoppedBy::NoUavLeft, 1)
    );
    let only = &outcome.records[0];
    let fell = |item: EnergyItem| move |kind: &EventKind| matches!(kind, EventKind::UavDepleted { during, .. } if *during == item);
    assert!(tells(only, fell(EnergyItem::ReturnFlight)));
    assert!(
        only.uavs
            .iter()
            .all(|uav| uav.status == Status::Lost && uav.battery_after_j == 0.0)
    );
    assert_eq!(only.updates_computed, 0);

    // Who does not check starts, and falls with what its devices computed.
    let scenario = light(&["uavs.battery_j=1", "uavs.bandwidth_up_hz=[1e4, 1e4]"]);
    let mut method = Method {
        checks_energy: false,
        ..Method::named("hfl", &scenario).unwrap()
    };
    let outcome = run_on(&scenario, &mut method, 2, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(
        (outcome.summary.stopped_by, outcome.summary.rounds),
        (StoppedBy::NoUavLeft, 1)
    );
    let only = &outcome.records[0];
    assert!(tells(only, fell(EnergyItem::EdgeHover)));
    assert!(only.updates_computed > 0 && only.updates_aggregated() == 0);
}

#[test]
fn all_uavs_gone() {
    for moment in ["before", "edge", "aggregating"] {
        for warned in [true, false] {
            let losses: Vec<String> = (0..5)
                .map(|uav| format!("{{kind=\"loss\", uav={uav}, round=2, moment=\"{moment}\", warned={warned}}}"))
                .collect();
            let faults = format!("faults=[{}]", losses.join(", "));
            let outcome = with_every_method(&[&faults, "redeploy.method=two_stage"]);
            let summary = &outcome.summary;
            assert_eq!(
                (summary.stopped_by, summary.rounds),
                (StoppedBy::NoUavLeft, 2),
                "{moment} {warned}"
            );
            let end = if warned {
                Status::Grounded
            } else {
                Status::Lost
            };
            assert!(outcome.world.uavs.iter().all(|uav| uav.status == end));
            // Whoever aggregates next falls, too. Warned, they hand over what was computed; otherwise the model of round 1 stays.
            let second = &outcome.records[1];
            match (moment, warned) {
                ("before", _) => assert_eq!(second.updates_computed, 0),
                (_, true) => assert!(second.updates_aggregated() > 0 && second.updates_lost == 0),
                (_, false) => {
                    assert_eq!((second.updates_aggregated(), second.model_change), (0, 0.0))
                }
            }
        }
    }
}

#[test]
fn a_loss_that_is_no_number_stops_the_run_and_is_recorded() {
    let outcome = with_every_method(&[
        "training.learning_rate=1000",
        "model.name=lenet5",
        "stop.max_rounds=20",
    ]);
    assert_eq!(outcome.summary.stopped_by, StoppedBy::Diverged);
    let (last, before) = outcome.records.split_last().unwrap();
    assert!(tells(last, |kind| *kind == EventKind::Diverged));
    assert!(!last.test_loss.is_finite(), "{}", last.test_loss);
    assert!(before.iter().all(|record| record.test_loss.is_finite()));
    // The record is whole: what was spent is in the books.
    assert!(last.energy.total_j() > 0.0 && outcome.summary.total_energy_j.is_finite());
    // In JSON what is no number is null.
    let json = serde_json::to_value(&outcome.summary).unwrap();
    assert!(json["final_loss"].is_null() && json["stopped_by"] == "diverged");
}
