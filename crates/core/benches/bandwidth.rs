//! The three ways to split a cell's bandwidth, by number of devices: `cargo bench -p aerofed --bench bandwidth`.
//!
//! Each figure goes from the cell to the answer: set-up and certificate included, for Clarabel the assembly of its matrices too.
//! `exact_cold` forgets the last solution before each call, `exact_warm` starts from it after every gain has changed by up to 2 %.

#![allow(missing_docs, clippy::unwrap_used)]

#[allow(dead_code, reason = "the validation tests use the rest")]
#[path = "../tests/val_bandwidth/cells.rs"]
mod cells;
#[allow(dead_code, reason = "the validation tests use the rest")]
#[path = "../tests/val_bandwidth/conic.rs"]
mod conic;

use aerofed::solve::bandwidth::{Cell, Solver, palm};
use cells::{Class, cell};
use divan::Bencher;

fn main() {
    divan::main();
}

/// The same cell a round later.
fn drifted(cell: &Cell) -> Cell {
    let mut next = cell.clone();
    for (n, device) in next.devices.iter_mut().enumerate() {
        let drift = 1.0 + 0.02 * ((n * 7 % 11) as f64 - 5.0) / 5.0;
        device.snr_up_hz *= drift;
        device.snr_down_hz *= drift;
    }
    next
}

#[divan::bench(args = [10, 100, 1_000, 10_000, 100_000])]
fn exact_cold(bencher: Bencher, devices: usize) {
    let cell = cell(Class::Typical, devices, 1);
    let mut solver = Solver::new();
    bencher.bench_local(|| {
        solver.forget();
        solver.solve(&cell, 5).unwrap().objective
    });
}

#[divan::bench(args = [10, 100, 1_000, 10_000, 100_000])]
fn exact_warm(bencher: Bencher, devices: usize) {
    let cell = cell(Class::Typical, devices, 1);
    let next = drifted(&cell);
    let mut solver = Solver::new();
    let mut odd = false;
    bencher.bench_local(|| {
        odd = !odd;
        solver
            .solve(if odd { &cell } else { &next }, 5)
            .unwrap()
            .objective
    });
}

#[divan::bench(args = [10, 100, 1_000], sample_count = 10)]
fn augmented_lagrangian(bencher: Bencher, devices: usize) {
    let cell = cell(Class::Typical, devices, 1);
    bencher.bench_local(|| palm::solve(&cell, 5, &palm::settings()).unwrap().objective);
}

#[divan::bench(args = [10, 100, 1_000], sample_count = 10)]
fn clarabel(bencher: Bencher, devices: usize) {
    let cell = cell(Class::Typical, devices, 1);
    bencher.bench_local(|| conic::reference(&cell, 5, conic::equal_units(&cell), 1e-8).objective);
}
