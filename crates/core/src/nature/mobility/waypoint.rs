//! Random waypoint, begun in its stationary state.
//!
//! Drawing the first leg like any other would let the mean speed fall for hours, because slow legs last longer (Yoon, Liu and
//! Noble, INFOCOM 2003). Here a device begins as if it had been moving for ever (Navidi and Camp, IEEE Transactions on Mobile
//! Computing 3(1), 2004): at rest with the share of time that rests take, otherwise somewhere on a leg that is drawn with a
//! probability proportional to its length, at a speed of density 1/v.

use rand::RngExt;

use super::legs::{Leg, Motion, Start, Walk};
use super::uniform_point;
use crate::scenario::Span;
use crate::seed::{Random, Stream, stream};
use crate::vocabulary::{DeviceId, Point};

/// Where waypoints lie, uniformly.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ground {
    /// From `least` so far east and north.
    Rectangle { least: Point, sides_m: [f64; 2] },
    /// Around the origin.
    Disc { radius_m: f64 },
}

impl Ground {
    fn draw(&self, rng: &mut Random) -> Point {
        match *self {
            Self::Rectangle {
                least,
                sides_m: [width_m, height_m],
            } => {
                let point = uniform_point(width_m, height_m, rng);
                Point::new(least.x_m + point.x_m, least.y_m + point.y_m)
            }
            Self::Disc { radius_m } => {
                let distance_m = radius_m * rng.random::<f64>().sqrt();
                let angle = std::f64::consts::TAU * rng.random::<f64>();
                Point::new(distance_m * libm::cos(angle), distance_m * libm::sin(angle))
            }
        }
    }

    /// No two points are farther apart, m.
    fn longest_m(&self) -> f64 {
        match *self {
            Self::Rectangle {
                sides_m: [width_m, height_m],
                ..
            } => (width_m * width_m + height_m * height_m).sqrt(),
            Self::Disc { radius_m } => 2.0 * radius_m,
        }
    }

    /// The mean distance between two points, m.
    fn mean_m(&self) -> f64 {
        match *self {
            Self::Rectangle {
                sides_m: [width_m, height_m],
                ..
            } => mean_distance_m(width_m, height_m),
            Self::Disc { radius_m } => 128.0 * radius_m / (45.0 * std::f64::consts::PI),
        }
    }
}

/// Between two points that lie anywhere in a rectangle, m.
fn mean_distance_m(width_m: f64, height_m: f64) -> f64 {
    let (a, b) = (width_m.max(height_m), width_m.min(height_m));
    // A line; the terms below would cancel.
    if a > 1e3 * b {
        return a / 3.0;
    }
    let diagonal = (a * a + b * b).sqrt();
    let (a_to_b, b_to_a) = (a * a / (b * b), b * b / (a * a));
    let logarithms =
        b * b / a * libm::log((a + diagonal) / b) + a * a / b * libm::log((b + diagonal) / a);
    (a * a_to_b + b * b_to_a + diagonal * (3.0 - a_to_b - b_to_a) + 2.5 * logarithms) / 15.0
}

/// Someone who goes from waypoint to waypoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waypoints {
    pub(super) ground: Ground,
    pub(super) speed_mps: Span,
    pub(super) pause_s: Span,
}

/// Legs that are drawn until one is taken; four in ten are.
const TRIES: usize = 1_000;

impl Waypoints {
    /// In the middle of whatever one does who has been moving for ever.
    pub(super) fn stationary(&self, now_s: f64, rng: &mut Random) -> Leg {
        let pause = self.pause_s;
        let resting_s = (pause.min + pause.max) / 2.0;
        let moving_s = self.ground.mean_m() * mean_inverse(self.speed_mps);
        if rng.random::<f64>() * (resting_s + moving_s) < resting_s {
            // A pause that is met half-way is a long one, and is over after any share of it.
            let squares = (pause.max * pause.max - pause.min * pause.min) * rng.random::<f64>();
            let pause_s = (pause.min * pause.min + squares).sqrt();
            let rest_s = pause_s * rng.random::<f64>();
            return Leg::rest(self.ground.draw(rng), now_s, now_s + rest_s);
        }
        let mut ends = [self.ground.draw(rng), self.ground.draw(rng)];
        for _ in 0..TRIES {
            if rng.random::<f64>() * self.ground.longest_m() < ends[0].distance(ends[1]) {
                break;
            }
            ends = [self.ground.draw(rng), self.ground.draw(rng)];
        }
        let [from, to] = ends;
        let share = rng.random::<f64>();
        let here = Leg {
            from,
            to,
            from_s: 0.0,
            until_s: 1.0,
        }
        .at(share);
        Leg::travel(here, to, now_s, met_speed(self.speed_mps, rng))
    }

