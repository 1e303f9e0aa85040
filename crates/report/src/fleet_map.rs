//! Where the UAVs of a fleet go, and who gains by it.

use aerofed::decide::redeploy::CoverageCounts;
use aerofed::geometry::Point;
use aerofed::scenario::Area;
use aerofed::solve::airspace::Airspace;

use crate::ground::{Ground, TOP};
use crate::map::sample;
use crate::palette;
use crate::svg::{INK, SOFT, Spot, Svg};
use crate::units::{count, counted, energy, percent};
use crate::zones::Zones;

const LEGEND_WIDTH: f64 = 250.0;
/// The legend's lines need this much height.
const LEAST_HEIGHT: f64 = 260.0;
/// Most devices and UAVs drawn; of more, every so-and-so-many-th.
const MOST_DEVICES: usize = 5_000;
const MOST_UAVS: usize = 400;
/// Up to so many UAVs carry their numbers.
const MOST_NUMBERS: usize = 60;

/// A redeployment to draw.
#[derive(Clone, Copy, Debug)]
pub struct FleetMap<'a> {
    /// The ground.
    pub area: &'a Area,
    /// What nobody flies into.
    pub air: &'a Airspace,
    /// Where the devices are.
    pub devices: &'a [Point],
    /// The UAVs.
    pub uavs: &'a [MovedUav],
    /// What the moves cost, J.
    pub energy_j: f64,
}

/// A UAV of a redeployment.
#[derive(Clone, Copy, Debug)]
pub struct MovedUav {
    /// Where it was.
    pub from: Point,
    /// Where it hovers now.
    pub to: Point,
    /// Ground distance up to which it covers devices, m.
    pub coverage_radius_m: f64,
    /// Whether it still serves anybody: who does not covers nobody.
    pub serves: bool,
}

/// What became of a device.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Kept,
    Gained,
    Lost,
    Beyond,
}

const FATES: [Fate; 4] = [Fate::Kept, Fate::Gained, Fate::Lost, Fate::Beyond];

impl Fate {
    fn name(self) -> &'static str {
        match self {
            Self::Kept => "covered before and after",
            Self::Gained => "covered only after",
            Self::Lost => "covered only before",
            Self::Beyond => "not covered",
        }
    }

    fn look(self) -> String {
        let (grey, green, red) = (palette::GREY, palette::GREEN, palette::VERMILLION);
        match self {
            Self::Kept => format!("fill=\"{grey}\""),
            Self::Gained => format!("fill=\"{green}\" stroke=\"{INK}\" stroke-width=\"0.4\""),
            Self::Lost => format!("fill=\"{red}\" stroke=\"{INK}\" stroke-width=\"0.4\""),
            Self::Beyond => format!("fill=\"#ffffff\" stroke=\"{grey}\""),
        }
    }
}

