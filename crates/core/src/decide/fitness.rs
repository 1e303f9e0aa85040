//! How much a device is worth to a UAV: data diversity, distance and computing power, Eqs. (5)-(7).

use crate::scenario;

/// The least probability a logarithm is taken of. A softmax output may round to 0; and were it much less, one
/// sure mistake would make all other differences look alike beside its device's.
const LEAST_PROBABILITY: f64 = 0.01;

/// The three scores of a device with a UAV, each 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores {
    /// S^Sim: how far its model is from the UAV's own, relative to the farthest.
    pub difference: f64,
    /// S^Dis: the nearest device's distance relative to its own.
    pub distance: f64,
    /// S^Fre: its processor clock relative to the fastest.
    pub compute: f64,
}

impl Scores {
    /// α = λ_1 S^Sim + λ_2 S^Dis + λ_3 S^Fre, Eq. (5).
    #[must_use]
    pub fn fitness(&self, weights: &scenario::Fitness) -> f64 {
        let sum = weights.difference * self.difference
            + weights.distance * self.distance
            + weights.compute * self.compute;
        // The weights sum to 1 within rounding.
        sum.min(1.0)
    }
}

/// R: the Kullback-Leibler divergence of two models' class probabilities, summed over classes and
/// averaged over samples, Eq. (6).
///
/// Departs from the paper: it takes logarithms of ratios of outputs before the softmax, which are
/// undefined for negative ones.
#[must_use]
pub fn divergence(personal: &[f32], local: &[f32], classes: usize) -> f64 {
    let samples = personal.len() / classes.max(1);
    let term = |(&p, &q): (&f32, &f32)| {
        let (p, q) = (f64::from(p), f64::from(q).max(LEAST_PROBABILITY));
        if p > 0.0 { p * (p / q).ln() } else { 0.0 }
    };
    let sum: f64 = personal.iter().zip(local).map(term).sum();
    // Rounding may leave two equal models a hair below 0.
    (sum / samples.max(1) as f64).max(0.0)
}

/// Scores of a UAV's covered devices. Every score is relative to the best among them; where all are
/// 0 or not a number, it is 0.
#[must_use]
pub fn scores(differences: &[f64], distances_m: &[f64], clocks_hz: &[f64]) -> Vec<Scores> {
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let share = |part: f64, whole: f64| {
        let share = part / whole;
        if share.is_finite() {
            share.min(1.0)
        } else {
            0.0
        }
    };
    let (farthest, fastest) = (most(differences), most(clocks_hz));
    let nearest = distances_m.iter().copied().fold(f64::INFINITY, f64::min);
    let devices = differences.iter().zip(distances_m).zip(clocks_hz);
    devices
        .map(|((&difference, &distance_m), &clock_hz)| Scores {
            difference: share(difference, farthest),
            distance: share(nearest, distance_m),
            compute: share(clock_hz, fastest),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Worked by hand: one sample, two classes.
    #[test]
    fn divergence_of_a_hand_worked_pair() {
        // 0.5 ln(0.5 / 0.25) + 0.5 ln(0.5 / 0.75) = 0.5 (0.693147 - 0.405465) = 0.143841
        let one = divergence(&[0.5, 0.5], &[0.25, 0.75], 2);
        assert!((one - 0.143_841).abs() < 1e-6, "{one}");
        // 0.25 ln(0.25 / 0.5) + 0.75 ln(0.75 / 0.5) = -0.173287 + 0.304099 = 0.130812: not symmetric.
        let back = divergence(&[0.25, 0.75], &[0.5, 0.5], 2);
        assert!((back - 0.130_812).abs() < 1e-6, "{back}");
        // The mean over samples: (0.143841 + 0) / 2.
        let both = divergence(&[0.5, 0.5, 0.25, 0.75], &[0.25, 0.75, 0.25, 0.75], 2);
        assert!((both - 0.071_921).abs() < 1e-6, "{both}");
    }

    #[test]
    fn sure_and_wrong_is_far_but_finite() {
        let far = divergence(&[1.0, 0.0], &[0.0, 1.0], 2);
        // ln(1 / 0.01)
        assert!((far - 4.605_170).abs() < 1e-5, "{far}");
    }

    /// Worked by hand: three devices, weights 0.6, 0.2, 0.2.
    #[test]
    fn fitness_of_three_devices() {
        let weights = scenario::Fitness::default();
        let scores = scores(
            &[0.5, 2.0, 0.0],
            &[3000.0, 6000.0, 1500.0],
            &[2e9, 4e9, 8e9],
        );
        let fitness: Vec<f64> = scores.iter().map(|s| s.fitness(&weights)).collect();
        // 0.6 x 0.25 + 0.2 x 0.5  + 0.2 x 0.25 = 0.30
        // 0.6 x 1    + 0.2 x 0.25 + 0.2 x 0.5  = 0.75
        // 0.6 x 0    + 0.2 x 1    + 0.2 x 1    = 0.40
        for (ours, expected) in fitness.iter().zip([0.30, 0.75, 0.40]) {
            assert!((ours - expected).abs() < 1e-12, "{fitness:?}");
        }
    }

    #[test]
    fn nobody_and_nothing_score_zero() {
        assert!(scores(&[], &[], &[]).is_empty());
        let same = scores(&[0.0, f64::NAN], &[10.0, 10.0], &[1e9, 1e9]);
        assert!(
            same.iter()
                .all(|s| s.difference == 0.0 && s.distance == 1.0)
        );
    }

    proptest! {
        #[test]
        fn scores_stay_between_0_and_1(
            devices in prop::collection::vec((0.0..20.0f64, 1.0..1e4f64, 1e6..1e10f64), 0..20)
        ) {
            let column = |pick: fn(&(f64, f64, f64)) -> f64| -> Vec<f64> { devices.iter().map(pick).collect() };
            let scores = scores(&column(|d| d.0), &column(|d| d.1), &column(|d| d.2));
            let weights = scenario::Fitness::default();
            for score in scores {
                for part in [score.difference, score.distance, score.compute, score.fitness(&weights)] {
                    prop_assert!((0.0..=1.0).contains(&part));
                }
            }
        }
    }
}
