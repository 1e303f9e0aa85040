//! What a run has shown of its own pace so far: how its accuracy grows, what a round takes, how fast devices come within reach.
//!
//! The error after t rounds, 1 - A, falls about as t^-p: a straight line in logarithms, fitted to the last two thirds of the rounds. Pseudo-rounds
//! pull p to what such curves usually have, which is all there is to go by at first. Rounds to a target follow from it; nobody looks farther
//! ahead than 12 times as many rounds as are behind. A curve that levels off just short of the target says for ever that it is nearly there:
//! a target that has been near for r rounds is taken to be at least r more away, unless what is missing is covered again.

use serde::{Deserialize, Serialize};

use crate::record::first_reached;
use crate::scenario::Stop;
use crate::vocabulary::{Point, UavId};
use crate::world::Coverage;

/// Rounds of which the mean is what a round takes.
const RECENT: usize = 5;

/// What p usually is in the rounds that count.
const USUAL_SLOPE: f64 = 0.3;

/// As how much that counts: the spread of ln t, squared and summed, over rounds.
const SLOPE_WEIGHT: f64 = 1.0;

/// Least and greatest p that is believed.
const SLOPES: [f64; 2] = [0.1, 2.0];

/// No error counts as less.
const LEAST_ERROR: f64 = 1e-3;

/// A run that goes on has at least so many rounds to go, and is not believed to have more, relative to those behind it.
const ROUNDS_TO_GO: [f64; 2] = [0.1, 12.0];

/// A target that is at most so many rounds away is near.
const NEAR: f64 = 8.0;

/// What a round took, whoever came and went meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RoundCost {
    /// Without flights and without waiting for UAVs to return, s.
    pub(super) seconds: f64,
    /// Without flights and what faults took, J.
    pub(super) joules: f64,
    /// UAVs that served.
    pub(super) uavs: f64,
}

/// The rounds behind a run, as far as its outlook depends on them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Outlook {
    /// Accuracy after each round, of the kind that targets are judged by (`stop.target_on`).
    accuracy: Vec<f64>,
    /// For how many rounds the target has been near.
    near_for: usize,
    /// The last rounds in which models were merged.
    recent: Vec<RoundCost>,
    /// Who served in the last round, from where.
    posts: Vec<(UavId, Point)>,
    /// Per device, whether it was covered in the last round.
    covered: Vec<bool>,
    /// Of devices that nobody covered, in the round after by the same UAVs: how many were covered, and how many there were.
    came_within_reach: (u64, u64),
    /// The round of the last change in the fleet that flights were weighed for and did not follow.
    pub(super) stayed_since: Option<usize>,
    /// Where UAVs have left or come since flights last followed a change.
    pub(super) changed: Vec<Point>,
}

/// A line through -ln(1 - A) over ln t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Curve {
    /// p.
    pub(super) slope: f64,
    /// Rounds so far.
    pub(super) rounds: f64,
    /// Where the line is now.
    pub(super) level: f64,
    /// For how many rounds the target has been near.
    pub(super) near_for: f64,
}

impl Outlook {
    /// A round begins, with UAVs at these places.
    pub(super) fn see(&mut self, posts: Vec<(UavId, Point)>, coverage: &Coverage) {
        let covered: Vec<bool> = coverage.nearest.iter().map(Option::is_some).collect();
        if self.posts == posts && covered.len() == self.covered.len() {
            let (came, outside) = &mut self.came_within_reach;
            for (before, now) in self.covered.iter().zip(&covered) {
                *outside += u64::from(!before);
                *came += u64::from(!before && *now);
            }
        }
        (self.posts, self.covered) = (posts, covered);
    }

    /// A round is over, and the target is not reached; it cost something if models were merged.
    pub(super) fn note(&mut self, accuracy: f64, target: f64, cost: Option<RoundCost>) {
        self.accuracy.push(accuracy);
        let near = self.curve().is_some_and(|curve| curve.is_near(target));
        self.near_for = if near { self.near_for + 1 } else { 0 };
        if let Some(cost) = cost {
            self.recent.push(cost);
            let old = self.recent.len().saturating_sub(RECENT);
            self.recent.drain(..old);
        }
    }

    /// Whether flights that did not follow a change are weighed again, when the curve says more: after 1 to 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, .. rounds.
    /// A run that hangs just below the target waits a quarter longer than it would have to at most.
    pub(super) fn asks_again_in(&self, round: usize) -> bool {
        let Some(since) = self.stayed_since.map(|since| round.saturating_sub(since)) else {
            return false;
        };
        let step = |log: u32| 1 << log.saturating_sub(2);
        since
            .checked_ilog2()
            .is_some_and(|log| since.is_multiple_of(step(log)))
    }

    /// Whether the accuracy that the run is made for has been reached: from then on no flight brings it nearer.
    pub(super) fn has_reached(&self, stop: &Stop) -> bool {
        first_reached(&self.accuracy, stop.smooth, stop.aim()).is_some()
    }

