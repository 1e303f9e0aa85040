//! What a run folder has to look at.

use aerofed::run::Outcome;
use aerofed::run_folder::RunLog;
use aerofed::{Scenario, ValidScenario};

use crate::{Report, map_geojson, map_svg, progress_svg};

/// The pictures and the page of a finished run, by the names of their files. The page takes the records: there may be too many
/// to have them twice.
#[must_use]
pub fn run_pictures(scenario: &ValidScenario, outcome: &mut Outcome) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut add = |name: &str, text: String| files.push((name.to_owned(), text.into_bytes()));
    let plot = progress_svg(&outcome.summary, &outcome.records);
    add("progress.svg", plot);
    if let Some(last) = outcome.records.last() {
        let (world, places) = (&outcome.world, scenario.places());
        add("map.svg", map_svg(world, last, places));
        if let Some(map) = map_geojson(world, last, places) {
            add("map.geojson", map);
        }
    }
    let log = RunLog {
        scenario: Scenario::clone(scenario),
        records: std::mem::take(&mut outcome.records),
        summary: outcome.summary.clone(),
    };
    add("report.html", Report::of_runs(vec![log]).html());
    files
}
