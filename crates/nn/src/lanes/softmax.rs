//! Softmax and cross-entropy of a group of samples.
#![allow(unsafe_code)]

use super::simd::{self, Simd, Task, exp};
use crate::isa::Isa;

/// What [`cross_entropy`] computes from logits.
pub(crate) struct CrossEntropy<'a> {
    /// A row for each sample, `stride` values apart.
    pub(crate) logits: &'a [f32],
    pub(crate) samples: usize,
    pub(crate) classes: usize,
    pub(crate) stride: usize,
    /// A label for each sample, or none at all.
    pub(crate) labels: &'a [u8],
    /// Factor on the gradient: one over the batch size.
    pub(crate) scale: f32,
    /// Gradient with respect to the logits, rows as theirs; softmax x scale where `labels` is empty.
    pub(crate) gradient: &'a mut [f32],
    /// Loss of each sample with a label.
    pub(crate) losses: &'a mut [f32; 16],
}

/// Loss and gradient of a group.
pub(crate) fn cross_entropy(isa: Isa, task: CrossEntropy) {
    let values = task.samples * task.stride;
    assert!(task.stride.is_multiple_of(16) && (1..=task.stride).contains(&task.classes));
    assert!(task.logits.len() >= values && task.gradient.len() >= values);
    assert!(task.labels.is_empty() || task.labels.len() == task.samples);
    assert!(task.samples <= task.losses.len());
    assert!(
        task.labels
            .iter()
            .all(|label| usize::from(*label) < task.classes)
    );
    simd::run(isa, task);
}

impl Task for CrossEntropy<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        for sample in 0..self.samples {
            let at = sample * self.stride;
            let logits = &self.logits[at..at + self.classes];
            let mut largest = logits[0];
            for &logit in &logits[1..] {
                largest = if logit > largest { logit } else { largest };
            }
            let powers = &mut self.gradient[at..at + self.stride];
            for class in (0..self.classes).step_by(S::LANES) {
                // SAFETY: the caller vouches for the instruction set; rows are whole blocks of 16.
                unsafe {
                    let logits = S::load(self.logits.as_ptr().add(at + class));
                    let power = exp::<S>(S::sub(logits, S::splat(largest)));
                    S::store(powers.as_mut_ptr().add(class), power);
                }
            }
            let (powers, rest) = powers.split_at_mut(self.classes);
            rest.fill(0.0);
            let sum = powers.iter().fold(0.0, |sum: f32, power| sum + power);
            let factor = self.scale / sum;
            for power in powers.iter_mut() {
                *power *= factor;
            }
            let Some(&label) = self.labels.get(sample) else {
                continue;
            };
            powers[usize::from(label)] -= self.scale;
            // ln in f64: correctly rounded to f32 wherever it runs.
            let loss = f64::from(largest) + f64::from(sum).ln();
            self.losses[sample] = (loss - f64::from(logits[usize::from(label)])) as f32;
        }
    }
}
