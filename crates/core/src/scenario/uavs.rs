//! The UAVs: numbers of all of them, ranges that each draws from, and what single ones have otherwise.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::check::{Checked, bad, span, within};
use super::{Base, FlightPower, Place, Scenario, Span};
use crate::seed::{Stream, stream};

/// The UAVs; ranges are drawn uniformly per UAV.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Uavs {
    /// How many (M).
    pub count: usize,
    /// Where they hover at first.
    pub layout: Layout,
    /// Height above ground (ℋ).
    pub altitude_m: Span,
    /// Ground distance up to which devices are covered.
    pub coverage_radius_m: Span,
    /// Air speed of flights (V_m).
    pub speed_mps: Speed,
    /// Power while hovering.
    pub hover_power_w: Span,
    /// Power while flying.
    pub move_power_w: Span,
    /// Battery capacity, full at the start (E_m^Batt).
    pub battery_j: Span,
    /// Power of UAV-to-UAV links (p_m^U2U).
    pub tx_power_w: Span,
    /// Power of UAV-to-device links (p_m^U2D).
    pub broadcast_power_w: Span,
    /// Total uplink bandwidth of a cell (B_m^D2U).
    pub bandwidth_up_hz: Span,
    /// Total downlink bandwidth of a cell (B_m^U2D).
    pub bandwidth_down_hz: Span,
    /// Where UAVs recharge.
    pub base_m: Base,
    /// What the energy check keeps back.
    pub reserve: Reserve,
    /// Charging power at the base; 0: a UAV that left never returns.
    pub recharge_w: Span,
    /// What a UAV spends until the others are ready.
    pub waiting: Waiting,
    /// What single UAVs have otherwise.
    pub each: Vec<OneUav>,
}

/// What a UAV spends that is done and waits for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waiting {
    /// It hovers, at the power of hovering.
    Hover,
    /// Nothing, as Eqs. (17)-(26) are printed.
    Free,
}

/// Initial UAV placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Layout {
    /// `quincunx` for five UAVs, `k_means` otherwise.
    Auto {},
    /// Four at the quarter points and one in the middle; five UAVs only.
    Quincunx {},
    /// Centres of a k-means clustering of the devices.
    KMeans {},
    /// From where the most devices are covered, as `redeploy.method = "marginal_gains"` finds it if flying costs nothing.
    Coverage {},
    /// Given positions, one per UAV.
    Fixed {
        /// Where each UAV hovers.
        positions_m: Vec<Place>,
    },
}

/// What the energy check (15) keeps in the battery besides the next edge round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reserve {
    /// The flight home and the hand-over before it.
    Return,
    /// Nothing: the paper's literal rule.
    None,
}

impl Default for Uavs {
    fn default() -> Self {
        Self {
            count: 5,
            layout: Layout::Auto {},
            altitude_m: 150.0.into(),
            coverage_radius_m: 5_000.0.into(),
            speed_mps: 20.0.into(),
            hover_power_w: 100.0.into(),
            move_power_w: 160.0.into(),
            battery_j: 250e3.into(),
            tx_power_w: Span::new(0.5, 1.0),
            broadcast_power_w: Span::new(0.3, 1.2),
            bandwidth_up_hz: Span::new(20e6, 100e6),
            bandwidth_down_hz: Span::new(20e6, 100e6),
            base_m: Base::Middle,
            reserve: Reserve::Return,
            recharge_w: 400.0.into(),
            waiting: Waiting::Hover,
            each: Vec::new(),
        }
    }
}

/// The air speed that UAVs fly at. In files: a number, `[min, max]`, `"max_range"` or `"max_endurance"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// Given, or drawn per UAV.
    Given(Span),
    /// The speed at which a joule carries farthest.
    MaxRange,
    /// The speed that takes the least power.
    MaxEndurance,
}

const MAX_RANGE: &str = "max_range";
const MAX_ENDURANCE: &str = "max_endurance";

impl From<f64> for Speed {
    fn from(speed_mps: f64) -> Self {
        Self::Given(speed_mps.into())
    }
}

