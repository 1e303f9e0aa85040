//! Our own: the whole fleet climbs one objective, best move first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::best_response::{Choice, Improvement, Worth};
use super::{CoverageCounts, Fleet, Move, Redeployment};
use crate::seed::Random;
use crate::vocabulary::Point;

/// Iterated marginal gains: of all UAVs' best positions the one that gains most is taken, until none gains.
///
/// The objective is λ_8 · covered devices / (mean number of devices per UAV) − λ_9 · kilojoules, so that weights mean about
/// what they mean to Algorithm 4, and one sum over the fleet, so that it only rises and coverage never falls. UAVs fly
/// straight to their last position: what they tried in between costs nothing. There is nothing random about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarginalGains {
    /// λ_8, weight of coverage.
    pub coverage_weight: f64,
    /// λ_9, weight of a kilojoule of movement.
    pub movement_weight: f64,
    /// How far a UAV looks for devices beyond its coverage, in coverage radii. Who sees nobody stays.
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

/// UAVs that look for a better position at the same time: more keep more processors busy, and look in vain more often. A constant,
/// because the answer may depend on it and must not depend on the machine.
const LOOKS_AT_ONCE: usize = 16;

impl Redeployment for MarginalGains {
    fn redeploy(&mut self, fleet: &Fleet, _: &mut Random) -> Vec<Move> {
        let mut climb = Climb::new(self, fleet);
        let mut moves_left = MOVES_PER_UAV * fleet.uavs.len();
        while moves_left > 0
            && let Some(entry) = climb.next()
        {
            if entry.best.value > self.threshold {
                climb.shift(entry.who, entry.best.to);
                moves_left -= 1;
            }
        }
        let moved = fleet.uavs.iter().zip(climb.at);
        moved
            .filter_map(|(uav, to)| Move::of(fleet, uav, to))
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

/// The plan as it grows.
struct Climb<'a> {
    settings: &'a MarginalGains,
    fleet: &'a Fleet<'a>,
    worth: Worth,
    counts: CoverageCounts,
    /// Where the plan has each UAV now.
    at: Vec<Point>,
    /// How often each UAV's surroundings have changed.
    versions: Vec<u32>,
    /// Who is in the heap.
    queued: Vec<bool>,
    heap: BinaryHeap<Entry>,
}

impl<'a> Climb<'a> {
    fn new(settings: &'a MarginalGains, fleet: &'a Fleet<'a>) -> Self {
        let counts = fleet.coverage();
        let all = fleet.uavs.len();
        let per_uav = counts.covered() as f64 / all.max(1) as f64;
        let mut climb = Self {
            settings,
            fleet,
            worth: Worth {
                device: settings.coverage_weight / per_uav.max(1.0),
                kilojoule: settings.movement_weight,
            },
            counts,
            at: fleet.uavs.iter().map(|uav| uav.position).collect(),
            versions: vec![0; all],
            queued: vec![true; all],
            heap: BinaryHeap::new(),
        };
        climb.look((0..all).collect());
        climb
    }

    fn horizon_m(&self, who: usize) -> f64 {
        self.settings.horizon * self.fleet.uavs[who].coverage_radius_m
    }

    /// Queues the best moves of these UAVs.
    fn look(&mut self, who: Vec<usize>) {
        let entry = |who: usize| {
            let choice = Choice {
                fleet: self.fleet,
                uav: &self.fleet.uavs[who],
                at: self.at[who],
                worth: self.worth,
                horizon_m: self.horizon_m(who),
                effort: self.settings.effort,
            };
            Entry {
                who,
                best: choice.best(&self.counts),
                version: self.versions[who],
            }
        };
        let entries: Vec<Entry> = who.into_par_iter().map(entry).collect();
        self.heap.extend(entries);
    }

    fn is_stale(&self, entry: &Entry) -> bool {
        entry.version != self.versions[entry.who]
    }

    /// The best move of all, which leaves the queue; who has to look again does so first.
    fn next(&mut self) -> Option<Entry> {
        loop {
            let mut stale = Vec::new();
            while stale.len() < LOOKS_AT_ONCE
                && let Some(top) = self.heap.peek()
                && self.is_stale(top)
            {
                stale.push(top.who);
                self.heap.pop();
            }
            if stale.is_empty() {
                let entry = self.heap.pop()?;
                self.queued[entry.who] = false;
                return Some(entry);
            }
            self.look(stale);
        }
    }

    /// Moves a UAV, and has everybody look again who may feel it.
    fn shift(&mut self, who: usize, to: Point) {
        let from = std::mem::replace(&mut self.at[who], to);
        let radius_m = self.fleet.uavs[who].coverage_radius_m;
        self.counts.shift(from, to, radius_m);
        // Counts have changed within a radius of either position; UAVs look at devices up to a radius and the horizon away.
        for (near, &post) in self.at.iter().enumerate() {
            let own_m = self.fleet.uavs[near].coverage_radius_m;
            let felt_m = radius_m + own_m + self.horizon_m(near);
            if post.distance(from).min(post.distance(to)) > felt_m {
                continue;
            }
            let past = self.versions[near];
            self.versions[near] += 1;
            if !std::mem::replace(&mut self.queued[near], true) {
                self.heap.push(Entry {
                    who: near,
                    best: Improvement {
                        to: post,
                        value: 0.0,
                    },
                    version: past,
                });
            }
        }
    }
}
