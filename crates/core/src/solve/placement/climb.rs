//! The whole fleet climbs one objective, best move first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::choice::{Choice, Improvement, WINDOW};
use super::spots::Spots;
use super::{CoverageCounts, Problem, ROUNDING};
use crate::vocabulary::Point;

/// Moves per facility, on average, after which the fleet goes as it is; usually it takes one to three.
const MOVES_PER_FACILITY: usize = 20;

/// How often everybody looks again because far away something may have become free.
const PASSES: usize = 8;

/// Facilities that look for a better position at the same time: more keep more processors busy, and look in vain more often. A
/// constant, because the answer may depend on it and must not depend on the machine.
const LOOKS_AT_ONCE: usize = 16;

/// A facility's best move at the time it was looked for.
struct Entry {
    who: usize,
    best: Improvement,
    /// How often the facility's surroundings had changed by then.
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
pub(super) struct Climb<'a> {
    problem: &'a Problem<'a>,
    counts: CoverageCounts,
    spots: Spots,
    /// Where the plan has each facility now.
    at: Vec<Point>,
    /// How often each facility's surroundings have changed.
    versions: Vec<u32>,
    /// Who is in the heap.
    queued: Vec<bool>,
    heap: BinaryHeap<Entry>,
}

impl<'a> Climb<'a> {
    pub(super) fn new(problem: &'a Problem<'a>, at: Vec<Point>) -> Self {
        let counts = problem.counts(&at);
        Self {
            problem,
            spots: Spots::new(problem, &counts),
            counts,
            versions: vec![0; at.len()],
            queued: vec![false; at.len()],
            at,
            heap: BinaryHeap::new(),
        }
    }

    /// Climbs to the top.
    pub(super) fn run(mut self) -> Vec<Point> {
        let mut moves_left = MOVES_PER_FACILITY * self.at.len();
        for _ in 0..PASSES {
            self.queued.fill(true);
            self.look((0..self.at.len()).collect());
            let before = moves_left;
            while moves_left > 0
                && let Some(entry) = self.next()
            {
                if entry.best.value > self.problem.threshold {
                    self.shift(entry.who, entry.best.to);
                    moves_left -= 1;
                }
            }
            if moves_left == 0 || moves_left == before {
                break;
            }
        }
        self.at
    }

    /// Queues the best moves of these facilities.
    fn look(&mut self, who: Vec<usize>) {
        let entry = |who: usize| {
            let near = Choice::new(self.problem, who, self.at[who]).best(&self.counts);
            let spots = &self.spots;
            Entry {
                who,
                best: spots.best(self.problem, who, self.at[who], &self.counts, near),
                version: self.versions[who],
            }
        };
        let entries: Vec<Entry> = who.into_par_iter().map(entry).collect();
        self.heap.extend(entries);
    }

    /// Whether what a facility saw is no longer there: around it, or where it would go.
    fn is_stale(&self, entry: &Entry) -> bool {
        if entry.version != self.versions[entry.who] {
            return true;
        }
        let (one, at) = (&self.problem.facilities[entry.who], self.at[entry.who]);
        let far_m = (WINDOW + 2.0) * one.radius_m;
        let far = entry.best.to.distance(at) > far_m;
        far && {
            let choice = Choice::new(self.problem, entry.who, at);
            let gain = choice.then(&self.counts, entry.best.to) - choice.now(&self.counts);
            gain < entry.best.value - ROUNDING
        }
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

    /// Moves a facility, and has everybody look again who may feel it.
    fn shift(&mut self, who: usize, to: Point) {
        let from = std::mem::replace(&mut self.at[who], to);
        let radius_m = self.problem.facilities[who].radius_m;
        self.counts.shift(from, to, radius_m);
        for place in [from, to] {
            self.spots.update(&self.counts, place, radius_m);
        }
        // Counts have changed within a radius of either position; facilities look at points up to a radius and the window away.
        for (near, &post) in self.at.iter().enumerate() {
            let own_m = self.problem.facilities[near].radius_m;
            let felt_m = radius_m + own_m + WINDOW * own_m;
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
