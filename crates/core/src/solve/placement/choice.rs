//! The best position of one facility near the present one, while the others stay where they are.

use super::{CoverageCounts, Problem, between};
use crate::vocabulary::Point;

/// A position and how much better it is than the present one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Improvement {
    pub(super) to: Point,
    pub(super) value: f64,
}

/// Points are built this much nearer to what they cover than the radius, so that rounding does not lose them.
pub(super) const HAIR: f64 = 1e-9;

/// How far beyond its coverage every crossing is looked at, in radii; farther away there are the [`super::spots`].
pub(super) const WINDOW: f64 = 2.0;

/// One facility's choice. Its flight goes straight from its home, so that only the net displacement costs.
pub(super) struct Choice<'a> {
    problem: &'a Problem<'a>,
    who: usize,
    /// Where the plan has it now.
    at: Point,
    home: Point,
    radius_m: f64,
}

/// Points as two arrays, so that counting them runs over lanes.
#[derive(Default)]
pub(super) struct Open {
    x_m: Vec<f64>,
    y_m: Vec<f64>,
}

impl Open {
    pub(super) fn of(points: impl Iterator<Item = Point>) -> Self {
        let mut open = Self::default();
        for point in points {
            open.x_m.push(point.x_m);
            open.y_m.push(point.y_m);
        }
        open
    }

    pub(super) fn len(&self) -> usize {
        self.x_m.len()
    }

    pub(super) fn point(&self, index: usize) -> Point {
        Point::new(self.x_m[index], self.y_m[index])
    }

    /// Whether each is within a radius.
    pub(super) fn inside(&self, center: Point, radius_m: f64) -> impl Iterator<Item = bool> {
        let reach = radius_m * radius_m;
        self.x_m.iter().zip(&self.y_m).map(move |(&x_m, &y_m)| {
            let (dx, dy) = (x_m - center.x_m, y_m - center.y_m);
            dx * dx + dy * dy <= reach
        })
    }

    fn count(&self, center: Point, radius_m: f64) -> usize {
        self.inside(center, radius_m).map(u32::from).sum::<u32>() as usize
    }

    /// Where a set of these points can be covered with the least way from a home: for any set that is the home itself, the point of
    /// one point's circle nearest to home, or a crossing of two points' circles. With few points all of these, with many those
    /// of a sample.
    pub(super) fn posts(
        &self,
        home: Point,
        radius_m: f64,
        effort: usize,
        try_post: &mut impl FnMut(Point),
    ) {
        let radius_m = radius_m * (1.0 - HAIR);
        let all = self.len();
        // Two crossings for each pair of anchors, each tried on all open points.
        let affordable = (effort as f64 / all.max(1) as f64).sqrt() as usize;
        let anchors = all.min(affordable.max(LEAST_ANCHORS));
        let anchor = |i: usize| self.point(i * all / anchors);
        try_post(home);
        for i in 0..anchors {
            let point = anchor(i);
            let distance_m = point.distance(home);
            if distance_m > radius_m {
                try_post(between(home, point, 1.0 - radius_m / distance_m));
            }
            for j in 0..i {
                if let Some(posts) = crossings(point, anchor(j), radius_m) {
                    posts.into_iter().for_each(&mut *try_post);
                }
            }
        }
    }
}

/// However many points there are, so many anchors are looked at.
const LEAST_ANCHORS: usize = 8;

impl<'a> Choice<'a> {
    pub(super) fn new(problem: &'a Problem<'a>, who: usize, at: Point) -> Self {
        let one = &problem.facilities[who];
        Self {
            problem,
            who,
            at,
            home: one.home,
            radius_m: one.radius_m,
        }
    }

    /// What the facility's present position is worth to it alone.
    pub(super) fn now(&self, counts: &CoverageCounts) -> f64 {
        self.then(counts, self.at)
    }

    /// What another position would be worth to it alone.
    pub(super) fn then(&self, counts: &CoverageCounts, to: Point) -> f64 {
        let points = counts.gain_of_move(self.at, to, self.radius_m) as f64;
        self.problem.worth.point * points - self.problem.price(self.who, to)
    }

    /// The best position found within the window.
    pub(super) fn best(&self, counts: &CoverageCounts) -> Improvement {
        self.best_where(counts, |_| true)
    }

