//! Where everybody is: devices, UAVs, coverage, who trained with whom.

mod glyph;
mod legend;

use aerofed::RoundRecord;
use aerofed::geometry::Point;
use aerofed::record::UavRecord;
use aerofed::world::{Status, World};

use crate::palette;
use crate::svg::{Axis, FAINT, Frame, INK, SOFT, Scale, Spot, Svg, axes};
use crate::units::{count, duration, length_unit, percent};

/// The longer side of the map, pixels.
const SIDE: f64 = 540.0;
/// A strip of land is still drawn this wide.
const LEAST_SIDE: f64 = 120.0;
const LEFT: f64 = 62.0;
const TOP: f64 = 64.0;
const LEGEND_WIDTH: f64 = 214.0;
/// The legend's lines need this much height.
const LEAST_HEIGHT: f64 = 340.0;
/// Most devices drawn; of more, every so-and-so-many-th.
const MOST_DEVICES: usize = 5_000;
/// Most UAVs drawn.
const MOST_UAVS: usize = 400;

/// What there is room for at each UAV.
#[derive(Clone, Copy, PartialEq)]
enum Room {
    /// A plate with number, state and battery.
    Plate,
    /// A number and the battery as a line.
    Number,
    /// A disc.
    Disc,
}

impl Room {
    fn among(uavs: usize) -> Self {
        match uavs {
            0..=24 => Self::Plate,
            25..=120 => Self::Number,
            _ => Self::Disc,
        }
    }
}

/// A map of the area as it stood in a round. `world` must be the world at the end of that round;
/// the record does not hold where devices were.
#[must_use]
pub fn map_svg(
    world: &World,
    record: &RoundRecord,
    base_m: Point,
    battery_capacity_j: f64,
) -> String {
    let map = Map::new(world, record, battery_capacity_j);
    let title = format!(
        "Round {} · simulated time {}",
        record.round,
        duration(record.clock_s)
    );
    let height = (map.frame.bottom + 52.0).max(TOP + LEAST_HEIGHT);
    let mut svg = Svg::new(map.frame.right + LEGEND_WIDTH + 40.0, height, &title);
    svg.text((16.0, 26.0), "font-size=\"15\" font-weight=\"600\"", &title);
    let state = format!(
        "{} of {} devices covered, {} trained; test accuracy {}",
        count(record.covered),
        count(world.devices.position.len()),
        count(record.selected),
        percent(record.test_accuracy, 1),
    );
    let soft = format!("font-size=\"12\" fill=\"{SOFT}\"");
    svg.text((16.0, 45.0), &soft, &state);
    map.ground(&mut svg);
    svg.clip(&map.clip_id(), map.frame);
    svg.open(&format!("clip-path=\"url(#{})\"", map.clip_id()));
    map.coverage(&mut svg);
    map.links(&mut svg);
    map.devices(&mut svg);
    svg.close();
    glyph::base(&mut svg, map.spot(base_m));
    map.uavs(&mut svg);
    legend::draw(&mut svg, &map);
    svg.finish()
}

struct Map<'a> {
    world: &'a World,
    record: &'a RoundRecord,
    battery_capacity_j: f64,
    frame: Frame,
    /// Metres to pixels.
    x: Scale,
    y: Scale,
    pixels_per_m: f64,
    /// Metres on the map from left to right and from bottom to top.
    extent_m: [(f64, f64); 2],
}

/// Indices of at most `most` of `count` things, evenly spread: the same in every run.
pub(crate) fn sample(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let drawn = count.min(most);
    (0..drawn).map(move |i| i * count / drawn)
}

fn uav_colour(uav: &UavRecord) -> &'static str {
    palette::uav_colour(uav.uav.index())
}

