//! One plot of results on paper: curves with bands, groups of bars with whiskers, or dots.

use aerofed_experiment::results::{Axis as PanelAxis, Panel, PanelKind, Point, Series};
use aerofed_experiment::statistics::Estimate;

use crate::palette::{Look, look_among};
use crate::svg::{Axis, FAINT, Frame, INK, SOFT, Scale, Spot, Svg, axes, grid};
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

/// Two seeds have intervals of many times their distance: a band of those hides all the rest.
const BAND_SEEDS: usize = 3;

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

/// The least distance of ticks: there is no half round.
pub(crate) fn least_step(axis: &PanelAxis) -> f64 {
    match axis.unit.as_str() {
        "rounds" | "devices" | "UAVs" | "episodes" | "updates" => 1.0,
        _ => 0.0,
    }
}

/// What stands behind values of an axis: nothing where its label says what is counted.
pub(crate) fn symbol<'a>(axis: &'a PanelAxis, unit: &Unit) -> &'a str {
    let one = axis.unit.trim_end_matches('s');
    match unit.symbol {
        "" if !one.is_empty() && axis.label.contains(one) => "",
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
    let named = legend_middle(panel.series.len());
    let mut svg = Svg::new(WIDTH, named.max(HEIGHT), &panel.title);
    let bold = "font-size=\"15\" font-weight=\"600\"";
    svg.text((16.0, 26.0), bold, &shorten(&panel.title, 80));
    let plot = Plot::new(panel);
    let (x_label, y_label) = (
        axis_label(&panel.x, &plot.units.0),
        axis_label(&panel.y, &plot.units.1),
    );
    let y_axis = Axis {
        scale: plot.y,
        ticks: plot.y.ticks(6, least_step(&panel.y)),
        label: &y_label,
    };
    let x_axis = Axis {
        scale: plot.x,
        ticks: plot.x_ticks(panel),
        label: &x_label,
    };
    grid(&mut svg, PLOT, &y_axis);
    axes(&mut svg, PLOT, &x_axis, &y_axis);
    let of = panel.series.len();
    for (place, series) in panel.series.iter().enumerate() {
        match panel.kind {
            PanelKind::Lines => plot.curve(&mut svg, series, of),
            PanelKind::Bars => plot.bars(&mut svg, series, place, of),
            PanelKind::Dots => plot.dots(&mut svg, series, of),
        }
    }
    if panel.kind == PanelKind::Lines {
        let marked: Vec<&Series> = panel.series.iter().filter(|s| ends(s).is_some()).collect();
        marked.iter().for_each(|s| plot.ends(&mut svg, s, of));
        if !marked.is_empty() {
            let style = format!("font-size=\"10\" fill=\"{SOFT}\"");
            svg.text((16.0, HEIGHT - 6.0), &style, ENDS_NOTE);
        }
    }
    legend(&mut svg, panel);
    svg.finish()
}

/// What the marks on a mean over runs of different lengths mean.
const ENDS_NOTE: &str = "○ the first of the runs behind a curve ends, ◆ the last: each keeps its last accuracy from its end on";

/// Where the first and the last run behind a curve end, if not all at once.
fn ends(series: &Series) -> Option<(f64, f64)> {
    let (first, last) = (*series.ends.first()?, *series.ends.last()?);
    (first < last).then_some((first, last))
}

struct Plot {
    units: (Unit, Unit),
    x: Scale,
    y: Scale,
    /// What values can be, whatever their interval says.
    possible: (f64, f64),
    /// From where to where values are drawn.
    shown: (f64, f64),
}

impl Plot {
    fn new(panel: &Panel) -> Self {
        let units = units(panel);
        let points = || panel.series.iter().flat_map(|series| &series.points);
        let places = points().map(|point| point.x);
        let places = places.chain(panel.x.ticks.iter().map(|tick| tick.at));
        let bars = panel.kind == PanelKind::Bars;
        let (from, to) = range(places);
        let room = match panel.kind {
            PanelKind::Bars => 0.5,
            PanelKind::Lines => 0.0,
            // No dot is cut in half.
            PanelKind::Dots => 0.03 * (to - from),
        };
        let x = ((from - room) / units.0.size, (to + room) / units.0.size);
        let possible = possible(panel);
        let shown = span(panel, possible);
        let y = (shown.0 / units.1.size, shown.1 / units.1.size);
        let air = 0.04 * (y.1 - y.0);
        let low = match bars && y.0 >= 0.0 {
            true => 0.0,
            false => (y.0 - air).max(possible.0 / units.1.size),
        };
        Self {
            units,
            x: Scale::new(x, (PLOT.left, PLOT.right)),
            y: Scale::new((low, y.1 + air), (PLOT.bottom, PLOT.top)),
            possible,
            shown,
        }
    }

