//! TD3's learning curve on a pendulum, as a picture.
//!
//! `cargo run --release -p aerofed-report --example pendulum > docs/td3-pendulum.svg`; units of each hidden layer, 64 unless
//! given, may follow `pendulum`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example")]

#[path = "../../core/tests/pendulum/mod.rs"]
mod pendulum;

use aerofed_report::{Curve, curves_svg};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let width = std::env::args()
        .nth(1)
        .map_or(Ok(64), |width| width.parse())?;
    let mut curves = Vec::new();
    for seed in 1..=3 {
        let (start, mut points) = (Instant::now(), Vec::new());
        let mut agent = pendulum::learn(width, seed, 20_000, |steps, agent| {
            points.push((steps as f64, pendulum::evaluate(agent, seed, 20)?));
            Ok(())
        })?;
        let first = points.iter().find(|point| point.1 > -200.0);
        eprintln!(
            "seed {seed}: above -200 after {} steps, {:.1} at the end, {:.1} over 1000 episodes, {:.1} s",
            first.map_or("no".into(), |point| point.0.to_string()),
            points.last().map_or(f64::NAN, |point| point.1),
            pendulum::evaluate(&mut agent, seed, 1000)?,
            start.elapsed().as_secs_f64(),
        );
        curves.push(Curve {
            name: format!("seed {seed}"),
            points,
        });
    }
    let title = "TD3 swings up a pendulum";
    println!(
        "{}",
        curves_svg(title, "steps", "mean return of 20 episodes", 0.0, &curves)
    );
    Ok(())
}
