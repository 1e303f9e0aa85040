//! Method `hfl` with equal shares against `hfl` with P1, in the default scenario: what 90 % accuracy costs.
//!
//! `cargo run --release -p aerofed --example allocation [SEEDS]` prints a Markdown table.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example")]

use std::ops::ControlFlow;

use aerofed::{Error, Method, Scenario, run};

const TARGET: f64 = 0.9;

fn main() -> Result<(), Error> {
    let seeds: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(3);
    let allocations = [
        "allocation={kind=\"equal\", local_iterations=1}",
        "allocation={kind=\"equal\", local_iterations=2}",
        "allocation={kind=\"equal\", local_iterations=5}",
        "allocation={kind=\"equal\", local_iterations=10}",
        "allocation={kind=\"p1\", estimate=false}",
        "allocation={kind=\"p1\"}",
    ];
    println!("| allocation | mean H | rounds | time (s) | energy (kJ) |\n|---|---|---|---|---|");
    for allocation in allocations {
        let mut rows = Vec::new();
        for seed in 1..=seeds {
            rows.push(cost_of_target(allocation, seed)?);
            eprintln!("{allocation} seed {seed}: {:?}", rows.last());
        }
        let column = |index: usize| {
            let mean = rows.iter().map(|row| row[index]).sum::<f64>() / rows.len() as f64;
            let variance = rows
                .iter()
                .map(|row| (row[index] - mean).powi(2))
                .sum::<f64>();
            let deviation = (variance / (rows.len() as f64 - 1.0).max(1.0)).sqrt();
            format!("{mean:.2} ± {deviation:.2}")
        };
        let name = allocation.trim_start_matches("allocation=");
        println!(
            "| `{name}` | {} | {} | {} | {} |",
            column(3),
            column(0),
            column(1),
            column(2)
        );
    }
    Ok(())
}

/// Rounds, seconds and kilojoules until the target, and the mean H until then.
fn cost_of_target(allocation: &str, seed: u64) -> Result<[f64; 4], Error> {
    let settings = [
        "method=hfl".into(),
        allocation.to_owned(),
        format!("seed={seed}"),
        format!("stop.target_accuracy={TARGET}"),
        "stop.max_rounds=200".into(),
    ];
    let scenario = Scenario::parse("", &settings)?.check()?;
    let outcome = run(&scenario, &mut Method::of(&scenario)?, |_| {
        ControlFlow::Continue(())
    })?;
    let (mut devices, mut steps) = (0.0, 0.0);
    for uav in outcome.records.iter().flat_map(|record| &record.uavs) {
        devices += uav.devices.len() as f64;
        steps += (uav.devices.len() * uav.local_iterations) as f64;
    }
    let summary = outcome.summary;
    let rounds = summary.rounds as f64;
    Ok([
        rounds,
        summary.total_time_s,
        summary.total_energy_j / 1e3,
        steps / devices,
    ])
}
