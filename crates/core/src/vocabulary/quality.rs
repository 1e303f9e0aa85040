//! How good a model is.

use aerofed_nn::Evaluation;
use serde::{Deserialize, Serialize};

/// Loss and accuracy of a model on some samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Mean cross-entropy.
    pub loss: f64,
    /// 0 to 1.
    pub accuracy: f64,
}

impl From<Evaluation> for Quality {
    fn from(evaluation: Evaluation) -> Self {
        Self {
            loss: evaluation.loss,
            accuracy: evaluation.accuracy(),
        }
    }
}
