//! A fleet as a file: what `aerofed deploy` reads.

mod written;

use super::FleetUav;
use crate::nature::flight::Cruise;
use crate::solve::airspace::{Airspace, Zone};
use crate::vocabulary::Point;
use crate::vocabulary::geometry::{LocalFrame, Polygon};
use crate::world::UavId;

/// A fleet and its devices, in metres.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetFile {
    /// Width and height of the ground.
    pub area_m: [f64; 2],
    /// Where on the globe the ground is, if the file says so.
    pub frame: Option<LocalFrame>,
    /// The UAVs.
    pub uavs: Vec<UavEntry>,
    /// Where the devices are.
    pub devices_m: Vec<Point>,
    /// Polygons that nobody flies into.
    pub no_fly: Vec<Vec<Point>>,
}

/// One UAV of a [`FleetFile`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UavEntry {
    /// Where it hovers.
    pub position_m: Point,
    /// What its battery holds.
    pub battery_j: f64,
    /// What it keeps for the flight home.
    pub reserve_j: f64,
    /// Ground distance up to which it covers devices.
    pub coverage_radius_m: f64,
    /// Flying speed.
    pub speed_mps: f64,
    /// Power while flying.
    pub move_power_w: f64,
    /// Power while hovering.
    pub hover_power_w: f64,
    /// Height above the ground.
    pub altitude_m: f64,
}

/// Why a text is no fleet: the field, its value and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FleetFileError(String);

impl FleetFile {
    /// Reads a fleet and checks its numbers.
    ///
    /// # Errors
    /// When the text is not such JSON, or a number is out of its range.
    pub fn parse(json: &str) -> Result<Self, FleetFileError> {
        let file = written::read(json).map_err(FleetFileError)?;
        file.check().map_err(FleetFileError)?;
        Ok(file)
    }

    /// The UAVs as redeployment sees them, all with one power of their links.
    #[must_use]
    pub fn fleet_uavs(&self, tx_power_w: f64) -> Vec<FleetUav> {
        let uav = |(id, uav): (usize, &UavEntry)| FleetUav {
            id: UavId(id as u32),
            position: uav.position_m,
            altitude_m: uav.altitude_m,
            coverage_radius_m: uav.coverage_radius_m,
            cruise: Cruise::calm(uav.speed_mps, uav.move_power_w),
            spare_j: uav.battery_j - uav.reserve_j,
            tx_power_w,
        };
        self.uavs.iter().enumerate().map(uav).collect()
    }

    /// The zones of `no_fly`.
    #[must_use]
    pub fn airspace(&self) -> Airspace {
        let zones = self.no_fly.iter().filter_map(|corners| {
            Some(Zone {
                name: String::new(),
                polygon: Polygon::new(corners).ok()?,
                height_m: 0.0,
            })
        });
        Airspace::new(zones.collect())
    }

    /// The first field out of its range.
    fn check(&self) -> Result<(), String> {
        // On a plane that touches the globe farther places would be too far below.
        let widest_m = if self.frame.is_some() { 500e3 } else { 1e7 };
        within("area_m[0]", self.area_m[0], 1.0, widest_m)?;
        within("area_m[1]", self.area_m[1], 1.0, widest_m)?;
        if self.uavs.is_empty() {
            return Err("uavs: [] is empty, allowed is at least one UAV".into());
        }
        for (index, uav) in self.uavs.iter().enumerate() {
            let field = |name: &str| format!("uavs[{index}].{name}");
            self.inside(uav.position_m, || field("position_m"))?;
            within(&field("battery_j"), uav.battery_j, 0.0, 1e12)?;
            within(&field("reserve_j"), uav.reserve_j, 0.0, 1e12)?;
        }
        for (index, &device) in self.devices_m.iter().enumerate() {
            self.inside(device, || format!("devices_m[{index}]"))?;
        }
        self.check_zones()
    }

    fn check_zones(&self) -> Result<(), String> {
        for (index, corners) in self.no_fly.iter().enumerate() {
            let field = format!("no_fly[{index}]");
            within(&field, corners.len() as f64, 0.0, 1e3)?;
            for corner in corners {
                within(&field, corner.x_m, -1e8, 1e8)?;
                within(&field, corner.y_m, -1e8, 1e8)?;
            }
            Polygon::new(corners).map_err(|error| format!("{field}: allowed is {error}"))?;
        }
        let corners: usize = self.no_fly.iter().map(Vec::len).sum();
        within("no_fly: corners", corners as f64, 0.0, 2e3)?;
        let air = self.airspace();
        let Some(zones) = air.at(0.0) else {
            return Ok(());
        };
        if let Some(Point { x_m, y_m }) = zones.enclosed() {
            return Err(format!(
                "no_fly: encloses [{x_m:.0}, {y_m:.0}], allowed is what leaves a way from everywhere to everywhere"
            ));
        }
        match self
            .uavs
            .iter()
            .position(|uav| zones.contains(uav.position_m))
        {
            Some(index) => Err(format!("uavs[{index}].position_m: is in no_fly")),
            None => Ok(()),
        }
    }

    fn inside(&self, point: Point, field: impl Fn() -> String) -> Result<(), String> {
        let [width_m, height_m] = self.area_m;
        let inside = (0.0..=width_m).contains(&point.x_m) && (0.0..=height_m).contains(&point.y_m);
        if inside {
            return Ok(());
        }
        Err(format!(
            "{}: [{}, {}] is outside the area, allowed is [0, 0] to [{width_m}, {height_m}]",
            field(),
            point.x_m,
            point.y_m
        ))
    }
}

fn within(field: &str, value: f64, least: f64, most: f64) -> Result<(), String> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(format!(
        "{field}: {value} is out of range, allowed is {least} to {most}"
    ))
}
