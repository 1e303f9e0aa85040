//! Our own: the whole fleet climbs one objective, best move first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::best_response::{Choice, Improvement, Worth};
use super::{CoverageCounts, Fleet, Move, Redeployment};
use crate::geometry::Point;
use crate::seed::Random;

/// Iterated marginal gains: of all UAVs' best posts the one that gains most is taken, until none gains.
///
/// The objective is λ_8 · covered devices / (mean number of devices per UAV) − λ_9 · kilojoules, so that weights mean about
/// what they mean to Algorithm 4, and one sum over the fleet, so that it only rises and coverage never falls. UAVs fly
/// straight to their last post: what they tried in between costs nothing. There is nothing random about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarginalGains {
    /// λ_8, weight of coverage.
    pub coverage_weight: f64,
    /// λ_9, weight of a kilojoule of movement.
    pub movement_weight: f64,
    /// How far a UAV looks for devices beyond its coverage, in coverage radii.
    pub horizon: f64,
    /// Devices that a UAV looks at in one choice, all candidates together.
    pub effort: usize,
    /// What a move's gain must exceed.
    pub threshold: f64,
}

impl Default for MarginalGains {
    fn default() -> Self {
        Self {
            coverage_weight: 1.0,
            movement_weight: 0.005,
            horizon: 2.0,
            effort: 300_000,
            threshold: 2e-3,
        }
    }
}

/// Moves per UAV, on average, after which the fleet goes as it is; usually it takes one to three.
const MOVES_PER_UAV: usize = 20;

impl Redeployment for MarginalGains {
    fn redeploy(&mut self, fleet: &Fleet, _: &mut Random) -> Vec<Move> {
        let plan = self.plan(fleet);
        let moved = fleet.uavs.iter().zip(plan);
        moved
            .filter(|(uav, to)| uav.position != *to)
            .map(|(uav, to)| Move::new(fleet, uav, to, uav.position.distance(to)))
            .collect()
    }
}

/// A UAV's best move at the time it was looked for.
struct Entry {
    who: usize,
    best: Improvement,
    /// How often the UAV's surroundings had changed by then.
    version: u32,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_value = self.best.value.total_cmp(&other.best.value);
        by_value.then(other.who.cmp(&self.who))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl MarginalGains {
    /// Where everybody goes.
    fn plan(&self, fleet: &Fleet) -> Vec<Point> {
        let mut counts = fleet.coverage();
        let mut at: Vec<Point> = fleet.uavs.iter().map(|uav| uav.position).collect();
        let worth = self.worth(fleet, &counts);
        let horizon_m = self.horizon * fleet.coverage_radius_m;
        let look = |who: usize, at: Point, counts: &CoverageCounts| {
            let choice = Choice {
                fleet,
                uav: &fleet.uavs[who],
                at,
                worth,
                horizon_m,
                effort: self.effort,
            };
            choice.best(counts)
        };
        let first = (0..at.len()).into_par_iter().map(|who| Entry {
            who,
            best: look(who, at[who], &counts),
            version: 0,
        });
        let mut heap: BinaryHeap<Entry> = first.collect::<Vec<_>>().into();
        let mut versions = vec![0u32; at.len()];
        let mut queued = vec![true; at.len()];
        // A move is felt where it changes counts that somebody looks at.
        let felt_m = 2.0 * fleet.coverage_radius_m + horizon_m;
        let mut moves_left = MOVES_PER_UAV * at.len();
        while let Some(Entry { who, best, version }) = heap.pop() {
            if version != versions[who] {
                heap.push(Entry {
                    who,
                    best: look(who, at[who], &counts),
                    version: versions[who],
                });
                continue;
            }
            queued[who] = false;
            if best.value <= self.threshold || moves_left == 0 {
                continue;
            }
            moves_left -= 1;
            let from = std::mem::replace(&mut at[who], best.to);
            counts.shift(from, best.to);
            for (near, &post) in at.iter().enumerate() {
                if post.distance(from).min(post.distance(best.to)) > felt_m {
                    continue;
                }
                versions[near] += 1;
                if !std::mem::replace(&mut queued[near], true) {
                    heap.push(Entry {
                        who: near,
                        best: Improvement {
                            to: post,
                            value: 0.0,
                        },
                        // Of the past, so that it is looked at again.
                        version: versions[near] - 1,
                    });
                }
            }
        }
        at
    }

    fn worth(&self, fleet: &Fleet, counts: &CoverageCounts) -> Worth {
        let per_uav = counts.covered() as f64 / fleet.uavs.len().max(1) as f64;
        Worth {
            device: self.coverage_weight / per_uav.max(1.0),
            kilojoule: self.movement_weight,
        }
    }
}
