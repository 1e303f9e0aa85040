//! Devices that move inside a round: the same bytes on any number of threads and across an interruption, and what happens to
//! the updates of those who leave.

use std::fs;

use crate::common::{assert_balanced, assert_conforms, assert_time_adds_up, light, run};
use aerofed::geometry::Point;
use aerofed::nature::mobility::{InTime, Leg, Motion, Walk};
use aerofed::record::{EnergyItem, EventKind, RoundRecord};
use aerofed::world::{DeviceId, Status, UavId};
use aerofed::{Method, Scenario, Simulation, ValidScenario};

/// Slow links and quick devices: rounds of minutes, in which many leave.
const SLOW: [&str; 4] = [
    "uavs.bandwidth_up_hz=[1e3, 2e3]",
    "uavs.battery_j=1e9",
    "training.max_edge_rounds=4",
    "stop.max_rounds=3",
];

const MODELS: [&str; 5] = [
    "{kind=\"random_waypoint\", speed_mps=[10, 40], pause_s=[0, 60]}",
    "{kind=\"gauss_markov\", mean_speed_mps=30}",
    "{kind=\"manhattan\", speed_mps=[20, 40]}",
    "{kind=\"group\", groups=4, radius_m=900, speed_mps=[10, 30], wander_mps=[1, 9]}",
    "TRACE",
];

/// Two points for each of 40 devices, as a setting.
fn trace() -> String {
    let path = format!(
        "{}/tracks-{:?}.csv",
        env!("CARGO_TARGET_TMPDIR"),
        std::thread::current().id()
    );
    let mut text = String::from("id,t_s,x_m,y_m\n");
    for id in 0..40 {
        let x = f64::from(id) * 500.0;
        text += &format!(
            "{id},0,{x},{}\n{id},900,{},{x}\n",
            20_000.0 - x,
            20_000.0 - x
        );
    }
    fs::write(&path, text).unwrap();
    format!("{{kind=\"trace\", file={path:?}, loop=true}}")
}

fn scenario(method: &str, model: &str, more: &[&str]) -> ValidScenario {
    let mobility = match model {
        "TRACE" => format!("mobility={}", trace()),
        model => format!("mobility={model}"),
    };
    let method = format!("method={method}");
    light(&[&SLOW[..], &[mobility.as_str(), &method], more].concat())
}

fn lost_by_leaving(records: &[RoundRecord]) -> usize {
    let events = records.iter().flat_map(|record| &record.events);
    events
        .filter(|event| match &event.kind {
            EventKind::UpdateLost { reason, .. } => reason.starts_with("left the coverage of UAV "),
            _ => false,
        })
        .count()
}

fn handed_over(records: &[RoundRecord]) -> usize {
    let events = records.iter().flat_map(|record| &record.events);
    events
        .filter(|event| matches!(event.kind, EventKind::UpdateHandedOver { .. }))
        .count()
}

#[test]
fn every_model_conforms_under_every_schedule() {
    for method in ["hfl", "cehfed", "hfedat", "cfed"] {
        for model in MODELS {
            assert_conforms(&scenario(method, model, &[]));
        }
    }
}

/// Updates of those who leave are lost, and counted once.
#[test]
fn who_leaves_in_the_middle_of_a_round_loses_its_update() {
    for method in ["hfl", "hfedat"] {
        let mut lost = 0;
        for model in MODELS {
            let outcome = run(&scenario(method, model, &[]), 2);
            lost += lost_by_leaving(&outcome.records);
            assert_eq!(
                handed_over(&outcome.records),
                0,
                "{method} does not know how"
            );
            let counted: usize = outcome.records.iter().map(|r| r.updates_lost).sum();
            assert_eq!(
                counted,
                lost_by_leaving(&outcome.records),
                "{method}, {model}"
            );
        }
        assert!(lost > 10, "{method}: {lost}");
    }
}

/// Cells that lose their devices on the way cost what was planned: the energy check still brings everybody home.
#[test]
fn who_passes_the_energy_check_comes_home_although_devices_leave() {
    let (mut departed, mut lost) = (0, 0);
    for battery_j in (169_750..172_000).step_by(250) {
        for method in ["fixed_threshold", "hfl"] {
            let scenario = light(&[
                "mobility={kind=\"random_waypoint\", speed_mps=[200, 900]}",
                &format!("method={method}"),
                &format!("uavs.battery_j={battery_j}"),
                "uavs.bandwidth_up_hz=[2e4, 1e5]",
                "uavs.base_m=[0, 0]",
                "uavs.recharge_w=0",
                "stop.max_rounds=4",
            ]);
            let outcome = run(&scenario, 2);
            let lost_uav = |record: &RoundRecord| {
                let mut uavs = record.uavs.iter();
                uavs.any(|uav| uav.status == Status::Lost)
            };
            assert!(
                !outcome.records.iter().any(lost_uav),
                "{method}, {battery_j} J"
            );
            let events = outcome.records.iter().flat_map(|record| &record.events);
            let is_departure = |kind: &EventKind| matches!(kind, EventKind::UavLeft { .. });
            departed += events.filter(|event| is_departure(&event.kind)).count();
            lost += lost_by_leaving(&outcome.records);
        }
    }
    assert!(departed > 0 && lost > 0, "{departed} {lost}");
}

/// Everybody walks east, from where it is placed.
struct East {
    speed_mps: f64,
}

