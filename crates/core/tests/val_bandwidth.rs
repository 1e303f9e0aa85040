//! Validation of the bandwidth solvers: against a conic solver, against their own certificates, and against what the model says.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, unsafe_code)]

#[path = "val_bandwidth/cells.rs"]
mod cells;
#[path = "val_bandwidth/conic.rs"]
mod conic;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell as Slot;

use aerofed::solve::Status;
use aerofed::solve::bandwidth::{
    Cell, CellDevice, CellError, GAP_TOLERANCE, Method, Objective, Options, Solution, Solver,
    allocate, best_iterations, palm,
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
            (|d| d.bandwidth_up_hz) as fn(&aerofed::solve::bandwidth::DeviceShare) -> f64,
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
    assert!(solved >= 2_990, "only {solved} of 3000 corners solved");
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
fn a_fifth_cheaper_than_the_equal_split() {
    let mut solver = Solver::new();
    let saved: f64 = (0..100)
        .map(|seed| {
            let cell = cell(Class::Typical, 30, seed);
            1.0 - solver.solve(&cell, 5).unwrap().objective / cell.equal_split(5).unwrap().objective
        })
        .sum::<f64>()
        / 100.0;
    println!("{:.1} % below the equal split", 100.0 * saved);
    assert!(
        saved >= 0.2,
        "only {:.1} % below the equal split",
        100.0 * saved
    );
}

fn chosen(cell: &Cell, c0: f64, c1: f64) -> u32 {
    let options = Options {
        objective: Objective::Convergence { c0, c1 },
        h_max: 200,
        ..Options::default()
    };
    allocate(cell, &options).unwrap().local_iterations
}

#[test]
fn local_iterations_balance_communication_and_computation() {
    let base = cell(Class::Typical, 30, 1);
    let mut dear_air = base.clone();
    dear_air.model_bits_up *= 20.0;
    dear_air.model_bits_down *= 20.0;
    let mut dear_steps = base.clone();
    for device in &mut dear_steps.devices {
        device.iteration_time_s *= 20.0;
        device.iteration_energy_j *= 20.0;
    }
    let [h, air, steps] = [&base, &dear_air, &dear_steps].map(|cell| chosen(cell, 10.0, 0.01));
    assert!(steps < h && h < air, "H = {steps}, {h}, {air}");
    // Free computation: only drift holds H back, sqrt(c0 / c1).
    for device in &mut dear_air.devices {
        device.iteration_time_s = 0.0;
        device.iteration_energy_j = 0.0;
    }
    assert_eq!(chosen(&dear_air, 9.0, 0.01), 30);
    // One device: cost = a + k H exactly, so the analytic root rounded to its better neighbour is the answer.
    let single = cell(Class::Single, 1, 5);
    let at = |h| single.equal_split(h).unwrap().objective;
    let k = at(2) - at(1);
    let root = best_iterations(at(1) - k, k, 10.0, 0.01);
    let total = |h: f64| at(h as u32) * (1.0 + 10.0 / h + 0.01 * h);
    let expected = if total(root.floor()) <= total(root.ceil()) {
        root.floor()
    } else {
        root.ceil()
    };
    assert_eq!(f64::from(chosen(&single, 10.0, 0.01)), expected);
}

#[test]
fn chosen_iterations_are_the_best_of_all() {
    for class in CLASSES {
        for (seed, (c0, c1)) in [
            (10.0, 0.1),
            (100.0, 0.001),
            (1.0, 1.0),
            (3.0, 0.0),
            (50.0, 0.05),
        ]
        .into_iter()
        .enumerate()
        {
            let cell = cell(
                class,
                if class == Class::Single { 1 } else { 12 },
                seed as u64,
            );
            let objective = Objective::Convergence { c0, c1 };
            let options = Options {
                objective,
                h_min: 2,
                h_max: 60,
                ..Options::default()
            };
            let mut solver = Solver::new();
            let total = |h: u32, solver: &mut Solver| {
                solver.solve(&cell, h).unwrap().objective * objective.rounds(h)
            };
            let found = solver.allocate(&cell, &options).unwrap().local_iterations;
            let least = (2..=60)
                .map(|h| total(h, &mut solver))
                .fold(f64::INFINITY, f64::min);
            let reached = total(found, &mut solver);
            assert!(
                reached <= least * (1.0 + 1e-8),
                "{class:?} {c0} {c1}: H = {found} costs {reached}, the best {least}"
            );
        }
    }
}

#[test]
fn the_paper_objective_takes_the_least_iterations() {
    let cell = cell(Class::Typical, 10, 1);
    for h_min in [1, 3] {
        let options = Options {
            objective: Objective::Paper,
            h_min,
            ..Options::default()
        };
        assert_eq!(allocate(&cell, &options).unwrap().local_iterations, h_min);
    }
    let fixed = Cell {
        local_iterations: Some(7),
        ..cell
    };
    let [exact, palm] = [Method::Exact, Method::Palm].map(|solver| {
        allocate(
            &fixed,
            &Options {
                solver,
                ..Options::default()
            },
        )
        .unwrap()
    });
    assert_eq!((exact.local_iterations, palm.local_iterations), (7, 7));
    assert!((exact.objective / palm.objective - 1.0).abs() < 1e-7);
}

#[test]
fn bad_cells_are_named() {
    let good = cell(Class::Typical, 3, 1);
    let text = serde_json::to_value(&good).unwrap();
    let mut tried = 0;
    for (name, _) in text
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, value)| value.is_number())
    {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300] {
            let mut cell = good.clone();
            *match name.as_str() {
                "energy_weight" => &mut cell.energy_weight,
                "time_weight" => &mut cell.time_weight,
                "hover_power_w" => &mut cell.hover_power_w,
                "bandwidth_up_hz" => &mut cell.bandwidth_up_hz,
                "bandwidth_down_hz" => &mut cell.bandwidth_down_hz,
                "model_bits_up" => &mut cell.model_bits_up,
                "model_bits_down" => &mut cell.model_bits_down,
                "broadcast_power_w" => &mut cell.broadcast_power_w,
                other => panic!("{other} is not tried"),
            } = bad;
            let message = allocate(&cell, &Options::default())
                .unwrap_err()
                .to_string();
            assert!(
                message.starts_with(&format!("{name} is {bad}; it must be ")),
                "{message}"
            );
            tried += 1;
        }
    }
    assert_eq!(tried, 8 * 5);
    let mut cell = good.clone();
    cell.devices[2].snr_down_hz = 0.0;
    assert_eq!(
        cell.check().unwrap_err().to_string(),
        "devices[2].snr_down_hz is 0; it must be between 1e-6 and 1e24"
    );
    let cell = Cell {
        energy_weight: 0.0,
        time_weight: 0.0,
        ..good.clone()
    };
    assert_eq!(cell.check(), Err(CellError::NoObjective));
    let cell = Cell {
        devices: Vec::new(),
        ..good.clone()
    };
    assert_eq!(cell.check(), Err(CellError::NoDevices));
    let cell = Cell {
        local_iterations: Some(0),
        ..good.clone()
    };
    assert!(
        cell.check()
            .unwrap_err()
            .to_string()
            .starts_with("local_iterations is 0")
    );
    assert!(Solver::new().solve(&good, 0).is_err());
    let options = Options {
        h_min: 5,
        h_max: 4,
        ..Options::default()
    };
    assert_eq!(
        allocate(&good, &options),
        Err(CellError::EmptyIterationRange { h_min: 5, h_max: 4 })
    );
    let options = Options {
        objective: Objective::Convergence {
            c0: f64::NAN,
            c1: 0.0,
        },
        ..Options::default()
    };
    assert!(
        allocate(&good, &options)
            .unwrap_err()
            .to_string()
            .starts_with("c0 is NaN")
    );
}

