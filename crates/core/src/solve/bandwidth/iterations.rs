//! How many local steps: the balance of one round's cost against the number of rounds.
//!
//! Let V(H) be the optimal objective of a round with H steps. V is convex, V'(H) = k = sum of C_n + w_n t_n, and the tangent's
//! intercept a = V - k H is the weighed transmission time and energy, hence positive. So H V'/V grows with H: ln V is convex in
//! ln H, as is the logarithm of rounds(H) = 1 + c0/H + c1 H, and the product has one minimum: where the tangent's best H
//! ([`best_iterations`]) is H itself, rounded to whichever neighbour is cheaper, is the global one.
//!
//! Departs from the paper: its objective (28) is V alone, which grows with H, so that its H is always the least allowed;
//! [`Objective::Paper`] keeps that.

use serde::{Deserialize, Serialize};

use super::Cell;
use super::cell::{CellError, LOCAL_ITERATIONS_MAX, Solution};
use super::exact::Solver;
use super::palm;

/// What the number of local steps H is chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Objective {
    /// The cost of a round times the rounds still to come, rounds(H) = 1 + c0 / H + c1 H.
    Convergence {
        /// How much fewer rounds more local work needs.
        c0: f64,
        /// How much client drift costs.
        c1: f64,
    },
    /// The cost of one round, as printed in (28): always the least H.
    Paper,
}

impl Default for Objective {
    /// Fitted to the rounds that the quick start needs to 85, 88 and 90 % at H = 1, 2, 5, 10 and 20 (docs/p1.md).
    fn default() -> Self {
        Self::Convergence { c0: 4.0, c1: 0.01 }
    }
}

impl Objective {
    /// rounds(H), up to a constant factor.
    pub fn rounds(&self, local_iterations: u32) -> f64 {
        match *self {
            Self::Convergence { c0, c1 } => {
                1.0 + c0 / f64::from(local_iterations) + c1 * f64::from(local_iterations)
            }
            Self::Paper => 1.0,
        }
    }
}

/// Which method finds the bands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// [`Solver`]: microseconds, and the default.
    #[default]
    Exact,
    /// Algorithm 2 as corrected, [`augmented_lagrangian`](crate::solve::augmented_lagrangian).
    Palm,
}

/// How a cell is to be solved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Which method finds the bands.
    pub solver: Method,
    /// What H is chosen for.
    pub objective: Objective,
    /// Least H.
    pub h_min: u32,
    /// Greatest H.
    pub h_max: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            solver: Method::Exact,
            objective: Objective::default(),
            h_min: 1,
            h_max: 50,
        }
    }
}

impl Options {
    /// Says which option, if any, makes no sense.
    ///
    /// # Errors
    /// An empty range of H, or constants that are negative or not finite.
    pub fn check(&self) -> Result<(), CellError> {
        let (h_min, h_max) = (self.h_min, self.h_max);
        if h_min < 1 || h_max < h_min || h_max > LOCAL_ITERATIONS_MAX {
            return Err(CellError::EmptyIterationRange { h_min, h_max });
        }
        if let Objective::Convergence { c0, c1 } = self.objective {
            for (value, name) in [(c0, "c0"), (c1, "c1")] {
                if !(0.0..=1e12).contains(&value) {
                    return Err(CellError::OutOfRange {
                        field: name.to_owned(),
                        value,
                        allowed: "between 0 and 1e12",
                    });
                }
            }
        }
        Ok(())
    }
}

/// The real H > 0 that minimises (a + k H)(1 + c0 / H + c1 H): the root of -a c0 / H^2 + (a c1 + k) + 2 k c1 H.
///
/// Infinite where more is always better (no computation cost and no drift), 0 where less is.
pub fn best_iterations(a: f64, k: f64, c0: f64, c1: f64) -> f64 {
    let (square, cube) = (a * c1 + k, 2.0 * k * c1);
    if a * c0 <= 0.0 {
        return 0.0;
    }
    if square <= 0.0 {
        return f64::INFINITY;
    }
    // square H^2 + cube H^3 = a c0 rises from 0 and is convex: from above, Newton's method falls monotonically to the root.
    let mut h = (a * c0 / square).sqrt();
    if cube > 0.0 {
        h = h.min((a * c0 / cube).cbrt());
        // The least of two upper bounds is an upper bound.
        for _ in 0..60 {
            let next =
                h - (h * h * (square + cube * h) - a * c0) / (h * (2.0 * square + 3.0 * cube * h));
            if h - next <= 1e-14 * h {
                break;
            }
            h = next;
        }
    }
    h
}

