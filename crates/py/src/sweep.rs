//! `aerofed sweep`.

use std::path::PathBuf;

use aerofed::Scenario;
use aerofed_experiment::plan::{Contender, PlannedRun, digest};
use aerofed_experiment::results::Results;
use aerofed_experiment::sweep::{
    RowFiles, RowKeeper, SweepAxis, SweepPlan, SweepTable, folder_rows, stored_rows,
};
use aerofed_experiment::{check_data, claim, release};
use aerofed_report::sweep_files;
use pyo3::prelude::*;

use crate::batch::{Kept, run_missing, write};
use crate::errors::{broken, experiment, raise, refuse, report};
use crate::json::to_python;
use crate::numbers::{self, number, whole};
use crate::scenario::NativeScenario;
use crate::set_up::{NativeMethod, SetUp};
use crate::table::NativeTable;

/// The file that makes a folder a sweep's.
const MARK: &str = "sweep.toml";

/// What came of a sweep.
#[pyclass(frozen, module = "aerofed._aerofed")]
pub(crate) struct NativeSweep {
    folder: PathBuf,
    results: Results,
    table: SweepTable,
}

#[pymethods]
impl NativeSweep {
    /// Where it was written.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// A row for each run.
    fn runs(&self) -> PyResult<NativeTable> {
        let values = self.table.typed().into_iter().map(|column| column.values);
        NativeTable::new(self.table.columns.iter().cloned().zip(values).collect())
    }

    /// The Pareto front, and how much depends on each axis: `results.json`.
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let json = serde_json::to_value(&self.results).map_err(broken)?;
        to_python(py, &json)
    }

    /// The same to read.
    fn markdown(&self) -> String {
        let tables = self.results.tables.iter().map(|table| table.markdown());
        self.results.overviews().trim_start().to_owned() + &tables.collect::<String>()
    }
}

/// Varies fields of a scenario.
#[pyfunction]
#[pyo3(signature = (scenario, grid, random, samples, methods, own, learner, seeds, first_seed, target, rows, jobs, out, watch))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by position")]
pub(crate) fn sweep(
    py: Python<'_>,
    scenario: &NativeScenario,
    grid: Vec<String>,
    random: Vec<String>,
    samples: Option<i64>,
    methods: Option<Vec<String>>,
    own: Vec<Py<NativeMethod>>,
    learner: Option<Py<PyAny>>,
    seeds: i64,
    first_seed: i64,
    target: Option<f64>,
    rows: bool,
    jobs: Option<i64>,
    out: Option<PathBuf>,
    watch: Option<Bound<'_, PyAny>>,
) -> PyResult<NativeSweep> {
    if grid.is_empty() && random.is_empty() {
        return Err(refuse(
            "nothing is varied, allowed: one `grid` or `random` at least",
        ));
    }
    match (samples, random.is_empty()) {
        (None, false) => {
            return Err(refuse("`random` needs `samples`, how many are drawn"));
        }
        (Some(n), true) => {
            return Err(refuse(format!("`samples` is {n}, without `random`")));
        }
        _ => {}
    }
    let samples = whole("samples", samples.unwrap_or(1), 1..=100_000)?;
    let set_up = SetUp::new(py, None, &own, learner)?;
    let registry = &set_up.registry;
    let base = Scenario::clone(&scenario.valid);
    let methods = methods.unwrap_or_else(|| vec![base.method.clone()]);
    let contenders = Contender::parse_all(registry, &methods).map_err(experiment)?;
    let mut axes = Vec::new();
    for text in &grid {
        axes.push(SweepAxis::listed(text).map_err(experiment)?);
    }
    for text in &random {
        axes.push(SweepAxis::drawn(text, &base).map_err(experiment)?);
    }
    let largest = base.stop.targets.iter().copied().fold(0.0, f64::max);
    let target = number("target", target.unwrap_or(largest), 0.0..=1.0)?;
    let seeds = numbers::seeds(seeds, first_seed)?;
    let plan = SweepPlan::new(base, contenders, seeds, axes, samples, target);
    let plan = plan.map_err(experiment)?;
    let cases = py
        .detach(|| plan.cases(registry, None))
        .map_err(experiment)?;
    let shared = plan.shared_text().map_err(experiment)?;
    let out = out.unwrap_or_else(|| {
        let asked = format!("{shared}{:?}", plan.axes);
        let name = format!("sweep-{}-{}", plan.base.name, &digest(&asked)[..6]);
        PathBuf::from("runs").join(name)
    });
    let new = !out.join(MARK).exists();
    check_data(&plan.base).map_err(experiment)?;
    claim(&out, MARK, "sweep", &shared).map_err(experiment)?;
    let runs: Vec<&PlannedRun> = cases.iter().map(|case| &case.run).collect();
    let (row_folder, folders) = (out.join("rows"), out.join("runs"));
    let files = RowFiles::new(&row_folder);
    let (known, _) = files.read().map_err(experiment)?;
    let keeper = RowKeeper {
        files: &files,
        known: &known,
        target: plan.target,
    };
    let kept = match rows {
        true => Kept::In(&keeper),
        false => Kept::Folders(&folders),
    };
    run_missing(py, &set_up, &runs, &kept, jobs, watch.as_ref()).inspect_err(|_| {
        if new {
            release(&out, MARK);
        }
    })?;
    let rows = match rows {
        true => {
            files.sync().map_err(raise)?;
            stored_rows(&cases, &files, &out)
        }
        false => folder_rows(&cases, &folders, plan.target),
    };
    let table = SweepTable::new(&plan, &cases, &rows.map_err(experiment)?);
    let told = py.detach(|| sweep_files(&out, &plan, &cases, &table).map_err(report));
    let (results, mut written) = told?;
    let name = "sweep.parquet";
    let parquet = aerofed_data::parquet(&out.join(name), &table.typed());
    let parquet = parquet.map_err(|error| raise(error.into()))?;
    written.insert(1, (name.into(), parquet));
    write(&out, written)?;
    Ok(NativeSweep {
        folder: out,
        results,
        table,
    })
}
