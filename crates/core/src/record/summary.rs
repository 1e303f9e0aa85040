//! A whole run in one object.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Energy, RoundRecord, Time, UavRecord, first_reached, number};
use crate::scenario::{TargetOn, ValidScenario};

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// `stop.max_rounds`.
    MaxRounds,
    /// `stop.target_accuracy`.
    TargetAccuracy,
    /// `stop.convergence_norm`, Eq. (4).
    Converged,
    /// No UAV is left, and none will return.
    NoUavLeft,
    /// The global model, or its loss, is no longer finite.
    Diverged,
    /// Whoever watched the run asked it to stop.
    Interrupted,
}

/// What it took to reach an accuracy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reached {
    /// The accuracy asked for, 0 to 1.
    pub accuracy: f64,
    /// The first round at or above it; none: never reached.
    pub rounds: Option<usize>,
    /// Simulated time until then, s.
    pub time_s: Option<f64>,
    /// Energy until then, devices and UAVs, J.
    pub energy_j: Option<f64>,
    /// The same for the mean over the last [`Summary::smooth`] rounds, which noise does not carry over a target.
    pub smoothed: Crossing,
}

/// Where a curve first is at or above a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// The round; none: never reached.
    pub rounds: Option<usize>,
    /// Simulated time until then, s.
    pub time_s: Option<f64>,
    /// Energy until then, devices and UAVs, J.
    pub energy_j: Option<f64>,
}

/// A whole run in one object: `summary.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The scenario's name.
    pub scenario: String,
    /// The method's name.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// Global rounds done.
    pub rounds: usize,
    /// Why it ended.
    pub stopped_by: StoppedBy,
    /// Test accuracy after the last round, 0 to 1.
    #[serde(deserialize_with = "number")]
    pub final_accuracy: f64,
    /// Best test accuracy of any round.
    #[serde(deserialize_with = "number")]
    pub best_accuracy: f64,
    /// Test loss after the last round.
    #[serde(deserialize_with = "number")]
    pub final_loss: f64,
    /// Simulated time, s.
    #[serde(deserialize_with = "number")]
    pub total_time_s: f64,
    /// Energy that devices and UAVs spent, J. Not what faults took.
    #[serde(deserialize_with = "number")]
    pub total_energy_j: f64,
    /// Time by item.
    pub time: Time,
    /// Energy by item, and what faults took.
    pub energy: Energy,
    /// Device updates computed.
    pub updates_computed: usize,
    /// Device updates that never reached the global model.
    pub updates_lost: usize,
    /// Local iterations per edge round (H) of the average device, over all rounds; NaN when nobody trained.
    #[serde(deserialize_with = "number")]
    pub local_iterations_mean: f64,
    /// Trainable parameters of the model.
    pub parameters: usize,
    /// Which accuracy targets are judged by: `stop.target_on`.
    pub target_on: TargetOn,
    /// Over how many rounds it is averaged: `stop.smooth`.
    pub smooth: usize,
    /// The cost of each accuracy in `stop.targets`.
    pub targets: Vec<Reached>,
    /// Real time, s.
    #[serde(deserialize_with = "number")]
    pub wall_clock_s: f64,
    /// What trained: `cores`, or the name of a GPU. None where nobody did, or parts of the caller's.
    #[serde(default)]
    pub trained_on: Option<String>,
    /// Worker threads.
    pub threads: usize,
    /// The program's version.
    pub version: Cow<'static, str>,
}

impl Summary {
    /// Sums up the rounds of a run; what only the runner knows is passed in.
    #[must_use]
    pub fn new(
        scenario: &ValidScenario,
        method: &str,
        records: &[RoundRecord],
        stopped_by: StoppedBy,
    ) -> Self {
        let mut summary = Self {
            scenario: scenario.name.clone(),
            method: method.into(),
            seed: scenario.seed,
            rounds: records.len(),
            stopped_by,
            final_accuracy: records.last().map_or(0.0, |r| r.test_accuracy),
            best_accuracy: records.iter().map(|r| r.test_accuracy).fold(0.0, f64::max),
            final_loss: records.last().map_or(f64::NAN, |r| r.test_loss),
            total_time_s: 0.0,
            total_energy_j: 0.0,
            time: Time::default(),
            energy: Energy::default(),
            updates_computed: records.iter().map(|r| r.updates_computed).sum(),
            updates_lost: records.iter().map(|r| r.updates_lost).sum(),
            local_iterations_mean: mean_iterations(records),
            parameters: 0,
            target_on: scenario.stop.target_on,
            smooth: scenario.stop.smooth,
            targets: reached(scenario, records),
            wall_clock_s: 0.0,
            trained_on: None,
            threads: 0,
            version: crate::VERSION.into(),
        };
        for record in records {
            summary.time.add_all(&record.time);
            summary.energy.add_all(&record.energy);
        }
        summary.total_time_s = summary.time.total_s();
        summary.total_energy_j = summary.energy.spent_j();
        summary
    }

    /// Why the model is worth nothing, in a sentence: its loss grew beyond measure, or it guesses no better than chance among so
    /// many classes. None: it is worth something, or too few rounds were done to tell.
    #[must_use]
    pub fn trouble(&self, classes: Option<usize>, learning_rate: f64) -> Option<String> {
        // Guessing costs the logarithm of the number of classes.
        const BEYOND_MEASURE: f64 = 100.0;
        const ROUNDS_TO_TELL: usize = 3;
        let rate = format!("`training.learning_rate` is {learning_rate}");
        let diverged = self.stopped_by == StoppedBy::Diverged || self.final_loss > BEYOND_MEASURE;
        if diverged && self.rounds > 0 {
            let (loss, percent) = (self.final_loss, 100.0 * self.final_accuracy);
            return Some(format!(
                "training diverged: the test loss is {loss:.3e} and the accuracy {percent:.1} %; {rate}, a smaller one may help"
            ));
        }
        let chance = 1.0 / classes? as f64;
        if self.rounds < ROUNDS_TO_TELL || self.best_accuracy > 1.2 * chance {
            return None;
        }
        let (best, chance) = (100.0 * self.best_accuracy, 100.0 * chance);
        Some(format!(
            "nothing was learned: in {} rounds the best accuracy was {best:.1} %, guessing has {chance:.1} %; {rate}",
            self.rounds
        ))
    }
}

fn reached(scenario: &ValidScenario, records: &[RoundRecord]) -> Vec<Reached> {
    let stop = &scenario.stop;
    let accuracies: Vec<f64> = records.iter().map(|r| stop.target_on.accuracy(r)).collect();
    let crossing = |smooth: usize, target: f64| {
        let place = first_reached(&accuracies, smooth, target);
        let record = place.map(|place| &records[place]);
        Crossing {
            rounds: record.map(|record| record.round),
            time_s: record.map(|record| record.clock_s),
            energy_j: record.map(|record| record.cumulative_energy_j),
        }
    };
    let of_target = |&accuracy: &f64| {
        let first = crossing(1, accuracy);
        Reached {
            accuracy,
            rounds: first.rounds,
            time_s: first.time_s,
            energy_j: first.energy_j,
            smoothed: crossing(stop.smooth, accuracy),
        }
    };
    stop.targets.iter().map(of_target).collect()
}

/// H of the average device that trained.
fn mean_iterations(records: &[RoundRecord]) -> f64 {
    let cells = || records.iter().flat_map(|record| &record.uavs);
    let devices: usize = cells().map(UavRecord::selected).sum();
    let steps: usize = cells()
        .map(|uav| uav.selected() * uav.local_iterations)
        .sum();
    steps as f64 / devices as f64
}
