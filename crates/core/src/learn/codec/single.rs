//! Numbers as they are.

use super::Codec;

/// Single precision, as models are trained in: all arrives as it was.
#[derive(Clone, Copy, Debug)]
pub struct F32 {
    /// What is counted for a parameter; 32 unless a run pretends otherwise.
    pub bits_per_parameter: f64,
}

impl Codec for F32 {
    fn update_bits(&self, parameters: usize) -> f64 {
        self.model_bits(parameters)
    }

    fn model_bits(&self, parameters: usize) -> f64 {
        parameters as f64 * self.bits_per_parameter
    }

    fn send_update(&mut self, _: &mut [f32]) {}

    fn send_model(&mut self, _: &mut [f32]) {}

    fn is_lossy(&self) -> bool {
        false
    }
}