impl Walk for East {
    fn next(&self, _: DeviceId, before: &Motion) -> Motion {
        let from = before.leg.to;
        let to = Point::new((from.x_m + 1e5).min(20e3), from.y_m);
        let now_s = before.leg.until_s;
        let leg = match from.x_m < 20e3 {
            true => Leg::travel(from, to, now_s, self.speed_mps),
            false => Leg::rest(from, now_s, f64::INFINITY),
        };
        Motion::on(leg, before.number + 1)
    }
}

/// Two UAVs side by side, whose circles overlap; the one in the east is as slow as the other.
fn two_uavs(method: &str, more: &[&str]) -> ValidScenario {
    let method = format!("method={method}");
    let settings = [
        method.as_str(),
        "association.kind=all",
        "allocation={kind=\"equal\", local_iterations=2}",
        "redeploy.method=none",
        "uavs.count=2",
        "uavs.layout={kind=\"fixed\", positions_m=[[6000, 10000], [12000, 10000]]}",
        "uavs.coverage_radius_m=6000",
        "devices.count=60",
        "uavs.bandwidth_up_hz=5e3",
        "uavs.bandwidth_down_hz=2e7",
        "uavs.battery_j=1e9",
        "training.max_edge_rounds=4",
    ];
    light(&[&settings[..], more].concat())
}

fn one_round(scenario: &ValidScenario, method: &mut Method) -> RoundRecord {
    let east = InTime(East { speed_mps: 70.0 });
    let builder = Simulation::builder(scenario).mobility(east).threads(2);
    let record = builder.build().unwrap().step(method).unwrap().unwrap();
    record.uavs.iter().for_each(assert_balanced);
    assert_time_adds_up(&record);
    record
}

/// A method that knows how hands updates over to the next UAV: nothing else changes but what they took on the way.
#[test]
fn updates_of_leavers_go_to_the_next_uav_if_the_method_knows_how() {
    let scenario = two_uavs("fixed_threshold", &[]);
    let with = |hands_over| {
        let mut method = Method::of(&scenario).unwrap();
        method.hands_over = hands_over;
        one_round(&scenario, &mut method)
    };
    let (dropped, kept) = (with(false), with(true));
    let (lost, taken) = (
        lost_by_leaving(std::slice::from_ref(&dropped)),
        handed_over(std::slice::from_ref(&kept)),
    );
    assert!(lost > 0 && taken > 0, "{lost} {taken}: {:?}", kept.events);
    assert_eq!(handed_over(std::slice::from_ref(&dropped)), 0);
    assert_eq!(lost_by_leaving(std::slice::from_ref(&kept)) + taken, lost);
    assert_eq!(dropped.updates_computed, kept.updates_computed);
    assert_eq!(
        dropped.updates_aggregated() + taken,
        kept.updates_aggregated()
    );
    for event in &kept.events {
        if let EventKind::UpdateHandedOver { uav, to, .. } = event.kind {
            assert_eq!((uav, to), (UavId(0), UavId(1)), "everybody goes east");
        }
    }
    let upload_j = |record: &RoundRecord| record.energy.get(EnergyItem::DeviceUpload);
    assert!(upload_j(&kept) > upload_j(&dropped));
    for item in EnergyItem::ALL {
        if item != EnergyItem::DeviceUpload {
            assert_eq!(kept.energy.get(item), dropped.energy.get(item), "{item:?}");
        }
    }
    assert_eq!(kept.time, dropped.time);
}

/// Devices that have left compute and send no more; the UAV still waits as planned for those who remain.
#[test]
fn who_has_left_spends_nothing() {
    let still = two_uavs("hfl", &["mobility.kind=static"]);
    let mut method = Method::of(&still).unwrap();
    let builder = Simulation::builder(&still).threads(2);
    let stays = builder.build().unwrap().step(&mut method).unwrap().unwrap();
    let goes = one_round(&still, &mut Method::of(&still).unwrap());
    assert!(goes.updates_computed < stays.updates_computed);
    for item in [EnergyItem::DeviceCompute, EnergyItem::DeviceUpload] {
        assert!(goes.energy.get(item) < stays.energy.get(item), "{item:?}");
        assert!(goes.energy.get(item) > 0.0, "{item:?}");
    }
}

/// (27f): who would leave before the first edge round is over is not taken at all.
#[test]
fn who_would_leave_at_once_does_not_begin() {
    let scenario = two_uavs("hfl", &["uavs.bandwidth_up_hz=2e3"]);
    let record = one_round(&scenario, &mut Method::of(&scenario).unwrap());
    assert!(record.selected < record.covered && record.selected > 0);
    let first = record.events.iter().filter(|event| event.edge_round == 1);
    assert_eq!(first.count(), 0, "{:?}", record.events);
}

#[test]
fn a_trace_says_where_devices_are() {
    let scenario = scenario("hfl", "TRACE", &["stop.max_rounds=4"]);
    let mut simulation = Simulation::builder(&scenario).threads(2).build().unwrap();
    let mut method = Method::of(&scenario).unwrap();
    for _ in 0..4 {
        let began_s = simulation.world().clock_s;
        simulation.step(&mut method).unwrap().unwrap();
        let share = began_s.rem_euclid(900.0) / 900.0;
        for (id, at) in simulation.world().devices.position.iter().enumerate() {
            let (x, y) = (id as f64 * 500.0, 20_000.0 - id as f64 * 500.0);
            let expected = Point::new(x + share * (y - x), y + share * (x - y));
            assert!(at.distance(expected) < 1e-6, "{id}: {at:?} {expected:?}");
        }
    }
    let few = Scenario::parse("", &[format!("mobility={}", trace())]).unwrap();
    let told = few.check().unwrap_err().to_string();
    assert!(
        told.contains("it has 40 ids, but devices.count is 150"),
        "{told}"
    );
}
