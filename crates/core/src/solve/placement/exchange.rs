//! Groups of facilities give up their positions together and take the best ones together.

use rayon::prelude::*;

use super::choice::Open;
use super::columns::Columns;
use super::{CoverageCounts, Problem, ROUNDING};
use crate::vocabulary::Point;

/// Facilities that are placed together; as many or fewer are one group.
const GROUP: usize = 8;
/// More points than this are the climb's.
const MOST_POINTS: usize = 1 << 10;
/// In fleets of more, nobody is placed together: the climb alone takes seconds by then.
const MOST_FACILITIES: usize = 128;
/// Points looked at for the columns of one facility, in a fleet that is one group and in others.
const EFFORT: [usize; 2] = [4_000_000, 500_000];
/// Sets of a group that are looked at in one search.
const MOST_NODES: usize = 4_000;
/// Searches of a group after one that found something.
const SWEEPS: usize = 6;

/// Improves positions; whether it did.
pub(super) fn improve(problem: &Problem, posts: &mut [Point]) -> bool {
    let all = posts.len();
    if !(2..=MOST_FACILITIES).contains(&all) {
        return false;
    }
    let mut counts = problem.counts(posts);
    if all <= GROUP {
        let group: Vec<usize> = (0..all).collect();
        return improve_group(problem, &group, posts, &mut counts, EFFORT[0]);
    }
    let mut improved = false;
    for first in 0..all {
        let center = posts[first];
        let mut near: Vec<usize> = (0..all).collect();
        near.sort_by(|&a, &b| {
            let squared = |who: usize| posts[who].distance_squared(center);
            squared(a).total_cmp(&squared(b)).then(a.cmp(&b))
        });
        near.truncate(GROUP / 2);
        improved |= improve_group(problem, &near, posts, &mut counts, EFFORT[1]);
    }
    improved
}

fn improve_group(
    problem: &Problem,
    group: &[usize],
    posts: &mut [Point],
    counts: &mut CoverageCounts,
    effort: usize,
) -> bool {
    let radius_m = |who: usize| problem.facilities[who].radius_m;
    let there: Vec<Point> = group.iter().map(|&who| posts[who]).collect();
    for &who in group {
        counts.remove(posts[who], radius_m(who));
    }
    let open = Open::of(counts.uncovered().take(MOST_POINTS + 1));
    let chosen = (1..=MOST_POINTS)
        .contains(&open.len())
        .then(|| Group::new(problem, group, &open, &there, effort).solved())
        .flatten();
    for (place, &who) in group.iter().enumerate() {
        if let Some(chosen) = &chosen {
            posts[who] = chosen[place];
        }
        counts.add(posts[who], radius_m(who));
    }
    chosen.is_some()
}

/// Some facilities, and what each could cover of the points that nobody else covers.
struct Group {
    /// Of one point.
    worth: f64,
    words: usize,
    columns: Vec<Columns>,
    /// The column of each facility's present position.
    present: Vec<usize>,
}

/// A column for each facility, and what they are worth together.
#[derive(Clone)]
struct Chosen {
    columns: Vec<usize>,
    value: f64,
}

impl Group {
    fn new(
        problem: &Problem,
        group: &[usize],
        open: &Open,
        there: &[Point],
        effort: usize,
    ) -> Self {
        let columns = |who: &usize| Columns::new(problem, *who, open, there, effort);
        let columns: Vec<Columns> = group.par_iter().map(columns).collect();
        let present = columns.iter().zip(there).map(|(columns, there)| {
            let mut posts = columns.posts.iter();
            posts.position(|post| post == there).unwrap_or_default()
        });
        Self {
            worth: problem.worth.point,
            words: open.len().div_ceil(64),
            present: present.collect(),
            columns,
        }
    }

    /// Better positions than the present ones, if it finds any.
    fn solved(&self) -> Option<Vec<Point>> {
        let present = self.valued(self.present.clone());
        let starts = [present.clone(), self.greedy(), self.in_turn()];
        let improved = starts.into_iter().map(|start| self.improved(start));
        let best = improved.reduce(|best, next| match next.value > best.value + ROUNDING {
            true => next,
            false => best,
        })?;
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let best = self.searched(best, &all);
        (best.value > present.value + ROUNDING).then(|| {
            let posts = self.columns.iter().zip(&best.columns);
            posts.map(|(of, &column)| of.posts[column]).collect()
        })
    }

    fn valued(&self, columns: Vec<usize>) -> Chosen {
        let covered = self.union(&columns, &[]);
        let points: u32 = covered.iter().map(|word| word.count_ones()).sum();
        let each = self.columns.iter().zip(&columns);
        let price: f64 = each.map(|(of, &column)| of.prices[column]).sum();
        Chosen {
            value: self.worth * f64::from(points) - price,
            columns,
        }
    }

