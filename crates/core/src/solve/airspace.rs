//! Zones that flights at some heights must avoid, and the ways around them.

use std::sync::OnceLock;

use super::obstacles::Obstacles;
use crate::vocabulary::Point;
use crate::vocabulary::geometry::Polygon;

/// A part of the ground, and how high above it nobody may fly.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    /// What it is called.
    pub name: String,
    /// The ground.
    pub polygon: Polygon,
    /// Flights above this height pass over it; 0: none do.
    pub height_m: f64,
}

impl Zone {
    /// Whether it is in the way of flights at a height.
    #[must_use]
    pub fn reaches(&self, altitude_m: f64) -> bool {
        self.height_m == 0.0 || altitude_m <= self.height_m
    }
}

/// Zones, and the ways around them at each height.
#[derive(Debug, Default)]
pub struct Airspace {
    zones: Vec<Zone>,
    /// Heights up to which the same zones are in the way, ascending, and these.
    levels: Vec<(f64, OnceLock<Obstacles>)>,
}

impl PartialEq for Airspace {
    fn eq(&self, other: &Self) -> bool {
        self.zones == other.zones
    }
}

static OPEN: Airspace = Airspace {
    zones: Vec::new(),
    levels: Vec::new(),
};

impl Airspace {
    /// Without zones.
    #[must_use]
    pub fn open() -> &'static Self {
        &OPEN
    }

    /// With these zones.
    #[must_use]
    pub fn new(zones: Vec<Zone>) -> Self {
        let height = |zone: &Zone| match zone.height_m > 0.0 {
            true => zone.height_m,
            false => f64::INFINITY,
        };
        let mut heights: Vec<f64> = zones.iter().map(height).collect();
        heights.sort_by(f64::total_cmp);
        heights.dedup();
        let level = |height_m| (height_m, OnceLock::new());
        Self {
            levels: heights.into_iter().map(level).collect(),
            zones,
        }
    }

    /// The zones.
    #[must_use]
    pub fn zones(&self) -> &[Zone] {
        &self.zones
    }

    /// What is in the way at a height, if anything.
    #[must_use]
    pub fn at(&self, altitude_m: f64) -> Option<&Obstacles> {
        let mut levels = self.levels.iter();
        let (_, obstacles) = levels.find(|(height_m, _)| altitude_m <= *height_m)?;
        Some(obstacles.get_or_init(|| {
            let zones = self.zones.iter().filter(|zone| zone.reaches(altitude_m));
            Obstacles::new(zones.map(|zone| zone.polygon.clone()).collect())
        }))
    }

    /// Whether one may hover at a point.
    #[must_use]
    pub fn allows(&self, point: Point, altitude_m: f64) -> bool {
        !self
            .at(altitude_m)
            .is_some_and(|zones| zones.contains(point))
    }

    /// The way between two points: both of them, and where it turns between them. Straight where zones leave no way; scenarios
    /// with such zones are refused.
    #[must_use]
    pub fn route(&self, from: Point, to: Point, altitude_m: f64) -> Vec<Point> {
        let route = self.at(altitude_m).and_then(|zones| zones.route(from, to));
        route.unwrap_or_else(|| vec![from, to])
    }

    /// Metres of the way between two points.
    #[must_use]
    pub fn route_m(&self, from: Point, to: Point, altitude_m: f64) -> f64 {
        match self.at(altitude_m) {
            Some(zones) if zones.blocks(from, to) => length_m(&self.route(from, to, altitude_m)),
            _ => from.distance(to),
        }
    }

    /// By how much two ways one after the other may be shorter than the one way between their ends.
    #[must_use]
    pub fn slack_m(&self, altitude_m: f64) -> f64 {
        self.at(altitude_m).map_or(0.0, Obstacles::slack_m)
    }
}

/// Metres along points.
#[must_use]
pub fn length_m(route: &[Point]) -> f64 {
    route.windows(2).map(|leg| leg[0].distance(leg[1])).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(x: f64, height_m: f64) -> Zone {
        let p = Point::new;
        let ring = [p(x, -50.0), p(x + 1.0, -50.0), p(x + 1.0, 50.0), p(x, 50.0)];
        Zone {
            name: format!("at {x}"),
            polygon: Polygon::new(&ring).unwrap(),
            height_m,
        }
    }

    #[test]
    fn flights_pass_over_what_is_lower_and_never_over_a_no_fly_zone() {
        let air = Airspace::new(vec![wall(10.0, 30.0), wall(20.0, 120.0), wall(30.0, 0.0)]);
        let way_m = |altitude_m| {
            let (from, to) = (Point::new(0.0, 0.0), Point::new(25.0, 0.0));
            let route = air.route(from, to, altitude_m);
            assert_eq!(air.route_m(from, to, altitude_m), length_m(&route));
            length_m(&route)
        };
        let [both, one, still_one, none] = [30.0, 31.0, 120.0, 121.0].map(way_m);
        assert!(both > one && one > 100.0, "{both} {one}");
        assert_eq!((one, none), (still_one, 25.0));
        let in_zone = Point::new(30.5, 0.0);
        assert!(!air.allows(in_zone, 1.0) && !air.allows(in_zone, 1e5));
        let in_wall = Point::new(10.5, 0.0);
        assert!(!air.allows(in_wall, 30.0) && air.allows(in_wall, 30.1));
        assert_eq!(Airspace::default().route_m(in_wall, in_zone, 5.0), 20.0);
    }
}
