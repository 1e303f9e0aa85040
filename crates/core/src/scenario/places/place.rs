//! A place as written, and where UAVs recharge.

use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Visitor, value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::vocabulary::Point;
use crate::vocabulary::geometry::{Geodetic, LocalFrame};

/// A place as written: metres from the area's corner, `[x, y]`, or degrees, `{ lat = 47.4, lon = 8.5 }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// Metres east and north of the area's south-west corner.
    Metres(Point),
    /// Degrees, WGS84.
    Degrees {
        /// North of the equator.
        lat: f64,
        /// East of Greenwich.
        lon: f64,
    },
}

/// How far below the plane the ground may lie, m: 1600 km away. Without a bound the other side of the globe would fall onto it.
const LOWEST_M: f64 = -200e3;

impl Place {
    /// The point on the map, or what would be one.
    pub(in crate::scenario) fn resolve(
        self,
        frame: Option<&LocalFrame>,
    ) -> Result<Point, &'static str> {
        let (lat, lon) = match self {
            Self::Metres(point) => return Ok(point),
            Self::Degrees { lat, lon } => (lat, lon),
        };
        if !((-90.0..=90.0).contains(&lat) && (-180.0..=180.0).contains(&lon)) {
            return Err("lat -90 to 90, lon -180 to 180");
        }
        let frame = frame.ok_or(
            "metres [x, y]; degrees need `area.origin`, the [lat, lon] of the area's south-west corner",
        )?;
        let alt_m = frame.origin().alt_m;
        match frame.to_enu(Geodetic { lat, lon, alt_m }) {
            [_, _, up_m] if up_m < LOWEST_M => Err("places not as far from `area.origin`"),
            [east_m, north_m, _] => Ok(Point::new(east_m, north_m)),
        }
    }
}

impl From<Point> for Place {
    fn from(point: Point) -> Self {
        Self::Metres(point)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Metres(Point { x_m, y_m }) => write!(f, "[{x_m}, {y_m}]"),
            Self::Degrees { lat, lon } => write!(f, "{{ lat = {lat}, lon = {lon} }}"),
        }
    }
}

/// The table of a place in degrees.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Degrees {
    lat: f64,
    lon: f64,
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Metres(point) => point.serialize(serializer),
            Self::Degrees { lat, lon } => Degrees { lat, lon }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlaceVisitor)
    }
}

struct PlaceVisitor;

impl<'de> Visitor<'de> for PlaceVisitor {
    type Value = Place;

    fn expecting(&self, text: &mut fmt::Formatter) -> fmt::Result {
        write!(text, "two numbers [x, y], or {{ lat, lon }}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Place, A::Error> {
        Point::deserialize(value::SeqAccessDeserializer::new(list)).map(Place::Metres)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Place, A::Error> {
        let Degrees { lat, lon } = Degrees::deserialize(value::MapAccessDeserializer::new(map))?;
        Ok(Place::Degrees { lat, lon })
    }
}

/// Where UAVs recharge. In files: `"middle"`, a place, or a list of places.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Base {
    /// The middle of the area, however large that is.
    #[default]
    Middle,
    /// Given places inside the area, at least one.
    At(Vec<Place>),
}

const MIDDLE: &str = "middle";

impl Serialize for Base {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Middle => serializer.serialize_str(MIDDLE),
            // A table would be fields of its own: one place in degrees is a list of one.
            Self::At(places) => match &places[..] {
                [Place::Metres(point)] => point.serialize(serializer),
                places => places.serialize(serializer),
            },
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
        write!(
            text,
            "{MIDDLE:?}, two numbers [x, y], {{ lat, lon }}, or a list of such places"
        )
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Base, E> {
        match word {
            MIDDLE => Ok(Base::Middle),
            _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Base, A::Error> {
        PlaceVisitor
            .visit_map(map)
            .map(|place| Base::At(vec![place]))
    }

    /// `[x, y]`, or a list of places: what stands first tells.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Base, A::Error> {
        let (mut numbers, mut places) = (Vec::new(), Vec::new());
        while let Some(part) = list.next_element()? {
            match part {
                Part::Number(number) => numbers.push(number),
                Part::Place(place) => places.push(place),
            }
        }
        match (&numbers[..], places.is_empty()) {
            (&[x_m, y_m], true) => Ok(Base::At(vec![Point::new(x_m, y_m).into()])),
            ([], false) => Ok(Base::At(places)),
            _ => Err(de::Error::invalid_length(
                numbers.len() + places.len(),
                &self,
            )),
        }
    }
}

enum Part {
    Number(f64),
    Place(Place),
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartVisitor)
    }
}

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = Part;

    fn expecting(&self, text: &mut fmt::Formatter) -> fmt::Result {
        BaseVisitor.expecting(text)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Part, E> {
        Ok(Part::Number(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Part, E> {
        self.visit_f64(number as f64)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Part, E> {
        self.visit_f64(number as f64)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Part, A::Error> {
        PlaceVisitor.visit_seq(list).map(Part::Place)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Part, A::Error> {
        PlaceVisitor.visit_map(map).map(Part::Place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn bases_are_the_middle_a_place_or_several() {
        let base = |text: &str| {
            let scenario = Scenario::parse("", &[format!("uavs.base_m={text}")]).unwrap();
            let again = Scenario::parse(&scenario.to_toml().unwrap(), &[""; 0]).unwrap();
            assert_eq!(again.uavs.base_m, scenario.uavs.base_m);
            scenario.uavs.base_m
        };
        let metres = |x, y| Place::Metres(Point::new(x, y));
        let degrees = Place::Degrees {
            lat: 47.5,
            lon: 8.0,
        };
        assert_eq!(base("middle"), Base::Middle);
        assert_eq!(base("[10, 20]"), Base::At(vec![metres(10.0, 20.0)]));
        assert_eq!(base("{lat = 47.5, lon = 8}"), Base::At(vec![degrees]));
        let several = base("[[1, 2], {lat = 47.5, lon = 8}, [3.5, 4]]");
        assert_eq!(
            several,
            Base::At(vec![metres(1.0, 2.0), degrees, metres(3.5, 4.0)])
        );
        for wrong in [
            "home",
            "[1]",
            "[]",
            "[1, 2, 3]",
            "[1, [2, 3]]",
            "3",
            "{}",
            "{lat = 1}",
            "[[1]]",
            "{lat=1, lon=2, x=3}",
        ] {
            let set = format!("uavs.base_m={wrong}");
            let told = Scenario::parse("", &[&set]).unwrap_err().to_string();
            assert!(told.contains("uavs.base_m"), "{wrong}: {told}");
        }
    }
}
