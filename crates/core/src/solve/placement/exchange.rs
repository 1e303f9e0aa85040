//! Groups of facilities give up their positions together and take the best ones together.

use rayon::prelude::*;

use super::choice::Open;
use super::columns::Columns;
use super::ground::Ground;
use super::relaxed::Relaxed;
use super::{CoverageCounts, Problem, ROUNDING};
use crate::vocabulary::Point;

/// Facilities that are placed together; as many or fewer are one group.
const GROUP: usize = 8;
/// More points than this are the climb's.
const MOST_POINTS: usize = 1 << 10;
/// In fleets of more, nobody is placed together: the climb alone takes seconds by then.
const MOST_FACILITIES: usize = 128;
/// Points looked at for the columns of one facility, in a fleet that is one group and in others.
const EFFORT: [usize; 2] = [1_000_000, 250_000];
/// Words of sets that are looked at for a group in all, in a fleet that is one group and in others: tens of milliseconds. A quarter
/// of it is for the search of all positions together, half for what comes before.
const WORK: [usize; 2] = [12_000_000, 2_000_000];
/// Searches of a group after one that found something.
const SWEEPS: usize = 6;
/// Columns of each facility that are tried as the first choice where a search did not come to its end.
const FIRST_CHOICES: usize = 4;

/// Improves positions; whether it did.
pub(super) fn improve(problem: &Problem, ground: &Ground, posts: &mut [Point]) -> bool {
    let all = posts.len();
    if !(2..=MOST_FACILITIES).contains(&all) {
        return false;
    }
    let mut counts = ground.counts(problem, posts);
    if all <= GROUP {
        let group: Vec<usize> = (0..all).collect();
        return improve_group(problem, &group, posts, &mut counts, 0);
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
        improved |= improve_group(problem, &near, posts, &mut counts, 1);
    }
    improved
}

