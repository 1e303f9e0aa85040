//! As a file says: straight from each point of a track to the next.

use std::sync::Arc;

use super::legs::{Leg, Motion, Start, Walk};
use crate::scenario::Tracks;
use crate::vocabulary::{DeviceId, Point};

/// Devices on the tracks of a file. The run begins at the earliest time of the file. Before its first point and after its
/// last one a device stays there; or the file begins anew at its end, for all devices at once.
#[derive(Clone, Debug)]
pub struct Trace {
    tracks: Arc<Tracks>,
    /// After so many seconds it begins anew; none: never.
    period_s: Option<f64>,
}

impl Trace {
    /// On such tracks, over and over or once.
    #[must_use]
    pub fn new(tracks: Arc<Tracks>, repeats: bool) -> Self {
        let period_s = Some(tracks.length_s()).filter(|length_s| repeats && *length_s > 0.0);
        Self { tracks, period_s }
    }

    /// The leg of that number. In each turn a device with n points has n + 1: a rest, n - 1 ways, a rest.
    fn leg(&self, points: &[(f64, Point)], number: u64) -> Leg {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return Leg::rest(Point::default(), 0.0, f64::INFINITY);
        };
        let legs = points.len() as u64 + 1;
        let (turn, place) = match self.period_s {
            Some(_) => (number / legs, number % legs),
            None => (0, number.min(legs - 1)),
        };
        let began_s = self.period_s.map_or(0.0, |period_s| turn as f64 * period_s);
        let place = place as usize;
        match place {
            0 => Leg::rest(first.1, began_s, began_s + first.0),
            _ if place < points.len() => {
                let (from, to) = (points[place - 1], points[place]);
                Leg {
                    from: from.1,
                    to: to.1,
                    from_s: began_s + from.0,
                    until_s: began_s + to.0,
                }
            }
            _ => {
                let until_s = self
                    .period_s
                    .map_or(f64::INFINITY, |period_s| (turn as f64 + 1.0) * period_s);
                Leg::rest(last.1, (began_s + last.0).min(until_s), until_s)
            }
        }
    }
}

impl Walk for Trace {
    /// Wherever the file says, at any time: nothing before that has to be gone through.
    fn start(&self, start: &Start) -> Motion {
        let points = self.tracks.of(start.device.index());
        let legs = points.len() as u64 + 1;
        let turn = self
            .period_s
            .map_or(0, |period_s| (start.now_s / period_s) as u64);
        let began_s = self.period_s.map_or(0.0, |period_s| turn as f64 * period_s);
        let passed = points.partition_point(|(time_s, _)| *time_s <= start.now_s - began_s);
        let number = turn.saturating_mul(legs).saturating_add(passed as u64);
        Motion::on(self.leg(points, number), number)
    }

    fn next(&self, device: DeviceId, before: &Motion) -> Motion {
        let number = before.number.saturating_add(1);
        Motion::on(self.leg(self.tracks.of(device.index()), number), number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(repeats: bool) -> Trace {
        let p = Point::new;
        let tracks = Tracks::new(vec![
            vec![
                (0.0, p(0.0, 0.0)),
                (10.0, p(10.0, 0.0)),
                (20.0, p(10.0, 5.0)),
            ],
            vec![(4.0, p(1.0, 1.0)), (8.0, p(3.0, 1.0))],
        ]);
        Trace::new(Arc::new(tracks), repeats)
    }

    fn at(trace: &Trace, device: u32, times_s: &[f64]) -> Vec<[f64; 2]> {
        let device = DeviceId(device);
        let start = |now_s| {
            trace.start(&Start {
                device,
                now_s,
                number: 0,
                at: Point::default(),
                is_given: false,
            })
        };
        let mut motion = start(0.0);
        let look = |&time_s: &f64| {
            trace.advance(device, &mut motion, time_s);
            // Whoever comes in later sees the same.
            let late = start(time_s).at(time_s);
            assert!(late.distance(motion.at(time_s)) < 1e-9, "{time_s}");
            motion.at(time_s).into()
        };
        times_s.iter().map(look).collect()
    }

    #[test]
    fn between_points_devices_go_straight_and_stay_at_both_ends() {
        let once = trace(false);
        let seen = at(&once, 0, &[0.0, 2.5, 10.0, 16.0, 20.0, 1e6]);
        let wanted = [
            [0.0, 0.0],
            [2.5, 0.0],
            [10.0, 0.0],
            [10.0, 3.0],
            [10.0, 5.0],
            [10.0, 5.0],
        ];
        assert_eq!(seen, wanted);
        let seen = at(&once, 1, &[0.0, 3.9, 5.0, 9.0]);
        assert_eq!(seen, [[1.0, 1.0], [1.0, 1.0], [1.5, 1.0], [3.0, 1.0]]);
    }

    #[test]
    fn over_and_over_all_devices_begin_anew_together() {
        let over = trace(true);
        let seen = at(&over, 0, &[19.0, 20.0, 22.5, 39.0, 42.0, 20.0 * 1e6 + 5.0]);
        let wanted = [
            [10.0, 4.5],
            [0.0, 0.0],
            [2.5, 0.0],
            [10.0, 4.5],
            [2.0, 0.0],
            [5.0, 0.0],
        ];
        assert_eq!(seen, wanted);
        let seen = at(&over, 1, &[9.0, 19.0, 21.0, 26.0]);
        assert_eq!(seen, [[3.0, 1.0], [3.0, 1.0], [1.0, 1.0], [2.0, 1.0]]);
    }
}
