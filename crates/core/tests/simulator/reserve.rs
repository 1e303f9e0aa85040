//! Who passes the energy check gets home: the reserve covers all that a round can ask for.

use aerofed::record::EventKind;
use aerofed::run::Outcome;
use proptest::prelude::*;
use proptest::sample::select;

use crate::common::{RADIOS, cases, light, run, tiny};

/// What became of batteries that ran empty.
fn depleted(outcome: &Outcome) -> Vec<String> {
    let events = outcome.records.iter().flat_map(|record| &record.events);
    let fallen = events.filter(|event| matches!(event.kind, EventKind::UavDepleted { .. }));
    fallen.map(|event| format!("{event:?}")).collect()
}

/// A change of aggregator hands models over besides what UAVs do: their hovering is paid for already.
#[test]
fn hfedat_pays_hovering_once_when_the_aggregator_changes() {
    let drained = r#"faults=[{kind="drain",uav=2,round=2},{kind="drain",uav=4,round=2}]"#;
    for seed in 1..=12 {
        let outcome = run(
            &tiny(&[
                "method=hfedat",
                drained,
                "devices.count=20",
                "uavs.base_m=[0, 0]",
                "stop.max_rounds=5",
                "training.max_edge_rounds=4",
                &format!("seed={seed}"),
            ]),
            1,
        );
        assert_eq!(depleted(&outcome), Vec::<String>::new(), "seed {seed}");
    }
}

/// Personal models that take long are no reason to fall: who cannot pay for them leaves instead.
#[test]
fn who_passed_the_energy_check_is_not_lost_to_scoring() {
    let mut left = 0;
    for battery_j in [17e3, 17.1e3, 17.2e3, 17.3e3, 17.5e3, 18e3, 20e3] {
        let outcome = run(
            &tiny(&[
                "method=cehfed",
                "area.width_m=2000",
                "area.height_m=2000",
                "uavs.coverage_radius_m=500",
                "uavs.base_m=[0, 0]",
                "fitness.refresh_epochs=5",
                "fitness.uav_cpu_hz=1e8",
                "data.personal_samples=100",
                "stop.max_rounds=12",
                &format!("uavs.battery_j={battery_j}"),
            ]),
            1,
        );
        assert_eq!(depleted(&outcome), Vec::<String>::new(), "{battery_j} J");
        let events = outcome.records.iter().flat_map(|record| &record.events);
        left += events
            .filter(|event| matches!(event.kind, EventKind::UavLeft { .. }))
            .count();
    }
    assert!(left > 0, "no battery was ever low: nothing was tested");
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn nobody_who_passed_the_energy_check_falls(
        method in prop_oneof![
            Just("cehfed"), Just("gshfed"), Just("hfedat"), Just("cfed"), Just("hfl"), Just("fixed_threshold"),
        ],
        waiting in prop_oneof![Just("hover"), Just("free")],
        // The farthest way home is 2.12 km: 16.97 kJ.
        battery_j in prop_oneof![17e3..18e3f64, 17e3..60e3f64, Just(250e3)],
        refresh_epochs in 0usize..6,
        uav_cpu_hz in prop_oneof![Just(1e10), 1e7..1e9f64],
        uav_link_bandwidth_hz in prop_oneof![Just(2e6), 1e3..1e5f64],
        drains in prop::collection::vec((0usize..5, 1usize..5), 0..4),
        edge_rounds in 1usize..5,
        radio in prop_oneof![Just(&[][..]), select(&RADIOS[..])],
        // Around the block it is 170 J farther.
        (zones, more_j) in prop_oneof![
            3 => Just(("[]", 0.0)),
            1 => Just(("[{polygon=[[900, 900], [1100, 900], [1100, 1100], [900, 1100]]}]", 500.0)),
        ],
        codec in prop_oneof![2 => Just("f32"), 1 => Just("int8"), 1 => Just("top_k")],
        seed in 0u64..1_000,
    ) {
        let drains: Vec<String> = drains
            .iter()
            .map(|(uav, round)| format!("{{kind=\"drain\",uav={uav},round={round}}}"))
            .collect();
        let settings = [
            "area.width_m=2000",
            "area.height_m=2000",
            "uavs.coverage_radius_m=500",
            "uavs.base_m=[0, 0]",
            "stop.max_rounds=6",
            "redeploy.when=every_round",
            &format!("codec.kind={codec}"),
            &format!("area.no_fly={zones}"),
            &format!("method={method}"),
            &format!("uavs.waiting={waiting}"),
            &format!("uavs.battery_j={}", battery_j + more_j),
            &format!("fitness.refresh_epochs={refresh_epochs}"),
            &format!("fitness.uav_cpu_hz={uav_cpu_hz}"),
            &format!("radio.uav_link_bandwidth_hz={uav_link_bandwidth_hz}"),
            &format!("training.max_edge_rounds={edge_rounds}"),
            &format!("faults=[{}]", drains.join(",")),
            &format!("seed={seed}"),
        ];
        let scenario = light(&[&settings[..], radio].concat());
        let outcome = run(&scenario, 1);
        prop_assert_eq!(depleted(&outcome), Vec::<String>::new());
    }
}
