//! Accuracy over rounds, time or energy, averaged over seeds.

use serde::{Deserialize, Serialize};

use super::results::Point;
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

/// Mean test accuracy of some runs, as far as all of them go: where the shortest ends, the curve
/// does, because a mean over the others would be one of other runs. Between rounds the accuracy is
/// taken on the straight line.
#[must_use]
pub fn mean_accuracy(runs: &[&StoredRun], along: Along) -> Vec<Point> {
    let ends = |end: fn(&[Stand]) -> Option<&Stand>| {
        let of_run = |run: &&StoredRun| end(&run.curve).map(|stand| along.of(stand));
        runs.iter().map(of_run).collect::<Option<Vec<f64>>>()
    };
    let (Some(first), Some(last)) = (ends(|c| c.first()), ends(|c| c.last())) else {
        return Vec::new();
    };
    let from = first.into_iter().fold(0.0, f64::max);
    let to = last.into_iter().fold(f64::INFINITY, f64::min);
    if to < from || to.is_infinite() {
        return Vec::new();
    }
    let places: Vec<f64> = match along {
        Along::Round => (from as usize..=to as usize).map(|r| r as f64).collect(),
        _ if to == from => vec![from],
        _ => (0..POINTS)
            .map(|i| from + (to - from) * i as f64 / (POINTS - 1) as f64)
            .collect(),
    };
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

/// The accuracy of a run that is not empty at a place within it.
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
        // One run at 10 s and 30 s, one at 20 s and 40 s: common ground from 20 to 30 s.
        let a = run(1, &[(10.0, 1.0, 0.2), (30.0, 2.0, 0.6)]);
        let b = run(2, &[(20.0, 1.0, 0.0), (40.0, 4.0, 0.4)]);
        let curve = mean_accuracy(&[&a, &b], Along::TimeS);
        assert_eq!((curve.len(), curve[0].x, curve[59].x), (60, 20.0, 30.0));
        let (first, last) = (curve[0].y.unwrap(), curve[59].y.unwrap());
        assert!((first.mean - 0.2).abs() < 1e-12, "(0.4 + 0.0) / 2");
        assert!((last.mean - 0.4).abs() < 1e-12, "(0.6 + 0.2) / 2");
        let rounds = mean_accuracy(&[&a, &b], Along::Round);
        let means: Vec<f64> = rounds.iter().map(|p| p.y.unwrap().mean).collect();
        assert_eq!(means, [0.1, 0.5]);
    }

    #[test]
    fn a_curve_ends_with_the_shortest_run() {
        let long = run(1, &[(1.0, 1.0, 0.1), (2.0, 2.0, 0.2), (3.0, 3.0, 0.3)]);
        let short = run(2, &[(1.0, 1.0, 0.3), (2.0, 2.0, 0.4)]);
        assert_eq!(mean_accuracy(&[&long, &short], Along::Round).len(), 2);
        let apart = run(3, &[(9.0, 9.0, 0.3)]);
        assert!(mean_accuracy(&[&short, &apart], Along::EnergyJ).is_empty());
        assert!(mean_accuracy(&[&short, &run(4, &[])], Along::Round).is_empty());
        assert!(mean_accuracy(&[], Along::Round).is_empty());
    }
}
