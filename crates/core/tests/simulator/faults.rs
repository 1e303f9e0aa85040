//! Every injected fault is survived, and the record says what it cost.

use crate::common::{cases, run, tiny};
use aerofed::record::{EnergyItem, EventKind, RoundRecord, StoppedBy, TimeItem};
use aerofed::run::Outcome;
use aerofed::world::{Status, UavId};
use proptest::prelude::*;

fn with(faults: &str, more: &[&str]) -> Outcome {
    let faults = format!("faults=[{faults}]");
    run(
        &tiny(&[&["mobility.kind=static", faults.as_str()], more].concat()),
        2,
    )
}

fn has(record: &RoundRecord, wanted: impl Fn(&EventKind) -> bool) -> bool {
    record.events.iter().any(|event| wanted(&event.kind))
}

fn devices_of(record: &RoundRecord, uav: usize) -> usize {
    record.uavs[uav].devices.len()
}

#[test]
fn a_sudden_loss_before_a_round_costs_coverage_and_nothing_else() {
    let outcome = with("{kind=\"loss\", uav=0, round=2}", &[]);
    let [first, second, third] = &outcome.records[..] else {
        panic!()
    };
    assert!(has(second, |e| matches!(
        e,
        EventKind::UavLost {
            uav: UavId(0),
            updates_lost: 0
        }
    )));
    assert!(devices_of(first, 0) > 0 && devices_of(second, 0) == 0);
    assert_eq!(
        (second.uavs[0].status, third.uavs[0].status),
        (Status::Lost, Status::Lost)
    );
    assert!(second.covered < first.covered && second.updates_lost == 0);
    assert_eq!(outcome.summary.stopped_by, StoppedBy::MaxRounds);
}

#[test]
fn a_warned_loss_flies_home() {
    let outcome = with("{kind=\"loss\", uav=0, round=2, warned=true}", &[]);
    let uav = &outcome.records[1].uavs[0];
    assert_eq!(uav.status, Status::Grounded);
    assert!(uav.energy.get(EnergyItem::ReturnFlight) > 0.0);
    assert!(has(&outcome.records[1], |e| matches!(
        e,
        EventKind::UavLeft {
            returns_at_s: None,
            ..
        }
    )));
}

#[test]
fn a_sudden_loss_between_edge_rounds_takes_its_updates_along() {
    let outcome = with(
        "{kind=\"loss\", uav=0, round=2, moment=\"edge\", edge_round=1}",
        &[],
    );
    let record = &outcome.records[1];
    assert_eq!(record.updates_lost, devices_of(&outcome.records[0], 0));
    assert_eq!(record.edge_rounds, 2, "the others go on");
    assert!(record.aggregator.is_some());
    let trained: usize = (1..5).map(|uav| 2 * devices_of(record, uav)).sum();
    assert_eq!(record.updates_computed, trained + record.updates_lost);
}

#[test]
fn a_warned_loss_between_edge_rounds_hands_over() {
    let fault = "{kind=\"loss\", uav=0, round=2, moment=\"edge\", edge_round=1, warned=true}";
    let outcome = with(fault, &[]);
    let record = &outcome.records[1];
    assert_eq!((record.edge_rounds, record.updates_lost), (1, 0));
    assert_eq!(record.uavs[0].status, Status::Grounded);
    assert!(record.uavs[0].energy.get(EnergyItem::OffloadHover) > 0.0);
}

#[test]
fn when_the_aggregator_falls_another_one_merges() {
    let usual = with("", &[]);
    let middle = usual.records[1].aggregator.unwrap();
    let fault = |warned| {
        format!(
            "{{kind=\"loss\", uav={}, round=2, moment=\"aggregating\", warned={warned}}}",
            middle.0
        )
    };
    let outcome = with(&fault(false), &[]);
    let record = &outcome.records[1];
    assert!(record.aggregator.is_some() && record.aggregator != Some(middle));
    assert_eq!(record.updates_lost, 2 * devices_of(record, middle.index()));
    let offloads = |r: &RoundRecord| r.energy.get(EnergyItem::OffloadHover);
    assert!(
        offloads(record) > 1.2 * offloads(&usual.records[1]),
        "handed over twice"
    );
    let warned = with(&fault(true), &[]);
    assert_eq!(warned.records[1].updates_lost, 0);
    assert!(
        warned.records[1]
            .aggregator
            .is_some_and(|uav| uav != middle)
    );
    // A UAV that does not aggregate is not struck.
    let bystander = with(
        "{kind=\"loss\", uav=0, round=2, moment=\"aggregating\"}",
        &[],
    );
    assert_eq!(bystander.weights, usual.weights);
}

