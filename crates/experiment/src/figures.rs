//! Panels of a figure from the finished runs of a sweep.

use std::collections::BTreeMap;

use super::curve::{Along, mean_accuracy, run_ends};
use super::description::{Choice, PanelPlan, PanelX};
use super::experiment_sweep::{Case, ExperimentSweep, Finished};
use super::markdown::exact_percent;
use super::quantity::About;
use super::results::{Axis, Panel, PanelKind, Point, Series, Tick};
use super::statistics::Estimate;
use super::stored::StoredRun;
use super::styles::Styles;

/// The panels of a sweep.
#[must_use]
pub fn panels(sweep: &ExperimentSweep, finished: &Finished) -> Vec<Panel> {
    let mut styles = Styles::default();
    let mut panels = Vec::new();
    for plan in &sweep.description.panels {
        for held in held_points(sweep, plan) {
            let cases: Vec<&Case> = sweep
                .cases
                .iter()
                .filter(|c| sweep.is_of(c, &held))
                .collect();
            if !cases.is_empty() {
                panels.push(panel(sweep, plan, &held, &cases, finished, &mut styles));
            }
        }
    }
    for (index, panel) in panels.iter_mut().enumerate() {
        panel.id = letters(index);
    }
    panels
}

/// a, b, ..., z, aa, ab, ...
fn letters(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8).to_string();
    match index / 26 {
        0 => letter,
        more => letters(more - 1) + &letter,
    }
}

/// For each panel of a plan, the points at which its axes are held.
fn held_points(sweep: &ExperimentSweep, plan: &PanelPlan) -> Vec<Choice> {
    let mut all = vec![plan.held.clone()];
    for axis in plan
        .each
        .iter()
        .filter_map(|name| sweep.description.axis(name))
    {
        let with_point = |held: &Choice| {
            let held = held.clone();
            axis.points.iter().map(move |point| {
                let mut held = held.clone();
                held.insert(axis.name.clone(), point.label.clone());
                held
            })
        };
        all = all.iter().flat_map(with_point).collect();
    }
    all
}

fn panel(
    sweep: &ExperimentSweep,
    plan: &PanelPlan,
    held: &Choice,
    cases: &[&Case],
    finished: &Finished,
    styles: &mut Styles,
) -> Panel {
    let mut title = plan.title.clone();
    for (axis, label) in held {
        title = title.replace(&format!("{{{axis}}}"), label);
    }
    // What tells series apart: the contender, and every axis that nothing else has taken.
    let along_bottom = |name: &str| matches!(&plan.x, PanelX::Axis(x) if x == name);
    let free: Vec<&str> = sweep
        .description
        .axes
        .iter()
        .filter(|axis| !held.contains_key(&axis.name) && !along_bottom(&axis.name))
        .filter(|axis| axis.points.len() > 1)
        .map(|axis| axis.name.as_str())
        .collect();
    let mut groups: BTreeMap<(usize, Vec<usize>), Vec<&Case>> = BTreeMap::new();
    for case in cases {
        let places = free.iter().map(|name| place(sweep, case, name)).collect();
        groups
            .entry((case.contender, places))
            .or_default()
            .push(case);
    }
    let name_methods = sweep.contenders.len() > 1 || free.is_empty();
    let series = groups.into_values().map(|cases| {
        let first = cases[0];
        let contender = &sweep.contenders[first.contender];
        let labels = free.iter().filter_map(|name| sweep.label(first, name));
        let mut words: Vec<&str> = labels.collect();
        if name_methods {
            words.insert(0, &contender.label);
        }
        let label = words.join(", ");
        Series {
            method: contender.method.clone(),
            style: styles.of(&contender.method, &label),
            label,
            points: points(sweep, plan, &cases, finished),
            ends: match plan.x {
                PanelX::Along(along) => run_ends(&runs_of(&cases, finished), along),
                _ => Vec::new(),
            },
            runs: cases
                .iter()
                .filter(|case| finished.contains_key(&case.run.id))
                .map(|case| case.run.id.clone())
                .collect(),
        }
    });
    Panel {
        id: String::new(),
        title,
        kind: plan.kind,
        series: series.collect(),
        x: x_axis(sweep, plan),
        y: y_axis(plan, cases),
    }
}

/// A case's place on an axis.
fn place(sweep: &ExperimentSweep, case: &Case, axis: &str) -> usize {
    let label = sweep.label(case, axis);
    let points = sweep.description.axis(axis).map(|axis| axis.points.iter());
    points
        .and_then(|mut points| points.position(|point| Some(point.label.as_str()) == label))
        .unwrap_or(0)
}

