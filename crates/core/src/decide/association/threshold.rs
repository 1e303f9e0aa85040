//! Devices whose fitness reaches a threshold, Eq. (7).

use super::{Association, Needs, Scene, highest};
use crate::scenario;
use crate::seed::Random;
use crate::world::DeviceId;

/// The same threshold for every UAV in every round.
#[derive(Clone, Copy, Debug)]
pub struct FixedThreshold {
    /// β.
    pub threshold: f64,
    /// λ_1..3.
    pub fitness: scenario::Fitness,
}

impl Association for FixedThreshold {
    fn needs(&self) -> Needs {
        Needs {
            answers: self.fitness.counts_data(),
            ..Needs::default()
        }
    }

    fn select(&mut self, scene: &Scene, _: &mut Random) -> Vec<Vec<DeviceId>> {
        let fitness = scene.fitness(&self.fitness);
        above(scene, &fitness, |_| self.threshold)
    }
}

/// Who reaches the threshold of a UAV; one that several select goes to the highest fitness.
pub(crate) fn above(
    scene: &Scene,
    fitness: &[Vec<f64>],
    threshold: impl Fn(usize) -> f64,
) -> Vec<Vec<DeviceId>> {
    let cells = highest(scene.coverage, fitness, |uav, alpha| {
        alpha >= threshold(uav)
    });
    let ids = |cell: Vec<(f64, DeviceId)>| cell.into_iter().map(|(_, device)| device).collect();
    cells.into_iter().map(ids).collect()
}