#[test]
fn a_drained_uav_trains_once_more_hands_over_and_leaves() {
    let outcome = with("{kind=\"drain\", uav=0, round=2}", &[]);
    let record = &outcome.records[1];
    assert!(has(record, |e| matches!(
        e,
        EventKind::UavDrained { uav: UavId(0), .. }
    )));
    assert!(has(record, |e| matches!(
        e,
        EventKind::UavLow { uav: UavId(0), .. }
    )));
    assert_eq!((record.edge_rounds, record.updates_lost), (1, 0));
    assert!(matches!(record.uavs[0].status, Status::Away { .. }));
    assert!(record.uavs[0].energy.get(EnergyItem::Drained) > 1e4);
}

#[test]
fn a_leak_costs_its_power_times_the_round() {
    let outcome = with("{kind=\"leak\", uav=2, from=2, until=2, power_w=50}", &[]);
    let leaked = |round: usize| {
        outcome.records[round].uavs[2]
            .energy
            .get(EnergyItem::Leaked)
    };
    let expected = 50.0 * outcome.records[1].time.total_s();
    assert!((leaked(1) - expected).abs() < 1e-9 && leaked(0) == 0.0 && leaked(2) == 0.0);
    let deadly = with("{kind=\"leak\", uav=2, from=1, until=9, power_w=1e9}", &[]);
    assert_eq!(deadly.records[0].uavs[2].status, Status::Lost);
    assert_eq!((deadly.summary.rounds, deadly.summary.updates_lost), (3, 0));
}

#[test]
fn an_outage_between_two_uavs_is_worked_around() {
    let usual = with("", &[]);
    let middle = usual.records[1].aggregator.unwrap().0;
    let other = (middle + 1) % 5;
    let outage = format!("{{kind=\"link_outage\", uavs=[{middle}, {other}], from=2, until=2}}");
    let record = &with(&outage, &[]).records[1];
    let aggregator = record.aggregator.unwrap().0;
    assert!(aggregator != middle && aggregator != other && record.updates_lost == 0);

    // Four UAVs, nobody hears everybody: models go by way of a third.
    let four = ["uavs.count=4"];
    let pairs = "{kind=\"link_outage\", uavs=[0, 1], from=2, until=2}, \
                 {kind=\"link_outage\", uavs=[2, 3], from=2, until=2}";
    let record = &with(pairs, &four).records[1];
    assert!(record.aggregator.is_some() && record.updates_lost == 0);
    let direct = &with("", &four).records[1];
    let offloads = |r: &RoundRecord| r.energy.get(EnergyItem::OffloadHover);
    assert!(offloads(record) > offloads(direct));
}

/// A chain 0 - 1 - 2 - 3 with the aggregator at one end: from the other end there are two UAVs between.
#[test]
fn a_model_without_a_way_to_the_aggregator_stays_behind() {
    let chain = "{kind=\"link_outage\", uavs=[0, 2], from=1, until=9}, \
                 {kind=\"link_outage\", uavs=[0, 3], from=1, until=9}, \
                 {kind=\"link_outage\", uavs=[1, 3], from=1, until=9}";
    let places = "uavs.layout={kind=\"fixed\", \
                  positions_m=[[2000, 10000], [18000, 10000], [10000, 17000], [9900, 10000]]}";
    let outcome = with(chain, &["uavs.count=4", places]);
    for record in &outcome.records {
        assert_eq!(record.aggregator, Some(UavId(3)));
        let stranded = |e: &EventKind| matches!(e, EventKind::ModelStranded { uav: UavId(0), .. });
        assert!(has(record, stranded));
        assert_eq!(record.updates_lost, 2 * devices_of(record, 0));
        // The new model does not get there either; to UAV 1 it takes two hops.
        let broadcast_j = |uav: usize| record.uavs[uav].energy.get(EnergyItem::BroadcastHover);
        assert!(broadcast_j(0) == 0.0 && broadcast_j(1) > 0.0);
    }
    assert_eq!(outcome.records[2].uavs[0].status, Status::Active);
    let direct = &with("", &["uavs.count=4", places]).records[0];
    let broadcast_s = |record: &RoundRecord| record.time.get(TimeItem::Broadcast);
    assert!(broadcast_s(&outcome.records[0]) > broadcast_s(direct));
}

