//! The signs on the map: the same on the ground and in the legend.

use aerofed::world::Status;

use crate::palette;
use crate::svg::{FAINT, Frame, INK, SOFT, Spot, Svg};

/// Arms and rotors of a UAV seen from above.
const DRONE: &str = "M-5,-5L5,5M5,-5L-5,5\
    M-9.2,-6a3.2,3.2 0 1 0 6.4,0a3.2,3.2 0 1 0 -6.4,0\
    M2.8,-6a3.2,3.2 0 1 0 6.4,0a3.2,3.2 0 1 0 -6.4,0\
    M-9.2,6a3.2,3.2 0 1 0 6.4,0a3.2,3.2 0 1 0 -6.4,0\
    M2.8,6a3.2,3.2 0 1 0 6.4,0a3.2,3.2 0 1 0 -6.4,0";
/// A five-pointed star.
const STAR: &str =
    "M0,-6L1.6,-2.2L5.7,-1.9L2.6,0.8L3.5,4.9L0,2.7L-3.5,4.9L-2.6,0.8L-5.7,-1.9L-1.6,-2.2Z";
const CROSS: &str = "M-9,-9L9,9M9,-9L-9,9";

/// A device that trained.
pub(super) fn trained_look(colour: &str) -> String {
    format!("fill=\"{colour}\" stroke=\"{INK}\" stroke-width=\"0.4\"")
}

/// A device that was covered and not selected.
pub(super) fn idle_look() -> String {
    format!("fill=\"{}\"", palette::GREY)
}

/// A device that no UAV covers.
pub(super) fn uncovered_look() -> String {
    format!("fill=\"#ffffff\" stroke=\"{}\"", palette::GREY)
}

pub(super) fn link_look() -> String {
    format!("stroke=\"{INK}\" stroke-opacity=\"0.6\" stroke-dasharray=\"6 3\"")
}

pub(super) fn coverage_look(status: Status, colour: &str) -> String {
    if status == Status::Active {
        return format!(
            "fill=\"{colour}\" fill-opacity=\"0.07\" stroke=\"{colour}\" stroke-opacity=\"0.6\""
        );
    }
    let grey = palette::GREY;
    format!("fill=\"none\" stroke=\"{grey}\" stroke-opacity=\"0.7\" stroke-dasharray=\"2 4\"")
}

pub(super) fn number_look() -> String {
    format!(
        "font-size=\"9\" text-anchor=\"middle\" fill=\"{INK}\" stroke=\"#ffffff\" \
         stroke-width=\"2.5\" paint-order=\"stroke\""
    )
}

/// Ink and opacity: a UAV that is not there is pale.
fn presence(status: Status) -> (&'static str, f64) {
    if status == Status::Active {
        (INK, 1.0)
    } else {
        (palette::GREY, 0.6)
    }
}

pub(super) fn drone(svg: &mut Svg, at: Spot, status: Status, colour: &str) {
    let (ink, opacity) = presence(status);
    svg.open(&format!("stroke=\"{ink}\" opacity=\"{opacity}\""));
    let frame = "fill=\"#ffffff\" fill-opacity=\"0.8\" stroke-width=\"1.6\"";
    svg.stamp(DRONE, at, frame);
    svg.circle(at, 3.6, &format!("fill=\"{colour}\""));
    svg.close();
    if status == Status::Lost {
        let red = palette::VERMILLION;
        svg.stamp(
            CROSS,
            at,
            &format!("fill=\"none\" stroke=\"{red}\" stroke-width=\"2\""),
        );
    }
}

/// A UAV where there is no room for its arms.
pub(super) fn disc(svg: &mut Svg, at: Spot, status: Status, colour: &str) {
    let (ink, opacity) = presence(status);
    let style = format!("fill=\"{colour}\" stroke=\"{ink}\" opacity=\"{opacity}\"");
    svg.circle(at, 4.0, &style);
}

pub(super) fn star(svg: &mut Svg, at: Spot) {
    let fill = palette::YELLOW;
    let style = format!("fill=\"{fill}\" stroke=\"{INK}\" stroke-width=\"0.8\"");
    svg.stamp(STAR, at, &style);
}

/// The landing pad.
pub(super) fn base(svg: &mut Svg, at: Spot) {
    let pad = beside(at, (-8.0, -8.0), (8.0, 8.0));
    svg.rect(pad, &format!("fill=\"{INK}\" rx=\"3\""));
    let style = "text-anchor=\"middle\" font-weight=\"700\" fill=\"#ffffff\"";
    svg.text((at.0, at.1 + 4.0), style, "H");
}

/// A battery of 24 by 9 pixels, filled to a share of 0 to 1.
pub(super) fn battery(svg: &mut Svg, at: Spot, share: f64, status: Status) {
    let shell = format!("fill=\"#ffffff\" stroke=\"{SOFT}\" stroke-width=\"0.8\" rx=\"1.5\"");
    svg.rect(beside(at, (0.0, 0.0), (22.0, 9.0)), &shell);
    let tip = beside(at, (22.4, 2.5), (24.0, 6.5));
    svg.rect(tip, &format!("fill=\"{SOFT}\""));
    let charge = beside(at, (1.2, 1.2), (1.2 + 19.6 * share, 7.8));
    svg.rect(charge, &charge_fill(share, status));
}

/// A battery where there is no room for one: a line of 16 pixels.
pub(super) fn charge_line(svg: &mut Svg, at: Spot, share: f64, status: Status) {
    let whole = beside(at, (0.0, 0.0), (16.0, 3.0));
    let style = format!("fill=\"#ffffff\" stroke=\"{FAINT}\"");
    svg.rect(whole, &style);
    let charge = beside(at, (0.0, 0.0), (16.0 * share, 3.0));
    svg.rect(charge, &charge_fill(share, status));
}

fn charge_fill(share: f64, status: Status) -> String {
    let fill = match share {
        _ if status != Status::Active => palette::GREY,
        s if s < 0.2 => palette::VERMILLION,
        s if s < 0.5 => palette::ORANGE,
        _ => palette::GREEN,
    };
    format!("fill=\"{fill}\"")
}

/// The frame between two corners given from a spot.
fn beside(at: Spot, corner: Spot, opposite: Spot) -> Frame {
    Frame {
        left: at.0 + corner.0,
        top: at.1 + corner.1,
        right: at.0 + opposite.0,
        bottom: at.1 + opposite.1,
    }
}
