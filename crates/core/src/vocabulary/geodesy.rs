//! Degrees on the globe and metres on a map: WGS84 coordinates and a plane that touches the ellipsoid at an origin.

use super::geometry::Point;

/// Half the equator's diameter, m (WGS84).
const SEMI_MAJOR_M: f64 = 6_378_137.0;
/// By how much the poles are nearer (WGS84).
const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// Square of the ellipsoid's first eccentricity.
const ECCENTRICITY_SQUARED: f64 = FLATTENING * (2.0 - FLATTENING);
/// Each step of the inverse takes the error down to a hundredth and less: so many leave nothing of it.
const STEPS: usize = 12;

/// A place on the globe, WGS84.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geodetic {
    /// Degrees north of the equator.
    pub lat: f64,
    /// Degrees east of Greenwich.
    pub lon: f64,
    /// Metres above the ellipsoid.
    pub alt_m: f64,
}

impl Geodetic {
    /// The place in earth-centred, earth-fixed coordinates, m.
    #[must_use]
    pub fn to_ecef(self) -> [f64; 3] {
        let (sin_lat, cos_lat) = libm::sincos(self.lat.to_radians());
        let (sin_lon, cos_lon) = libm::sincos(self.lon.to_radians());
        let across_m = SEMI_MAJOR_M / (1.0 - ECCENTRICITY_SQUARED * sin_lat * sin_lat).sqrt();
        let ring_m = (across_m + self.alt_m) * cos_lat;
        [
            ring_m * cos_lon,
            ring_m * sin_lon,
            (across_m * (1.0 - ECCENTRICITY_SQUARED) + self.alt_m) * sin_lat,
        ]
    }

    /// The place at earth-centred, earth-fixed coordinates, for points within thousands of kilometres of the surface.
    #[must_use]
    pub fn from_ecef([x_m, y_m, z_m]: [f64; 3]) -> Self {
        let ring_m = (x_m * x_m + y_m * y_m).sqrt();
        let mut lat = libm::atan2(z_m, ring_m * (1.0 - ECCENTRICITY_SQUARED));
        for _ in 0..STEPS {
            let sin = libm::sin(lat);
            let across_m = SEMI_MAJOR_M / (1.0 - ECCENTRICITY_SQUARED * sin * sin).sqrt();
            lat = libm::atan2(z_m + ECCENTRICITY_SQUARED * across_m * sin, ring_m);
        }
        let (sin, cos) = libm::sincos(lat);
        // This form of the height holds at the poles, too.
        let surface_m = SEMI_MAJOR_M * (1.0 - ECCENTRICITY_SQUARED * sin * sin).sqrt();
        Self {
            lat: lat.to_degrees(),
            lon: libm::atan2(y_m, x_m).to_degrees(),
            alt_m: ring_m * cos + z_m * sin - surface_m,
        }
    }
}

/// East, north and up at an origin. On the map a place is its east and north; the ground is at the origin's height everywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalFrame {
    origin: Geodetic,
    ecef_m: [f64; 3],
    /// The directions east, north and up.
    axes: [[f64; 3]; 3],
}

impl LocalFrame {
    /// The frame that touches the ellipsoid at `origin`.
    #[must_use]
    pub fn new(origin: Geodetic) -> Self {
        let (sin_lat, cos_lat) = libm::sincos(origin.lat.to_radians());
        let (sin_lon, cos_lon) = libm::sincos(origin.lon.to_radians());
        Self {
            origin,
            ecef_m: origin.to_ecef(),
            axes: [
                [-sin_lon, cos_lon, 0.0],
                [-sin_lat * cos_lon, -sin_lat * sin_lon, cos_lat],
                [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat],
            ],
        }
    }

    /// Where it touches.
    #[must_use]
    pub fn origin(&self) -> Geodetic {
        self.origin
    }

    /// Metres east, north and up of the origin.
    #[must_use]
    pub fn to_enu(&self, place: Geodetic) -> [f64; 3] {
        let ecef_m = place.to_ecef();
        let from_origin = [0, 1, 2].map(|axis| ecef_m[axis] - self.ecef_m[axis]);
        self.axes.map(|axis| dot(axis, from_origin))
    }

    /// The place so many metres east, north and up of the origin.
    #[must_use]
    pub fn from_enu(&self, enu_m: [f64; 3]) -> Geodetic {
        let [east, north, up] = self.axes;
        let along = |i: usize| [east[i], north[i], up[i]];
        Geodetic::from_ecef([0, 1, 2].map(|i| self.ecef_m[i] + dot(along(i), enu_m)))
    }

