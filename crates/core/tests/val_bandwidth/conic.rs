//! The cell as a cone program for Clarabel: an independent reference.
//!
//! Per link, with the share in units of a given band (beta), the rate in units of that band's rate (sigma) and the time in
//! units of its time (theta): the exponential cone (c (sigma - beta), beta, (beta + a) / (1 + a)), c = ln(1 + a), says
//! beta ln(1 + a / beta) >= c sigma, and the second-order cone (theta + sigma, theta - sigma, 2) says theta sigma >= 1.
//!
//! A link whose band far exceeds its `a` uses only the tip of the exponential cone, where no interior-point method has digits left.
//! There ln(1 + x) = integral of x / (1 + t x) over t in [0, 1] is summed by four-point Gauss-Legendre quadrature (relative error
//! below x^8 / 44 100, Fawzi and Saunderson's idea), each term of which is a second-order cone:
//! c sigma = a - sum_i w_i t_i a^2 / (1 + t_i a) loss_i,  loss_i (beta + t_i a) / (1 + t_i a) >= 1.

use aerofed::solve::bandwidth::{Cell, transfer_time_s};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

/// Clarabel's answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    /// Objective of the cell, the part that bandwidth does not change included.
    pub(crate) objective: f64,
    /// Whether Clarabel met the full tolerance.
    pub(crate) solved: bool,
}

/// A sparse matrix row by row, with its right-hand side and cones.
#[derive(Default)]
struct Rows {
    row: Vec<usize>,
    column: Vec<usize>,
    value: Vec<f64>,
    right: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Rows {
    /// `left right >= 1` for two affine forms (constant, entries).
    fn push_product(&mut self, left: (f64, usize, f64), right: (f64, usize, f64)) {
        self.push(left.0 + right.0, [(left.1, left.2), (right.1, right.2)]);
        self.push(left.0 - right.0, [(left.1, left.2), (right.1, -right.2)]);
        self.push(2.0, []);
        self.cones.push(SupportedConeT::SecondOrderConeT(3));
    }

    /// Adds the row that makes `constant + entries . x` a member of the cone.
    fn push(&mut self, constant: f64, entries: impl IntoIterator<Item = (usize, f64)>) {
        for (column, value) in entries {
            self.row.push(self.right.len());
            self.column.push(column);
            self.value.push(-value);
        }
        self.right.push(constant);
    }
}

/// SNR at the unit band below which a link is expressed by [`GAUSS`].
const SATURATED: f64 = 0.1;

/// Nodes and weights of the four-point Gauss-Legendre rule on [0, 1].
const GAUSS: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_07),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_07),
    (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
];

