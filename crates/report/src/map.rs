//! Where everybody is: devices, UAVs, coverage, who trained with whom.

mod glyph;
mod labels;
mod legend;

use aerofed::RoundRecord;
use aerofed::geometry::Point;
use aerofed::record::UavRecord;
use aerofed::scenario::Places;
use aerofed::world::{Status, Uav, World};

use self::labels::Obstacles;
use crate::ground::{Ground, TOP};
use crate::palette;
use crate::svg::{SOFT, Spot, Svg};
use crate::units::{count, counted, duration, percent};
use crate::zones::Zones;

const LEGEND_WIDTH: f64 = 214.0;
/// The legend's lines need this much height, and those of zones so much more.
const LEAST_HEIGHT: f64 = 340.0;
const HEIGHT_OF_ZONES: f64 = 48.0;
/// Most devices drawn; of more, every so-and-so-many-th.
const MOST_DEVICES: usize = 5_000;
/// Most UAVs drawn.
const MOST_UAVS: usize = 400;

/// What there is room for at each UAV.
#[derive(Clone, Copy, PartialEq)]
enum Room {
    /// A name with number, state and battery.
    Name,
    /// A number and the battery as a line.
    Number,
    /// A disc.
    Disc,
}

impl Room {
    fn among(uavs: usize) -> Self {
        match uavs {
            0..=24 => Self::Name,
            25..=120 => Self::Number,
            _ => Self::Disc,
        }
    }
}

/// A map of the area as it stood in a round. `world` must be the world at the end of that round;
/// the record does not hold where devices were.
#[must_use]
pub fn map_svg(world: &World, record: &RoundRecord, places: &Places) -> String {
    let map = Map::new(world, record, places);
    let id = map.clip_id();
    let zones = Zones::new(&places.air, &id);
    let title = format!(
        "Round {} · simulated time {}",
        record.round,
        duration(record.clock_s)
    );
    let frame = map.ground.frame;
    let legend_height = match zones.kinds().is_empty() {
        true => LEAST_HEIGHT,
        false => LEAST_HEIGHT + HEIGHT_OF_ZONES,
    };
    let height = (frame.bottom + 52.0).max(TOP + legend_height);
    let mut svg = Svg::new(frame.right + LEGEND_WIDTH + 40.0, height, &title);
    svg.text((16.0, 26.0), "font-size=\"15\" font-weight=\"600\"", &title);
    let state = format!(
        "{} of {} covered, {} trained; test accuracy {}",
        count(record.covered),
        counted(world.devices.position.len(), "device"),
        count(record.selected),
        percent(record.test_accuracy, 1),
    );
    let soft = format!("font-size=\"12\" fill=\"{SOFT}\"");
    svg.text((16.0, 45.0), &soft, &state);
    map.ground.draw(&mut svg, places.frame);
    svg.clip(&id, frame);
    zones.define(&mut svg);
    svg.open(&format!("clip-path=\"url(#{id})\""));
    zones.draw(&mut svg, &map.ground);
    map.coverage(&mut svg);
    map.links(&mut svg);
    svg.close();
    // Below the devices: where there is no room for a name beside them, they are still all seen.
    map.names(&mut svg);
    svg.open(&format!("clip-path=\"url(#{id})\""));
    map.devices(&mut svg);
    svg.close();
    for &base in &places.bases {
        glyph::base(&mut svg, map.spot(base));
    }
    map.uavs(&mut svg);
    legend::draw(&mut svg, &map, &zones);
    svg.finish()
}

