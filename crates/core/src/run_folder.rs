//! A run on disk: `scenario.toml`, `rounds.csv`, `uavs.csv`, `devices.jsonl`, `events.jsonl`,
//! `summary.json`, `model.safetensors`, `schema.json` (what the columns mean), and `inputs.sha256` when the scenario names files. [`RunLog`] reads one back.
//!
//! Everything is written to `NAME.partial` beside the final place and renamed when it is complete:
//! a folder that carries the final name is whole. While a run writes it, the partial folder is locked;
//! one that is not locked was left behind, and its checkpoints let the run go on. The partial folder carries a mark, the
//! file `UNFINISHED`, from its first moment to its last: what has the name but not the mark is somebody else's.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::record::schema;
use crate::record::{EnergyItem, RoundRecord, Sightings, StoppedBy, TimeItem, UavRecord, UavTime};
use crate::run::Outcome;
use crate::scenario::Scenario;
use crate::world::Status;
use crate::{Error, checkpoint, disk};

mod damage;
mod inputs;
mod ours;
mod place;
mod read;

pub use damage::damaged;
pub use inputs::{Stop, check as check_inputs, checksum as inputs_checksum};
pub(crate) use place::{LeftBehind, can_go_on};
use place::{check_target, lock, prepare};
pub use place::{is_free, partial_of};

pub use read::RunLog;

/// A run folder being written.
pub struct RunFolder {
    path: PathBuf,
    partial: PathBuf,
    rounds: BufWriter<File>,
    uavs: BufWriter<File>,
    devices: BufWriter<File>,
    events: BufWriter<File>,
    /// Held while the run is under way; the system lets go of it whatever becomes of the process.
    _lock: Option<File>,
}

impl RunFolder {
    /// Starts a folder for a run; an existing run is refused, or replaced at the end when `force`. So is an unfinished run
    /// that could go on from a checkpoint; what else an earlier run left unfinished is removed. A folder that holds
    /// anything besides a run is refused always.
    ///
    /// # Errors
    /// When the folder exists, is being written, or cannot be made.
    pub fn create(path: &Path, scenario: &Scenario, force: bool) -> Result<Self, Error> {
        Self::create_unless(&|| false, path, scenario, force)
    }

    /// The same, and ends with [`Error::Interrupted`] when it is told to while it reads the files that the scenario names.
    pub(crate) fn create_unless(
        stop: Stop,
        path: &Path,
        scenario: &Scenario,
        force: bool,
    ) -> Result<Self, Error> {
        let (partial, lock) = claim(path, force)?;
        let begin = || {
            let text = scenario.to_toml()?;
            let columns = schema::to_json(&schema::run_files());
            disk::replace_file(&partial.join("schema.json"), columns.as_bytes())?;
            inputs::write(&partial, scenario, stop)?;
            // Last: where it stands a run can be taken up, and then lacks nothing that is only written here.
            disk::replace_file(&partial.join("scenario.toml"), text.as_bytes())?;
            Self::begin(path, partial.clone(), lock)
        };
        begin().inspect_err(|_| {
            // Best effort: there is an error to report already.
            _ = ours::remove_run(&partial);
        })
    }

    /// Takes up a folder whose run was set down; the files are written anew from the rounds so far.
    ///
    /// # Errors
    /// When its final place is taken (unless `force`), or the disk does not take it.
    pub(crate) fn reopen(
        left: LeftBehind,
        records: &[RoundRecord],
        force: bool,
    ) -> Result<Self, Error> {
        let LeftBehind { path, folder, lock } = left;
        let partial = partial_of(&path);
        if folder == path {
            // An interrupted run that was given its final name is under way again.
            ours::mark(&path, &path)?;
            fs::rename(&path, &partial).map_err(Error::io("reopen", &path))?;
        } else {
            check_target(&path, force)?;
        }
        ours::remove_strays(&partial)?;
        ours::remove_on_demand(&partial)?;
        // Whoever finds a summary beside the mark takes the run for complete.
        remove_if_there(&partial.join(SUMMARY))?;
        let mut folder = Self::begin(&path, partial, lock)?;
        records
            .iter()
            .try_for_each(|record| folder.append(record))?;
        Ok(folder)
    }

    /// Starts the files that grow round by round.
    fn begin(path: &Path, partial: PathBuf, lock: Option<File>) -> Result<Self, Error> {
        let file = |name: &str| {
            let path = partial.join(name);
            File::create(&path)
                .map(BufWriter::new)
                .map_err(Error::io("create", path))
        };
        let mut folder = Self {
            path: path.into(),
            rounds: file("rounds.csv")?,
            uavs: file("uavs.csv")?,
            devices: file("devices.jsonl")?,
            events: file("events.jsonl")?,
            partial,
            _lock: lock,
        };
        folder.line("rounds.csv", &schema::header(&schema::rounds()))?;
        folder.line("uavs.csv", &schema::header(&schema::uavs()))?;
        Ok(folder)
    }

