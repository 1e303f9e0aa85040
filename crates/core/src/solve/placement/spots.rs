//! Spots all over the ground that are worth a flight, and how many points each would gain now.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::choice::{Choice, Improvement};
use super::{CoverageCounts, Problem};
use crate::grid::Grid;
use crate::vocabulary::Point;

/// The middles of the points in squares of half a radius: wherever points are, a spot covers some of them.
pub(super) struct Sites {
    pub(super) points: Vec<Point>,
    grid: Grid,
    /// The least radius of each class: facilities that cover about equally far.
    radii_m: Vec<f64>,
    /// Each facility's class.
    class_of: Vec<usize>,
}

/// The spots of a plan as it grows.
pub(super) struct Spots<'a> {
    sites: &'a Sites,
    classes: Vec<Class>,
}

/// What spots gain for facilities of one class.
struct Class {
    radius_m: f64,
    gains: Vec<u32>,
    /// Spots that gain, by what they gain.
    ranked: BTreeSet<(u32, Reverse<u32>)>,
}

/// Squares per radius.
const SQUARES_PER_RADIUS: f64 = 2.0;
/// Radii that differ by less than this factor share their gains.
const CLASS_FACTOR: f64 = 1.15;
/// Spots just beyond a facility's reach for which the end of its reach is tried.
const CUT_SHORT: usize = 16;

impl Sites {
    pub(super) fn new(problem: &Problem, counts: &CoverageCounts) -> Self {
        let (radii_m, class_of) = classes(problem);
        let least_m = radii_m.iter().copied().fold(f64::INFINITY, f64::min);
        let points = middles(counts.points(), least_m / SQUARES_PER_RADIUS);
        let [width_m, height_m] = problem.size_m;
        let mut grid = Grid::new(width_m, height_m, least_m);
        grid.rebuild(&points);
        Self {
            points,
            grid,
            radii_m,
            class_of,
        }
    }
}

impl<'a> Spots<'a> {
    pub(super) fn new(sites: &'a Sites, counts: &CoverageCounts) -> Self {
        let class = |&radius_m: &f64| {
            let gain = |&spot: &Point| counts.gain(spot, radius_m) as u32;
            let gains: Vec<u32> = sites.points.par_iter().map(gain).collect();
            let gaining = (0..).zip(&gains).filter(|(_, gain)| **gain > 0);
            let ranked = gaining.map(|(spot, &gain)| (gain, Reverse(spot)));
            Class {
                radius_m,
                ranked: ranked.collect(),
                gains,
            }
        };
        Self {
            classes: sites.radii_m.iter().map(class).collect(),
            sites,
        }
    }

    /// Counts again what changed when a facility came to or left a place.
    pub(super) fn update(&mut self, counts: &CoverageCounts, around: Point, radius_m: f64) {
        let sites = self.sites;
        for class in &mut self.classes {
            let near_m = radius_m + class.radius_m;
            for spot in sites.grid.search(&sites.points, around, near_m) {
                let gain = counts.gain(sites.points[spot as usize], class.radius_m) as u32;
                let old = std::mem::replace(&mut class.gains[spot as usize], gain);
                if old == gain {
                    continue;
                }
                class.ranked.remove(&(old, Reverse(spot)));
                if gain > 0 {
                    class.ranked.insert((gain, Reverse(spot)));
                }
            }
        }
    }

    /// The best of the spots for a facility, if it is better than what is known.
    pub(super) fn best(
        &self,
        problem: &Problem,
        who: usize,
        at: Point,
        counts: &CoverageCounts,
        known: Improvement,
    ) -> Improvement {
        let choice = Choice::new(problem, who, at);
        let now = choice.now(counts);
        let one = &problem.facilities[who];
        let mut best = known;
        let mut cut_short = 0;
        for &(gain, Reverse(spot)) in self.classes[self.sites.class_of[who]].ranked.iter().rev() {
            let worth = problem.worth.point * f64::from(gain) - now;
            if worth <= best.value {
                break;
            }
            let spot = self.sites.points[spot as usize];
            let distance_m = one.home.distance(spot);
            let too_far = distance_m > one.reach_m;
            if too_far && (distance_m > one.reach_m + one.radius_m || cut_short >= CUT_SHORT) {
                continue;
            }
            cut_short += usize::from(too_far);
            if !too_far && worth - problem.least_price(who, spot) <= best.value {
                continue;
            }
            let to = problem.within_reach(who, spot);
            let value = choice.then(counts, to) - now;
            if value > best.value {
                best = Improvement { to, value };
            }
        }
        best
    }
}

/// The least radius of each class, and the class of each facility.
fn classes(problem: &Problem) -> (Vec<f64>, Vec<usize>) {
    let mut radii_m: Vec<f64> = problem.facilities.iter().map(|one| one.radius_m).collect();
    radii_m.sort_by(f64::total_cmp);
    let mut least_m: Vec<f64> = Vec::new();
    for radius_m in radii_m {
        if least_m
            .last()
            .is_none_or(|last| radius_m > last * CLASS_FACTOR)
        {
            least_m.push(radius_m);
        }
    }
    let class = |radius_m: f64| least_m.partition_point(|least| *least <= radius_m) - 1;
    let of = problem.facilities.iter().map(|one| class(one.radius_m));
    let class_of = of.collect();
    (least_m, class_of)
}

/// The middle of the points in each square that has some. Points in the order of the ground are mostly in the square of the one before.
fn middles(points: &[Point], square_m: f64) -> Vec<Point> {
    // Squares too small to be told apart would each hold one point anyway.
    let square_m = square_m.max(1e-3);
    let square = |point: &Point| {
        let index = |at_m: f64| (at_m / square_m) as u64;
        (index(point.y_m), index(point.x_m))
    };
    let mut sums: BTreeMap<(u64, u64), (f64, f64, f64)> = BTreeMap::new();
    for run in points.chunk_by(|a, b| square(a) == square(b)) {
        let sum = sums.entry(square(&run[0])).or_default();
        for point in run {
            *sum = (sum.0 + point.x_m, sum.1 + point.y_m, sum.2 + 1.0);
        }
    }
    let middle = |(x_m, y_m, all): (f64, f64, f64)| Point::new(x_m / all, y_m / all);
    sums.into_values().map(middle).collect()
}
