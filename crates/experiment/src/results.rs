//! The schema of `results.json`: what `aerofed reproduce` leaves, and all that a report needs.
//!
//! Quantities are SI (`s`, `J`), shares and accuracies are fractions from 0 to 1. A field is added
//! freely; one that changes its meaning or goes raises [`SCHEMA`].

use serde::{Deserialize, Serialize};

use super::statistics::Estimate;

/// The schema's number.
pub const SCHEMA: u32 = 2;

/// Everything that was found: `results.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`SCHEMA`] of whoever wrote it.
    pub schema: u32,
    /// The program's version.
    pub version: String,
    /// How much was run.
    pub scale: Scale,
    /// The seeds asked for.
    pub seeds: Vec<u64>,
    /// What they are made of, in words, where it is not the runs below.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sources: String,
    /// What was asked for, less what was skipped.
    #[serde(default)]
    pub experiments: Vec<Experiment>,
    /// In the order of the experiments.
    pub figures: Vec<Figure>,
    /// In the order of the experiments.
    pub tables: Vec<Table>,
    /// What the paper says, and what became of it here.
    pub claims: Vec<Claim>,
    /// Every run behind it that is finished.
    pub runs: Vec<RunEntry>,
    /// Runs that are still missing; above 0 when only some shards have run.
    pub runs_missing: usize,
    /// Experiments that were asked for and could not be done.
    pub skipped: Vec<Skipped>,
}

/// An experiment in a few words and numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Its name, as in `fig5`.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What a reader must know.
    pub caption: String,
    /// Layouts of devices, where UAVs are lost instead of models trained.
    pub layouts: Option<u64>,
    /// What its runs came to; none without runs.
    pub summary: Option<Overview>,
}

/// What the runs of an experiment came to, method by method and point by point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// Names of the axes; a row has a label for each.
    pub axes: Vec<String>,
    /// What is told of each row.
    pub columns: Vec<OverviewColumn>,
    /// By points, then methods.
    pub rows: Vec<OverviewRow>,
}

/// A quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverviewColumn {
    /// What it is called.
    pub label: String,
    /// `s`, `J`, `rounds`, or empty for fractions.
    pub unit: String,
}

/// The runs of a method at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverviewRow {
    /// What the method is called.
    pub method: String,
    /// The point, axis by axis.
    pub labels: Vec<String>,
    /// Finished runs.
    pub runs: usize,
    /// In the order of the columns, over the runs that have a value.
    pub cells: Vec<Option<Estimate>>,
}

/// How much is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Fewer rounds, values and methods: minutes.
    #[default]
    Quick,
    /// Everything that the paper shows.
    Paper,
}

/// A figure: panels side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The experiment's name, as in `fig5`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What a reader must know: settings, departures from the paper.
    pub caption: String,
    /// Plots.
    pub panels: Vec<Panel>,
    /// Maps, for redeployment; beside or instead of panels.
    pub maps: Vec<Map>,
}

/// One plot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// Within its figure: `a`, `b`, ...
    pub id: String,
    /// As in `CNN on MNIST`.
    pub title: String,
    /// How to draw it.
    pub kind: PanelKind,
    /// Along the bottom.
    pub x: Axis,
    /// Up the side.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
}

/// How a panel is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PanelKind {
    /// Curves with bands.
    #[default]
    Lines,
    /// Groups of bars with whiskers, a group for each tick.
    Bars,
    /// Dots, which nothing joins.
    Dots,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What it counts, as in `time to 90 %`.
    pub label: String,
    /// `s`, `J`, `rounds`, `samples`, or empty for fractions and categories.
    pub unit: String,
    /// Names of certain values; the only values there are, for categories (0, 1, 2, ...).
    pub ticks: Vec<Tick>,
}

/// A named value of an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tick {
    /// The value.
    pub at: f64,
    /// Its name.
    pub label: String,
}

