//! Where the UAVs hover after one of them has left or come back. First stage of Algorithm 4.
//!
//! Searching is computed, not flown: a method tries positions in its model of the fleet, and a UAV flies straight to the last
//! of them, whatever the method; around zones where they are in the way.

mod answer;
mod deployment;
mod fewest;
mod file;
mod joint_greedy;
mod marginal_gains;
mod neighbourhood;
mod two_stage;

pub use answer::{Answer, Degrees, UavAnswer};
pub use deployment::{Deployment, DeploymentMethod};
pub use fewest::{Selection, fewest};
pub use file::{FleetFile, FleetFileError, UavEntry};
pub use joint_greedy::JointGreedy;
pub use marginal_gains::MarginalGains;
pub use two_stage::{CoverageMeasure, Search, TwoStage};

pub use crate::solve::placement::CoverageCounts;

use crate::nature::UavLink;
use crate::nature::channel::End;
use crate::nature::flight::Cruise;
use crate::scenario::Area;
use crate::seed::Random;
use crate::solve::airspace::Airspace;
use crate::vocabulary::{Bill, Point};
use crate::world::UavId;
use crate::{Error, checkpoint};

/// An active UAV, as redeployment sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleetUav {
    /// Which one.
    pub id: UavId,
    /// Where it hovers, inside the area.
    pub position: Point,
    /// How high, m.
    pub altitude_m: f64,
    /// Ground distance up to which it covers devices, m.
    pub coverage_radius_m: f64,
    /// How it flies.
    pub cruise: Cruise,
    /// Energy that it may spend on moving, J, whatever the direction: as if it flew against the wind.
    pub spare_j: f64,
    /// Power of its links to other UAVs, W.
    pub tx_power_w: f64,
}

impl FleetUav {
    /// The link from this UAV to another in a round, with both where they are said to be.
    #[must_use]
    pub fn link_to(&self, other: &Self, round: usize) -> UavLink {
        let end = |uav: &Self| End::uav(uav.id, uav.position, uav.altitude_m);
        UavLink {
            tx_power_w: self.tx_power_w,
            from: end(self),
            to: end(other),
            round,
        }
    }
}

/// What a redeployment looks at.
#[derive(Clone, Copy)]
pub struct Fleet<'a> {
    /// The ground, which nobody leaves.
    pub area: &'a Area,
    /// What nobody flies into.
    pub air: &'a Airspace,
    /// Where the devices are.
    pub devices: &'a [Point],
    /// The active UAVs.
    pub uavs: &'a [FleetUav],
    /// Joules of sending one model from one UAV to another, hovering meanwhile included. Both may be asked about where
    /// they would be.
    pub model_energy_j: &'a (dyn Fn(&FleetUav, &FleetUav) -> f64 + Sync),
    /// Where UAVs have left or come since the fleet was placed. A method may look there first, or only there; empty: anything may have
    /// changed.
    pub changed: &'a [Point],
}

impl Fleet<'_> {
    /// Whether a point is inside the area.
    #[must_use]
    pub fn contains(&self, point: Point) -> bool {
        self.area.contains(point)
    }

    /// Metres of a UAV's way to a point.
    #[must_use]
    pub fn way_m(&self, uav: &FleetUav, to: Point) -> f64 {
        self.air.route_m(uav.position, to, uav.altitude_m)
    }

    /// A UAV's flight to a point.
    #[must_use]
    pub fn flight(&self, uav: &FleetUav, to: Point) -> Bill {
        match self.air.at(uav.altitude_m) {
            Some(_) => uav
                .cruise
                .along(&self.air.route(uav.position, to, uav.altitude_m)),
            None => uav.cruise.flight(uav.position, to),
        }
    }

    /// Whether a UAV may hover at a point: inside the area, outside of zones, and with the energy for the way around them.
    #[must_use]
    pub fn allows(&self, uav: &FleetUav, to: Point) -> bool {
        self.contains(to)
            && self.air.at(uav.altitude_m).is_none_or(|zones| {
                !zones.contains(to) && self.way_m(uav, to) <= uav.cruise.reach_m(uav.spare_j)
            })
    }

    /// Who is covered now.
    #[must_use]
    pub fn coverage(&self) -> CoverageCounts {
        let radii_m = self.uavs.iter().map(|uav| uav.coverage_radius_m);
        let mut counts = CoverageCounts::new(self.area, radii_m.fold(1.0, f64::max), self.devices);
        let uavs = self.uavs.iter();
        uavs.for_each(|uav| counts.add(uav.position, uav.coverage_radius_m));
        counts
    }
}

impl CoverageCounts {
    /// Devices that nobody covers yet; `radius_m` is about how far UAVs will cover.
    #[must_use]
    pub fn new(area: &Area, radius_m: f64, devices: &[Point]) -> Self {
        Self::over([area.width_m, area.height_m], radius_m, devices)
    }
}

/// A UAV's flight to its new position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// Which UAV.
    pub uav: UavId,
    /// Where it was.
    pub from: Point,
    /// Where it hovers from now on.
    pub to: Point,
    /// Metres of the way: straight, Eq. (21), or around zones.
    pub way_m: f64,
    /// How long the flight takes, s.
    pub seconds: f64,
    /// What it costs, J.
    pub energy_j: f64,
}

impl Move {
    /// The flight of a UAV; none to where it is.
    fn of(fleet: &Fleet, uav: &FleetUav, to: Point) -> Option<Self> {
        let from = uav.position;
        (from != to).then(|| {
            let Bill { seconds, joules } = fleet.flight(uav, to);
            Self {
                uav: uav.id,
                from,
                to,
                way_m: fleet.way_m(uav, to),
                seconds,
                energy_j: joules,
            }
        })
    }
}

/// Chooses new positions for the active UAVs.
pub trait Redeployment: Send {
    /// The moves of those who move, in the fleet's order: inside the area, each within its UAV's spare energy.
    fn redeploy(&mut self, fleet: &Fleet, rng: &mut Random) -> Vec<Move>;

    /// Whether anybody ever moves.
    fn moves(&self) -> bool {
        true
    }

    /// What it carries from round to round, see [`checkpoint`].
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes up what [`save`](Self::save) gave.
    ///
    /// # Errors
    /// When that is not the state of such a part.
    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        checkpoint::expect_nothing("redeployment", saved)
    }
}

/// Nobody moves: the paper's M-i.
#[derive(Clone, Copy, Debug)]
pub struct Stay;

impl Redeployment for Stay {
    fn redeploy(&mut self, _: &Fleet, _: &mut Random) -> Vec<Move> {
        Vec::new()
    }

    fn moves(&self) -> bool {
        false
    }
}

/// How many joules make the unit in which movement weights count energy: Table IV's numbers are kilojoules.
const JOULES_PER_KJ: f64 = 1e3;

/// The point `step_m` from `from` at an angle.
fn stepped(from: Point, angle: f64, step_m: f64) -> Point {
    let (sin, cos) = angle.sin_cos();
    Point::new(from.x_m + step_m * cos, from.y_m + step_m * sin)
}
