//! Algorithm 4, first stage: a rough and a precise search by each UAV in turn.

use std::f64::consts::TAU;

use rand::RngExt;

use super::{CoverageCounts, Fleet, FleetUav, JOULES_PER_KJ, Move, Redeployment, stepped};
use crate::seed::Random;
use crate::vocabulary::Point;

/// Which devices count for a UAV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverageMeasure {
    /// Those that no other active UAV covers.
    Marginal,
    /// All within its radius: the paper's letter, under which UAVs pile up on one crowd.
    Own,
}

/// One of the two searches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Directions looked at in a try.
    pub directions: usize,
    /// Metres of a step, d^Set.
    pub step_m: f64,
    /// Failed tries in a row that end the search, χ.
    pub patience: usize,
    /// What a step's benefit must exceed.
    pub threshold: f64,
}

/// Algorithm 4: each UAV in turn steps to where the benefit of Eq. (84) is best, with long steps first.
///
/// The energy in the benefit is what the steps of the search would have cost so far and with this one, b̂ d^Set / V · p; the
/// flight is straight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoStage {
    /// What counts as coverage.
    pub coverage: CoverageMeasure,
    /// λ_8, weight of the relative growth in coverage.
    pub coverage_weight: f64,
    /// λ_9, weight of a kilojoule of movement.
    pub movement_weight: f64,
    /// The long steps.
    pub rough: Search,
    /// The short ones.
    pub precise: Search,
}

impl Default for TwoStage {
    fn default() -> Self {
        Self {
            coverage: CoverageMeasure::Marginal,
            coverage_weight: 1.0,
            movement_weight: 0.005,
            rough: Search {
                directions: 10,
                step_m: 500.0,
                patience: 8,
                threshold: 0.0,
            },
            precise: Search {
                directions: 15,
                step_m: 100.0,
                patience: 6,
                threshold: 0.0,
            },
        }
    }
}

impl Redeployment for TwoStage {
    fn redeploy(&mut self, fleet: &Fleet, rng: &mut Random) -> Vec<Move> {
        let mut others = fleet.coverage();
        let mut moves = Vec::new();
        for uav in fleet.uavs {
            others.remove(uav.position, uav.coverage_radius_m);
            let mut walk = Walk {
                at: uav.position,
                path_m: 0.0,
            };
            for search in [&self.rough, &self.precise] {
                self.search(fleet, uav, search, &others, &mut walk, rng);
            }
            others.add(walk.at, uav.coverage_radius_m);
            moves.extend(Move::of(fleet, uav, walk.at));
        }
        moves
    }
}

/// How far a UAV has come.
struct Walk {
    at: Point,
    path_m: f64,
}

impl TwoStage {
    fn measure(&self, others: &CoverageCounts, uav: &FleetUav, at: Point) -> f64 {
        let devices = match self.coverage {
            CoverageMeasure::Marginal => others.gain(at, uav.coverage_radius_m),
            CoverageMeasure::Own => others.within(at, uav.coverage_radius_m),
        };
        devices as f64
    }

    fn search(
        &self,
        fleet: &Fleet,
        uav: &FleetUav,
        search: &Search,
        others: &CoverageCounts,
        walk: &mut Walk,
        rng: &mut Random,
    ) {
        let step_kj = uav.cruise.most_j(search.step_m) / JOULES_PER_KJ;
        let reach_m = uav.cruise.reach_m(uav.spare_j);
        let mut covered = self.measure(others, uav, walk.at);
        let (mut steps, mut failures) = (0.0, 0);
        while failures < search.patience && walk.path_m + search.step_m <= reach_m {
            // A failed try must not repeat itself.
            let turn = rng.random::<f64>() * TAU;
            let angle = |i: usize| turn + TAU * i as f64 / search.directions as f64;
            let best = (0..search.directions)
                .map(|i| stepped(walk.at, angle(i), search.step_m))
                .filter(|&to| fleet.allows(uav, to))
                .map(|to| (self.measure(others, uav, to), to))
                .reduce(|best, next| if next.0 > best.0 { next } else { best });
            let cost = self.movement_weight * (steps + 1.0) * step_kj;
            // Who covers nobody gains by the first device as if it doubled its coverage.
            let benefit =
                |found: f64| self.coverage_weight * (found - covered) / covered.max(1.0) - cost;
            match best {
                Some((found, to)) if benefit(found) > search.threshold => {
                    *walk = Walk {
                        at: to,
                        path_m: walk.path_m + search.step_m,
                    };
                    covered = found;
                    steps += 1.0;
                    failures = 0;
                }
                _ => failures += 1,
            }
        }
    }
}
