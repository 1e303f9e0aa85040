//! `aerofed compare`.

use std::path::PathBuf;

use aerofed::Scenario;
use aerofed::record::schema::Column;
use aerofed::scenario::TargetOn;
use aerofed_experiment::latex::of_markdown;
use aerofed_experiment::plan::{ComparePlan, Contender, digest};
use aerofed_experiment::tidy::{files, of_comparison};
use aerofed_experiment::{check_data, claim, release};
use aerofed_report::comparison_files;
use pyo3::prelude::*;

use crate::batch::{Kept, run_missing, write};
use crate::csv::table;
use crate::errors::{broken, experiment, refuse, report};
use crate::json::to_python;
use crate::numbers::{self, number, whole};
use crate::scenario::NativeScenario;
use crate::set_up::{NativeMethod, SetUp};
use crate::table::NativeTable;

/// The file that makes a folder a comparison's.
const MARK: &str = "scenario.toml";

/// What came of a comparison.
#[pyclass(frozen, module = "aerofed._aerofed")]
pub(crate) struct NativeComparison {
    folder: PathBuf,
    comparison: aerofed_experiment::comparison::Comparison,
    runs: (Vec<Column>, String),
    curves: (Vec<Column>, String),
}

#[pymethods]
impl NativeComparison {
    /// Where it was written.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// The table that the command line prints.
    fn markdown(&self) -> String {
        self.comparison.markdown()
    }

    /// The same for a paper.
    fn latex(&self) -> String {
        of_markdown(&self.comparison.markdown())
    }

    /// All statistics: `compare.json`.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let json = serde_json::to_value(&self.comparison).map_err(broken)?;
        to_python(py, &json)
    }

    /// A row for each run and target.
    fn runs(&self) -> PyResult<NativeTable> {
        table("runs.csv", &self.runs.0, &self.runs.1)
    }

    /// A row for each run and round.
    fn curves(&self) -> PyResult<NativeTable> {
        table("curves.csv", &self.curves.0, &self.curves.1)
    }
}

/// Compares methods over seeds.
#[pyfunction]
#[pyo3(signature = (scenario, methods, own, learner, seeds, first_seed, targets, smooth, target_on, full, jobs, out, watch))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by position")]
pub(crate) fn compare(
    py: Python<'_>,
    scenario: &NativeScenario,
    methods: Vec<String>,
    own: Vec<Py<NativeMethod>>,
    learner: Option<Py<PyAny>>,
    seeds: i64,
    first_seed: i64,
    targets: Option<Vec<f64>>,
    smooth: Option<i64>,
    target_on: Option<&str>,
    full: bool,
    jobs: Option<i64>,
    out: Option<PathBuf>,
    watch: Option<Bound<'_, PyAny>>,
) -> PyResult<NativeComparison> {
    let set_up = SetUp::new(py, None, &own, learner)?;
    let registry = &set_up.registry;
    let contenders = Contender::parse_all(registry, &methods).map_err(experiment)?;
    let mut base = Scenario::clone(&scenario.valid);
    let smooth = smooth.map(|rounds| whole("smooth", rounds, 1..=1_000));
    base.stop.smooth = ComparePlan::smooth(smooth.transpose()?, &base);
    match target_on {
        None => {}
        Some("test") => base.stop.target_on = TargetOn::Test,
        Some("validation") => base.stop.target_on = TargetOn::Validation,
        Some(other) => {
            return Err(refuse(format!(
                "`target_on` is {other:?}, allowed: test, validation"
            )));
        }
    }
    let seeds = numbers::seeds(seeds, first_seed)?;
    for target in targets.iter().flatten() {
        number("targets", *target, 0.0..=1.0)?;
    }
    let targets = targets.unwrap_or_else(|| base.stop.targets.clone());
    let plan = ComparePlan::new(base, contenders, seeds, targets, full).map_err(experiment)?;
    let runs = plan.runs(registry).map_err(experiment)?;
    let shared = plan.shared_text().map_err(experiment)?;
    let out = out.unwrap_or_else(|| {
        let name = format!("compare-{}-{}", plan.base.name, &digest(&shared)[..6]);
        PathBuf::from("runs").join(name)
    });
    let new = !out.join(MARK).exists();
    check_data(&plan.base).map_err(experiment)?;
    claim(&out, MARK, "comparison", &shared).map_err(experiment)?;
    let folder = out.join("runs");
    let runs: Vec<_> = runs.iter().flatten().collect();
    let kept = Kept::Folders(&folder);
    run_missing(py, &set_up, &runs, &kept, jobs, watch.as_ref()).inspect_err(|_| {
        if new {
            release(&out, MARK);
        }
    })?;
    let stored = plan.stored(registry, &folder).map_err(experiment)?;
    let summed = py.detach(|| comparison_files(&out, &plan, &stored, registry).map_err(report));
    let (comparison, written) = summed?;
    write(&out, written)?;
    let tidy = of_comparison(&plan, &stored).map_err(experiment)?;
    let schema = files(&tidy.varied, true);
    let columns = |name: &str| {
        let mut of = schema.iter().filter(|file| file.file == name);
        of.next()
            .map(|file| file.columns.clone())
            .unwrap_or_default()
    };
    Ok(NativeComparison {
        runs: (columns("runs.csv"), tidy.runs),
        curves: (columns("curves.csv"), tidy.curves),
        folder: out,
        comparison,
    })
}
