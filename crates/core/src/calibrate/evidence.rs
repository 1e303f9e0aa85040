//! Runs that trained, read from their folders.

use std::path::{Path, PathBuf};

use super::replay::Replay;
use crate::Error;
use crate::learn::DataStore;
use crate::learn::data::divide;
use crate::method::{Method, Schedule};
use crate::record::RoundRecord;
use crate::run::{Run, Simulation};
use crate::run_folder::RunLog;
use crate::scenario::{LawFile, Learner, Scenario, ValidScenario};

/// A finished run that trained.
pub struct Evidence {
    /// Its folder.
    pub folder: PathBuf,
    /// What was run.
    pub scenario: ValidScenario,
    /// What happened in each round.
    pub rounds: Vec<Predicted>,
    /// None where cells did not wait for each other: records do not tell who began from which model.
    replay: Option<Replay>,
}

/// Where a run stands after a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// Accuracy on the test set.
    pub accuracy: f64,
    /// Simulated time, s.
    pub clock_s: f64,
    /// Energy since the start, J.
    pub energy_j: f64,
    /// Devices that were selected.
    pub selected: usize,
}

impl From<&RoundRecord> for Predicted {
    fn from(record: &RoundRecord) -> Self {
        Self {
            accuracy: record.test_accuracy,
            clock_s: record.clock_s,
            energy_j: record.cumulative_energy_j,
            selected: record.selected,
        }
    }
}

impl Evidence {
    /// Reads a run folder.
    ///
    /// # Errors
    /// When it is damaged, or does not tell what a law is fitted to.
    pub fn read(folder: &Path, data: &DataStore) -> Result<Self, Error> {
        let log = RunLog::read(folder)?;
        let lacks = |reason: String| Error::Output {
            path: folder.into(),
            reason,
        };
        if log.scenario.learner != Learner::Train {
            let name = log.scenario.learner.name();
            return Err(lacks(format!(
                "its learner is {name:?}, and a law is fitted to runs in which all selected devices trained"
            )));
        }
        let scenario = log.scenario.check()?;
        let named = |record: &&RoundRecord| {
            let devices: usize = record.uavs.iter().map(|uav| uav.devices.len()).sum();
            devices != record.selected
        };
        if let Some(record) = log.records.iter().find(named) {
            return Err(lacks(format!(
                "uavs.csv does not name all devices that trained in round {}",
                record.round
            )));
        }
        let schedule = Method::of(&scenario)?.schedule;
        let replay = match schedule {
            Schedule::Asynchronous { .. } => None,
            Schedule::Synchronous { .. } | Schedule::Flat => {
                let data = data.get(&scenario)?;
                let parts = divide(&scenario, &data.train)?;
                let volume = scenario.data.data_volume;
                Some(Replay::new(&data, &parts, volume, &log.records))
            }
        };
        Ok(Self {
            folder: folder.into(),
            rounds: log.records.iter().map(Predicted::from).collect(),
            scenario,
            replay,
        })
    }

    /// Of rounds that are known otherwise.
    #[cfg(test)]
    pub(super) fn of(scenario: ValidScenario, rounds: Vec<Predicted>) -> Self {
        Self {
            folder: PathBuf::new(),
            scenario,
            rounds,
            replay: None,
        }
    }

    /// What a fit goes over; none where that cannot be known.
    pub(super) fn replay(&self) -> Option<(&Scenario, &Replay)> {
        let replay = self.replay.as_ref()?;
        Some((&self.scenario, replay))
    }

    /// Whether a law can be fitted to it.
    #[must_use]
    pub fn can_be_fitted(&self) -> bool {
        self.replay.is_some()
    }

    /// The same scenario run without training, by these laws, for so many rounds.
    ///
    /// # Errors
    /// As [`Simulation::step`].
    pub fn predict(
        &self,
        laws: &LawFile,
        data: &DataStore,
        rounds: usize,
    ) -> Result<Vec<Predicted>, Error> {
        let dry = self
            .scenario
            .clone()
            .dry(laws, rounds)
            .ok_or_else(|| Error::Learner {
                reason: "no law".into(),
            })?;
        let mut method = Method::of(&dry)?;
        let data = data.get(&dry)?;
        let simulation = Simulation::builder(&dry).data(data).threads(1).build()?;
        let mut run = Run::new(simulation);
        while run.step(&mut method)?.is_some() {}
        Ok(run.records().iter().map(Predicted::from).collect())
    }
}
