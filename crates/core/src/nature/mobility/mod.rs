//! How devices move: from round to round ([`Mobility::next`]), or all the time ([`Walk`]).

use rand::RngExt;

use crate::scenario::{self, ValidScenario};
use crate::seed::Random;
use crate::vocabulary::{DeviceId, Point};

mod coverage_hop;
mod gauss_markov;
mod group;
mod legs;
mod manhattan;
mod still;
#[cfg(test)]
mod tests;
mod trace;
mod waypoint;

pub use coverage_hop::CoverageHop;
pub use gauss_markov::GaussMarkov;
pub use group::Group;
pub(crate) use legs::{Circle, leaves_at_s};
pub use legs::{InTime, Leg, Motion, Start, Walk};
pub use manhattan::Manhattan;
pub use still::Static;
pub use trace::Trace;
pub use waypoint::RandomWaypoint;

/// What a device sees when it decides where to go.
#[non_exhaustive]
pub struct Surroundings<'a> {
    /// Who it is.
    pub device: DeviceId,
    /// The global round that it moves for.
    pub round: usize,
    /// When that begins, s of simulated time.
    pub now_s: f64,
    /// East-west extent of the area, m.
    pub width_m: f64,
    /// North-south extent of the area, m.
    pub height_m: f64,
    /// The nearest first position of a UAV that covers the device, if one does.
    pub covered_by: Option<Point>,
    /// How far a UAV's coverage reaches, m.
    pub coverage_radius_m: f64,
    /// Whether a UAV covers a point from its first position.
    pub is_covered: &'a dyn Fn(Point) -> bool,
}

/// Where devices go.
pub trait Mobility: Send + Sync {
    /// A device's place in the next global round.
    fn next(&self, at: Point, around: &Surroundings, rng: &mut Random) -> Point;

    /// Its way in time, of devices that do not wait for rounds: then nobody asks for [`next`](Self::next), and they may leave
    /// a UAV's coverage in the middle of a round. Unless overridden, devices stay where they are inside one.
    fn walk(&self) -> Option<&dyn Walk> {
        None
    }
}

/// A point anywhere in the area.
pub(crate) fn uniform_point(width_m: f64, height_m: f64, rng: &mut Random) -> Point {
    let (x, y) = (rng.random::<f64>(), rng.random::<f64>());
    Point::new(x * width_m, y * height_m)
}

pub(crate) fn from_config(scenario: &ValidScenario) -> Box<dyn Mobility> {
    let seed = scenario.seed;
    let (width_m, height_m) = (scenario.area.width_m, scenario.area.height_m);
    match scenario.mobility {
        scenario::Mobility::CoverageHop { hop_probability } => {
            Box::new(CoverageHop { hop_probability })
        }
        scenario::Mobility::Static {} => Box::new(Static),
        scenario::Mobility::RandomWaypoint { speed_mps, pause_s } => Box::new(InTime(
            RandomWaypoint::new(seed, [width_m, height_m], speed_mps, pause_s),
        )),
        scenario::Mobility::GaussMarkov {
            mean_speed_mps,
            speed_sigma_mps,
            heading_sigma_rad,
            alpha,
            step_s,
        } => Box::new(InTime(GaussMarkov {
            seed,
            width_m,
            height_m,
            mean_speed_mps,
            speed_sigma_mps,
            heading_sigma_rad,
            alpha,
            step_s,
        })),
        scenario::Mobility::Manhattan {
            block_m,
            speed_mps,
            turn_probability,
        } => Box::new(InTime(Manhattan::new(
            seed,
            [width_m, height_m],
            block_m,
            speed_mps,
            turn_probability,
        ))),
        scenario::Mobility::Group {
            groups,
            radius_m,
            speed_mps,
            pause_s,
            wander_mps,
        } => Box::new(InTime(Group::new(
            seed,
            [width_m, height_m],
            groups,
            radius_m,
            (speed_mps, pause_s),
            wander_mps,
        ))),
        scenario::Mobility::Trace { repeats, .. } => match scenario.tracks() {
            Some(tracks) => Box::new(InTime(Trace::new(tracks.clone(), repeats))),
            // A scenario that passed its check has them.
            None => Box::new(Static),
        },
    }
}
