//! Finished runs, read back from their folders.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::plan::PlannedRun;
use crate::Error;
use crate::record::EnergyItem;

/// Where a run stood after a global round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stand {
    /// The round, from 1.
    pub round: usize,
    /// Simulated time, s.
    pub clock_s: f64,
    /// Energy so far, devices and UAVs, J.
    pub energy_j: f64,
    /// Of that, what the paper's Eqs. (17)-(26) know of, J: all but flights home and drained batteries.
    pub paper_energy_j: f64,
    /// Test accuracy, 0 to 1.
    pub accuracy: f64,
    /// Devices that trained in this round.
    pub selected: f64,
}

/// What of `summary.json` is needed here.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StoredSummary {
    /// The method's registered name.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// Global rounds done.
    pub rounds: usize,
    /// Why it ended, as in `max_rounds`.
    pub stopped_by: String,
    /// Test accuracy after the last round.
    pub final_accuracy: f64,
    /// Best test accuracy of any round.
    pub best_accuracy: f64,
    /// Simulated time, s.
    pub total_time_s: f64,
    /// Energy of devices and UAVs, J.
    pub total_energy_j: f64,
    /// Device updates computed.
    pub updates_computed: usize,
    /// Device updates that never reached the global model.
    pub updates_lost: usize,
    /// The version of the program that ran it.
    pub version: String,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// Its folder.
    pub folder: PathBuf,
    /// The whole of it.
    pub summary: StoredSummary,
    /// Round by round.
    pub curve: Vec<Stand>,
}

impl StoredRun {
    /// The finished run in a folder; none when the folder is not there.
    ///
    /// # Errors
    /// When the folder holds something else than this run, whole: another scenario, another
    /// version's run, or an interrupted one.
    pub fn find(runs: &Path, planned: &PlannedRun) -> Result<Option<Self>, Error> {
        let folder = runs.join(planned.folder_name());
        if !folder.exists() {
            return Ok(None);
        }
        let refuse = |reason: String| Error::Output {
            path: folder.clone(),
            reason: reason + "; move it away or choose another folder",
        };
        let text = read(&folder.join("scenario.toml"))?;
        if text != planned.text {
            return Err(refuse(format!(
                "holds a run of another scenario ({})",
                first_difference(&text, &planned.text)
            )));
        }
        let run = Self::read(folder.clone())?;
        let version = env!("CARGO_PKG_VERSION");
        if run.summary.version != version {
            return Err(refuse(format!(
                "was run by version {}, this is {version}",
                run.summary.version
            )));
        }
        if run.summary.stopped_by == "interrupted" {
            return Err(refuse("holds an interrupted run".into()));
        }
        Ok(Some(run))
    }

    /// Whatever run is in a folder.
    ///
    /// # Errors
    /// When the folder is no run folder.
    pub fn read(folder: PathBuf) -> Result<Self, Error> {
        let path = folder.join("summary.json");
        let summary = serde_json::from_str(&read(&path)?).map_err(|error| Error::Output {
            path,
            reason: error.to_string(),
        })?;
        let path = folder.join("rounds.csv");
        let curve = parse_rounds(&read(&path)?).map_err(|reason| Error::Output { path, reason })?;
        Ok(Self {
            folder,
            summary,
            curve,
        })
    }

    /// Where it stood when it first reached an accuracy.
    #[must_use]
    pub fn reached(&self, accuracy: f64) -> Option<&Stand> {
        self.curve.iter().find(|stand| stand.accuracy >= accuracy)
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

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(Error::io("read", path))
}

fn parse_rounds(text: &str) -> Result<Vec<Stand>, String> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        let place = header.iter().position(|column| *column == name);
        place.ok_or_else(|| format!("has no column `{name}`"))
    };
    let columns = [
        column("clock_s")?,
        column("cumulative_energy_j")?,
        column(EnergyItem::ReturnFlight.name())?,
        column(EnergyItem::Leak.name())?,
        column("test_accuracy")?,
        column("selected")?,
    ];
    let mut beyond_paper_j = 0.0;
    let stand = |(index, line): (usize, &str)| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |place: usize| -> Result<f64, String> {
            let cell = cells.get(place).copied().unwrap_or_default();
            cell.parse()
                .map_err(|_| format!("line {}: {cell:?} is not a number", index + 2))
        };
        let [clock_s, energy_j, home_j, leak_j, accuracy, selected] = columns;
        let energy_j = number(energy_j)?;
        beyond_paper_j += number(home_j)? + number(leak_j)?;
        Ok(Stand {
            round: index + 1,
            clock_s: number(clock_s)?,
            energy_j,
            paper_energy_j: energy_j - beyond_paper_j,
            accuracy: number(accuracy)?,
            selected: number(selected)?,
        })
    };
    lines.enumerate().map(stand).collect()
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

    /// A run of which only the curve is told: time, energy, accuracy.
    pub(in crate::experiment) fn run(seed: u64, curve: &[(f64, f64, f64)]) -> StoredRun {
        let stand = |(index, &(clock_s, energy_j, accuracy)): (usize, &(f64, f64, f64))| Stand {
            round: index + 1,
            clock_s,
            energy_j,
            paper_energy_j: energy_j,
            accuracy,
            selected: 10.0,
        };
        let curve: Vec<Stand> = curve.iter().enumerate().map(stand).collect();
        let last = curve.last().copied();
        StoredRun {
            folder: format!("runs/{seed}").into(),
            summary: StoredSummary {
                method: "hfl".into(),
                seed,
                rounds: curve.len(),
                stopped_by: "max_rounds".into(),
                final_accuracy: last.map_or(0.0, |stand| stand.accuracy),
                best_accuracy: curve.iter().map(|stand| stand.accuracy).fold(0.0, f64::max),
                total_time_s: last.map_or(0.0, |stand| stand.clock_s),
                total_energy_j: last.map_or(0.0, |stand| stand.energy_j),
                updates_computed: 100,
                updates_lost: 5,
                version: env!("CARGO_PKG_VERSION").into(),
            },
            curve,
        }
    }

    const ROUNDS: &str = "round,clock_s,cumulative_energy_j,test_accuracy,selected,more,return_flight_j,leak_j\n\
        1,2.5,10,0.4,30,x,3,0\n2,5,20,0.8,20,x,0,1\n3,7.5,31,0.7,10,x,0,0\n";

    #[test]
    fn rounds_are_read_by_column_name() {
        let curve = parse_rounds(ROUNDS).unwrap();
        assert_eq!(curve.len(), 3);
        let expected = Stand {
            round: 2,
            clock_s: 5.0,
            energy_j: 20.0,
            paper_energy_j: 16.0,
            accuracy: 0.8,
            selected: 20.0,
        };
        assert_eq!(curve[1], expected);
    }

    #[test]
    fn tables_that_are_none_say_where() {
        assert!(
            parse_rounds("round,clock_s\n")
                .unwrap_err()
                .contains("cumulative_energy_j")
        );
        let broken = ROUNDS.replace("0.8", "high");
        assert!(parse_rounds(&broken).unwrap_err().contains("line 3"));
        let cut = ROUNDS.replace("0.7,10,x,0,0", "0.7");
        assert!(parse_rounds(&cut).unwrap_err().contains("line 4"));
    }

    #[test]
    fn a_difference_shows_both_lines() {
        let shown = first_difference("a = 1\nb = 2", "a = 1\nb = 3");
        assert_eq!(shown, "there `b = 2`, wanted `b = 3`");
        assert!(first_difference("a", "a\nb").contains("longer"));
    }
}
