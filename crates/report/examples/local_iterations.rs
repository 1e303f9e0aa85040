//! Why the paper's P1 cannot choose the number of local iterations, as a picture.
//!
//! `cargo run --release -p aerofed-report --example local_iterations > docs/p1-iterations.svg`
#![allow(clippy::print_stdout, reason = "an example")]

use aerofed::solve::bandwidth::{Cell, CellDevice, CellError, Objective, Solver};
use aerofed_report::{Curve, curves_svg};

fn main() -> Result<(), CellError> {
    // 30 devices, from near and fast to far and slow, in a cell of the paper's Table II.
    let device = |i: i32| {
        let share = f64::from(i) / 29.0;
        CellDevice {
            snr_up_hz: 1e10 * (-4.0 * share).exp(),
            snr_down_hz: 2e10 * (-4.0 * share).exp(),
            tx_power_w: 0.5,
            iteration_time_s: 0.0015 + 0.005 * share,
            iteration_energy_j: 0.02 * (1.0 - share) + 0.001,
        }
    };
    let cell = Cell {
        energy_weight: 0.5,
        time_weight: 0.5,
        hover_power_w: 100.0,
        bandwidth_up_hz: 60e6,
        bandwidth_down_hz: 60e6,
        model_bits_up: 698_880.0,
        model_bits_down: 698_880.0,
        broadcast_power_w: 0.75,
        local_iterations: None,
        devices: (0..30).map(device).collect(),
    };
    let mut solver = Solver::new();
    let mut curves = [
        "cost of one round (paper)",
        "rounds to come",
        "cost of all rounds (ours)",
    ]
    .map(|name| Curve {
        name: name.into(),
        points: Vec::new(),
    });
    for h in 1..=40 {
        let cost = solver.solve(&cell, h)?.objective;
        let rounds = Objective::default().rounds(h);
        for (curve, value) in curves.iter_mut().zip([cost, rounds, cost * rounds]) {
            curve.points.push((f64::from(h), value));
        }
    }
    for curve in &mut curves {
        let least = curve
            .points
            .iter()
            .map(|point| point.1)
            .fold(f64::INFINITY, f64::min);
        curve.points.iter_mut().for_each(|point| point.1 /= least);
    }
    let title = "Local iterations: one round against all rounds";
    println!(
        "{}",
        curves_svg(
            title,
            "local iterations H",
            "relative to the least",
            4.0,
            &curves
        )
    );
    Ok(())
}
