//! Scales, round ticks, axes.

use super::{FAINT, Frame, SOFT, Svg, TICK};
use crate::units::count;

/// A linear map from values to pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    from: (f64, f64),
    to: (f64, f64),
}

impl Scale {
    /// An empty or impossible range of values is widened to one.
    pub(crate) fn new(from: (f64, f64), to: (f64, f64)) -> Self {
        let low = if from.0.is_finite() { from.0 } else { 0.0 };
        let usable = from.1.is_finite() && from.1 > low;
        let high = if usable { from.1 } else { low + 1.0 };
        Self {
            from: (low, high),
            to,
        }
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = (value - self.from.0) / (self.from.1 - self.from.0);
        self.to.0 + share * (self.to.1 - self.to.0)
    }

    /// Round values within the range, at most about `most`, and how they are written.
    pub(crate) fn ticks(&self, most: usize, least_step: f64) -> Vec<(f64, String)> {
        let (low, high) = self.from;
        let step = round_step((high - low) / most.max(1) as f64).max(least_step);
        let decimals = (-exponent(step)).clamp(0, 12) as usize;
        let first = (low / step - 1e-9).ceil();
        let last = (high / step + 1e-9).floor();
        let steps = (last - first).clamp(0.0, 50.0) as usize;
        (0..=steps)
            .map(|i| (first + i as f64) * step)
            .map(|value| (value, tick_label(value, decimals)))
            .collect()
    }
}

fn tick_label(value: f64, decimals: usize) -> String {
    if decimals == 0 && (0.0..1e15).contains(&value) {
        count(value.round() as usize)
    } else {
        format!("{:.decimals$}", value + 0.0)
    }
}

/// The least of 1, 2 or 5 times a power of ten that is not below `step`.
pub(crate) fn round_step(step: f64) -> f64 {
    if !(step.is_finite() && step > 0.0) {
        return 1.0;
    }
    let power = format!("1e{}", exponent(step)).parse().unwrap_or(1.0);
    let factors = [1.0, 2.0, 5.0, 10.0];
    let fits = factors.iter().find(|f| *f * power >= step * (1.0 - 1e-9));
    fits.unwrap_or(&10.0) * power
}

/// The power of ten of a number's first digit. Read from its digits, because the last bits of
/// logarithms differ between machines and pictures must not.
fn exponent(value: f64) -> i32 {
    let digits = format!("{value:e}");
    digits
        .split_once('e')
        .and_then(|(_, power)| power.parse().ok())
        .unwrap_or(0)
}

/// One axis of a plot.
pub(crate) struct Axis<'a> {
    pub(crate) scale: Scale,
    pub(crate) ticks: Vec<(f64, String)>,
    pub(crate) label: &'a str,
}

/// Faint lines across a plot at the ticks of its `y` axis.
pub(crate) fn grid(svg: &mut Svg, frame: Frame, y: &Axis) {
    svg.open(&format!("stroke=\"{FAINT}\""));
    for (value, _) in &y.ticks {
        let at = y.scale.at(*value);
        svg.line((frame.left, at), (frame.right, at), "");
    }
    svg.close();
}

/// Ticks and labels of a plot; `x` runs along the bottom, `y` up the left side.
pub(crate) fn axes(svg: &mut Svg, frame: Frame, x: &Axis, y: &Axis) {
    svg.open(&format!("stroke=\"{TICK}\""));
    for (value, _) in &y.ticks {
        let at = y.scale.at(*value);
        svg.line((frame.left - 4.0, at), (frame.left, at), "");
    }
    for (value, _) in &x.ticks {
        let at = x.scale.at(*value);
        svg.line((at, frame.bottom), (at, frame.bottom + 4.0), "");
    }
    svg.line((frame.left, frame.bottom), (frame.right, frame.bottom), "");
    svg.close();

    svg.open(&format!("fill=\"{SOFT}\" text-anchor=\"end\""));
    for (value, label) in &y.ticks {
        svg.text((frame.left - 7.0, y.scale.at(*value) + 4.0), "", label);
    }
    svg.close();
    svg.open(&format!("fill=\"{SOFT}\" text-anchor=\"middle\""));
    for (value, label) in &x.ticks {
        svg.text((x.scale.at(*value), frame.bottom + 17.0), "", label);
    }
    svg.text((frame.middle().0, frame.bottom + 35.0), "", x.label);
    let longest = y.ticks.iter().map(|(_, label)| label.chars().count()).max();
    let beside = frame.left - 16.0 - 7.0 * longest.unwrap_or(0) as f64;
    svg.upright_text((beside.max(14.0), frame.middle().1), "", y.label);
    svg.close();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let values = |low, high, most| -> Vec<String> {
            let scale = Scale::new((low, high), (0.0, 1.0));
            scale.ticks(most, 0.0).into_iter().map(|t| t.1).collect()
        };
        assert_eq!(values(0.0, 100.0, 5), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(values(0.0, 0.7, 4), ["0.0", "0.2", "0.4", "0.6"]);
        assert_eq!(values(0.3, 0.3, 2).len(), 2);
        let whole = Scale::new((0.0, 2.0), (0.0, 1.0)).ticks(8, 1.0);
        assert_eq!(whole.len(), 3, "rounds are whole: {whole:?}");
        for extreme in [1e-300, 1e-9, 1.0, 1e9, 1e300] {
            let ticks = Scale::new((0.0, extreme), (0.0, 1.0)).ticks(5, 0.0);
            assert!((2..=8).contains(&ticks.len()), "{extreme}: {ticks:?}");
            assert!(ticks.iter().all(|t| t.0 <= extreme * 1.001), "{ticks:?}");
        }
    }

    #[test]
    fn scales_without_a_range_still_map() {
        for range in [
            (0.0, 0.0),
            (1.0, f64::NAN),
            (f64::NAN, f64::NAN),
            (2.0, 1.0),
        ] {
            assert!(Scale::new(range, (10.0, 20.0)).at(0.5).is_finite());
        }
    }
}
