//! What tells a device's samples from others of their classes: noise on the scores that a model gives them, the same whatever model looks.

use rand::RngExt;

use crate::seed::{Stream, stream};
use crate::vocabulary::DeviceId;

/// Samples of a device on which models are compared: as many as devices that train use by default.
pub(super) const SAMPLES: usize = 10;
/// Places in the table at which a device's noise may begin. Devices share the table: what is peculiar to one takes two bytes.
const STARTS: u16 = 1 << 12;

/// Noise of all devices.
pub(super) struct Noise {
    table: Vec<f32>,
    /// Where each device's begins.
    starts: Vec<u16>,
    values: usize,
}

impl Noise {
    /// Of so many devices, drawn from the seed.
    pub(super) fn new(seed: u64, devices: usize, classes: usize) -> Self {
        let values = SAMPLES * classes;
        let uniform = stream(seed, Stream::Surrogate, 1, 0).random_iter::<f32>();
        // Gumbel's distribution: with it the largest score is right as often as the softmax of the scores says.
        let gumbel = |u: f32| -libm::logf(-libm::logf(u.clamp(1e-6, 1.0 - 1e-6)));
        let starts = stream(seed, Stream::Surrogate, 0, 0).random_iter::<u16>();
        Self {
            table: uniform
                .take(usize::from(STARTS) + values)
                .map(gumbel)
                .collect(),
            starts: starts.take(devices).map(|start| start % STARTS).collect(),
            values,
        }
    }

    /// Of one device: class after class of sample after sample.
    pub(super) fn of(&self, device: DeviceId) -> &[f32] {
        let start = usize::from(self.starts[device.index()]);
        &self.table[start..start + self.values]
    }
}
