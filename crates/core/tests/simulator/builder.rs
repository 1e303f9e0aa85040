//! What a caller brings to a simulation is what happens in it.

use crate::common::{light, run_on};
use aerofed::geometry::Point;
use aerofed::learn::DataStore;
use aerofed::nature::channel::{Channel, Link, Node, Path};
use aerofed::nature::flight::Flight;
use aerofed::nature::mobility::{Mobility, Surroundings};
use aerofed::record::{EnergyItem, EventKind, RoundRecord};
use aerofed::run::Builder;
use aerofed::seed::Random;
use aerofed::vocabulary::UavId;
use aerofed::world::Status;
use aerofed::{Method, Simulation, ValidScenario};
use std::ops::ControlFlow;

/// The first rounds of a scenario with something replaced.
fn rounds(
    scenario: &ValidScenario,
    count: usize,
    replace: impl FnOnce(Builder) -> Builder,
) -> Vec<RoundRecord> {
    let mut simulation = replace(Simulation::builder(scenario).threads(2))
        .build()
        .unwrap();
    let mut method = Method::of(scenario).unwrap();
    let step = |_| simulation.step(&mut method).unwrap().unwrap();
    (0..count).map(step).collect()
}

/// Everything arrives, or what `gain` says of the path.
struct Gain(fn(&Path) -> f64);

impl Channel for Gain {
    fn gain(&self, path: &Path) -> f64 {
        (self.0)(path)
    }
}

/// By hand: S = p g / N0, rate B log2(1 + S / B) in each of 8 equal shares of 8 MHz, for a model of 251 200 bit.
#[test]
fn a_channel_sets_the_times_of_uploads() {
    let settings = [
        "devices.tx_power_w=[0.5, 0.5]",
        "uavs.bandwidth_up_hz=[8e6, 8e6]",
        "uavs.count=1",
        "devices.count=8",
        "uavs.coverage_radius_m=30000",
        "training.max_edge_rounds=1",
        "radio.noise_dbm_per_hz=-170",
    ];
    let scenario = light(&settings);
    let record = &rounds(&scenario, 1, |builder| builder.channel(Gain(|_| 1e-12)))[0];
    let snr_hz = 0.5 * 1e-12 / 1e-20;
    let bits = 32.0 * 7_850.0;
    let expected_s = bits / (1e6 * (1.0f64 + snr_hz / 1e6).log2());
    let upload_s = record.time.get(aerofed::record::TimeItem::Upload);
    assert!(
        (upload_s / expected_s - 1.0).abs() < 1e-9,
        "{upload_s} {expected_s}"
    );
}

/// A channel of which nobody can say how bad it is within a distance, and that draws anew for every link and round.
fn fading(path: &Path) -> f64 {
    use rand::RngExt;
    let distance_m = path.ground_distance_m().hypot(path.height_m()).max(1.0);
    distance_m.powi(-3) * (0.05 + path.rng().random::<f64>())
}

#[test]
fn fading_is_the_same_at_any_number_of_threads_and_differs_between_rounds() {
    let scenario = light(&["mobility.kind=static", "stop.max_rounds=3"]);
    let with = |threads| {
        rounds(&scenario, 3, |builder| {
            builder.channel(Gain(fading)).threads(threads)
        })
    };
    let one = with(1);
    assert_eq!(one, with(8));
    let times: Vec<f64> = one.iter().map(|record| record.time.total_s()).collect();
    assert!(times[0] != times[1] && times[1] != times[2], "{times:?}");
    let plain = rounds(&scenario, 3, |builder| builder);
    assert_eq!(plain[0].time, plain[1].time, "nobody moves, nothing fades");
}

