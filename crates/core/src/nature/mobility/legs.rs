//! Ways in time: what a device does between two moments is a chain of straight legs.

use serde::{Deserialize, Serialize};

use super::{Mobility, Surroundings};
use crate::seed::Random;
use crate::vocabulary::{DeviceId, Point};

/// A straight way at one speed, or a rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Leg {
    /// Where it begins.
    pub from: Point,
    /// Where it ends.
    pub to: Point,
    /// When it begins, s of simulated time.
    pub from_s: f64,
    /// When it ends; infinite: never.
    pub until_s: f64,
}

impl Leg {
    /// Nothing happens until then.
    #[must_use]
    pub fn rest(at: Point, from_s: f64, until_s: f64) -> Self {
        Self {
            from: at,
            to: at,
            from_s,
            until_s,
        }
    }

    /// Straight from here to there at a speed.
    #[must_use]
    pub fn travel(from: Point, to: Point, from_s: f64, speed_mps: f64) -> Self {
        Self {
            from,
            to,
            from_s,
            until_s: from_s + from.distance(to) / speed_mps,
        }
    }

    /// Whether nobody moves on it.
    #[must_use]
    pub fn is_rest(&self) -> bool {
        self.from == self.to
    }

    /// Where it leads at a time; before it begins and after it ends, where it does so. It depends on the leg alone, not on
    /// where anybody was asked for before.
    #[must_use]
    pub fn at(&self, time_s: f64) -> Point {
        if time_s <= self.from_s {
            return self.from;
        }
        if time_s >= self.until_s {
            return self.to;
        }
        let share = (time_s - self.from_s) / (self.until_s - self.from_s);
        // A rounding error must not lead out of the area.
        let between = |a: f64, b: f64| (a + (b - a) * share).max(a.min(b)).min(a.max(b));
        Point::new(
            between(self.from.x_m, self.to.x_m),
            between(self.from.y_m, self.to.y_m),
        )
    }

    /// Whether its numbers can be those of a leg.
    fn is_sound(&self) -> bool {
        let Self {
            from,
            to,
            from_s,
            until_s,
        } = *self;
        let near = |value: f64| value.abs() <= 1e9;
        [from.x_m, from.y_m, to.x_m, to.y_m].into_iter().all(near)
            && from_s.is_finite()
            && from_s <= until_s
    }
}

/// What a device is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    /// The leg that it is on.
    pub leg: Leg,
    /// Tells the legs of a device apart: the key of what is drawn for the next.
    pub number: u64,
    /// What carries it, added to its own leg; for most models a rest at the origin that never ends.
    pub carrier: Leg,
    /// Tells the legs of the carrier apart.
    pub carrier_number: u64,
    /// What else the model has to remember.
    pub memory: [f64; 3],
}

impl Motion {
    /// On a leg, carried by nobody.
    #[must_use]
    pub fn on(leg: Leg, number: u64) -> Self {
        Self {
            leg,
            number,
            carrier: Leg::rest(Point::default(), 0.0, f64::INFINITY),
            carrier_number: 0,
            memory: [0.0; 3],
        }
    }

    /// When it comes to its next leg, s.
    #[must_use]
    pub fn until_s(&self) -> f64 {
        self.leg.until_s.min(self.carrier.until_s)
    }

    /// Where it leads at a time on it.
    #[must_use]
    pub fn at(&self, time_s: f64) -> Point {
        let (own, carrier) = (self.leg.at(time_s), self.carrier.at(time_s));
        Point::new(own.x_m + carrier.x_m, own.y_m + carrier.y_m)
    }

    /// Whether its numbers can be those of a motion.
    pub(crate) fn is_sound(&self) -> bool {
        self.leg.is_sound()
            && self.carrier.is_sound()
            && self.memory.iter().all(|value| value.is_finite())
    }
}

/// How a device begins.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Start {
    /// Who it is.
    pub device: DeviceId,
    /// When, s.
    pub now_s: f64,
    /// The number of its first leg.
    pub number: u64,
    /// Where: what the scenario says, or else any point.
    pub at: Point,
    /// Whether the scenario says so.
    pub is_given: bool,
}

