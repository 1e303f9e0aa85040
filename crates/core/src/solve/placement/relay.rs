//! Positions from where everybody reaches everybody in hops: a network that grows from the middle of the fleet.
//!
//! The facility with the least sum of distances to the others stays where it is and is the root, because it is the one that aggregates. Spots
//! that gain most for each facility that they take, those in between included, are joined one after another; then everybody
//! looks for a better position that leaves the network in one piece.

use super::choice::{Choice, Improvement};
use super::ground::Ground;
use super::{CoverageCounts, Problem, ROUNDING, between};
use crate::vocabulary::Point;

/// How often everybody looks for a better position.
const PASSES: usize = 4;
/// Hops are planned this much shorter than allowed, so that rounding does not cut them.
const HAIR: f64 = 1e-9;
/// Spots that are looked at for each that is joined, those that gain most first.
const MOST_SPOTS: usize = 500;

/// The position of each facility. Whoever cannot be joined to the network stays where it is.
pub(super) fn placed(problem: &Problem) -> Vec<Point> {
    let mut network = Network::new(problem);
    while network.grow() {}
    network.join_the_rest();
    network.improve();
    network.posts
}

struct Network<'a> {
    problem: &'a Problem<'a>,
    hop_m: f64,
    posts: Vec<Point>,
    /// Who is part of it.
    joined: Vec<bool>,
    counts: CoverageCounts,
    spots: Vec<Point>,
}

/// A spot and those who would fly to it and in between.
struct Branch {
    flights: Vec<(usize, Point)>,
    value: f64,
}

impl<'a> Network<'a> {
    fn new(problem: &'a Problem<'a>) -> Self {
        let homes = problem.homes();
        let sum_m = |home: &Point| -> f64 { homes.iter().map(|other| other.distance(*home)).sum() };
        let sums = homes.iter().map(sum_m).enumerate();
        let root = sums.reduce(|best, next| if next.1 < best.1 { next } else { best });
        let root = root.map_or(0, |(root, _)| root);
        let mut joined = vec![false; homes.len()];
        joined[root] = true;
        let ground = Ground::new(problem);
        let mut counts = ground.counts(problem, &[]);
        counts.add(homes[root], problem.facilities[root].radius_m);
        Self {
            problem,
            hop_m: problem.relay_m * (1.0 - HAIR),
            posts: homes,
            joined,
            counts,
            spots: ground.sites.points,
        }
    }

    fn members(&self) -> impl Iterator<Item = usize> {
        let all = self.joined.iter().enumerate();
        all.filter(|(_, joined)| **joined).map(|(who, _)| who)
    }

    fn join(&mut self, who: usize, post: Point) {
        self.joined[who] = true;
        self.posts[who] = post;
        self.counts.add(post, self.problem.facilities[who].radius_m);
    }

    /// Joins the spot that gains most for each facility it takes; whether there is one.
    fn grow(&mut self) -> bool {
        let waiting: Vec<usize> = (0..self.posts.len())
            .filter(|&who| !self.joined[who])
            .collect();
        let Some(&first) = waiting.first() else {
            return false;
        };
        let largest_m = waiting
            .iter()
            .map(|&who| self.problem.facilities[who].radius_m);
        let radius_m = largest_m.fold(self.problem.facilities[first].radius_m, f64::max);
        let gain = |spot: &Point| (self.counts.gain(*spot, radius_m), *spot);
        let mut ranked: Vec<(usize, Point)> = self.spots.iter().map(gain).collect();
        ranked.retain(|(gain, _)| *gain > 0);
        ranked.sort_by_key(|(gain, _)| std::cmp::Reverse(*gain));
        ranked.truncate(MOST_SPOTS);
        let branches = ranked
            .into_iter()
            .filter_map(|(_, spot)| self.branch(spot, &waiting));
        let best = branches.reduce(|best, next| if next.value > best.value { next } else { best });
        let Some(best) = best.filter(|best| best.value > ROUNDING) else {
            return false;
        };
        for (who, post) in best.flights {
            self.join(who, post);
        }
        true
    }

