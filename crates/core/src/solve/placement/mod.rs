//! Where facilities that can fly should hover, each covering the points within its radius: maximal covering location with a
//! price of the way there.
//!
//! The objective is `worth.point` for every point that somebody covers, less `worth.kilojoule` for every kilojoule of flight. One sum
//! over all, so that every step can only raise it:
//!
//! 1. `climb`: of all facilities' best positions the one that gains most is taken, until none gains. A facility looks at every
//!    crossing of circles near it, and at spots all over the ground (`spots`).
//! 2. `exchange`: groups of facilities give up their positions together and take the best ones together. A small fleet is one group.
//! 3. `matching`: who flies where, for the least energy.
//! 4. `settled`: back towards home while nobody is lost.
//!
//! Nothing about it is random, and nothing depends on the number of threads.

mod choice;
mod climb;
mod columns;
mod coverage;
mod exchange;
mod ground;
mod kinds;
mod matching;
mod posts;
mod relaxed;
mod relay;
mod spots;

pub use coverage::CoverageCounts;

use super::airspace::Airspace;
use super::obstacles::Obstacles;
use crate::vocabulary::Point;
use choice::Choice;
use climb::Climb;
use ground::Ground;

/// What coverage and flight are worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    /// Of one point that is covered.
    pub point: f64,
    /// Of a kilojoule not flown. 0: energy decides only between plans that cover the same.
    pub kilojoule: f64,
}

/// Who can be placed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facility {
    /// Where it is, inside the area.
    pub home: Point,
    /// How far it covers, m.
    pub radius_m: f64,
    /// How far it can fly, m.
    pub reach_m: f64,
    /// How high it flies, m: zones may be lower.
    pub altitude_m: f64,
}

/// What flights take.
pub trait Travel: Sync {
    /// Joules of a facility's flight from its home to a place, around zones.
    fn joules(&self, who: usize, to: Point) -> f64;

    /// Joules if the way were straight, which is never more.
    fn straight_joules(&self, who: usize, to: Point) -> f64;

    /// Whether two facilities with the same home take the same joules wherever they go.
    fn alike(&self, one: usize, other: usize) -> bool;
}

/// What is to be placed where, and for whom.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// Extents of the ground from [0, 0], which nobody leaves, m.
    pub size_m: [f64; 2],
    /// What nobody flies into.
    pub air: &'a Airspace,
    /// Who is to be covered.
    pub points: &'a [Point],
    /// Who covers.
    pub facilities: &'a [Facility],
    /// What flights take.
    pub travel: &'a dyn Travel,
    /// What is worth what.
    pub worth: Worth,
    /// All facilities form one network of hops up to so long, m; 0: they need none.
    pub relay_m: f64,
    /// Points looked at for one choice of one facility, all its candidates together.
    pub effort: usize,
    /// What a move of the climb must gain.
    pub threshold: f64,
}

/// The share of a radius that is kept as a margin unless another is asked for: so far points may drift.
pub const MARGIN_SHARE: f64 = 0.01;
/// Points looked at for one choice.
pub const EFFORT: usize = 300_000;
/// What a move must gain where one facility's share of the points is worth 1.
pub const THRESHOLD: f64 = 2e-3;

/// How often a plan is taken apart and climbed again; it seldom takes more than two.
const ROUNDS: usize = 4;
/// Gains below this are rounding.
const ROUNDING: f64 = 1e-9;
const JOULES_PER_KJ: f64 = 1e3;

/// The position of each facility: inside the area, outside of zones, within its reach.
#[must_use]
pub fn place(problem: &Problem) -> Vec<Point> {
    let homes = problem.homes();
    if problem.points.is_empty() || homes.is_empty() || problem.worth.point <= 0.0 {
        return homes;
    }
    let problem = &problem.with_energy_last();
    if problem.relay_m > 0.0 {
        return relay::placed(problem);
    }
    let ground = Ground::new(problem);
    let climbed = |from: Vec<Point>| {
        let (posts, covered) = Climb::new(problem, &ground, from).run();
        let value = problem.value(&posts, covered);
        (posts, value)
    };
    let (mut best, mut value) = climbed(homes);
    for _ in 0..ROUNDS {
        let mut next = best.clone();
        let exchanged = exchange::improve(problem, &ground, &mut next);
        let reassigned = matching::reassign(problem, &mut next);
        if !exchanged && !reassigned {
            break;
        }
        let (next, found) = climbed(next);
        if found <= value + ROUNDING {
            break;
        }
        (best, value) = (next, found);
    }
    let (mut settled, _) = problem.settled(&ground, &best);
    matching::reassign(problem, &mut settled);
    let (settled, found) = problem.settled(&ground, &settled);
    match found >= value {
        true => settled,
        false => best,
    }
}