/// Devices that move all the time, along straight legs. [`InTime`] makes a [`Mobility`] of it.
///
/// What is drawn for a leg must come from a stream of the device and the leg's number
/// (`seed::stream(seed, Stream::Mobility, number, device)`): legs are asked for more than once, to look ahead.
pub trait Walk: Send + Sync {
    /// What follows when the leg of `before` is over: from where and when that ends.
    fn next(&self, device: DeviceId, before: &Motion) -> Motion;

    /// How a device begins, at best as if it had been moving for ever. Unless overridden, at its first position with
    /// whatever [`next`](Self::next) says.
    fn start(&self, start: &Start) -> Motion {
        let Start {
            now_s, number, at, ..
        } = *start;
        Motion::on(Leg::rest(at, now_s, now_s), number)
    }

    /// Lets time go on.
    fn advance(&self, device: DeviceId, motion: &mut Motion, to_s: f64) {
        for _ in 0..MOST_LEGS {
            if motion.until_s() > to_s {
                return;
            }
            *motion = self.next(device, motion);
        }
        *motion = self.start(&Start {
            device,
            now_s: to_s,
            number: motion.number.wrapping_add(1),
            at: motion.at(to_s),
            is_given: false,
        });
    }
}

/// Legs that are gone through one by one. After a longer gap a device begins anew: nobody who did not look for so long can
/// tell where it should be, and a round of years costs no more than one of hours.
pub(super) const MOST_LEGS: usize = 10_000;

/// A [`Walk`] as the mobility of a run.
#[derive(Clone, Copy, Debug)]
pub struct InTime<W>(
    /// The walk.
    pub W,
);

impl<W: Walk> Mobility for InTime<W> {
    /// Nobody is moved between rounds: time does that.
    fn next(&self, at: Point, _: &Surroundings, _: &mut Random) -> Point {
        at
    }

    fn walk(&self) -> Option<&dyn Walk> {
        Some(&self.0)
    }
}

/// A circle on the ground.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circle {
    pub(crate) centre: Point,
    pub(crate) radius_m: f64,
}

impl Circle {
    pub(crate) fn holds(&self, point: Point) -> bool {
        self.centre.distance_squared(point) <= self.radius_m * self.radius_m
    }

    /// When a straight way leads out, as a share of it; none when it does not.
    fn exit(&self, from: Point, to: Point) -> Option<f64> {
        if !self.holds(from) {
            return Some(0.0);
        }
        // The circle is convex: whose ends are inside, all of it is.
        if self.holds(to) {
            return None;
        }
        let (x, y) = (from.x_m - self.centre.x_m, from.y_m - self.centre.y_m);
        let (dx, dy) = (to.x_m - from.x_m, to.y_m - from.y_m);
        let (a, b) = (dx * dx + dy * dy, x * dx + y * dy);
        let c = x * x + y * y - self.radius_m * self.radius_m;
        let share = ((b * b - a * c).max(0.0).sqrt() - b) / a;
        Some(share.clamp(0.0, 1.0))
    }
}

/// When a device is first outside a circle, from a time on, s; infinite where it stays until `until_s`, or for more legs than
/// anybody goes through.
pub(crate) fn leaves_at_s(
    walk: &dyn Walk,
    device: DeviceId,
    motion: &Motion,
    circle: Circle,
    from_s: f64,
    until_s: f64,
) -> f64 {
    let mut motion = *motion;
    walk.advance(device, &mut motion, from_s);
    let mut begin_s = from_s;
    for _ in 0..MOST_LEGS {
        let end_s = motion.until_s().min(until_s).max(begin_s);
        if let Some(share) = circle.exit(motion.at(begin_s), motion.at(end_s)) {
            // A rest that never ends is left at once or not at all.
            return match share {
                0.0 => begin_s,
                share => begin_s + share * (end_s - begin_s),
            };
        }
        if motion.until_s() > until_s {
            break;
        }
        motion = walk.next(device, &motion);
        begin_s = end_s;
    }
    f64::INFINITY
}