/// Builds the cone program in units of the bands `units_hz` (up, down); the caller solves it.
///
/// Also returns the scale and the constant part of the objective.
pub(crate) fn program(
    cell: &Cell,
    local_iterations: u32,
    units_hz: impl Fn(usize) -> [f64; 2],
    tolerance: f64,
) -> (DefaultSolver<f64>, f64, f64) {
    let count = cell.devices.len();
    let steps = f64::from(local_iterations);
    let wait = cell.wait_weight();
    let timed = usize::from(wait > 0.0);
    // Variables: beta, sigma, theta of every uplink, then of every downlink, then the completion time.
    let variable = |direction: usize, n: usize| 3 * (direction * count + n);
    let completion = 6 * count;
    let bits = [cell.model_bits_up, cell.model_bits_down];
    let budgets_hz = [cell.bandwidth_up_hz, cell.bandwidth_down_hz];
    let mut cost = vec![0.0; 6 * count + timed];
    let mut times = vec![[0.0; 2]; count];
    let (mut time_scale, mut fixed) = (0.0_f64, 0.0);
    let mut rows = Rows::default();
    for (n, device) in cell.devices.iter().enumerate() {
        let powers = [device.tx_power_w, cell.broadcast_power_w];
        for (direction, snr_hz) in [device.snr_up_hz, device.snr_down_hz]
            .into_iter()
            .enumerate()
        {
            let band_hz = units_hz(n)[direction];
            times[n][direction] = transfer_time_s(bits[direction], snr_hz, band_hz);
            let (beta, sigma, theta) = (
                variable(direction, n),
                variable(direction, n) + 1,
                variable(direction, n) + 2,
            );
            cost[theta] = cell.energy_weight * powers[direction] * times[n][direction];
            let a = snr_hz / band_hz;
            let c = a.ln_1p();
            if a > SATURATED {
                rows.push(0.0, [(sigma, c), (beta, -c)]);
                rows.push(0.0, [(beta, 1.0)]);
                rows.push(a / (1.0 + a), [(beta, 1.0 / (1.0 + a))]);
                rows.cones.push(SupportedConeT::ExponentialConeT());
            } else {
                let mut balance = vec![(sigma, -c / a)];
                for (node, weight) in GAUSS {
                    let (loss, part) = (cost.len(), node * a / (1.0 + node * a));
                    cost.push(0.0);
                    balance.push((loss, -weight * part));
                    rows.push_product((0.0, loss, 1.0), (part, beta, 1.0 / (1.0 + node * a)));
                }
                rows.push(1.0, balance);
                rows.cones.push(SupportedConeT::NonnegativeConeT(1));
            }
            rows.push_product((0.0, theta, 1.0), (0.0, sigma, 1.0));
        }
        time_scale = time_scale.max(times[n][0] + times[n][1] + steps * device.iteration_time_s);
        fixed += cell.energy_weight * steps * device.iteration_energy_j;
    }
    if timed > 0 {
        cost[completion] = wait * time_scale;
        for (n, device) in cell.devices.iter().enumerate() {
            let entries = [
                (completion, 1.0),
                (variable(0, n) + 2, -times[n][0] / time_scale),
                (variable(1, n) + 2, -times[n][1] / time_scale),
            ];
            rows.push(-steps * device.iteration_time_s / time_scale, entries);
        }
    }
    for (direction, budget_hz) in budgets_hz.into_iter().enumerate() {
        rows.push(
            1.0,
            (0..count).map(|n| (variable(direction, n), -units_hz(n)[direction] / budget_hz)),
        );
    }
    rows.cones
        .push(SupportedConeT::NonnegativeConeT(timed * count + 2));
    let cost_scale: f64 = cost.iter().sum();
    cost.iter_mut().for_each(|c| *c /= cost_scale);
    let matrix = CscMatrix::new_from_triplets(
        rows.right.len(),
        cost.len(),
        rows.row,
        rows.column,
        rows.value,
    );
    let settings = DefaultSettings {
        verbose: false,
        max_iter: 500,
        // Relative only: the optimum may lie far below the scale.
        tol_gap_abs: 1e-14,
        tol_gap_rel: tolerance,
        tol_feas: tolerance,
        ..DefaultSettings::default()
    };
    let nothing = CscMatrix::zeros((cost.len(), cost.len()));
    let solver =
        DefaultSolver::new(&nothing, &cost, &matrix, &rows.right, &rows.cones, settings).unwrap();
    (solver, cost_scale, fixed)
}

/// Solves the cell by Clarabel, in units of the given bands.
pub(crate) fn reference(
    cell: &Cell,
    local_iterations: u32,
    units_hz: impl Fn(usize) -> [f64; 2],
    tolerance: f64,
) -> Reference {
    let (mut solver, scale, fixed) = program(cell, local_iterations, units_hz, tolerance);
    solver.solve();
    Reference {
        objective: solver.solution.obj_val * scale + fixed,
        solved: solver.solution.status == SolverStatus::Solved,
    }
}

/// The equal split's bands: units that know nothing of any solution.
pub(crate) fn equal_units(cell: &Cell) -> impl Fn(usize) -> [f64; 2] {
    let count = cell.devices.len() as f64;
    let units = [cell.bandwidth_up_hz / count, cell.bandwidth_down_hz / count];
    move |_| units
}
