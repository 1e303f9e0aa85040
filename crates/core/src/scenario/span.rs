//! A range to draw from.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A quantity drawn uniformly per device or UAV. In files: `[min, max]`, or one number for both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The least value drawn.
    pub min: f64,
    /// The bound that values stay below (or equal, when it equals `min`).
    pub max: f64,
}

impl Span {
    pub(super) const fn new(min: f64, max: f64) -> Self {
        Self { min, max }
    }

    /// One draw.
    pub fn draw(self, rng: &mut impl rand::Rng) -> f64 {
        use rand::RngExt;
        self.min + (self.max - self.min) * rng.random::<f64>()
    }
}

impl From<f64> for Span {
    fn from(number: f64) -> Self {
        Self::new(number, number)
    }
}

/// One number where there is nothing to draw.
impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.min == self.max {
            true => self.min.serialize(serializer),
            false => [self.min, self.max].serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrTwo)
    }
}

struct OneOrTwo;

impl<'de> Visitor<'de> for OneOrTwo {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number, or two numbers [min, max] to draw from")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Span, E> {
        Ok(Span::new(number, number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Span, E> {
        self.visit_f64(number as f64)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Span, E> {
        self.visit_f64(number as f64)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Span, A::Error> {
        let mut numbers = Vec::with_capacity(2);
        while let Some(number) = list.next_element()? {
            numbers.push(number);
        }
        match numbers[..] {
            [min, max] => Ok(Span { min, max }),
            _ => Err(A::Error::invalid_length(numbers.len(), &self)),
        }
    }
}