#[test]
fn a_uav_that_nobody_hears_or_that_hears_no_device_does_not_train() {
    let alone: Vec<String> = (1..5)
        .map(|other| format!("{{kind=\"link_outage\", uavs=[0, {other}], from=2, until=2}}"))
        .collect();
    for faults in [
        alone.join(", "),
        "{kind=\"cell_outage\", uav=0, from=2, until=2}".into(),
    ] {
        let outcome = with(&faults, &[]);
        let trained: Vec<usize> = outcome.records.iter().map(|r| devices_of(r, 0)).collect();
        assert!(
            trained[0] > 0 && trained[1] == 0 && trained[2] == trained[0],
            "{trained:?}"
        );
    }
}

#[test]
fn a_crashed_device_sits_out_and_comes_back() {
    let usual = with("", &[]);
    let device = usual.records[0].uavs[0].devices[0];
    let fault = format!(
        "{{kind=\"device_crash\", device={}, from=2, until=2}}",
        device.0
    );
    let outcome = with(&fault, &[]);
    let trains = |record: &RoundRecord| record.uavs.iter().any(|uav| uav.devices.contains(&device));
    let rounds: Vec<bool> = outcome.records.iter().map(trains).collect();
    assert_eq!(rounds, [true, false, true]);
}

#[test]
fn the_run_ends_when_the_last_uav_is_lost() {
    let all: Vec<String> = (0..5)
        .map(|uav| format!("{{kind=\"loss\", uav={uav}, round=2}}"))
        .collect();
    let outcome = with(&all.join(", "), &[]);
    assert_eq!(outcome.summary.stopped_by, StoppedBy::NoUavLeft);
    assert_eq!(outcome.summary.rounds, 2);
}

proptest! {
    #![proptest_config(cases(60))]

    /// With energy checks no update is lost to a low battery, whatever the fleet and its batteries.
    #[test]
    fn energy_checks_lose_nothing(
        seed in 0u64..1_000,
        battery_kj in prop_oneof![0.01..2.0f64, 2.0..100.0f64, 100.0..300.0f64],
        uavs in 1usize..8,
        drained in 0usize..8,
        round in 1usize..4,
        bandwidth in 1e4..1e6f64,
        recharge_w in prop_oneof![Just(0.0), 1e3..1e6f64],
        redeploy in prop_oneof![Just("none"), Just("marginal_gains")],
        wait: bool,
    ) {
        let outcome = run(&tiny(&[
            &format!("seed={seed}"),
            &format!("uavs.count={uavs}"),
            &format!("uavs.battery_j={}", battery_kj * 1e3),
            &format!("uavs.bandwidth_up_hz=[{bandwidth}, {bandwidth}]"),
            &format!("uavs.recharge_w={recharge_w}"),
            &format!("redeploy={{method={redeploy:?}, when=\"on_change\", wait={wait}}}"),
            &format!("faults=[{{kind=\"drain\", uav={}, round={round}}}]", drained % uavs),
        ]), 2);
        prop_assert_eq!(outcome.summary.updates_lost, 0);
    }
}

