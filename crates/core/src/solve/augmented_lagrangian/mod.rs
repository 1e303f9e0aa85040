//! Minimise a smooth convex function under smooth convex inequalities: the augmented Lagrangian of Powell, Hestenes and Rockafellar.
//!
//! For `minimise f(x) subject to g_i(x) <= 0` the method minimises, for a penalty sigma and multipliers v >= 0,
//!
//! ```text
//! L_sigma(x, v) = f(x) + (1 / (2 sigma)) sum_i [ max(v_i + sigma g_i(x), 0)^2 - v_i^2 ]
//! ```
//!
//! to ||grad L|| <= kappa (here by L-BFGS), looks at the violation psi = || max(g, -v / sigma) ||_2, and
//!
//! - where psi <= eps: v <- max(v + sigma g, 0), kappa <- kappa / sigma, eps <- eps / sigma^zeta2;
//! - otherwise: sigma <- rho sigma, kappa <- 1 / sigma, eps <- sigma^-zeta1,
//!
//! starting from kappa = 1 / sigma, eps = sigma^-zeta1, until psi and the gradient are below their final tolerances. This is the
//! paper's Algorithm 2 (PALM-BLO) with Eqs. (67)-(71).
//!
//! Departs from the paper: (69) prints 1 / sigma^-zeta, which would grow; the slack Y is eliminated exactly, which gives the
//! maximum in L instead of (38); and the fixed step 0.002 along the gradient is replaced by a quasi-Newton method with a line search.
//!
//! References: J. Nocedal and S. J. Wright, *Numerical Optimization*, 2nd ed., algorithms 7.4 and 17.4 (their LANCELOT framework has
//! this schedule); R. T. Rockafellar, *Math. Programming* 5 (1973) 354-373.
//!
//! Variables should be scaled to order one, and so should objective and constraints. A variable that must stay positive is best
//! given as its logarithm.
//!
//! # Example
//! The point of the half plane x + y >= 2 that is nearest to the origin; the multiplier is the price of the bound:
//! ```
//! use aerofed::solve::{Status, augmented_lagrangian::{Problem, Settings, minimise}};
//!
//! struct HalfPlane;
//! impl Problem for HalfPlane {
//!     fn dimension(&self) -> usize { 2 }
//!     fn constraints(&self) -> usize { 1 }
//!     fn evaluate(&self, x: &[f64], constraints: &mut [f64]) -> f64 {
//!         constraints[0] = 2.0 - x[0] - x[1];
//!         x[0] * x[0] + x[1] * x[1]
//!     }
//!     fn gradient(&self, x: &[f64], weights: &[f64], out: &mut [f64]) {
//!         out[0] = 2.0 * x[0] - weights[0];
//!         out[1] = 2.0 * x[1] - weights[0];
//!     }
//! }
//!
//! let found = minimise(&HalfPlane, &[0.0, 0.0], &Settings::default());
//! assert_eq!(found.status, Status::Solved);
//! assert!((found.point[0] - 1.0).abs() < 1e-7 && (found.multipliers[0] - 2.0).abs() < 1e-6);
//! ```

mod lbfgs;
#[cfg(test)]
mod tests;

use super::Status;
use lbfgs::{Lbfgs, Smooth};

/// `minimise f(x) subject to g(x) <= 0`, both smooth; the answer is the global one where both are convex.
pub trait Problem {
    /// Number of variables.
    fn dimension(&self) -> usize;

    /// Number of inequalities.
    fn constraints(&self) -> usize;

    /// Returns f(x) and writes every g_i(x); a value that is not finite says that x lies outside the domain.
    fn evaluate(&self, x: &[f64], constraints: &mut [f64]) -> f64;

    /// Writes grad f(x) + sum_i weights_i grad g_i(x) into `out`.
    fn gradient(&self, x: &[f64], weights: &[f64], out: &mut [f64]);
}

/// The schedule and the tolerances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// sigma_0 > 1, the first penalty.
    pub penalty: f64,
    /// rho > 1, its growth where the violation stays too large.
    pub penalty_growth: f64,
    /// zeta1 in (0, 1]: the first violation allowed is sigma^-zeta1.
    pub first_exponent: f64,
    /// zeta2 in [zeta1, 1]: every success shrinks the violation allowed by sigma^zeta2.
    pub shrink_exponent: f64,
    /// Final violation psi.
    pub violation_tolerance: f64,
    /// Final norm of the gradient of L.
    pub gradient_tolerance: f64,
    /// Updates of multipliers or penalty allowed.
    pub outer_max: usize,
    /// Quasi-Newton steps allowed per update.
    pub inner_max: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            penalty: 10.0,
            penalty_growth: 10.0,
            first_exponent: 0.1,
            shrink_exponent: 0.9,
            violation_tolerance: 1e-8,
            gradient_tolerance: 1e-8,
            outer_max: 100,
            inner_max: 2_000,
        }
    }
}

