//! Curves of runs.

use aerofed::RoundRecord;
use aerofed::experiment::curve::{Along, mean_accuracy};
use aerofed::experiment::results::Point;
use aerofed::experiment::statistics::Estimate;
use aerofed::experiment::stored::StoredRun;
use aerofed::run_folder::RunLog;

use super::data::{AxisWords, Chart, SeriesLook, Spot, View, short};
use super::groups::RunGroup;
use crate::palette::{self, Look, look};
use crate::progress::thinned;
use crate::units::{Unit, energy_unit, time_unit};

/// More points than this cannot be told apart.
const MOST_POINTS: usize = 400;
/// More UAVs than this cannot be told apart either.
const MOST_UAVS: usize = 24;

pub(super) fn series_look(label: &str, Look { colour, dash }: Look) -> SeriesLook {
    SeriesLook {
        label: label.into(),
        colour: palette::name(colour),
        dash,
    }
}

/// A value with its interval, in a unit of display.
pub(super) fn spot(x: f64, y: Option<&Estimate>, of: usize, size: f64) -> Spot {
    let shown = |value: f64| Some(short(value / size)).filter(|value| value.is_finite());
    Spot(
        short(x),
        y.and_then(|y| shown(y.mean)),
        y.and_then(|y| y.low).and_then(shown),
        y.and_then(|y| y.high).and_then(shown),
        y.map_or(0, |y| y.n),
        of,
    )
}

fn single(x: f64, value: f64) -> Spot {
    let estimate = Estimate {
        mean: value,
        low: None,
        high: None,
        n: 1,
    };
    spot(x, Some(&estimate), 1, 1.0)
}

pub(super) fn axis(name: &str, unit: &str) -> AxisWords {
    AxisWords {
        name: name.into(),
        label: match unit {
            "" => name.into(),
            unit => format!("{name} ({unit})"),
        },
        unit: unit.into(),
        ticks: Vec::new(),
    }
}

/// Test accuracy over rounds, time and energy: every round of a single run, the mean of several.
pub(super) fn accuracy(groups: &[RunGroup]) -> Chart {
    let runs: Vec<Vec<StoredRun>> = groups
        .iter()
        .map(|group| group.runs.iter().map(StoredRun::of).collect())
        .collect();
    let largest = |of: fn(&RunLog) -> f64| {
        let all = groups.iter().flat_map(|group| group.runs.iter().map(of));
        all.fold(0.0, f64::max)
    };
    let plain = Unit {
        symbol: "",
        size: 1.0,
    };
    let time = time_unit(largest(|run| run.summary.total_time_s));
    let energy = energy_unit(largest(|run| run.summary.total_energy_j));
    let view = |name: &str, x: AxisWords, along, unit: Unit| View {
        name: name.into(),
        x,
        y: axis("test accuracy", "%"),
        points: runs
            .iter()
            .map(|runs| accuracy_points(runs, along, unit.size))
            .collect(),
    };
    let rounds = AxisWords {
        label: "global rounds".into(),
        ..axis("round", "")
    };
    let title = match groups.iter().map(|group| group.runs.len()).max() {
        Some(2..) => "Test accuracy: mean over seeds, 95 % interval",
        _ => "Test accuracy",
    };
    Chart {
        title: title.into(),
        kind: "lines",
        series: groups
            .iter()
            .map(|group| series_look(&group.label, look(group.style)))
            .collect(),
        views: vec![
            view("over rounds", rounds, Along::Round, plain),
            view(
                "over time",
                axis("simulated time", time.symbol),
                Along::TimeS,
                time,
            ),
            view(
                "over energy",
                axis("energy", energy.symbol),
                Along::EnergyJ,
                energy,
            ),
        ],
    }
}

fn accuracy_points(runs: &[StoredRun], along: Along, size: f64) -> Vec<Spot> {
    if let [run] = runs {
        let stands = thinned(run.curve.len(), MOST_POINTS).map(|index| &run.curve[index]);
        let at = |stand: &aerofed::experiment::stored::Stand| match along {
            Along::Round => stand.round as f64,
            Along::TimeS => stand.clock_s,
            Along::EnergyJ => stand.energy_j,
        };
        return stands
            .map(|stand| single(at(stand) / size, 100.0 * stand.accuracy))
            .collect();
    }
    let points: Vec<Point> = mean_accuracy(&runs.iter().collect::<Vec<_>>(), along);
    let kept = thinned(points.len(), MOST_POINTS).map(|index| &points[index]);
    kept.map(|p| spot(p.x / size, p.y.as_ref(), p.of, 0.01))
        .collect()
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
        kept.map(|record| single(record.round as f64, value(record)))
            .collect()
    };
    let rounds = AxisWords {
        label: "global rounds".into(),
        ..axis("round", "")
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
            x: rounds,
            y,
            points: curves.iter().map(points).collect(),
        }],
    }
}

fn losses(log: &RunLog) -> Chart {
    let curves: Vec<Named> = vec![
        ("test".into(), look(0), Box::new(|r| r.test_loss)),
        ("probe".into(), look(2), Box::new(|r| r.probe_loss)),
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
    let full_j = log.scenario.uavs.battery_j;
    let battery = |uav: usize| -> Named {
        let colour = palette::uav_colour(uav);
        let dash = look(8 * (uav / 7)).dash;
        let share = move |record: &RoundRecord| {
            let found = record.uavs.get(uav);
            found.map_or(f64::NAN, |uav| 100.0 * uav.battery_after_j / full_j)
        };
        (format!("UAV {uav}"), Look { colour, dash }, Box::new(share))
    };
    let curves = (0..uavs).map(battery).collect();
    over_rounds(
        log,
        "Batteries at the end of a round",
        axis("charge", "%"),
        curves,
    )
}