impl<'a> Map<'a> {
    fn new(world: &'a World, record: &'a RoundRecord, battery_capacity_j: f64) -> Self {
        let side = |metres: f64| {
            if metres.is_finite() {
                metres.max(1e-3)
            } else {
                1.0
            }
        };
        let (width_m, height_m) = (side(world.area.width_m), side(world.area.height_m));
        // A border, so that what stands on the edge is seen whole.
        let border_m = 0.04 * width_m.max(height_m);
        let pixels_per_m = SIDE / (width_m.max(height_m) + 2.0 * border_m);
        let extent = |metres: f64| {
            let shown_m = (metres + 2.0 * border_m).max(LEAST_SIDE / pixels_per_m);
            ((metres - shown_m) / 2.0, (metres + shown_m) / 2.0)
        };
        let (across, up) = (extent(width_m), extent(height_m));
        let frame = Frame {
            left: LEFT,
            top: TOP,
            right: LEFT + pixels_per_m * (across.1 - across.0),
            bottom: TOP + pixels_per_m * (up.1 - up.0),
        };
        Self {
            world,
            record,
            battery_capacity_j,
            frame,
            x: Scale::new(across, (frame.left, frame.right)),
            y: Scale::new(up, (frame.bottom, frame.top)),
            pixels_per_m,
            extent_m: [across, up],
        }
    }

    fn spot(&self, point: Point) -> Spot {
        (self.x.at(point.x_m), self.y.at(point.y_m))
    }

    /// Pages may hold several maps, and ids must not meet.
    fn clip_id(&self) -> String {
        format!("map-of-round-{}", self.record.round)
    }

