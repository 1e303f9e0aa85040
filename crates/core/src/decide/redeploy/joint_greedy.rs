//! The paper's M-ii: one benefit for everything, climbed greedily.

use std::f64::consts::TAU;

use rand::RngExt;

use super::{CoverageCounts, Fleet, FleetUav, JOULES_PER_KJ, Move, Redeployment, stepped};
use crate::seed::Random;
use crate::vocabulary::Point;

/// The UAVs step in turn, each to the direction where the growth of its marginal coverage, less the weighted energy of
/// the step and of the change in model exchange, is largest, until each has found no positive benefit for
/// some turns in a row.
///
/// The paper says only that coverage, movement and exchange make one benefit that is climbed greedily; steps, turns and
/// weights are our reading. Energies have one weight; the exchange is what a UAV spends on models with the UAV in the middle
/// of the fleet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointGreedy {
    /// Weight of the relative growth in coverage.
    pub coverage_weight: f64,
    /// Weight of a kilojoule, of movement or of exchange.
    pub energy_weight: f64,
    /// Global rounds whose model exchange is counted.
    pub rounds_ahead: f64,
    /// Directions looked at.
    pub directions: usize,
    /// Metres of a step.
    pub step_m: f64,
}

impl Default for JointGreedy {
    fn default() -> Self {
        Self {
            coverage_weight: 1.0,
            energy_weight: 0.005,
            rounds_ahead: 100.0,
            directions: 10,
            step_m: 500.0,
        }
    }
}

/// Turns without a step after which a UAV stays for good: directions are drawn anew each turn.
const PATIENCE: usize = 8;

impl Redeployment for JointGreedy {
    fn redeploy(&mut self, fleet: &Fleet, rng: &mut Random) -> Vec<Move> {
        let mut counts = fleet.coverage();
        let hub = hub(fleet);
        let mut at: Vec<Point> = fleet.uavs.iter().map(|uav| uav.position).collect();
        let mut path_m = vec![0.0; at.len()];
        let mut failures = vec![0; at.len()];
        while failures.iter().any(|&failed| failed < PATIENCE) {
            for me in 0..at.len() {
                let tired = failures[me] >= PATIENCE;
                let spent = path_m[me] + self.step_m > self.longest_m(fleet, me);
                if tired || spent {
                    failures[me] = PATIENCE;
                    continue;
                }
                let radius_m = fleet.uavs[me].coverage_radius_m;
                counts.remove(at[me], radius_m);
                if let Some(to) = self.step(fleet, &counts, &at, me, hub, rng) {
                    at[me] = to;
                    path_m[me] += self.step_m;
                    failures[me] = 0;
                } else {
                    failures[me] += 1;
                }
                counts.add(at[me], radius_m);
            }
        }
        let moved = fleet.uavs.iter().zip(at);
        moved
            .filter_map(|(uav, to)| Move::of(fleet, uav, to))
            .collect()
    }
}

impl JointGreedy {
    /// With free energy two UAVs could chase each other for ever: twice around the area is enough for anybody.
    fn longest_m(&self, fleet: &Fleet, me: usize) -> f64 {
        let around_m = 2.0 * (fleet.area.width_m + fleet.area.height_m);
        fleet.uavs[me]
            .cruise
            .reach_m(fleet.uavs[me].spare_j)
            .min(2.0 * around_m)
    }

    fn step(
        &self,
        fleet: &Fleet,
        others: &CoverageCounts,
        at: &[Point],
        me: usize,
        hub: usize,
        rng: &mut Random,
    ) -> Option<Point> {
        let radius_m = fleet.uavs[me].coverage_radius_m;
        let exchange_j = |here: Point| self.rounds_ahead * exchange_j(fleet, at, me, hub, here);
        let (covered, exchange_now_j) = (others.gain(at[me], radius_m) as f64, exchange_j(at[me]));
        let move_j = fleet.uavs[me].cruise.most_j(self.step_m);
        let turn = rng.random::<f64>() * TAU;
        (0..self.directions)
            .map(|i| {
                let angle = turn + TAU * i as f64 / self.directions as f64;
                stepped(at[me], angle, self.step_m)
            })
            .filter(|&to| fleet.allows(&fleet.uavs[me], to))
            .map(|to| {
                let growth = (others.gain(to, radius_m) as f64 - covered) / covered.max(1.0);
                let energy_kj = (move_j + exchange_j(to) - exchange_now_j) / JOULES_PER_KJ;
                let benefit = self.coverage_weight * growth - self.energy_weight * energy_kj;
                (benefit, to)
            })
            .filter(|(benefit, _)| *benefit > 0.0)
            .reduce(|best, next| if next.0 > best.0 { next } else { best })
            .map(|(_, to)| to)
    }
}

/// The UAV with the least sum of distances to the others, which will aggregate.
fn hub(fleet: &Fleet) -> usize {
    let sum_m = |me: Point| -> f64 {
        let distances = fleet.uavs.iter().map(|uav| uav.position.distance(me));
        distances.sum()
    };
    let sums = fleet.uavs.iter().map(|uav| sum_m(uav.position));
    sums.enumerate()
        .reduce(|best, next| if next.1 < best.1 { next } else { best })
        .map_or(0, |(index, _)| index)
}

/// Joules of one round's exchange that change with the place of one UAV: its own upload, or everybody's to it.
fn exchange_j(fleet: &Fleet, at: &[Point], me: usize, hub: usize, here: Point) -> f64 {
    let placed = |uav: usize| FleetUav {
        position: if uav == me { here } else { at[uav] },
        ..fleet.uavs[uav]
    };
    let send = |from: usize| (fleet.model_energy_j)(&placed(from), &placed(hub));
    if me != hub {
        return send(me);
    }
    let others = (0..at.len()).filter(|&other| other != hub);
    others.map(send).sum()
}