    /// Where the run is being written.
    #[must_use]
    pub fn partial(&self) -> &Path {
        &self.partial
    }

    fn line(&mut self, name: &'static str, text: &str) -> Result<(), Error> {
        let file = match name {
            "rounds.csv" => &mut self.rounds,
            "uavs.csv" => &mut self.uavs,
            "devices.jsonl" => &mut self.devices,
            _ => &mut self.events,
        };
        writeln!(file, "{text}").map_err(Error::io("write", self.partial.join(name)))
    }

    /// Adds a round.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn append(&mut self, record: &RoundRecord) -> Result<(), Error> {
        if !self.partial.exists() {
            // Open files would go on swallowing rounds that nobody will ever see.
            let vanished = std::io::Error::new(ErrorKind::NotFound, "the folder has vanished");
            return Err(Error::io("write", &self.partial)(vanished));
        }
        self.line("rounds.csv", &round_row(record))?;
        for uav in &record.uavs {
            self.line("uavs.csv", &uav_row(record.round, uav))?;
        }
        let seen = DevicesLine {
            round: record.round,
            seen: Cow::Borrowed(&record.devices),
        };
        self.line("devices.jsonl", &json(&seen))?;
        for event in &record.events {
            self.line("events.jsonl", &json(event))?;
        }
        // A round that was reported is on disk, so that a run can be watched.
        for (file, name) in [
            (&mut self.rounds, "rounds.csv"),
            (&mut self.uavs, "uavs.csv"),
            (&mut self.devices, "devices.jsonl"),
            (&mut self.events, "events.jsonl"),
        ] {
            file.flush()
                .map_err(Error::io("write", self.partial.join(name)))?;
        }
        Ok(())
    }

    /// Adds a file of the caller's, such as a plot.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn add_file(&self, name: &str, contents: &[u8]) -> Result<(), Error> {
        disk::write_synced(&self.partial.join(name), contents)
    }

    /// Gives up: removes what was written so far.
    pub fn discard(self) {
        // Best effort: whoever gives up already has an error to report.
        _ = ours::remove_run(&self.partial);
    }

    /// Writes the summary and the model, and gives the folder its final name. The checkpoints of an interrupted run stay.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn finish(self, outcome: &Outcome) -> Result<(), Error> {
        let model = outcome.model_file()?;
        self.add_file("model.safetensors", &model)?;
        for (file, name) in [
            (&self.rounds, "rounds.csv"),
            (&self.uavs, "uavs.csv"),
            (&self.devices, "devices.jsonl"),
            (&self.events, "events.jsonl"),
        ] {
            file.get_ref()
                .sync_all()
                .map_err(Error::io("write", self.partial.join(name)))?;
        }
        // Last of all: where it stands, the rest is whole.
        let pretty = serde_json::to_string_pretty(&outcome.summary).unwrap_or_default();
        disk::replace_file(&self.partial.join(SUMMARY), (pretty + "\n").as_bytes())?;
        let replaced = move_aside(&self.path)?;
        fs::rename(&self.partial, &self.path).map_err(Error::io("finish", &self.path))?;
        disk::sync_folder_of(&self.path)?;
        // Whoever is killed here leaves a mark on a run that is whole by its name and its summary.
        ours::unmark(&self.path)?;
        if outcome.summary.stopped_by != StoppedBy::Interrupted {
            checkpoint::remove_all(&self.path)?;
        }
        replaced.map_or(Ok(()), |old| ours::remove_run(&old))
    }
}

const SUMMARY: &str = "summary.json";

/// Makes the folder in which a run is written until it is complete: locked, marked, and empty besides.
fn claim(path: &Path, force: bool) -> Result<(PathBuf, Option<File>), Error> {
    check_target(path, force)?;
    let partial = partial_of(path);
    fs::create_dir_all(&partial).map_err(Error::io("create", &partial))?;
    let lock = lock(&partial)?;
    // Whoever had the lock before may have finished.
    let ready = check_target(path, force).and_then(|()| prepare(path, &partial, force));
    match ready {
        Ok(()) => Ok((partial, lock)),
        Err(error) => {
            // Does nothing to one that holds something.
            _ = fs::remove_dir(&partial);
            Err(error)
        }
    }
}

