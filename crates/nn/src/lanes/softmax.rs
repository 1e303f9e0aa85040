//! Softmax and cross-entropy of a group of samples.
#![allow(unsafe_code)]

use super::simd::{self, Group, Simd, Task, exp};
use crate::isa::Isa;

/// What [`cross_entropy`] computes from logits.
pub(crate) struct CrossEntropy<'a> {
    /// `[class][lane]`.
    pub(crate) logits: &'a [f32],
    /// One label for each lane in use; the other lanes give no loss and no gradient.
    pub(crate) labels: &'a [u8],
    /// Factor on the gradient: one over the batch size.
    pub(crate) scale: f32,
    /// Gradient with respect to the logits, `[class][lane]`; softmax x scale where `labels` is empty.
    pub(crate) gradient: &'a mut [f32],
    /// Loss of each lane in use.
    pub(crate) losses: &'a mut [f32; 16],
}

/// Loss and gradient of a group.
pub(crate) fn cross_entropy(isa: Isa, group: Group, task: CrossEntropy) {
    let lanes = group.lanes();
    let classes = task.logits.len() / lanes;
    assert!(task.logits.len() == classes * lanes && task.gradient.len() >= task.logits.len());
    assert!(task.labels.len() <= lanes);
    assert!(
        task.labels
            .iter()
            .all(|label| usize::from(*label) < classes)
    );
    simd::run(isa, group, task);
}

impl Task for CrossEntropy<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd, const G: usize>(self) {
        let classes = self.logits.len() / G;
        let mut largest = [0.0f32; 16];
        let mut sums = [0.0f32; 16];
        for lane in (0..G).step_by(S::LANES) {
            // SAFETY: the caller vouches for the instruction set; `cross_entropy` checked the lengths.
            unsafe {
                let logits = self.logits.as_ptr().add(lane);
                let gradient = self.gradient.as_mut_ptr().add(lane);
                let mut top = S::load(logits);
                for class in 1..classes {
                    top = S::max(S::load(logits.add(class * G)), top);
                }
                let mut sum = S::splat(0.0);
                for class in 0..classes {
                    let power = exp::<S>(S::sub(S::load(logits.add(class * G)), top));
                    sum = S::add(sum, power);
                    S::store(gradient.add(class * G), power);
                }
                let factor = S::div(S::splat(self.scale), sum);
                for class in 0..classes {
                    let to = gradient.add(class * G);
                    S::store(to, S::mul(S::load(to), factor));
                }
                S::store(largest.as_mut_ptr().add(lane), top);
                S::store(sums.as_mut_ptr().add(lane), sum);
            }
        }
        if self.labels.is_empty() {
            return;
        }
        for lane in 0..G {
            let Some(&label) = self.labels.get(lane) else {
                for class in 0..classes {
                    self.gradient[class * G + lane] = 0.0;
                }
                continue;
            };
            let at = usize::from(label) * G + lane;
            self.gradient[at] -= self.scale;
            // ln in f64: correctly rounded to f32 wherever it runs.
            let log_sum = f64::from(sums[lane]).ln();
            self.losses[lane] =
                (f64::from(largest[lane]) + log_sum - f64::from(self.logits[at])) as f32;
        }
    }
}
