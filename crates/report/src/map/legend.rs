//! What the signs on the map mean, and how long a kilometre is.

use aerofed::world::Status;

use super::{MOST_DEVICES, MOST_UAVS, Map, Room, glyph};
use crate::palette;
use crate::svg::{INK, Spot, Svg, round_step};
use crate::units::{count, length_unit};
use crate::zones::Zones;

/// Pixels from line to line.
const LINE: f64 = 24.0;

/// The lines of the legend, from the top down.
struct Lines {
    left: f64,
    next: f64,
}

impl Lines {
    /// Writes a line and returns where its sign goes.
    fn add(&mut self, svg: &mut Svg, text: &str) -> Spot {
        let at = (self.left + 12.0, self.next);
        svg.text((self.left + 32.0, at.1 + 4.0), "", text);
        self.next += LINE;
        at
    }
}

pub(super) fn draw(svg: &mut Svg, map: &Map, zones: &Zones) {
    let mut lines = Lines {
        left: map.ground.frame.right + 30.0,
        next: map.ground.frame.top + 8.0,
    };
    devices(svg, map, &mut lines);
    uavs(svg, map, &mut lines);
    let at = lines.add(svg, "base");
    glyph::base(svg, at);
    for (is_obstacle, name) in zones.kinds() {
        let at = lines.add(svg, name);
        zones.sign(svg, at, is_obstacle);
    }
    for (kind, total, most) in [
        ("devices", map.world.devices.position.len(), MOST_DEVICES),
        ("UAVs", map.record.uavs.len(), MOST_UAVS),
    ] {
        if total > most {
            let text = format!("{} of {} {kind} drawn", count(most), count(total));
            lines.add(svg, &text);
        }
    }
    scale_bar(
        svg,
        map.ground.pixels_per_m,
        (lines.left, lines.next + 12.0),
    );
}

/// The counts are of all devices, drawn or not.
fn devices(svg: &mut Svg, map: &Map, lines: &mut Lines) {
    let all = map.world.devices.position.len();
    let (covered, trained) = (map.record.covered, map.record.selected);
    let at = lines.add(svg, &format!("trained with a UAV ({})", count(trained)));
    let colours = [palette::BLUE, palette::ORANGE, palette::GREEN];
    for (colour, offset) in colours.into_iter().zip([-8.0, 0.0, 8.0]) {
        svg.circle((at.0 + offset, at.1), 3.2, &glyph::trained_look(colour));
    }
    let idle = count(covered.saturating_sub(trained));
    let at = lines.add(svg, &format!("covered, not selected ({idle})"));
    svg.circle(at, 3.2, &glyph::idle_look());
    let beyond = count(all.saturating_sub(covered));
    let at = lines.add(svg, &format!("not covered ({beyond})"));
    svg.circle(at, 3.2, &glyph::uncovered_look());
}

fn uavs(svg: &mut Svg, map: &Map, lines: &mut Lines) {
    let room = Room::among(map.record.uavs.len());
    let (sign, name): (fn(&mut Svg, Spot, Status, &str), _) = match room {
        Room::Name => (glyph::drone, "UAV"),
        Room::Number => (glyph::disc, "UAV with its number"),
        Room::Disc => (glyph::disc, "UAV"),
    };
    let at = lines.add(svg, name);
    sign(svg, at, Status::Active, palette::BLUE);
    if room != Room::Disc {
        let at = lines.add(svg, "battery left");
        match room {
            Room::Name => glyph::battery(svg, (at.0 - 12.0, at.1 - 4.5), 0.7, Status::Active),
            _ => glyph::charge_line(svg, (at.0 - 8.0, at.1 - 1.0), 0.7, Status::Active),
        }
    }
    let at = lines.add(svg, "UAV away, grounded or lost");
    sign(svg, at, Status::Grounded, palette::BLUE);
    let at = lines.add(svg, "aggregator of this round");
    glyph::star(svg, at);
    let at = lines.add(svg, "model exchange");
    svg.open(&glyph::link_look());
    svg.line((at.0 - 12.0, at.1), (at.0 + 12.0, at.1), "");
    svg.close();
    let at = lines.add(svg, "coverage of a UAV");
    svg.circle(
        at,
        9.0,
        &glyph::coverage_look(Status::Active, palette::BLUE),
    );
}

fn scale_bar(svg: &mut Svg, pixels_per_m: f64, at: Spot) {
    // Rounding up to 1, 2 or 5 makes it 40 to 100 pixels long.
    let length_m = round_step(40.0 / pixels_per_m);
    let unit = length_unit(2.0 * length_m);
    let end = (at.0 + length_m * pixels_per_m, at.1);
    svg.open(&format!("stroke=\"{INK}\" stroke-width=\"1.5\""));
    svg.line(at, end, "");
    svg.line((at.0, at.1 - 4.0), (at.0, at.1 + 4.0), "");
    svg.line((end.0, at.1 - 4.0), (end.0, at.1 + 4.0), "");
    svg.close();
    let text = format!("{} {}", length_m / unit.size, unit.symbol);
    svg.text((end.0 + 8.0, at.1 + 4.0), "", &text);
}