    /// What it takes to join a spot: the nearest facilities fly to where the way from the network turns into hops.
    fn branch(&self, spot: Point, waiting: &[usize]) -> Option<Branch> {
        let (from, distance_m) = self.nearest(spot)?;
        let hops = (distance_m / self.hop_m).ceil().max(1.0);
        if hops > waiting.len() as f64 {
            return None;
        }
        let mut free = waiting.to_vec();
        let mut flights = Vec::new();
        let mut value = 0.0;
        // The end first: it is the farthest, and whoever covers most should be there.
        for hop in (1..=hops as usize).rev() {
            let post = between(from, spot, hop as f64 / hops);
            let worth = |who: usize| {
                let radius_m = self.problem.facilities[who].radius_m;
                let points = self.counts.gain(post, radius_m) as f64;
                self.problem.worth.point * points - self.problem.price(who, post)
            };
            let able = free.iter().enumerate();
            let able = able.filter(|(_, who)| self.may_hover(**who, post));
            let worths = able.map(|(place, &who)| (worth(who), place));
            let best = worths.reduce(|best, next| if next.0 > best.0 { next } else { best });
            let (worth, place) = best?;
            flights.push((free.remove(place), post));
            value += worth;
        }
        Some(Branch {
            flights,
            value: value / hops,
        })
    }

    fn may_hover(&self, who: usize, post: Point) -> bool {
        self.problem.free(who, post) == Some(post) && self.problem.reaches(who, post)
    }

    /// The post of the network that is nearest to a place, and how far it is.
    fn nearest(&self, place: Point) -> Option<(Point, f64)> {
        let posts = self.members().map(|who| self.posts[who]);
        let far = posts.map(|post| (post, post.distance(place)));
        far.reduce(|best, next| if next.1 < best.1 { next } else { best })
    }

    /// Who is not needed stays if it is within a hop, or comes so near.
    fn join_the_rest(&mut self) {
        for _ in 0..self.posts.len() {
            let far = |who: usize| {
                let home = self.problem.facilities[who].home;
                self.nearest(home).map(|(post, m)| (m, who, post))
            };
            let waiting = (0..self.posts.len()).filter(|&who| !self.joined[who]);
            let nearest = waiting
                .filter_map(far)
                .filter_map(|(distance_m, who, post)| {
                    let home = self.problem.facilities[who].home;
                    let share = (self.hop_m / distance_m).min(1.0);
                    let to = match distance_m <= self.hop_m {
                        true => home,
                        false => between(post, home, share),
                    };
                    let able = to == home || self.may_hover(who, to);
                    able.then_some((distance_m, who, to))
                });
            let next = nearest.reduce(|best, next| if next.0 < best.0 { next } else { best });
            let Some((_, who, to)) = next else {
                break;
            };
            self.join(who, to);
        }
        let left: Vec<usize> = (0..self.posts.len())
            .filter(|&who| !self.joined[who])
            .collect();
        for who in left {
            let radius_m = self.problem.facilities[who].radius_m;
            self.counts.add(self.posts[who], radius_m);
        }
    }

    fn improve(&mut self) {
        for _ in 0..PASSES {
            let mut moved = false;
            for who in 0..self.posts.len() {
                let at = self.posts[who];
                let Improvement { to, value } = Choice::new(self.problem, who, at)
                    .best_where(&self.counts, |to| self.holds(who, to));
                if value > self.problem.threshold.min(0.5 * self.problem.worth.point) {
                    let radius_m = self.problem.facilities[who].radius_m;
                    self.counts.shift(at, to, radius_m);
                    self.posts[who] = to;
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
    }

    /// Whether all who are part of it still reach each other with one of them elsewhere.
    fn holds(&self, moved: usize, to: Point) -> bool {
        if !self.joined[moved] {
            return false;
        }
        let post = |who: usize| if who == moved { to } else { self.posts[who] };
        let mut left: Vec<usize> = self.members().filter(|&who| who != moved).collect();
        let mut reached = vec![to];
        while let Some(from) = reached.pop() {
            left.retain(|&who| {
                let near = post(who).distance(from) <= self.problem.relay_m;
                if near {
                    reached.push(post(who));
                }
                !near
            });
        }
        left.is_empty()
    }
}
