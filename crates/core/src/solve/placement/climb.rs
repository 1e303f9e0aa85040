//! The whole fleet climbs one objective, best move first.

use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::choice::{Choice, Improvement, WINDOW};
use super::ground::Ground;
use super::kinds::Stacks;
use super::posts::Posts;
use super::spots::Spots;
use super::{CoverageCounts, Problem, ROUNDING};
use crate::solve::keyed::Keyed;
use crate::vocabulary::Point;

/// Moves per facility, on average, after which the fleet goes as it is; usually it takes one to three.
const MOVES_PER_FACILITY: usize = 20;

/// How often everybody looks again because far away something may have become free.
const PASSES: usize = 8;

/// Facilities that look for a better position at the same time: more keep more processors busy, and look in vain more often. A
/// constant, because the answer may depend on it and must not depend on the machine.
const LOOKS_AT_ONCE: usize = 16;

/// A move that has lost less than this share of its gain to the moves of others is still made; otherwise its facility looks again.
const STILL_GOOD: f64 = 0.75;

/// The version of surroundings that nobody has seen.
const NEVER: u32 = u32::MAX;

/// A facility's best move at the time it was looked for: by its gain and the facility's number.
type Entry = Keyed<Found>;

struct Found {
    to: Point,
    /// How often the facility's surroundings had changed by then.
    version: u32,
}

fn entry(who: usize, best: Improvement, version: u32) -> Entry {
    Entry {
        key: best.value,
        place: who,
        thing: Found {
            to: best.to,
            version,
        },
    }
}

/// The plan as it grows.
pub(super) struct Climb<'a> {
    problem: &'a Problem<'a>,
    counts: CoverageCounts,
    spots: Spots<'a>,
    /// Where the plan has each facility now.
    at: Vec<Point>,
    posts: Posts,
    largest_m: f64,
    stacks: Stacks,
    /// How often each facility's surroundings have changed.
    versions: Vec<u32>,
    /// What each facility found near it, and the version then.
    near: Vec<Option<(u32, Improvement)>>,
    /// Who is in the heap.
    queued: Vec<bool>,
    heap: BinaryHeap<Entry>,
}

impl<'a> Climb<'a> {
    pub(super) fn new(problem: &'a Problem<'a>, ground: &'a Ground, at: Vec<Point>) -> Self {
        let counts = ground.counts(problem, &at);
        Self {
            problem,
            spots: Spots::new(&ground.sites, &counts),
            counts,
            posts: Posts::new(problem, &at),
            largest_m: problem.largest_m(),
            stacks: Stacks::new(problem, &at),
            versions: vec![0; at.len()],
            near: vec![None; at.len()],
            queued: vec![false; at.len()],
            at,
            heap: BinaryHeap::new(),
        }
    }

    /// Climbs to the top: the positions, and how many points they cover.
    pub(super) fn run(mut self) -> (Vec<Point>, usize) {
        let mut moves_left = MOVES_PER_FACILITY * self.at.len();
        for _ in 0..PASSES {
            let all = 0..self.at.len();
            let all: Vec<usize> = all.filter(|&who| !self.stacks.waits(who)).collect();
            all.iter().for_each(|&who| self.queued[who] = true);
            self.look(all);
            let before = moves_left;
            while moves_left > 0
                && let Some(entry) = self.next()
            {
                if entry.key > self.problem.threshold {
                    self.shift(&entry);
                    moves_left -= 1;
                }
            }
            if moves_left == 0 || moves_left == before {
                break;
            }
        }
        (self.at, self.counts.covered())
    }

    /// Queues the best moves of these facilities. Who has looked around it since anything changed there looks at the spots only.
    fn look(&mut self, who: Vec<usize>) {
        let found = |who: usize| {
            let (at, version) = (self.at[who], self.versions[who]);
            let near = match self.near[who] {
                Some((seen, near)) if seen == version => near,
                _ => Choice::new(self.problem, who, at).best(&self.counts),
            };
            let best = self.spots.best(self.problem, who, at, &self.counts, near);
            (near, entry(who, best, version))
        };
        let found: Vec<(Improvement, Entry)> = who.into_par_iter().map(found).collect();
        for (near, entry) in found {
            self.near[entry.place] = Some((entry.thing.version, near));
            self.heap.push(entry);
        }
    }

