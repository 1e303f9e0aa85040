//! What models and updates are on the air: how many bits, and what arrives of them.
//!
//! Devices and UAVs send *updates* up: the trained model less the model that it began from. UAVs send *models* down. The
//! receiver of an update adds it to the model that it began from, which it knows.

mod air;
mod half;
mod int8;
mod single;
mod top_k;

pub(crate) use air::{Air, Residuals, Sender};
pub use half::F16;
pub use int8::Int8;
pub use single::F32;
pub use top_k::TopK;

use crate::scenario::{self, Scenario};

/// What models and updates are on the air.
///
/// What arrives must depend on what is sent alone. Numbers that are not finite must not arrive as finite ones: a model that has
/// diverged is to be seen.
pub trait Codec: Send + Sync {
    /// Size of an update of so many parameters, bit.
    fn update_bits(&self, parameters: usize) -> f64;

    /// Size of a model of so many parameters, bit.
    fn model_bits(&self, parameters: usize) -> f64;

    /// Turns an update into what arrives of it.
    fn send_update(&mut self, update: &mut [f32]);

    /// Turns a model into what arrives of it.
    fn send_model(&mut self, model: &mut [f32]);

    /// Whether updates arrive as anything but what they were. Otherwise `send_update` is never called.
    fn is_lossy(&self) -> bool {
        true
    }

    /// Whether senders add to their next update what did not arrive of the last (Seide et al., Interspeech 2014). Each keeps
    /// as many numbers as the model has for it.
    fn has_error_feedback(&self) -> bool {
        false
    }
}

/// What a scenario asks for.
pub(crate) fn of(scenario: &Scenario) -> Box<dyn Codec> {
    match scenario.codec {
        scenario::Codec::F32 {} => Box::new(F32 {
            bits_per_parameter: scenario.model.bits_per_parameter,
        }),
        scenario::Codec::F16 {} => Box::new(F16),
        scenario::Codec::Int8 { error_feedback } => Box::new(Int8 { error_feedback }),
        scenario::Codec::TopK {
            fraction,
            error_feedback,
        } => Box::new(TopK::new(fraction, error_feedback)),
    }
}
