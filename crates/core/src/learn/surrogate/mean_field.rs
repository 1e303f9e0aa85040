//! The model that a surrogate trains in place of a network: for every class how far samples of it stand out, and a bias.
//!
//! It is what is left of a classifier when all samples of a class are alike: a sample of class k has the score `bias_j` for every
//! class j, and `bias_k + margin_k` for its own; probabilities are the softmax of the scores. Devices descend the gradient of the
//! cross-entropy on their own label mix, so that what a few labels do to a network they do here: margins of the classes that
//! are there grow, ever more slowly; biases run off towards them, and the gradient fades before much has been learned. Merging
//! averages margins and biases as it averages weights. Biases are kept `bias_length` times as large as they act: how far models are from
//! each other then tells as much of what they have in common as the weights of networks do.

use super::numbers::{exp, ln};
use crate::scenario::LawNumbers;

/// No margin or bias is farther from 0: exponentials of them stay numbers.
const LARGEST: f32 = 30.0;
/// The same of what is made of them: a product of two exponentials is still a number.
const FARTHEST: f32 = 40.0;
/// Mean margin at which outputs are as sure as the softmax of the scores: a guess, held against the numbers of devices that `fixed_threshold`
/// selects in its first rounds (seed 1).
const SURE_MARGIN: f32 = 1.5;
/// Local iterations that are done in one go.
const STRIDE: usize = 3;

/// A model as others pass it around: margins, then biases.
pub(crate) fn values(classes: usize) -> usize {
    2 * classes
}

/// What a device computes with; kept from device to device.
pub(crate) struct Scratch {
    classes: usize,
    bias_length: f32,
    mix: Vec<f32>,
    bias_exp: Vec<f32>,
    margin_exp: Vec<f32>,
    missing: Vec<f32>,
}

impl Scratch {
    pub(crate) fn new(classes: usize, bias_length: f32) -> Self {
        let zeros = || vec![0.0; classes];
        Self {
            classes,
            bias_length,
            mix: zeros(),
            bias_exp: zeros(),
            margin_exp: zeros(),
            missing: zeros(),
        }
    }

    /// Whose label mix is looked at from now on.
    pub(crate) fn set_mix(&mut self, shares: impl Iterator<Item = (usize, f32)>) {
        self.mix.fill(0.0);
        for (class, share) in shares {
            self.mix[class] = share;
        }
    }

    /// As many samples of each class.
    pub(crate) fn set_even_mix(&mut self) {
        self.mix.fill(1.0 / self.classes as f32);
    }

    /// A model that knows nothing.
    pub(crate) fn first_model(&self) -> Vec<f32> {
        vec![0.0; values(self.classes)]
    }

    /// Exponentials of a model's biases and margins. Returns the sum of the former.
    fn exponentials(&mut self, model: &[f32], sharpness: f32) -> f32 {
        let (margins, biases) = model.split_at(self.classes);
        for (e, &bias) in self.bias_exp.iter_mut().zip(biases) {
            *e = exp((sharpness * bias / self.bias_length).clamp(-FARTHEST, FARTHEST));
        }
        for (e, &margin) in self.margin_exp.iter_mut().zip(margins) {
            *e = exp((sharpness * margin).clamp(-FARTHEST, FARTHEST));
        }
        self.bias_exp.iter().sum()
    }

