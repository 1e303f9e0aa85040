//! Newton's method on the three equations of a cell, with a line search, a feasible answer and a certificate.

use serde::{Deserialize, Serialize};

use super::Cell;
use super::cell::{CellError, DeviceShare, Solution, check_iterations};
use super::dual::{GUESS_PASSES, Market, Sums};
use crate::solve::Status;

/// Duality gap, relative to the objective, up to which a cell counts as solved.
pub const GAP_TOLERANCE: f64 = 1e-8;

/// Residual of the three equations at which Newton's method stops.
const RESIDUAL_TOLERANCE: f64 = 1e-10;

/// Residuals below this are made of rounding errors and the devices' tolerance; a step that does not shorten them ends the search.
const ROUNDING_LEVEL: f64 = 1e-9;

/// Passes over the devices allowed; a cold start takes about ten.
const PASSES_MAX: usize = 200;

/// ln mu, ln nu, ln (T - floor): the logarithms in which the three equations are almost linear.
type Unknowns = [f64; 3];

/// The exact solver; keeps its buffers and its last solution, where the next call starts.
///
/// After the first call nothing is allocated for cells of up to the same number of devices.
#[derive(Clone, Debug, Default)]
pub struct Solver {
    pub(super) market: Market,
    /// The last solution; none before the first.
    last: Option<Unknowns>,
    pub(super) answer: Solution,
    passes: usize,
}

/// What a solver carries from call to call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedSolver {
    last: Option<Unknowns>,
    /// [`Market::warmth`].
    warmth: Vec<[f64; 5]>,
}

/// The residuals ln(sum / budget) of the three equations somewhere, and the way Newton's method would go from there.
struct Stage {
    residual: Unknowns,
    step: Unknowns,
}

impl Stage {
    fn norm(&self) -> f64 {
        self.residual.iter().map(|r| r * r).sum::<f64>().sqrt()
    }
}

impl Solver {
    /// A solver that has seen no cell yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the last solution, so that the next call starts from scratch; the buffers stay.
    pub fn forget(&mut self) {
        self.last = None;
    }

    /// What the next call's result depends on besides its cell: where it starts.
    pub(crate) fn save(&self) -> SavedSolver {
        let Self {
            market,
            last,
            // Overwritten by every call.
            answer: _,
            passes: _,
        } = self;
        SavedSolver {
            last: *last,
            warmth: market.warmth(),
        }
    }

    /// A solver that goes on where the saved one stood.
    pub(crate) fn restored(saved: &SavedSolver) -> Self {
        let mut solver = Self {
            last: saved.last,
            ..Self::default()
        };
        solver.market.warm_up(&saved.warmth);
        solver
    }

    /// How often the last call went over all devices.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// The globally optimal bands for `local_iterations` steps; [`Cell::local_iterations`] is not looked at.
    ///
    /// # Errors
    /// What [`Cell::check`] finds, or a `local_iterations` out of range.
    pub fn solve(&mut self, cell: &Cell, local_iterations: u32) -> Result<&Solution, CellError> {
        cell.check()?;
        check_iterations(local_iterations)?;
        self.solve_checked(cell, local_iterations);
        Ok(&self.answer)
    }

    /// [`Solver::solve`] for a cell that is known to be sound; the answer is left in `self.answer`.
    pub(super) fn solve_checked(&mut self, cell: &Cell, local_iterations: u32) {
        self.passes = 0;
        let last = self
            .last
            .filter(|_| self.market.len() == cell.devices.len());
        self.market.load(cell, local_iterations, last.is_some());
        if let Some(last) = last {
            if last[2].is_finite() == self.market.timed() {
                self.finish(cell, local_iterations, last);
                if self.answer.status == Status::Solved {
                    return;
                }
            }
            self.market.load(cell, local_iterations, false);
        }
        let (prices, excess_s) = self.market.guess();
        self.passes += GUESS_PASSES;
        self.finish(
            cell,
            local_iterations,
            [prices[0].ln(), prices[1].ln(), excess_s.ln()],
        );
    }

    fn finish(&mut self, cell: &Cell, local_iterations: u32, start: Unknowns) {
        let end = self.newton(start);
        self.last = Some(end);
        self.certify(cell, local_iterations, end);
    }

    /// One pass over the devices.
    fn stage(&mut self, at: Unknowns) -> Stage {
        self.passes += 1;
        let (prices, excess_s) = ([at[0].exp(), at[1].exp()], at[2].exp());
        let Sums { value, slope } = self.market.evaluate(prices, excess_s);
        let scale = [prices[0] * value[0], prices[1] * value[1], value[2]];
        let mut residual = [
            value[0].ln(),
            value[1].ln(),
            (value[2] / self.market.wait_weight).ln(),
        ];
        if !self.market.timed() {
            residual[2] = 0.0;
            let step = [
                -residual[0] * scale[0] / slope[0][0],
                -residual[1] * scale[1] / slope[1][1],
                0.0,
            ];
            return Stage { residual, step };
        }
        let mut system = [[0.0; 4]; 3];
        for row in 0..3 {
            for column in 0..3 {
                let unit = if column == 2 { excess_s } else { 1.0 };
                system[row][column] = slope[row][column] * unit / scale[row];
            }
            system[row][3] = -residual[row];
        }
        Stage {
            residual,
            step: solve_3x3(system),
        }
    }

