//! The best position for one UAV while the others stay where they are.

use super::{CoverageCounts, Fleet, FleetUav, JOULES_PER_KJ};
use crate::solve::obstacles::Obstacles;
use crate::vocabulary::Point;

/// What coverage and flight are worth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worth {
    /// Of one device.
    pub(super) device: f64,
    /// Of a kilojoule not flown.
    pub(super) kilojoule: f64,
}

/// A position and how much better it is than the present one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Improvement {
    pub(super) to: Point,
    pub(super) value: f64,
}

/// Points are built this much nearer to devices than the radius, so that rounding does not lose them.
const HAIR: f64 = 1e-9;

/// One UAV's choice. Its flight goes straight from its first position, so that only the net displacement costs.
pub(super) struct Choice<'a> {
    pub(super) fleet: &'a Fleet<'a>,
    pub(super) uav: &'a FleetUav,
    /// Where the plan has it now.
    pub(super) at: Point,
    pub(super) worth: Worth,
    /// How far from `at` it looks, m.
    pub(super) horizon_m: f64,
    /// Devices looked at, all candidates together.
    pub(super) effort: usize,
}

/// Devices as two arrays, so that counting them runs over lanes.
struct Open {
    x_m: Vec<f64>,
    y_m: Vec<f64>,
}

impl Open {
    fn point(&self, index: usize) -> Point {
        Point::new(self.x_m[index], self.y_m[index])
    }

    fn count(&self, center: Point, radius_m: f64) -> usize {
        let reach = radius_m * radius_m;
        let inside = |(&x_m, &y_m): (&f64, &f64)| {
            let (dx, dy) = (x_m - center.x_m, y_m - center.y_m);
            u32::from(dx * dx + dy * dy <= reach)
        };
        self.x_m.iter().zip(&self.y_m).map(inside).sum::<u32>() as usize
    }
}

