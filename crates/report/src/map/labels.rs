//! Where the names of UAVs stand: beside them, off the devices and off each other.

use aerofed::record::UavRecord;
use aerofed::world::Status;

use super::glyph;
use crate::svg::{Frame, INK, SOFT, Spot, Svg};
use crate::units::percent;

const HEIGHT: f64 = 26.0;
/// Half of what a UAV itself takes.
const DRONE: f64 = 11.0;
/// What a place costs, in devices that would lie under the name.
const BESIDE_THE_MAP: f64 = 1e6;
const ON_A_NAME: f64 = 200.0;
const ON_A_SIGN: f64 = 50.0;
/// For each ring further out.
const FURTHER: f64 = 0.4;

/// A name and where it stands.
pub(super) struct Label {
    words: String,
    status: Status,
    share: f64,
    /// The UAV.
    at: Spot,
    frame: Frame,
}

/// What may be in the way.
pub(super) struct Obstacles {
    pub(super) map: Frame,
    pub(super) devices: Vec<Spot>,
    pub(super) device_radius: f64,
    /// UAVs, stars, the base.
    pub(super) signs: Vec<Frame>,
}

/// The frame around a sign of a UAV's size.
pub(super) fn sign(at: Spot) -> Frame {
    around(at, DRONE, DRONE)
}

fn around(at: Spot, half_width: f64, half_height: f64) -> Frame {
    Frame {
        left: at.0 - half_width,
        top: at.1 - half_height,
        right: at.0 + half_width,
        bottom: at.1 + half_height,
    }
}

fn meet(a: &Frame, b: &Frame) -> bool {
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

/// A place for the name of each UAV, given with its battery, one after the other.
pub(super) fn place(uavs: &[(&UavRecord, Spot, f64)], in_the_way: &Obstacles) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::new();
    for &(uav, at, share) in uavs {
        let words = match uav.status {
            Status::Active => format!("UAV {}", uav.uav.0),
            status => format!("UAV {} {}", uav.uav.0, status.name()),
        };
        let half = 4.0 + 2.9 * words.chars().count().max(10) as f64;
        let cost = |frame: &Frame, ring: usize| {
            let out = frame.left < in_the_way.map.left
                || frame.right > in_the_way.map.right
                || frame.top < in_the_way.map.top
                || frame.bottom > in_the_way.map.bottom;
            let radius = in_the_way.device_radius;
            let hidden = in_the_way.devices.iter();
            let hidden = hidden.filter(|spot| meet(frame, &around(**spot, radius, radius)));
            let names = labels.iter().filter(|label| meet(frame, &label.frame));
            let signs = in_the_way.signs.iter().filter(|sign| meet(frame, sign));
            f64::from(u8::from(out)) * BESIDE_THE_MAP
                + hidden.count() as f64
                + ON_A_NAME * names.count() as f64
                + ON_A_SIGN * signs.count() as f64
                + FURTHER * ring as f64
        };
        let choices = candidates(at, half);
        let priced = choices.map(|(ring, frame)| (cost(&frame, ring), frame));
        // The first of equals, so that names stand alike.
        let best = priced.reduce(|best, next| if next.0 < best.0 { next } else { best });
        if let Some((_, frame)) = best {
            labels.push(Label {
                words,
                status: uav.status,
                share,
                at,
                frame,
            });
        }
    }
    labels
}

/// Places around a UAV, the nearest first: below, above, beside, across.
fn candidates(at: Spot, half: f64) -> impl Iterator<Item = (usize, Frame)> {
    const WAYS: [Spot; 8] = [
        (0.0, 1.0),
        (0.0, -1.0),
        (1.0, 0.0),
        (-1.0, 0.0),
        (1.0, 1.0),
        (-1.0, 1.0),
        (1.0, -1.0),
        (-1.0, -1.0),
    ];
    (0..6).flat_map(move |ring| {
        WAYS.into_iter().map(move |(x, y)| {
            let gap = 3.0 + 13.0 * ring as f64;
            let middle = (
                at.0 + x * (DRONE + half + gap),
                at.1 + y * (DRONE + HEIGHT / 2.0 + gap),
            );
            (ring, around(middle, half, HEIGHT / 2.0))
        })
    })
}

impl Label {
    /// Name above battery; a thin line to the UAV from further away.
    pub(super) fn draw(&self, svg: &mut Svg) {
        let Frame { left, top, .. } = self.frame;
        let middle = self.frame.middle();
        let edge = (
            self.at.0.max(left).min(self.frame.right),
            self.at.1.max(top).min(self.frame.bottom),
        );
        let away = (edge.0 - self.at.0).hypot(edge.1 - self.at.1);
        if away > DRONE + 10.0 {
            let style = format!("stroke=\"{SOFT}\" stroke-width=\"0.7\"");
            svg.line(self.at, edge, &style);
        }
        let ink = match self.status {
            Status::Active => INK,
            _ => SOFT,
        };
        // A rim instead of a plate: what lies below stays seen.
        let rim = format!(
            "fill=\"{ink}\" stroke=\"#ffffff\" stroke-width=\"2.5\" stroke-linejoin=\"round\" paint-order=\"stroke\""
        );
        let name = format!("font-size=\"10\" font-weight=\"600\" text-anchor=\"middle\" {rim}");
        svg.text((middle.0, top + 10.0), &name, &self.words);
        glyph::battery(svg, (middle.0 - 28.0, top + 15.0), self.share, self.status);
        let charge = format!("font-size=\"9.5\" text-anchor=\"end\" {rim}");
        svg.text(
            (middle.0 + 28.0, top + 23.0),
            &charge,
            &percent(self.share, 0),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_clear_of_their_uav() {
        let at = (100.0, 100.0);
        for (_, frame) in candidates(at, 30.0) {
            assert!(!meet(&frame, &sign(at)), "{frame:?}");
        }
    }
}