/// A map of a redeployment: coverage before (dashed) and after, the flights, and what became of each device.
#[must_use]
pub fn fleet_map_svg(map: &FleetMap) -> String {
    let ends = map.uavs.iter().flat_map(|uav| {
        let radius_m = uav.coverage_radius_m;
        [(uav.from, radius_m), (uav.to, radius_m)]
    });
    let ground = Ground::new(map.area, ends);
    let fates = fates(map);
    let of = |fate: Fate| fates.iter().filter(|&&other| other == fate).count();
    let moved = map.uavs.iter().filter(|uav| uav.from != uav.to).count();
    let title = format!(
        "{} of {} move",
        count(moved),
        counted(map.uavs.len(), "UAV")
    );
    let height = (ground.frame.bottom + 52.0).max(TOP + LEAST_HEIGHT);
    let mut svg = Svg::new(ground.frame.right + LEGEND_WIDTH, height, &title);
    svg.text((16.0, 26.0), "font-size=\"15\" font-weight=\"600\"", &title);
    let share = |covered: usize| percent(covered as f64 / fates.len() as f64, 1);
    let state = if fates.is_empty() {
        "no devices".into()
    } else {
        format!(
            "{} of the devices covered before, {} after, for {}",
            share(of(Fate::Kept) + of(Fate::Lost)),
            share(of(Fate::Kept) + of(Fate::Gained)),
            energy(map.energy_j),
        )
    };
    svg.text(
        (16.0, 45.0),
        &format!("font-size=\"12\" fill=\"{SOFT}\""),
        &state,
    );
    ground.draw(&mut svg, None);
    svg.clip("fleet", ground.frame);
    let zones = Zones::new(map.air, "fleet");
    zones.define(&mut svg);
    svg.open("clip-path=\"url(#fleet)\"");
    zones.draw(&mut svg, &ground);
    for index in sample(map.uavs.len(), MOST_UAVS) {
        let uav = &map.uavs[index];
        let radius = uav.coverage_radius_m * ground.pixels_per_m;
        if uav.from != uav.to || !uav.serves {
            svg.circle(ground.spot(uav.from), radius, &before_look());
        }
        if uav.serves {
            svg.circle(ground.spot(uav.to), radius, &after_look());
        }
    }
    let drawn: Vec<usize> = sample(fates.len(), MOST_DEVICES).collect();
    let size = if drawn.len() <= 300 { 3.2 } else { 1.6 };
    for fate in FATES {
        svg.open(&fate.look());
        for &index in drawn.iter().filter(|&&index| fates[index] == fate) {
            svg.circle(ground.spot(map.devices[index]), size, "");
        }
        svg.close();
    }
    svg.close();
    for index in sample(map.uavs.len(), MOST_UAVS) {
        let MovedUav { from, to, .. } = map.uavs[index];
        let route = map.air.route(from, to, 0.0);
        let turns: Vec<Spot> = route.iter().map(|&turn| ground.spot(turn)).collect();
        uav(&mut svg, &turns);
        if map.uavs.len() <= MOST_NUMBERS {
            // On the far side of the arrow.
            let (away, anchor) = if to.x_m < from.x_m {
                (-8.0, "end")
            } else {
                (8.0, "start")
            };
            let at = ground.spot(to);
            let style = format!(
                "font-size=\"10\" font-weight=\"600\" text-anchor=\"{anchor}\" stroke=\"#ffffff\" \
                 stroke-width=\"2.5\" paint-order=\"stroke\""
            );
            svg.text((at.0 + away, at.1 - 6.0), &style, &format!("UAV {index}"));
        }
    }
    let counts = FATES.map(|fate| (fate, of(fate)));
    legend(&mut svg, ground.frame.right + 24.0, &counts, &zones);
    svg.finish()
}

fn fates(map: &FleetMap) -> Vec<Fate> {
    let radii_m = map.uavs.iter().map(|uav| uav.coverage_radius_m);
    let mut counts = CoverageCounts::new(map.area, radii_m.fold(1.0, f64::max), map.devices);
    for uav in map.uavs {
        counts.add(uav.from, uav.coverage_radius_m);
    }
    let before = counts.per_device();
    for uav in map.uavs {
        counts.remove(uav.from, uav.coverage_radius_m);
        if uav.serves {
            counts.add(uav.to, uav.coverage_radius_m);
        }
    }
    let fate = |(before, after)| match (before > 0, after > 0) {
        (true, true) => Fate::Kept,
        (false, true) => Fate::Gained,
        (true, false) => Fate::Lost,
        (false, false) => Fate::Beyond,
    };
    before
        .into_iter()
        .zip(counts.per_device())
        .map(fate)
        .collect()
}

fn before_look() -> String {
    let grey = palette::GREY;
    format!("fill=\"none\" stroke=\"{grey}\" stroke-opacity=\"0.8\" stroke-dasharray=\"4 4\"")
}

fn after_look() -> String {
    let blue = palette::BLUE;
    format!("fill=\"{blue}\" fill-opacity=\"0.07\" stroke=\"{blue}\" stroke-opacity=\"0.6\"")
}