impl Choice<'_> {
    /// The best position found.
    ///
    /// For any set of devices the position nearest to home that covers them all is home itself, the point of one device's circle
    /// nearest to home, or a crossing of two devices' circles. With few devices all of these are tried, so the answer is the
    /// best there is within the horizon; with many, those of a sample.
    pub(super) fn best(&self, counts: &CoverageCounts) -> Improvement {
        let mut open = Open {
            x_m: Vec::new(),
            y_m: Vec::new(),
        };
        for device in counts.open_to(self.at, self.uav.coverage_radius_m, self.horizon_m) {
            open.x_m.push(device.x_m);
            open.y_m.push(device.y_m);
        }
        let now = self.value(&open, self.at);
        let mut best = Improvement {
            to: self.at,
            value: 0.0,
        };
        let mut try_post = |post: Point| {
            if self.zones().is_some() && self.value_at_most(&open, post) - now <= best.value {
                return;
            }
            let post = self.allowed(post);
            let value = self.value(&open, post) - now;
            if value > best.value {
                best = Improvement { to: post, value };
            }
        };
        try_post(self.uav.position);
        self.posts(&open, &mut try_post);
        self.pulled_home(&open, best, now)
    }

    fn value(&self, open: &Open, post: Point) -> f64 {
        self.worth_of(open, post, self.fleet.flight(self.uav, post).joules)
    }

    /// What a post would be worth if the way to it were straight: ways around zones take longer to find.
    fn value_at_most(&self, open: &Open, post: Point) -> f64 {
        let straight = self.uav.cruise.flight(self.uav.position, post);
        self.worth_of(open, post, straight.joules)
    }

    fn worth_of(&self, open: &Open, post: Point, flight_j: f64) -> f64 {
        let devices = open.count(post, self.uav.coverage_radius_m) as f64;
        self.worth.device * devices - self.worth.kilojoule * flight_j / JOULES_PER_KJ
    }

    fn zones(&self) -> Option<&Obstacles> {
        self.fleet.air.at(self.uav.altitude_m)
    }

    /// The point on the way to `post` that the battery allows, inside the area.
    fn allowed(&self, post: Point) -> Point {
        let home = self.uav.position;
        let inside = Point::new(
            post.x_m.clamp(0.0, self.fleet.area.width_m),
            post.y_m.clamp(0.0, self.fleet.area.height_m),
        );
        let (distance_m, reach_m) = (
            home.distance(inside),
            self.uav.cruise.reach_m(self.uav.spare_j),
        );
        if let Some(zones) = self.zones() {
            return self.allowed_among(zones, inside, reach_m);
        }
        if distance_m <= reach_m {
            inside
        } else {
            between(home, inside, reach_m / distance_m)
        }
    }

    /// The same where zones are in the way: as far along the way around them.
    fn allowed_among(&self, zones: &Obstacles, post: Point, reach_m: f64) -> Point {
        let home = self.uav.position;
        let free = zones.nearest_free(post, self.fleet.area.bounds());
        let Some(route) = free.and_then(|free| zones.route(home, free)) else {
            return home;
        };
        let mut left_m = reach_m;
        for leg in route.windows(2) {
            let leg_m = leg[0].distance(leg[1]);
            if leg_m > left_m {
                let there = between(leg[0], leg[1], left_m / leg_m);
                let ok = self.fleet.allows(self.uav, there);
                return if ok { there } else { home };
            }
            left_m -= leg_m;
        }
        route.last().copied().unwrap_or(home)
    }

    fn posts(&self, open: &Open, try_post: &mut impl FnMut(Point)) {
        let radius_m = self.uav.coverage_radius_m * (1.0 - HAIR);
        let home = self.uav.position;
        let all = open.x_m.len();
        // Two crossings for each pair of anchors, each tried on all open devices.
        let affordable = (self.effort as f64 / all.max(1) as f64).sqrt() as usize;
        let anchors = all.min(affordable.max(LEAST_ANCHORS));
        let anchor = |i: usize| open.point(i * all / anchors);
        for i in 0..anchors {
            let device = anchor(i);
            let distance_m = device.distance(home);
            if distance_m > radius_m {
                try_post(between(home, device, 1.0 - radius_m / distance_m));
            }
            for j in 0..i {
                if let Some(posts) = crossings(device, anchor(j), radius_m) {
                    posts.into_iter().for_each(&mut *try_post);
                }
            }
        }
    }

    /// As near to home on the straight way as no device is lost. Sampled candidates leave some slack; complete ones none.
    fn pulled_home(&self, open: &Open, best: Improvement, now: f64) -> Improvement {
        let home = self.uav.position;
        let radius_m = self.uav.coverage_radius_m;
        let length_m = home.distance(best.to);
        if length_m <= 0.0 {
            return best;
        }
        let east = (best.to.x_m - home.x_m) / length_m;
        let north = (best.to.y_m - home.y_m) / length_m;
        let mut least_m: f64 = 0.0;
        for index in 0..open.x_m.len() {
            let device = open.point(index);
            if device.distance_squared(best.to) > radius_m * radius_m {
                continue;
            }
            let (dx, dy) = (device.x_m - home.x_m, device.y_m - home.y_m);
            let (along_m, beside_m) = (dx * east + dy * north, dx * north - dy * east);
            let half_chord_m = (radius_m * radius_m - beside_m * beside_m).max(0.0).sqrt();
            least_m = least_m.max(along_m - half_chord_m * (1.0 - HAIR));
        }
        let to = self.allowed(between(home, best.to, (least_m / length_m).clamp(0.0, 1.0)));
        let value = self.value(open, to) - now;
        if value > best.value {
            Improvement { to, value }
        } else {
            best
        }
    }
}

/// However many devices there are, so many anchors are looked at.
const LEAST_ANCHORS: usize = 8;

fn between(from: Point, to: Point, share: f64) -> Point {
    Point::new(
        from.x_m + share * (to.x_m - from.x_m),
        from.y_m + share * (to.y_m - from.y_m),
    )
}

/// Where two circles of one radius cross.
fn crossings(a: Point, b: Point, radius_m: f64) -> Option<[Point; 2]> {
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
