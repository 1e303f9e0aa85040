//! The choice of the number of local steps.

use aerofed::solve::bandwidth::{
    Cell, Method, Objective, Options, Solver, allocate, best_iterations,
};

use crate::cells::{CLASSES, Class, cell};

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