    /// Damped Newton from `start`; returns the best point, at which the market is left.
    fn newton(&mut self, start: Unknowns) -> Unknowns {
        let mut at = start;
        let mut here = self.stage(at);
        while here.residual[2] == f64::NEG_INFINITY && self.passes < PASSES_MAX {
            // Nobody is pressed for time: T was set too late.
            at[2] -= std::f64::consts::LN_2;
            here = self.stage(at);
        }
        while here.norm() > RESIDUAL_TOLERANCE && self.passes < PASSES_MAX {
            let longest = here.step.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
            let mut length = (4.0 / longest).min(1.0);
            let accepted = loop {
                let trial = [0, 1, 2].map(|i| at[i] + length * here.step[i]);
                let there = self.stage(trial);
                if there.norm() <= (1.0 - 1e-4 * length) * here.norm() {
                    (at, here) = (trial, there);
                    break true;
                }
                if here.norm() < ROUNDING_LEVEL || length < 1e-6 || self.passes >= PASSES_MAX {
                    break false;
                }
                length /= 2.0;
            };
            if !accepted {
                self.stage(at);
                break;
            }
        }
        at
    }

    /// Turns the market's shares into bands that keep the budgets, prices them, and bounds what any allocation could reach.
    fn certify(&mut self, cell: &Cell, local_iterations: u32, at: Unknowns) {
        let answer = &mut self.answer;
        answer
            .devices
            .resize(cell.devices.len(), DeviceShare::default());
        let mut total = [0.0; 2];
        for (given, share) in answer.devices.iter_mut().zip(self.market.shares()) {
            (given.bandwidth_up_hz, given.bandwidth_down_hz) = (share[0], share[1]);
            total = [total[0] + share[0], total[1] + share[1]];
        }
        fill_budgets(cell, answer, total);
        cell.price(local_iterations, answer);
        let bound = self
            .market
            .bound([at[0].exp(), at[1].exp()], answer.slowest());
        answer.set_bound(bound, GAP_TOLERANCE);
    }
}

/// Scales shares that add up to `total` so that the bands fill both budgets and no order of summing them exceeds one.
pub(super) fn fill_budgets(cell: &Cell, answer: &mut Solution, total: [f64; 2]) {
    let count = answer.devices.len();
    // N roundings of half an ulp each can add up to N eps / 2; a lone device takes all.
    let margin = if count == 1 {
        1.0
    } else {
        1.0 - count as f64 * f64::EPSILON
    };
    let scale = [
        cell.bandwidth_up_hz * margin / total[0],
        cell.bandwidth_down_hz * margin / total[1],
    ];
    for given in &mut answer.devices {
        if count == 1 {
            (given.bandwidth_up_hz, given.bandwidth_down_hz) =
                (cell.bandwidth_up_hz, cell.bandwidth_down_hz);
        } else {
            given.bandwidth_up_hz *= scale[0];
            given.bandwidth_down_hz *= scale[1];
        }
    }
}

impl Solution {
    /// Index of the device that is done last.
    pub(super) fn slowest(&self) -> usize {
        let times = self.devices.iter().map(|given| given.time_s).enumerate();
        times
            .fold(
                (0, 0.0),
                |most, next| if next.1 > most.1 { next } else { most },
            )
            .0
    }

    /// Records a proven lower bound of the objective as `kkt_residual` and `status`.
    pub(super) fn set_bound(&mut self, bound: f64, tolerance: f64) {
        let gap = (self.objective - bound) / self.objective;
        self.kkt_residual = if gap.is_nan() {
            f64::INFINITY
        } else {
            gap.max(0.0)
        };
        self.status = if self.kkt_residual <= tolerance {
            Status::Solved
        } else {
            Status::IterationLimit
        };
    }
}

/// Gaussian elimination with row pivoting on three equations; not finite where they are singular.
fn solve_3x3(mut system: [[f64; 4]; 3]) -> Unknowns {
    for pivot in 0..3 {
        let best = (pivot..3).fold(pivot, |best, row| {
            if system[row][pivot].abs() > system[best][pivot].abs() {
                row
            } else {
                best
            }
        });
        system.swap(pivot, best);
        let lead = system[pivot];
        for row in system.iter_mut().skip(pivot + 1) {
            let factor = row[pivot] / lead[pivot];
            for (entry, above) in row.iter_mut().zip(&lead) {
                *entry -= factor * above;
            }
        }
    }
    let mut solution = [0.0; 3];
    for row in (0..3).rev() {
        let known: f64 = (row + 1..3)
            .map(|column| system[row][column] * solution[column])
            .sum();
        solution[row] = (system[row][3] - known) / system[row][row];
    }
    solution
}
