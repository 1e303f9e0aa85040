//! What one facility of a small problem could cover: sets of points with the price of covering them.

use super::Problem;
use super::choice::Open;
use crate::vocabulary::Point;

/// Positions of one facility, each with the set of open points that it covers as bits.
pub(super) struct Columns {
    /// Words of 64 bits for each set.
    words: usize,
    bits: Vec<u64>,
    pub(super) posts: Vec<Point>,
    pub(super) prices: Vec<f64>,
}

/// More are not kept: the largest sets come first.
const MOST_COLUMNS: usize = 256;

/// A position that is looked at.
struct Candidate {
    post: Point,
    price: f64,
    bits: Vec<u64>,
    count: u32,
}

impl Columns {
    /// The positions of a facility that no other one of its positions makes superfluous: none covers all that it covers and more for
    /// a price that is at most half a point higher. What is left to gain by flying less is the climb's.
    ///
    /// `posts` are kept whatever they cover, as the first columns.
    pub(super) fn new(
        problem: &Problem,
        who: usize,
        open: &Open,
        posts: &[Point],
        effort: usize,
    ) -> Self {
        let one = &problem.facilities[who];
        let mut columns = Self {
            words: open.len().div_ceil(64),
            bits: Vec::new(),
            posts: Vec::new(),
            prices: Vec::new(),
        };
        for &post in posts.iter().filter(|post| problem.reaches(who, **post)) {
            columns.push(Candidate::new(problem, who, open, post));
        }
        let kept = columns.len();
        let mut found = Vec::new();
        open.posts(one.home, one.radius_m, effort, &mut |post| {
            let free = problem.free(who, post);
            let near = |free: &Point| one.home.distance(*free) <= one.reach_m;
            if let Some(free) = free.filter(near) {
                found.push(Candidate::new(problem, who, open, free));
            }
        });
        found.sort_by(|a, b| {
            let larger = b.count.cmp(&a.count);
            larger.then(a.price.total_cmp(&b.price))
        });
        let slack = 0.5 * problem.worth.point;
        for candidate in found {
            if columns.len() >= kept + MOST_COLUMNS {
                break;
            }
            let superfluous = (kept..columns.len()).any(|column| {
                columns.prices[column] <= candidate.price + slack
                    && is_within(&candidate.bits, columns.set(column))
            });
            if superfluous || !problem.reaches(who, candidate.post) {
                continue;
            }
            let price = problem.price(who, candidate.post);
            columns.push(Candidate { price, ..candidate });
        }
        columns
    }

    fn push(&mut self, candidate: Candidate) {
        self.bits.extend(candidate.bits);
        self.posts.push(candidate.post);
        self.prices.push(candidate.price);
    }

    pub(super) fn len(&self) -> usize {
        self.posts.len()
    }

    pub(super) fn set(&self, column: usize) -> &[u64] {
        &self.bits[column * self.words..(column + 1) * self.words]
    }

    /// How many points a column covers that are not in a set.
    pub(super) fn beyond(&self, column: usize, set: &[u64]) -> u32 {
        let words = self.set(column).iter().zip(set);
        words.map(|(own, other)| (own & !other).count_ones()).sum()
    }
}

impl Candidate {
    fn new(problem: &Problem, who: usize, open: &Open, post: Point) -> Self {
        let mut bits = vec![0; open.len().div_ceil(64)];
        let inside = open.inside(post, problem.facilities[who].radius_m);
        for (index, inside) in inside.enumerate() {
            bits[index / 64] |= u64::from(inside) << (index % 64);
        }
        let count = bits.iter().map(|word| word.count_ones()).sum();
        Self {
            post,
            price: problem.least_price(who, post),
            bits,
            count,
        }
    }
}

fn is_within(small: &[u64], large: &[u64]) -> bool {
    small
        .iter()
        .zip(large)
        .all(|(small, large)| small & !large == 0)
}