    /// Softmax outputs of a model on samples of this mix, their mean in one row. Samples differ by their `noise`, class after class
    /// of sample after sample. Margins on samples that the model was not trained on end at `ceiling`.
    ///
    /// Biases count in full: a model is sure at once of the few classes that a device trained it on. Margins and noise count the
    /// more the larger margins are: a network that knows little has nearly even outputs, even where its largest is right; one
    /// that knows much is sure also of its mistakes.
    pub(crate) fn outputs(
        &mut self,
        model: &[f32],
        ceiling: Option<f32>,
        sharpness: f32,
        noise: &[f32],
        mean_row: &mut Vec<f32>,
    ) {
        let classes = self.classes;
        let (margins, biases) = model.split_at(classes);
        for (seen, &margin) in self.missing.iter_mut().zip(margins) {
            *seen = ceiling.map_or(margin, |ceiling| unseen_margin(margin, ceiling));
        }
        let mean = self.missing.iter().sum::<f32>() / classes as f32;
        let sure = (mean / SURE_MARGIN).max(0.0);
        let noise_scale = sure / sharpness;
        mean_row.clear();
        mean_row.resize(classes, 0.0);
        let samples = noise.len() / classes;
        let (mut class, mut below) = (0, self.mix[0]);
        for (sample, noise) in noise.chunks_exact(classes).enumerate() {
            // As many samples of a class as its share of the mix says.
            while below < (sample as f32 + 0.5) / samples as f32 && class + 1 < classes {
                class += 1;
                below += self.mix[class];
            }
            let scores = &mut self.bias_exp;
            for ((score, bias), noise) in scores.iter_mut().zip(biases).zip(noise) {
                *score = bias / self.bias_length + noise_scale * noise;
            }
            scores[class] += sure * self.missing[class];
            let largest = scores.iter().copied().fold(f32::MIN, f32::max);
            scores
                .iter_mut()
                .for_each(|score| *score = exp(*score - largest));
            let share = 1.0 / (samples as f32 * scores.iter().sum::<f32>());
            for (mean, score) in mean_row.iter_mut().zip(scores) {
                *mean += share * *score;
            }
        }
    }

    /// Descends the gradient on this mix for so many local iterations. Returns the mean loss on the way.
    pub(crate) fn train(
        &mut self,
        model: &mut [f32],
        steps: usize,
        pull: f32,
        start: &[f32],
        rates: &Rates,
    ) -> f32 {
        let (mut left, mut nth, mut loss) = (steps, 0.0, 0.0);
        while left > 0 {
            let now = left.min(STRIDE);
            nth += 1.0;
            // Biases that go too far come back, in ever shorter steps.
            let bias_step = rates.bias_steps[now] / nth;
            loss += now as f32 * self.descend(model, now as f32, bias_step, rates);
            if pull > 0.0 {
                let kept = exp(-pull * now as f32);
                for (value, start) in model.iter_mut().zip(start) {
                    *value = start + kept * (*value - start);
                }
            }
            left -= now;
        }
        loss / steps.max(1) as f32
    }

    fn descend(&mut self, model: &mut [f32], steps: f32, bias_step: f32, rates: &Rates) -> f32 {
        let classes = self.classes;
        let all = self.exponentials(model, 1.0);
        let (mut of_others, mut error, mut loss) = (0.0, 0.0, 0.0);
        for class in 0..classes {
            let (e, share) = (self.bias_exp[class], self.mix[class]);
            let own = e * self.margin_exp[class];
            let whole = all - e + own;
            of_others += share / whole;
            let missed = share * (all - e) / whole;
            self.missing[class] = missed;
            error += missed;
            if share > 0.0 {
                loss -= share * ln(own / whole);
            }
        }
        let (margins, biases) = model.split_at_mut(classes);
        let own_rate = steps * rates.margin * (1.0 - rates.transfer) * classes as f32;
        let shared = steps * rates.margin * rates.transfer * error;
        for (class, margin) in margins.iter_mut().enumerate() {
            // Nothing stands out yet: there is little to build on.
            let built = 1.0 - (1.0 - rates.onset) / self.margin_exp[class].max(1.0);
            let gain = built * (own_rate * self.missing[class] + shared);
            *margin = (*margin + gain).min(LARGEST);
        }
        for (class, bias) in biases.iter_mut().enumerate() {
            let (e, share) = (self.bias_exp[class], self.mix[class]);
            let whole = all + e * (self.margin_exp[class] - 1.0);
            // Samples of its own that it missed, less those of others that it took.
            let run = bias_step * (self.missing[class] - e * (of_others - share / whole));
            let farthest = self.bias_length * LARGEST;
            *bias = (*bias + self.bias_length * run).clamp(-farthest, farthest);
        }
        loss
    }

