//! Curves of runs.

use aerofed::RoundRecord;
use aerofed::run_folder::RunLog;
use aerofed::world::Status;
use aerofed_experiment::curve::{Along, mean_accuracy, run_ends};
use aerofed_experiment::results::{Axis, Panel, PanelKind, Point, Series};
use aerofed_experiment::statistics::Estimate;
use aerofed_experiment::stored::{Stand, StoredRun};

use super::data::{AxisWords, Chart, NamedTick, SeriesLook, Spot, View, short};
use super::groups::RunGroup;
use crate::palette::{self, Look, look, look_among};
use crate::panel::{axis_label, least_step, symbol, units};
use crate::progress::thinned;
use crate::units::Unit;

/// More points than this cannot be told apart.
const MOST_POINTS: usize = 400;
/// More UAVs than this cannot be told apart either.
const MOST_UAVS: usize = 24;

fn series_look(label: &str, look: Look) -> SeriesLook {
    SeriesLook {
        label: label.into(),
        colour: palette::name(look.colour),
        dash: look.dash,
        opacity: look.opacity,
    }
}

/// A value with its interval, in a unit of display.
fn spot(x: f64, y: Option<&Estimate>, of: usize, size: f64) -> Spot {
    let shown = |value: f64| Some(short(value / size)).filter(|value| value.is_finite());
    let ends = y.and_then(Estimate::ends);
    Spot(
        short(x),
        y.and_then(|y| shown(y.mean)),
        ends.and_then(|(low, _)| shown(low)),
        ends.and_then(|(_, high)| shown(high)),
        y.map_or(0, |y| y.n),
        of,
    )
}

fn axis(name: &str, unit: &str) -> AxisWords {
    AxisWords {
        name: name.into(),
        label: match unit {
            "" => name.into(),
            unit => format!("{name} ({unit})"),
        },
        unit: unit.into(),
        whole: name == "devices",
        ticks: Vec::new(),
    }
}

/// Test accuracy over rounds, time and energy: every round of a single run, the mean of several.
pub(super) fn accuracy(groups: &[RunGroup]) -> Vec<Panel> {
    let runs: Vec<Vec<StoredRun>> = groups
        .iter()
        .map(|group| group.runs.iter().map(StoredRun::of).collect())
        .collect();
    let title = match groups.iter().map(|group| group.runs.len()).max() {
        Some(2..) => "Test accuracy: mean over seeds, 95 % interval",
        _ => "Test accuracy",
    };
    let panel = |id: &str, (label, unit): (&str, &str), along| Panel {
        id: id.into(),
        title: title.into(),
        kind: PanelKind::Lines,
        x: panel_axis(label, unit),
        y: panel_axis("test accuracy", ""),
        series: groups
            .iter()
            .zip(&runs)
            .map(|(group, runs)| Series {
                label: group.label.clone(),
                method: String::new(),
                style: group.style,
                points: accuracy_points(runs, along),
                ends: match runs.len() {
                    1 => Vec::new(),
                    _ => run_ends(&runs.iter().collect::<Vec<_>>(), along),
                },
                runs: Vec::new(),
            })
            .collect(),
    };
    vec![
        panel("rounds", ("global rounds", "rounds"), Along::Round),
        panel("time", ("simulated time", "s"), Along::TimeS),
        panel("energy", ("energy", "J"), Along::EnergyJ),
    ]
}

fn panel_axis(label: &str, unit: &str) -> Axis {
    Axis {
        label: label.into(),
        unit: unit.into(),
        ticks: Vec::new(),
    }
}

fn accuracy_points(runs: &[StoredRun], along: Along) -> Vec<Point> {
    let points: Vec<Point> = match runs {
        [run] => run.curve.iter().map(|stand| exact(stand, along)).collect(),
        runs => mean_accuracy(&runs.iter().collect::<Vec<_>>(), along),
    };
    let kept = thinned(points.len(), MOST_POINTS);
    kept.map(|index| points[index].clone()).collect()
}

fn exact(stand: &Stand, along: Along) -> Point {
    Point {
        x: match along {
            Along::Round => stand.round as f64,
            Along::TimeS => stand.clock_s,
            Along::EnergyJ => stand.energy_j,
        },
        y: Estimate::of(&[stand.accuracy]),
        of: 1,
    }
}

/// Panels with the same series as one chart: a view for each.
pub(super) fn of_panels(title: &str, panels: &[(&str, &Panel)]) -> Chart {
    let first = panels.first().map(|(_, panel)| *panel);
    Chart {
        title: title.into(),
        kind: match first.map(|panel| panel.kind) {
            Some(PanelKind::Bars) => "bars",
            Some(PanelKind::Dots) => "dots",
            _ => "lines",
        },
        series: first.map_or(Vec::new(), |panel| {
            let looks = panel.series.iter();
            looks
                .map(|series| {
                    series_look(&series.label, look_among(series.style, panel.series.len()))
                })
                .collect()
        }),
        views: panels
            .iter()
            .map(|(name, panel)| view(name, panel))
            .collect(),
    }
}

