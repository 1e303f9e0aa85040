//! One plot of results on paper: curves with bands, or groups of bars with whiskers.

use aerofed::experiment::results::{Axis as PanelAxis, Panel, PanelKind, Point, Series};
use aerofed::experiment::statistics::Estimate;

use crate::palette::{Look, look};
use crate::svg::{Axis, FAINT, Frame, INK, Scale, Spot, Svg, axes, grid};
use crate::units::{Unit, energy_unit, shorten, time_unit};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 380.0;
const PLOT: Frame = Frame {
    left: 66.0,
    top: 52.0,
    right: 520.0,
    bottom: 322.0,
};
/// Where the legend begins.
const LEGEND: f64 = PLOT.right + 16.0;
/// Columns of a name in the legend.
const NAME: usize = 24;
/// A dot for each point while dots stay apart.
const MOST_DOTS: usize = 30;

/// The units in which the axes of a panel are drawn: fractions as percent, joules and seconds as
/// they read well.
pub(crate) fn units(panel: &Panel) -> (Unit, Unit) {
    let points = || panel.series.iter().flat_map(|series| &series.points);
    let largest = |values: &mut dyn Iterator<Item = f64>| values.map(f64::abs).fold(0.0, f64::max);
    let x = largest(&mut points().map(|point| point.x));
    let y = largest(&mut points().filter_map(|point| Some(point.y.as_ref()?.mean)));
    (unit(&panel.x, x), unit(&panel.y, y))
}

fn unit(axis: &PanelAxis, largest: f64) -> Unit {
    let plain = Unit {
        symbol: "",
        size: 1.0,
    };
    match axis.unit.as_str() {
        _ if !axis.ticks.is_empty() => plain,
        "" => Unit {
            symbol: "%",
            size: 0.01,
        },
        "J" => energy_unit(largest),
        "s" => time_unit(largest),
        _ => plain,
    }
}

/// What stands behind values of an axis: nothing where its label says what is counted.
pub(crate) fn symbol<'a>(axis: &'a PanelAxis, unit: &Unit) -> &'a str {
    match unit.symbol {
        "" if axis.label.contains(&axis.unit) => "",
        "" => &axis.unit,
        symbol => symbol,
    }
}

/// A label with its unit behind it.
pub(crate) fn axis_label(axis: &PanelAxis, unit: &Unit) -> String {
    match symbol(axis, unit) {
        "" => axis.label.clone(),
        symbol => format!("{} ({symbol})", axis.label),
    }
}

/// A panel as SVG: axes with units, intervals as bands or whiskers, the same colour for the same
/// method as everywhere else.
#[must_use]
pub fn panel_svg(panel: &Panel) -> String {
    let mut svg = Svg::new(WIDTH, HEIGHT, &panel.title);
    let bold = "font-size=\"15\" font-weight=\"600\"";
    svg.text((16.0, 26.0), bold, &shorten(&panel.title, 80));
    let plot = Plot::new(panel);
    let (x_label, y_label) = (
        axis_label(&panel.x, &plot.units.0),
        axis_label(&panel.y, &plot.units.1),
    );
    let y_axis = Axis {
        scale: plot.y,
        ticks: plot.y.ticks(6, 0.0),
        label: &y_label,
    };
    let x_axis = Axis {
        scale: plot.x,
        ticks: plot.x_ticks(panel),
        label: &x_label,
    };
    grid(&mut svg, PLOT, &y_axis);
    axes(&mut svg, PLOT, &x_axis, &y_axis);
    for (place, series) in panel.series.iter().enumerate() {
        match panel.kind {
            PanelKind::Lines => plot.curve(&mut svg, series),
            PanelKind::Bars => plot.bars(&mut svg, series, place, panel.series.len()),
        }
    }
    legend(&mut svg, panel);
    svg.finish()
}

struct Plot {
    units: (Unit, Unit),
    x: Scale,
    y: Scale,
}

impl Plot {
    fn new(panel: &Panel) -> Self {
        let units = units(panel);
        let points = || panel.series.iter().flat_map(|series| &series.points);
        let heights = points().filter_map(|point| point.y.as_ref()).flat_map(|y| {
            [Some(y.mean), y.low, y.high]
                .into_iter()
                .flatten()
                .filter(|value| value.is_finite())
        });
        let places = points().map(|point| point.x);
        let places = places.chain(panel.x.ticks.iter().map(|tick| tick.at));
        let bars = panel.kind == PanelKind::Bars;
        let (from, to) = range(places);
        let room = if bars { 0.5 } else { 0.0 };
        let x = ((from - room) / units.0.size, (to + room) / units.0.size);
        // Bars stand on zero.
        let (low, high) = range(heights.chain(bars.then_some(0.0)));
        let y = (low / units.1.size, high / units.1.size);
        let air = 0.04 * (y.1 - y.0);
        let low = if bars && y.0 >= 0.0 { 0.0 } else { y.0 - air };
        Self {
            units,
            x: Scale::new(x, (PLOT.left, PLOT.right)),
            y: Scale::new((low, y.1 + air), (PLOT.bottom, PLOT.top)),
        }
    }

