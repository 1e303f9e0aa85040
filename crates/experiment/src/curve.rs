//! Accuracy over rounds, time or energy, averaged over seeds.

use serde::{Deserialize, Serialize};

use super::results::{Point, Series};
use super::statistics::{Estimate, SHARE};
use super::stored::{Stand, StoredRun};

/// What runs along the bottom of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// Global rounds.
    Round,
    /// Simulated time, s.
    TimeS,
    /// Energy, J.
    EnergyJ,
}

impl Along {
    fn of(self, stand: &Stand) -> f64 {
        match self {
            Self::Round => stand.round as f64,
            Self::TimeS => stand.clock_s,
            Self::EnergyJ => stand.energy_j,
        }
    }
}

/// Points of a curve over time or energy.
const POINTS: usize = 60;

/// Mean test accuracy of some runs, until the last of them ends. A run that has ended keeps its last accuracy: it stopped because
/// it got where it was meant to, or because nothing more was to come, and a mean over the others alone would be one of other runs.
/// [`run_ends`] says from where on that is so. Between rounds the accuracy is taken on the straight line.
#[must_use]
pub fn mean_accuracy(runs: &[&StoredRun], along: Along) -> Vec<Point> {
    let firsts = runs.iter().map(|run| run.curve.first());
    let Some(firsts) = firsts.collect::<Option<Vec<&Stand>>>() else {
        return Vec::new();
    };
    let ends = run_ends(runs, along);
    let from = firsts.into_iter().map(|s| along.of(s)).fold(0.0, f64::max);
    let Some(&to) = ends.last().filter(|to| to.is_finite()) else {
        return Vec::new();
    };
    let mut places: Vec<f64> = match along {
        Along::Round => (from as usize..=to as usize).map(|r| r as f64).collect(),
        _ if to <= from => vec![from],
        _ => (0..POINTS)
            .map(|i| from + (to - from) * i as f64 / (POINTS - 1) as f64)
            .collect(),
    };
    // Where a run ends the mean has a corner, which must not fall between two points.
    places.extend(ends.into_iter().filter(|end| *end >= from));
    places.sort_by(f64::total_cmp);
    places.dedup();
    let point = |x: f64| {
        let values: Vec<f64> = runs.iter().map(|run| accuracy_at(run, along, x)).collect();
        Point {
            x,
            y: Estimate::within(&values, SHARE),
            of: runs.len(),
        }
    };
    places.into_iter().map(point).collect()
}

/// The curve of [`mean_accuracy`] with its ends, without a name.
#[must_use]
pub fn mean_series(runs: &[&StoredRun], along: Along) -> Series {
    Series {
        label: String::new(),
        method: String::new(),
        style: 0,
        points: mean_accuracy(runs, along),
        ends: run_ends(runs, along),
        runs: Vec::new(),
    }
}

/// Where the runs of a mean end, the first of them first.
#[must_use]
pub fn run_ends(runs: &[&StoredRun], along: Along) -> Vec<f64> {
    let ends = runs.iter().filter_map(|run| run.curve.last());
    let mut ends: Vec<f64> = ends.map(|stand| along.of(stand)).collect();
    ends.sort_by(f64::total_cmp);
    ends
}

/// The accuracy of a run that is not empty at a place within or behind it.
fn accuracy_at(run: &StoredRun, along: Along, x: f64) -> f64 {
    let curve = &run.curve;
    let after = curve.partition_point(|stand| along.of(stand) < x);
    let Some(right) = curve.get(after) else {
        return curve.last().map_or(0.0, |stand| stand.accuracy);
    };
    let Some(left) = after.checked_sub(1).map(|before| &curve[before]) else {
        return right.accuracy;
    };
    let (start, end) = (along.of(left), along.of(right));
    let share = if end > start {
        (x - start) / (end - start)
    } else {
        1.0
    };
    left.accuracy + share * (right.accuracy - left.accuracy)
}

#[cfg(test)]
mod tests {
    use super::super::stored::tests::run;
    use super::*;

    #[test]
    fn means_between_rounds_worked_by_hand() {
        // One run at 10 s and 30 s, one at 20 s and 40 s: both are there from 20 s on, the first has ended at 30 s.
        let a = run(1, &[(10.0, 1.0, 0.2), (30.0, 2.0, 0.6)]);
        let b = run(2, &[(20.0, 1.0, 0.0), (40.0, 4.0, 0.4)]);
        let curve = mean_accuracy(&[&a, &b], Along::TimeS);
        assert_eq!(run_ends(&[&b, &a], Along::TimeS), [30.0, 40.0]);
        let mean_at = |x: f64| {
            let point = curve.iter().find(|point| point.x == x).unwrap();
            point.y.unwrap().mean
        };
        assert_eq!((curve[0].x, curve.last().unwrap().x), (20.0, 40.0));
        assert!((mean_at(20.0) - 0.2).abs() < 1e-12, "(0.4 + 0.0) / 2");
        assert!((mean_at(30.0) - 0.4).abs() < 1e-12, "(0.6 + 0.2) / 2");
        assert!((mean_at(40.0) - 0.5).abs() < 1e-12, "(0.6 + 0.4) / 2");
        let rounds = mean_accuracy(&[&a, &b], Along::Round);
        let means: Vec<f64> = rounds.iter().map(|p| p.y.unwrap().mean).collect();
        assert_eq!(means, [0.1, 0.5]);
    }

    #[test]
    fn a_curve_arrives_where_all_its_runs_did() {
        // Both stop at 70 %, one much earlier.
        let long = run(1, &[(1.0, 1.0, 0.1), (5.0, 2.0, 0.4), (9.0, 3.0, 0.7)]);
        let short = run(2, &[(1.0, 1.0, 0.3), (2.0, 2.0, 0.7)]);
        for along in [Along::Round, Along::TimeS, Along::EnergyJ] {
            let curve = mean_accuracy(&[&long, &short], along);
            let last = curve.last().unwrap();
            assert_eq!(last.x, along.of(long.curve.last().unwrap()));
            assert_eq!((last.y.unwrap().mean, last.of), (0.7, 2), "{along:?}");
        }
        let apart = run(3, &[(9.0, 9.0, 0.5)]);
        let curve = mean_accuracy(&[&short, &apart], Along::EnergyJ);
        assert_eq!((curve.len(), curve[0].x), (1, 9.0));
        assert!(mean_accuracy(&[&short, &run(4, &[])], Along::Round).is_empty());
        assert!(mean_accuracy(&[], Along::Round).is_empty());
    }
}
