//! Tidy tables of runs, for plots of one's own: what was varied stands in columns of its own.

use aerofed::record::schema::{Column, FileSchema, Kind, header};
use toml::{Table, Value};

use super::comparison::columns as compare_columns;
use super::csv::{line, number};
use super::plan::ComparePlan;
use super::stored::{Stand, StoredRun, word};
use crate::Error;

use Kind::{Boolean, Integer, List, Number, Text};

/// A finished run, where it belongs and what was varied to get it.
pub struct TidyRun<'a> {
    /// The experiment's name, or the scenario's in a comparison.
    pub experiment: &'a str,
    /// Panels of the experiment's figure that show it.
    pub panels: Vec<String>,
    /// What the method is called.
    pub label: &'a str,
    /// The method's registered name.
    pub method: &'a str,
    /// The run's folder, relative to the table.
    pub folder: String,
    /// Names and values of what was varied.
    pub varied: Vec<(String, String)>,
    /// Accuracies that its experiment asks for.
    pub targets: Vec<f64>,
    /// The run.
    pub run: &'a StoredRun,
}

/// `runs.csv`, `curves.csv` and the columns that both have for what was varied.
#[derive(Clone, Debug, PartialEq)]
pub struct TidyTables {
    /// A row for each run and target.
    pub runs: String,
    /// A row for each run and round.
    pub curves: String,
    /// Names of axes and paths of the scenario.
    pub varied: Vec<String>,
}

#[rustfmt::skip]
pub(super) static WHO: [Column; 5] = [
    Column::new("experiment", Text, "", "The experiment's name; the scenario's in a comparison"),
    Column::new("panels", List, "", "Panels of its figure that show the run: a, b, ..."),
    Column::new("label", Text, "", "What the method is called"),
    Column::new("method", Text, "", "Its registered name"),
    Column::new("seed", Integer, "", "The seed"),
];

#[rustfmt::skip]
pub(super) static RUN: [Column; 21] = [
    Column::new("target", Number, "", "The accuracy asked for, 0 to 1"),
    Column::new("target_on", Text, "", "Which accuracy it is held against: test or validation"),
    Column::new("smooth", Integer, "rounds", "Over how many rounds that is averaged"),
    Column::new("reached", Boolean, "", "Whether the run reached it"),
    Column::new("rounds", Integer, "rounds", "Global rounds until then; empty: never"),
    Column::new("time_s", Number, "s", "Simulated time until then"),
    Column::new("energy_j", Number, "J", "Energy of devices and UAVs until then; not what faults took"),
    Column::new("first_crossing_rounds", Integer, "rounds", "The first round at or above the target, without smoothing"),
    Column::new("first_crossing_time_s", Number, "s", "Simulated time until then"),
    Column::new("first_crossing_energy_j", Number, "J", "Energy until then"),
    Column::new("run_rounds", Integer, "rounds", "Global rounds of the whole run"),
    Column::new("run_time_s", Number, "s", "Simulated time of the whole run"),
    Column::new("run_energy_j", Number, "J", "Energy of the whole run"),
    Column::new("final_accuracy", Number, "", "Test accuracy after the last round, 0 to 1"),
    Column::new("best_accuracy", Number, "", "Best test accuracy of any round"),
    Column::new("local_iterations_mean", Number, "", "Local iterations per edge round (H) of the average device"),
    Column::new("selected_per_round", Number, "devices", "Devices that trained in a round, mean"),
    Column::new("updates_computed", Integer, "updates", "Device updates"),
    Column::new("updates_lost", Integer, "updates", "Of those, how many never reached the global model"),
    Column::new("stopped_by", Text, "", "Why the run ended, as in summary.json"),
    Column::new("run", Text, "", "Its folder"),
];

#[rustfmt::skip]
static ROUND: [Column; 8] = [
    Column::new("round", Integer, "", "Global round, from 1"),
    Column::new("clock_s", Number, "s", "Simulated time at its end"),
    Column::new("cumulative_energy_j", Number, "J", "Energy of devices and UAVs so far; not what faults took"),
    Column::new("test_accuracy", Number, "", "Accuracy of the global model on the test set, 0 to 1"),
    Column::new("validation_accuracy", Number, "", "Its accuracy on the validation samples"),
    Column::new("smoothed_accuracy", Number, "", "What targets are judged by: the mean over the last `smooth` rounds; empty before there are so many"),
    Column::new("selected", Integer, "devices", "Devices that trained"),
    Column::new("run", Text, "", "Its folder"),
];

/// What stands for the columns of what was varied where they are not known.
pub const VARIED: &str = "PATH";

pub(super) fn varied_column(name: &str) -> Column {
    let unit = match name.rsplit('_').next() {
        Some("s") => "s",
        Some("j") => "J",
        Some("m") => "m",
        Some("hz") => "Hz",
        Some("w") => "W",
        Some("mps") => "m/s",
        _ => "",
    };
    let description = match name.contains('.') || name == VARIED {
        true => {
            "The value of this field of the scenario; a range whose ends are equal is one number"
        }
        false => "The label of the run's point on this axis",
    };
    Column {
        name: name.to_owned().into(),
        kind: Text,
        unit: unit.into(),
        description: description.into(),
    }
}

