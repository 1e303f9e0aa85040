//! How many rounds are still to come when every round has H local iterations:
//! rounds(H) = 1 + c0 / H + c1 H, with c0 and c1 estimated from the run's own loss curve.

use serde::{Deserialize, Serialize};

use super::RoundProgress;

/// Belief about c0 and c1, sharpened round by round.
///
/// A round's progress is p = ln(loss before / loss after) per edge round. Progress is inverse to the
/// rounds still needed, and fades as training goes on, so the model is
/// ln p_g = s - q ln g - ln rounds(H_g) + noise. Fitted by Gauss-Newton steps on the four numbers
/// (ln c0, ln c1, s, q) with Gaussian priors, so that few rounds move the first guess only a little.
/// Rounds with one H say nothing about c0 and c1: every other early round tries another H.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RoundsEstimate {
    /// ln c0, ln c1, s, q.
    belief: [f64; 4],
    prior: [f64; 4],
    /// ln g, H and ln p of the rounds that made progress.
    seen: Vec<[f64; 3]>,
    rounds: usize,
}

/// Standard deviation of ln p around the model: rounds differ by a third or so.
const NOISE: f64 = 0.4;
/// Standard deviations of the priors; s is free.
const SPREAD: [f64; 4] = [0.7, 0.7, 10.0, 0.5];
/// Progress of a typical curve fades like 1 / g.
const FADING: f64 = 1.0;
/// Rounds in which other H are tried, and by which factor.
const PROBING_ROUNDS: usize = 16;
const PROBING_FACTOR: f64 = 1.6;
const GAUSS_NEWTON_STEPS: usize = 8;

impl RoundsEstimate {
    /// A first guess.
    #[must_use]
    pub fn new(c0: f64, c1: f64) -> Self {
        let prior = [c0.ln(), c1.ln(), 0.0, FADING];
        Self {
            belief: prior,
            prior,
            seen: Vec::new(),
            rounds: 0,
        }
    }

    /// c0 and c1 as believed now.
    #[must_use]
    pub fn constants(&self) -> (f64, f64) {
        (self.belief[0].exp(), self.belief[1].exp())
    }

    /// What to multiply the best H with in the coming round, to learn what other H would do.
    #[must_use]
    pub fn probe_factor(&self) -> f64 {
        match self.rounds % 4 {
            1 if self.rounds < PROBING_ROUNDS => PROBING_FACTOR,
            3 if self.rounds < PROBING_ROUNDS => 1.0 / PROBING_FACTOR,
            _ => 1.0,
        }
    }

    /// Takes in a round. One that made no progress counts, but says nothing about H.
    pub fn observe(&mut self, progress: &RoundProgress) {
        self.rounds += 1;
        let gain = (progress.loss_before / progress.loss_after).ln() / progress.edge_rounds as f64;
        if !(gain.is_finite() && gain > 0.0 && progress.local_iterations >= 1.0) {
            return;
        }
        self.seen.push([
            (self.rounds as f64).ln(),
            progress.local_iterations,
            gain.ln(),
        ]);
        self.fit();
    }

    fn fit(&mut self) {
        // Start s where the data put it under the current belief: the rest is then nearly linear.
        let residual: f64 = self.seen.iter().map(|row| self.residual(row).0).sum();
        self.belief[2] += residual / self.seen.len() as f64;
        for _ in 0..GAUSS_NEWTON_STEPS {
            let mut normal = [[0.0; 4]; 4];
            let mut right = [0.0; 4];
            for i in 0..4 {
                let precision = SPREAD[i].powi(-2);
                normal[i][i] = precision;
                right[i] = precision * (self.prior[i] - self.belief[i]);
            }
            for row in &self.seen {
                let (residual, slope) = self.residual(row);
                for i in 0..4 {
                    for j in 0..4 {
                        normal[i][j] += slope[i] * slope[j] / (NOISE * NOISE);
                    }
                    right[i] += slope[i] * residual / (NOISE * NOISE);
                }
            }
            let step = solve(normal, right);
            // Half a unit of a logarithm at most: Gauss-Newton must not leap.
            let length = step.iter().fold(0.5f64, |longest, s| longest.max(s.abs()));
            for (belief, step) in self.belief.iter_mut().zip(step) {
                *belief += step * (0.5 / length).min(1.0);
            }
        }
    }