/// A UAV at its position, with the arrow that brought it there: from the first spot over the others to the last.
fn uav(svg: &mut Svg, way: &[Spot]) {
    let [start, from, to] = match *way {
        [from, to] => [from, from, to],
        [start, .., from, to] => [start, from, to],
        _ => return,
    };
    if way.len() > 2 {
        let style = format!("fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.6\"");
        svg.polyline(&way[..way.len() - 1], &style);
    }
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    // Shorter than that the arrow would lie under the disc.
    if length > 12.0 {
        let (ux, uy) = (dx / length, dy / length);
        let tip = (to.0 - 6.0 * ux, to.1 - 6.0 * uy);
        let neck = (tip.0 - 7.0 * ux, tip.1 - 7.0 * uy);
        svg.line(
            from,
            neck,
            &format!("stroke=\"{INK}\" stroke-width=\"1.6\""),
        );
        let side = |sign: f64| (neck.0 - sign * 4.0 * uy, neck.1 + sign * 4.0 * ux);
        svg.polygon(&[tip, side(1.0), side(-1.0)], &format!("fill=\"{INK}\""));
    }
    if length > 0.0 {
        let grey = palette::GREY;
        svg.circle(start, 3.5, &format!("fill=\"#ffffff\" stroke=\"{grey}\""));
    }
    let blue = palette::BLUE;
    svg.circle(to, 5.0, &format!("fill=\"{blue}\" stroke=\"{INK}\""));
}

fn legend(svg: &mut Svg, left: f64, counts: &[(Fate, usize)], zones: &Zones) {
    let mut next = TOP + 8.0;
    let mut line = |svg: &mut Svg, text: &str| {
        let at = (left + 12.0, next);
        svg.text((left + 32.0, next + 4.0), "", text);
        next += 24.0;
        at
    };
    for &(fate, devices) in counts {
        let at = line(svg, &format!("{} ({})", fate.name(), count(devices)));
        svg.circle(at, 3.2, &fate.look());
    }
    let at = line(svg, "UAV and its flight");
    uav(svg, &[(at.0 - 14.0, at.1), (at.0 + 8.0, at.1)]);
    let at = line(svg, "coverage before");
    svg.circle(at, 9.0, &before_look());
    let at = line(svg, "coverage now");
    svg.circle(at, 9.0, &after_look());
    for (is_obstacle, name) in zones.kinds() {
        let at = line(svg, name);
        zones.sign(svg, at, is_obstacle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(width_m: f64, devices: &[Point], moves: &[(Point, Point)]) -> String {
        let moved = |&(from, to): &(Point, Point)| MovedUav {
            from,
            to,
            coverage_radius_m: 100.0,
            serves: true,
        };
        let uavs: Vec<MovedUav> = moves.iter().map(moved).collect();
        let text = fleet_map_svg(&FleetMap {
            area: &Area::new(width_m, 1_000.0),
            air: Airspace::open(),
            devices,
            uavs: &uavs,
            energy_j: 1_234.0,
        });
        roxmltree::Document::parse(&text).unwrap();
        text
    }

    /// One device of each fate, seen from a UAV that flies 250 m east.
    #[test]
    fn every_fate_is_counted() {
        let at = |x_m| Point::new(x_m, 500.0);
        let devices = [at(120.0), at(350.0), at(380.0), at(900.0)];
        let moves = [(at(100.0), at(350.0)), (at(600.0), at(600.0))];
        let text = svg(1_000.0, &devices, &moves);
        for words in [
            "1 of 2 UAVs move",
            "25.0 % of the devices covered before, 50.0 % after, for 1.23 kJ",
            "covered before and after (0)",
            "covered only after (2)",
            "covered only before (1)",
            "not covered (1)",
        ] {
            assert!(text.contains(words), "{words}");
        }
    }

    #[test]
    fn empty_narrow_and_crowded_maps_are_sound() {
        let spot = Point::new(0.5, 0.5);
        assert!(svg(1.0, &[], &[(spot, spot)]).contains("no devices"));
        let devices = vec![spot; 20_000];
        let moves = vec![(spot, Point::new(1.0, 900.0)); 2_000];
        assert!(svg(1.0, &devices, &moves).len() < 1_000_000);
        svg(1e7, &devices, &[]);
    }
}