fn view(name: &str, panel: &Panel) -> View {
    let (x_unit, y_unit) = units(panel);
    let spots = |series: &Series| -> Vec<Spot> {
        let points = series.points.iter();
        points
            .map(|p| spot(p.x / x_unit.size, p.y.as_ref(), p.of, y_unit.size))
            .collect()
    };
    let ends = |series: &Series| -> Vec<f64> {
        let ends = [series.ends.first(), series.ends.last()]
            .into_iter()
            .flatten();
        ends.map(|end| short(end / x_unit.size)).collect()
    };
    View {
        name: name.into(),
        x: words(&panel.x, &x_unit),
        y: words(&panel.y, &y_unit),
        points: panel.series.iter().map(spots).collect(),
        ends: panel.series.iter().map(ends).collect(),
    }
}

fn words(axis: &Axis, unit: &Unit) -> AxisWords {
    AxisWords {
        name: match axis.unit.as_str() {
            "rounds" => "round".into(),
            _ => axis.label.clone(),
        },
        label: axis_label(axis, unit),
        whole: least_step(axis) == 1.0,
        unit: symbol(axis, unit).into(),
        ticks: axis
            .ticks
            .iter()
            .map(|tick| NamedTick {
                at: short(tick.at / unit.size),
                label: tick.label.clone(),
            })
            .collect(),
    }
}

/// What else a single run has to show: losses, devices, batteries.
pub(super) fn of_run(log: &RunLog) -> Vec<Chart> {
    let mut charts = vec![losses(log), devices(log)];
    let uavs = log.records.first().map_or(0, |record| record.uavs.len());
    if (1..=MOST_UAVS).contains(&uavs) {
        charts.push(batteries(log, uavs));
    }
    charts
}

/// A named curve over rounds.
type Named<'a> = (String, Look, Box<dyn Fn(&RoundRecord) -> f64 + 'a>);

fn over_rounds(log: &RunLog, title: &str, y: AxisWords, curves: Vec<Named>) -> Chart {
    let records = &log.records;
    let points = |(_, _, value): &Named| -> Vec<Spot> {
        let kept = thinned(records.len(), MOST_POINTS).map(|index| &records[index]);
        kept.map(|record| {
            let value = Estimate::of(&[value(record)]);
            spot(record.round as f64, value.as_ref(), 1, 1.0)
        })
        .collect()
    };
    let rounds = panel_axis("global rounds", "rounds");
    let plain = Unit {
        symbol: "",
        size: 1.0,
    };
    Chart {
        title: title.into(),
        kind: "lines",
        series: curves
            .iter()
            .map(|(label, look, _)| series_look(label, *look))
            .collect(),
        views: vec![View {
            name: String::new(),
            x: words(&rounds, &plain),
            y,
            points: curves.iter().map(points).collect(),
            ends: Vec::new(),
        }],
    }
}

fn losses(log: &RunLog) -> Chart {
    let curves: Vec<Named> = vec![
        ("test".into(), look(0), Box::new(|r| r.test_loss)),
        (
            "validation".into(),
            look(2),
            Box::new(|r| r.validation_loss),
        ),
        ("local steps".into(), look(3), Box::new(|r| r.train_loss)),
    ];
    over_rounds(log, "Loss", axis("cross-entropy", ""), curves)
}

fn devices(log: &RunLog) -> Chart {
    let curves: Vec<Named> = vec![
        ("covered".into(), look(5), Box::new(|r| r.covered as f64)),
        // Dashed, because often all that are covered train.
        ("trained".into(), look(8), Box::new(|r| r.selected as f64)),
    ];
    over_rounds(log, "Devices in a round", axis("devices", ""), curves)
}

fn batteries(log: &RunLog, uavs: usize) -> Chart {
    let battery = |uav: usize| -> Named {
        let colour = palette::uav_colour(uav);
        let full_j = log.scenario.full_battery_j(uav);
        let share = move |record: &RoundRecord| {
            let there = record.uavs.get(uav);
            let there = there.filter(|uav| uav.status != Status::Lost);
            there.map_or(f64::NAN, |uav| 100.0 * uav.battery_after_j / full_j)
        };
        let look = Look {
            colour,
            ..look(8 * (uav / 7))
        };
        (format!("UAV {uav}"), look, Box::new(share))
    };
    let curves = (0..uavs).map(battery).collect();
    over_rounds(
        log,
        "Batteries at the end of a round",
        axis("charge", "%"),
        curves,
    )
}
