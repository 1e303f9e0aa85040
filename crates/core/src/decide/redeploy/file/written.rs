//! The file as people write it: numbers for all UAVs or for each, places in metres or in degrees.

use serde::Deserialize;

use super::{FleetFile, UavEntry, within};
use crate::reading::from_json;
use crate::scenario::Place;
use crate::vocabulary::Point;
use crate::vocabulary::geometry::{Geodetic, LocalFrame};

/// A struct with fields of its own, and the numbers that all UAVs may have or each. (Serde refuses unknown fields only where all
/// fields stand in one struct.)
macro_rules! with_numbers {
    (struct $name:ident { $($(#[$about:meta])* $field:ident: $kind:ty,)* }) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $name {
            $($(#[$about])* $field: $kind,)*
            #[serde(default)]
            coverage_radius_m: Option<f64>,
            #[serde(default)]
            speed_mps: Option<f64>,
            #[serde(default)]
            move_power_w: Option<f64>,
            #[serde(default)]
            hover_power_w: Option<f64>,
            #[serde(default)]
            altitude_m: Option<f64>,
        }
    };
}

with_numbers! {
    struct Written {
        /// `[lat, lon]` or `[lat, lon, alt_m]` of [0, 0].
        #[serde(default)]
        origin: Vec<f64>,
        #[serde(default)]
        area_m: Option<[f64; 2]>,
        uavs: Vec<WrittenUav>,
        devices_m: Vec<Place>,
        #[serde(default)]
        no_fly: Vec<Vec<Place>>,
    }
}

with_numbers! {
    struct WrittenUav {
        position_m: Place,
        battery_j: f64,
        #[serde(default)]
        reserve_j: f64,
    }
}

/// Table II.
const HOVER_POWER_W: f64 = 100.0;
const ALTITUDE_M: f64 = 150.0;

/// A number that all UAVs may have or each: its name, its range, and what is taken where nobody has it.
struct Number {
    name: &'static str,
    least: f64,
    most: f64,
    otherwise: Option<f64>,
}

const fn number(name: &'static str, least: f64, most: f64, otherwise: Option<f64>) -> Number {
    Number {
        name,
        least,
        most,
        otherwise,
    }
}

const RADIUS: Number = number("coverage_radius_m", 1.0, 1e7, None);
const SPEED: Number = number("speed_mps", 0.1, 1e3, None);
const MOVE_POWER: Number = number("move_power_w", 0.0, 1e6, None);
const HOVER_POWER: Number = number("hover_power_w", 0.0, 1e6, Some(HOVER_POWER_W));
const ALTITUDE: Number = number("altitude_m", 0.0, 1e5, Some(ALTITUDE_M));

impl Number {
    /// What a UAV has.
    fn of(&self, uav: usize, own: Option<f64>, all: Option<f64>) -> Result<f64, String> {
        let Self {
            name, least, most, ..
        } = self;
        if let Some(value) = own {
            within(&format!("uavs[{uav}].{name}"), value, *least, *most)?;
            return Ok(value);
        }
        if let Some(value) = all {
            within(name, value, *least, *most)?;
        }
        all.or(self.otherwise).ok_or_else(|| {
            format!("{name}: is missing, and uavs[{uav}] has none of its own; allowed is {least} to {most}")
        })
    }
}

pub(super) fn read(json: &str) -> Result<FleetFile, String> {
    let written: Written = from_json(json)?;
    let map = Map::new(&written)?;
    let uav = |(index, uav): (usize, &WrittenUav)| {
        Ok(UavEntry {
            position_m: map.point(uav.position_m, || format!("uavs[{index}].position_m"))?,
            battery_j: uav.battery_j,
            reserve_j: uav.reserve_j,
            coverage_radius_m: RADIUS.of(
                index,
                uav.coverage_radius_m,
                written.coverage_radius_m,
            )?,
            speed_mps: SPEED.of(index, uav.speed_mps, written.speed_mps)?,
            move_power_w: MOVE_POWER.of(index, uav.move_power_w, written.move_power_w)?,
            hover_power_w: HOVER_POWER.of(index, uav.hover_power_w, written.hover_power_w)?,
            altitude_m: ALTITUDE.of(index, uav.altitude_m, written.altitude_m)?,
        })
    };
    let uavs: Result<Vec<UavEntry>, String> = written.uavs.iter().enumerate().map(uav).collect();
    let devices = written.devices_m.iter().enumerate();
    let devices = devices.map(|(index, &at)| map.point(at, || format!("devices_m[{index}]")));
    let zone = |(index, corners): (usize, &Vec<Place>)| {
        let corners = corners.iter();
        let points = corners.map(|&at| map.point(at, || format!("no_fly[{index}]")));
        points.collect()
    };
    let zones = written.no_fly.iter().enumerate().map(zone);
    Ok(FleetFile {
        uavs: uavs?,
        devices_m: devices.collect::<Result<_, String>>()?,
        no_fly: zones.collect::<Result<_, String>>()?,
        area_m: map.area_m,
        frame: map.frame,
    })
}

/// Where the ground is, and how large.
struct Map {
    frame: Option<LocalFrame>,
    area_m: [f64; 2],
}

impl Map {
    fn new(written: &Written) -> Result<Self, String> {
        let origin = match written.origin[..] {
            [] => None,
            [lat, lon] => Some((lat, lon, 0.0)),
            [lat, lon, alt_m] => Some((lat, lon, alt_m)),
            _ => return Err("origin: allowed is [lat, lon] or [lat, lon, alt_m]".into()),
        };
        if let Some((lat, lon, alt_m)) = origin {
            within("origin[0]", lat, -89.0, 89.0)?;
            within("origin[1]", lon, -180.0, 180.0)?;
            within("origin[2]", alt_m, -500.0, 9_000.0)?;
            let frame = LocalFrame::new(Geodetic { lat, lon, alt_m });
            let area_m = written
                .area_m
                .ok_or("area_m: is missing, allowed is [width, height]")?;
            return Ok(Self {
                frame: Some(frame),
                area_m,
            });
        }
        match written.area_m {
            Some(area_m) => Ok(Self {
                frame: None,
                area_m,
            }),
            None => Self::around(written),
        }
    }

    /// The box of all places in degrees, a coverage radius wider on every side.
    fn around(written: &Written) -> Result<Self, String> {
        let uavs = written.uavs.iter().map(|uav| uav.position_m);
        let places = uavs.chain(written.devices_m.iter().copied());
        let degrees: Option<Vec<(f64, f64)>> = places
            .map(|place| match place {
                Place::Degrees { lat, lon } => Some((lat, lon)),
                Place::Metres(_) => None,
            })
            .collect();
        let missing = "area_m: is missing, allowed is [width, height], or none where all places are in degrees";
        let degrees = degrees.filter(|all| !all.is_empty()).ok_or(missing)?;
        let lats = || degrees.iter().map(|place| place.0);
        let lons = || degrees.iter().map(|place| place.1);
        for (lat, lon) in &degrees {
            within("lat", *lat, -88.0, 88.0)?;
            within("lon", *lon, -180.0, 180.0)?;
        }
        let least = (
            lats().fold(f64::INFINITY, f64::min),
            lons().fold(f64::INFINITY, f64::min),
        );
        let touch = |lat, lon| {
            LocalFrame::new(Geodetic {
                lat,
                lon,
                alt_m: 0.0,
            })
        };
        let own = written.uavs.iter().filter_map(|uav| uav.coverage_radius_m);
        let radii_m = own.chain(written.coverage_radius_m);
        let wider_m = radii_m.fold(100.0, f64::max).min(200e3);
        // Meridians approach each other: what is a box in degrees is none in metres.
        let corner = touch(least.0, least.1);
        let points = degrees.iter().map(|&(lat, lon)| corner.point(lat, lon));
        let west_m = points.fold(0.0, |west_m: f64, point| west_m.min(point.x_m));
        let origin = corner.degrees(Point::new(west_m - wider_m, -wider_m));
        let frame = touch(origin.lat, origin.lon);
        let points = degrees.iter().map(|&(lat, lon)| frame.point(lat, lon));
        let far = points.fold([0.0; 2], |[x, y]: [f64; 2], point| {
            [x.max(point.x_m), y.max(point.y_m)]
        });
        Ok(Self {
            frame: Some(frame),
            area_m: far.map(|side_m| side_m + wider_m),
        })
    }

    fn point(&self, place: Place, field: impl Fn() -> String) -> Result<Point, String> {
        match (place, &self.frame) {
            (Place::Metres(point), _) => Ok(point),
            (Place::Degrees { lat, lon }, Some(frame)) => {
                within(&format!("{}.lat", field()), lat, -90.0, 90.0)?;
                within(&format!("{}.lon", field()), lon, -180.0, 180.0)?;
                Ok(frame.point(lat, lon))
            }
            (Place::Degrees { .. }, None) => Err(format!(
                "{}: degrees need `origin`, the [lat, lon] of [0, 0]; allowed is metres [x, y] without it",
                field()
            )),
        }
    }
}
