//! Where UAVs recharge.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor, value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Scenario;
use crate::vocabulary::Point;

/// The place of the base. In files: `"middle"` or `[x, y]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Base {
    /// The middle of the area, however large that is.
    #[default]
    Middle,
    /// A given place inside the area.
    At(Point),
}

const MIDDLE: &str = "middle";

impl Scenario {
    /// Where UAVs recharge.
    #[must_use]
    pub fn base(&self) -> Point {
        match self.uavs.base_m {
            Base::Middle => Point::new(self.area.width_m / 2.0, self.area.height_m / 2.0),
            Base::At(point) => point,
        }
    }
}

impl Serialize for Base {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Middle => serializer.serialize_str(MIDDLE),
            Self::At(point) => point.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Base {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BaseVisitor)
    }
}

struct BaseVisitor;

impl<'de> Visitor<'de> for BaseVisitor {
    type Value = Base;

    fn expecting(&self, text: &mut fmt::Formatter) -> fmt::Result {
        write!(text, "{MIDDLE:?} or two numbers [x, y]")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Base, E> {
        match word {
            MIDDLE => Ok(Base::Middle),
            _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Base, A::Error> {
        Point::deserialize(value::SeqAccessDeserializer::new(list)).map(Base::At)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_follows_the_area_and_a_place_stays() {
        let base = |settings: &[&str]| Scenario::parse("", settings).unwrap().base();
        assert_eq!(
            base(&["area.width_m=3000", "area.height_m=5000"]),
            Point::new(1500.0, 2500.0)
        );
        let placed = ["uavs.base_m=[10, 20]", "area.width_m=3000"];
        assert_eq!(base(&placed), Point::new(10.0, 20.0));
        let again = Scenario::parse("", &placed).unwrap().to_toml().unwrap();
        assert_eq!(
            Scenario::parse(&again, &[""; 0]).unwrap().base(),
            base(&placed)
        );
        for wrong in ["home", "[1]", "[1, 2, 3]", "3", "{}"] {
            let set = format!("uavs.base_m={wrong}");
            assert!(Scenario::parse("", &[&set]).is_err(), "{wrong}");
        }
    }
}
