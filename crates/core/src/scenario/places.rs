//! Where things are: the area and where on the globe it lies, bases, zones that UAVs avoid, places of devices.

mod geojson;
mod place;
mod sites;
mod zones;

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use place::{Base, Place};
pub use zones::NoFly;

use super::check::{Checked, bad, within};
use super::{Layout, Scenario, ScenarioError};
use crate::seed::Random;
use crate::solve::airspace::Airspace;
use crate::vocabulary::Point;
use crate::vocabulary::geometry::{Geodetic, LocalFrame};
use sites::Sites;

/// Areas that lie on the globe are no wider: their map is a plane.
const WIDEST_ON_GLOBE_M: f64 = 500e3;

/// The rectangle everything happens in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Area {
    /// East-west extent.
    pub width_m: f64,
    /// North-south extent.
    pub height_m: f64,
    /// Where on the globe its south-west corner is, WGS84: `[lat, lon]` or `[lat, lon, alt_m]`; empty: nowhere in particular.
    pub origin: Vec<f64>,
    /// A GeoJSON file with more of `no_fly`; empty: none.
    pub no_fly_file: PathBuf,
    /// What UAVs fly around.
    pub no_fly: Vec<NoFly>,
}

impl Default for Area {
    fn default() -> Self {
        Self {
            width_m: 20_000.0,
            height_m: 20_000.0,
            origin: Vec::new(),
            no_fly_file: PathBuf::new(),
            no_fly: Vec::new(),
        }
    }
}

impl Area {
    /// Of these extents, nowhere in particular and without zones.
    #[must_use]
    pub fn new(width_m: f64, height_m: f64) -> Self {
        Self {
            width_m,
            height_m,
            ..Self::default()
        }
    }

    /// The least and the greatest coordinates.
    #[must_use]
    pub fn bounds(&self) -> (Point, Point) {
        let corner = Point::new(self.width_m, self.height_m);
        (Point::default(), corner)
    }

    /// Whether a point is inside.
    #[must_use]
    pub fn contains(&self, point: Point) -> bool {
        (0.0..=self.width_m).contains(&point.x_m) && (0.0..=self.height_m).contains(&point.y_m)
    }

    pub(super) fn frame(&self) -> Option<LocalFrame> {
        let (lat, lon, alt_m) = match self.origin[..] {
            [lat, lon] => (lat, lon, 0.0),
            [lat, lon, alt_m] => (lat, lon, alt_m),
            _ => return None,
        };
        Some(LocalFrame::new(Geodetic { lat, lon, alt_m }))
    }

    fn check(&self) -> Checked {
        within("area.width_m", self.width_m, 1.0..=1e7)?;
        within("area.height_m", self.height_m, 1.0..=1e7)?;
        let allowed = [-89.0..=89.0, -180.0..=180.0, -500.0..=9_000.0];
        let fits = self.origin.iter().zip(&allowed);
        if ![0, 2, 3].contains(&self.origin.len()) || !fits.into_iter().all(|(n, r)| r.contains(n))
        {
            return Err(bad(
                "area.origin",
                format_args!("{:?}", self.origin),
                "[] or [lat, lon] or [lat, lon, alt_m] of the south-west corner: lat -89 to 89, lon -180 to 180, alt_m -500 to 9000",
            ));
        }
        for (field, side) in [
            ("area.width_m", self.width_m),
            ("area.height_m", self.height_m),
        ] {
            if !self.origin.is_empty() && side > WIDEST_ON_GLOBE_M {
                let allowed =
                    format_args!("1 to {WIDEST_ON_GLOBE_M} where area.origin is set").to_string();
                return Err(bad(field, side, allowed));
            }
        }
        Ok(())
    }
}

/// All places of a scenario, in metres.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// From metres to degrees and back, where the area has an origin.
    pub frame: Option<LocalFrame>,
    /// Where UAVs recharge; at least one.
    pub bases: Vec<Point>,
    /// What UAVs fly around.
    pub air: Arc<Airspace>,
    /// Given posts of UAVs; empty: none are.
    posts: Vec<Point>,
    sites: Option<Arc<Sites>>,
}

