//! Points on the ground and distances.

use serde::{Deserialize, Serialize};

pub use super::geodesy::{Geodetic, LocalFrame};
pub use super::polygon::{Polygon, PolygonError, crossing, nearest_on_segment, segments_meet};

/// A point on the ground, metres from the area's corner. In files: `[x, y]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f64; 2]", into = "[f64; 2]")]
pub struct Point {
    /// Metres east of the corner.
    pub x_m: f64,
    /// Metres north of the corner.
    pub y_m: f64,
}

impl Point {
    /// The point `(x_m, y_m)`.
    #[must_use]
    pub const fn new(x_m: f64, y_m: f64) -> Self {
        Self { x_m, y_m }
    }

    /// Squared distance along the ground, m².
    #[must_use]
    pub fn distance_squared(self, other: Self) -> f64 {
        let (dx, dy) = (self.x_m - other.x_m, self.y_m - other.y_m);
        dx * dx + dy * dy
    }

    /// Distance along the ground, m.
    #[must_use]
    pub fn distance(self, other: Self) -> f64 {
        self.distance_squared(other).sqrt()
    }
}

impl From<[f64; 2]> for Point {
    fn from([x_m, y_m]: [f64; 2]) -> Self {
        Self { x_m, y_m }
    }
}

impl From<Point> for [f64; 2] {
    fn from(p: Point) -> Self {
        [p.x_m, p.y_m]
    }
}
