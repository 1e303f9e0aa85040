//! How much a device is worth to a UAV: data diversity, distance and computing power, Eqs. (5)-(7).

use super::answers::Answers;
use crate::scenario;

/// The least probability a logarithm is taken of. A softmax output may round to 0; and were it much less, one
/// sure mistake would make all other differences look alike beside its device's.
const LEAST_PROBABILITY: f64 = 0.01;

/// Devices that are ranked one by one. One more changes the mix of so many too little to look at everybody again,
/// and the cost of a cell stays in proportion to its devices.
const RANKED_ONE_BY_ONE: usize = 64;

/// The three scores of a device with a UAV, each 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Scores {
    /// S^Sim: how far its model is from the UAV's own, relative to the farthest.
    pub difference: f64,
    /// S^Dis: the nearest device's distance relative to its own.
    pub distance: f64,
    /// S^Fre: its processor relative to the best, by its clock or another measure.
    pub compute: f64,
}

impl Scores {
    /// α = λ_1 S^Sim + λ_2 S^Dis + λ_3 S^Fre, Eq. (5).
    #[must_use]
    pub(crate) fn fitness(&self, weights: &scenario::Fitness) -> f64 {
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
pub(crate) fn divergence(personal: &[f32], local: &[f32], classes: usize) -> f64 {
    let samples = personal.len() / classes.max(1);
    let term = |(&p, &q): (&f32, &f32)| {
        let (p, q) = (f64::from(p), f64::from(q).max(LEAST_PROBABILITY));
        if p > 0.0 { p * (p / q).ln() } else { 0.0 }
    };
    let sum: f64 = personal.iter().zip(local).map(term).sum();
    // Rounding may leave two equal models a hair below 0.
    (sum / samples.max(1) as f64).max(0.0)
}

/// α of a UAV's covered devices, each for what it adds to those that are worth more: its S^Sim counts as far as
/// its classes are not theirs. α falls from each device to the next, so that a threshold takes the first of this order.
///
/// Departs from the paper, where each device is scored by itself, and a threshold may take ten with the same two classes.
#[must_use]
pub(crate) fn marginal(
    scores: &[Scores],
    answers: &Answers,
    weights: &scenario::Fitness,
) -> Vec<f64> {
    let mut mix = Mix::default();
    let worth = |device: usize, mix: &Mix| {
        let alone = scores[device];
        let added = Scores {
            difference: alone.difference * mix.lacks(answers.classes(device)),
            ..alone
        };
        (added.fitness(weights), device)
    };
    // The larger fitness first, and the lower number among equals.
    let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    // Nobody is worth more than by itself: whoever comes after the best of all need not be looked at.
    let by_themselves = scores.iter().map(|scores| scores.fitness(weights));
    let mut left: Vec<(f64, usize)> = by_themselves.zip(0..).collect();
    left.sort_unstable_by(order);
    let mut ranked = Vec::with_capacity(scores.len());
    while ranked.len() < RANKED_ONE_BY_ONE {
        let mut best: Option<(usize, (f64, usize))> = None;
        for (place, &(alone, device)) in left.iter().enumerate() {
            if best.is_some_and(|(_, best)| alone < best.0) {
                break;
            }
            let found = worth(device, &mix);
            if best.is_none_or(|(_, best)| order(&found, &best).is_lt()) {
                best = Some((place, found));
            }
        }
        let Some((place, best)) = best else {
            break;
        };
        left.remove(place);
        mix.add(answers.classes(best.1));
        ranked.push(best);
    }
    let mut rest: Vec<_> = left
        .iter()
        .map(|(_, device)| worth(*device, &mix))
        .collect();
    rest.sort_unstable_by(order);
    ranked.extend(rest);

    let (mut fitness, mut last) = (vec![0.0; scores.len()], f64::INFINITY);
    for (worth, device) in ranked {
        // Who comes later may add more than who came before; a hair less keeps the order.
        last = worth.min(last.next_down()).max(0.0);
        fitness[device] = last;
    }
    fitness
}

/// The classes of several devices together.
#[derive(Default)]
struct Mix {
    sum: Vec<f64>,
    /// The same for the average device; empty without devices.
    mean: Vec<f64>,
    devices: usize,
}

impl Mix {
    fn add(&mut self, classes: &[f64]) {
        self.sum.resize(classes.len().max(self.sum.len()), 0.0);
        self.sum
            .iter_mut()
            .zip(classes)
            .for_each(|(sum, class)| *sum += class);
        self.devices += 1;
        let devices = self.devices as f64;
        self.mean.clear();
        self.mean.extend(self.sum.iter().map(|sum| sum / devices));
    }

    /// The part of a device's classes that it does not have, 0 to 1: their total variation distance.
    fn lacks(&self, classes: &[f64]) -> f64 {
        let both = self.mean.iter().zip(classes);
        // What is not a number is shared by all.
        let shared = both.map(|(mean, class)| class.min(*mean));
        (1.0 - shared.sum::<f64>()).clamp(0.0, 1.0)
    }
}

/// Scores of a UAV's covered devices; of processors more is better. Every score is relative to the best among them; where all are
/// 0 or not a number, it is 0.
#[must_use]
pub(crate) fn scores(differences: &[f64], distances_m: &[f64], processors: &[f64]) -> Vec<Scores> {
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let share = |part: f64, whole: f64| {
        let share = part / whole;
        if share.is_finite() {
            share.min(1.0)
        } else {
            0.0
        }
    };
    let (farthest, best) = (most(differences), most(processors));
    let nearest = distances_m.iter().copied().fold(f64::INFINITY, f64::min);
    let devices = differences.iter().zip(distances_m).zip(processors);
    devices
        .map(|((&difference, &distance_m), &processor)| Scores {
            difference: share(difference, farthest),
            distance: share(nearest, distance_m),
            compute: share(processor, best),
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

    fn device(difference: f64, classes: &[f64]) -> (Scores, Vec<f64>) {
        let scores = Scores {
            difference,
            ..Scores::default()
        };
        (scores, classes.to_vec())
    }

    fn marginal_of(devices: Vec<(Scores, Vec<f64>)>) -> Vec<f64> {
        let weights = scenario::Fitness::default().difference_alone();
        let (scores, classes): (Vec<_>, Vec<_>) = devices.into_iter().unzip();
        marginal(&scores, &answers(&scores, &classes), &weights)
    }

    fn answers(scores: &[Scores], classes: &[Vec<f64>]) -> Answers {
        let count = classes.first().map_or(0, Vec::len);
        let mut answers = Answers::with_capacity(scores.len(), count);
        for (scores, classes) in scores.iter().zip(classes) {
            answers.push(scores.difference, 1, classes);
        }
        answers
    }

    /// The ranking as it is defined: everybody is looked at for every place.
    fn marginal_by_full_scan(
        scores: &[Scores],
        answers: &Answers,
        weights: &scenario::Fitness,
    ) -> Vec<f64> {
        let mut left: Vec<usize> = (0..scores.len()).collect();
        let (mut mix, mut last) = (Mix::default(), f64::INFINITY);
        let mut fitness = vec![0.0; scores.len()];
        let worth = |device: usize, mix: &Mix| {
            let difference = scores[device].difference * mix.lacks(answers.classes(device));
            let added = Scores {
                difference,
                ..scores[device]
            };
            added.fitness(weights)
        };
        let mut past_64 = None;
        while !left.is_empty() {
            let by = past_64.as_ref().unwrap_or(&mix);
            let order = |a: &&usize, b: &&usize| {
                let by_worth = worth(**b, by).total_cmp(&worth(**a, by));
                by_worth.then(a.cmp(b))
            };
            let best = *left.iter().min_by(order).unwrap();
            last = worth(best, by).min(last.next_down()).max(0.0);
            fitness[best] = last;
            left.retain(|device| *device != best);
            mix.add(answers.classes(best));
            if past_64.is_none() && scores.len() - left.len() == RANKED_ONE_BY_ONE {
                past_64 = Some(std::mem::take(&mut mix));
            }
        }
        fitness
    }

    /// By hand. Device 1 comes first, with 0.9. Then device 0 would add 0.8 x (1 - 1) = 0, device 2 0.5 x 1, device 3
    /// 0.6 x (1 - 0.5) = 0.3: device 2 comes second. The mix is half and half: device 0 lacks 1 - 0.5, worth 0.4,
    /// device 3 is in it already, worth 0. Third is device 0, with 0.4. The mix is then 2/3 and 1/3, of which device 3 lacks
    /// 1 - (0.5 + 1/3) = 1/6: worth 0.1.
    #[test]
    fn each_device_is_worth_what_it_adds() {
        let ours = marginal_of(vec![
            device(0.8, &[1.0, 0.0]),
            device(0.9, &[1.0, 0.0]),
            device(0.5, &[0.0, 1.0]),
            device(0.6, &[0.5, 0.5]),
        ]);
        for (ours, expected) in ours.iter().zip([0.4, 0.9, 0.5, 0.1]) {
            assert!((ours - expected).abs() < 1e-12, "{ours} {expected}");
        }
    }

    /// Who adds more than somebody before it is still worth a hair less, and nothing is worth less than nothing.
    #[test]
    fn worth_falls_strictly_and_ends_at_nothing() {
        let ours = marginal_of(vec![
            device(0.2, &[1.0, 0.0]),
            device(0.2, &[1.0, 0.0]),
            device(0.2, &[1.0, 0.0]),
        ]);
        assert_eq!(ours, [0.2, 0.0, 0.0]);
        let rising = marginal_of(vec![
            device(1.0, &[0.6, 0.4]),
            device(0.9, &[0.5, 0.5]),
            device(0.5, &[0.1, 0.9]),
            device(1.0, &[f64::NAN, f64::NAN]),
        ]);
        let mut sorted = rising.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        assert!(
            sorted
                .windows(2)
                .all(|pair| pair[0] > pair[1] || pair[1] == 0.0),
            "{rising:?}"
        );
        assert!(
            rising.iter().all(|alpha| (0.0..=1.0).contains(alpha)),
            "{rising:?}"
        );
    }

    /// Past the first 64, devices are ranked against the mix of those.
    #[test]
    fn large_cells_are_ranked_as_well() {
        let many: Vec<_> = (0..500)
            .map(|id| {
                device(
                    f64::from(id % 97 + 1) / 97.0,
                    &[f64::from(id % 2), f64::from((id + 1) % 2)],
                )
            })
            .collect();
        let ours = marginal_of(many);
        let above = |threshold: f64| ours.iter().filter(|alpha| **alpha >= threshold).count();
        let mut sorted = ours.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        for count in [1, 64, 65, 300, 500] {
            assert_eq!(above(sorted[count - 1]), count);
        }
    }

    #[test]
    fn nobody_and_nothing_score_zero() {
        assert!(marginal_of(Vec::new()).is_empty());
        assert!(scores(&[], &[], &[]).is_empty());
        let same = scores(&[0.0, f64::NAN], &[10.0, 10.0], &[1e9, 1e9]);
        assert!(
            same.iter()
                .all(|s| s.difference == 0.0 && s.distance == 1.0)
        );
    }

    proptest! {
        /// Few values each, so that many are worth the same.
        #[test]
        fn nobody_who_matters_is_passed_over(
            devices in prop::collection::vec((0u8..5, 0u8..3, prop::collection::vec(0u8..4, 3)), 0..150)
        ) {
            let weights = scenario::Fitness::default();
            let scores: Vec<Scores> = devices
                .iter()
                .map(|(difference, distance, _)| Scores {
                    difference: f64::from(*difference) / 4.0,
                    distance: f64::from(*distance) / 2.0,
                    compute: 0.5,
                })
                .collect();
            let shares = |parts: &Vec<u8>| {
                let sum: u8 = parts.iter().sum();
                parts.iter().map(|part| f64::from(*part) / f64::from(sum.max(1))).collect()
            };
            let classes: Vec<Vec<f64>> = devices.iter().map(|(_, _, parts)| shares(parts)).collect();
            let answers = answers(&scores, &classes);
            let ours = marginal(&scores, &answers, &weights);
            prop_assert_eq!(ours, marginal_by_full_scan(&scores, &answers, &weights));
        }

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