    /// What a round takes, of the last ones; none before the first.
    pub(super) fn cost(&self) -> Option<RoundCost> {
        let count = self.recent.len() as f64;
        let mean = |of: fn(&RoundCost) -> f64| self.recent.iter().map(of).sum::<f64>() / count;
        (count > 0.0).then(|| RoundCost {
            seconds: mean(|cost| cost.seconds),
            joules: mean(|cost| cost.joules),
            uavs: mean(|cost| cost.uavs),
        })
    }

    /// How likely a device that nobody covers is covered in the round after, if the UAVs stay.
    pub(super) fn arrival_rate(&self) -> f64 {
        let (came, outside) = self.came_within_reach;
        came as f64 / outside.max(1) as f64
    }

    /// The curve so far; none before the first round.
    pub(super) fn curve(&self) -> Option<Curve> {
        let rounds = self.accuracy.len();
        let points = (self.accuracy.iter().zip(1..)).skip(rounds / 3);
        let points = points.filter(|(accuracy, _)| accuracy.is_finite());
        let points: Vec<(f64, f64)> = points
            .map(|(&accuracy, round)| (libm::log(f64::from(round)), knowledge(accuracy)))
            .collect();
        let count = points.len() as f64;
        if points.is_empty() {
            return None;
        }
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let (mut spread, mut joint) = (SLOPE_WEIGHT, SLOPE_WEIGHT * USUAL_SLOPE);
        for point in &points {
            spread += (point.0 - x) * (point.0 - x);
            joint += (point.0 - x) * (point.1 - y);
        }
        let slope = (joint / spread).clamp(SLOPES[0], SLOPES[1]);
        let rounds = rounds as f64;
        Some(Curve {
            slope,
            rounds,
            level: y + slope * (libm::log(rounds) - x),
            near_for: self.near_for as f64,
        })
    }

    /// Whether this can be the outlook of a run of so many rounds with so many devices.
    pub(super) fn fits(&self, rounds: usize, uavs: usize, devices: usize) -> bool {
        let sound = |cost: &RoundCost| {
            let all = [cost.seconds, cost.joules, cost.uavs];
            all.iter()
                .all(|number| number.is_finite() && *number >= 0.0)
        };
        self.accuracy.len() <= rounds
            && self.near_for <= self.accuracy.len()
            && self.recent.len() <= RECENT
            && self.recent.iter().all(sound)
            && self.posts.iter().all(|(uav, _)| uav.index() < uavs)
            && [0, devices].contains(&self.covered.len())
            && self.came_within_reach.0 <= self.came_within_reach.1
            && self.stayed_since.is_none_or(|round| round <= rounds)
            && (self.changed.iter()).all(|place| place.x_m.is_finite() && place.y_m.is_finite())
    }
}

impl Curve {
    /// The round in which a target is reached, if so much more error stays than in the rounds so far, by this curve and by how long the target has been
    /// near. If less stays, and the curve is above what is left to reach, nothing holds it up any more.
    pub(super) fn rounds_to(&self, target: f64, more_error: f64) -> f64 {
        let to_go = self.rounds_after(target + more_error, ROUNDS_TO_GO);
        let is_there = more_error < 0.0 && knowledge(target + more_error) <= self.level;
        self.rounds
            + if is_there {
                to_go
            } else {
                to_go.max(self.near_for)
            }
    }

    /// Whether a target is only a few rounds away.
    pub(super) fn is_near(&self, target: f64) -> bool {
        self.rounds_after(target, [0.0, f64::INFINITY]) <= NEAR
    }

    /// Rounds from now to a target, within bounds relative to the rounds so far.
    fn rounds_after(&self, target: f64, [least, most]: [f64; 2]) -> f64 {
        let factor = libm::exp((knowledge(target) - self.level) / self.slope);
        self.rounds * (factor - 1.0).clamp(least, most)
    }
}