/// The reserve holds although nobody knows how bad a link within a distance can be.
#[test]
fn the_reserve_brings_everybody_home_when_links_fade() {
    let mut left = 0;
    for battery_j in (169_750..172_000).step_by(250) {
        let scenario = light(&[
            &format!("uavs.battery_j={battery_j}"),
            "uavs.bandwidth_up_hz=[2e4, 1e5]",
            "uavs.base_m=[0, 0]",
            "uavs.recharge_w=0",
        ]);
        let builder = Simulation::builder(&scenario).channel(Gain(fading));
        let mut simulation = builder.build().unwrap();
        let mut method = Method::of(&scenario).unwrap();
        for _ in 0..4 {
            let Some(record) = simulation.step(&mut method).unwrap() else {
                break;
            };
            assert_eq!(record.updates_lost, 0);
            assert!(
                record.uavs.iter().all(|uav| uav.status != Status::Lost),
                "{battery_j} J: {:?}",
                record.events
            );
            let is_departure = |kind: &EventKind| matches!(kind, EventKind::UavLeft { .. });
            let departures = record.events.iter().filter(|e| is_departure(&e.kind));
            left += departures.count();
        }
    }
    assert!(left > 0, "no battery was put to the test");
}

/// UAVs 0 and 1 do not hear each other: it is told, and what they exchange goes by way of a third.
#[test]
fn a_link_between_uavs_that_is_out_is_told_and_gone_around() {
    let silent = |path: &Path| match (path.link, path.from, path.to) {
        (Link::UavToUav, Node::Uav(a), Node::Uav(b)) if a.0 + b.0 == 1 => 0.0,
        _ => 1e-11,
    };
    let scenario = light(&["uavs.coverage_radius_m=15000"]);
    let record = &rounds(&scenario, 1, |builder| builder.channel(Gain(silent)))[0];
    let told: Vec<_> = record.events.iter().map(|event| &event.kind).collect();
    let uavs = [UavId(0), UavId(1)];
    assert_eq!(told, [&EventKind::UavLinkOutage { uavs }]);
    assert!(record.updates_lost == 0 && record.aggregator.is_some());
}

/// Everybody ten metres east, wherever they are.
struct East;

impl Mobility for East {
    fn next(&self, at: Point, around: &Surroundings, _: &mut Random) -> Point {
        Point::new((at.x_m + 10.0).min(around.width_m), at.y_m)
    }
}

#[test]
fn devices_go_where_a_mobility_says() {
    let scenario = light(&[]);
    let mut simulation = Simulation::builder(&scenario)
        .mobility(East)
        .build()
        .unwrap();
    let first = simulation.world().devices.position.clone();
    let mut method = Method::of(&scenario).unwrap();
    for _ in 0..3 {
        simulation.step(&mut method).unwrap().unwrap();
    }
    for (now, then) in simulation.world().devices.position.iter().zip(&first) {
        // They move before the second and the third round.
        let expected = (then.x_m + 20.0).min(scenario.area.width_m);
        assert!((now.x_m - expected).abs() < 1e-9 && now.y_m == then.y_m);
    }
}

struct Thirsty;

impl Flight for Thirsty {
    fn power_w(&self, speed_mps: f64) -> f64 {
        if speed_mps > 0.0 { 160.0 } else { 300.0 }
    }
}

#[test]
fn hovering_takes_what_a_flight_model_says() {
    let scenario = light(&[]);
    let plain = rounds(&scenario, 1, |builder| builder);
    let thirsty = rounds(&scenario, 1, |builder| builder.flight(Thirsty));
    for item in [
        EnergyItem::EdgeHover,
        EnergyItem::OffloadHover,
        EnergyItem::BroadcastHover,
        EnergyItem::Waiting,
    ] {
        let (before, after) = (plain[0].energy.get(item), thirsty[0].energy.get(item));
        assert!(
            before > 0.0 && (after / before - 3.0).abs() < 1e-9,
            "{item:?}"
        );
    }
}

#[test]
fn shared_data_change_nothing() {
    let store = DataStore::new();
    let scenario = light(&["stop.max_rounds=2"]);
    let other = light(&["stop.max_rounds=2", "seed=2"]);
    for scenario in [&scenario, &other, &scenario] {
        let data = store.get(scenario).unwrap();
        let shared = rounds(scenario, 2, |builder| builder.data(data));
        let go_on = |_: &RoundRecord| ControlFlow::Continue(());
        let own = run_on(scenario, &mut Method::of(scenario).unwrap(), 2, go_on).unwrap();
        assert_eq!(shared, own.records);
    }
    assert_eq!(store.loads(), 1);
}
