//! Draws an experiment about flights: five worlds, four faults in each.
//!
//! `cargo run --release -p aerofed-experiment --example draw_flights > experiments/flights.toml`, then `aerofed reproduce flights --scale paper`
//!
//! Another number as argument draws others: the rule that decides about flights was tuned on those of 1, 2 and 3, and those
//! of 20 are printed unless told otherwise. `draw_flights 20 crowds > experiments/crowds.toml`: devices stand in three halls, three quarters of them in one,
//! instead of anywhere. Nothing was drawn again because of what came out. All models are logistic regressions, and the
//! target is 80 % everywhere: that was settled before those of 20 were run, so that a set takes minutes.
#![allow(clippy::print_stdout, reason = "an example")]

use std::ops::RangeInclusive;

use aerofed::seed::{Random, Stream, stream};
use rand::RngExt;

const WORLDS: u64 = 5;
const FAULTS: u64 = 4;
/// What the file holds.
const SHOWN: u64 = 20;

/// Where the devices of a set are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Places {
    Anywhere,
    Crowds,
    Few,
}

impl Places {
    /// Name and title of the experiment, and what is drawn.
    fn words(self) -> [&'static str; 3] {
        match self {
            Self::Anywhere => [
                "flights",
                "Flights that pay",
                "area, fleet, bandwidths, processors, mobility, labels",
            ],
            Self::Crowds => [
                "crowds",
                "Flights that pay, where devices stand in crowds",
                "fleet, bandwidths, processors, labels; three halls, three quarters of the devices in one",
            ],
            Self::Few => [
                "few",
                "Flights that pay, where there are fewer UAVs than it takes",
                "fleet of two or three, bandwidths, processors, labels; three halls, three quarters of the devices in one",
            ],
        }
    }
}

const HEAD: &str = r#"# TITLE: 20 random faults in five random worlds, short and long trainings. Do UAVs move when that pays, and stay when it does not?
# Made by `cargo run --release -p aerofed-experiment --example draw_flights -- 20 NAME`.

name = "NAME"
title = "TITLE"
caption = """Five worlds drawn at random (DRAWN), in each four faults (a UAV is lost, leaves for good, or leaves to charge). CEHFed with logistic regression,
whose UAVs move if that is worth it ('worthwhile', while the others go on), after every change ('always', and everybody waits), or never. Short trainings have learning rate 0.05, long ones 0.001; mean test accuracy of three rounds."""
methods = [
    "worthwhile=cehfed",
    "always=cehfed:redeploy.when=on_change:redeploy.wait=true",
    "never=cehfed:redeploy.method=none",
]
seeds = 20

[scenario]
model.name = "logistic"
stop.smooth = 3
stop.target_accuracy = 0.8
stop.targets = [0.8]

[[axes]]
name = "training"
points = [
    { label = "short", target = 0.8, set = ["training.learning_rate=0.05", "stop.max_rounds=150"] },
    { label = "long", target = 0.8, set = ["training.learning_rate=0.001", "stop.max_rounds=400"] },
]

