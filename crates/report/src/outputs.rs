//! What a comparison or a sweep leaves in its folder.

use std::path::Path;

use aerofed::method::Registry;
use aerofed::record::schema::{FileSchema, to_json};
use aerofed_experiment::comparison::{Comparison, panels};
use aerofed_experiment::plan::ComparePlan;
use aerofed_experiment::results::Results;
use aerofed_experiment::stored::StoredRun;
use aerofed_experiment::sweep::{SweepCase, SweepPlan, SweepTable, file, results};
use aerofed_experiment::tidy::{files, of_comparison};

use crate::{Error, Report, panel_svg};

/// Files by name, in the order in which they are written.
pub type Files = Vec<(String, Vec<u8>)>;

/// What came of a comparison in the folder `out`, and the files that say so. Reads every file of every run: what is damaged is
/// found before anything is written.
///
/// # Errors
/// When a run is damaged.
pub fn comparison_files(
    out: &Path,
    plan: &ComparePlan,
    stored: &[Vec<StoredRun>],
    registry: &Registry,
) -> Result<(Comparison, Files), Error> {
    let json_error = |source| Error::Json {
        path: out.join("compare.json"),
        source,
    };
    let comparison = Comparison::new(plan, stored);
    let json = serde_json::to_string_pretty(&comparison).map_err(json_error)?;
    let again = serde_json::from_str(&json).map_err(json_error)?;
    let page = Report::of_comparison(out, again, registry)?.html();
    let tidy = of_comparison(plan, stored)?;
    let columns = to_json(&files(&tidy.varied, true));
    let mut all: Vec<(String, String)> = vec![
        ("compare.csv".into(), comparison.csv()),
        ("runs.csv".into(), tidy.runs),
        ("curves.csv".into(), tidy.curves),
        ("schema.json".into(), columns),
        ("compare.json".into(), json + "\n"),
        ("compare.md".into(), comparison.markdown()),
    ];
    for panel in panels(plan, stored) {
        all.push((format!("compare-{}.svg", panel.id), panel_svg(&panel)));
    }
    all.push(("report.html".into(), page));
    let all = all.into_iter();
    let bytes = all.map(|(name, text)| (name, text.into_bytes()));
    Ok((comparison, bytes.collect()))
}

/// What came of a sweep in the folder `out`, and the files that say so, but for the table as Parquet.
///
/// # Errors
/// When the results cannot be told.
pub fn sweep_files(
    out: &Path,
    plan: &SweepPlan,
    cases: &[SweepCase],
    table: &SweepTable,
) -> Result<(Results, Files), Error> {
    let json_error = |source| Error::Json {
        path: out.join("results.json"),
        source,
    };
    let found = results(plan, cases, table);
    let json = serde_json::to_string_pretty(&found).map_err(json_error)? + "\n";
    let report = Report::of_results(out, serde_json::from_str(&json).map_err(json_error)?)?;
    let paths: Vec<String> = plan.axes.iter().map(|axis| axis.path.clone()).collect();
    let schema = FileSchema {
        columns: table.columns.clone(),
        ..file(&paths)
    };
    let mut written: Files = vec![
        ("sweep.csv".into(), table.csv().into_bytes()),
        ("schema.json".into(), to_json(&[schema]).into_bytes()),
        ("results.json".into(), json.into_bytes()),
        ("report.html".into(), report.html().into_bytes()),
    ];
    for (name, contents) in report.figures() {
        let name = match name.ends_with(".svg") {
            true => format!("figures/{name}"),
            false => name,
        };
        written.push((name, contents.into_bytes()));
    }
    Ok((found, written))
}
