//! Validation of the bandwidth solvers: against a conic solver, against their own certificates, and against what the model says.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, unsafe_code)]

#[path = "val_bandwidth/cells.rs"]
mod cells;
#[path = "val_bandwidth/conic.rs"]
mod conic;
#[path = "val_bandwidth/input.rs"]
mod input;
#[path = "val_bandwidth/iterations.rs"]
mod iterations;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell as Slot;

use aerofed::solve::Status;
use aerofed::solve::bandwidth::{
    Cell, CellDevice, DeviceShare, GAP_TOLERANCE, Options, Solution, Solver, palm,
};
use cells::{CLASSES, Class, cell};

/// Counts this thread's allocations.
struct Counting;

thread_local! {
    static ALLOCATIONS: Slot<usize> = const { Slot::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn assert_feasible(cell: &Cell, answer: &Solution) {
    for (budget_hz, band) in [
        (
            cell.bandwidth_up_hz,
            (|d| d.bandwidth_up_hz) as fn(&DeviceShare) -> f64,
        ),
        (cell.bandwidth_down_hz, |d| d.bandwidth_down_hz),
    ] {
        let forward: f64 = answer.devices.iter().map(band).sum();
        let backward: f64 = answer.devices.iter().rev().map(band).sum();
        assert!(
            forward <= budget_hz && backward <= budget_hz,
            "{forward:e} of {budget_hz:e}"
        );
        assert!(answer.devices.iter().all(|d| band(d) > 0.0));
    }
    let weighed = cell.energy_weight * answer.energy_j + cell.time_weight * answer.round_time_s;
    assert_eq!(weighed, answer.objective);
    let slowest_s = answer.devices.iter().map(|d| d.time_s).fold(0.0, f64::max);
    assert_eq!(slowest_s, answer.round_time_s);
}

/// The objective of section 6, straight from the bands.
fn cost(cell: &Cell, h: u32, answer: &Solution) -> f64 {
    let (mut own, mut slowest_s) = (0.0, 0.0_f64);
    for (device, given) in cell.devices.iter().zip(&answer.devices) {
        let time_s = |bits: f64, snr_hz: f64, band_hz: f64| {
            bits / (band_hz * (snr_hz / band_hz).ln_1p() / std::f64::consts::LN_2)
        };
        let up_s = time_s(cell.model_bits_up, device.snr_up_hz, given.bandwidth_up_hz);
        let down_s = time_s(
            cell.model_bits_down,
            device.snr_down_hz,
            given.bandwidth_down_hz,
        );
        own += device.tx_power_w * up_s
            + cell.broadcast_power_w * down_s
            + f64::from(h) * device.iteration_energy_j;
        slowest_s = slowest_s.max(up_s + down_s + f64::from(h) * device.iteration_time_s);
    }
    cell.energy_weight * own
        + (cell.energy_weight * cell.hover_power_w + cell.time_weight) * slowest_s
}

/// Clarabel's objective, in units that let it meet its tolerance; `None` where it never does.
fn conic_objective(cell: &Cell, h: u32, exact: &Solution) -> Option<f64> {
    let exact_cost = cost(cell, h, exact);
    let own = |n: usize| {
        [
            exact.devices[n].bandwidth_up_hz,
            exact.devices[n].bandwidth_down_hz,
        ]
    };
    // Units are free: taking them from our own answer changes the arithmetic, not the problem.
    [(true, 1e-9), (true, 1e-8), (false, 1e-9), (false, 1e-8)]
        .into_iter()
        .find_map(|(scaled, tolerance)| {
            let found = if scaled {
                conic::reference(cell, h, own, tolerance)
            } else {
                conic::reference(cell, h, conic::equal_units(cell), tolerance)
            };
            // A 'solution' above a feasible point's cost, evaluated from the model's formula, is none: Clarabel's tolerance on cones
            // was too loose for the cell.
            (found.solved && found.objective <= exact_cost * (1.0 + 1e-6))
                .then_some(found.objective)
        })
}

#[test]
fn exact_and_palm_agree_with_a_conic_solver() {
    let (mut compared, mut beyond) = (0, 0);
    let (mut worst_exact, mut worst_palm) = (0.0_f64, 0.0_f64);
    for class in CLASSES {
        for index in 0..20_u32 {
            let count = if class == Class::Single {
                1
            } else {
                300f64.powf(f64::from(index) / 19.0).round() as usize
            };
            let cell = cell(class, count, u64::from(index));
            let h = 1 + index % 10;
            let mut solver = Solver::new();
            let exact = solver.solve(&cell, h).unwrap();
            let palm = palm::solve(&cell, h, &palm::settings()).unwrap();
            for answer in [exact, &palm] {
                assert_feasible(&cell, answer);
                assert_eq!(
                    answer.status,
                    Status::Solved,
                    "{class:?} of {count}: {:e}",
                    answer.kkt_residual
                );
            }
            assert!((cost(&cell, h, exact) / exact.objective - 1.0).abs() < 1e-12);
            assert!(exact.kkt_residual <= GAP_TOLERANCE);
            assert!(
                exact.objective <= palm.objective * (1.0 + 1e-10),
                "{class:?} of {count}: palm found better"
            );
            match conic_objective(&cell, h, exact) {
                Some(objective) => {
                    compared += 1;
                    let errors =
                        [exact, &palm].map(|answer| (answer.objective / objective - 1.0).abs());
                    worst_exact = worst_exact.max(errors[0]);
                    worst_palm = worst_palm.max(errors[1]);
                    assert!(
                        errors[0] <= 1e-6 && errors[1] <= 1e-6,
                        "{class:?} of {count}, seed {index}: {errors:?}"
                    );
                }
                // Then the duality gap above is the proof.
                None => beyond += 1,
            }
        }
    }
    println!(
        "{compared} cells compared, {beyond} beyond Clarabel; exact {worst_exact:.1e}, palm {worst_palm:.1e}"
    );
    assert!(compared >= 200, "only {compared} cells compared");
    assert!(beyond <= 10, "{beyond} cells beyond Clarabel");
}

#[test]
fn every_class_is_solved_at_every_size() {
    for class in CLASSES {
        for seed in 0..200 {
            let count = if class == Class::Single {
                1
            } else {
                1 + (seed as usize * 37) % 120
            };
            let cell = cell(class, count, 1_000 + seed);
            let mut solver = Solver::new();
            let answer = solver.solve(&cell, 5).unwrap();
            assert_eq!(
                answer.status,
                Status::Solved,
                "{class:?} of {count}, seed {seed}: {:e}",
                answer.kkt_residual
            );
            assert_feasible(&cell, answer);
            assert!(
                solver.passes() <= 40,
                "{class:?} of {count}, seed {seed}: {} passes",
                solver.passes()
            );
        }
    }
}

#[test]
fn corners_of_the_allowed_ranges_end_honestly() {
    // Every field at one end of its range or in the middle: nothing may overflow, and no answer may be silently bad.
    let ends = |seed: u64, field: u64, values: [f64; 3]| {
        let mut hash = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ (field + 7).wrapping_mul(0xD1B5_4A32_D192_ED03);
        hash ^= hash >> 29;
        hash = hash.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        values[((hash >> 33) % 3) as usize]
    };
    let mut solved = 0;
    for seed in 0..3_000 {
        let pick = |field, values| ends(seed, field, values);
        let devices = (0..1 + seed % 5).map(|n| CellDevice {
            snr_up_hz: pick(20 + 10 * n, [1e-6, 1e9, 1e24]),
            snr_down_hz: pick(21 + 10 * n, [1e-6, 1e9, 1e24]),
            tx_power_w: pick(22 + 10 * n, [1e-12, 1.0, 1e9]),
            iteration_time_s: pick(23 + 10 * n, [0.0, 1e-3, 1e12]),
            iteration_energy_j: pick(24 + 10 * n, [0.0, 1e-3, 1e12]),
        });
        let cell = Cell {
            energy_weight: pick(1, [0.0, 1e-9, 1e9]),
            time_weight: pick(2, [1e-9, 1.0, 1e9]),
            hover_power_w: pick(3, [0.0, 100.0, 1e9]),
            bandwidth_up_hz: pick(4, [1e-3, 1e7, 1e15]),
            bandwidth_down_hz: pick(5, [1e-3, 1e7, 1e15]),
            model_bits_up: pick(6, [1e-3, 1e6, 1e18]),
            model_bits_down: pick(7, [1e-3, 1e6, 1e18]),
            broadcast_power_w: pick(8, [1e-12, 1.0, 1e9]),
            local_iterations: None,
            devices: devices.collect(),
        };
        let mut solver = Solver::new();
        let answer = solver.solve(&cell, 5).unwrap();
        assert!(
            answer.objective.is_finite() && answer.objective > 0.0,
            "seed {seed}: {answer:?} of {cell:?}"
        );
        assert_feasible(&cell, answer);
        assert_eq!(
            answer.status == Status::Solved,
            answer.kkt_residual <= GAP_TOLERANCE
        );
        solved += usize::from(answer.status == Status::Solved);
    }
    println!("{solved} of 3000 corners solved");
    // Ratios of 1e30 between the devices of one cell exhaust double precision now and then; that must be said, and be rare.
    assert!(solved >= 2_900, "only {solved} of 3000 corners solved");
}

#[test]
fn a_warm_start_finds_the_same_in_fewer_passes() {
    for class in CLASSES {
        let first = cell(class, if class == Class::Single { 1 } else { 40 }, 7);
        let mut second = first.clone();
        for (n, device) in second.devices.iter_mut().enumerate() {
            let drift = 1.0 + 0.02 * ((n * 7 % 11) as f64 - 5.0) / 5.0;
            device.snr_up_hz *= drift;
            device.snr_down_hz *= drift;
        }
        let mut warm = Solver::new();
        warm.solve(&first, 5).unwrap();
        let warm_objective = warm.solve(&second, 5).unwrap().objective;
        let mut cold = Solver::new();
        let cold_objective = cold.solve(&second, 5).unwrap().objective;
        assert!(
            (warm_objective / cold_objective - 1.0).abs() < 1e-9,
            "{class:?}"
        );
        assert!(
            warm.passes() <= cold.passes(),
            "{class:?}: warm {} cold {}",
            warm.passes(),
            cold.passes()
        );
    }
}

#[test]
fn nothing_is_allocated_after_the_first_call() {
    let cells: Vec<Cell> = CLASSES
        .iter()
        .map(|class| cell(*class, if *class == Class::Single { 1 } else { 50 }, 3))
        .collect();
    let mut solver = Solver::new();
    solver.solve(&cells[0], 5).unwrap();
    let before = ALLOCATIONS.get();
    for cell in &cells {
        for h in [1, 5, 20] {
            solver.solve(cell, h).unwrap();
        }
        solver.allocate(cell, &Options::default()).unwrap();
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
    let _ = solver.clone();
    assert!(ALLOCATIONS.get() > before, "the counter does not count");
}

#[test]
fn cheaper_than_the_equal_split() {
    // 30 devices, H = 5. The bands alone save 15.7 % on average, and the certificate proves that no other bands save more.
    // With H chosen too, the cost of a round times the rounds to come falls by 19.1 %.
    let mut solver = Solver::new();
    let options = Options::default();
    let objective = options.objective;
    let (mut bands, mut both) = (0.0, 0.0);
    for seed in 0..100 {
        let cell = cell(Class::Typical, 30, seed);
        let equal = cell.equal_split(5).unwrap().objective;
        let exact = solver.solve(&cell, 5).unwrap();
        assert_eq!(exact.status, Status::Solved);
        bands += 1.0 - exact.objective / equal;
        let chosen = solver.allocate(&cell, &options).unwrap();
        both += 1.0
            - chosen.objective * objective.rounds(chosen.local_iterations)
                / (equal * objective.rounds(5));
    }
    println!("below the equal split at H = 5: bands alone {bands:.1} %, with H chosen {both:.1} %");
    assert!(bands >= 15.0, "bands alone: {bands:.1} %");
    assert!(both >= 19.0, "with H chosen: {both:.1} %");
}
