//! The controller's own looks at models, and the UAVs' own models.

use crate::Error;
use crate::vocabulary::{Quality, UavId};

/// What the controller and the UAVs compute themselves, on data that no device holds.
pub trait Evaluator: Send {
    /// The global model before the first round.
    ///
    /// # Errors
    /// When there is none.
    fn first_model(&mut self) -> Result<Vec<f32>, Error>;

    /// A model on the test set, which nothing may be decided by.
    ///
    /// # Errors
    /// When the model does not fit.
    fn test(&mut self, model: &[f32]) -> Result<Quality, Error>;

    /// A model on the probe samples, which the controller may look at.
    ///
    /// # Errors
    /// When the model does not fit.
    fn probe(&mut self, model: &[f32]) -> Result<Quality, Error>;

    /// The personal models of these UAVs: each trained on the UAV's own samples from `start`, `epochs` times over. `round` tells
    /// its random draws from those of other rounds.
    ///
    /// # Errors
    /// When the model does not fit.
    fn personal_models(
        &mut self,
        uavs: &[UavId],
        start: &[f32],
        epochs: usize,
        round: usize,
    ) -> Result<Vec<Vec<f32>>, Error>;
}