/// Copies a finished run to another place, where it appears when it is whole. A run that was left unfinished there is
/// removed, a finished one replaced when `force`; anything else is refused.
///
/// # Errors
/// When the place is taken, or the disk does not take it.
pub fn copy(from: &Path, to: &Path, force: bool) -> Result<(), Error> {
    let (partial, _lock) = claim(to, force)?;
    for entry in fs::read_dir(from).map_err(Error::io("read", from))? {
        let entry = entry.map_err(Error::io("read", from))?;
        let name = entry.file_name();
        if entry.path().is_file() && name != ours::MARK {
            let target = partial.join(name);
            fs::copy(entry.path(), &target).map_err(Error::io("write", &target))?;
        }
    }
    let replaced = move_aside(to)?;
    fs::rename(&partial, to).map_err(Error::io("finish", to))?;
    ours::unmark(to)?;
    replaced.map_or(Ok(()), |old| ours::remove_run(&old))
}

/// Moves a run that is replaced out of the way, to a name that nobody has: at no moment is neither of the two there.
fn move_aside(path: &Path) -> Result<Option<PathBuf>, Error> {
    if !path.exists() {
        return Ok(None);
    }
    let mut names = (1u64..).map(|n| disk::beside(path, &format!("replaced-{n}")));
    let aside = names.find(|name| !name.exists()).unwrap_or_default();
    fs::rename(path, &aside).map_err(Error::io("replace", path))?;
    Ok(Some(aside))
}

fn remove_if_there(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// A line of `devices.jsonl`.
#[derive(Serialize, Deserialize)]
struct DevicesLine<'a> {
    round: usize,
    #[serde(flatten)]
    seen: Cow<'a, Sightings>,
}

/// Records have no maps with odd keys, so this cannot fail.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn round_row(record: &RoundRecord) -> String {
    let active = record
        .uavs
        .iter()
        .filter(|uav| uav.status == Status::Active)
        .count();
    let aggregator = record
        .aggregator
        .map_or(String::new(), |uav| uav.0.to_string());
    let mut row = format!(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{active},{aggregator},{}",
        record.round,
        record.clock_s,
        record.cumulative_energy_j,
        record.time.total_s(),
        record.energy.spent_j(),
        record.test_accuracy,
        record.test_loss,
        record.validation_accuracy,
        record.validation_loss,
        record.train_loss,
        record.edge_rounds,
        record.mean_local_iterations(),
        record.most_local_iterations(),
        record.covered,
        record.selected,
        record.updates_computed,
        record.updates_aggregated(),
        record.updates_lost,
        record.model_change,
    );
    // Writing to a string cannot fail.
    TimeItem::ALL
        .iter()
        .for_each(|&item| _ = write!(row, ",{}", record.time.get(item)));
    EnergyItem::ALL
        .iter()
        .for_each(|&item| _ = write!(row, ",{}", record.energy.get(item)));
    row
}

fn uav_row(round: usize, uav: &UavRecord) -> String {
    let mut row = format!(
        "{round},{},{},{},{},{},{},{},{},{},{},{},{}",
        uav.uav.0,
        uav.status.name(),
        uav.position_m.x_m,
        uav.position_m.y_m,
        uav.covered,
        uav.selected(),
        uav.local_iterations,
        uav.edge_time_s,
        uav.battery_before_j,
        uav.battery_after_j,
        uav.recharged_j,
        uav.harvested_j,
    );
    EnergyItem::ALL
        .iter()
        .for_each(|&item| _ = write!(row, ",{}", uav.energy.get(item)));
    UavTime::columns().for_each(|(item, _)| _ = write!(row, ",{}", uav.time.get(item)));
    _ = write!(row, ",{}", uav.away_s);
    let devices: Vec<String> = uav
        .devices
        .iter()
        .map(|device| device.0.to_string())
        .collect();
    row + "," + &devices.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that was killed while it set the folder up left a run that resumed without its `schema.json`.
    #[test]
    fn a_folder_has_its_scenario_only_when_it_has_the_rest() {
        let place = tempfile::tempdir().unwrap();
        let named = place.path().join("agent.json");
        fs::write(&named, "{}").unwrap();
        let settings = format!("td3.agent='{}'", named.display());
        let scenario = Scenario::parse("", &[settings]).unwrap();
        let (run, partial) = (place.path().join("run"), place.path().join("run.partial"));
        let asked = std::sync::atomic::AtomicBool::new(false);
        let while_reading = || {
            asked.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(partial.join("schema.json").exists());
            assert!(!partial.join("scenario.toml").exists());
            false
        };
        let folder = RunFolder::create_unless(&while_reading, &run, &scenario, false).unwrap();
        assert!(asked.into_inner());
        assert!(folder.partial().join("scenario.toml").exists());
        assert!(folder.partial().join("inputs.sha256").exists());
    }
}