    fn x_ticks(&self, panel: &Panel) -> Vec<(f64, String)> {
        if panel.x.ticks.is_empty() {
            return self.x.ticks(8, least_step(&panel.x));
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
        let at = self.y.at(value / self.units.1.size);
        at.clamp(PLOT.top, PLOT.bottom)
    }

    fn curve(&self, svg: &mut Svg, series: &Series, of: usize) {
        let Look {
            colour,
            dash,
            opacity,
        } = look_among(series.style, of);
        let (floor, ceiling) = self.possible;
        let known: Vec<(f64, &Estimate)> = known(&series.points);
        let edge = |pick: fn(&Estimate) -> Option<f64>| -> Vec<Spot> {
            let spots = known.iter().filter_map(|(x, y)| Some((*x, pick(y)?)));
            spots
                .map(|(x, y)| (self.x(x), self.y(y.clamp(floor, ceiling))))
                .collect()
        };
        let mut outline = edge(|y| y.high.filter(|_| y.n >= BAND_SEEDS));
        let lower = edge(|y| y.low.filter(|_| y.n >= BAND_SEEDS));
        outline.extend(lower.into_iter().rev());
        if !outline.is_empty() {
            svg.polygon(
                &outline,
                &format!("fill=\"{colour}\" fill-opacity=\"0.16\""),
            );
        }
        let line = edge(|y| Some(y.mean));
        let stroke = format!(
            "stroke=\"{colour}\" stroke-dasharray=\"{dash}\"{}",
            faint(opacity)
        );
        svg.polyline(
            &line,
            &format!("fill=\"none\" stroke-width=\"2\" stroke-linejoin=\"round\" {stroke}"),
        );
        if line.len() <= MOST_DOTS {
            svg.open(&format!("fill=\"{colour}\"{}", faint(opacity)));
            line.iter().for_each(|&at| svg.circle(at, 2.4, ""));
            svg.close();
        }
    }

    fn dots(&self, svg: &mut Svg, series: &Series, of: usize) {
        let look = look_among(series.style, of);
        svg.open(&format!("fill=\"{}\"{}", look.colour, faint(look.opacity)));
        for (x, y) in known(&series.points) {
            svg.circle((self.x(x), self.y(y.mean)), 3.0, "");
        }
        svg.close();
    }

    /// Where the first and the last run end, on the curve.
    fn ends(&self, svg: &mut Svg, series: &Series, of: usize) {
        let Some((first, last)) = ends(series) else {
            return;
        };
        let known = known(&series.points);
        let spot = |x: f64| Some((self.x(x), self.y(mean_at(&known, x)?)));
        let colour = look_among(series.style, of).colour;
        if let Some(at) = spot(first) {
            let style = format!("fill=\"#ffffff\" stroke=\"{colour}\" stroke-width=\"1.6\"");
            svg.circle(at, 4.0, &style);
        }
        if let Some(at) = spot(last) {
            let style = format!("fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"0.8\"");
            svg.stamp("M0,-6L6,0L0,6L-6,0Z", at, &style);
        }
    }

    /// An interval: capped where it ends, with an arrow head where it goes on beyond the plot.
    fn whisker(&self, svg: &mut Svg, middle: f64, reach: f64, (low, high): (f64, f64)) {
        let (floor, ceiling) = self.shown;
        let (bottom, top) = (
            self.y(low.clamp(floor, ceiling)),
            self.y(high.clamp(floor, ceiling)),
        );
        svg.open(&format!("stroke=\"{INK}\""));
        svg.line((middle, bottom), (middle, top), "");
        let cap = reach.min(4.0);
        for (value, at, down) in [(low, bottom, 1.0), (high, top, -1.0)] {
            if value < floor || value > ceiling {
                let (wide, back) = (cap.max(2.0), at - 6.0 * down);
                let head = [(middle - wide, back), (middle, at), (middle + wide, back)];
                svg.polygon(&head, &format!("class=\"goes-on\" fill=\"{INK}\""));
            } else {
                svg.line((middle - cap, at), (middle + cap, at), "");
            }
        }
        svg.close();
    }

    fn bars(&self, svg: &mut Svg, series: &Series, place: usize, of: usize) {
        let look = look_among(series.style, of);
        let fill = format!("fill=\"{}\"{}", look.colour, faint(look.opacity));
        let width = 0.8 / of.max(1) as f64;
        for point in &series.points {
            let left = point.x - 0.4 + place as f64 * width;
            let (left, right) = (self.x(left) + 0.5, self.x(left + width) - 0.5);
            let middle = 0.5 * (left + right);
            let floor = self.y(0.0);
            let mut highest = floor;
            let y = point.y.as_ref().filter(|y| y.mean.is_finite());
            if let Some(y) = y {
                let height = self.y(y.mean);
                let bar = Frame {
                    left,
                    top: height.min(floor),
                    right,
                    bottom: height.max(floor),
                };
                svg.rect(bar, &fill);
                highest = bar.top;
                if let Some((low, high)) = y.ends() {
                    self.whisker(svg, middle, 0.5 * (right - left), (low, high));
                    highest = highest.min(self.y(high.min(self.shown.1)));
                }
            }
            // Runs that never got there are not part of the mean.
            let reached = y.map_or(0, |y| y.n);
            if reached < point.of {
                let small = "font-size=\"10\" text-anchor=\"middle\"";
                let words = format!("{reached}/{}", point.of);
                svg.text((middle, highest - 3.0), small, &words);
            }
        }
    }
}

fn known(points: &[Point]) -> Vec<(f64, &Estimate)> {
    let found = points.iter().filter_map(|p| Some((p.x, p.y.as_ref()?)));
    found.filter(|(_, y)| y.mean.is_finite()).collect()
}

/// A curve's value at a place, on the straight line between its points.
fn mean_at(known: &[(f64, &Estimate)], x: f64) -> Option<f64> {
    let after = known.partition_point(|(at, _)| *at < x);
    let Some(&(end, right)) = known.get(after) else {
        return known.last().map(|(_, y)| y.mean);
    };
    let Some(&(start, left)) = after.checked_sub(1).and_then(|before| known.get(before)) else {
        return Some(right.mean);
    };
    Some(left.mean + (x - start) / (end - start) * (right.mean - left.mean))
}

/// An attribute for what is not drawn at full strength.
fn faint(opacity: f64) -> String {
    match opacity {
        1.0 => String::new(),
        opacity => format!(" opacity=\"{opacity}\""),
    }
}

/// What the values of a panel can be: shares lie between 0 and 1, and what is never negative stays so.
fn possible(panel: &Panel) -> (f64, f64) {
    let means = panel.series.iter().flat_map(|series| known(&series.points));
    let (least, most) = range(means.map(|(_, y)| y.mean));
    match (least < 0.0, panel.y.unit.is_empty() && most <= 1.0) {
        (true, _) => (f64::NEG_INFINITY, f64::INFINITY),
        (false, true) => (0.0, 1.0),
        (false, false) => (0.0, f64::INFINITY),
    }
}

/// From where to where values are drawn; bars stand on zero. Intervals of few seeds can be as wide as they
/// like: what no value can be, and what would press the rest flat, is cut off.
fn span(panel: &Panel, (floor, ceiling): (f64, f64)) -> (f64, f64) {
    let points = || panel.series.iter().flat_map(|series| known(&series.points));
    let bars = panel.kind == PanelKind::Bars;
    let zero = bars.then_some(0.0);
    let (least, most) = range(points().map(|(_, y)| y.mean).chain(zero));
    let ceiling = match least < 0.0 {
        true => ceiling,
        false => ceiling.min(2.0 * most),
    };
    let drawn = points().filter(|(_, y)| bars || y.n >= BAND_SEEDS);
    let ends = drawn.filter_map(|(_, y)| y.ends());
    let ends = ends.flat_map(|(low, high)| [low, high]);
    let ends = ends.filter(|end| end.is_finite());
    let shown = ends.map(|end| end.clamp(floor, ceiling));
    range(shown.chain([least, most]))
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

/// How far down the name at a place of the legend stands.
fn legend_middle(place: usize) -> f64 {
    PLOT.top + 8.0 + 20.0 * place as f64
}

fn legend(svg: &mut Svg, panel: &Panel) {
    for (place, series) in panel.series.iter().enumerate() {
        let Look {
            colour,
            dash,
            opacity,
        } = look_among(series.style, panel.series.len());
        let faint = faint(opacity);
        let middle = legend_middle(place);
        match panel.kind {
            PanelKind::Lines => svg.line(
                (LEGEND, middle),
                (LEGEND + 24.0, middle),
                &format!(
                    "stroke=\"{colour}\" stroke-width=\"2.5\" stroke-dasharray=\"{dash}\"{faint}"
                ),
            ),
            PanelKind::Bars => {
                let swatch = Frame {
                    left: LEGEND + 6.0,
                    top: middle - 6.0,
                    right: LEGEND + 18.0,
                    bottom: middle + 6.0,
                };
                svg.rect(
                    swatch,
                    &format!("fill=\"{colour}\" stroke=\"{FAINT}\"{faint}"),
                );
            }
            PanelKind::Dots => {
                svg.circle(
                    (LEGEND + 12.0, middle),
                    4.0,
                    &format!("fill=\"{colour}\"{faint}"),
                );
            }
        }
        svg.text(
            (LEGEND + 32.0, middle + 4.0),
            "",
            &shorten(&series.label, NAME),
        );
    }
}
