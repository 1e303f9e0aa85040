//! The law that a surrogate learns by: numbers fitted to runs that trained, for each data set, model and step size by themselves.

use serde::{Deserialize, Serialize};

/// What is fitted (`learn/surrogate/mean_field.rs` says what it means).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LawNumbers {
    /// How far a local iteration moves margins.
    pub margin_rate: f64,
    /// The part of it that all classes have from each other, 0 to 1.
    pub transfer: f64,
    /// How far a local iteration moves biases.
    pub bias_rate: f64,
    /// Speed of a model that knows nothing yet, relative to later, 0 to 1.
    pub onset: f64,
    /// The margin on test samples that no training exceeds, at a data volume of 4 000 ...
    pub ceiling: f64,
    /// ... and what it gains with every e-fold of samples.
    pub ceiling_per_fold: f64,
    /// How much surer decisions are than probabilities.
    pub sharpness: f64,
}

impl LawNumbers {
    /// The greatest margin on test samples, with so many training samples.
    #[must_use]
    pub fn ceiling_at(&self, data_volume: usize) -> f64 {
        let folds = libm::log(data_volume as f64 / 4_000.0);
        (self.ceiling + self.ceiling_per_fold * folds).max(0.1)
    }
}

/// The law of one scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// What was fitted.
    pub numbers: LawNumbers,
    /// The scenario's step size relative to the one that it was fitted at.
    pub relative_rate: f64,
}

impl Default for Law {
    fn default() -> Self {
        Self {
            numbers: LawNumbers {
                margin_rate: 0.05,
                transfer: 0.5,
                bias_rate: 0.3,
                onset: 0.1,
                ceiling: 4.0,
                ceiling_per_fold: 0.5,
                sharpness: 1.3,
            },
            relative_rate: 1.0,
        }
    }
}
