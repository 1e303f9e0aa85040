//! Every channel, with all that lies over it, in whole runs.

use crate::common::{RADIOS, assert_conforms, light, run};
use aerofed::ValidScenario;
use aerofed::record::{EnergyItem, EventKind, RoundRecord, TimeItem};
use aerofed::run::Outcome;

/// One method of each schedule, and the one that asks most of links.
const METHODS: [&str; 4] = ["hfl", "cehfed", "cfed", "hfedat"];

fn each(check: impl Fn(&str, &ValidScenario)) {
    for radio in RADIOS {
        for method in METHODS {
            let named = format!("method={method}");
            let scenario = light(&[radio, &[&named, "stop.max_rounds=3"]].concat());
            check(&format!("{method}, {radio:?}"), &scenario);
        }
    }
}

#[test]
fn every_channel_conforms() {
    each(|what, scenario| {
        let outcome = assert_conforms(scenario);
        assert!(outcome.summary.updates_computed > 0, "{what}");
    });
}

/// Nobody moves and bandwidth is shared equally, so that times depend on links alone.
fn still(settings: &[&str]) -> Outcome {
    let world = [
        "mobility.kind=static",
        "allocation.kind=equal",
        "training.max_edge_rounds=2",
        "stop.max_rounds=2",
    ];
    run(&light(&[&world[..], settings].concat()), 2)
}

fn spent(record: &RoundRecord, item: EnergyItem) -> f64 {
    record.energy.get(item)
}

/// How often each of these events is told in a record: updates lost to a low SNR, further attempts.
fn failures(record: &RoundRecord) -> (usize, usize) {
    let (mut lost, mut repeated) = (0, 0);
    for event in &record.events {
        match &event.kind {
            EventKind::UpdateLost { reason, .. } => {
                assert!(reason.contains("radio.least_snr_db"), "{reason}");
                lost += 1;
            }
            EventKind::TransfersRepeated { attempts, .. } => repeated += attempts,
            _ => {}
        }
    }
    (lost, repeated)
}

/// No link has 100 dB: every transfer is tried three times, paid for three times, and every update is lost.
#[test]
fn transfers_that_fail_are_paid_for_each_time_and_their_updates_are_lost() {
    let usual = still(&["uavs.count=1"]);
    let failing = still(&["uavs.count=1", "radio.least_snr_db=100", "radio.retries=2"]);
    let (before, after) = (&usual.records[0], &failing.records[0]);
    assert_eq!(before.updates_computed, after.updates_computed);
    assert_eq!((before.updates_lost, after.aggregator), (0, None));
    let (lost, repeated) = failures(after);
    assert_eq!(lost, after.updates_computed);
    assert_eq!(after.updates_lost, after.updates_computed);
    // Two more attempts each way for each device and edge round.
    assert_eq!(repeated, 4 * lost);
    for item in [EnergyItem::DeviceUpload, EnergyItem::Downlink] {
        let ratio = spent(after, item) / spent(before, item);
        assert!((ratio - 3.0).abs() < 1e-9, "{item:?}: {ratio}");
    }
    let computing = EnergyItem::DeviceCompute;
    assert_eq!(spent(before, computing), spent(after, computing));
    assert!(after.time.get(TimeItem::Upload) > 2.0 * before.time.get(TimeItem::Upload));
}

/// Deep fades: some transfers succeed at once, some later, some never; more retries lose fewer updates. Under every schedule.
#[test]
fn fades_are_overcome_by_trying_again() {
    for method in METHODS {
        let named = format!("method={method}");
        let with = |retries: &str| {
            let outcome = still(&[
                &named,
                "channel={kind=\"free_space\"}",
                "radio.fading=rayleigh",
                "radio.least_snr_db=5",
                retries,
            ]);
            let mut sum = (0, 0, 0);
            for record in &outcome.records {
                let (lost, repeated) = failures(record);
                sum = (
                    sum.0 + lost,
                    sum.1 + repeated,
                    sum.2 + record.updates_computed,
                );
            }
            sum
        };
        let (lost, repeated, computed) = with("radio.retries=0");
        assert!(
            lost > 0 && lost < computed,
            "{method}: {lost} of {computed}"
        );
        assert_eq!(repeated, 0, "{method}");
        let (still_lost, repeated, computed) = with("radio.retries=5");
        assert!(repeated > 0, "{method}");
        let share = still_lost as f64 / computed as f64;
        assert!(
            share < 0.5 * lost as f64 / computed as f64,
            "{method}: {share}"
        );
    }
}

/// UAVs that do not hear each other at the least SNR are out of reach of each other, and it is told; who needs several attempts takes
/// as many times as long.
#[test]
fn links_between_uavs_fail_and_are_tried_again() {
    let tells = |outcome: &Outcome, is: fn(&EventKind) -> bool| {
        let events = outcome.records.iter().flat_map(|record| &record.events);
        events.filter(|event| is(&event.kind)).count()
    };
    let with = |retries: &str| {
        still(&[
            "channel={kind=\"free_space\"}",
            "radio.fading=rayleigh",
            "radio.uav_link_bandwidth_hz=2e8",
            "radio.least_snr_db=3",
            retries,
        ])
    };
    let outage = |kind: &EventKind| matches!(kind, EventKind::UavLinkOutage { .. });
    let repeated = |kind: &EventKind| matches!(kind, EventKind::UavLinkRepeated { .. });
    let (once, often) = (with("radio.retries=0"), with("radio.retries=8"));
    assert!(tells(&once, outage) > 0 && tells(&once, repeated) == 0);
    assert!(tells(&often, outage) < tells(&once, outage) && tells(&often, repeated) > 0);
}

/// What other cells send in the same band makes every upload longer; two groups hear less of each other than one.
#[test]
fn cells_that_share_a_band_take_longer() {
    let upload_s = |reuse: &str| {
        let outcome = still(&["channel={kind=\"free_space\"}", reuse]);
        outcome.records[0].time.get(TimeItem::Upload)
    };
    let (alone, two, one) = (
        upload_s("radio.reuse=0"),
        upload_s("radio.reuse=2"),
        upload_s("radio.reuse=1"),
    );
    assert!(alone < two && two < one, "{alone} {two} {one}");
}

/// A noise figure of 3 dB is as much as noise of 3 dB more; antennas of 3 dBi at both ends make up for 6 dB of it.
#[test]
fn noise_figures_and_antennas_count_in_decibels() {
    let rounds = |settings: &[&str]| {
        let all = [&["channel={kind=\"free_space\"}"], settings].concat();
        let outcome = still(&all);
        let times = outcome.records.iter().map(|record| record.time.total_s());
        times.collect::<Vec<f64>>()
    };
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a / b - 1.0).abs() < 1e-9);
    let plain = rounds(&[]);
    let figure = rounds(&["radio.noise_figure_db=6"]);
    assert!(close(&figure, &rounds(&["radio.noise_dbm_per_hz=-168"])));
    assert!(figure[0] > plain[0]);
    let antennas = ["radio.device_gain_dbi=3", "radio.uav_gain_dbi=3"];
    let made_up = [&["radio.noise_figure_db=6"][..], &antennas].concat();
    assert!(close(&rounds(&made_up), &plain));
}
