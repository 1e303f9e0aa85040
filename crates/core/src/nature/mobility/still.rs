//! Nobody moves.

use super::{Mobility, Surroundings};
use crate::seed::Random;
use crate::vocabulary::Point;

/// Nobody moves.
#[derive(Clone, Copy, Debug)]
pub struct Static;

impl Mobility for Static {
    fn next(&self, at: Point, _: &Surroundings, _: &mut Random) -> Point {
        at
    }
}
