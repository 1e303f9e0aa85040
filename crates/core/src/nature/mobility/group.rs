//! Crowds: reference point group mobility (Hong, Gerla, Pei and Chiang, MSWiM 1999).

use super::legs::{Leg, MOST_LEGS, Motion, Start, Walk};
use super::waypoint::{Ground, Waypoints};
use crate::scenario::Span;
use crate::seed::{Random, Stream, stream};
use crate::vocabulary::{DeviceId, Point};

/// A group's reference point moves by random waypoint, so far from the borders that no member can cross them. Members wander
/// around it from point to point of a disc. Both begin in their stationary state.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    seed: u64,
    groups: usize,
    leaders: Waypoints,
    members: Waypoints,
}

impl Group {
    /// In an area of so many metres from west to east and from south to north. `leaders` have a speed in m/s and a pause in s.
    #[must_use]
    pub fn new(
        seed: u64,
        sides_m: [f64; 2],
        groups: usize,
        radius_m: f64,
        leaders: (Span, Span),
        wander_mps: Span,
    ) -> Self {
        let (speed_mps, pause_s) = leaders;
        let none = Span { min: 0.0, max: 0.0 };
        Self {
            seed,
            groups: groups.max(1),
            leaders: Waypoints {
                ground: Ground::Rectangle {
                    least: Point::new(radius_m, radius_m),
                    sides_m: sides_m.map(|side_m| side_m - 2.0 * radius_m),
                },
                speed_mps,
                pause_s,
            },
            members: Waypoints {
                ground: Ground::Disc { radius_m },
                speed_mps: wander_mps,
                pause_s: none,
            },
        }
    }

    /// Devices belong to groups in turn. The streams of their leaders are counted from the other end.
    fn leader_rng(&self, stream_of: Stream, device: DeviceId, number: u64) -> Random {
        let group = device.index() % self.groups;
        stream(self.seed, stream_of, number, u64::MAX - group as u64)
    }

    fn next_of_leader(&self, device: DeviceId, motion: &mut Motion) {
        motion.carrier_number = motion.carrier_number.wrapping_add(1);
        let mut rng = self.leader_rng(Stream::Mobility, device, motion.carrier_number);
        motion.carrier = self.leaders.after(&motion.carrier, &mut rng);
    }

    fn next_of_member(&self, device: DeviceId, motion: &mut Motion) {
        motion.number = motion.number.wrapping_add(1);
        let id = device.0.into();
        let mut rng = stream(self.seed, Stream::Mobility, motion.number, id);
        motion.leg = self.members.after(&motion.leg, &mut rng);
    }

    fn start_leader(&self, device: DeviceId, number: u64, now_s: f64) -> Leg {
        let mut rng = self.leader_rng(Stream::DevicePosition, device, number);
        self.leaders.stationary(now_s, &mut rng)
    }

    fn start_member(&self, device: DeviceId, number: u64, now_s: f64) -> Leg {
        let mut rng = stream(self.seed, Stream::DevicePosition, number, device.0.into());
        self.members.stationary(now_s, &mut rng)
    }
}

impl Walk for Group {
    /// A group is where it is: places that somebody gives to its members have no say.
    fn start(&self, start: &Start) -> Motion {
        let (device, now_s) = (start.device, start.now_s);
        Motion {
            carrier: self.start_leader(device, 0, now_s),
            ..Motion::on(self.start_member(device, start.number, now_s), start.number)
        }
    }

    fn next(&self, device: DeviceId, before: &Motion) -> Motion {
        let mut motion = *before;
        match motion.leg.until_s <= motion.carrier.until_s {
            true => self.next_of_member(device, &mut motion),
            false => self.next_of_leader(device, &mut motion),
        }
        motion
    }

    /// Each by itself, so that all members of a group see their leader in the same place even after a gap.
    fn advance(&self, device: DeviceId, motion: &mut Motion, to_s: f64) {
        let mut legs = 0;
        while motion.carrier.until_s <= to_s {
            legs += 1;
            if legs <= MOST_LEGS {
                self.next_of_leader(device, motion);
                continue;
            }
            motion.carrier_number = motion.carrier_number.wrapping_add(1);
            motion.carrier = self.start_leader(device, motion.carrier_number, to_s);
            break;
        }
        let mut legs = 0;
        while motion.leg.until_s <= to_s {
            legs += 1;
            if legs <= MOST_LEGS {
                self.next_of_member(device, motion);
                continue;
            }
            motion.number = motion.number.wrapping_add(1);
            motion.leg = self.start_member(device, motion.number, to_s);
            break;
        }
    }
}