/// The points' own numbers where a line can use them, 0, 1, 2, ... for categories.
fn places_on(sweep: &ExperimentSweep, plan: &PanelPlan, axis: &str) -> Vec<Tick> {
    let Some(axis) = sweep.description.axis(axis) else {
        return Vec::new();
    };
    let numbers: Option<Vec<f64>> = axis.points.iter().map(|point| point.x).collect();
    let numbers = numbers.filter(|_| plan.kind != PanelKind::Bars);
    let at = |index: usize| {
        numbers
            .as_ref()
            .map_or(index as f64, |numbers| numbers[index])
    };
    let labels = axis.points.iter().enumerate();
    labels
        .map(|(index, point)| Tick {
            at: at(index),
            label: point.label.clone(),
        })
        .collect()
}

fn runs_of<'a>(cases: &[&Case], finished: &'a Finished) -> Vec<&'a StoredRun> {
    let runs = cases.iter();
    runs.filter_map(|case| finished.get(&case.run.id)).collect()
}

fn points(
    sweep: &ExperimentSweep,
    plan: &PanelPlan,
    cases: &[&Case],
    finished: &Finished,
) -> Vec<Point> {
    let value_at = |x: f64, target: Option<f64>, cases: &[&Case]| {
        let runs = cases
            .iter()
            .filter_map(|case| Some((case, finished.get(&case.run.id)?)));
        let values: Vec<Option<f64>> = runs
            .map(|(case, run)| plan.y.of_run(run, target.or(case.target).or(plan.target)))
            .collect();
        let known: Vec<f64> = values.iter().copied().flatten().collect();
        Point {
            x,
            y: Estimate::within(&known, plan.y.domain()),
            of: values.len(),
        }
    };
    match &plan.x {
        PanelX::Along(along) => mean_accuracy(&runs_of(cases, finished), *along),
        PanelX::Target => {
            let targets = plan.targets.iter().enumerate();
            let at = |(index, &target): (usize, &f64)| match plan.kind {
                PanelKind::Bars => value_at(index as f64, Some(target), cases),
                PanelKind::Lines | PanelKind::Dots => value_at(target, Some(target), cases),
            };
            targets.map(at).collect()
        }
        PanelX::Axis(axis) => {
            let ticks = places_on(sweep, plan, axis).into_iter();
            let at = |tick: Tick| {
                let here = |case: &&&Case| sweep.label(case, axis) == Some(tick.label.as_str());
                let cases: Vec<&Case> = cases.iter().filter(here).copied().collect();
                value_at(tick.at, None, &cases)
            };
            ticks.map(at).collect()
        }
    }
}

fn x_axis(sweep: &ExperimentSweep, plan: &PanelPlan) -> Axis {
    let plain = |label: &str, unit: &str| Axis {
        label: label.into(),
        unit: unit.into(),
        ticks: Vec::new(),
    };
    match &plan.x {
        PanelX::Along(Along::Round) => plain("global round", "rounds"),
        PanelX::Along(Along::TimeS) => plain("simulated time", "s"),
        PanelX::Along(Along::EnergyJ) => plain("energy", "J"),
        PanelX::Target => Axis {
            ticks: (0..)
                .zip(&plan.targets)
                .map(|(index, &target)| Tick {
                    at: match plan.kind {
                        PanelKind::Bars => f64::from(index),
                        PanelKind::Lines | PanelKind::Dots => target,
                    },
                    label: target.to_string(),
                })
                .collect(),
            ..plain("test accuracy", "")
        },
        PanelX::Axis(name) => {
            let axis = sweep.description.axis(name);
            let label = axis.map_or(name.as_str(), |axis| match axis.label.as_str() {
                "" => axis.name.as_str(),
                label => label,
            });
            Axis {
                ticks: places_on(sweep, plan, name),
                ..plain(label, axis.map_or("", |axis| axis.unit.as_str()))
            }
        }
    }
}

/// Names the accuracy when there is only one.
fn y_axis(plan: &PanelPlan, cases: &[&Case]) -> Axis {
    let mut label = plan.y.label().to_owned();
    if plan.y.about() == About::Target && plan.x != PanelX::Target {
        let mut targets: Vec<f64> = cases
            .iter()
            .filter_map(|c| c.target.or(plan.target))
            .collect();
        targets.dedup();
        label += &match targets.as_slice() {
            [target] => format!(" to {}", exact_percent(*target)),
            _ => " to the target".into(),
        };
    }
    Axis {
        label,
        unit: plan.y.unit().into(),
        ticks: Vec::new(),
    }
}