    /// The best position found within the window of those that will do.
    pub(super) fn best_where(
        &self,
        counts: &CoverageCounts,
        will_do: impl Fn(Point) -> bool,
    ) -> Improvement {
        let problem = self.problem;
        let open = self.open(counts, WINDOW * self.radius_m);
        let now = self.value(&open, self.at);
        let mut best = Improvement {
            to: self.at,
            value: 0.0,
        };
        let zones = problem.zones(self.who).is_some();
        let mut try_post = |post: Point| {
            let at_most = || self.worth(&open, post) - problem.least_price(self.who, post) - now;
            if zones && at_most() <= best.value {
                return;
            }
            let post = problem.within_reach(self.who, post);
            let value = self.value(&open, post) - now;
            if value > best.value && will_do(post) {
                best = Improvement { to: post, value };
            }
        };
        open.posts(self.home, self.radius_m, problem.effort, &mut try_post);
        let nearer = self.pulled_home(&open, best, now);
        match nearer.to == best.to || will_do(nearer.to) {
            true => nearer,
            false => best,
        }
    }

    /// The present position, or one nearer to home from where as much is covered.
    pub(super) fn nearer_home(&self, counts: &CoverageCounts) -> Point {
        let open = self.open(counts, 0.0);
        let now = self.value(&open, self.at);
        let stay = Improvement {
            to: self.at,
            value: 0.0,
        };
        let nearer = self.pulled_home(&open, stay, now);
        let home = self.value(&open, self.home) - now;
        match home > nearer.value {
            true => self.home,
            false => nearer.to,
        }
    }

    fn open(&self, counts: &CoverageCounts, beyond_m: f64) -> Open {
        Open::of(counts.open_to(self.at, self.radius_m, beyond_m))
    }

    fn worth(&self, open: &Open, post: Point) -> f64 {
        self.problem.worth.point * open.count(post, self.radius_m) as f64
    }

    fn value(&self, open: &Open, post: Point) -> f64 {
        self.worth(open, post) - self.problem.price(self.who, post)
    }

    /// As near to home on the straight way as no point is lost. Sampled candidates leave some slack; complete ones none.
    fn pulled_home(&self, open: &Open, best: Improvement, now: f64) -> Improvement {
        let (home, radius_m) = (self.home, self.radius_m);
        let length_m = home.distance(best.to);
        if length_m <= 0.0 {
            return best;
        }
        let east = (best.to.x_m - home.x_m) / length_m;
        let north = (best.to.y_m - home.y_m) / length_m;
        let mut least_m: f64 = 0.0;
        for index in 0..open.len() {
            let point = open.point(index);
            if point.distance_squared(best.to) > radius_m * radius_m {
                continue;
            }
            let (dx, dy) = (point.x_m - home.x_m, point.y_m - home.y_m);
            let (along_m, beside_m) = (dx * east + dy * north, dx * north - dy * east);
            let half_chord_m = (radius_m * radius_m - beside_m * beside_m).max(0.0).sqrt();
            least_m = least_m.max(along_m - half_chord_m * (1.0 - HAIR));
        }
        let nearer = between(home, best.to, (least_m / length_m).clamp(0.0, 1.0));
        let to = self.problem.within_reach(self.who, nearer);
        let value = self.value(open, to) - now;
        if value > best.value {
            Improvement { to, value }
        } else {
            best
        }
    }
}

/// Where two circles of one radius cross.
pub(super) fn crossings(a: Point, b: Point, radius_m: f64) -> Option<[Point; 2]> {
    let squared = a.distance_squared(b);
    let height_squared = radius_m * radius_m - squared / 4.0;
    if squared <= 0.0 || height_squared < 0.0 {
        return None;
    }
    let height = (height_squared / squared).sqrt();
    let middle = between(a, b, 0.5);
    let (dx, dy) = ((b.y_m - a.y_m) * height, (a.x_m - b.x_m) * height);
    Some([
        Point::new(middle.x_m + dx, middle.y_m + dy),
        Point::new(middle.x_m - dx, middle.y_m - dy),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_cross_at_their_radius_from_both() {
        let (a, b) = (Point::new(1.0, 2.0), Point::new(4.0, 6.0));
        let posts = crossings(a, b, 3.0).unwrap();
        assert_ne!(posts[0], posts[1]);
        for post in posts {
            assert!((post.distance(a) - 3.0).abs() < 1e-12);
            assert!((post.distance(b) - 3.0).abs() < 1e-12);
        }
        assert!(crossings(a, b, 2.4).is_none());
        assert!(crossings(a, a, 2.4).is_none());
    }
}
