//! The ground of a map: how much of the world is on the sheet, its axes and its land.

use aerofed::geometry::{LocalFrame, Point};
use aerofed::scenario::Area;

use crate::svg::{Axis, FAINT, Frame, Scale, Spot, Svg, axes};
use crate::units::length_unit;

/// The longer side of the map, pixels.
const SIDE: f64 = 540.0;
/// A strip of land is still drawn this wide.
const LEAST_SIDE: f64 = 120.0;
const LEFT: f64 = 62.0;
pub(crate) const TOP: f64 = 64.0;
/// Air around everything, as a share of the longer side.
const BORDER: f64 = 0.04;
/// How far the map goes beyond the area for what lies there, as a share of the longer side: with circles that reach further the area
/// would be a dot.
const MOST_BEYOND: f64 = 1.0;

/// The area on the sheet, and around it whatever the circles of the UAVs need.
pub(crate) struct Ground {
    pub(crate) frame: Frame,
    pub(crate) pixels_per_m: f64,
    /// Metres to pixels.
    x: Scale,
    y: Scale,
    /// Metres of land from left to right and from bottom to top.
    land_m: (f64, f64),
}

impl Ground {
    /// `circles` are told by their middles and radii; a place has the radius 0.
    pub(crate) fn new(area: &Area, circles: impl Iterator<Item = (Point, f64)>) -> Self {
        let side = |metres: f64| {
            if metres.is_finite() {
                metres.max(1e-3)
            } else {
                1.0
            }
        };
        let land_m = (side(area.width_m), side(area.height_m));
        let longer_m = land_m.0.max(land_m.1);
        let (mut across, mut up) = ((0.0, land_m.0), (0.0, land_m.1));
        let reach = |(low, high): &mut (f64, f64), at: f64, radius: f64, land: f64| {
            let beyond = MOST_BEYOND * longer_m;
            if at.is_finite() && radius.is_finite() {
                *low = low.min((at - radius).max(-beyond));
                *high = high.max((at + radius).min(land + beyond));
            }
        };
        for (middle, radius) in circles {
            reach(&mut across, middle.x_m, radius, land_m.0);
            reach(&mut up, middle.y_m, radius, land_m.1);
        }
        let border_m = BORDER * longer_m;
        let longest_m = (across.1 - across.0).max(up.1 - up.0) + 2.0 * border_m;
        let pixels_per_m = SIDE / longest_m;
        let extent = |(low, high): (f64, f64)| {
            let spare_m = LEAST_SIDE / pixels_per_m - (high - low);
            let air_m = border_m.max(spare_m / 2.0);
            (low - air_m, high + air_m)
        };
        let (across, up) = (extent(across), extent(up));
        let frame = Frame {
            left: LEFT,
            top: TOP,
            right: LEFT + pixels_per_m * (across.1 - across.0),
            bottom: TOP + pixels_per_m * (up.1 - up.0),
        };
        Self {
            frame,
            pixels_per_m,
            x: Scale::new(across, (frame.left, frame.right)),
            y: Scale::new(up, (frame.bottom, frame.top)),
            land_m,
        }
    }

    pub(crate) fn spot(&self, point: Point) -> Spot {
        (self.x.at(point.x_m), self.y.at(point.y_m))
    }

    /// Frame, axes with ticks along the land, and the land itself. Where the land lies on the globe, ticks are degrees.
    pub(crate) fn draw(&self, svg: &mut Svg, globe: Option<LocalFrame>) {
        let (width_m, height_m) = self.land_m;
        let unit = length_unit(width_m.max(height_m));
        let corner = self.spot(Point::new(0.0, 0.0));
        let opposite = self.spot(Point::new(width_m, height_m));
        let axis = |span: (f64, f64), ends: (f64, f64), label| {
            let scale = Scale::new(span, ends);
            let shown = (ends.1 - ends.0).abs();
            Axis {
                scale,
                ticks: scale.ticks((shown / 80.0) as usize + 1, 0.0),
                label,
            }
        };
        let (mut east, mut north) = (
            format!("east ({})", unit.symbol),
            format!("north ({})", unit.symbol),
        );
        let mut spans = ((0.0, width_m / unit.size), (0.0, height_m / unit.size));
        if let Some(globe) = globe {
            spans = degrees(&globe, width_m, height_m);
            (east, north) = ("longitude (°)".into(), "latitude (°)".into());
        }
        let mut x = axis(spans.0, (corner.0, opposite.0), east.as_str());
        let y = axis(spans.1, (corner.1, opposite.1), north.as_str());
        if globe.is_some() {
            beyond_the_date_line(&mut x);
        }
        svg.rect(self.frame, &format!("fill=\"none\" stroke=\"{FAINT}\""));
        axes(svg, self.frame, &x, &y);
        let land = Frame {
            left: corner.0,
            top: opposite.1,
            right: opposite.0,
            bottom: corner.1,
        };
        svg.rect(land, "fill=\"#fafaf7\" stroke=\"#c9ccd1\"");
    }
}

/// Longitudes along the southern edge and latitudes along the western one, which on a map as small as this are all but
/// evenly spaced. East of the date line longitudes go on beyond 180.
pub(crate) fn degrees(globe: &LocalFrame, width_m: f64, height_m: f64) -> ((f64, f64), (f64, f64)) {
    let at = |x_m, y_m| globe.degrees(Point::new(x_m, y_m));
    let (corner, east, north) = (at(0.0, 0.0), at(width_m, 0.0), at(0.0, height_m));
    let east = match east.lon < corner.lon {
        true => east.lon + 360.0,
        false => east.lon,
    };
    ((corner.lon, east), (corner.lat, north.lat))
}

/// Longitudes beyond 180 are written as everybody does.
fn beyond_the_date_line(axis: &mut Axis) {
    for (value, text) in axis.ticks.iter_mut().filter(|tick| tick.0 > 180.0) {
        let decimals = text.split_once('.').map_or(0, |(_, digits)| digits.len());
        *text = format!("{:.decimals$}", *value - 360.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground(circles: &[(Point, f64)]) -> Ground {
        let area = Area::new(1_000.0, 500.0);
        Ground::new(&area, circles.iter().copied())
    }

    #[test]
    fn circles_that_leave_the_area_are_on_the_map_whole() {
        let middle = Point::new(900.0, 50.0);
        let map = ground(&[(middle, 300.0)]);
        let (at, radius) = (map.spot(middle), 300.0 * map.pixels_per_m);
        let frame = map.frame;
        assert!(at.0 - radius > frame.left && at.0 + radius < frame.right);
        assert!(at.1 - radius > frame.top && at.1 + radius < frame.bottom);
        assert!(frame.width().max(frame.height()) <= SIDE + 1e-9);
    }

    #[test]
    fn the_area_stays_large_beside_circles_without_end() {
        let far = [
            (Point::new(500.0, 250.0), 1e12),
            (Point::new(f64::NAN, f64::INFINITY), 1.0),
            (Point::new(-1e300, 0.0), f64::NAN),
        ];
        let map = ground(&far);
        let width = map.spot(Point::new(1_000.0, 0.0)).0 - map.spot(Point::new(0.0, 0.0)).0;
        assert!(width > SIDE / 4.0, "{width}");
    }
}
