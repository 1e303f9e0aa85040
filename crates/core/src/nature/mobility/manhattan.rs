//! Along the streets of a grid (the Manhattan model of Bai, Sadagopan and Helmy, INFOCOM 2003, with the turns of ETSI TR 101
//! 112: half of all go straight on).

use rand::RngExt;

use super::legs::{Leg, Motion, Start, Walk};
use super::waypoint::met_speed;
use crate::scenario::Span;
use crate::seed::{Random, Stream, stream};
use crate::vocabulary::{DeviceId, Point};

/// From crossing to crossing, each way at a speed of its own. Where there are both turns and the way straight on, a device
/// turns with the given probability, left and right equally often; where the border leaves two ways, it takes either with
/// probability 1/2. Then all streets see as many devices in both directions, which is how they begin.
#[derive(Clone, Copy, Debug)]
pub struct Manhattan {
    seed: u64,
    block_m: f64,
    /// Blocks from west to east and from south to north.
    blocks: [f64; 2],
    speed_mps: Span,
    turn_probability: f64,
}

/// A step of one block: east, north, west, south.
const WAYS: [[f64; 2]; 4] = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];

impl Manhattan {
    /// In an area of so many metres from west to east and from south to north; what is left of it after the last whole block
    /// has no streets.
    #[must_use]
    pub fn new(
        seed: u64,
        sides_m: [f64; 2],
        block_m: f64,
        speed_mps: Span,
        turn_probability: f64,
    ) -> Self {
        Self {
            seed,
            block_m,
            blocks: sides_m.map(|side_m| (side_m / block_m).floor().max(1.0)),
            speed_mps,
            turn_probability,
        }
    }

    fn point(&self, crossing: [f64; 2]) -> Point {
        Point::new(crossing[0] * self.block_m, crossing[1] * self.block_m)
    }

    /// The crossing next to a point.
    fn crossing(&self, point: Point) -> [f64; 2] {
        let along = |metres: f64, blocks: f64| (metres / self.block_m).round().max(0.0).min(blocks);
        [
            along(point.x_m, self.blocks[0]),
            along(point.y_m, self.blocks[1]),
        ]
    }

    /// The crossing one block on, if there is one.
    fn beyond(&self, crossing: [f64; 2], way: usize) -> Option<[f64; 2]> {
        let [x, y] = [0, 1].map(|axis| crossing[axis] + WAYS[way][axis]);
        let inside = (0.0..=self.blocks[0]).contains(&x) && (0.0..=self.blocks[1]).contains(&y);
        inside.then_some([x, y])
    }

    /// The crossing that somebody goes to next who came this way; who comes from beside the streets goes anywhere.
    fn turn(&self, crossing: [f64; 2], way: Option<usize>, rng: &mut Random) -> [f64; 2] {
        let beyond = |way: usize| self.beyond(crossing, way % 4);
        let draw = rng.random::<f64>();
        let Some(way) = way else {
            let open: Vec<[f64; 2]> = (0..4).filter_map(beyond).collect();
            let index = (draw * open.len() as f64) as usize;
            return open.get(index).copied().unwrap_or(crossing);
        };
        let turns = self.turn_probability;
        let (straight, left, right) = (beyond(way), beyond(way + 1), beyond(way + 3));
        match (straight, left, right) {
            (Some(straight), Some(left), Some(right)) => match draw {
                draw if draw < turns / 2.0 => left,
                draw if draw < turns => right,
                _ => straight,
            },
            (Some(one), Some(other), None)
            | (Some(one), None, Some(other))
            | (None, Some(one), Some(other)) => match draw < 0.5 {
                true => one,
                false => other,
            },
            (Some(only), None, None) | (None, Some(only), None) | (None, None, Some(only)) => only,
            (None, None, None) => crossing,
        }
    }

    /// Any street between two crossings, in any direction.
    fn street(&self, rng: &mut Random) -> [[f64; 2]; 2] {
        let [columns, rows] = self.blocks;
        let across = columns * (rows + 1.0);
        let along = rows * (columns + 1.0);
        let number = (rng.random::<f64>() * (across + along)).floor();
        let (from, way) = match number < across {
            true => ([number % columns, (number / columns).floor()], WAYS[0]),
            false => {
                let number = number - across;
                ([(number / rows).floor(), number % rows], WAYS[1])
            }
        };
        let to = [from[0] + way[0], from[1] + way[1]];
        match rng.random::<f64>() < 0.5 {
            true => [from, to],
            false => [to, from],
        }
    }
}

/// Which way a leg leads; none when it is not along a street.
fn way(leg: &Leg) -> Option<usize> {
    let (dx, dy) = (leg.to.x_m - leg.from.x_m, leg.to.y_m - leg.from.y_m);
    WAYS.iter().position(|[x, y]| {
        let sign = |value: f64| if value == 0.0 { 0.0 } else { value.signum() };
        [sign(dx), sign(dy)] == [*x, *y]
    })
}

impl Walk for Manhattan {
    /// Whoever is given a place beside the streets goes straight to the next crossing.
    fn start(&self, start: &Start) -> Motion {
        let Start {
            device,
            now_s,
            number,
            at,
            is_given,
        } = *start;
        let mut rng = stream(self.seed, Stream::DevicePosition, number, device.0.into());
        let leg = match is_given {
            true => {
                let there = self.point(self.crossing(at));
                Leg::travel(at, there, now_s, self.speed_mps.draw(&mut rng))
            }
            false => {
                let [from, to] = self.street(&mut rng).map(|end| self.point(end));
                let whole = Leg {
                    from,
                    to,
                    from_s: 0.0,
                    until_s: 1.0,
                };
                let here = whole.at(rng.random::<f64>());
                Leg::travel(here, to, now_s, met_speed(self.speed_mps, &mut rng))
            }
        };
        Motion::on(leg, number)
    }

    fn next(&self, device: DeviceId, before: &Motion) -> Motion {
        let number = before.number.wrapping_add(1);
        let mut rng = stream(self.seed, Stream::Mobility, number, device.0.into());
        let here = self.crossing(before.leg.to);
        let there = self.turn(here, way(&before.leg), &mut rng);
        let speed_mps = self.speed_mps.draw(&mut rng);
        let (from, to) = (before.leg.to, self.point(there));
        Motion::on(Leg::travel(from, to, before.leg.until_s, speed_mps), number)
    }
}
