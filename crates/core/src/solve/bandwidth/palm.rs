//! The cell through the augmented Lagrangian: Algorithm 2 as corrected, with `local_iterations` fixed.
//!
//! The variables are logarithms of fractions: x_n = ln(b_n / B) for both directions and z = ln(T / T_0), T_0 the completion time of
//! the equal split. ln tau is convex in ln b, so with the epigraph variable z in place of the maximum
//!
//! ```text
//! minimise  sum_n c_n tau_n + W T_0 e^z   subject to   ln(t_n / T_0) <= z for every n,   ln sum_n e^x_n <= 0 up and down
//! ```
//!
//! is convex too, and all constraints are of order one whatever the gains.

use super::Cell;
use super::cell::{CellError, DeviceShare, Solution, check_iterations, transfer_time_s};
use super::dual::Market;
use super::exact::fill_budgets;
use crate::solve::augmented_lagrangian::{Problem, Settings, minimise};

/// Duality gap, relative to the objective, up to which the augmented Lagrangian's answer counts as solved.
pub const PALM_GAP_TOLERANCE: f64 = 5e-7;

/// A cell for fixed H, scaled.
struct Scaled<'a> {
    cell: &'a Cell,
    steps: f64,
    /// Completion time of the equal split.
    time_scale_s: f64,
    /// Its objective, without the part that bandwidth does not change.
    cost_scale: f64,
}

/// One link at ln(share) = x: its time and d ln time / dx.
fn link(bits: f64, snr_hz: f64, budget_hz: f64, x: f64) -> (f64, f64) {
    let band_hz = budget_hz * x.exp();
    let snr = snr_hz / band_hz;
    let log = snr.ln_1p();
    // For small SNR the elasticity is 1 - s/(1+s)/u = s/2 - ...; the difference is exact enough down to 1e-8, and flat below.
    (
        bits * std::f64::consts::LN_2 / (band_hz * log),
        snr / ((1.0 + snr) * log) - 1.0,
    )
}

impl Scaled<'_> {
    fn timed(&self) -> bool {
        self.cell.wait_weight() > 0.0
    }

    /// Both links of device n.
    fn links(&self, x: &[f64], n: usize) -> [(f64, f64); 2] {
        let (cell, device) = (self.cell, &self.cell.devices[n]);
        let count = cell.devices.len();
        [
            link(
                cell.model_bits_up,
                device.snr_up_hz,
                cell.bandwidth_up_hz,
                x[n],
            ),
            link(
                cell.model_bits_down,
                device.snr_down_hz,
                cell.bandwidth_down_hz,
                x[count + n],
            ),
        ]
    }

    /// Weights of both links' own energies, scaled.
    fn weights(&self, n: usize) -> [f64; 2] {
        let scale = self.cell.energy_weight / self.cost_scale;
        [
            self.cell.devices[n].tx_power_w * scale,
            self.cell.broadcast_power_w * scale,
        ]
    }

    /// W T_0 over the scale of the objective.
    fn wait(&self) -> f64 {
        self.cell.wait_weight() * self.time_scale_s / self.cost_scale
    }

    fn time_s(&self, links: &[(f64, f64); 2], n: usize) -> f64 {
        links[0].0 + links[1].0 + self.steps * self.cell.devices[n].iteration_time_s
    }
}

