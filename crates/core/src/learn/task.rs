//! What is learned, in numbers.

/// What the fleet has to know about the model and the data to count seconds and joules: sizes, no weights and no samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Trainable parameters of the model: what is sent, and paid for.
    pub parameters: usize,
    /// Numbers of a model as learners pass it around and UAVs merge it: `parameters`, or fewer where a learner computes with
    /// something simpler in place of the network.
    pub model_values: usize,
    /// Classes that it tells apart.
    pub classes: usize,
    /// Size of one training sample, bit.
    pub sample_bits: f64,
    /// Training samples of each device, |D_n|, by id.
    pub device_samples: Vec<u32>,
    /// Samples of each UAV's own, by id.
    pub personal_samples: Vec<u32>,
    /// Samples on which a device compares models, of those that it has: a row of softmax outputs each.
    pub small_batch: usize,
}
