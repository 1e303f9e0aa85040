//! Energy books: every joule that leaves a battery has a line, in any world.

use crate::common::{assert_balanced, assert_time_adds_up, cases, light, run, tiny};
use aerofed::record::{EnergyItem, EventKind, StoppedBy};
use aerofed::world::Status;
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn batteries_balance_and_carry_over_in_random_worlds(
        seed in 0u64..1_000,
        battery_kj in prop_oneof![0.001..1.0f64, 1.0..50.0f64, 50.0..300.0f64],
        uavs in 1usize..7,
        hop in 0.0..1.0f64,
        recharge_w in prop_oneof![Just(0.0), 100.0..1e6f64],
        reserve in prop_oneof![Just("return"), Just("none")],
        radius_m in prop_oneof![100.0..1e3f64, 3e3..2e4f64],
        method in prop_oneof![Just("hfl"), Just("direct_drop"), Just("cfed"), Just("hfedat"), Just("fixed_threshold")],
        waiting in prop_oneof![Just("hover"), Just("free")],
        redeploy in prop_oneof![Just("none"), Just("two_stage"), Just("joint_greedy"), Just("marginal_gains")],
        when in prop_oneof![Just("worthwhile"), Just("on_change"), Just("every_round")],
        wait: bool,
        fault in prop_oneof![
            Just(""),
            Just("{kind=\"loss\", uav=0, round=2, moment=\"edge\"}"),
            Just("{kind=\"loss\", uav=0, round=2, moment=\"aggregating\"}"),
            Just("{kind=\"drain\", uav=0, round=2}"),
            // The others may be in flight when the next is struck.
            Just("{kind=\"loss\", uav=0, round=1}, {kind=\"loss\", uav=1, round=2}"),
            Just("{kind=\"loss\", uav=0, round=1}, {kind=\"loss\", uav=1, round=2, moment=\"edge\", warned=true}"),
            Just("{kind=\"loss\", uav=0, round=1}, {kind=\"leak\", uav=1, from=2, until=9, power_w=3e4}"),
            Just("{kind=\"leak\", uav=0, from=1, until=9, power_w=300}"),
        ],
    ) {
        let fault = fault.replace("uav=1", &format!("uav={}", (uavs - 1).min(1)));
        let scenario = tiny(&[
            &format!("seed={seed}"),
            &format!("uavs.battery_j={}", battery_kj * 1e3),
            &format!("uavs.count={uavs}"),
            &format!("mobility.hop_probability={hop}"),
            &format!("uavs.recharge_w={recharge_w}"),
            &format!("uavs.reserve={reserve}"),
            &format!("uavs.coverage_radius_m={radius_m}"),
            &format!("method={method}"),
            &format!("redeploy={{method={redeploy:?}, when={when:?}, wait={wait}}}"),
            &format!("faults=[{fault}]"),
            &format!("uavs.waiting={waiting}"),
            "stop.max_rounds=5",
        ]);
        let outcome = run(&scenario, 2);
        let mut left: Vec<f64> = vec![scenario.full_battery_j(0); uavs];
        let mut clock_s = 0.0;
        for record in &outcome.records {
            assert_time_adds_up(record);
            if waiting == "free" {
                prop_assert_eq!(record.energy.get(EnergyItem::Waiting), 0.0);
            }
            for uav in &record.uavs {
                assert_balanced(uav);
                prop_assert_eq!(uav.battery_before_j, left[uav.uav.index()]);
                left[uav.uav.index()] = uav.battery_after_j;
            }
            let by_uavs: f64 = record.uavs.iter().map(|uav| uav.energy.total_j()).sum();
            let by_devices = record.energy.get(EnergyItem::DeviceCompute) + record.energy.get(EnergyItem::DeviceUpload);
            let total = record.energy.total_j();
            prop_assert!((by_uavs + by_devices - total).abs() <= 1e-9 * total.max(1.0));
            clock_s += record.time.total_s();
            prop_assert!((record.clock_s - clock_s).abs() <= 1e-9 * clock_s.max(1.0));
            prop_assert!(record.updates_lost <= record.updates_computed);
            // Under hfedat devices may leave a cell in whose pass they are.
            prop_assert!(record.selected <= record.covered || method == "hfedat");
        }
        let total = outcome.summary.total_energy_j;
        prop_assert!(total.is_finite() && outcome.summary.total_time_s.is_finite());
    }

    /// With the way home kept back and a battery that could pay it at first, nobody falls from the sky.
    #[test]
    fn the_reserve_brings_everybody_home(
        seed in 0u64..1_000,
        battery_kj in 171.0..173.0f64,
        recharge_w in prop_oneof![Just(0.0), 100.0..1e5f64],
    ) {
        let scenario = tiny(&[
            &format!("seed={seed}"),
            &format!("uavs.battery_j={}", battery_kj * 1e3),
            &format!("uavs.recharge_w={recharge_w}"),
            "uavs.bandwidth_up_hz=[2e4, 1e5]",
            "stop.max_rounds=4",
        ]);
        let outcome = run(&scenario, 2);
        for record in &outcome.records {
            prop_assert_eq!(record.updates_lost, 0);
            for uav in &record.uavs {
                prop_assert_ne!(uav.status, Status::Lost);
            }
        }
    }
}

