//! When an accuracy counts as reached.

use super::RoundRecord;
use crate::scenario::{Stop, TargetOn};

/// What sums of decimals may be off by.
const ROUNDING: f64 = 1e-12;

impl TargetOn {
    /// The accuracy that a round is judged by.
    #[must_use]
    pub fn accuracy(self, record: &RoundRecord) -> f64 {
        match self {
            Self::Test => record.test_accuracy,
            Self::Validation => record.validation_accuracy,
        }
    }
}

impl Stop {
    /// The accuracy that a run is made for: the one at which it stops, or else the greatest whose cost is reported.
    pub(crate) fn aim(&self) -> f64 {
        let below_one = Some(self.target_accuracy).filter(|target| *target < 1.0);
        below_one.unwrap_or_else(|| self.targets.iter().copied().fold(0.0, f64::max))
    }

    /// Whether a run is where it may stop, by the accuracies of its rounds so far.
    pub(crate) fn is_reached(&self, accuracies: &[f64]) -> bool {
        let first = accuracies.len().checked_sub(self.smooth.max(1));
        first.is_some_and(|first| is_there(&accuracies[first..], self.target_accuracy))
    }
}

fn is_there(window: &[f64], target: f64) -> bool {
    let mean = window.iter().sum::<f64>() / window.len() as f64;
    mean + ROUNDING >= target
}

/// The first place at which the mean over the last `smooth` accuracies is at least the target. There is no such mean
/// before there are so many; with 1 it is the first crossing of the curve itself.
///
/// ```
/// use aerofed::record::first_reached;
/// let curve = [0.5, 0.71, 0.6, 0.72, 0.7, 0.7];
/// assert_eq!(first_reached(&curve, 1, 0.7), Some(1));
/// assert_eq!(first_reached(&curve, 3, 0.7), Some(5));
/// ```
#[must_use]
pub fn first_reached(accuracies: &[f64], smooth: usize, target: f64) -> Option<usize> {
    let smooth = smooth.max(1);
    let mut windows = accuracies.windows(smooth);
    let first = windows.position(|window| is_there(window, target))?;
    Some(first + smooth - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_needs_as_many_rounds_and_equal_ones_reach_themselves() {
        assert_eq!(first_reached(&[0.9, 0.9], 3, 0.5), None);
        // Three times 0.7 is a little less than 2.1.
        assert_eq!(first_reached(&[0.7; 4], 3, 0.7), Some(2));
        assert_eq!(first_reached(&[], 1, 0.0), None);
        assert_eq!(first_reached(&[f64::NAN, 0.8], 1, 0.5), Some(1));
    }

    #[test]
    fn a_run_stops_where_the_mean_is_there() {
        let stop = Stop {
            target_accuracy: 0.7,
            smooth: 3,
            ..Stop::default()
        };
        let curve = [0.6, 0.8, 0.6, 0.75, 0.75];
        let stops: Vec<bool> = (0..=5).map(|n| stop.is_reached(&curve[..n])).collect();
        assert_eq!(stops, [false, false, false, false, true, true]);
    }
}
