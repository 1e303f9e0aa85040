//! The step of gradient descent.
#![allow(unsafe_code)]

use super::simd::{self, Simd, Task};
use crate::isa::Isa;
use crate::job::Sgd;

/// Everything one step reads and writes; all slices have the same length, or are empty where `sgd` does not
/// need them.
pub(crate) struct Step<'a> {
    pub(crate) sgd: Sgd,
    pub(crate) weights: &'a mut [f32],
    pub(crate) gradient: &'a [f32],
    /// Needed with momentum.
    pub(crate) velocity: &'a mut [f32],
    /// Needed with a proximal pull.
    pub(crate) start: &'a [f32],
}

/// Moves the weights by one step.
pub(crate) fn descend(isa: Isa, step: Step) {
    simd::run(isa, step);
}

impl Task for Step<'_> {
    /// Only slices and loops here: what the instruction set brings is the width the compiler uses.
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let Sgd {
            learning_rate,
            momentum,
            weight_decay,
            proximal,
            ..
        } = self.sgd;
        if self.sgd.is_plain() {
            for (weight, slope) in self.weights.iter_mut().zip(self.gradient) {
                *weight -= learning_rate * slope;
            }
            return;
        }
        for (at, (weight, slope)) in self.weights.iter_mut().zip(self.gradient).enumerate() {
            let mut slope = slope + weight_decay * *weight;
            if proximal > 0.0 {
                slope += proximal * (*weight - self.start[at]);
            }
            if momentum > 0.0 {
                slope += momentum * self.velocity[at];
                self.velocity[at] = slope;
            }
            *weight -= learning_rate * slope;
        }
    }
}
