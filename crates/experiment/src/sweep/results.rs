//! What a sweep came to: the front and the weight of each axis, as tables and figures.

use std::collections::BTreeMap;

use super::{AxisValues, Costs, SweepCase, SweepPlan, SweepTable, front};
use super::{rank_correlation, variance_share};
use crate::markdown::seed_words;
use crate::results::{
    Axis, Cell, Experiment, Figure, Overview, OverviewColumn, OverviewRow, Panel, PanelKind, Point,
    Results, Row, SCHEMA, Scale, Series, Table, Tick,
};
use crate::statistics::{AMOUNT, Estimate, SHARE};
use crate::styles::Styles;
use crate::tidy::plain;

/// Dots of a panel at most, besides those of the front: more cannot be told apart.
const MOST_DOTS: usize = 1_000;

/// The shade of what is not on the front.
const FAINT: usize = 3;

/// What is weighed against each other: the column of the table, what it is called, its unit.
const OUTCOMES: [(&str, &str, &str); 3] = [
    ("run_time_s", "simulated time", "s"),
    ("run_energy_j", "energy", "J"),
    ("final_accuracy", "final test accuracy", ""),
];

/// The runs of a contender at a point.
struct Group {
    label: String,
    method: String,
    values: Vec<String>,
    runs: usize,
    /// Time, energy and accuracy over its seeds.
    outcomes: [Option<Estimate>; 3],
}

impl Group {
    fn costs(&self) -> Costs {
        let [time_s, energy_j, accuracy] =
            [0, 1, 2].map(|place| self.outcomes[place].map_or(f64::NAN, |value| value.mean));
        Costs {
            time_s,
            energy_j,
            accuracy,
        }
    }
}

/// Sums a sweep up. `table` has a row for each of `cases`.
#[must_use]
pub fn results(plan: &SweepPlan, cases: &[SweepCase], table: &SweepTable) -> Results {
    let outcomes = OUTCOMES.map(|(column, ..)| table.numbers(column));
    let groups = groups(plan, cases, &outcomes);
    let costs: Vec<Costs> = groups.iter().map(Group::costs).collect();
    let best = front(&costs);
    let front: Vec<&Group> = best.iter().map(|&place| &groups[place]).collect();
    let (sensitivity, bars) = sensitivity(plan, cases, &outcomes);
    let name = &plan.base.name;
    let points = match groups.len() {
        1 => "1 configuration".into(),
        groups => format!("{groups} configurations"),
    };
    let runs = match cases.len() {
        1 => "1 run".into(),
        runs => format!("{runs} runs"),
    };
    let seeds = seed_words(&plan.seeds);
    Results {
        schema: SCHEMA,
        version: aerofed::VERSION.into(),
        scale: Scale::Paper,
        seeds: plan.seeds.clone(),
        sources: format!("{runs} of {points}, {seeds}"),
        experiments: vec![Experiment {
            name: "front".into(),
            title: format!(
                "{name}: what no other configuration beats in time, energy and accuracy at once"
            ),
            caption: format!(
                "The Pareto front: {} of {points}. Time and energy are those of whole runs, accuracy is that after the last round, means over the seeds.",
                front.len()
            ),
            layouts: None,
            summary: Some(overview(plan, &front)),
        }],
        figures: vec![
            Figure {
                id: "pareto".into(),
                title: "time, energy and accuracy of every configuration".into(),
                caption: caption(groups.len() - front.len()),
                panels: dots(&groups, &best),
                maps: Vec::new(),
            },
            Figure {
                id: "axes".into(),
                title: "what they depend on".into(),
                caption: "The table below says how the shares are computed.".into(),
                panels: vec![bars],
                maps: Vec::new(),
            },
        ],
        tables: vec![sensitivity],
        claims: Vec::new(),
        runs: Vec::new(),
        runs_missing: 0,
        skipped: Vec::new(),
    }
}

/// How the weight of an axis is computed.
const HOW: &str = "Of an axis with listed values, of the method and of the seed: the share of the variance over all runs that lies between \
    the means at its values (main effect). Of an axis with random values: Spearman's rank correlation in the table, its square in the figure. \
    What is missing to the whole are interactions and, between runs that differ in their seed alone, chance.";