    /// A place on the ground, by degrees.
    #[must_use]
    pub fn point(&self, lat: f64, lon: f64) -> Point {
        let alt_m = self.origin.alt_m;
        let [east_m, north_m, _] = self.to_enu(Geodetic { lat, lon, alt_m });
        Point::new(east_m, north_m)
    }

    /// The degrees of a place on the ground, within hundreds of kilometres of the origin.
    #[must_use]
    pub fn degrees(&self, point: Point) -> Geodetic {
        // The ground bends away from the plane: how far below it lies is what makes the height that of the origin.
        let mut place = self.origin;
        let mut up_m = 0.0;
        for _ in 0..STEPS {
            place = self.from_enu([point.x_m, point.y_m, up_m]);
            up_m -= place.alt_m - self.origin.alt_m;
        }
        place
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(lat: f64, lon: f64, alt_m: f64) -> Geodetic {
        Geodetic { lat, lon, alt_m }
    }

    fn close(found: [f64; 3], expected: [f64; 3], within_m: f64) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= within_m, "{found} {expected}");
        }
    }

    /// The axes of the ellipsoid as NIMA TR8350.2 (third edition, table 3.3) derives them.
    #[test]
    fn val_the_axes_of_wgs84() {
        close(at(0.0, 0.0, 0.0).to_ecef(), [6_378_137.0, 0.0, 0.0], 1e-6);
        close(at(0.0, 90.0, 5.0).to_ecef(), [0.0, 6_378_142.0, 0.0], 1e-6);
        close(
            at(90.0, 0.0, 0.0).to_ecef(),
            [0.0, 0.0, 6_356_752.314_2],
            1e-4,
        );
        close(
            at(-90.0, 0.0, 1.0).to_ecef(),
            [0.0, 0.0, -6_356_753.314_2],
            1e-4,
        );
    }

    /// From Zermatt to the Matterhorn: the example that the page of the Mapping Toolbox's `geodetic2enu` prints. A place in
    /// Hiroshima: that of QZS L6 Tool's `llh2ecef`, whose seven decimals of a degree are a centimetre.
    #[test]
    fn val_printed_examples_of_other_implementations() {
        let zermatt = LocalFrame::new(at(46.017, 7.750, 1_673.0));
        let matterhorn = zermatt.to_enu(at(45.976, 7.658, 4_531.0));
        close(matterhorn, [-7_134.8, -4_556.3, 2_852.4], 0.05);
        let hiroshima = [-3_551_876.829, 3_887_786.860, 3_586_946.387];
        close(
            at(34.4401061, 132.4147804, 233.362).to_ecef(),
            hiroshima,
            0.01,
        );
        let back = Geodetic::from_ecef(hiroshima);
        assert!((back.lat - 34.4401061).abs() < 1e-7 && (back.lon - 132.4147804).abs() < 1e-7);
        assert!((back.alt_m - 233.362).abs() < 0.01);
    }

    /// A second of latitude at 45 degrees is 30.87 m, one of longitude 21.90 m: M sin 1" and N cos 45 sin 1" by hand.
    #[test]
    fn a_second_of_arc_is_so_many_metres() {
        let frame = LocalFrame::new(at(45.0, 9.0, 0.0));
        let second = 1.0 / 3_600.0;
        let north = frame.point(45.0 + second, 9.0);
        let east = frame.point(45.0, 9.0 + second);
        assert!(
            (north.y_m - 30.87).abs() < 5e-3 && north.x_m.abs() < 1e-6,
            "{north:?}"
        );
        assert!(
            (east.x_m - 21.90).abs() < 5e-3 && east.y_m.abs() < 1e-3,
            "{east:?}"
        );
    }

    proptest! {
        #[test]
        fn there_and_back_is_within_a_millimetre(
            lat in -89.9..89.9f64, lon in -180.0..180.0f64, alt_m in -400.0..5_000.0f64,
            x_m in -100e3..100e3f64, y_m in -100e3..100e3f64, up_m in -1e3..9e3f64,
        ) {
            let frame = LocalFrame::new(at(lat, lon, alt_m));
            let place = frame.from_enu([x_m, y_m, up_m]);
            let back = frame.to_enu(place);
            prop_assert!((back[0] - x_m).hypot(back[1] - y_m).hypot(back[2] - up_m) < 1e-3);
            let ground = frame.degrees(Point::new(x_m, y_m));
            prop_assert!((ground.alt_m - alt_m).abs() < 1e-3);
            prop_assert!(frame.point(ground.lat, ground.lon).distance(Point::new(x_m, y_m)) < 1e-3);
        }
    }
}