/// -ln(1 - A).
fn knowledge(accuracy: f64) -> f64 {
    -libm::log((1.0 - accuracy).clamp(LEAST_ERROR, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target that is never near.
    const FAR: f64 = 1.0;

    fn outlook(accuracy: &[f64], target: f64) -> Outlook {
        let mut outlook = Outlook::default();
        for accuracy in accuracy {
            outlook.note(*accuracy, target, None);
        }
        outlook
    }

    /// One round at 50 %, and nothing but the usual slope. At 70 % the error is 0.6 times as large: 0.6^(-1 / 0.3) = 5.49 rounds.
    #[test]
    fn after_one_round_the_usual_slope_is_all_there_is() {
        let curve = outlook(&[0.5], FAR).curve().unwrap();
        assert!(
            (curve.rounds_to(0.7, 0.0) - 5.490).abs() < 1e-3,
            "{curve:?}"
        );
        assert!(Outlook::default().curve().is_none());
        // It is not believed to take forever, nor to be over while it goes on.
        assert_eq!(curve.rounds_to(1.0, 0.0), 13.0);
        assert_eq!(curve.rounds_to(0.4, 0.0), 1.1);
    }

    /// An error of 1 / t for long: p comes close to 1 in spite of the pseudo-rounds.
    #[test]
    fn a_long_curve_outweighs_the_usual_slope() {
        let accuracy: Vec<f64> = (1..=300)
            .map(|round| 1.0 - 1.0 / f64::from(round))
            .collect();
        let curve = outlook(&accuracy, FAR).curve().unwrap();
        assert!((0.95..=1.0).contains(&curve.slope), "{curve:?}");
        let rounds = curve.rounds_to(1.0 - 1.0 / 600.0, 0.0);
        assert!((600.0..=630.0).contains(&rounds), "{rounds}");
    }

    /// Thirty rounds at 88 %: 88.1 % is always a few rounds away by the curve, and not believed.
    #[test]
    fn a_target_that_has_long_been_near_is_taken_to_be_as_far_again() {
        let level = [0.88; 30];
        let curve = outlook(&level, 0.881).curve().unwrap();
        let by_the_curve = Curve {
            near_for: 0.0,
            ..curve
        };
        assert!((33.0..34.0).contains(&by_the_curve.rounds_to(0.881, 0.0)));
        let near_for = curve.near_for;
        assert!((29.0..=30.0).contains(&near_for), "{curve:?}");
        assert_eq!(curve.rounds_to(0.881, 0.0), 30.0 + near_for);
        // What is farther by the curve is as far as the curve says.
        assert_eq!(
            curve.rounds_to(0.95, 0.0),
            by_the_curve.rounds_to(0.95, 0.0)
        );
        // Who falls back begins to count anew.
        let fell = [&level[..], &[0.5; 30], &[0.87; 2]].concat();
        let curve = outlook(&fell, 0.881).curve().unwrap();
        assert!(curve.near_for <= 2.0, "{curve:?}");
    }

    /// The fitted line is at 88.56 %. What held the run up is gone where less is left to reach than that, and not before.
    #[test]
    fn a_target_that_less_error_puts_below_the_curve_is_not_waited_for() {
        let curve = outlook(&[0.88; 30], 0.887).curve().unwrap();
        assert!(curve.near_for > 20.0, "{curve:?}");
        assert_eq!(curve.rounds_to(0.887, -0.05), 33.0);
        assert_eq!(curve.rounds_to(0.887, -0.0005), 30.0 + curve.near_for);
    }

    #[test]
    fn who_stays_is_asked_again_a_quarter_later_at_most() {
        let outlook = Outlook {
            stayed_since: Some(3),
            ..Outlook::default()
        };
        let asked: Vec<usize> = (0..50)
            .filter(|round| outlook.asks_again_in(*round))
            .collect();
        let after = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40];
        assert_eq!(asked, after.map(|rounds| 3 + rounds));
        assert!(!Outlook::default().asks_again_in(3));
    }

    #[test]
    fn a_target_is_reached_once_and_for_all() {
        let stop = Stop {
            targets: vec![0.5, 0.7],
            smooth: 2,
            ..Stop::default()
        };
        let reached = |accuracy: &[f64]| outlook(accuracy, FAR).has_reached(&stop);
        assert!(!reached(&[]) && !reached(&[0.9]) && !reached(&[0.6, 0.75]));
        assert!(reached(&[0.6, 0.8]) && reached(&[0.6, 0.8, 0.1]));
    }

    #[test]
    fn devices_that_come_within_reach_are_counted_while_uavs_stay() {
        let mut outlook = Outlook::default();
        let mut see = |covered: [bool; 4], x_m: f64| {
            let coverage = Coverage {
                nearest: covered.map(|covered| covered.then_some(UavId(0))).into(),
                ..Coverage::default()
            };
            outlook.see(vec![(UavId(0), Point::new(x_m, 0.0))], &coverage);
        };
        see([true, false, false, false], 0.0);
        see([true, true, false, false], 0.0);
        see([true, true, true, true], 9.0);
        // Of three outside one came; the other two came because UAVs moved.
        assert_eq!(outlook.arrival_rate(), 1.0 / 3.0);
    }

    #[test]
    fn the_last_five_rounds_say_what_a_round_takes() {
        let mut outlook = Outlook::default();
        for round in 0..7u32 {
            let cost = RoundCost {
                seconds: f64::from(round),
                joules: 10.0,
                uavs: 2.0,
            };
            outlook.note(0.1, FAR, Some(cost));
        }
        outlook.note(0.1, FAR, None);
        let cost = outlook.cost().unwrap();
        assert_eq!((cost.seconds, cost.joules, cost.uavs), (4.0, 10.0, 2.0));
        assert!(outlook.fits(8, 1, 0) && !outlook.fits(7, 1, 0));
    }
}
