//! Finished runs, read back from their folders.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use aerofed::Error;
use aerofed::record::{EnergyItem, RoundRecord, StoppedBy, Summary, first_reached};
use aerofed::run_folder::{RunLog, Stop, check_inputs, damaged};
use aerofed::scenario::TargetOn;

use super::plan::{PlannedRun, digest};

/// Where a run stood after a global round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stand {
    /// The round, from 1.
    pub round: usize,
    /// Simulated time, s.
    pub clock_s: f64,
    /// Energy so far, devices and UAVs, J.
    pub energy_j: f64,
    /// Of that, what the paper's Eqs. (17)-(26) know of, J: all but flights home, drained batteries and waiting.
    pub paper_energy_j: f64,
    /// Test accuracy, 0 to 1.
    pub accuracy: f64,
    /// Accuracy on the validation samples, 0 to 1.
    pub validation_accuracy: f64,
    /// Devices that trained in this round.
    pub selected: f64,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// Its folder.
    pub folder: PathBuf,
    /// The whole of it.
    pub summary: Summary,
    /// Round by round.
    pub curve: Vec<Stand>,
}

impl StoredRun {
    /// The finished run in a folder; none when the folder is not there.
    ///
    /// # Errors
    /// When the folder holds something else than this run, whole: another scenario, another
    /// version's run, an interrupted or a damaged one, or one with files that have changed since.
    pub fn find(runs: &Path, planned: &PlannedRun) -> Result<Option<Self>, crate::Error> {
        Ok(Self::find_unless(&|| false, runs, planned)?)
    }

    /// The same, and ends with [`Error::Interrupted`] when it is told to while it reads the files that the scenario names.
    pub(super) fn find_unless(
        stop: Stop,
        runs: &Path,
        planned: &PlannedRun,
    ) -> Result<Option<Self>, Error> {
        let folder = runs.join(planned.folder_name());
        if !folder.exists() {
            return Ok(None);
        }
        let text = read(&folder.join("scenario.toml")).map_err(in_run(&folder))?;
        if text != planned.text {
            let difference = first_difference(&text, &planned.text);
            let reason = format!("holds a run of another scenario ({difference})");
            return Err(refuse(&folder, &reason));
        }
        check_finished(&folder)?;
        check_inputs(&folder, &planned.scenario, stop)?;
        Self::read_log(folder).map(Some)
    }

    /// Whatever run is in a folder.
    ///
    /// # Errors
    /// When the folder is no run folder, or its files do not tell of the same run.
    pub fn read(folder: PathBuf) -> Result<Self, crate::Error> {
        Ok(Self::read_log(folder)?)
    }

    fn read_log(folder: PathBuf) -> Result<Self, Error> {
        let log = RunLog::read_light(&folder).map_err(in_run(&folder))?;
        Ok(Self {
            folder,
            ..Self::of(&log)
        })
    }

    /// A run that was read before.
    #[must_use]
    pub fn of(log: &RunLog) -> Self {
        Self::of_rounds(log.summary.clone(), &log.records)
    }

    /// A run that is in memory, and in no folder.
    #[must_use]
    pub fn of_rounds(summary: Summary, records: &[RoundRecord]) -> Self {
        Self {
            folder: PathBuf::new(),
            summary,
            curve: curve(records),
        }
    }

    /// Where it stood when it reached an accuracy, judged as its scenario says: on the test set or on validation samples, by the mean
    /// over `stop.smooth` rounds.
    #[must_use]
    pub fn reached(&self, accuracy: f64) -> Option<&Stand> {
        self.crossing(accuracy, self.summary.smooth)
    }

    /// The same for the curve as it is: where it was first at or above an accuracy.
    #[must_use]
    pub fn first_crossing(&self, accuracy: f64) -> Option<&Stand> {
        self.crossing(accuracy, 1)
    }

    fn crossing(&self, accuracy: f64, smooth: usize) -> Option<&Stand> {
        let place = first_reached(&self.judged(), smooth, accuracy)?;
        self.curve.get(place)
    }

    /// What targets are judged by, round by round.
    #[must_use]
    pub fn judged(&self) -> Vec<f64> {
        let accuracy = |stand: &Stand| match self.summary.target_on {
            TargetOn::Test => stand.accuracy,
            TargetOn::Validation => stand.validation_accuracy,
        };
        self.curve.iter().map(accuracy).collect()
    }

    /// Devices that trained in a round, on average.
    #[must_use]
    pub fn selected_per_round(&self) -> f64 {
        let sum: f64 = self.curve.iter().map(|stand| stand.selected).sum();
        sum / self.curve.len().max(1) as f64
    }

    /// Share of the computed updates that never reached the global model.
    #[must_use]
    pub fn lost_share(&self) -> f64 {
        self.summary.updates_lost as f64 / self.summary.updates_computed.max(1) as f64
    }
}