fn events(outcome: &aerofed::run::Outcome) -> Vec<EventKind> {
    outcome
        .records
        .iter()
        .flat_map(|r| r.events.iter().map(|e| e.kind.clone()))
        .collect()
}

/// One UAV, 5 km from the base: the way home costs 40 kJ, an edge round some 1 kJ.
const ALONE: [&str; 5] = [
    "uavs.count=1",
    "uavs.base_m=[0, 0]",
    "uavs.layout={kind=\"fixed\", positions_m=[[3000, 4000]]}",
    "uavs.bandwidth_up_hz=[1e4, 1e4]",
    "stop.max_rounds=60",
];

#[test]
fn a_low_uav_hands_over_leaves_charges_and_returns() {
    let mut settings = ALONE.to_vec();
    settings.extend(["uavs.battery_j=90000", "uavs.recharge_w=1000"]);
    let outcome = run(&tiny(&settings), 2);
    let kinds = events(&outcome);
    let position = |wanted: fn(&EventKind) -> bool| kinds.iter().position(wanted);
    let low = position(|e| matches!(e, EventKind::UavLow { .. })).unwrap();
    let left = position(|e| {
        matches!(
            e,
            EventKind::UavLeft {
                returns_at_s: Some(_),
                ..
            }
        )
    })
    .unwrap();
    let waited = position(|e| matches!(e, EventKind::Waited { .. })).unwrap();
    let returned = position(|e| matches!(e, EventKind::UavReturned { .. })).unwrap();
    assert!(
        low < left && left < waited && waited < returned,
        "{kinds:?}"
    );
    assert_eq!(outcome.summary.updates_lost, 0);
    assert_eq!(outcome.summary.stopped_by, StoppedBy::MaxRounds);
    // 5 km home and out at 20 m/s, and at most 90 s of charging, all while nobody trains.
    let wait_s = outcome
        .records
        .iter()
        .map(|r| r.time.get(aerofed::record::TimeItem::Wait))
        .fold(0.0, f64::max);
    assert!((500.0..600.0).contains(&wait_s), "{wait_s}");
}

#[test]
fn a_low_uav_ends_the_global_round_early() {
    let mut settings = ALONE.to_vec();
    settings.extend([
        "uavs.battery_j=81000",
        "training.max_edge_rounds=1000",
        "stop.max_rounds=1",
    ]);
    let outcome = run(&tiny(&settings), 2);
    let record = &outcome.records[0];
    assert!(
        record.edge_rounds > 1 && record.edge_rounds < 1_000,
        "{}",
        record.edge_rounds
    );
    assert!(record.aggregator.is_some());
    assert_eq!(record.updates_lost, 0);
}

#[test]
fn without_a_charger_the_run_ends_when_nobody_is_left() {
    let mut settings = ALONE.to_vec();
    settings.extend(["uavs.battery_j=41000", "uavs.recharge_w=0"]);
    let outcome = run(&tiny(&settings), 2);
    assert_eq!(outcome.summary.stopped_by, StoppedBy::NoUavLeft);
    assert!(
        outcome
            .records
            .last()
            .unwrap()
            .uavs
            .iter()
            .all(|uav| uav.status == Status::Grounded)
    );
}