    /// Whether a facility's surroundings, or those of where it would go, may have changed since it looked. A move that would not be
    /// made anyway is not asked where it goes.
    fn may_be_stale(&self, entry: &Entry) -> bool {
        let (one, at) = (&self.problem.facilities[entry.place], self.at[entry.place]);
        let far_m = (WINDOW + 2.0) * one.radius_m;
        let far = || entry.thing.to.distance(at) > far_m;
        entry.thing.version != self.versions[entry.place]
            || entry.key > self.problem.threshold && far()
    }

    /// The best move of all, which leaves the queue; who has to look again does so first.
    fn next(&mut self) -> Option<Entry> {
        loop {
            let mut stale = Vec::new();
            while let Some(top) = self.heap.peek()
                && self.may_be_stale(top)
                && (stale.len() < LOOKS_AT_ONCE || top.key <= 0.0)
            {
                let entry = self.heap.pop()?;
                match self.still_good(&entry) {
                    Some(fresh) if fresh.key >= entry.key - ROUNDING => {
                        if stale.is_empty() {
                            self.queued[fresh.place] = false;
                            return Some(fresh);
                        }
                        self.heap.push(fresh);
                        break;
                    }
                    Some(fresh) => self.heap.push(fresh),
                    None => stale.push(entry.place),
                }
            }
            if stale.is_empty() {
                let entry = self.heap.pop()?;
                self.queued[entry.place] = false;
                return Some(entry);
            }
            self.look(stale);
        }
    }

    /// A move that was found before something changed, with what it gains now, if that is still most of it.
    fn still_good(&self, entry: &Entry) -> Option<Entry> {
        if entry.key <= self.problem.threshold {
            return None;
        }
        let choice = Choice::new(self.problem, entry.place, self.at[entry.place]);
        let to = entry.thing.to;
        let value = choice.then(&self.counts, to) - choice.now(&self.counts);
        (value >= STILL_GOOD * entry.key).then(|| {
            self::entry(
                entry.place,
                Improvement { to, value },
                self.versions[entry.place],
            )
        })
    }

    /// Makes a move, and has everybody look again who may feel it.
    fn shift(&mut self, entry: &Entry) {
        let (who, to) = (entry.place, entry.thing.to);
        let from = std::mem::replace(&mut self.at[who], to);
        let radius_m = self.problem.facilities[who].radius_m;
        self.counts.shift(from, to, radius_m);
        self.posts.shift(who, from, to);
        for place in [from, to] {
            self.spots.update(&self.counts, place, radius_m);
        }
        if let Some(next) = self.stacks.next(who, from) {
            self.queue(
                next,
                Improvement {
                    to,
                    value: entry.key,
                },
            );
        }
        // Counts have changed within a radius of either position; facilities look at points up to a radius and the window away.
        let felt_m = |own_m: f64| radius_m + (1.0 + WINDOW) * own_m;
        let mut feel = Vec::new();
        for place in [from, to] {
            let around = self.posts.around(place, felt_m(self.largest_m));
            feel.extend(around.filter(|&near| {
                let own_m = self.problem.facilities[near].radius_m;
                self.at[near].distance(place) <= felt_m(own_m)
            }));
        }
        for near in feel {
            self.versions[near] += 1;
            if !self.stacks.waits(near) && !self.queued[near] {
                let to = self.at[near];
                self.queue(near, Improvement { to, value: 0.0 });
            }
        }
    }

    /// Has a facility look again when what is known to gain more has been done.
    fn queue(&mut self, who: usize, best: Improvement) {
        self.queued[who] = true;
        self.heap.push(entry(who, best, NEVER));
    }
}