/// What the tables of a folder hold, with the columns of what was varied.
#[must_use]
pub fn files(varied: &[String], compared: bool) -> Vec<FileSchema> {
    let with = |last: &[Column]| -> Vec<Column> {
        let varied = varied.iter().map(|name| varied_column(name));
        let who = WHO.iter().cloned();
        who.chain(varied).chain(last.iter().cloned()).collect()
    };
    let mut files = vec![
        FileSchema {
            file: "runs.csv",
            row: "a run and a target",
            columns: with(&RUN),
        },
        FileSchema {
            file: "curves.csv",
            row: "a run and a global round",
            columns: with(&ROUND),
        },
    ];
    if compared {
        files.push(FileSchema {
            file: "compare.csv",
            row: "a method, a target and a curve",
            columns: compare_columns().into(),
        });
    }
    files
}

/// Whether an axis cannot have this name, because a column has it.
pub(super) fn is_taken(name: &str) -> bool {
    let all = WHO.iter().chain(&RUN).chain(&ROUND);
    all.into_iter().any(|column| column.name == name)
}

impl TidyTables {
    /// The tables of some runs.
    #[must_use]
    pub fn new(rows: &[TidyRun]) -> Self {
        let mut varied: Vec<String> = Vec::new();
        for (name, _) in rows.iter().flat_map(|row| &row.varied) {
            if !varied.contains(name) && !is_taken(name) {
                varied.push(name.clone());
            }
        }
        let [runs, curves] =
            [0, 1].map(|place| header(&files(&varied, false)[place].columns) + "\n");
        let mut tables = Self {
            runs,
            curves,
            varied,
        };
        for row in rows {
            let who = tables.who(row);
            for &target in &row.targets {
                tables.runs += &line(who.iter().cloned().chain(run_cells(
                    row.run,
                    target,
                    &row.folder,
                )));
            }
            for cells in round_cells(row) {
                tables.curves += &line(who.iter().cloned().chain(cells));
            }
        }
        tables
    }

    fn who(&self, row: &TidyRun) -> Vec<String> {
        let mut cells = vec![
            row.experiment.into(),
            row.panels.join(" "),
            row.label.into(),
            row.method.into(),
            row.run.summary.seed.to_string(),
        ];
        let value = |name: &String| {
            let found = row.varied.iter().find(|(known, _)| known == name);
            found.map_or(String::new(), |(_, value)| value.clone())
        };
        cells.extend(self.varied.iter().map(value));
        cells
    }
}

/// What a run tells about itself and an accuracy to reach, cell by cell.
#[must_use]
pub fn run_cells(run: &StoredRun, target: f64, folder: &str) -> Vec<String> {
    let summary = &run.summary;
    let stand = |stand: Option<&Stand>| {
        [
            number(stand.map(|stand| stand.round)),
            number(stand.map(|stand| stand.clock_s)),
            number(stand.map(|stand| stand.energy_j)),
        ]
    };
    let reached = run.reached(target);
    let mut cells = vec![
        target.to_string(),
        summary.target_on.name().into(),
        summary.smooth.to_string(),
        reached.is_some().to_string(),
    ];
    cells.extend(stand(reached));
    cells.extend(stand(run.first_crossing(target)));
    cells.extend([
        summary.rounds.to_string(),
        summary.total_time_s.to_string(),
        summary.total_energy_j.to_string(),
        summary.final_accuracy.to_string(),
        summary.best_accuracy.to_string(),
        summary.local_iterations_mean.to_string(),
        run.selected_per_round().to_string(),
        summary.updates_computed.to_string(),
        summary.updates_lost.to_string(),
        word(summary.stopped_by),
        folder.into(),
    ]);
    cells
}

fn round_cells(row: &TidyRun) -> impl Iterator<Item = Vec<String>> {
    let judged = row.run.judged();
    let smooth = row.run.summary.smooth.max(1);
    row.run.curve.iter().enumerate().map(move |(place, stand)| {
        let first = (place + 1).checked_sub(smooth);
        let mean = first.map(|first| judged[first..=place].iter().sum::<f64>() / smooth as f64);
        vec![
            stand.round.to_string(),
            stand.clock_s.to_string(),
            stand.energy_j.to_string(),
            stand.accuracy.to_string(),
            stand.validation_accuracy.to_string(),
            number(mean),
            stand.selected.to_string(),
            row.folder.clone(),
        ]
    })
}