struct Map<'a> {
    world: &'a World,
    record: &'a RoundRecord,
    bases: &'a [Point],
    ground: Ground,
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
    fn new(world: &'a World, record: &'a RoundRecord, places: &'a Places) -> Self {
        let radius_m = |uav: &UavRecord| world.uavs[uav.uav.index()].coverage_radius_m;
        let uavs = record
            .uavs
            .iter()
            .map(|uav| (uav.position_m, radius_m(uav)));
        let bases = places.bases.iter().map(|&base| (base, 0.0));
        Self {
            world,
            record,
            bases: &places.bases,
            ground: Ground::new(&world.area, uavs.chain(bases)),
        }
    }

    fn spot(&self, point: Point) -> Spot {
        self.ground.spot(point)
    }

    /// Pages may hold several maps, and ids must not meet.
    fn clip_id(&self) -> String {
        format!("map-of-round-{}", self.record.round)
    }

    fn drawn_uavs(&self) -> impl Iterator<Item = &'a UavRecord> {
        let uavs = &self.record.uavs;
        sample(uavs.len(), MOST_UAVS).map(move |index| &uavs[index])
    }

    fn of_world(&self, uav: &UavRecord) -> &'a Uav {
        &self.world.uavs[uav.uav.index()]
    }

    fn aggregator(&self) -> Option<&'a UavRecord> {
        let id = self.record.aggregator?;
        self.record.uavs.iter().find(|uav| uav.uav == id)
    }

    fn coverage(&self, svg: &mut Svg) {
        for uav in self.drawn_uavs() {
            let radius = self.of_world(uav).coverage_radius_m * self.ground.pixels_per_m;
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
        let radius = self.device_radius();
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

    fn device_radius(&self) -> f64 {
        match self.world.devices.position.len() {
            0..=300 => 3.2,
            301..=1_500 => 2.2,
            _ => 1.4,
        }
    }

    /// By a UAV that was there when the round began, even if it has left since.
    fn is_covered(&self, device: Point) -> bool {
        let there = |uav: &&UavRecord| uav.covered > 0;
        let mut covering = self.record.uavs.iter().filter(there);
        covering.any(|uav| uav.position_m.distance(device) <= self.of_world(uav).coverage_radius_m)
    }

    /// From the aggregator to whoever had a model to send or is still there to receive one.
    fn links(&self, svg: &mut Svg) {
        let Some(aggregator) = self.aggregator() else {
            return;
        };
        svg.open(&glyph::link_look());
        for uav in self.drawn_uavs() {
            let took_part = uav.status == Status::Active || uav.selected() > 0;
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

    fn names(&self, svg: &mut Svg) {
        let uavs: Vec<(&UavRecord, Spot, f64)> = self
            .drawn_uavs()
            .map(|uav| (uav, self.spot(uav.position_m), self.battery_share(uav)))
            .filter(|(_, at, _)| at.0.is_finite() && at.1.is_finite())
            .collect();
        match Room::among(self.record.uavs.len()) {
            Room::Name => {
                let star = self.aggregator().map(|uav| {
                    let at = self.spot(uav.position_m);
                    (at.0, at.1 - 19.0)
                });
                let signs = uavs.iter().map(|(_, at, _)| *at);
                let bases = self.bases.iter().map(|&base| self.spot(base));
                let signs = signs.chain(bases).chain(star);
                let positions = &self.world.devices.position;
                let devices = sample(positions.len(), MOST_DEVICES);
                let in_the_way = Obstacles {
                    map: self.ground.frame,
                    devices: devices.map(|index| self.spot(positions[index])).collect(),
                    device_radius: self.device_radius(),
                    signs: signs.map(labels::sign).collect(),
                };
                let labels = labels::place(&uavs, &in_the_way);
                labels.iter().for_each(|label| label.draw(svg));
            }
            Room::Number => {
                for (uav, at, share) in uavs {
                    let text = uav.uav.0.to_string();
                    svg.text((at.0, at.1 - 6.0), &glyph::number_look(), &text);
                    let bar = (at.0 - 8.0, at.1 + 6.0);
                    glyph::charge_line(svg, bar, share, uav.status);
                }
            }
            Room::Disc => {}
        }
    }

    fn uavs(&self, svg: &mut Svg) {
        let room = Room::among(self.record.uavs.len());
        for uav in self.drawn_uavs() {
            let (at, colour) = (self.spot(uav.position_m), uav_colour(uav));
            match room {
                Room::Name => glyph::drone(svg, at, uav.status, colour),
                _ => glyph::disc(svg, at, uav.status, colour),
            }
        }
        if let Some(aggregator) = self.aggregator() {
            let at = self.spot(aggregator.position_m);
            glyph::star(svg, (at.0, at.1 - 19.0));
        }
    }

    fn battery_share(&self, uav: &UavRecord) -> f64 {
        let share = uav.battery_after_j / self.of_world(uav).full_j;
        if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        }
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