impl Problem<'_> {
    fn homes(&self) -> Vec<Point> {
        self.facilities.iter().map(|one| one.home).collect()
    }

    fn largest_m(&self) -> f64 {
        let radii_m = self.facilities.iter().map(|one| one.radius_m);
        radii_m.fold(0.0, f64::max)
    }

    /// The same with a price of energy, if it has none: so small that all flights together are worth less than one point.
    fn with_energy_last(&self) -> Self {
        let corner = Point::new(self.size_m[0], self.size_m[1]);
        // By the triangle inequality no place is farther than both of these together.
        let ends = [Point::default(), corner];
        let far = |who: usize| -> f64 {
            let joules = ends.map(|end| self.travel.straight_joules(who, end));
            joules.iter().sum()
        };
        let all_kj: f64 = (0..self.facilities.len()).map(far).sum::<f64>() / JOULES_PER_KJ;
        let least = self.worth.point / (8.0 * (1.0 + all_kj));
        let mut same = *self;
        if same.worth.kilojoule <= 0.0 {
            same.worth.kilojoule = least;
        }
        same
    }

    /// What a flight costs, in the objective's unit.
    fn price(&self, who: usize, to: Point) -> f64 {
        self.worth.kilojoule * self.travel.joules(who, to) / JOULES_PER_KJ
    }

    /// At least what a flight costs: ways around zones take longer to find.
    fn least_price(&self, who: usize, to: Point) -> f64 {
        self.worth.kilojoule * self.travel.straight_joules(who, to) / JOULES_PER_KJ
    }

    fn zones(&self, who: usize) -> Option<&Obstacles> {
        self.air.at(self.facilities[who].altitude_m)
    }

    /// The nearest place to this one where the facility may hover, however far.
    fn free(&self, who: usize, place: Point) -> Option<Point> {
        let inside = Point::new(
            place.x_m.clamp(0.0, self.size_m[0]),
            place.y_m.clamp(0.0, self.size_m[1]),
        );
        let corner = Point::new(self.size_m[0], self.size_m[1]);
        match self.zones(who) {
            Some(zones) => zones.nearest_free(inside, (Point::default(), corner)),
            None => Some(inside),
        }
    }

    /// Whether the facility gets to a place where it may hover.
    fn reaches(&self, who: usize, place: Point) -> bool {
        let Facility {
            home,
            reach_m,
            altitude_m,
            ..
        } = self.facilities[who];
        home == place
            || home.distance(place) <= reach_m
                && (self.zones(who).is_none()
                    || self.air.route_m(home, place, altitude_m) <= reach_m)
    }

    /// The point on the way to `place` up to which the facility gets, where it may hover.
    fn within_reach(&self, who: usize, place: Point) -> Point {
        let Facility { home, reach_m, .. } = self.facilities[who];
        let Some(free) = self.free(who, place) else {
            return home;
        };
        let Some(zones) = self.zones(who) else {
            let distance_m = home.distance(free);
            return match distance_m <= reach_m {
                true => free,
                false => between(home, free, reach_m / distance_m),
            };
        };
        let Some(route) = zones.route(home, free) else {
            return home;
        };
        let mut left_m = reach_m;
        for leg in route.windows(2) {
            let leg_m = leg[0].distance(leg[1]);
            if leg_m > left_m {
                let there = between(leg[0], leg[1], left_m / leg_m);
                let ok = !zones.contains(there) && self.reaches(who, there);
                return if ok { there } else { home };
            }
            left_m -= leg_m;
        }
        route.last().copied().unwrap_or(home)
    }

    /// The objective, with so many points covered.
    fn value(&self, posts: &[Point], covered: usize) -> f64 {
        let prices = posts.iter().enumerate();
        let price: f64 = prices.map(|(who, &post)| self.price(who, post)).sum();
        self.worth.point * covered as f64 - price
    }

    /// Each as near to home as no point is lost, and what the objective is then.
    fn settled(&self, ground: &Ground, posts: &[Point]) -> (Vec<Point>, f64) {
        let mut counts = ground.counts(self, posts);
        let mut settled = posts.to_vec();
        for (who, post) in settled.iter_mut().enumerate() {
            let to = Choice::new(self, who, *post).nearer_home(&counts);
            counts.shift(*post, to, self.facilities[who].radius_m);
            *post = to;
        }
        let value = self.value(&settled, counts.covered());
        (settled, value)
    }
}

fn between(from: Point, to: Point, share: f64) -> Point {
    Point::new(
        from.x_m + share * (to.x_m - from.x_m),
        from.y_m + share * (to.y_m - from.y_m),
    )
}