    fn drawn_uavs(&self) -> impl Iterator<Item = &'a UavRecord> {
        let uavs = &self.record.uavs;
        sample(uavs.len(), MOST_UAVS).map(move |index| &uavs[index])
    }

    fn aggregator(&self) -> Option<&'a UavRecord> {
        let id = self.record.aggregator?;
        self.record.uavs.iter().find(|uav| uav.uav == id)
    }

    fn ground(&self, svg: &mut Svg) {
        let area = &self.world.area;
        let unit = length_unit(area.width_m.max(area.height_m));
        let [across, up] = self.extent_m;
        let axis = |extent: (f64, f64), pixels: (f64, f64), label| {
            let scale = Scale::new((extent.0 / unit.size, extent.1 / unit.size), pixels);
            let shown = (pixels.1 - pixels.0).abs();
            let mut ticks = scale.ticks((shown / 80.0) as usize + 1, 0.0);
            ticks.retain(|(value, _)| *value >= 0.0);
            Axis {
                scale,
                ticks,
                label,
            }
        };
        let frame = self.frame;
        let east = format!("east ({})", unit.symbol);
        let north = format!("north ({})", unit.symbol);
        let x = axis(across, (frame.left, frame.right), east.as_str());
        let y = axis(up, (frame.bottom, frame.top), north.as_str());
        svg.rect(frame, &format!("fill=\"none\" stroke=\"{FAINT}\""));
        axes(svg, frame, &x, &y);
        let corner = self.spot(Point::new(0.0, area.height_m));
        let opposite = self.spot(Point::new(area.width_m, 0.0));
        let land = Frame {
            left: corner.0,
            top: corner.1,
            right: opposite.0,
            bottom: opposite.1,
        };
        svg.rect(land, "fill=\"#fafaf7\" stroke=\"#c9ccd1\"");
    }

    fn coverage(&self, svg: &mut Svg) {
        let radius = self.world.coverage_radius_m * self.pixels_per_m;
        for uav in self.drawn_uavs() {
            let look = glyph::coverage_look(uav.status, uav_colour(uav));
            svg.circle(self.spot(uav.position_m), radius, &look);
        }
    }

    fn devices(&self, svg: &mut Svg) {
        let positions = &self.world.devices.position;
        let mut trained_with = vec![None; positions.len()];
        for uav in &self.record.uavs {
            for device in &uav.devices {
                if let Some(slot) = trained_with.get_mut(device.index()) {
                    *slot = Some(uav_colour(uav));
                }
            }
        }
        let radius = match positions.len() {
            0..=300 => 3.2,
            301..=1_500 => 2.2,
            _ => 1.4,
        };
        // One group for each look, so that a device is no more than a place.
        let mut looks: Vec<(String, Vec<Spot>)> = Vec::new();
        for index in sample(positions.len(), MOST_DEVICES) {
            let look = match trained_with[index] {
                Some(colour) => glyph::trained_look(colour),
                None if self.is_covered(positions[index]) => glyph::idle_look(),
                None => glyph::uncovered_look(),
            };
            let spot = self.spot(positions[index]);
            match looks.iter_mut().find(|(known, _)| *known == look) {
                Some((_, spots)) => spots.push(spot),
                None => looks.push((look, vec![spot])),
            }
        }
        for (look, spots) in looks {
            svg.open(&look);
            spots.iter().for_each(|&at| svg.circle(at, radius, ""));
            svg.close();
        }
    }

    /// By a UAV that was there when the round began, even if it has left since.
    fn is_covered(&self, device: Point) -> bool {
        let radius_m = self.world.coverage_radius_m;
        let there = |uav: &&UavRecord| uav.covered > 0;
        let mut covering = self.record.uavs.iter().filter(there);
        covering.any(|uav| uav.position_m.distance(device) <= radius_m)
    }

    /// From the aggregator to whoever had a model to send or is still there to receive one.
    fn links(&self, svg: &mut Svg) {
        let Some(aggregator) = self.aggregator() else {
            return;
        };
        svg.open(&glyph::link_look());
        for uav in self.drawn_uavs() {
            let took_part = uav.status == Status::Active || !uav.devices.is_empty();
            if took_part && uav.status != Status::Lost && uav.uav != aggregator.uav {
                svg.line(
                    self.spot(aggregator.position_m),
                    self.spot(uav.position_m),
                    "",
                );
            }
        }
        svg.close();
    }

    fn uavs(&self, svg: &mut Svg) {
        let room = Room::among(self.record.uavs.len());
        for uav in self.drawn_uavs() {
            let at = self.spot(uav.position_m);
            match room {
                Room::Plate => {
                    self.plate(svg, uav, at);
                    glyph::drone(svg, at, uav.status, uav_colour(uav));
                }
                Room::Number => {
                    glyph::disc(svg, at, uav.status, uav_colour(uav));
                    let text = uav.uav.0.to_string();
                    svg.text((at.0, at.1 - 6.0), &glyph::number_look(), &text);
                    let bar = (at.0 - 8.0, at.1 + 6.0);
                    glyph::charge_line(svg, bar, self.battery_share(uav), uav.status);
                }
                Room::Disc => glyph::disc(svg, at, uav.status, uav_colour(uav)),
            }
        }
        if let Some(aggregator) = self.aggregator() {
            let at = self.spot(aggregator.position_m);
            glyph::star(svg, (at.0, at.1 - 19.0));
        }
    }

    fn battery_share(&self, uav: &UavRecord) -> f64 {
        let share = uav.battery_after_j / self.battery_capacity_j;
        if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// The UAV's number, battery and state, on a plate below it.
    fn plate(&self, svg: &mut Svg, uav: &UavRecord, at: Spot) {
        let active = uav.status == Status::Active;
        let share = self.battery_share(uav);
        let words = if active {
            format!("UAV {}", uav.uav.0)
        } else {
            format!("UAV {} {}", uav.uav.0, uav.status.name())
        };
        let half = 9.0 + 3.0 * words.chars().count().max(9) as f64;
        let frame = self.frame;
        // A plate beyond the edge is moved back in; a UAV near the bottom carries it on top.
        let x = at.0.clamp(
            frame.left + half,
            (frame.right - half).max(frame.left + half),
        );
        let below = at.1 + 13.0;
        let top = if below + 28.0 <= frame.bottom {
            below
        } else {
            at.1 - 52.0
        };
        let plate = Frame {
            left: x - half,
            top,
            right: x + half,
            bottom: top + 28.0,
        };
        svg.rect(
            plate,
            &format!(
                "rx=\"3\" fill=\"#ffffff\" fill-opacity=\"0.78\" stroke=\"{FAINT}\" stroke-width=\"0.8\""
            ),
        );
        let ink = if active { INK } else { SOFT };
        let style =
            format!("font-size=\"10\" font-weight=\"600\" text-anchor=\"middle\" fill=\"{ink}\"");
        svg.text((x, top + 11.0), &style, &words);
        glyph::battery(svg, (x - 32.0, top + 16.0), share, uav.status);
        let style = format!("font-size=\"9.5\" text-anchor=\"end\" fill=\"{ink}\"");
        svg.text((x + 32.0, top + 24.0), &style, &percent(share, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_even_and_never_larger() {
        assert_eq!(sample(3, 5).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(sample(10, 5).collect::<Vec<_>>(), [0, 2, 4, 6, 8]);
        assert_eq!(sample(0, 5).count(), 0);
        assert_eq!(sample(10_000_000, 5_000).count(), 5_000);
    }
}
