//! Zones that UAVs fly around, on maps.

use aerofed::geometry::Point;
use aerofed::solve::airspace::Airspace;

use crate::ground::Ground;
use crate::palette;
use crate::svg::{SOFT, Spot, Svg};

/// With more zones, names would cover the map.
const MOST_NAMES: usize = 12;

/// The zones of a map; nothing where there are none.
pub(crate) struct Zones<'a> {
    air: &'a Airspace,
    /// Pages may hold several maps, and ids must not meet.
    map: &'a str,
}

impl<'a> Zones<'a> {
    pub(crate) fn new(air: &'a Airspace, map: &'a str) -> Self {
        Self { air, map }
    }

    /// Which of the two kinds there are, with what the legend says of them.
    pub(crate) fn kinds(&self) -> Vec<(bool, &'static str)> {
        let has = |obstacle: bool| {
            let mut zones = self.air.zones().iter();
            zones.any(|zone| (zone.height_m > 0.0) == obstacle)
        };
        let kinds = [(false, "no-fly zone"), (true, "obstacle")];
        kinds.into_iter().filter(|kind| has(kind.0)).collect()
    }

    fn hatch(&self, is_obstacle: bool) -> String {
        let kind = if is_obstacle { "obstacle" } else { "no-fly" };
        format!("{kind}-in-{}", self.map)
    }

    fn look(&self, is_obstacle: bool) -> String {
        let (hatch, colour) = (self.hatch(is_obstacle), colour(is_obstacle));
        format!("fill=\"url(#{hatch})\" stroke=\"{colour}\" stroke-width=\"1.2\"")
    }

    /// What `draw` and `sign` fill with.
    pub(crate) fn define(&self, svg: &mut Svg) {
        for (is_obstacle, _) in self.kinds() {
            svg.hatch(&self.hatch(is_obstacle), colour(is_obstacle));
        }
    }

    pub(crate) fn draw(&self, svg: &mut Svg, ground: &Ground) {
        let zones = self.air.zones();
        for zone in zones {
            let corners = zone.polygon.corners().iter();
            let spots: Vec<Spot> = corners.map(|&corner| ground.spot(corner)).collect();
            svg.polygon(&spots, &self.look(zone.height_m > 0.0));
        }
        if zones.len() > MOST_NAMES {
            return;
        }
        let style = format!(
            "font-size=\"10\" font-style=\"italic\" text-anchor=\"middle\" fill=\"{SOFT}\" stroke=\"#ffffff\" \
             stroke-width=\"2.5\" paint-order=\"stroke\""
        );
        for zone in zones {
            let (low, high) = zone.polygon.bounds();
            let top = Point::new((low.x_m + high.x_m) / 2.0, high.y_m);
            let at = ground.spot(top);
            let name = match zone.height_m > 0.0 {
                true => format!("{} ({} m)", zone.name, zone.height_m),
                false => zone.name.clone(),
            };
            svg.text((at.0, at.1 - 4.0), &style, &name);
        }
    }

    /// A small zone, for the legend.
    pub(crate) fn sign(&self, svg: &mut Svg, at: Spot, is_obstacle: bool) {
        let corner = |x: f64, y: f64| (at.0 + x, at.1 + y);
        let corners = [
            corner(-10.0, -7.0),
            corner(10.0, -7.0),
            corner(10.0, 7.0),
            corner(-10.0, 7.0),
        ];
        svg.polygon(&corners, &self.look(is_obstacle));
    }
}

fn colour(is_obstacle: bool) -> &'static str {
    match is_obstacle {
        true => palette::GREY,
        false => palette::VERMILLION,
    }
}