fn refuse(folder: &Path, reason: &str) -> Error {
    Error::Output {
        path: folder.into(),
        reason: format!("{reason}; move it away or choose another folder"),
    }
}

/// Refuses a run of another version, and one that was interrupted.
fn check_finished(folder: &Path) -> Result<(), Error> {
    let summary = RunLog::read_summary(folder).map_err(in_run(folder))?;
    let version = aerofed::VERSION;
    if summary.version != version {
        let reason = format!("was run by version {}, this is {version}", summary.version);
        return Err(refuse(folder, &reason));
    }
    if summary.stopped_by == StoppedBy::Interrupted {
        return Err(refuse(folder, "holds an interrupted run"));
    }
    Ok(())
}

/// Reads every file of a run in a folder of runs, which must be what the folder's name says.
pub(super) fn check_whole(folder: &Path) -> Result<(), Error> {
    let text = read(&folder.join("scenario.toml")).map_err(in_run(folder))?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    if !name.ends_with(&digest(&text)) {
        return Err(refuse(folder, "holds a run of another scenario"));
    }
    check_finished(folder)?;
    RunLog::read(folder).map_err(in_run(folder)).map(|_| ())
}

/// A file that is not there, or does not say what such a file says, makes a damaged run.
fn in_run(folder: &Path) -> impl Fn(Error) -> Error {
    move |error| match &error {
        Error::Log { path, line, reason } => {
            let file = path.file_name().unwrap_or_default().display();
            damaged(folder, &format!("{file}, line {line}: {reason}"))
        }
        Error::Io { path, source, .. } if source.kind() == ErrorKind::NotFound => {
            let file = path.file_name().unwrap_or_default().display();
            damaged(folder, &format!("{file} is missing"))
        }
        _ => error,
    }
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(Error::io("read", path))
}

/// As `summary.json` has it.
pub(super) fn word(stopped_by: StoppedBy) -> String {
    let json = serde_json::to_value(stopped_by).unwrap_or_default();
    json.as_str().unwrap_or_default().into()
}

fn curve(records: &[RoundRecord]) -> Vec<Stand> {
    let mut beyond_paper_j = 0.0;
    let stand = |record: &RoundRecord| {
        let beyond = [EnergyItem::ReturnFlight, EnergyItem::Waiting];
        beyond_paper_j += beyond
            .iter()
            .map(|&item| record.energy.get(item))
            .sum::<f64>();
        Stand {
            round: record.round,
            clock_s: record.clock_s,
            energy_j: record.cumulative_energy_j,
            paper_energy_j: record.cumulative_energy_j - beyond_paper_j,
            accuracy: record.test_accuracy,
            validation_accuracy: record.validation_accuracy,
            selected: record.selected as f64,
        }
    };
    records.iter().map(stand).collect()
}

/// The first line in which two texts differ, for messages.
#[must_use]
pub fn first_difference(there: &str, wanted: &str) -> String {
    let mut pairs = there.lines().zip(wanted.lines());
    match pairs.find(|(a, b)| a != b) {
        Some((a, b)) => format!("there `{a}`, wanted `{b}`"),
        None => "one of them is longer".into(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use aerofed::Scenario;

    /// A run of which only the curve is told: time, energy, accuracy.
    pub(crate) fn run(seed: u64, curve: &[(f64, f64, f64)]) -> StoredRun {
        let stand = |(index, &(clock_s, energy_j, accuracy)): (usize, &(f64, f64, f64))| Stand {
            round: index + 1,
            clock_s,
            energy_j,
            paper_energy_j: energy_j,
            accuracy,
            validation_accuracy: accuracy / 2.0,
            selected: 10.0,
        };
        let curve: Vec<Stand> = curve.iter().enumerate().map(stand).collect();
        let last = curve.last().copied();
        StoredRun {
            folder: format!("runs/{seed}").into(),
            summary: Summary {
                rounds: curve.len(),
                final_accuracy: last.map_or(0.0, |stand| stand.accuracy),
                best_accuracy: curve.iter().map(|s| s.accuracy).fold(0.0, f64::max),
                total_time_s: last.map_or(0.0, |stand| stand.clock_s),
                total_energy_j: last.map_or(0.0, |stand| stand.energy_j),
                updates_computed: 100,
                updates_lost: 5,
                seed,
                ..Summary::new(
                    &Scenario::default().check().unwrap(),
                    "hfl",
                    &[],
                    StoppedBy::MaxRounds,
                )
            },
            curve,
        }
    }

    #[test]
    fn a_difference_shows_both_lines() {
        let shown = first_difference("a = 1\nb = 2", "a = 1\nb = 3");
        assert_eq!(shown, "there `b = 2`, wanted `b = 3`");
        assert!(first_difference("a", "a\nb").contains("longer"));
    }
}
