//! A run that is over, with all that it left.

use std::fs;
use std::path::{Path, PathBuf};

use aerofed::run::Outcome;
use aerofed::run_folder::{self, RunFolder, RunLog};
use aerofed::{RoundRecord, Scenario, ValidScenario};
use aerofed_report::{
    Report, TENSORBOARD_FILE, devices_table, events_table, map_svg, progress_svg, rounds_table,
    run_pictures, run_tables, tensorboard, uavs_table,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{broken, raise, refuse};
use crate::json::to_python;
use crate::model::arrays;
use crate::round::Round;
use crate::scenario::NativeScenario;
use crate::table::NativeTable;

/// A finished run.
#[pyclass(frozen, module = "aerofed._aerofed")]
pub(crate) struct NativeRun(Source);

enum Source {
    /// Run by this process.
    Fresh {
        scenario: Box<ValidScenario>,
        outcome: Box<Outcome>,
    },
    /// Read from a folder.
    Folder { log: Box<RunLog>, folder: PathBuf },
}

impl NativeRun {
    pub(crate) fn fresh(scenario: ValidScenario, outcome: Outcome) -> Self {
        Self(Source::Fresh {
            scenario: Box::new(scenario),
            outcome: Box::new(outcome),
        })
    }

    fn scenario(&self) -> &Scenario {
        match &self.0 {
            Source::Fresh { scenario, .. } => scenario,
            Source::Folder { log, .. } => &log.scenario,
        }
    }

    fn records(&self) -> &[RoundRecord] {
        match &self.0 {
            Source::Fresh { outcome, .. } => &outcome.records,
            Source::Folder { log, .. } => &log.records,
        }
    }

    fn summary(&self) -> &aerofed::Summary {
        match &self.0 {
            Source::Fresh { outcome, .. } => &outcome.summary,
            Source::Folder { log, .. } => &log.summary,
        }
    }

    fn model_file(&self) -> PyResult<Vec<u8>> {
        match &self.0 {
            Source::Fresh { outcome, .. } => outcome.model_file().map_err(raise),
            Source::Folder { folder, .. } => read(&folder.join("model.safetensors")),
        }
    }
}

fn read(path: &Path) -> PyResult<Vec<u8>> {
    let bytes = fs::read(path).map_err(aerofed::Error::io("read", path));
    bytes.map_err(raise)
}

#[pymethods]
impl NativeRun {
    /// What was run.
    #[getter(scenario)]
    fn what(&self) -> PyResult<NativeScenario> {
        NativeScenario::new(self.scenario().clone())
    }

    /// The table of rounds.
    fn rounds(&self) -> PyResult<NativeTable> {
        NativeTable::new(rounds_table(self.records()).columns)
    }

    /// The table of UAVs.
    fn uavs(&self) -> PyResult<NativeTable> {
        NativeTable::new(uavs_table(self.records()).columns)
    }

    /// The table of devices.
    fn devices(&self) -> PyResult<NativeTable> {
        NativeTable::new(devices_table(self.records()).columns)
    }

    /// The table of events.
    fn events(&self) -> PyResult<NativeTable> {
        NativeTable::new(events_table(self.records()).columns)
    }

    /// One round, from 0.
    fn round(&self, place: usize) -> PyResult<Round> {
        let record = self.records().get(place).cloned();
        let record = record.ok_or_else(|| refuse(format!("no round at {place}")))?;
        Ok(Round { record })
    }

    /// The run in one dictionary: `summary.json`.
    #[getter(summary)]
    fn sum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let json = serde_json::to_value(self.summary()).map_err(broken)?;
        to_python(py, &json)
    }

    /// The summary as the command line prints it.
    fn summary_table(&self) -> String {
        aerofed_report::summary_table(self.summary())
    }

    /// The global model, layer by layer.
    fn model<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        arrays(py, &self.model_file()?)
    }

    /// The page with curves, books and the replay.
    fn html(&self, py: Python<'_>) -> String {
        let log = RunLog {
            scenario: self.scenario().clone(),
            records: self.records().to_vec(),
            summary: self.summary().clone(),
        };
        py.detach(|| Report::of_runs(vec![log]).html())
    }

    /// Accuracy over simulated time, and energy by item, as SVG.
    fn progress_svg(&self) -> String {
        progress_svg(self.summary(), self.records())
    }

    /// The curves as an event file of TensorBoard: its name, and its contents.
    fn tensorboard<'py>(&self, py: Python<'py>) -> (&'static str, Bound<'py, PyBytes>) {
        let events = tensorboard(self.records());
        (TENSORBOARD_FILE, PyBytes::new(py, &events))
    }

    /// The tables as Parquet files: their names, and their contents.
    fn parquet<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
        let written = run_tables(self.records()).into_iter().map(|table| {
            let name = format!("{}.parquet", table.name);
            let bytes = aerofed_data::parquet(Path::new(&name), &table.named());
            let bytes = bytes.map_err(|error| raise(error.into()))?;
            Ok((name, PyBytes::new(py, &bytes)))
        });
        written.collect()
    }

    /// The map of the last round as SVG; none of a run without rounds.
    fn map_svg(&self) -> PyResult<Option<String>> {
        Ok(match (&self.0, self.records().last()) {
            (Source::Fresh { scenario, outcome }, Some(last)) => {
                Some(map_svg(&outcome.world, last, scenario.places()))
            }
            (Source::Folder { folder, .. }, Some(_)) => {
                let text = String::from_utf8(read(&folder.join("map.svg"))?);
                Some(text.map_err(broken)?)
            }
            (_, None) => None,
        })
    }

    /// Writes the run folder that the command line would have written.
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        let (scenario, outcome) = match &self.0 {
            Source::Fresh { scenario, outcome } => (scenario, outcome),
            Source::Folder { folder, .. } => {
                return py
                    .detach(|| run_folder::copy(folder, &path, force))
                    .map_err(raise);
            }
        };
        let write = || {
            let mut folder = RunFolder::create(&path, scenario, force)?;
            let written = self.records().iter().try_for_each(|r| folder.append(r));
            if let Err(error) = written {
                folder.discard();
                return Err(error);
            }
            // The page takes the records of a copy.
            let mut copy = Outcome {
                records: outcome.records.clone(),
                summary: outcome.summary.clone(),
                weights: Vec::new(),
                network: None,
                world: outcome.world.clone(),
            };
            for (name, contents) in run_pictures(scenario, &mut copy) {
                folder.add_file(&name, &contents)?;
            }
            folder.finish(outcome)
        };
        py.detach(write).map_err(raise)
    }
}

/// Reads a run folder.
#[pyfunction]
pub(crate) fn load_run(py: Python<'_>, folder: PathBuf) -> PyResult<NativeRun> {
    py.detach(|| {
        let log = Box::new(RunLog::read(&folder)?);
        Ok(NativeRun(Source::Folder { log, folder }))
    })
    .map_err(raise)
}