impl Serialize for Speed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Given(span) => span.serialize(serializer),
            Self::MaxRange => serializer.serialize_str(MAX_RANGE),
            Self::MaxEndurance => serializer.serialize_str(MAX_ENDURANCE),
        }
    }
}

impl<'de> Deserialize<'de> for Speed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpeedVisitor)
    }
}

struct SpeedVisitor;

impl<'de> Visitor<'de> for SpeedVisitor {
    type Value = Speed;

    fn expecting(&self, text: &mut fmt::Formatter) -> fmt::Result {
        write!(
            text,
            "a number, two numbers [min, max], {MAX_RANGE:?} or {MAX_ENDURANCE:?}"
        )
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Speed, E> {
        Ok(number.into())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Speed, E> {
        Ok((number as f64).into())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Speed, E> {
        Ok((number as f64).into())
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Speed, A::Error> {
        Span::deserialize(de::value::SeqAccessDeserializer::new(list)).map(Speed::Given)
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Speed, E> {
        match word {
            MAX_RANGE => Ok(Speed::MaxRange),
            MAX_ENDURANCE => Ok(Speed::MaxEndurance),
            _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
        }
    }
}

/// What one UAV has otherwise than `[uavs]` says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneUav {
    /// Which one, from 0.
    pub uav: usize,
    /// Height above ground.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub altitude_m: Option<f64>,
    /// Ground distance up to which devices are covered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage_radius_m: Option<f64>,
    /// Air speed of flights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_mps: Option<Speed>,
    /// Power while hovering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hover_power_w: Option<f64>,
    /// Power while flying.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub move_power_w: Option<f64>,
    /// Battery capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub battery_j: Option<f64>,
    /// Power of UAV-to-UAV links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tx_power_w: Option<f64>,
    /// Power of UAV-to-device links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broadcast_power_w: Option<f64>,
    /// Total uplink bandwidth of its cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_up_hz: Option<f64>,
    /// Total downlink bandwidth of its cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_down_hz: Option<f64>,
    /// Charging power.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recharge_w: Option<f64>,
}

/// The numbers of one UAV: drawn from the ranges of `[uavs]`, or its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UavNumbers {
    /// Height above ground, m.
    pub altitude_m: f64,
    /// Ground distance up to which devices are covered, m.
    pub coverage_radius_m: f64,
    /// Air speed of flights, m/s.
    pub speed_mps: f64,
    /// Power while hovering, W; where a curve gives it, not this.
    pub hover_power_w: f64,
    /// Power while flying, W; likewise.
    pub move_power_w: f64,
    /// Battery capacity, J.
    pub battery_j: f64,
    /// Power of UAV-to-UAV links, W.
    pub tx_power_w: f64,
    /// Power of UAV-to-device links, W.
    pub broadcast_power_w: f64,
    /// Total uplink bandwidth of its cell, Hz.
    pub bandwidth_up_hz: f64,
    /// Total downlink bandwidth of its cell, Hz.
    pub bandwidth_down_hz: f64,
    /// Charging power, W.
    pub recharge_w: f64,
}

impl Scenario {
    /// The numbers of a UAV.
    #[must_use]
    pub fn uav(&self, index: usize) -> UavNumbers {
        let all = &self.uavs;
        let own = all.each.iter().find(|one| one.uav == index);
        let mut rng = stream(self.seed, Stream::UavHardware, 0, index as u64);
        // Every number is drawn, and always in this order: what one UAV has of its own changes no other.
        let mut draw = |span: Span, own: Option<f64>| {
            let drawn = span.draw(&mut rng);
            own.unwrap_or(drawn)
        };
        let tx_power_w = draw(all.tx_power_w, own.and_then(|o| o.tx_power_w));
        let broadcast_power_w = draw(all.broadcast_power_w, own.and_then(|o| o.broadcast_power_w));
        let bandwidth_up_hz = draw(all.bandwidth_up_hz, own.and_then(|o| o.bandwidth_up_hz));
        let bandwidth_down_hz = draw(all.bandwidth_down_hz, own.and_then(|o| o.bandwidth_down_hz));
        let battery_j = draw(all.battery_j, own.and_then(|o| o.battery_j));
        let altitude_m = draw(all.altitude_m, own.and_then(|o| o.altitude_m));
        let coverage_radius_m = draw(all.coverage_radius_m, own.and_then(|o| o.coverage_radius_m));
        let hover_power_w = draw(all.hover_power_w, own.and_then(|o| o.hover_power_w));
        let move_power_w = draw(all.move_power_w, own.and_then(|o| o.move_power_w));
        let recharge_w = draw(all.recharge_w, own.and_then(|o| o.recharge_w));
        let speed = own.and_then(|o| o.speed_mps).unwrap_or(all.speed_mps);
        let speed_mps = match (speed, &self.flight.power) {
            (Speed::Given(span), _) => draw(span, None),
            (Speed::MaxRange, FlightPower::RotaryWing(wing)) => wing.farthest().0,
            (Speed::MaxEndurance, FlightPower::RotaryWing(wing)) => wing.most_enduring().0,
            // Such a scenario does not pass its check.
            (Speed::MaxRange | Speed::MaxEndurance, FlightPower::Constant {}) => 1.0,
        };
        UavNumbers {
            altitude_m,
            coverage_radius_m,
            speed_mps,
            hover_power_w,
            move_power_w,
            battery_j,
            tx_power_w,
            broadcast_power_w,
            bandwidth_up_hz,
            bandwidth_down_hz,
            recharge_w,
        }
    }

    /// What the battery of a UAV gives when it is new and full, J.
    #[must_use]
    pub fn full_battery_j(&self, uav: usize) -> f64 {
        self.uav(uav).battery_j * self.battery.usable
    }

    pub(super) fn check_uavs(&self) -> Checked {
        let uavs = &self.uavs;
        within("uavs.count", uavs.count, 1..=10_000)?;
        self.check_layout()?;
        for (name, values, [least, most]) in [
            ("altitude_m", uavs.altitude_m, ALTITUDES),
            ("coverage_radius_m", uavs.coverage_radius_m, RADII),
            ("hover_power_w", uavs.hover_power_w, MOTORS),
            ("move_power_w", uavs.move_power_w, MOTORS),
            ("battery_j", uavs.battery_j, BATTERIES),
            ("tx_power_w", uavs.tx_power_w, RADIOS),
            ("broadcast_power_w", uavs.broadcast_power_w, RADIOS),
            ("bandwidth_up_hz", uavs.bandwidth_up_hz, BANDS),
            ("bandwidth_down_hz", uavs.bandwidth_down_hz, BANDS),
            ("recharge_w", uavs.recharge_w, MOTORS),
        ] {
            span(&format!("uavs.{name}"), values, least..=most)?;
        }
        self.check_speed("uavs.speed_mps", uavs.speed_mps)?;
        for (place, one) in uavs.each.iter().enumerate() {
            self.check_one(place, one)?;
        }
        self.check_unread_powers()
    }

    fn check_one(&self, place: usize, one: &OneUav) -> Checked {
        let field = |name: &str| format!("uavs.each[{place}].{name}");
        within(&field("uav"), one.uav, 0..=self.uavs.count - 1)?;
        let again = |other: &OneUav| other.uav == one.uav;
        if self.uavs.each[..place].iter().any(again) {
            return Err(bad(&field("uav"), one.uav, "each UAV once"));
        }
        for (name, value, [least, most]) in [
            ("altitude_m", one.altitude_m, ALTITUDES),
            ("coverage_radius_m", one.coverage_radius_m, RADII),
            ("hover_power_w", one.hover_power_w, MOTORS),
            ("move_power_w", one.move_power_w, MOTORS),
            ("battery_j", one.battery_j, BATTERIES),
            ("tx_power_w", one.tx_power_w, RADIOS),
            ("broadcast_power_w", one.broadcast_power_w, RADIOS),
            ("bandwidth_up_hz", one.bandwidth_up_hz, BANDS),
            ("bandwidth_down_hz", one.bandwidth_down_hz, BANDS),
            ("recharge_w", one.recharge_w, MOTORS),
        ] {
            value.map_or(Ok(()), |value| within(&field(name), value, least..=most))?;
        }
        one.speed_mps
            .map_or(Ok(()), |speed| self.check_speed(&field("speed_mps"), speed))
    }

    fn check_speed(&self, field: &str, speed: Speed) -> Checked {
        let slowest_mps = match (speed, &self.flight.power) {
            (Speed::Given(values), _) => {
                span(field, values, SPEEDS[0]..=SPEEDS[1])?;
                values.min
            }
            (Speed::MaxRange, FlightPower::RotaryWing(wing)) => wing.farthest().0,
            (Speed::MaxEndurance, FlightPower::RotaryWing(wing)) => wing.most_enduring().0,
            (Speed::MaxRange | Speed::MaxEndurance, FlightPower::Constant {}) => {
                let word = match speed {
                    Speed::MaxRange => MAX_RANGE,
                    _ => MAX_ENDURANCE,
                };
                return Err(bad(
                    field,
                    format_args!("{word:?}"),
                    "a number: with `flight.power.kind` = \"constant\" no speed is better than another; \"rotary_wing\" has a best one",
                ));
            }
        };
        let [east, north] = self.flight.wind_mps;
        let most_mps = MOST_WIND * slowest_mps;
        match east.hypot(north) <= most_mps {
            true => Ok(()),
            false => Err(bad(
                "flight.wind_mps",
                format_args!("[{east}, {north}], {:.1} m/s", east.hypot(north)),
                format_args!(
                    "up to {most_mps:.1} m/s: UAVs that fly at {slowest_mps:.1} m/s must get on against it"
                ),
            )),
        }
    }

    /// Powers that a curve gives cannot be given besides.
    fn check_unread_powers(&self) -> Checked {
        if self.flight.power == (FlightPower::Constant {}) {
            return Ok(());
        }
        let usual = Uavs::default();
        let all = [
            (
                "hover_power_w",
                self.uavs.hover_power_w,
                usual.hover_power_w,
            ),
            ("move_power_w", self.uavs.move_power_w, usual.move_power_w),
        ];
        for (name, value, default) in all {
            let of_one = |one: &OneUav| match name {
                "hover_power_w" => one.hover_power_w,
                _ => one.move_power_w,
            };
            let own = self.uavs.each.iter().find_map(of_one);
            if value != default || own.is_some() {
                return Err(bad(
                    &format!("uavs.{name}"),
                    own.unwrap_or(value.min),
                    format_args!(
                        "{} (its default), because `flight.power.kind` = \"rotary_wing\" computes it; or kind = \"constant\"",
                        default.min
                    ),
                ));
            }
        }
        Ok(())
    }

    fn check_layout(&self) -> Checked {
        let count = self.uavs.count;
        match &self.uavs.layout {
            Layout::Quincunx {} if count != 5 => Err(bad(
                "uavs.layout.kind",
                format_args!("\"quincunx\" with {count} UAVs"),
                "quincunx for exactly 5 UAVs; auto, k_means, coverage or fixed for other counts",
            )),
            Layout::Fixed { positions_m } => {
                if positions_m.len() != count {
                    let given = format_args!("{} positions", positions_m.len()).to_string();
                    return Err(bad(
                        "uavs.layout.positions_m",
                        given,
                        format_args!("one per UAV, {count}"),
                    ));
                }
                Ok(())
            }
            Layout::Auto {} | Layout::Quincunx {} | Layout::KMeans {} | Layout::Coverage {} => {
                Ok(())
            }
        }
    }
}

const ALTITUDES: [f64; 2] = [1.0, 1e5];
const RADII: [f64; 2] = [1.0, 1e7];
const SPEEDS: [f64; 2] = [0.1, 1e3];
const MOTORS: [f64; 2] = [0.0, 1e6];
const BATTERIES: [f64; 2] = [1.0, 1e12];
const RADIOS: [f64; 2] = [1e-6, 1e4];
const BANDS: [f64; 2] = [1.0, 1e12];
/// Of its air speed, so much may be the wind's.
const MOST_WIND: f64 = 0.9;