#[test]
fn the_planner_file_is_read_as_documented() {
    let text = r#"{"energy_weight":0.5,"time_weight":0.5,"hover_power_w":100,"bandwidth_up_hz":6e7,"bandwidth_down_hz":6e7,
        "model_bits_up":698880,"model_bits_down":698880,"broadcast_power_w":0.8,"local_iterations":5,
        "devices":[{"snr_up_hz":1e9,"snr_down_hz":2e9,"tx_power_w":0.5,"iteration_time_s":0.01,"iteration_energy_j":0.2}]}"#;
    let cell: Cell = serde_json::from_str(text).unwrap();
    let answer = serde_json::to_value(allocate(&cell, &Options::default()).unwrap()).unwrap();
    assert_eq!(answer["status"], "solved");
    assert_eq!(answer["local_iterations"], 5);
    assert_eq!(answer["devices"][0]["bandwidth_up_hz"], 6e7);
    // By hand: rate = 6e7 log2(1 + 1e9 / 6e7) = 6e7 * 4.14292 bit/s, and so down with 2e9.
    let up = 698_880.0 / (6e7 * (1.0 + 1e9 / 6e7_f64).log2());
    let down = 698_880.0 / (6e7 * (1.0 + 2e9 / 6e7_f64).log2());
    let time = up + down + 0.05;
    assert!((answer["round_time_s"].as_f64().unwrap() / time - 1.0).abs() < 1e-12);
    let energy = up * 0.5 + 1.0 + down * 0.8 + 100.0 * time;
    assert!((answer["energy_j"].as_f64().unwrap() / energy - 1.0).abs() < 1e-12);
    assert!(
        (answer["objective"].as_f64().unwrap() / (0.5 * energy + 0.5 * time) - 1.0).abs() < 1e-12
    );
    let unknown = text.replace("\"energy_weight\"", "\"energy_wieght\"");
    assert!(
        serde_json::from_str::<Cell>(&unknown)
            .unwrap_err()
            .to_string()
            .contains("energy_wieght")
    );
    let open: Cell =
        serde_json::from_str(&text.replace("\"local_iterations\":5", "\"local_iterations\":null"))
            .unwrap();
    assert_eq!(open.local_iterations, None);
}
