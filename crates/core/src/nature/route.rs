//! Where flights go: around the zones that are in the way, and home to one of the bases.

use std::sync::Arc;

use crate::scenario::Places;
use crate::solve::airspace::Airspace;
use crate::vocabulary::Point;

/// The ways of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    air: Arc<Airspace>,
    bases: Vec<Point>,
}

impl Routes {
    /// Around the zones and to the bases of a scenario.
    #[must_use]
    pub fn new(places: &Places) -> Self {
        Self {
            air: Arc::clone(&places.air),
            bases: places.bases.clone(),
        }
    }

    /// The zones.
    #[must_use]
    pub fn air(&self) -> &Airspace {
        &self.air
    }

    /// Where UAVs recharge.
    #[must_use]
    pub fn bases(&self) -> &[Point] {
        &self.bases
    }

    /// The shortest way between two points at a height: `from`, where it turns, `to`.
    #[must_use]
    pub fn legs(&self, from: Point, to: Point, altitude_m: f64) -> Vec<Point> {
        self.air.route(from, to, altitude_m)
    }

    /// Metres of that way.
    #[must_use]
    pub fn length_m(&self, from: Point, to: Point, altitude_m: f64) -> f64 {
        self.air.route_m(from, to, altitude_m)
    }
}