/// One curve, or one colour of bars.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// What the legend calls it.
    pub label: String,
    /// The method's registered name.
    pub method: String,
    /// A number for its look, see [`Styles`](super::styles::Styles): a method's colour is the same in every
    /// figure, and what tells labels of one method apart is a shade.
    pub style: usize,
    /// By rising x.
    pub points: Vec<Point>,
    /// Of a mean over runs, where each of them ends along x, the first first: behind its end a run keeps its last value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<f64>,
    /// [`RunEntry::id`] of the runs behind it.
    pub runs: Vec<String>,
}

/// One value with its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Along the bottom.
    pub x: f64,
    /// Over the runs that have a value; none when no run has.
    pub y: Option<Estimate>,
    /// How many runs could have had one: where `y.n` is less, the others never reached the target,
    /// and the mean flatters.
    pub of: usize,
}

/// Who stands where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Map {
    /// As in `after UAV 4 was lost`.
    pub title: String,
    /// Extent of the ground, m.
    pub width_m: f64,
    /// Extent of the ground, m.
    pub height_m: f64,
    /// Ground distance up to which devices are covered, m.
    pub coverage_radius_m: f64,
    /// `[x, y]` of each device, m.
    pub devices_m: Vec<[f64; 2]>,
    /// The UAVs that are there.
    pub uavs: Vec<MapUav>,
    /// Share of the devices that some UAV covers.
    pub covered: f64,
}

/// A UAV on a map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapUav {
    /// Its number, from 1 as in the paper.
    pub number: u32,
    /// `[x, y]`, m.
    pub position_m: [f64; 2],
    /// Where it was before, when it moved.
    pub moved_from_m: Option<[f64; 2]>,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The experiment's name, as in `table3`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What a reader must know.
    pub caption: String,
    /// Unit of every cell, as a person reads it: `kJ`, `points`.
    pub unit: String,
    /// Headings of the cells' columns.
    pub columns: Vec<String>,
    /// Rows, each with a cell per column.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub label: String,
    /// One for each column.
    pub cells: Vec<Cell>,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// What we found.
    pub ours: Option<Estimate>,
    /// What the paper prints there, if anything.
    pub paper: Option<f64>,
}

/// A statement of the paper, and ours beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The experiment it belongs to.
    pub experiment: String,
    /// What the paper says, in words.
    pub text: String,
    /// How both numbers are meant.
    pub measure: Measure,
    /// `s`, `J`, `kJ`, `rounds`, ..., or empty for fractions.
    pub unit: String,
    /// The paper's number.
    pub paper: f64,
    /// Ours; none when no run tells.
    pub ours: Option<Estimate>,
    /// How many seeds could have told; less in `ours.n` when runs missed the target.
    pub of: usize,
    /// What that comes to.
    pub verdict: Verdict,
    /// Whether the interval of `ours` excludes no effect at all, so that more seeds are not likely
    /// to turn the sign.
    pub sure: bool,
}

/// What a claim's number is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// 1 - first / other, seed by seed: the share saved.
    #[default]
    Saving,
    /// first - other, seed by seed.
    Difference,
    /// The quantity itself.
    Value,
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As the paper says, or more of it.
    Agrees,
    /// The same direction, less of it.
    Weaker,
    /// The other direction, or far off.
    Contradicts,
    /// Runs are missing, or none reached the target.
    Open,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEntry {
    /// Twelve hexadecimal digits of its scenario's hash; the seed and the method are part of it.
    pub id: String,
    /// Its run folder, relative to `results.json`.
    pub folder: String,
    /// The method's registered name.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// The experiments that use it.
    pub experiments: Vec<String>,
    /// Global rounds done.
    pub rounds: usize,
    /// Why it ended, as in `max_rounds`.
    pub stopped_by: String,
    /// Best test accuracy of any round.
    pub best_accuracy: f64,
    /// Simulated time, s.
    pub total_time_s: f64,
    /// Energy of devices and UAVs, J.
    pub total_energy_j: f64,
}

/// An experiment that was not done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its name.
    pub experiment: String,
    /// Why.
    pub reason: String,
}