    fn x_ticks(&self, panel: &Panel) -> Vec<(f64, String)> {
        if panel.x.ticks.is_empty() {
            return self.x.ticks(8, 0.0);
        }
        // As many columns as there is room for at each.
        let room = (PLOT.width() / panel.x.ticks.len() as f64 / 6.5) as usize;
        let named = panel.x.ticks.iter();
        named
            .map(|tick| {
                (
                    tick.at / self.units.0.size,
                    shorten(&tick.label, room.max(2)),
                )
            })
            .collect()
    }

    fn x(&self, value: f64) -> f64 {
        self.x.at(value / self.units.0.size)
    }

    fn y(&self, value: f64) -> f64 {
        self.y.at(value / self.units.1.size)
    }

    fn curve(&self, svg: &mut Svg, series: &Series) {
        let Look { colour, dash } = look(series.style);
        let known: Vec<(f64, &Estimate)> = known(&series.points);
        let edge = |pick: fn(&Estimate) -> Option<f64>| -> Vec<Spot> {
            let spots = known.iter().filter_map(|(x, y)| Some((*x, pick(y)?)));
            spots.map(|(x, y)| (self.x(x), self.y(y))).collect()
        };
        let mut outline = edge(|y| y.high);
        outline.extend(edge(|y| y.low).into_iter().rev());
        if !outline.is_empty() {
            svg.polygon(
                &outline,
                &format!("fill=\"{colour}\" fill-opacity=\"0.16\""),
            );
        }
        let line = edge(|y| Some(y.mean));
        let stroke = format!("stroke=\"{colour}\" stroke-dasharray=\"{dash}\"");
        svg.polyline(
            &line,
            &format!("fill=\"none\" stroke-width=\"2\" stroke-linejoin=\"round\" {stroke}"),
        );
        if line.len() <= MOST_DOTS {
            svg.open(&format!("fill=\"{colour}\""));
            line.iter().for_each(|&at| svg.circle(at, 2.4, ""));
            svg.close();
        }
    }

    fn bars(&self, svg: &mut Svg, series: &Series, place: usize, of: usize) {
        let colour = look(series.style).colour;
        let width = 0.8 / of.max(1) as f64;
        for (x, y) in known(&series.points) {
            let left = x - 0.4 + place as f64 * width;
            let (height, floor) = (self.y(y.mean), self.y(0.0));
            let bar = Frame {
                left: self.x(left) + 0.5,
                top: height.min(floor),
                right: self.x(left + width) - 0.5,
                bottom: height.max(floor),
            };
            svg.rect(bar, &format!("fill=\"{colour}\""));
            if let (Some(low), Some(high)) = (y.low, y.high) {
                let middle = bar.middle().0;
                let ink = format!("stroke=\"{INK}\"");
                svg.line((middle, self.y(low)), (middle, self.y(high)), &ink);
            }
        }
    }
}

fn known(points: &[Point]) -> Vec<(f64, &Estimate)> {
    let found = points.iter().filter_map(|p| Some((p.x, p.y.as_ref()?)));
    found.filter(|(_, y)| y.mean.is_finite()).collect()
}

/// The least and the largest; 0 to 1 when there are none.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    if least <= most {
        (least, most)
    } else {
        (0.0, 1.0)
    }
}

fn legend(svg: &mut Svg, panel: &Panel) {
    for (place, series) in panel.series.iter().enumerate() {
        let Look { colour, dash } = look(series.style);
        let middle = PLOT.top + 8.0 + 20.0 * place as f64;
        match panel.kind {
            PanelKind::Lines => svg.line(
                (LEGEND, middle),
                (LEGEND + 24.0, middle),
                &format!("stroke=\"{colour}\" stroke-width=\"2.5\" stroke-dasharray=\"{dash}\""),
            ),
            PanelKind::Bars => {
                let swatch = Frame {
                    left: LEGEND + 6.0,
                    top: middle - 6.0,
                    right: LEGEND + 18.0,
                    bottom: middle + 6.0,
                };
                svg.rect(swatch, &format!("fill=\"{colour}\" stroke=\"{FAINT}\""));
            }
        }
        svg.text(
            (LEGEND + 32.0, middle + 4.0),
            "",
            &shorten(&series.label, NAME),
        );
    }
}