fn improve_group(
    problem: &Problem,
    group: &[usize],
    posts: &mut [Point],
    counts: &mut CoverageCounts,
    many: usize,
) -> bool {
    let radius_m = |who: usize| problem.facilities[who].radius_m;
    let there: Vec<Point> = group.iter().map(|&who| posts[who]).collect();
    for &who in group {
        counts.remove(posts[who], radius_m(who));
    }
    let open = Open::of(counts.uncovered().take(MOST_POINTS + 1));
    let chosen = (1..=MOST_POINTS)
        .contains(&open.len())
        .then(|| Group::new(problem, group, &open, &there, EFFORT[many]).solved(WORK[many]))
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
pub(super) struct Group {
    /// Of one point.
    pub(super) worth: f64,
    pub(super) words: usize,
    pub(super) columns: Vec<Columns>,
    /// The numbers of each facility's columns.
    all: Vec<Vec<usize>>,
    /// The column of each facility's present position.
    present: Vec<usize>,
}

/// A column for each facility, and what they are worth together.
#[derive(Clone)]
pub(super) struct Chosen {
    columns: Vec<usize>,
    pub(super) value: f64,
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
            all: columns.iter().map(|of| (0..of.len()).collect()).collect(),
            columns,
        }
    }

    /// Better positions than the present ones, if it finds any.
    fn solved(&self, work: usize) -> Option<Vec<Point>> {
        let present = self.valued(self.present.clone());
        let waiting: Vec<usize> = (0..self.columns.len()).collect();
        let greedy = self.greedy(self.present.clone(), vec![0; self.words], waiting);
        let starts = [present.clone(), greedy, self.in_turn()];
        let better = |best: Chosen, next: Chosen| match next.value > best.value + ROUNDING {
            true => next,
            false => best,
        };
        let (share, mut left) = (work / 8, work / 2);
        let improved = starts
            .into_iter()
            .map(|start| self.paired(start, &mut left));
        let best = improved.reduce(better)?;
        let best = self.improved(best, &mut left);
        let mut left = work / 4;
        let mut best = self.searched_all(best, &mut left);
        if left == 0 {
            // It did not come to its end.
            let starts = self.first_choices();
            let each = share / starts.len().max(1);
            let others = starts.into_par_iter();
            let others = others.map(|start| self.paired(start, &mut each.clone()));
            let others: Vec<Chosen> = others.collect();
            let other = others.into_iter().fold(best, better);
            best = self.improved(other, &mut share.clone());
        }
        (best.value > present.value + ROUNDING).then(|| {
            let posts = self.columns.iter().zip(&best.columns);
            posts.map(|(of, &column)| of.posts[column]).collect()
        })
    }

    /// Greedy choices after each of the best choices of each facility.
    fn first_choices(&self) -> Vec<Chosen> {
        let nothing = vec![0; self.words];
        let after = |(who, column): (usize, usize)| {
            let mut columns = self.present.clone();
            columns[who] = column;
            let covered = self.columns[who].set(column).to_vec();
            let waiting = (0..columns.len()).filter(|&other| other != who).collect();
            self.greedy(columns, covered, waiting)
        };
        let firsts = |who: usize| {
            let ranked = self
                .ranked(who, &self.all[who], &nothing, f64::NEG_INFINITY)
                .into_iter()
                .take(FIRST_CHOICES);
            ranked.map(move |(_, column)| (who, column))
        };
        (0..self.columns.len())
            .flat_map(firsts)
            .map(after)
            .collect()
    }

    pub(super) fn valued(&self, columns: Vec<usize>) -> Chosen {
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

    /// What a column of a facility would add to a set.
    fn gain(&self, who: usize, column: usize, covered: &[u64]) -> f64 {
        let of = &self.columns[who];
        self.worth * f64::from(of.beyond(column, covered)) - of.prices[column]
    }

    /// What some columns of a facility would add to a set, best first, without those that add no more than `least`.
    fn ranked(&self, who: usize, some: &[usize], covered: &[u64], least: f64) -> Vec<(f64, usize)> {
        let values = some
            .iter()
            .map(|&column| (self.gain(who, column, covered), column));
        let mut ranked: Vec<_> = values.filter(|(value, _)| *value > least).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked
    }

    fn best(&self, who: usize, covered: &[u64]) -> (f64, usize) {
        let better =
            |best: (f64, usize), next: (f64, usize)| if next.0 > best.0 { next } else { best };
        let first = (f64::NEG_INFINITY, 0);
        let all = self.all[who].iter();
        all.map(|&column| (self.gain(who, column, covered), column))
            .fold(first, better)
    }

    /// Of those who wait, whoever gains most takes the best position, then the next.
    fn greedy(&self, columns: Vec<usize>, covered: Vec<u64>, waiting: Vec<usize>) -> Chosen {
        let (mut columns, mut covered, mut waiting) = (columns, covered, waiting);
        while !waiting.is_empty() {
            let bests = waiting.iter().map(|&who| self.best(who, &covered));
            let first = (0, (f64::NEG_INFINITY, 0));
            let (place, (_, column)) =
                bests.enumerate().fold(
                    first,
                    |best, next| {
                        if next.1.0 > best.1.0 { next } else { best }
                    },
                );
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

    /// Pairs change their positions together until none gains.
    fn paired(&self, start: Chosen, work: &mut usize) -> Chosen {
        let all = self.columns.len();
        let mut best = start;
        for _ in 0..SWEEPS {
            let before = best.value;
            for (a, b) in (0..all).flat_map(|b| (0..b).map(move |a| (a, b))) {
                best = self.searched(best, &[a, b], work);
            }
            if best.value <= before + ROUNDING {
                break;
            }
        }
        best
    }

    /// Pairs and threes change their positions together until none gains.
    fn improved(&self, start: Chosen, work: &mut usize) -> Chosen {
        let all = self.columns.len();
        let mut best = self.paired(start, work);
        for _ in 0..SWEEPS {
            let before = best.value;
            for c in 0..all {
                for (a, b) in (0..c).flat_map(|b| (0..b).map(move |a| (a, b))) {
                    best = self.searched(best, &[a, b, c], work);
                }
            }
            if best.value <= before + ROUNDING {
                break;
            }
            best = self.paired(best, work);
        }
        best
    }

    /// The best columns of some facilities while the others keep theirs; of those found, if the work runs out.
    fn searched(&self, best: Chosen, some: &[usize], work: &mut usize) -> Chosen {
        let covered = self.union(&best.columns, some);
        let others = self.columns.iter().enumerate();
        let others = others.filter(|(who, _)| !some.contains(who));
        let price: f64 = others.map(|(who, of)| of.prices[best.columns[who]]).sum();
        let points: u32 = covered.iter().map(|word| word.count_ones()).sum();
        let value = self.worth * f64::from(points) - price;
        let mut search = Search {
            group: self,
            candidates: &self.all,
            relaxed: None,
            step: ROUNDING,
            columns: best.columns.clone(),
            best,
            work,
        };
        search.descend(some, &covered, value);
        search.best
    }

    /// The best columns of all; of those found, if the work runs out. Less than an eighth of a point is not looked for: what
    /// is left to gain by flying less is the climb's.
    fn searched_all(&self, best: Chosen, work: &mut usize) -> Chosen {
        let step = self.worth / 8.0;
        let relaxed = Relaxed::new(self, &best, *work / 2);
        let best = self.paired(relaxed.chosen.clone(), work);
        let candidates = relaxed.columns(best.value + step);
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by_key(|&who| (candidates[who].len(), who));
        let mut search = Search {
            group: self,
            candidates: &candidates,
            relaxed: Some(&relaxed),
            step,
            columns: best.columns.clone(),
            best,
            work,
        };
        search.descend(&order, &vec![0; self.words], 0.0);
        search.best
    }
}

/// Depth first, and no deeper where even the best columns of those who are left, each for itself, would not do.
struct Search<'a> {
    group: &'a Group,
    /// The columns of each facility that are tried.
    candidates: &'a [Vec<usize>],
    relaxed: Option<&'a Relaxed>,
    /// What something better is better by.
    step: f64,
    columns: Vec<usize>,
    best: Chosen,
    /// Words that may still be looked at.
    work: &'a mut usize,
}

impl Search<'_> {
    fn descend(&mut self, left: &[usize], covered: &[u64], value: f64) {
        let Some((&who, later)) = left.split_first() else {
            if value > self.best.value + self.step {
                self.best = Chosen {
                    columns: self.columns.clone(),
                    value,
                };
            }
            return;
        };
        if (self.relaxed).is_some_and(|relaxed| {
            value + relaxed.beyond(covered, left) <= self.best.value + self.step
        }) {
            *self.work = self.work.saturating_sub(covered.len());
            return;
        }
        let columns = left.iter().map(|&who| self.candidates[who].len());
        let words = columns.sum::<usize>() * self.group.words;
        *self.work = self.work.saturating_sub(words);
        let bounds = later.iter().map(|&later| self.most(later, covered));
        let bound: f64 = bounds.sum();
        let least = self.best.value + self.step - value - bound;
        for (gain, column) in self
            .group
            .ranked(who, &self.candidates[who], covered, least)
        {
            if value + gain + bound <= self.best.value + self.step || *self.work == 0 {
                return;
            }
            self.columns[who] = column;
            let mut more = covered.to_vec();
            add(&mut more, self.group.columns[who].set(column));
            self.descend(later, &more, value + gain);
        }
    }

    /// The most that a column of a facility adds to a set.
    fn most(&self, who: usize, covered: &[u64]) -> f64 {
        let columns = self.candidates[who].iter();
        let values = columns.map(|&column| self.group.gain(who, column, covered));
        values.fold(f64::NEG_INFINITY, f64::max)
    }
}

fn add(set: &mut [u64], more: &[u64]) {
    set.iter_mut()
        .zip(more)
        .for_each(|(set, more)| *set |= more);
}
