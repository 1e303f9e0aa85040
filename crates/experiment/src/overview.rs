//! An experiment in a table: what its runs came to, whatever it draws and whatever the paper says.

use std::collections::BTreeMap;

use super::built_in;
use super::experiment_sweep::{Case, ExperimentSweep, Finished};
use super::markdown::{exact_percent, percent, plus_minus, seed_words};
use super::quantity::Quantity;
use super::results::{Experiment, Figure, Overview, OverviewColumn, OverviewRow, Results, Scale};
use super::statistics::Estimate;
use super::tidy::{TidyRun, paths, read, values};

/// More targets than these would make a table that nobody reads: `runs.csv` has them all.
const MOST_TARGETS: usize = 3;

/// What is told of an experiment.
pub(super) fn experiment(sweep: &ExperimentSweep, finished: &Finished) -> Experiment {
    let description = &sweep.description;
    Experiment {
        name: description.name.clone(),
        title: description.title.clone(),
        caption: description.caption.clone(),
        layouts: description.redeployment.as_ref().map(|plan| plan.layouts),
        summary: (!sweep.cases.is_empty()).then(|| overview(sweep, finished)),
    }
}

fn overview(sweep: &ExperimentSweep, finished: &Finished) -> Overview {
    let mut targets: Vec<f64> = sweep.cases.iter().flat_map(|c| sweep.targets(c)).collect();
    targets.sort_by(f64::total_cmp);
    targets.dedup();
    let first = targets.len().saturating_sub(MOST_TARGETS);
    let costs = [Quantity::TimeToTargetS, Quantity::EnergyToTargetJ];
    let mut quantities: Vec<(Quantity, Option<f64>)> = Vec::new();
    for &target in &targets[first..] {
        quantities.extend(costs.map(|cost| (cost, Some(target))));
    }
    let whole = [
        Quantity::FinalAccuracy,
        Quantity::Rounds,
        Quantity::TotalTimeS,
        Quantity::TotalEnergyJ,
    ];
    quantities.extend(whole.map(|quantity| (quantity, None)));
    let column = |&(quantity, target): &(Quantity, Option<f64>)| OverviewColumn {
        label: match target {
            Some(target) => format!("{} to {}", quantity.label(), exact_percent(target)),
            None => quantity.label().into(),
        },
        unit: quantity.unit().into(),
    };
    // By point and contender, in the order of the runs.
    let mut groups: BTreeMap<usize, Vec<&Case>> = BTreeMap::new();
    for (place, case) in sweep.cases.iter().enumerate() {
        groups
            .entry(place / sweep.seeds.len().max(1))
            .or_default()
            .push(case);
    }
    let row = |cases: Vec<&Case>| {
        let runs: Vec<_> = cases
            .iter()
            .filter_map(|case| finished.get(&case.run.id))
            .collect();
        let cell = |&(quantity, target): &(Quantity, Option<f64>)| {
            let values = runs.iter().filter_map(|run| quantity.of_run(run, target));
            Estimate::within(&values.collect::<Vec<_>>(), quantity.domain())
        };
        OverviewRow {
            method: sweep.contenders[cases[0].contender].label.clone(),
            labels: cases[0].labels.clone(),
            runs: runs.len(),
            cells: quantities.iter().map(cell).collect(),
        }
    };
    Overview {
        axes: sweep
            .description
            .axes
            .iter()
            .map(|axis| axis.name.clone())
            .collect(),
        columns: quantities.iter().map(column).collect(),
        rows: groups.into_values().map(row).collect(),
    }
}