/// Chooses H (unless the cell fixes it) and the bands.
///
/// # Errors
/// What [`Cell::check`] and [`Options::check`] find.
pub fn allocate(cell: &Cell, options: &Options) -> Result<Solution, CellError> {
    let mut solver = Solver::new();
    solver.allocate(cell, options)?;
    Ok(solver.answer)
}

impl Solver {
    /// [`allocate`] with this solver's buffers and warm start.
    ///
    /// # Errors
    /// What [`Cell::check`] and [`Options::check`] find.
    pub fn allocate(&mut self, cell: &Cell, options: &Options) -> Result<&Solution, CellError> {
        cell.check()?;
        options.check()?;
        let local_iterations = match (cell.local_iterations, options.objective) {
            (Some(fixed), _) => fixed,
            (None, Objective::Paper) => options.h_min,
            (None, Objective::Convergence { c0, c1 }) => self.choose(cell, options, c0, c1),
        };
        match options.solver {
            // The search for H may have ended at a neighbour.
            Method::Exact => self.solve_checked(cell, local_iterations),
            Method::Palm => {
                self.answer = palm::solve_checked(cell, local_iterations, &palm::settings())
            }
        }
        Ok(&self.answer)
    }

    /// Follows the tangent's best H to its fixed point, then walks downhill among the integers with the bands optimised anew.
    fn choose(&mut self, cell: &Cell, options: &Options, c0: f64, c1: f64) -> u32 {
        let clamp = |h: f64| (h.round() as u32).clamp(options.h_min, options.h_max);
        let mut here = clamp(5.0);
        for _ in 0..20 {
            self.solve_checked(cell, here);
            let slope = self.market.iteration_slope(here);
            let intercept = self.answer.objective - slope * f64::from(here);
            let next = clamp(best_iterations(intercept, slope, c0, c1));
            if next == here {
                break;
            }
            here = next;
        }
        let mut total = |h: u32| {
            self.solve_checked(cell, h);
            self.answer.objective * options.objective.rounds(h)
        };
        let mut least = total(here);
        // Up first, then down: with one minimum only one of the two directions moves at all.
        for up in [true, false] {
            loop {
                let next = if up { here.saturating_add(1) } else { here - 1 };
                if next < options.h_min || next > options.h_max {
                    break;
                }
                let there = total(next);
                if there >= least {
                    break;
                }
                (here, least) = (next, there);
            }
        }
        here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_the_minimum() {
        for (a, k, c0, c1) in [
            (1.0, 0.1, 10.0, 0.1),
            (50.0, 1e-3, 20.0, 0.01),
            (1e-3, 5.0, 3.0, 2.0),
            (2.0, 0.5, 8.0, 0.0),
            (2.0, 0.0, 9.0, 0.25),
        ] {
            let cost = |h: f64| (a + k * h) * (1.0 + c0 / h + c1 * h);
            let h = best_iterations(a, k, c0, c1);
            assert!(
                cost(h) <= cost(h * 1.001) && cost(h) <= cost(h * 0.999),
                "H = {h} for {a} {k} {c0} {c1}"
            );
        }
        // Without drift the root is sqrt(a c0 / k); without computation cost it is sqrt(c0 / c1).
        assert!((best_iterations(2.0, 0.5, 9.0, 0.0) - 6.0).abs() < 1e-12);
        assert!((best_iterations(7.0, 0.0, 9.0, 0.25) - 6.0).abs() < 1e-12);
        assert_eq!(best_iterations(7.0, 0.0, 9.0, 0.0), f64::INFINITY);
        assert_eq!(best_iterations(7.0, 1.0, 0.0, 0.1), 0.0);
    }
}