/// The tables of a comparison: what contenders set for themselves is what was varied.
///
/// # Errors
/// When a scenario cannot be written as TOML.
pub fn of_comparison(plan: &ComparePlan, runs: &[Vec<StoredRun>]) -> Result<TidyTables, Error> {
    let all = plan.contenders.iter().flat_map(|c| &c.settings);
    let paths = paths(all);
    let scenario = read(&plan.base.to_toml()?);
    let mut rows = Vec::new();
    for (contender, runs) in plan.contenders.iter().zip(runs) {
        for run in runs {
            let name = run.folder.file_name().unwrap_or_default();
            rows.push(TidyRun {
                experiment: &plan.base.name,
                panels: Vec::new(),
                label: &contender.label,
                method: &contender.method,
                folder: format!("runs/{}", name.to_string_lossy()),
                varied: values(&paths, &contender.settings, &scenario),
                targets: plan.targets.clone(),
                run,
            });
        }
    }
    Ok(TidyTables::new(&rows))
}

/// The paths that settings set, each once.
pub(super) fn paths<'a>(settings: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for setting in settings {
        let (path, _) = split(setting);
        if !paths.iter().any(|known| known == path) {
            paths.push(path.into());
        }
    }
    paths
}

/// The values at some paths: what is set, or else what the scenario says.
pub(super) fn values(
    paths: &[String],
    settings: &[String],
    scenario: &Table,
) -> Vec<(String, String)> {
    let value = |path: &String| {
        let set = settings
            .iter()
            .rev()
            .map(|s| split(s))
            .find(|(p, _)| p == path);
        let text = match set {
            Some((_, text)) => plain(text),
            None => at(scenario, path).map_or(String::new(), shown),
        };
        (path.clone(), text)
    };
    paths.iter().map(value).collect()
}

/// A scenario's text, which is TOML.
pub(super) fn read(text: &str) -> Table {
    text.parse().unwrap_or_default()
}

fn split(setting: &str) -> (&str, &str) {
    let (path, value) = setting.split_once('=').unwrap_or((setting, ""));
    (path.trim(), value.trim())
}

/// A value as a setting gives it: TOML, or text without quotes.
pub(super) fn plain(text: &str) -> String {
    let table = read(&format!("value = {text}"));
    table.get("value").map_or(text.into(), shown)
}

fn at<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match (table.get(first)?, rest) {
        (value, "") => Some(value),
        (Value::Table(inner), rest) => at(inner, rest),
        _ => None,
    }
}

/// A range whose ends are equal is one number, text has no quotes.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        Value::Array(ends) => match &ends[..] {
            [low, high] if low == high => shown(low),
            _ => value.to_string(),
        },
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::stored::tests::run;
    use super::*;

    fn rows(table: &str) -> Vec<Vec<&str>> {
        table
            .lines()
            .map(|line| line.split(',').collect())
            .collect()
    }

    #[test]
    fn what_was_varied_stands_in_columns_of_its_own() {
        let run = run(7, &[(10.0, 100.0, 0.6), (20.0, 200.0, 0.8)]);
        let row = |label, value: &str| TidyRun {
            experiment: "mine",
            panels: vec!["a".into(), "c".into()],
            label,
            method: "hfl",
            folder: "runs/x".into(),
            varied: vec![("radio.bandwidth_hz".into(), value.into())],
            targets: vec![0.5, 0.9],
            run: &run,
        };
        let other = TidyRun {
            varied: vec![("xi".into(), "low, or so".into())],
            ..row("b", "")
        };
        let tables = TidyTables::new(&[row("a", "2e6"), other]);
        let runs = rows(&tables.runs);
        assert_eq!(runs.len(), 1 + 2 * 2);
        assert!(
            runs.iter()
                .take(3)
                .all(|cells| cells.len() == runs[0].len())
        );
        assert_eq!(
            runs[1][..8],
            ["mine", "a c", "a", "hfl", "7", "2e6", "", "0.5"]
        );
        assert_eq!(runs[1][10..14], ["true", "1", "10", "100"]);
        assert_eq!(runs[2][10..14], ["false", "", "", ""]);
        assert!(tables.runs.contains("\"low, or so\""));
        let curves = rows(&tables.curves);
        assert_eq!(curves.len(), 1 + 2 * 2);
        assert_eq!(curves[2][7..13], ["2", "20", "200", "0.8", "0.4", "0.8"]);
        assert_eq!(tables.varied, ["radio.bandwidth_hz", "xi"]);
        let files = files(&tables.varied, false);
        assert_eq!(
            header(&files[0].columns),
            tables.runs.lines().next().unwrap()
        );
        assert_eq!(
            (&*files[0].columns[5].unit, &*files[0].columns[6].unit),
            ("Hz", "")
        );
    }

    #[test]
    fn values_are_plain_whether_set_or_not() {
        let scenario = read("a = [2.0, 2.0]\nb = { c = \"x\" }\nd = [1, 2]");
        let paths: Vec<String> = ["a", "b.c", "d", "e", "f"].map(Into::into).into();
        let settings: Vec<String> = ["e=20e6", "f=noniid_a", "e=[3e6, 3e6]"]
            .map(Into::into)
            .into();
        let found: Vec<String> = values(&paths, &settings, &scenario)
            .into_iter()
            .map(|(_, value)| value)
            .collect();
        assert_eq!(found, ["2", "x", "[1, 2]", "3000000", "noniid_a"]);
    }
}
