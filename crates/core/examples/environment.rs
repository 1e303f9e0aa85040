//! Other agents than ours: here one with the same action in every round, for several actions (0: the most devices it may take, 1: the fewest).
//!
//! ```text
//! cargo run --release -p aerofed --example environment -- [SEEDS [SETTING...]]
//! ```
//! A setting is as in `aerofed run --set`; those of the quick start hold otherwise.
#![allow(clippy::print_stdout, reason = "an example shows its results")]

use aerofed::environment::Environment;
use aerofed::scenario::{QUICKSTART, Scenario};
use rayon::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().map_or(Ok(1), |seeds| seeds.parse())?;
    let mut settings = vec![
        "method=cehfed".to_owned(),
        "association.kind=td3".to_owned(),
    ];
    settings.extend(arguments);
    let scenario = Scenario::parse(QUICKSTART, &settings)?.check()?;
    println!(
        "action | accuracy, rounds, simulated time, energy at the end (means of {seeds} seeds)"
    );
    for action in [0.0f32, 0.3, 0.5, 0.7, 0.9] {
        let play = |seed: u64| -> Result<[f64; 4], aerofed::Error> {
            let mut environment = Environment::new(&scenario, 1);
            let mut states = environment.reset(seed)?;
            let mut end = [0.0; 4];
            while !states.is_empty() {
                let step = environment.step(&vec![action; states.len()])?;
                let record = &step.record;
                end = [
                    100.0 * record.test_accuracy,
                    record.round as f64,
                    record.clock_s,
                    record.cumulative_energy_j / 1e3,
                ];
                states = step.states;
            }
            Ok(end)
        };
        let ends: Result<Vec<[f64; 4]>, _> = (1..=seeds).into_par_iter().map(play).collect();
        let ends = ends?;
        let mean =
            |place: usize| ends.iter().map(|end| end[place]).sum::<f64>() / ends.len() as f64;
        println!(
            "{action:.1} | {:.1} %, {:.1} rounds, {:.1} s, {:.2} kJ",
            mean(0),
            mean(1),
            mean(2),
            mean(3)
        );
    }
    Ok(())
}