#[test]
fn a_battery_that_dies_in_round_1_is_an_outcome() {
    let outcome = run(&tiny(&["uavs.battery_j=5"]), 2);
    assert_eq!(outcome.summary.stopped_by, StoppedBy::NoUavLeft);
    assert_eq!(outcome.records.len(), 1);
    assert_eq!(outcome.summary.updates_computed, 0);
}

/// The paper's literal rule lets a UAV go on until it cannot even hand over.
#[test]
fn without_a_reserve_updates_can_be_lost_and_the_record_says_so() {
    let lost: usize = (0..40)
        .map(|step| {
            let battery = format!("uavs.battery_j={}", 50.0 + 5.0 * f64::from(step));
            let settings = [&battery, "uavs.reserve=none", "uavs.count=2"];
            let more = [
                "uavs.bandwidth_up_hz=[1e6, 2e6]",
                "radio.uav_link_bandwidth_hz=1e4",
                "stop.max_rounds=2",
            ];
            let outcome = run(&tiny(&[&settings[..], &more[..]].concat()), 2);
            let told: usize = events(&outcome)
                .iter()
                .map(|e| {
                    if let EventKind::UavDepleted { updates_lost, .. } = e {
                        *updates_lost
                    } else {
                        0
                    }
                })
                .sum();
            assert_eq!(told, outcome.summary.updates_lost);
            told
        })
        .sum();
    assert!(lost > 0);
}

/// By hand: a UAV that waits pays its hovering power for as long as it waits, and nothing else changes.
#[test]
fn waiting_takes_hovering_power_and_moves_nothing_else() {
    let with = |waiting: &str| run(&light(&[&format!("uavs.waiting={waiting}")]), 2);
    let (hover, free) = (with("hover"), with("free"));
    let mut waited_s = 0.0;
    for (hover, free) in hover.records.iter().zip(&free.records) {
        for (hover, free) in hover.uavs.iter().zip(&free.uavs) {
            let seconds = hover.time.get(EnergyItem::Waiting);
            let joules = hover.energy.get(EnergyItem::Waiting);
            assert!((joules - 100.0 * seconds).abs() <= 1e-9 * joules.max(1.0));
            assert_eq!(hover.time, free.time);
            for item in EnergyItem::ALL
                .into_iter()
                .filter(|item| *item != EnergyItem::Waiting)
            {
                assert_eq!(hover.energy.get(item), free.energy.get(item));
            }
            waited_s += seconds;
        }
        assert_eq!((hover.time, hover.test_loss), (free.time, free.test_loss));
    }
    assert!(waited_s > 0.0);
}

/// One cell is five times as slow as the other: the quick UAV would fall while it waits, and goes home instead, with its model
/// handed over.
#[test]
fn who_cannot_afford_to_wait_leaves_in_time() {
    let settings = |battery_j: f64, waiting: &str| {
        light(&[
            "uavs.count=2",
            "uavs.layout={kind=\"fixed\", positions_m=[[1000, 1000], [19000, 19000]]}",
            "uavs.base_m=[1000, 1000]",
            "uavs.coverage_radius_m=14000",
            "uavs.recharge_w=0",
            "devices.cpu_hz=[1e6, 1e7]",
            "mobility.kind=static",
            "training.max_edge_rounds=4",
            "stop.max_rounds=12",
            &format!("uavs.battery_j={battery_j}"),
            &format!("uavs.waiting={waiting}"),
        ])
    };
    let mut left_in_time = 0;
    for battery_kj in 206..=260 {
        let outcome = run(&settings(f64::from(battery_kj) * 1e3, "hover"), 2);
        for record in &outcome.records {
            assert_time_adds_up(record);
            assert_eq!(record.updates_lost, 0);
            let fallen = |uav: &aerofed::record::UavRecord| uav.status == Status::Lost;
            assert!(
                !record.uavs.iter().any(fallen),
                "{battery_kj} kJ: {:?}",
                record.events
            );
            left_in_time += record
                .events
                .iter()
                .filter(|event| matches!(event.kind, EventKind::UavLeft { .. }))
                .count();
        }
    }
    assert!(left_in_time > 0);
}
