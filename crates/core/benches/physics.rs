//! What the richest physics costs over the paper's power law: rounds of the same network under both, in turn, in one run.
//! H is fixed but in the last line: P1 has devices train for longer where links are slow, which is a decision and not a cost of the physics.
//!
//! `cargo bench -p aerofed --bench physics`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::time::{Duration, Instant};

use aerofed::run::Run;
use aerofed::{Method, Scenario, Simulation};

/// Everything that can be had at once, and 150 devices, as in the default network.
const RICH: [&str; 16] = [
    "channel={kind=\"tr36777\", scenario=\"uma_av\", draw=\"link\", shadowing=true}",
    "radio.fading=rician",
    "radio.noise_figure_db=5",
    "radio.least_snr_db=-10",
    "radio.retries=2",
    "radio.reuse=1",
    "mobility.kind=gauss_markov",
    "flight.power.kind=rotary_wing",
    "flight.wind_mps=[5, 3]",
    "flight.climb_mps=3",
    "flight.descent_mps=2",
    "battery={usable=0.9, taper_from=0.8, ageing_per_cycle=0.001}",
    "solar={uav_w=20.0, base_w=200.0}",
    "uavs.speed_mps=max_range",
    "area.no_fly=[{name=\"a\", polygon=[[8e3, 8e3], [9e3, 8e3], [9e3, 9e3], [8e3, 9e3]]}]",
    "uavs.battery_j=[400e3, 600e3]",
];
const ROUNDS: usize = 6;
const REPEATS: usize = 3;

fn round_time(settings: &[&str]) -> (Duration, usize) {
    let rounds = format!("stop.max_rounds={ROUNDS}");
    let settings = [settings, &[&rounds]].concat();
    let scenario = Scenario::parse("", &settings).unwrap().check().unwrap();
    let mut method = Method::of(&scenario).unwrap();
    let mut run = Run::new(Simulation::builder(&scenario).build().unwrap());
    let mut updates = 0;
    let started = Instant::now();
    while let Some(record) = run.step(&mut method).unwrap() {
        updates += record.updates_computed;
    }
    (started.elapsed() / ROUNDS as u32, updates)
}

fn main() {
    for (name, network) in [
        (
            "cehfed, CNN",
            &[
                "method=cehfed",
                "allocation={kind=\"equal\", local_iterations=6}",
            ][..],
        ),
        ("hfl, CNN", &["method=hfl"]),
        ("hfl, logistic", &["method=hfl", "model.name=logistic"]),
        ("cehfed, P1", &["method=cehfed"]),
    ] {
        let (mut plain, mut rich) = (Vec::new(), Vec::new());
        for _ in 0..REPEATS {
            plain.push(round_time(network));
            rich.push(round_time(&[network, &RICH].concat()));
        }
        let best = |times: &[(Duration, usize)]| times.iter().min().copied().unwrap();
        let ((plain, some), (rich, others)) = (best(&plain), best(&rich));
        println!(
            "{name:<14} power law {plain:>9.2?} a round ({some} updates), richest {rich:>9.2?} ({others} updates): {:.2} times, {:.2} times an update",
            rich.as_secs_f64() / plain.as_secs_f64(),
            rich.as_secs_f64() / plain.as_secs_f64() * some as f64 / others as f64,
        );
    }
}