fn caption(others: usize) -> String {
    let all = "A dot is a method at one combination of values, mean over the seeds; dark: the front, which nothing beats in all three.";
    match others > MOST_DOTS {
        true => format!("{all} Of the others {MOST_DOTS} are drawn, every so many."),
        false => all.into(),
    }
}

/// Runs that differ in their seed alone, in the order of the cases.
fn groups(plan: &SweepPlan, cases: &[SweepCase], outcomes: &[Vec<f64>; 3]) -> Vec<Group> {
    let mut places: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (place, case) in cases.iter().enumerate() {
        let group = (case.point, case.contender);
        places.entry(group).or_default().push(place);
    }
    let group = |((point, contender), places): ((usize, usize), Vec<usize>)| {
        let contender = &plan.contenders[contender];
        let over = |outcome: usize| {
            let values: Vec<f64> = places.iter().map(|&p| outcomes[outcome][p]).collect();
            Estimate::within(&values, if outcome == 2 { SHARE } else { AMOUNT })
        };
        Group {
            label: contender.label.clone(),
            method: contender.method.clone(),
            values: plan
                .values(point)
                .iter()
                .map(|value| plain(value))
                .collect(),
            runs: places.len(),
            outcomes: [over(0), over(1), over(2)],
        }
    };
    places.into_iter().map(group).collect()
}

fn overview(plan: &SweepPlan, front: &[&Group]) -> Overview {
    let column = |(_, label, unit): (&str, &str, &str)| OverviewColumn {
        label: label.into(),
        unit: unit.into(),
    };
    let row = |group: &&Group| OverviewRow {
        method: group.label.clone(),
        labels: group.values.clone(),
        runs: group.runs,
        cells: group.outcomes.to_vec(),
    };
    Overview {
        axes: plan.axes.iter().map(|axis| axis.path.clone()).collect(),
        columns: OUTCOMES.map(column).to_vec(),
        rows: front.iter().map(row).collect(),
    }
}

/// Every two of the three against each other.
fn dots(groups: &[Group], best: &[usize]) -> Vec<Panel> {
    let others: Vec<usize> = (0..groups.len()).filter(|g| !best.contains(g)).collect();
    let step = others.len().div_ceil(MOST_DOTS).max(1);
    let others: Vec<usize> = others.into_iter().step_by(step).collect();
    let panel = |(id, x, y, title): (&str, usize, usize, &str)| {
        let mut styles = Styles::default();
        let spots = |places: &[usize], label: &str| -> Vec<Point> {
            let mine = places.iter().map(|&place| &groups[place]);
            let mut points: Vec<Point> = mine
                .filter(|group| group.label == label)
                .filter_map(|group| {
                    Some(Point {
                        x: group.outcomes[x]?.mean,
                        // Whiskers of hundreds of dots would hide the dots.
                        y: Estimate::of(&[group.outcomes[y]?.mean]),
                        of: 1,
                    })
                })
                .filter(|point| point.x.is_finite())
                .collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            points
        };
        let mut labels: Vec<(&str, &str)> = Vec::new();
        for group in groups {
            let names = (group.label.as_str(), group.method.as_str());
            if !labels.contains(&names) {
                labels.push(names);
            }
        }
        let mut series = Vec::new();
        for (places, on_front) in [(&others[..], false), (best, true)] {
            for &(label, method) in &labels {
                // The method's own colour is the front's, a shade of it the others'.
                let style = styles.of(method, label);
                series.push(Series {
                    label: match on_front {
                        true => format!("{label}, front"),
                        false => label.into(),
                    },
                    method: method.into(),
                    style: match on_front {
                        true => style,
                        false => style % Styles::METHODS + FAINT * Styles::METHODS,
                    },
                    points: spots(places, label),
                    ends: Vec::new(),
                    runs: Vec::new(),
                });
            }
        }
        series.retain(|series| !series.points.is_empty());
        Panel {
            id: id.into(),
            title: title.into(),
            kind: PanelKind::Dots,
            x: axis(x),
            y: axis(y),
            series,
        }
    };
    [
        ("a", 0, 2, "Accuracy over time"),
        ("b", 1, 2, "Accuracy over energy"),
        ("c", 0, 1, "Energy over time"),
    ]
    .into_iter()
    .map(panel)
    .collect()
}