    /// What all but some of the facilities cover.
    fn union(&self, columns: &[usize], without: &[usize]) -> Vec<u64> {
        let mut union = vec![0; self.words];
        for (who, &column) in columns.iter().enumerate() {
            if !without.contains(&who) {
                add(&mut union, self.columns[who].set(column));
            }
        }
        union
    }

    /// What each column of a facility would add to a set, best first.
    fn ranked(&self, who: usize, covered: &[u64]) -> Vec<(f64, usize)> {
        let of = &self.columns[who];
        let value = |column: usize| {
            let points = f64::from(of.beyond(column, covered));
            (self.worth * points - of.prices[column], column)
        };
        let mut ranked: Vec<_> = (0..of.len()).map(value).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked
    }

    fn best(&self, who: usize, covered: &[u64]) -> (f64, usize) {
        let of = &self.columns[who];
        let value = |column: usize| {
            let points = f64::from(of.beyond(column, covered));
            (self.worth * points - of.prices[column], column)
        };
        let better = |best: (f64, usize), next: (f64, usize)| if next.0 > best.0 { next } else { best };
        let first = (f64::NEG_INFINITY, 0);
        (0..of.len()).map(value).fold(first, better)
    }

    /// Whoever gains most takes the best position, then the next.
    fn greedy(&self) -> Chosen {
        let mut columns = self.present.clone();
        let mut waiting: Vec<usize> = (0..columns.len()).collect();
        let mut covered = vec![0; self.words];
        while !waiting.is_empty() {
            let bests = waiting.iter().map(|&who| self.best(who, &covered));
            let first = (0, (f64::NEG_INFINITY, 0));
            let (place, (_, column)) = bests.enumerate().fold(first, |best, next| {
                if next.1.0 > best.1.0 { next } else { best }
            });
            let who = waiting.remove(place);
            columns[who] = column;
            add(&mut covered, self.columns[who].set(column));
        }
        self.valued(columns)
    }

    /// One after another takes the best position.
    fn in_turn(&self) -> Chosen {
        let mut covered = vec![0; self.words];
        let take = |who: usize| {
            let (_, column) = self.best(who, &covered);
            add(&mut covered, self.columns[who].set(column));
            column
        };
        let columns = (0..self.columns.len()).map(take).collect();
        self.valued(columns)
    }

    /// Pairs and threes change their positions together until none gains.
    fn improved(&self, start: Chosen) -> Chosen {
        let all = self.columns.len();
        let mut best = start;
        for _ in 0..SWEEPS {
            let before = best.value;
            for a in 0..all {
                for b in a + 1..all {
                    best = self.searched(best, &[a, b]);
                }
            }
            if best.value <= before + ROUNDING {
                for c in 0..all {
                    for (a, b) in (0..c).flat_map(|b| (0..b).map(move |a| (a, b))) {
                        best = self.searched(best, &[a, b, c]);
                    }
                }
            }
            if best.value <= before + ROUNDING {
                break;
            }
        }
        best
    }

    /// The best columns of some facilities while the others keep theirs.
    fn searched(&self, best: Chosen, some: &[usize]) -> Chosen {
        let covered = self.union(&best.columns, some);
        let others = self.columns.iter().enumerate();
        let others = others.filter(|(who, _)| !some.contains(who));
        let price: f64 = others.map(|(who, of)| of.prices[best.columns[who]]).sum();
        let points: u32 = covered.iter().map(|word| word.count_ones()).sum();
        let value = self.worth * f64::from(points) - price;
        let mut search = Search {
            group: self,
            columns: best.columns.clone(),
            best,
            nodes_left: MOST_NODES,
        };
        search.descend(some, &covered, value);
        search.best
    }
}

/// Depth first, and no deeper where even the best columns of those who are left, each for itself, would not do.
struct Search<'a> {
    group: &'a Group,
    columns: Vec<usize>,
    best: Chosen,
    nodes_left: usize,
}

impl Search<'_> {
    fn descend(&mut self, left: &[usize], covered: &[u64], value: f64) {
        let Some((&who, later)) = left.split_first() else {
            if value > self.best.value + ROUNDING {
                self.best = Chosen {
                    columns: self.columns.clone(),
                    value,
                };
            }
            return;
        };
        let bounds = later.iter().map(|&later| self.group.best(later, covered).0);
        let bound: f64 = bounds.sum();
        for (gain, column) in self.group.ranked(who, covered) {
            if value + gain + bound <= self.best.value + ROUNDING || self.nodes_left == 0 {
                return;
            }
            self.nodes_left -= 1;
            self.columns[who] = column;
            let mut more = covered.to_vec();
            add(&mut more, self.group.columns[who].set(column));
            self.descend(later, &more, value + gain);
        }
    }
}

fn add(set: &mut [u64], more: &[u64]) {
    set.iter_mut().zip(more).for_each(|(set, more)| *set |= more);
}
