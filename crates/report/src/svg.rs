//! Just enough SVG: shapes and escaped text; scales, ticks and axes in a room of their own.

use std::fmt::Write as _;

mod axes;

pub(crate) use axes::{Axis, Scale, axes, grid, round_step};

/// Text and strong lines.
pub(crate) const INK: &str = "#222222";
/// Secondary text.
pub(crate) const SOFT: &str = "#5f6368";
/// Grid lines and frames.
pub(crate) const FAINT: &str = "#e3e5e8";
/// Axes and their ticks.
pub(crate) const TICK: &str = "#9aa0a6";
/// The sheet.
const PAPER: &str = "#ffffff";

/// A point of the sheet, pixels from the upper left.
pub(crate) type Spot = (f64, f64);

/// An SVG document being written. `style` arguments are attributes, never a user's text.
pub(crate) struct Svg(String);

impl Svg {
    /// An empty sheet; the title is what screen readers say.
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        let (width, height) = (number(width), number(height));
        let mut svg = Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" font-size=\"11\" fill=\"{INK}\" \
             font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif\">\n\
             <title>{}</title>\n",
            escape(title)
        ));
        svg.raw(&format!(
            "<rect width=\"{width}\" height=\"{height}\" fill=\"{PAPER}\"/>"
        ));
        svg
    }

    /// The finished document.
    pub(crate) fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }

    fn raw(&mut self, element: &str) {
        self.0.push_str(element);
        self.0.push('\n');
    }

    /// Opens a group whose style its members share.
    pub(crate) fn open(&mut self, style: &str) {
        self.raw(&format!("<g {style}>"));
    }

    /// Closes the last group.
    pub(crate) fn close(&mut self) {
        self.raw("</g>");
    }

    pub(crate) fn line(&mut self, from: Spot, to: Spot, style: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        self.raw(&format!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" {style}/>"
        ));
    }

    pub(crate) fn circle(&mut self, at: Spot, radius: f64, style: &str) {
        let [x, y, r] = [at.0, at.1, radius].map(number);
        let space = if style.is_empty() { "" } else { " " };
        self.raw(&format!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"{space}{style}/>"
        ));
    }

    pub(crate) fn rect(&mut self, frame: Frame, style: &str) {
        let [x, y] = [frame.left, frame.top].map(number);
        let [width, height] = [frame.width(), frame.height()].map(|side| number(side.max(0.0)));
        self.raw(&format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" {style}/>"
        ));
    }

    /// A line through points.
    pub(crate) fn polyline(&mut self, points: &[Spot], style: &str) {
        self.raw(&format!(
            "<polyline points=\"{}\" {style}/>",
            coordinates(points)
        ));
    }

    /// A closed shape.
    pub(crate) fn polygon(&mut self, points: &[Spot], style: &str) {
        self.raw(&format!(
            "<polygon points=\"{}\" {style}/>",
            coordinates(points)
        ));
    }

    /// A path given around the origin, put down at a spot.
    pub(crate) fn stamp(&mut self, path: &str, at: Spot, style: &str) {
        let [x, y] = [at.0, at.1].map(number);
        self.raw(&format!(
            "<path d=\"{path}\" transform=\"translate({x} {y})\" {style}/>"
        ));
    }

    /// Text, its baseline starting at the spot unless the style anchors it otherwise.
    pub(crate) fn text(&mut self, at: Spot, style: &str, text: &str) {
        let [x, y] = [at.0, at.1].map(number);
        let space = if style.is_empty() { "" } else { " " };
        self.raw(&format!(
            "<text x=\"{x}\" y=\"{y}\"{space}{style}>{}</text>",
            escape(text)
        ));
    }

    /// Text read from bottom to top, centred on the spot.
    fn upright_text(&mut self, at: Spot, style: &str, text: &str) {
        let [x, y] = [at.0, at.1].map(number);
        let turned = format!("text-anchor=\"middle\" transform=\"rotate(-90 {x} {y})\" {style}");
        self.text(at, &turned, text);
    }

    /// Slanted lines; `fill="url(#id)"` fills with them.
    pub(crate) fn hatch(&mut self, id: &str, colour: &str) {
        self.raw(&format!(
            "<pattern id=\"{id}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
             <line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"{colour}\" stroke-width=\"1.6\" stroke-opacity=\"0.6\"/></pattern>"
        ));
    }

    /// A clipping frame; `clip-path="url(#id)"` uses it.
    pub(crate) fn clip(&mut self, id: &str, frame: Frame) {
        self.raw(&format!("<clipPath id=\"{id}\">"));
        self.rect(frame, "");
        self.raw("</clipPath>");
    }
}

/// Text that XML takes as text; characters that XML 1.0 has no place for become `�`.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A coordinate to a tenth of a pixel, never `NaN`, `inf` or `-0`.
fn number(value: f64) -> String {
    let tenths = if value.is_nan() {
        0.0
    } else {
        (value.clamp(-1e6, 1e6) * 10.0).round()
    };
    if tenths % 10.0 == 0.0 {
        format!("{:.0}", tenths / 10.0 + 0.0)
    } else {
        format!("{:.1}", tenths / 10.0)
    }
}

fn coordinates(points: &[Spot]) -> String {
    let mut text = String::new();
    for &(x, y) in points {
        let space = if text.is_empty() { "" } else { " " };
        // Writing to a string cannot fail.
        _ = write!(text, "{space}{},{}", number(x), number(y));
    }
    text
}

/// A rectangle of the sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Frame {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn middle(&self) -> Spot {
        (
            (self.left + self.right) / 2.0,
            (self.top + self.bottom) / 2.0,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_out() {
        assert_eq!(
            escape("<a href=\"x\">&'\u{1}\u{ffff}é"),
            "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\u{fffd}\u{fffd}é"
        );
    }

    #[test]
    fn coordinates_are_always_plain_numbers() {
        let written = [
            0.04,
            -0.04,
            1.25,
            -3.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ]
        .map(number);
        assert_eq!(written, ["0", "0", "1.3", "-3", "0", "1000000", "-1000000"]);
    }
}
