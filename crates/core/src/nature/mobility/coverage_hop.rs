//! Devices that change cells between global rounds, and stand still inside one.

use rand::RngExt;

use super::{Mobility, Surroundings, uniform_point};
use crate::seed::Random;
use crate::vocabulary::Point;

/// With probability ξ a device leaves the ground it is on, its UAV's circle or the ground that no
/// UAV covers, for anywhere outside of it.
///
/// Departs from the paper: it sends leavers 'into the coverage area of other UAVs' only, which
/// would drain the uncovered ground and lift coverage to 100 % within rounds, though the paper
/// reports 85 %. This rule keeps the share of covered devices where it was.
#[derive(Clone, Copy, Debug)]
pub struct CoverageHop {
    /// ξ.
    pub hop_probability: f64,
}

/// When a circle covers nearly everything, outside is hard to hit: then the device stays.
const TRIES: usize = 64;

impl Mobility for CoverageHop {
    fn next(&self, at: Point, around: &Surroundings, rng: &mut Random) -> Point {
        if rng.random::<f64>() >= self.hop_probability {
            return at;
        }
        for _ in 0..TRIES {
            let there = uniform_point(around.width_m, around.height_m, rng);
            let same_ground = match around.covered_by {
                Some(uav) => there.distance(uav) <= around.coverage_radius_m,
                None => !(around.is_covered)(there),
            };
            if !same_ground {
                return there;
            }
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Stream, stream};
    use crate::vocabulary::DeviceId;

    fn around(covered_by: Option<Point>, coverage_radius_m: f64) -> Surroundings<'static> {
        let is_covered = &|p: Point| p.distance(Point::new(50.0, 50.0)) <= 25.0;
        Surroundings {
            device: DeviceId(0),
            round: 2,
            now_s: 0.0,
            width_m: 100.0,
            height_m: 100.0,
            covered_by,
            coverage_radius_m,
            is_covered,
        }
    }

    #[test]
    fn who_leaves_uncovered_ground_finds_coverage() {
        let hop = CoverageHop {
            hop_probability: 1.0,
        };
        for id in 0..200 {
            let mut rng = stream(3, Stream::Mobility, 1, id);
            let to = hop.next(Point::new(1.0, 1.0), &around(None, 25.0), &mut rng);
            assert!(to.distance(Point::new(50.0, 50.0)) <= 25.0);
        }
    }

    #[test]
    fn leaves_its_uav_as_often_as_told_and_never_lands_in_its_coverage() {
        let uav = Point::new(50.0, 50.0);
        let mobility = CoverageHop {
            hop_probability: 0.3,
        };
        let trials = 20_000;
        let mut left = 0;
        for id in 0..trials {
            let mut rng = stream(7, Stream::Mobility, 1, id);
            let to = mobility.next(uav, &around(Some(uav), 25.0), &mut rng);
            if to != uav {
                left += 1;
                assert!(to.distance(uav) > 25.0);
                assert!((0.0..=100.0).contains(&to.x_m) && (0.0..=100.0).contains(&to.y_m));
            }
        }
        let share = f64::from(left) / trials as f64;
        assert!((share - 0.3).abs() < 0.01, "{share}");
    }

    #[test]
    fn stays_when_there_is_no_outside() {
        let at = Point::new(1.0, 1.0);
        let mut rng = stream(1, Stream::Mobility, 1, 1);
        let to = CoverageHop {
            hop_probability: 1.0,
        }
        .next(at, &around(Some(at), 1e6), &mut rng);
        assert_eq!(to, at);
    }
}
