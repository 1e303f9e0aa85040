//! Adam: gradient steps of about the same length for every weight.

use crate::error::Error;
use serde::{Deserialize, Serialize};

/// Decay of the mean of gradients, and of the mean of their squares.
const DECAYS: [f32; 2] = [0.9, 0.999];
/// Keeps the step finite where all gradients so far were 0.
const EPSILON: f32 = 1e-8;

/// The running means of Adam for one vector of weights. D. P. Kingma and J. Ba, *Adam: a method for stochastic
/// optimization*, ICLR 2015, with the constants given there.
///
/// ```text
/// m <- 0.9 m + 0.1 g,   v <- 0.999 v + 0.001 g^2,   w <- w - rate (m / (1 - 0.9^t)) / (sqrt(v / (1 - 0.999^t)) + 1e-8)
/// ```
///
/// Everything it remembers is in its serialised form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adam {
    mean: Vec<f32>,
    square: Vec<f32>,
    /// 0.9^t and 0.999^t, after t steps.
    powers: [f64; 2],
}

impl Adam {
    /// For `parameters` weights, before the first step.
    pub fn new(parameters: usize) -> Adam {
        Adam {
            mean: vec![0.0; parameters],
            square: vec![0.0; parameters],
            powers: [1.0; 2],
        }
    }

    /// Checks that it is for `parameters` weights, as one that was read from a file may not be.
    ///
    /// # Errors
    /// [`Error::Length`] otherwise.
    pub fn check(&self, parameters: usize) -> Result<(), Error> {
        check_length("Adam's mean gradient", self.mean.len(), parameters)?;
        check_length("Adam's mean square", self.square.len(), parameters)
    }

    /// Moves `weights` one step against `gradient`.
    ///
    /// # Errors
    /// When either slice is not as long as [`Adam::new`] was told.
    pub fn step(
        &mut self,
        learning_rate: f32,
        weights: &mut [f32],
        gradient: &[f32],
    ) -> Result<(), Error> {
        self.check(weights.len())?;
        check_length("gradient", gradient.len(), weights.len())?;
        for (power, decay) in self.powers.iter_mut().zip(DECAYS) {
            *power *= f64::from(decay);
        }
        let step = (f64::from(learning_rate) / (1.0 - self.powers[0])) as f32;
        let scale = (1.0 / (1.0 - self.powers[1]).sqrt()) as f32;
        let means = self.mean.iter_mut().zip(&mut self.square);
        for ((weight, slope), (mean, square)) in weights.iter_mut().zip(gradient).zip(means) {
            *mean = DECAYS[0] * *mean + (1.0 - DECAYS[0]) * slope;
            *square = DECAYS[1] * *square + (1.0 - DECAYS[1]) * (slope * slope);
            *weight -= step * *mean / (square.sqrt() * scale + EPSILON);
        }
        Ok(())
    }
}

fn check_length(what: &'static str, actual: usize, expected: usize) -> Result<(), Error> {
    if actual == expected {
        return Ok(());
    }
    Err(Error::Length {
        what,
        expected,
        actual,
    })
}
