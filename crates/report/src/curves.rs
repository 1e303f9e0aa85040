//! Plain line plots: some named curves over a common axis.

use crate::palette;
use crate::svg::{Axis, Frame, Scale, Spot, Svg, axes, grid};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const PLOT: Frame = Frame {
    left: 64.0,
    top: 52.0,
    right: 440.0,
    bottom: 306.0,
};
/// A named curve; points that are not finite are left out.
pub struct Curve {
    /// What the legend calls it.
    pub name: String,
    /// Its points, by rising x.
    pub points: Vec<(f64, f64)>,
}

/// Curves over a common axis, named in a legend. `y` spans the curves' values, cut at `y_most`.
#[must_use]
pub fn curves_svg(
    title: &str,
    x_label: &str,
    y_label: &str,
    y_most: f64,
    curves: &[Curve],
) -> String {
    let mut svg = Svg::new(WIDTH, HEIGHT, title);
    svg.text((16.0, 26.0), "font-size=\"15\" font-weight=\"600\"", title);
    let finite = |curve: &Curve| -> Vec<Spot> {
        let usable = |point: &&Spot| point.0.is_finite() && point.1.is_finite();
        curve.points.iter().filter(usable).copied().collect()
    };
    let all: Vec<Vec<Spot>> = curves.iter().map(finite).collect();
    let range = |value: fn(&Spot) -> f64| {
        let values = all.iter().flatten().map(value);
        (
            values.clone().fold(f64::INFINITY, f64::min),
            values.fold(f64::NEG_INFINITY, f64::max),
        )
    };
    let (least, most) = range(|point| point.1);
    let x = Scale::new(range(|point| point.0), (PLOT.left, PLOT.right));
    let y = Scale::new((least.min(0.0), most.min(y_most)), (PLOT.bottom, PLOT.top));
    // Episodes and steps are counted: there is no half of one.
    let whole = all.iter().flatten().all(|point| point.0.fract() == 0.0);
    let least_step = if whole { 1.0 } else { 0.0 };
    let x_axis = Axis {
        scale: x,
        ticks: x.ticks(8, least_step),
        label: x_label,
    };
    let y_axis = Axis {
        scale: y,
        ticks: y.ticks(6, 0.0),
        label: y_label,
    };
    grid(&mut svg, PLOT, &y_axis);
    axes(&mut svg, PLOT, &x_axis, &y_axis);
    svg.clip("plot", PLOT);
    for (index, (points, curve)) in all.iter().zip(curves).enumerate() {
        let colour = palette::look(index).colour;
        let stroke = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"");
        let spots: Vec<Spot> = points.iter().map(|p| (x.at(p.0), y.at(p.1))).collect();
        svg.polyline(&spots, &format!("{stroke} clip-path=\"url(#plot)\""));
        let row = PLOT.top + 14.0 + 22.0 * index as f64;
        let left = PLOT.right + 16.0;
        svg.line((left, row - 4.0), (left + 18.0, row - 4.0), &stroke);
        svg.text((left + 24.0, row), "", &curve.name);
    }
    svg.finish()
}