#[test]
fn without_energy_checks_a_dying_uav_takes_its_updates_along() {
    // Edge rounds of some 100 J on a battery of 450 J: it ends in the middle of a round.
    let settings = [
        "method=direct_drop",
        "uavs.battery_j=450",
        "uavs.bandwidth_up_hz=[1e5, 1e5]",
        "training.max_edge_rounds=10",
    ];
    let outcome = run(&tiny(&settings), 2);
    assert!(outcome.summary.updates_lost > 0);
    let told: usize = outcome
        .records
        .iter()
        .flat_map(|record| &record.events)
        .map(|event| match event.kind {
            EventKind::UavDepleted { updates_lost, .. } => updates_lost,
            _ => 0,
        })
        .sum();
    assert_eq!(told, outcome.summary.updates_lost);
    let careful = run(&tiny(&[&["method=hfl"], &settings[1..]].concat()), 2);
    assert_eq!(careful.summary.updates_lost, 0);
}

#[test]
fn a_uav_that_returns_serves_again_and_everybody_is_placed_anew() {
    let quick = [
        "uavs.speed_mps=1000",
        "uavs.recharge_w=1e6",
        "redeploy={method=\"marginal_gains\", when=\"on_change\", wait=true}",
        "stop.max_rounds=30",
        "devices.count=60",
        "uavs.bandwidth_up_hz=[1e5, 1e5]",
    ];
    let outcome = with("{kind=\"drain\", uav=0, round=2}", &quick);
    let returned = |e: &EventKind| matches!(e, EventKind::UavReturned { uav: UavId(0) });
    let back = outcome
        .records
        .iter()
        .position(|record| has(record, returned))
        .unwrap();
    let moved = |e: &EventKind| matches!(e, EventKind::UavMoved { .. });
    assert!(back > 2 && has(&outcome.records[back], moved));
    assert!((2..back).all(|round| devices_of(&outcome.records[round], 0) == 0));
    assert!(devices_of(&outcome.records[back], 0) > 0);
    assert!(devices_of(&outcome.records[back + 1], 0) > 0);
    assert_eq!(outcome.summary.updates_lost, 0);
}

/// With a UAV lost, the others move for coverage and pay for it; the books still balance.
#[test]
fn the_others_move_to_cover_for_a_lost_uav() {
    let loss = "{kind=\"loss\", uav=3, round=2}";
    let more = ["devices.count=150", "data.data_volume=600"];
    let covered = |method: &str| {
        let redeploy = format!("redeploy={{method={method:?}, when=\"on_change\", wait=true}}");
        let outcome = with(loss, &[&more[..], &[&redeploy]].concat());
        let [_, second, third] = &outcome.records[..] else {
            panic!()
        };
        let flown: f64 = second
            .uavs
            .iter()
            .map(|uav| uav.energy.get(EnergyItem::Move))
            .sum();
        let moved = has(second, |e| matches!(e, EventKind::UavMoved { .. }));
        assert_eq!(moved, flown > 0.0);
        assert_eq!(moved, second.time.get(TimeItem::Move) > 0.0);
        assert!(
            !has(third, |e| matches!(e, EventKind::UavMoved { .. })),
            "only on change"
        );
        for uav in outcome.records.iter().flat_map(|record| &record.uavs) {
            let went_out = uav.battery_after_j + uav.energy.total_j();
            assert!((uav.battery_before_j - went_out).abs() <= 1e-9 * went_out);
        }
        (third.covered, flown)
    };
    let (stay, nothing) = covered("none");
    assert_eq!(nothing, 0.0);
    for method in ["two_stage", "joint_greedy", "marginal_gains"] {
        let (moved, flown_j) = covered(method);
        assert!(
            moved > stay && flown_j > 1e3,
            "{method}: {moved} of {stay}, {flown_j} J"
        );
    }
}