/// The finished runs of an experiment with what was varied.
pub(super) fn tidy_runs<'a>(
    sweep: &'a ExperimentSweep,
    finished: &'a Finished,
    figure: Option<&Figure>,
) -> Vec<TidyRun<'a>> {
    let description = &sweep.description;
    let points = description.axes.iter().flat_map(|axis| &axis.points);
    let paths = paths(points.flat_map(|point| &point.set));
    let mut rows = Vec::new();
    for case in &sweep.cases {
        let Some(run) = finished.get(&case.run.id) else {
            continue;
        };
        let contender = &sweep.contenders[case.contender];
        let axes = description.axes.iter().zip(&case.labels);
        let mut varied: Vec<(String, String)> = axes
            .map(|(axis, label)| (axis.name.clone(), label.clone()))
            .collect();
        varied.extend(values(&paths, &case.settings, &read(&case.run.text)));
        let shows = |panel: &&super::results::Panel| {
            panel
                .series
                .iter()
                .any(|series| series.runs.contains(&case.run.id))
        };
        let panels = figure.into_iter().flat_map(|figure| &figure.panels);
        rows.push(TidyRun {
            experiment: &description.name,
            panels: panels.filter(shows).map(|panel| panel.id.clone()).collect(),
            label: &contender.label,
            method: &contender.method,
            folder: format!("runs/{}", case.run.folder_name()),
            varied,
            targets: sweep.targets(case),
            run,
        });
    }
    rows
}

impl Overview {
    /// The table in words: the header, and its rows.
    #[must_use]
    pub fn words(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let unit = |unit: &str| match unit {
            "J" => ("kJ".to_owned(), 1e3),
            unit => (unit.to_owned(), 1.0),
        };
        let mut header: Vec<String> = self.axes.clone();
        header.extend(["method".into(), "runs".into()]);
        header.extend(
            self.columns
                .iter()
                .map(|column| match column.unit.as_str() {
                    "" | "rounds" => column.label.clone(),
                    other => format!("{} ({})", column.label, unit(other).0),
                }),
        );
        let row = |row: &OverviewRow| {
            let mut cells = row.labels.clone();
            cells.extend([row.method.clone(), row.runs.to_string()]);
            let values = self.columns.iter().zip(&row.cells);
            cells.extend(
                values.map(|(column, value)| match (&column.unit[..], value) {
                    ("", value) => percent(value.as_ref()),
                    (_, Some(value)) if value.n < row.runs => {
                        let words = plus_minus(Some(value), unit(&column.unit).1);
                        format!("{words} ({}/{})", value.n, row.runs)
                    }
                    (_, None) if row.runs > 0 => format!("0/{} reached", row.runs),
                    (_, value) => plus_minus(value.as_ref(), unit(&column.unit).1),
                }),
            );
            cells
        };
        (header, self.rows.iter().map(row).collect())
    }
}

impl Results {
    /// What a page of them is called: by the experiments' own titles where none is of the paper.
    #[must_use]
    pub fn title(&self) -> String {
        let of_paper = |experiment: &Experiment| {
            let mut papers = built_in::ALL.iter();
            papers.any(|(name, _)| *name == experiment.name)
        };
        if self.experiments.iter().any(of_paper) || self.experiments.is_empty() {
            return "The paper's claims, and what we found".into();
        }
        let titles: Vec<&str> = self.experiments.iter().map(|e| e.title.as_str()).collect();
        titles.join(" · ")
    }

    /// What they are made of: runs and seeds, or layouts.
    #[must_use]
    pub fn made_of(&self) -> String {
        if !self.sources.is_empty() {
            return self.sources.clone();
        }
        let mut parts = Vec::new();
        match self.runs.len() {
            0 if self.seeds.is_empty() => {}
            1 => parts.push("1 run".to_owned()),
            runs => parts.push(format!("{runs} runs")),
        }
        if !self.seeds.is_empty() {
            parts.push(seed_words(&self.seeds));
        }
        let layouts = self.experiments.iter().filter_map(|e| e.layouts).max();
        parts.extend(layouts.map(|layouts| format!("{layouts} layouts of devices")));
        parts.push(match self.scale {
            Scale::Quick => "scale quick".into(),
            Scale::Paper => "scale paper".into(),
        });
        parts.join(", ")
    }

    /// The experiments about which nobody claims anything, so that their numbers have to speak for themselves.
    pub fn without_claims(&self) -> impl Iterator<Item = (&Experiment, &Overview)> {
        let claimed = |e: &&Experiment| !self.claims.iter().any(|c| c.experiment == e.name);
        let told = self.experiments.iter().filter(claimed);
        told.filter_map(|e| Some((e, e.summary.as_ref()?)))
    }
}
