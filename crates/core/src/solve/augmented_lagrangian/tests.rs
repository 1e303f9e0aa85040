//! Textbook problems with their published solutions.

use super::*;

/// A value and its gradient.
type Function = fn(&[f64]) -> (f64, Vec<f64>);

/// A problem given by closures: objective with gradient, constraints with gradients.
struct Textbook {
    dimension: usize,
    objective: Function,
    constraints: Vec<Function>,
}

impl Problem for Textbook {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn constraints(&self) -> usize {
        self.constraints.len()
    }

    fn evaluate(&self, x: &[f64], constraints: &mut [f64]) -> f64 {
        for (slot, constraint) in constraints.iter_mut().zip(&self.constraints) {
            *slot = constraint(x).0;
        }
        (self.objective)(x).0
    }

    fn gradient(&self, x: &[f64], weights: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&(self.objective)(x).1);
        for (weight, constraint) in weights.iter().zip(&self.constraints) {
            for (slot, g) in out.iter_mut().zip(constraint(x).1) {
                *slot += weight * g;
            }
        }
    }
}

fn check(
    problem: &Textbook,
    start: &[f64],
    point: &[f64],
    objective: f64,
    multipliers: Option<&[f64]>,
) {
    let found = minimise(problem, start, &Settings::default());
    assert_eq!(found.status, Status::Solved, "{found:?}");
    assert!(found.violation <= 1e-8 && found.gradient_norm <= 1e-8);
    assert!(
        (found.objective - objective).abs() < 1e-6 * (1.0 + objective.abs()),
        "objective {} for {objective}",
        found.objective
    );
    for (x, expected) in found.point.iter().zip(point) {
        assert!(
            (x - expected).abs() < 1e-5,
            "{:?} for {point:?}",
            found.point
        );
    }
    for (v, expected) in found
        .multipliers
        .iter()
        .zip(multipliers.unwrap_or_default())
    {
        assert!(
            (v - expected).abs() < 1e-5,
            "multipliers {:?}",
            found.multipliers
        );
    }
}

#[test]
fn equality_as_two_inequalities() {
    // min x^2 + 2 y^2, x + y = 3: x = 2, y = 1, price of the right-hand side 2 x = 4 = 4 y; only one of the two inequalities pays.
    let problem = Textbook {
        dimension: 2,
        objective: |x| {
            (
                x[0].powi(2) + 2.0 * x[1].powi(2),
                vec![2.0 * x[0], 4.0 * x[1]],
            )
        },
        constraints: vec![|x| (x[0] + x[1] - 3.0, vec![1.0, 1.0]), |x| {
            (3.0 - x[0] - x[1], vec![-1.0, -1.0])
        }],
    };
    check(&problem, &[0.0, 0.0], &[2.0, 1.0], 6.0, Some(&[0.0, 4.0]));
}

#[test]
fn rosenbrock_in_a_disk() {
    // The unconstrained minimum (1, 1) lies on the circle of radius sqrt(2) and outside that of radius 1;
    // for the latter the optimum is the published 0.045674808719 at (0.786415154, 0.617698311).
    let problem = Textbook {
        dimension: 2,
        objective: |x| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            (
                a * a + 100.0 * b * b,
                vec![-2.0 * a - 400.0 * x[0] * b, 200.0 * b],
            )
        },
        constraints: vec![|x| {
            (
                x[0].powi(2) + x[1].powi(2) - 1.0,
                vec![2.0 * x[0], 2.0 * x[1]],
            )
        }],
    };
    check(
        &problem,
        &[0.0, 0.0],
        &[0.786_415_154, 0.617_698_311],
        0.045_674_808_719,
        None,
    );
}

#[test]
fn hock_schittkowski_21() {
    // min 0.01 x^2 + y^2 - 100, 10 x - y >= 10, 2 <= x <= 50, |y| <= 50: (2, 0), -99.96; the multiplier of x >= 2 is 0.04.
    let problem = Textbook {
        dimension: 2,
        objective: |x| {
            (
                0.01 * x[0].powi(2) + x[1].powi(2) - 100.0,
                vec![0.02 * x[0], 2.0 * x[1]],
            )
        },
        constraints: vec![
            |x| (10.0 - 10.0 * x[0] + x[1], vec![-10.0, 1.0]),
            |x| (2.0 - x[0], vec![-1.0, 0.0]),
            |x| (x[0] - 50.0, vec![1.0, 0.0]),
            |x| (-50.0 - x[1], vec![0.0, -1.0]),
            |x| (x[1] - 50.0, vec![0.0, 1.0]),
        ],
    };
    check(
        &problem,
        &[-1.0, -1.0],
        &[2.0, 0.0],
        -99.96,
        Some(&[0.0, 0.04, 0.0, 0.0, 0.0]),
    );
}