    /// Observed minus modelled ln p, and the model's slope in each of the four numbers.
    fn residual(&self, &[ln_round, iterations, ln_gain]: &[f64; 3]) -> (f64, [f64; 4]) {
        let (c0, c1) = self.constants();
        let (first, second) = (c0 / iterations, c1 * iterations);
        let rounds = 1.0 + first + second;
        let [_, _, scale, fading] = self.belief;
        let modelled = scale - fading * ln_round - rounds.ln();
        (
            ln_gain - modelled,
            [-first / rounds, -second / rounds, 1.0, -ln_round],
        )
    }
}

/// Solves a small symmetric positive definite system by elimination without pivoting.
fn solve(mut matrix: [[f64; 4]; 4], mut right: [f64; 4]) -> [f64; 4] {
    for pivot in 0..4 {
        let pivot_row = matrix[pivot];
        for row in pivot + 1..4 {
            let factor = matrix[row][pivot] / pivot_row[pivot];
            for (entry, above) in matrix[row].iter_mut().zip(pivot_row) {
                *entry -= factor * above;
            }
            right[row] -= factor * right[pivot];
        }
    }
    let mut answer = [0.0; 4];
    for row in (0..4).rev() {
        let known: f64 = (row + 1..4)
            .map(|column| matrix[row][column] * answer[column])
            .sum();
        answer[row] = (right[row] - known) / matrix[row][row];
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Stream, stream};
    use rand::RngExt;

    /// A run whose progress follows the model with its own constants, and noise.
    fn estimate(c0: f64, c1: f64, noise: f64, rounds: usize) -> (f64, f64) {
        let mut estimate = RoundsEstimate::new(10.0, 0.1);
        let mut rng = stream(1, Stream::Association, 0, 0);
        let mut loss = 2.3;
        for round in 1..=rounds {
            let (b0, b1) = estimate.constants();
            let h = ((b0 / b1).sqrt() * estimate.probe_factor()).clamp(1.0, 60.0);
            let shake = (noise * (rng.random::<f64>() - 0.5)).exp();
            let gain = 3.0 / (round as f64).powf(0.8) / (1.0 + c0 / h + c1 * h) * shake;
            let after = loss * (-gain).exp();
            let progress = RoundProgress {
                edge_rounds: 1,
                local_iterations: h,
                loss_before: loss,
                loss_after: after,
            };
            estimate.observe(&progress);
            loss = after;
        }
        estimate.constants()
    }

    #[test]
    fn moves_from_the_first_guess_towards_the_truth() {
        // What matters is where rounds(H) is least, sqrt(c0 / c1); the guess says 10.
        for (c0, c1, least) in [(40.0, 0.1, 20.0), (4.0, 0.4, 3.16)] {
            let (e0, e1) = estimate(c0, c1, 0.2, 40);
            let best = (e0 / e1).sqrt();
            let closer = (best / least).ln().abs() < 0.6 * (10.0f64 / least).ln().abs();
            assert!(closer, "{best} for {least}");
        }
    }

    #[test]
    fn stays_at_the_guess_when_it_is_right() {
        let (c0, c1) = estimate(10.0, 0.1, 0.2, 40);
        assert!(
            (0.6..1.6).contains(&(c0 / 10.0)) && (0.6..1.6).contains(&(c1 / 0.1)),
            "{c0} {c1}"
        );
    }

    #[test]
    fn rounds_without_progress_say_nothing() {
        let mut estimate = RoundsEstimate::new(10.0, 0.1);
        let before = estimate.constants();
        for loss_after in [2.0, 3.0, f64::NAN, f64::INFINITY, 0.0] {
            let progress = RoundProgress {
                edge_rounds: 10,
                local_iterations: 5.0,
                loss_before: 2.0,
                loss_after,
            };
            estimate.observe(&progress);
        }
        assert_eq!(estimate.constants(), before);
    }
}