    /// Accuracy and loss on samples of this mix that nobody trained on.
    pub(crate) fn quality(&mut self, model: &[f32], sharpness: f32, ceiling: f32) -> (f64, f64) {
        let mut unseen = model.to_vec();
        for margin in &mut unseen[..self.classes] {
            *margin = unseen_margin(*margin, ceiling);
        }
        let (mut accuracy, mut loss) = (0.0, 0.0);
        let all = self.exponentials(&unseen, 1.0);
        for class in 0..self.classes {
            let (e, share) = (self.bias_exp[class], self.mix[class]);
            let own = e * self.margin_exp[class];
            loss -= f64::from(share * ln(own / (all - e + own)));
        }
        let all = self.exponentials(&unseen, sharpness);
        for class in 0..self.classes {
            let (e, share) = (self.bias_exp[class], self.mix[class]);
            let own = e * self.margin_exp[class];
            accuracy += f64::from(share * own / (all - e + own));
        }
        // Shares add up to 1 within rounding.
        (accuracy.clamp(0.0, 1.0), loss)
    }
}

/// The margin on samples that a model was not trained on.
fn unseen_margin(margin: f32, ceiling: f32) -> f32 {
    ceiling * (1.0 - exp(-margin / ceiling))
}

/// How far a local iteration goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    pub(crate) margin: f32,
    pub(crate) transfer: f32,
    /// By the local iterations that are done in one go.
    pub(crate) bias_steps: [f32; STRIDE + 1],
    pub(crate) onset: f32,
}