#[test]
fn hock_schittkowski_35() {
    // Beale's problem: (4/3, 7/9, 4/9), 1/9; the multiplier of x + y + 2 z <= 3 is 2/9.
    let problem = Textbook {
        dimension: 3,
        objective: |x| {
            let value = 9.0 - 8.0 * x[0] - 6.0 * x[1] - 4.0 * x[2]
                + 2.0 * x[0].powi(2)
                + 2.0 * x[1].powi(2)
                + x[2].powi(2)
                + 2.0 * x[0] * x[1]
                + 2.0 * x[0] * x[2];
            let gradient = vec![
                -8.0 + 4.0 * x[0] + 2.0 * x[1] + 2.0 * x[2],
                -6.0 + 4.0 * x[1] + 2.0 * x[0],
                -4.0 + 2.0 * x[2] + 2.0 * x[0],
            ];
            (value, gradient)
        },
        constraints: vec![
            |x| (x[0] + x[1] + 2.0 * x[2] - 3.0, vec![1.0, 1.0, 2.0]),
            |x| (-x[0], vec![-1.0, 0.0, 0.0]),
            |x| (-x[1], vec![0.0, -1.0, 0.0]),
            |x| (-x[2], vec![0.0, 0.0, -1.0]),
        ],
    };
    check(
        &problem,
        &[0.5, 0.5, 0.5],
        &[4.0 / 3.0, 7.0 / 9.0, 4.0 / 9.0],
        1.0 / 9.0,
        Some(&[2.0 / 9.0, 0.0, 0.0, 0.0]),
    );
}

#[test]
fn hock_schittkowski_76() {
    // (0.2727273, 2.090909, -0.26e-10, 0.5454545), -4.681818181.
    let problem = Textbook {
        dimension: 4,
        objective: |x| {
            let value = x[0].powi(2) + 0.5 * x[1].powi(2) + x[2].powi(2) + 0.5 * x[3].powi(2)
                - x[0] * x[2]
                + x[2] * x[3]
                - x[0]
                - 3.0 * x[1]
                + x[2]
                - x[3];
            (
                value,
                vec![
                    2.0 * x[0] - x[2] - 1.0,
                    x[1] - 3.0,
                    2.0 * x[2] - x[0] + x[3] + 1.0,
                    x[3] + x[2] - 1.0,
                ],
            )
        },
        constraints: vec![
            |x| {
                (
                    x[0] + 2.0 * x[1] + x[2] + x[3] - 5.0,
                    vec![1.0, 2.0, 1.0, 1.0],
                )
            },
            |x| {
                (
                    3.0 * x[0] + x[1] + 2.0 * x[2] - x[3] - 4.0,
                    vec![3.0, 1.0, 2.0, -1.0],
                )
            },
            |x| (1.5 - x[1] - 4.0 * x[2], vec![0.0, -1.0, -4.0, 0.0]),
            |x| (-x[0], vec![-1.0, 0.0, 0.0, 0.0]),
            |x| (-x[1], vec![0.0, -1.0, 0.0, 0.0]),
            |x| (-x[2], vec![0.0, 0.0, -1.0, 0.0]),
            |x| (-x[3], vec![0.0, 0.0, 0.0, -1.0]),
        ],
    };
    check(
        &problem,
        &[0.5, 0.5, 0.5, 0.5],
        &[3.0 / 11.0, 23.0 / 11.0, 0.0, 6.0 / 11.0],
        -4.681_818_181_8,
        None,
    );
}

#[test]
fn an_infeasible_problem_is_not_called_solved() {
    let problem = Textbook {
        dimension: 1,
        objective: |x| (x[0].powi(2), vec![2.0 * x[0]]),
        constraints: vec![|x| (x[0] + 1.0, vec![1.0]), |x| (1.0 - x[0], vec![-1.0])],
    };
    let found = minimise(&problem, &[0.3], &Settings::default());
    assert_eq!(found.status, Status::IterationLimit);
    assert!(found.violation > 0.5);
}

#[test]
fn an_iteration_limit_is_reported() {
    let problem = Textbook {
        dimension: 1,
        objective: |x| (x[0].exp(), vec![x[0].exp()]),
        constraints: vec![|x| (-x[0], vec![-1.0])],
    };
    let found = minimise(
        &problem,
        &[3.0],
        &Settings {
            outer_max: 1,
            ..Settings::default()
        },
    );
    assert_eq!(found.status, Status::IterationLimit);
    let found = minimise(&problem, &[3.0], &Settings::default());
    assert_eq!(found.status, Status::Solved);
    assert!((found.multipliers[0] - 1.0).abs() < 1e-6);
}