fn axis(outcome: usize) -> Axis {
    let (_, label, unit) = OUTCOMES[outcome];
    Axis {
        label: label.into(),
        unit: unit.into(),
        ticks: Vec::new(),
    }
}

/// A row for each axis, for the method and for the seed; and the same as bars.
fn sensitivity(plan: &SweepPlan, cases: &[SweepCase], outcomes: &[Vec<f64>; 3]) -> (Table, Panel) {
    // Name, how it is measured, and the weight on each outcome.
    let mut weights: Vec<(String, bool, [Option<f64>; 3])> = Vec::new();
    let values: Vec<Vec<String>> = cases.iter().map(|case| plan.values(case.point)).collect();
    for (place, axis) in plan.axes.iter().enumerate() {
        let mine = values.iter().map(|values| &values[place]);
        let (ranked, weight) = match &axis.values {
            AxisValues::Listed(listed) => {
                let group = |value: &String| listed.iter().position(|known| known == value);
                let groups: Vec<usize> = mine.map(|value| group(value).unwrap_or(0)).collect();
                (
                    false,
                    outcomes.each_ref().map(|v| variance_share(&groups, v)),
                )
            }
            AxisValues::Drawn { .. } => {
                let number = |value: &String| value.parse().unwrap_or(f64::NAN);
                let numbers: Vec<f64> = mine.map(number).collect();
                (
                    true,
                    outcomes.each_ref().map(|v| rank_correlation(&numbers, v)),
                )
            }
        };
        weights.push((axis.path.clone(), ranked, weight));
    }
    let shares = |groups: Vec<usize>| outcomes.each_ref().map(|v| variance_share(&groups, v));
    if plan.contenders.len() > 1 {
        let methods = cases.iter().map(|case| case.contender).collect();
        weights.push(("method".into(), false, shares(methods)));
    }
    if plan.seeds.len() > 1 {
        let first = plan.seeds[0];
        let seeds = cases
            .iter()
            .map(|case| (case.run.scenario.seed - first) as usize);
        weights.push(("seed".into(), false, shares(seeds.collect())));
    }
    let row = |(name, ranked, weight): &(String, bool, [Option<f64>; 3])| Row {
        label: match ranked {
            true => format!("{name} (rank correlation)"),
            false => format!("{name} (share of variance)"),
        },
        cells: weight
            .iter()
            .map(|weight| Cell {
                ours: weight.and_then(|weight| Estimate::of(&[weight])),
                paper: None,
            })
            .collect(),
    };
    let table = Table {
        id: "sensitivity".into(),
        title: "how much time, energy and accuracy depend on each axis".into(),
        caption: HOW.into(),
        unit: "1: wholly, 0: not at all".into(),
        columns: ["time", "energy", "accuracy"].map(Into::into).to_vec(),
        rows: weights.iter().map(row).collect(),
    };
    let series = |place: usize| Series {
        label: table.columns[place].clone(),
        method: String::new(),
        style: place,
        points: weights
            .iter()
            .enumerate()
            .map(|(at, (_, ranked, weight))| {
                let share = |weight: f64| if *ranked { weight * weight } else { weight };
                let weight = weight[place].map(share);
                Point {
                    x: at as f64,
                    y: weight.and_then(|weight| Estimate::of(&[weight])),
                    of: usize::from(weight.is_some()),
                }
            })
            .collect(),
        ends: Vec::new(),
        runs: Vec::new(),
    };
    let tick = |(at, (name, ..)): (usize, &(String, bool, [Option<f64>; 3]))| Tick {
        at: at as f64,
        label: name.clone(),
    };
    let bars = Panel {
        id: "a".into(),
        title: "Share of the variance that an axis explains".into(),
        kind: PanelKind::Bars,
        x: Axis {
            label: "what is varied".into(),
            unit: String::new(),
            ticks: weights.iter().enumerate().map(tick).collect(),
        },
        y: Axis {
            label: "share of the variance".into(),
            unit: String::new(),
            ticks: Vec::new(),
        },
        series: [0, 1, 2].map(series).to_vec(),
    };
    (table, bars)
}

