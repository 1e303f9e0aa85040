//! What UAVs fly around, as written and from a file.

use serde::{Deserialize, Serialize};

use super::super::ScenarioError;
use super::super::check::bad;
use super::geojson::{self, Shape};
use super::{Area, Place};
use crate::solve::airspace::{Airspace, Zone};
use crate::vocabulary::Point;
use crate::vocabulary::geometry::{LocalFrame, Polygon};

/// A no-fly zone or an obstacle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoFly {
    /// What it is called.
    #[serde(default)]
    pub name: String,
    /// Its corners, in either direction.
    pub polygon: Vec<Place>,
    /// UAVs that fly higher pass over it; 0: none do.
    #[serde(default)]
    pub height_m: f64,
}

/// Corners of all zones together at most: routes look at pairs of them.
const MOST_CORNERS: usize = 2_000;
/// Zones may reach beyond the area, but not to the end of the world.
const FARTHEST_M: f64 = 1e8;

/// The zones of an area, which must leave somewhere to be and a way from everywhere to everywhere.
pub(super) fn airspace(area: &Area, frame: Option<&LocalFrame>) -> Result<Airspace, ScenarioError> {
    let mut zones = Vec::new();
    for (index, zone) in area.no_fly.iter().enumerate() {
        let field = format!("area.no_fly[{index}]");
        if !(0.0..=1e5).contains(&zone.height_m) {
            return Err(bad(
                &format!("{field}.height_m"),
                zone.height_m,
                "0 to 100000",
            ));
        }
        let field = format!("{field}.polygon");
        let mut corners = Vec::new();
        for &place in &zone.polygon {
            let point = place
                .resolve(frame)
                .map_err(|allowed| bad(&field, place, allowed))?;
            if !(point.x_m.abs() <= FARTHEST_M && point.y_m.abs() <= FARTHEST_M) {
                return Err(bad(
                    &field,
                    place,
                    format_args!("metres up to {FARTHEST_M}"),
                ));
            }
            corners.push(point);
        }
        let polygon = Polygon::new(&corners).map_err(|error| {
            let shown: Vec<String> = zone.polygon.iter().take(6).map(Place::to_string).collect();
            bad(&field, format_args!("[{}]", shown.join(", ")), error)
        })?;
        zones.push(Zone {
            name: name(&zone.name, zones.len()),
            polygon,
            height_m: zone.height_m,
        });
    }
    let path = &area.no_fly_file;
    if !path.as_os_str().is_empty() {
        let told = |problem: String| {
            let allowed = format!("a GeoJSON file with polygons ({problem})");
            bad("area.no_fly_file", format_args!("{path:?}"), allowed)
        };
        zones.extend(from_file(area, frame).map_err(told)?);
    }
    let corners: usize = zones.iter().map(|zone| zone.polygon.corners().len()).sum();
    if corners > MOST_CORNERS {
        let allowed = format_args!("at most {MOST_CORNERS} corners in all; simplify the polygons")
            .to_string();
        return Err(bad(
            "area.no_fly",
            format_args!("of {corners} corners"),
            allowed,
        ));
    }
    let air = Airspace::new(zones);
    // At the ground all zones are in the way.
    if let Some(all) = air.at(0.0) {
        let named = || {
            let names: Vec<&str> = air.zones().iter().take(5).map(|zone| &*zone.name).collect();
            names.join(", ")
        };
        let middle = Point::new(area.width_m / 2.0, area.height_m / 2.0);
        if all.nearest_free(middle, area.bounds()).is_none() {
            let allowed = "zones that leave some of the area free; this leaves no room for UAVs";
            return Err(bad("area.no_fly", named(), allowed));
        }
        if let Some(Point { x_m, y_m }) = all.enclosed() {
            let allowed = format_args!(
                "zones that enclose nothing; nobody could fly to [{x_m:.0}, {y_m:.0}]"
            )
            .to_string();
            return Err(bad("area.no_fly", named(), allowed));
        }
    }
    Ok(air)
}

/// Zones without a name are known by their number.
fn name(given: &str, zones_before: usize) -> String {
    match given {
        "" => format!("zone {}", zones_before + 1),
        name => name.into(),
    }
}

fn from_file(area: &Area, frame: Option<&LocalFrame>) -> Result<Vec<Zone>, String> {
    let mut zones = Vec::new();
    for feature in geojson::read(&area.no_fly_file)? {
        let Shape::Polygons(polygons) = &feature.shape else {
            return Err(feature.refuse("is a point, allowed: Polygon, MultiPolygon"));
        };
        let height_m = feature.amount("height_m")?.unwrap_or(0.0);
        for rings in polygons {
            // What is enclosed cannot be flown to, so holes belong to the zone.
            let outer = rings.first().map_or(&[][..], |ring| &ring[..]);
            let corners = points(outer, frame).map_err(|problem| feature.refuse(&problem))?;
            let polygon = Polygon::new(&corners);
            let polygon = polygon.map_err(|error| feature.refuse(&format!("allowed: {error}")))?;
            zones.push(Zone {
                name: name(&feature.name, area.no_fly.len() + zones.len()),
                polygon,
                height_m,
            });
        }
    }
    Ok(zones)
}

/// The points of positions in degrees.
pub(super) fn points(
    ring: &[geojson::Position],
    frame: Option<&LocalFrame>,
) -> Result<Vec<Point>, String> {
    let point = |&[lon, lat]: &geojson::Position| {
        let place = Place::Degrees { lat, lon };
        place
            .resolve(frame)
            .map_err(|allowed| format!("{place}, allowed: {allowed}"))
    };
    ring.iter().map(point).collect()
}
