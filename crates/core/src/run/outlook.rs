//! What a run has shown of its own pace so far: how its accuracy grows, what a round takes, how fast devices come within reach.
//!
//! Accuracy A after t rounds follows ln(A / (1 - A)) = a + p ln t: a straight line, fitted to the last two thirds of the rounds. A few
//! pseudo-rounds pull p to what such curves usually have, which is all there is to go by at first. Rounds to a target follow from it.

use serde::{Deserialize, Serialize};

use crate::vocabulary::{Point, UavId};
use crate::world::Coverage;

/// Rounds of which the mean is what a round takes.
const RECENT: usize = 5;

/// What p usually is in the rounds that count.
const USUAL_SLOPE: f64 = 0.7;

/// As how much that counts: the spread of ln t, squared and summed, over rounds.
const SLOPE_WEIGHT: f64 = 0.5;

/// Least and greatest p that is believed.
const SLOPES: [f64; 2] = [0.15, 3.0];

/// Accuracies closer to 0 or 1 count as so far from it.
const EDGE: f64 = 1e-3;

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
    /// Validation accuracy after each round.
    accuracy: Vec<f64>,
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
}

/// A line through ln(A / (1 - A)) over ln t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Curve {
    /// p.
    pub(super) slope: f64,
    /// Rounds so far.
    pub(super) rounds: f64,
    /// Where the line is now.
    pub(super) level: f64,
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

    /// A round is over; it cost something if models were merged.
    pub(super) fn note(&mut self, accuracy: f64, cost: Option<RoundCost>) {
        self.accuracy.push(accuracy);
        if let Some(cost) = cost {
            self.recent.push(cost);
            let old = self.recent.len().saturating_sub(RECENT);
            self.recent.drain(..old);
        }
    }

    /// Whether flights that did not follow a change are weighed again: after 1, 2, 4, 8, .. rounds, when the curve says more.
    pub(super) fn asks_again_in(&self, round: usize) -> bool {
        let since = self.stayed_since.map(|since| round.saturating_sub(since));
        since.is_some_and(usize::is_power_of_two)
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
            .map(|(&accuracy, round)| (libm::log(f64::from(round)), log_odds(accuracy)))
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
            && self.recent.len() <= RECENT
            && self.recent.iter().all(sound)
            && self.posts.iter().all(|(uav, _)| uav.index() < uavs)
            && [0, devices].contains(&self.covered.len())
            && self.came_within_reach.0 <= self.came_within_reach.1
            && self.stayed_since.is_none_or(|round| round <= rounds)
    }
}

impl Curve {
    /// The round in which a target is reached, by this curve.
    pub(super) fn rounds_to(&self, target: f64) -> f64 {
        self.rounds * libm::exp((log_odds(target) - self.level) / self.slope).max(1.0)
    }
}

fn log_odds(accuracy: f64) -> f64 {
    let inside = accuracy.clamp(EDGE, 1.0 - EDGE);
    libm::log(inside / (1.0 - inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlook(accuracy: &[f64]) -> Outlook {
        let mut outlook = Outlook::default();
        for accuracy in accuracy {
            outlook.note(*accuracy, None);
        }
        outlook
    }

    /// One round at 50 %: log-odds 0, and nothing but the usual slope. 80 % has log-odds ln 4: e^(1.386 / 0.7) = 7.25 rounds.
    #[test]
    fn after_one_round_the_usual_slope_is_all_there_is() {
        let curve = outlook(&[0.5]).curve().unwrap();
        assert!((curve.rounds_to(0.8) - 7.246).abs() < 1e-3, "{curve:?}");
        assert!(Outlook::default().curve().is_none());
    }

    /// Odds that grow with the square of the round, for long: p comes to 2 but for the pseudo-rounds.
    #[test]
    fn a_long_curve_outweighs_the_usual_slope() {
        let odds = |round: f64| 0.01 * round * round;
        let accuracy: Vec<f64> = (1..=60)
            .map(|round| odds(f64::from(round)) / (1.0 + odds(f64::from(round))))
            .collect();
        let curve = outlook(&accuracy).curve().unwrap();
        assert!((1.8..=2.0).contains(&curve.slope), "{curve:?}");
        // Odds of 144 are those of round 120, with a slope of 2.
        let rounds = curve.rounds_to(144.0 / 145.0);
        assert!((120.0..=135.0).contains(&rounds), "{rounds}");
        // What is reached is reached.
        assert_eq!(curve.rounds_to(0.5), 60.0);
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
            outlook.note(0.1, Some(cost));
        }
        outlook.note(0.1, None);
        let cost = outlook.cost().unwrap();
        assert_eq!((cost.seconds, cost.joules, cost.uavs), (4.0, 10.0, 2.0));
        assert!(outlook.fits(8, 1, 0) && !outlook.fits(7, 1, 0));
    }
}
