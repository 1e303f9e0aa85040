//! What is learned, in numbers.

/// What the fleet has to know about the model and the data to count seconds and joules: sizes, no weights and no samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Trainable parameters of the model.
    pub parameters: usize,
    /// Classes that it tells apart.
    pub classes: usize,
    /// Size of one training sample, bit.
    pub sample_bits: f64,
    /// Training samples of each device, |D_n|, by id.
    pub device_samples: Vec<u32>,
    /// Samples of each UAV's own, by id.
    pub personal_samples: Vec<u32>,
}
