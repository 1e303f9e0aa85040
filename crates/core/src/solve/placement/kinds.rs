//! Facilities that are the same in all respects: who of them goes makes no difference.

use std::collections::BTreeMap;

use super::{Facility, Problem};
use crate::vocabulary::Point;

/// Facilities of one kind at one place: one of them looks for a better position, the others wait behind it.
pub(super) struct Stacks {
    /// Each facility's kind: the first facility that is the same.
    kinds: Vec<usize>,
    /// Who waits at a place, last first.
    waiting: BTreeMap<(usize, u64, u64), Vec<usize>>,
    /// Who waits at all.
    waits: Vec<bool>,
}

impl Stacks {
    pub(super) fn new(problem: &Problem, at: &[Point]) -> Self {
        let mut stacks = Self {
            kinds: kinds(problem),
            waiting: BTreeMap::new(),
            waits: vec![false; at.len()],
        };
        for who in (0..at.len()).rev() {
            let key = stacks.key(who, at[who]);
            stacks.waiting.entry(key).or_default().push(who);
            stacks.waits[who] = true;
        }
        // The first of each stands in front.
        for stack in stacks.waiting.values_mut() {
            if let Some(first) = stack.pop() {
                stacks.waits[first] = false;
            }
        }
        stacks.waiting.retain(|_, stack| !stack.is_empty());
        stacks
    }

    /// Whether a facility waits behind another.
    pub(super) fn waits(&self, who: usize) -> bool {
        self.waits[who]
    }

    /// Who is next at the place that a facility has left.
    pub(super) fn next(&mut self, left: usize, place: Point) -> Option<usize> {
        let key = self.key(left, place);
        let stack = self.waiting.get_mut(&key)?;
        let next = stack.pop()?;
        self.waits[next] = false;
        Some(next)
    }

    fn key(&self, who: usize, place: Point) -> (usize, u64, u64) {
        (self.kinds[who], place.x_m.to_bits(), place.y_m.to_bits())
    }
}

fn kinds(problem: &Problem) -> Vec<usize> {
    let mut firsts: BTreeMap<[u64; 5], Vec<usize>> = BTreeMap::new();
    let kind = |(who, one): (usize, &Facility)| {
        let numbers = [
            one.home.x_m,
            one.home.y_m,
            one.radius_m,
            one.reach_m,
            one.altitude_m,
        ];
        let same = firsts.entry(numbers.map(f64::to_bits)).or_default();
        let first = same.iter().find(|first| problem.travel.alike(**first, who));
        first.copied().unwrap_or_else(|| {
            same.push(who);
            who
        })
    };
    problem.facilities.iter().enumerate().map(kind).collect()
}