/// Where the method ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Whether both tolerances were met.
    pub status: Status,
    /// x.
    pub point: Vec<f64>,
    /// v, one for every inequality.
    pub multipliers: Vec<f64>,
    /// f(x).
    pub objective: f64,
    /// psi: how far feasibility and complementarity are missed.
    pub violation: f64,
    /// Norm of grad f + sum of v grad g.
    pub gradient_norm: f64,
    /// sigma at the end.
    pub penalty: f64,
    /// Updates of multipliers or penalty.
    pub outer_iterations: usize,
    /// Gradients evaluated.
    pub gradients: usize,
}

/// L_sigma(., v) for fixed sigma and v.
struct Augmented<'a, P: Problem + ?Sized> {
    problem: &'a P,
    penalty: f64,
    multipliers: Vec<f64>,
    /// g(x), then max(v + sigma g, 0), at the point evaluated last.
    constraints: Vec<f64>,
    weights: Vec<f64>,
    objective: f64,
}

impl<P: Problem + ?Sized> Smooth for Augmented<'_, P> {
    fn value(&mut self, x: &[f64]) -> f64 {
        self.objective = self.problem.evaluate(x, &mut self.constraints);
        let mut penalty = 0.0;
        for ((g, v), weight) in self
            .constraints
            .iter()
            .zip(&self.multipliers)
            .zip(&mut self.weights)
        {
            *weight = (v + self.penalty * g).max(0.0);
            // (w - v)(w + v) keeps the digits that w^2 - v^2 loses near the solution.
            penalty += (*weight - v) * (*weight + v);
        }
        self.objective + penalty / (2.0 * self.penalty)
    }

    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        self.problem.gradient(x, &self.weights, out);
    }
}

impl<P: Problem + ?Sized> Augmented<'_, P> {
    /// psi = || max(g, -v / sigma) ||.
    fn violation(&self) -> f64 {
        let missed = self
            .constraints
            .iter()
            .zip(&self.multipliers)
            .map(|(g, v)| g.max(-v / self.penalty).powi(2));
        missed.sum::<f64>().sqrt()
    }
}

/// Solves `problem` from `start`, which need not be feasible but must lie in the domain.
///
/// A start of the wrong length is cut or filled with zeros.
pub fn minimise<P: Problem + ?Sized>(problem: &P, start: &[f64], settings: &Settings) -> Outcome {
    let mut x = start.to_vec();
    x.resize(problem.dimension(), 0.0);
    let count = problem.constraints();
    let mut lagrangian = Augmented {
        problem,
        penalty: settings.penalty,
        multipliers: vec![0.0; count],
        constraints: vec![0.0; count],
        weights: vec![0.0; count],
        objective: 0.0,
    };
    let mut inner = Lbfgs::new(x.len());
    let mut kappa = 1.0 / settings.penalty;
    let mut epsilon = settings.penalty.powf(-settings.first_exponent);
    let mut outcome = Outcome {
        status: Status::IterationLimit,
        point: Vec::new(),
        multipliers: Vec::new(),
        objective: f64::INFINITY,
        violation: f64::INFINITY,
        gradient_norm: f64::INFINITY,
        penalty: settings.penalty,
        outer_iterations: 0,
        gradients: 0,
    };
    while outcome.outer_iterations < settings.outer_max && outcome.status != Status::Solved {
        outcome.outer_iterations += 1;
        let norm = inner.minimise(
            &mut lagrangian,
            &mut x,
            kappa.max(settings.gradient_tolerance),
            settings.inner_max,
        );
        outcome.gradient_norm = norm;
        outcome.violation = lagrangian.violation();
        outcome.objective = lagrangian.objective;
        outcome.penalty = lagrangian.penalty;
        if outcome.violation <= epsilon.max(settings.violation_tolerance) {
            if outcome.violation <= settings.violation_tolerance
                && norm <= settings.gradient_tolerance
            {
                outcome.status = Status::Solved;
            }
            // The gradient of L at v is that of the plain Lagrangian at the new v: the norm above stays true.
            std::mem::swap(&mut lagrangian.multipliers, &mut lagrangian.weights);
            kappa /= lagrangian.penalty;
            epsilon /= lagrangian.penalty.powf(settings.shrink_exponent);
        } else {
            lagrangian.penalty *= settings.penalty_growth;
            kappa = 1.0 / lagrangian.penalty;
            epsilon = lagrangian.penalty.powf(-settings.first_exponent);
        }
    }
    outcome.gradients = inner.gradients();
    outcome.point = x;
    outcome.multipliers = lagrangian.multipliers;
    outcome
}
