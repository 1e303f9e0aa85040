//! A fixed share of each UAV's covered devices: the best by one score, or any at random.

use rand::RngExt;

use super::{Association, Needs, Scene, highest, nearest_cells};
use crate::scenario;
use crate::seed::Random;
use crate::world::DeviceId;

/// What a [`Share`] goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Preference {
    /// Chance; a device trains with its nearest UAV.
    Random,
    /// Fitness with weights of its own.
    Fitness(scenario::Fitness),
}

/// Each device is offered to the UAV with which it scores highest, and each UAV takes the best share
/// of those (rounded up).
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// What makes a device preferred.
    pub preference: Preference,
    /// How many of the covered devices train, 0 to 1.
    pub share: f64,
}

impl Association for Share {
    fn needs(&self) -> Needs {
        Needs {
            answers: matches!(self.preference, Preference::Fitness(weights) if weights.counts_data()),
            ..Needs::default()
        }
    }

    fn select(&mut self, scene: &Scene, rng: &mut Random) -> Vec<Vec<DeviceId>> {
        let offers = match self.preference {
            Preference::Random => nearest_cells(scene)
                .into_iter()
                .map(|cell| cell.into_iter().map(|d| (rng.random(), d)).collect())
                .collect(),
            Preference::Fitness(weights) => {
                highest(scene.coverage, &scene.fitness(&weights), |_, _| true)
            }
        };
        offers
            .into_iter()
            .map(|offered| self.take(offered))
            .collect()
    }
}

impl Share {
    /// The best share of the offered, ascending by id; ties go to the lower id.
    fn take(&self, mut offered: Vec<(f64, DeviceId)>) -> Vec<DeviceId> {
        offered.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        offered.truncate((self.share * offered.len() as f64).ceil() as usize);
        let mut taken: Vec<DeviceId> = offered.into_iter().map(|(_, device)| device).collect();
        taken.sort_unstable();
        taken
    }
}