/// Whatever takes a UAV away, and whenever in a round, the others move to cover for it.
#[test]
fn every_departure_makes_the_others_move() {
    let usual = with("", &[]);
    let middle = usual.records[0].aggregator.unwrap().0;
    let first = &usual.records[0];
    let nearly_all_w = 0.999 * first.uavs[3].battery_after_j / first.time.total_s();
    let departures = [
        "{kind=\"loss\", uav=3, round=2}".into(),
        "{kind=\"loss\", uav=3, round=2, moment=\"edge\"}".into(),
        "{kind=\"loss\", uav=3, round=2, moment=\"edge\", warned=true}".into(),
        format!("{{kind=\"loss\", uav={middle}, round=1, moment=\"aggregating\"}}"),
        "{kind=\"drain\", uav=3, round=2}".into(),
        "{kind=\"leak\", uav=3, from=1, until=1, power_w=1e9}".into(),
        // Too low to start the second round.
        format!("{{kind=\"leak\", uav=3, from=1, until=1, power_w={nearly_all_w:?}}}"),
    ];
    for departure in departures {
        let redeploy = "redeploy={method=\"marginal_gains\", when=\"on_change\"}";
        let outcome = with(
            &departure,
            &[redeploy, "devices.count=150", "data.data_volume=600"],
        );
        let moved = has(&outcome.records[1], |e| {
            matches!(e, EventKind::UavMoved { .. })
        });
        assert!(moved, "{departure}");
        let again = has(&outcome.records[2], |e| {
            matches!(e, EventKind::UavMoved { .. })
        });
        assert!(!again, "{departure}");
    }
}

/// A UAV that refuses to start a round takes no part in it.
#[test]
fn who_refuses_to_start_pays_for_the_flight_home_only() {
    let slow = ["radio.uav_link_bandwidth_hz=1e3"];
    let warned = &with("{kind=\"loss\", uav=3, round=2, warned=true}", &slow);
    let flight_j = warned.records[1].uavs[3]
        .energy
        .get(EnergyItem::ReturnFlight);
    let first = &warned.records[0];
    let power_w = (first.uavs[3].battery_after_j - 1.001 * flight_j) / first.time.total_s();
    let leak = format!("{{kind=\"leak\", uav=3, from=1, until=1, power_w={power_w:?}}}");
    let second = &with(&leak, &slow).records[1];
    assert!(has(second, |e| matches!(
        e,
        EventKind::UavLow { uav: UavId(3), .. }
    )));
    let uav = &second.uavs[3];
    assert!(
        !matches!(uav.status, Status::Active | Status::Lost),
        "{:?}",
        uav.status
    );
    assert_eq!(uav.energy.total_j(), flight_j);
    assert!(second.energy.get(EnergyItem::BroadcastHover) > 0.0);
}

/// Where nobody hears everybody, the one that has to leave is still not the one to merge.
#[test]
fn who_leaves_does_not_aggregate_while_others_stay() {
    let faults = "{kind=\"link_outage\", uavs=[0, 1], from=2, until=2}, \
                  {kind=\"link_outage\", uavs=[2, 3], from=2, until=2}, \
                  {kind=\"drain\", uav=4, round=2}";
    let second = &with(faults, &[]).records[1];
    assert!(second.aggregator.is_some_and(|uav| uav != UavId(4)));
    assert!(second.energy.get(EnergyItem::Broadcast) > 0.0);
    assert!(matches!(second.uavs[4].status, Status::Away { .. }));
}

#[test]
fn a_uav_that_falls_is_billed_for_the_edge_rounds_it_did() {
    let more = ["training.max_edge_rounds=4"];
    let usual = &with("", &more).records[0];
    let slowest = usual
        .uavs
        .iter()
        .max_by(|a, b| a.edge_time_s.total_cmp(&b.edge_time_s))
        .unwrap();
    let fault = format!(
        "{{kind=\"loss\", uav={}, round=1, moment=\"edge\", edge_round=1}}",
        slowest.uav.0
    );
    let record = &with(&fault, &more).records[0];
    let fallen = &record.uavs[slowest.uav.index()];
    assert_eq!(fallen.edge_time_s, slowest.edge_time_s / 4.0);
    assert!(record.time.total_s() < usual.time.total_s());
}

/// Low and about to be lost in the same moment: it stays at home.
#[test]
fn a_warned_loss_is_for_good_even_for_who_is_low() {
    let faults = "{kind=\"drain\", uav=0, round=2}, \
                  {kind=\"loss\", uav=0, round=2, moment=\"edge\", warned=true}";
    for method in ["method=hfl", "method=hfedat"] {
        let outcome = with(faults, &[method]);
        assert_eq!(
            outcome.records[2].uavs[0].status,
            Status::Grounded,
            "{method}"
        );
    }
}