impl Places {
    /// Finds the places of a scenario, and reads the files that it names.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub fn of(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let area = &scenario.area;
        area.check()?;
        let frame = area.frame();
        let air = zones::airspace(area, frame.as_ref())?;
        let inside = |field: &str, place: Place| {
            let point = place.resolve(frame.as_ref());
            let point = point.map_err(|allowed| bad(field, place, allowed))?;
            if area.contains(point) {
                return Ok(point);
            }
            let (width_m, height_m) = (area.width_m, area.height_m);
            let allowed = match place {
                Place::Metres(_) => {
                    format!("[x, y] inside the area, x 0 to {width_m}, y 0 to {height_m}")
                }
                Place::Degrees { .. } => format!(
                    "a place inside the area, which is {width_m} m by {height_m} m; this is at [{:.0}, {:.0}] m",
                    point.x_m, point.y_m
                ),
            };
            Err(bad(field, place, allowed))
        };
        let outside_zones = |field: &str, point: Point, altitude_m: f64| {
            let mut zones = air.zones().iter();
            let around = |zone: &&crate::solve::airspace::Zone| {
                zone.reaches(altitude_m) && zone.polygon.contains(point)
            };
            zones.find(around).map_or(Ok(()), |zone| {
                let value = format_args!("[{}, {}]", point.x_m, point.y_m).to_string();
                let allowed =
                    format_args!("places outside of `area.no_fly` {:?}", zone.name).to_string();
                Err(bad(field, value, allowed))
            })
        };
        let mut bases = vec![Point::new(area.width_m / 2.0, area.height_m / 2.0)];
        if let Base::At(places) = &scenario.uavs.base_m {
            let places = places.iter().map(|&place| inside("uavs.base_m", place));
            bases = places.collect::<Result<_, _>>()?;
        }
        for &base in &bases {
            // They land there: whatever stands on the ground is in the way.
            outside_zones("uavs.base_m", base, 0.0)?;
        }
        let mut posts = Vec::new();
        if let Layout::Fixed { positions_m } = &scenario.uavs.layout {
            let field = "uavs.layout.positions_m";
            for (uav, &place) in positions_m.iter().enumerate() {
                let post = inside(field, place)?;
                outside_zones(field, post, scenario.uav(uav).altitude_m)?;
                posts.push(post);
            }
        }
        let sites = Sites::read(&scenario.devices, area, frame.as_ref())?;
        Ok(Self {
            frame,
            bases,
            air: Arc::new(air),
            posts,
            sites: sites.map(Arc::new),
        })
    }

    /// What can be said of the places of a scenario that ran before, even if files that it names are gone.
    #[must_use]
    pub fn to_draw(scenario: &Scenario) -> Self {
        let (area, frame) = (&scenario.area, scenario.area.frame());
        let air = zones::airspace(area, frame.as_ref()).or_else(|_| {
            let without_file = Area {
                no_fly_file: PathBuf::new(),
                ..area.clone()
            };
            zones::airspace(&without_file, frame.as_ref())
        });
        Self {
            frame,
            bases: scenario.bases(),
            air: Arc::new(air.unwrap_or_default()),
            ..Self::default()
        }
    }

    /// The given posts of UAVs.
    #[must_use]
    pub fn posts(&self) -> &[Point] {
        &self.posts
    }

    /// Whether a file says where devices start.
    pub(crate) fn gives_devices(&self) -> bool {
        self.sites.is_some()
    }

    /// Where a device starts, if a file says so.
    pub(crate) fn device(&self, device: usize, rng: &mut Random) -> Option<Point> {
        Some(self.sites.as_ref()?.draw(device, rng))
    }
}