impl Problem for Scaled<'_> {
    fn dimension(&self) -> usize {
        2 * self.cell.devices.len() + usize::from(self.timed())
    }

    fn constraints(&self) -> usize {
        2 + if self.timed() {
            self.cell.devices.len()
        } else {
            0
        }
    }

    fn evaluate(&self, x: &[f64], constraints: &mut [f64]) -> f64 {
        let count = self.cell.devices.len();
        constraints[0] = x[..count].iter().map(|x| x.exp()).sum::<f64>().ln();
        constraints[1] = x[count..2 * count]
            .iter()
            .map(|x| x.exp())
            .sum::<f64>()
            .ln();
        let mut cost = if self.timed() {
            self.wait() * x[2 * count].exp()
        } else {
            0.0
        };
        for n in 0..count {
            let links = self.links(x, n);
            let weights = self.weights(n);
            cost += weights[0] * links[0].0 + weights[1] * links[1].0;
            if self.timed() {
                constraints[2 + n] =
                    (self.time_s(&links, n) / self.time_scale_s).ln() - x[2 * count];
            }
        }
        cost
    }

    fn gradient(&self, x: &[f64], weights: &[f64], out: &mut [f64]) {
        let count = self.cell.devices.len();
        let totals = [
            x[..count].iter().map(|x| x.exp()).sum::<f64>(),
            x[count..2 * count].iter().map(|x| x.exp()).sum::<f64>(),
        ];
        for n in 0..count {
            let links = self.links(x, n);
            let own = self.weights(n);
            let pressure = if self.timed() {
                weights[2 + n] / self.time_s(&links, n)
            } else {
                0.0
            };
            for (direction, (time_s, elasticity)) in links.into_iter().enumerate() {
                let slot = direction * count + n;
                out[slot] = (own[direction] + pressure) * time_s * elasticity
                    + weights[direction] * x[slot].exp() / totals[direction];
            }
        }
        if self.timed() {
            out[2 * count] = self.wait() * x[2 * count].exp() - weights[2..].iter().sum::<f64>();
        }
    }
}

/// The tolerances that bring a cell's objective within [`PALM_GAP_TOLERANCE`].
pub fn settings() -> Settings {
    Settings {
        violation_tolerance: 1e-8,
        gradient_tolerance: 1e-8,
        ..Settings::default()
    }
}

/// Solves a cell for `local_iterations` steps by the augmented Lagrangian.
///
/// # Errors
/// What [`Cell::check`] finds, or a `local_iterations` out of range.
pub fn solve(
    cell: &Cell,
    local_iterations: u32,
    settings: &Settings,
) -> Result<Solution, CellError> {
    cell.check()?;
    check_iterations(local_iterations)?;
    Ok(solve_checked(cell, local_iterations, settings))
}

/// [`solve`] for a cell that is known to be sound.
pub(super) fn solve_checked(cell: &Cell, local_iterations: u32, settings: &Settings) -> Solution {
    let count = cell.devices.len();
    let steps = f64::from(local_iterations);
    let share = 1.0 / count as f64;
    let (mut time_scale_s, mut cost_scale) = (0.0_f64, 0.0);
    for device in &cell.devices {
        let up = transfer_time_s(
            cell.model_bits_up,
            device.snr_up_hz,
            cell.bandwidth_up_hz * share,
        );
        let down = transfer_time_s(
            cell.model_bits_down,
            device.snr_down_hz,
            cell.bandwidth_down_hz * share,
        );
        time_scale_s = time_scale_s.max(up + down + steps * device.iteration_time_s);
        cost_scale += cell.energy_weight * (up * device.tx_power_w + down * cell.broadcast_power_w);
    }
    cost_scale += cell.wait_weight() * time_scale_s;
    let problem = Scaled {
        cell,
        steps,
        time_scale_s,
        cost_scale,
    };
    let mut start = vec![share.ln(); 2 * count];
    start.resize(problem.dimension(), 0.0);
    let found = minimise(&problem, &start, settings);

    let mut answer = Solution::default();
    answer.devices.resize(count, DeviceShare::default());
    let mut total = [0.0; 2];
    for (n, given) in answer.devices.iter_mut().enumerate() {
        (given.bandwidth_up_hz, given.bandwidth_down_hz) =
            (found.point[n].exp(), found.point[count + n].exp());
        total = [
            total[0] + given.bandwidth_up_hz,
            total[1] + given.bandwidth_down_hz,
        ];
    }
    fill_budgets(cell, &mut answer, total);
    cell.price(local_iterations, &mut answer);
    let mut market = Market::default();
    market.load(cell, local_iterations, false);
    if problem.timed() {
        // v_n prices ln t_n; a second of it is worth v_n / t_n.
        market.set_multipliers((0..count).map(|n| {
            found.multipliers[2 + n] / problem.time_s(&problem.links(&found.point, n), n)
        }));
    }
    let bound = market.bound(
        [
            found.multipliers[0] * cost_scale,
            found.multipliers[1] * cost_scale,
        ],
        answer.slowest(),
    );
    answer.set_bound(bound, PALM_GAP_TOLERANCE);
    answer
}