/// Where links are out a model may take two hops, so a UAV keeps back more.
#[test]
fn the_reserve_counts_two_hops_while_a_link_is_out() {
    let left_j = |faults: &str| {
        let outcome = with(faults, &[]);
        let mut events = outcome.records[1].events.iter();
        let drained = events.find_map(|event| match event.kind {
            EventKind::UavDrained { battery_j, .. } => Some(battery_j),
            _ => None,
        });
        drained.unwrap()
    };
    let drain = "{kind=\"drain\", uav=0, round=2}";
    let outage = "{kind=\"link_outage\", uavs=[1, 2], from=2, until=2}";
    assert!(left_j(&format!("{drain}, {outage}")) > left_j(drain));
}

#[test]
fn nobody_broadcasts_what_was_not_merged() {
    let out = (0..5).map(|uav| format!("{{kind=\"cell_outage\", uav={uav}, from=2, until=2}}"));
    let outcome = with(&out.collect::<Vec<_>>().join(", "), &[]);
    let broadcast_j = |round: usize| {
        outcome.records[round]
            .energy
            .get(EnergyItem::BroadcastHover)
    };
    assert_eq!(outcome.records[1].aggregator, None);
    assert!(broadcast_j(0) > 0.0 && broadcast_j(1) == 0.0);
}

/// UAV 2 is lost and the others move; one of them is drained on its way. It has paid for the flight, arrives, and leaves from there.
#[test]
fn a_uav_that_is_drained_in_flight_arrives_and_leaves() {
    let settings = [
        "redeploy.method=marginal_gains",
        "redeploy.when=on_change",
        "redeploy.wait=false",
        "redeploy.movement_weight=0",
        "uavs.speed_mps=1000",
        "uavs.bandwidth_up_hz=[1e5, 1e5]",
        "stop.max_rounds=40",
    ];
    let loss = "{kind=\"loss\", uav=2, round=2}";
    let flown = with(loss, &settings);
    let moved = flown.records.iter().flat_map(|record| &record.events);
    let (uav, arrives_at_s) = moved
        .filter_map(|event| match event.kind {
            EventKind::UavMoved {
                uav, arrives_at_s, ..
            } => Some((uav, arrives_at_s?)),
            _ => None,
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap();
    // The round after the one in which it set off: it is in the air at its end.
    let id = uav.index();
    let flying = |record: &RoundRecord| matches!(record.uavs[id].status, Status::Flying { .. });
    let struck = flown.records.iter().position(flying).unwrap() + 1;
    let drain = format!("{loss}, {{kind=\"drain\", uav={id}, round={}}}", struck + 1);
    let drained = with(&drain, &settings);
    let told = drained.records[struck].events.iter();
    let told = told.filter_map(|event| match event.kind {
        EventKind::UavDrained {
            uav: who,
            arrives_at_s,
            ..
        } => Some((who, arrives_at_s)),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [(uav, Some(arrives_at_s))]);
    let lost_j = |record: &RoundRecord| record.uavs[id].energy.get(EnergyItem::Drained);
    assert!(lost_j(&drained.records[struck]) > 1e4);
    assert_eq!(drained.summary.updates_lost, 0);
    // Where it goes is not changed by it; then it leaves, which it does not do otherwise.
    let left = |outcome: &Outcome| {
        let mut all = outcome.records.iter().enumerate();
        all.find_map(|(round, record)| {
            let leaves = |kind: &EventKind| matches!(kind, EventKind::UavLeft { uav: who, .. } if *who == uav);
            has(record, leaves).then_some(round)
        })
    };
    assert!(left(&drained).is_some_and(|round| round > struck));
    assert_eq!(left(&flown), None);
    let there = |outcome: &Outcome, round: usize| outcome.records[round].uavs[id].position_m;
    assert_eq!(there(&drained, struck), there(&flown, struck));
}