    /// What follows a leg: a pause after a way, a way after a pause.
    pub(super) fn after(&self, before: &Leg, rng: &mut Random) -> Leg {
        let (here, now_s) = (before.to, before.until_s);
        if self.pause_s.max > 0.0 && !before.is_rest() {
            return Leg::rest(here, now_s, now_s + self.pause_s.draw(rng));
        }
        let speed_mps = self.speed_mps.draw(rng);
        Leg::travel(here, self.ground.draw(rng), now_s, speed_mps)
    }
}

/// The mean of 1/v, s/m.
fn mean_inverse(speed: Span) -> f64 {
    match speed.max > speed.min * (1.0 + 1e-6) {
        true => libm::log(speed.max / speed.min) / (speed.max - speed.min),
        false => 1.0 / speed.min,
    }
}

/// The speed of somebody who is met on the way, of density 1/v: slow ones are longer on it.
pub(super) fn met_speed(speed: Span, rng: &mut Random) -> f64 {
    speed.min * libm::pow(speed.max / speed.min, rng.random::<f64>())
}

/// Straight to a point anywhere in the area, a pause there, and on to the next.
#[derive(Clone, Copy, Debug)]
pub struct RandomWaypoint {
    seed: u64,
    waypoints: Waypoints,
}

impl RandomWaypoint {
    /// In an area of so many metres from west to east and from south to north.
    #[must_use]
    pub fn new(seed: u64, sides_m: [f64; 2], speed_mps: Span, pause_s: Span) -> Self {
        let least = Point::default();
        let waypoints = Waypoints {
            ground: Ground::Rectangle { least, sides_m },
            speed_mps,
            pause_s,
        };
        Self { seed, waypoints }
    }
}

impl Walk for RandomWaypoint {
    fn start(&self, start: &Start) -> Motion {
        let Start {
            device,
            now_s,
            number,
            at,
            is_given,
        } = *start;
        if is_given {
            return Motion::on(Leg::rest(at, now_s, now_s), number);
        }
        let mut rng = stream(self.seed, Stream::DevicePosition, number, device.0.into());
        Motion::on(self.waypoints.stationary(now_s, &mut rng), number)
    }

    fn next(&self, device: DeviceId, before: &Motion) -> Motion {
        let number = before.number.wrapping_add(1);
        let mut rng = stream(self.seed, Stream::Mobility, number, device.0.into());
        Motion::on(self.waypoints.after(&before.leg, &mut rng), number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.5214 in a unit square and a third of a line; and by drawing.
    #[test]
    fn val_mean_distance_in_a_rectangle() {
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-3, "{a} {b}");
        near(mean_distance_m(1.0, 1.0), 0.521_405);
        near(mean_distance_m(900.0, 1.0), 300.0);
        near(mean_distance_m(2e3, 1.0), 666.67);
        let ground = Ground::Rectangle {
            least: Point::default(),
            sides_m: [3.0, 1.0],
        };
        for ground in [ground, Ground::Disc { radius_m: 2.0 }] {
            let mut rng = stream(1, Stream::Mobility, 1, 1);
            let pairs = 400_000;
            let sum: f64 = (0..pairs)
                .map(|_| ground.draw(&mut rng).distance(ground.draw(&mut rng)))
                .sum();
            assert!((sum / f64::from(pairs) / ground.mean_m() - 1.0).abs() < 5e-3);
        }
    }
}