#[cfg(test)]
mod tests {
    use aerofed::Scenario;
    use aerofed::method::Registry;

    use super::super::SweepAxis;
    use super::*;
    use crate::plan::Contender;
    use crate::stored::tests::run;
    use crate::tidy::run_cells;

    /// Two values and three samples under two seeds. The time is that of the value, the energy falls with the sample, accuracy is chance.
    fn made_up() -> (SweepPlan, Vec<SweepCase>, SweepTable) {
        let registry = Registry::builtin();
        let base = Scenario::default();
        let contenders = Contender::parse_list(&registry, "hfl").unwrap();
        let axes = vec![
            SweepAxis::listed("uavs.count=3,5").unwrap(),
            SweepAxis::drawn("uavs.speed_mps=10..30", &base).unwrap(),
        ];
        let plan = SweepPlan::new(base, contenders, 1..=2, axes, 3, 0.9).unwrap();
        let cases = plan.cases(&registry, None).unwrap();
        let row = |case: &SweepCase| {
            let values = plan.values(case.point);
            let (count, speed): (f64, f64) =
                (values[0].parse().unwrap(), values[1].parse().unwrap());
            let accuracy = 0.1 * case.run.scenario.seed as f64;
            let rounds = [(count, 1e4 / speed, accuracy)];
            run_cells(&run(case.run.scenario.seed, &rounds), 0.9, "")
        };
        let rows: Vec<Vec<String>> = cases.iter().map(row).collect();
        let table = SweepTable::new(&plan, &cases, &rows);
        (plan, cases, table)
    }

    #[test]
    fn what_depends_on_what_is_found() {
        let (plan, cases, table) = made_up();
        let found = results(&plan, &cases, &table);
        let weights: Vec<(&str, Vec<f64>)> = found.tables[0]
            .rows
            .iter()
            .map(|row| {
                let value = |cell: &Cell| cell.ours.unwrap().mean;
                (row.label.as_str(), row.cells.iter().map(value).collect())
            })
            .collect();
        let near = |found: &[f64], wanted: [f64; 3]| {
            found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9)
        };
        assert_eq!(weights[0].0, "uavs.count (share of variance)");
        assert!(near(&weights[0].1, [1.0, 0.0, 0.0]), "{weights:?}");
        assert_eq!(weights[1].0, "uavs.speed_mps (rank correlation)");
        assert!(near(&weights[1].1, [0.0, -1.0, 0.0]), "{weights:?}");
        assert_eq!(weights[2].0, "seed (share of variance)");
        assert!(near(&weights[2].1, [0.0, 0.0, 1.0]), "{weights:?}");
        let bars = &found.figures[1].panels[0];
        assert_eq!(bars.x.ticks.len(), 3);
        assert!((bars.series[1].points[1].y.unwrap().mean - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_front_is_of_means_over_seeds() {
        let (plan, cases, table) = made_up();
        let found = results(&plan, &cases, &table);
        assert_eq!(found.made_of(), "12 runs of 6 configurations, seeds 1 to 2");
        let front = found.experiments[0].summary.as_ref().unwrap();
        // Fewer UAVs take less time, the fastest the least energy, and accuracy is the same everywhere.
        assert_eq!(front.rows.len(), 1);
        let speeds = (0..3).map(|point| plan.values(point)[1].parse::<f64>().unwrap());
        let fastest = speeds.fold(0.0, f64::max);
        assert_eq!(front.rows[0].labels, ["3", &fastest.to_string()]);
        assert_eq!(front.rows[0].runs, 2);
        let panel = &found.figures[0].panels[0];
        let dots = panel.series.iter().map(|series| series.points.len());
        assert_eq!(dots.collect::<Vec<_>>(), [5, 1]);
        assert_eq!(table.csv().lines().count(), 13);
    }
}