[[axes]]
name = "fault"
points = [
"#;

const TAIL: &str = r#"]

[quick]
seeds = 1
keep = { training = ["short"] }

[[panels]]
title = "Time, {training} training"
kind = "bars"
each = ["training"]
x = "fault"
y = "time_to_target_s"
target = 0.8

[[panels]]
title = "Energy, {training} training"
kind = "bars"
each = ["training"]
x = "fault"
y = "energy_to_target_j"
target = 0.8

[[regrets]]
title = "Time to the target above that of the better of always and never moving"
quantity = "time_to_target_s"
best_of = ["always", "never"]

[[regrets]]
title = "Energy to the target above that of the better of always and never moving"
quantity = "energy_to_target_j"
best_of = ["always", "never"]
"#;

fn main() {
    let seed = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let places = match std::env::args().nth(2).as_deref() {
        Some("crowds") => Places::Crowds,
        Some("few") => Places::Few,
        _ => Places::Anywhere,
    };
    print!("{}", draw(seed.unwrap_or(SHOWN), places));
}

/// The experiment of a number, as a file.
pub(crate) fn draw(seed: u64, places: Places) -> String {
    let [name, title, drawn] = places.words();
    let mut text = HEAD.replace("NAME", name);
    text = text.replace("TITLE", title).replace("DRAWN", drawn);
    for world in 0..WORLDS {
        let mut rng = stream(seed, Stream::Sweep, world, 0);
        let (settings, uavs) = match places {
            Places::Anywhere => draw_world(&mut rng),
            Places::Crowds => draw_crowd(3..=5, &mut rng),
            Places::Few => draw_crowd(2..=3, &mut rng),
        };
        for place in 1..=FAULTS {
            let mut rng = stream(seed, Stream::Sweep, world, place);
            let (name, fault) = draw_fault(uavs, &mut rng);
            let mut all = settings.clone();
            all.push(format!("faults=[{fault}]"));
            let set: Vec<String> = all.iter().map(|setting| format!("'{setting}'")).collect();
            let label = format!("{}{place}: {name}", (b'A' + world as u8) as char);
            let set = set.join(", ");
            text.push_str(&format!("    {{ label = \"{label}\", set = [{set}] }},\n"));
        }
    }
    text.push_str(TAIL);
    text
}

/// Between two numbers, any order of magnitude as likely as another; two digits.
fn over(rng: &mut Random, least: f64, most: f64) -> f64 {
    let drawn = least * (most / least).powf(rng.random::<f64>());
    let digits = 10f64.powf(drawn.log10().floor() - 1.0);
    (drawn / digits).round() * digits
}

/// A world, as settings, and how many UAVs it has.
fn draw_world(rng: &mut Random) -> (Vec<String>, u32) {
    let uavs = rng.random_range(4..=7);
    let side_m = over(rng, 2e3, 2e4);
    let radius_m = side_m * rng.random_range(0.22..0.34);
    let bandwidth = over(rng, 0.0003, 0.03);
    let processors = over(rng, 0.02, 1.0);
    let up = |hz: f64| format!("{:.0}", hz * bandwidth);
    let mobility = match rng.random_range(0..4) {
        0 => "mobility.kind=static".into(),
        1 => format!("mobility.hop_probability={:.1}", rng.random_range(0.1..0.5)),
        2 => "mobility.kind=random_waypoint".into(),
        _ => format!(
            "mobility={{kind=\"group\", groups={}, radius_m={:.0}}}",
            rng.random_range(3..=6),
            side_m / 12.0
        ),
    };
    let labels = draw_labels(rng);
    let settings = vec![
        format!("area={{width_m={side_m:.0}, height_m={side_m:.0}}}"),
        format!("devices.count={}", rng.random_range(60..=200)),
        format!(
            "devices.cpu_hz=[{:.0}, {:.0}]",
            1e9 * processors,
            1e10 * processors
        ),
        format!("uavs.count={uavs}"),
        format!("uavs.coverage_radius_m={radius_m:.0}"),
        format!("uavs.speed_mps={:.0}", rng.random_range(10.0..30.0)),
        format!("uavs.battery_j={:.0}", over(rng, 5e5, 2e6)),
        format!("uavs.recharge_w={:.0}", over(rng, 200.0, 2e3)),
        format!("uavs.bandwidth_up_hz=[{}, {}]", up(20e6), up(100e6)),
        format!("uavs.bandwidth_down_hz=[{}, {}]", up(20e6), up(100e6)),
        format!("radio.uav_link_bandwidth_hz={}", up(2e6)),
        mobility,
        labels.into(),
    ];
    (settings, uavs)
}

fn draw_labels(rng: &mut Random) -> &'static str {
    match rng.random_range(0..3) {
        0 => "data.partition.kind=noniid_a",
        1 => "data.partition.kind=noniid_b",
        _ => "data.partition={kind=\"dirichlet\", alpha=0.3}",
    }
}

/// The three halls of the scenario `shelters` with another fleet, other devices and other radios.
fn draw_crowd(fleets: RangeInclusive<u32>, rng: &mut Random) -> (Vec<String>, u32) {
    let uavs = rng.random_range(fleets);
    let bandwidth = over(rng, 0.0003, 0.03);
    let processors = over(rng, 0.02, 1.0);
    let up = |hz: f64| format!("{:.0}", hz * bandwidth);
    let labels = draw_labels(rng);
    let settings = vec![
        "area={width_m=5000, height_m=5000}".into(),
        format!("devices.count={}", rng.random_range(60..=200)),
        "devices.positions=shelters".into(),
        format!(
            "devices.cpu_hz=[{:.0}, {:.0}]",
            1e9 * processors,
            1e10 * processors
        ),
        format!("uavs.count={uavs}"),
        "uavs.layout.kind=coverage".into(),
        format!(
            "uavs.coverage_radius_m={:.0}",
            rng.random_range(500.0..900.0)
        ),
        format!("uavs.speed_mps={:.0}", rng.random_range(10.0..30.0)),
        format!("uavs.battery_j={:.0}", over(rng, 5e5, 2e6)),
        format!("uavs.recharge_w={:.0}", over(rng, 200.0, 2e3)),
        format!("uavs.bandwidth_up_hz=[{}, {}]", up(20e6), up(100e6)),
        format!("uavs.bandwidth_down_hz=[{}, {}]", up(20e6), up(100e6)),
        format!("radio.uav_link_bandwidth_hz={}", up(2e6)),
        "mobility.kind=static".into(),
        labels.into(),
    ];
    (settings, uavs)
}

/// A fault, in words and as a table.
fn draw_fault(uavs: u32, rng: &mut Random) -> (String, String) {
    let uav = rng.random_range(0..uavs);
    let round = rng.random_range(2..=8);
    match rng.random_range(0..3) {
        0 => (
            format!("UAV {uav} lost in round {round}"),
            format!("{{kind=\"loss\", uav={uav}, round={round}, moment=\"edge\"}}"),
        ),
        1 => (
            format!("UAV {uav} leaves for good in round {round}"),
            format!("{{kind=\"loss\", uav={uav}, round={round}, moment=\"edge\", warned=true}}"),
        ),
        _ => (
            format!("UAV {uav} leaves to charge in round {round}"),
            format!("{{kind=\"drain\", uav={uav}, round={round}}}"),
        ),
    }
}