impl Rates {
    /// Those of a law, at a step size that is `relative` to the one that it was fitted at.
    pub(crate) fn new(law: &LawNumbers, relative: f64) -> Self {
        let (rate, reach) = (law.bias_rate * relative, law.bias_reach);
        let bias = |steps: usize| reach * (1.0 - libm::exp(-rate * steps as f64 / reach));
        Self {
            margin: (law.margin_rate * relative) as f32,
            transfer: law.transfer as f32,
            bias_steps: std::array::from_fn(|steps| bias(steps) as f32),
            onset: law.onset as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates() -> Rates {
        Rates {
            margin: 0.05,
            transfer: 0.5,
            bias_steps: [0.0, 5.0, 8.0, 10.0],
            onset: 0.5,
        }
    }

    /// By hand: two classes, nothing known. p = 1/2, so a sample of class 0 alone misses 1/2 of it: margin 0 grows by
    /// 0.05 (0.5 x 2 x 0.5 + 0.5 x 0.5) x 0.5 = 0.01875, margin 1 by 0.05 x 0.25 x 0.5 = 0.00625; biases run by 5 x 0.5 apart.
    #[test]
    fn one_step_worked_by_hand() {
        let mut scratch = Scratch::new(2, 1.0);
        scratch.set_mix([(0, 1.0)].into_iter());
        let (start, mut model) = (scratch.first_model(), scratch.first_model());
        let loss = scratch.train(&mut model, 1, 0.0, &start, &rates());
        assert!((loss - std::f32::consts::LN_2).abs() < 1e-5, "{loss}");
        for (ours, expected) in model.iter().zip([0.01875, 0.00625, 2.5, -2.5]) {
            assert!((ours - expected).abs() < 1e-5, "{model:?}");
        }
    }

    /// Whatever a law says and for however long it is followed, there are probabilities at the end.
    #[test]
    fn nothing_runs_off_to_infinity() {
        let wild = Rates {
            margin: 10.0,
            transfer: 0.0,
            bias_steps: [0.0, 50.0, 50.0, 50.0],
            onset: 1.0,
        };
        let mut scratch = Scratch::new(10, 1.0);
        let mut model = scratch.first_model();
        for class in 0..10 {
            scratch.set_mix([(class, 1.0)].into_iter());
            let start = model.clone();
            scratch.train(&mut model, 1_000, 0.01, &start, &wild);
            scratch.set_even_mix();
            let (accuracy, loss) = scratch.quality(&model, 10.0, 50.0);
            assert!(
                (0.0..=1.0).contains(&accuracy) && loss.is_finite(),
                "{accuracy} {loss}"
            );
        }
    }

    /// A model that knows nothing has even outputs; one with large margins is right; a bias is heard at once; and samples differ.
    #[test]
    fn outputs_are_those_of_a_network_that_knows_as_much() {
        let noise = crate::learn::surrogate::samples::Noise::new(1, 50, 4);
        let mut scratch = Scratch::new(4, 1.0);
        scratch.set_mix([(0, 0.5), (2, 0.5)].into_iter());
        let mut rows = |margin: f32, bias: f32| -> Vec<Vec<f32>> {
            let model = [margin, margin, margin, margin, 0.0, bias, 0.0, 0.0];
            let ask = |device: u32| {
                let mut row = Vec::new();
                let noise = noise.of(crate::vocabulary::DeviceId(device));
                scratch.outputs(&model, Some(50.0), 1.5, noise, &mut row);
                assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{row:?}");
                row
            };
            (0..50).map(ask).collect()
        };
        assert!(
            rows(0.0, 0.0)
                .iter()
                .flatten()
                .all(|p| (p - 0.25).abs() < 1e-4)
        );
        for row in rows(20.0, 0.0) {
            assert!(
                (row[0] - 0.5).abs() < 1e-3 && (row[2] - 0.5).abs() < 1e-3,
                "{row:?}"
            );
        }
        assert!(rows(0.0, 9.0).iter().all(|row| row[1] > 0.99));
        let some = rows(2.0, 0.0);
        let right = |row: &Vec<f32>| row[0] + row[2];
        let ends = |a: f32, b: f32| (a.min(b), a.max(b));
        let most = some.iter().map(right).fold(0.0, |a, b| ends(a, b).1);
        let least = some.iter().map(right).fold(1.0, |a, b| ends(a, b).0);
        assert!(most - least > 0.15, "{least} {most}");
    }

    /// A pull back to the start keeps a model nearer to it.
    #[test]
    fn proximal_steps_stay_near() {
        let far = |pull: f32| {
            let mut scratch = Scratch::new(3, 1.0);
            scratch.set_mix([(0, 0.5), (1, 0.5)].into_iter());
            let (start, mut model) = (scratch.first_model(), scratch.first_model());
            scratch.train(&mut model, 9, pull, &start, &rates());
            model.iter().map(|value| value * value).sum::<f32>()
        };
        assert!(far(0.5) < far(0.0));
    }

    /// A model is the same whatever its biases are kept as, and only the distance of models knows.
    #[test]
    fn the_length_of_biases_changes_distances_alone() {
        let trained = |length: f32| {
            let mut scratch = Scratch::new(3, length);
            scratch.set_mix([(0, 0.75), (2, 0.25)].into_iter());
            let (start, mut model) = (scratch.first_model(), scratch.first_model());
            let loss = scratch.train(&mut model, 7, 0.01, &start, &rates());
            scratch.set_even_mix();
            (scratch.quality(&model, 1.5, 4.0), loss, model)
        };
        let (plain, loss, model) = trained(1.0);
        let (same, same_loss, long) = trained(4.0);
        assert_eq!((plain, loss), (same, same_loss));
        assert_eq!(model[..3], long[..3]);
        for (bias, long) in model[3..].iter().zip(&long[3..]) {
            assert_eq!(4.0 * bias, *long);
        }
    }
}