impl Scenario {
    /// Where UAVs recharge.
    #[must_use]
    pub fn bases(&self) -> Vec<Point> {
        let frame = self.area.frame();
        match &self.uavs.base_m {
            Base::Middle => vec![Point::new(
                self.area.width_m / 2.0,
                self.area.height_m / 2.0,
            )],
            Base::At(places) => {
                let points = places.iter().map(|place| place.resolve(frame.as_ref()));
                points.filter_map(Result::ok).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::ValidScenario;

    fn check(text: &str) -> Result<ValidScenario, String> {
        let scenario = Scenario::parse(text, &[""; 0]).map_err(|error| error.to_string())?;
        scenario.check().map_err(|error| error.to_string())
    }

    #[test]
    fn degrees_and_metres_name_the_same_places() {
        let scenario = check(
            "[area]\norigin = [47.0, 8.0, 400]\nno_fly = [{ name = \"z\", polygon = [[0, 0], [100, 0], { lat = 47.001, lon = 8.0 }] }]\n\
             [uavs]\ncount = 2\nbase_m = [{ lat = 47.01, lon = 8.02 }, [19000, 500]]\n\
             layout = { kind = \"fixed\", positions_m = [{ lat = 47.05, lon = 8.1 }, [1, 900]] }",
        )
        .unwrap();
        let places = scenario.places();
        let frame = places.frame.unwrap();
        assert_eq!(
            places.bases,
            [frame.point(47.01, 8.02), Point::new(19e3, 500.0)]
        );
        assert_eq!(scenario.bases(), places.bases);
        assert_eq!(
            places.posts(),
            [frame.point(47.05, 8.1), Point::new(1.0, 900.0)]
        );
        let corner = places.air.zones()[0].polygon.corners()[2];
        // A thousandth of a degree of latitude is 111.2 m there.
        assert!(
            (corner.y_m - 111.2).abs() < 0.1 && corner.x_m.abs() < 0.1,
            "{corner:?}"
        );
        let text = scenario.to_toml().unwrap();
        assert_eq!(Scenario::parse(&text, &[""; 0]).unwrap(), *scenario);
    }

    #[test]
    fn the_middle_follows_the_area() {
        let middle = |text| check(text).unwrap().places().bases[0];
        assert_eq!(
            middle("[area]\nwidth_m = 3000\nheight_m = 5000"),
            Point::new(1500.0, 2500.0)
        );
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let square = |x: f64| {
            format!(
                "[[{x}, 0], [{}, 0], [{}, 9e3], [{x}, 9e3]]",
                x + 5e3,
                x + 5e3
            )
        };
        for (text, expected) in [
            (
                "[area]\norigin = [47.0]".to_owned(),
                "`area.origin` is [47.0]",
            ),
            ("[area]\norigin = [8.0, 190.0]".into(), "lon -180 to 180"),
            ("[area]\norigin = [91, 0]".into(), "lat -89 to 89"),
            ("[area]\norigin = [nan, 0]".into(), "`area.origin`"),
            (
                "[area]\norigin = [47.0, 8.0]\nwidth_m = 1e6".into(),
                "`area.width_m` is 1000000, allowed: 1 to 500000 where area.origin is set",
            ),
            (
                "[uavs]\nbase_m = { lat = 47, lon = 8 }".into(),
                "`area.origin`",
            ),
            (
                "[area]\norigin = [47, 8]\n[uavs]\nbase_m = { lat = 46.9, lon = 8 }".into(),
                "inside the area",
            ),
            (
                "[area]\norigin = [47, 8]\n[uavs]\nbase_m = { lat = -47, lon = -172 }".into(),
                "far from",
            ),
            (
                "[area]\norigin = [47, 8]\n[uavs]\nbase_m = { lat = 147, lon = 8 }".into(),
                "lat -90 to 90",
            ),
            (
                format!(
                    "[uavs]\nbase_m = [1e3, 1e3]\n[area]\nno_fly = [{{ name = \"castle\", polygon = {}, height_m = 30 }}]",
                    square(0.0)
                ),
                "`uavs.base_m` is [1000, 1000], allowed: places outside of `area.no_fly` \"castle\"",
            ),
            (
                format!(
                    "[uavs]\ncount = 1\nlayout = {{ kind = \"fixed\", positions_m = [[1, 1]] }}\n[area]\nno_fly = [{{ polygon = {} }}]",
                    square(0.0)
                ),
                "`uavs.layout.positions_m` is [1, 1]",
            ),
            (
                "[area]\nno_fly = [{ polygon = [[0, 0], [1, 1]] }]".into(),
                "three corners",
            ),
            (
                "[area]\nno_fly = [{ polygon = [[0, 0], [1, 1], [1, 0], [0, 1]] }]".into(),
                "cross",
            ),
            (
                "[area]\nno_fly = [{ polygon = [[0, 0], [1, 1], [1, inf]] }]".into(),
                "`area.no_fly",
            ),
            (
                format!(
                    "[area]\nno_fly = [{{ polygon = {}, height_m = -1 }}]",
                    square(0.0)
                ),
                "height_m",
            ),
            (
                "[area]\nno_fly = [{ polygon = [[-1, -1], [3e4, -1], [3e4, 3e4], [-1, 3e4]] }]"
                    .into(),
                "leaves no room",
            ),
            (
                "[area]\nno_fly_file = \"no.geojson\"".into(),
                "`area.no_fly_file` is \"no.geojson\"",
            ),
            (
                "[devices]\npositions = \"no.csv\"".into(),
                "`devices.positions` is \"no.csv\"",
            ),
            ("[devices]\npositions = \"no.shp\"".into(), ".csv, .geojson"),
        ] {
            let told = check(&text).unwrap_err();
            assert!(told.contains(expected), "{text}\n{told}");
        }
        // A post above an obstacle that is lower is none in it.
        let above = format!(
            "[uavs]\ncount = 1\nlayout = {{ kind = \"fixed\", positions_m = [[1, 1]] }}\n[area]\nno_fly = [{{ polygon = {}, height_m = 149 }}]",
            square(0.0)
        );
        check(&above).unwrap();
    }
}
