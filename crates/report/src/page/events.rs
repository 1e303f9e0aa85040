//! What happened, in words.

use aerofed::record::{Event, EventKind};
use aerofed::world::UavId;

use crate::units::{count, counted, duration, energy};

/// The sign that a replay gives an event.
pub(super) fn sign(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::UavLow { .. } | EventKind::UavDrained { .. } => "low",
        EventKind::UavLeft { .. } => "left",
        EventKind::UavReturned { .. } => "returned",
        EventKind::UavDepleted { .. } | EventKind::UavLost { .. } => "lost",
        EventKind::UavMoved { .. } => "moved",
        EventKind::UavArrived { .. } => "arrived",
        EventKind::FlightsWeighed { .. } => "weighed",
        _ => "other",
    }
}

/// Whom it happened to.
pub(super) fn uav(kind: &EventKind) -> Option<UavId> {
    match kind {
        EventKind::UavLow { uav, .. }
        | EventKind::UavLeft { uav, .. }
        | EventKind::UavReturned { uav }
        | EventKind::UavDepleted { uav, .. }
        | EventKind::UavMoved { uav, .. }
        | EventKind::UavArrived { uav }
        | EventKind::UavLost { uav, .. }
        | EventKind::UavDrained { uav, .. }
        | EventKind::DevicesOutOfReach { uav, .. }
        | EventKind::UpdateLost { uav, .. }
        | EventKind::TransfersRepeated { uav, .. }
        | EventKind::UpdateHandedOver { uav, .. }
        | EventKind::ModelStranded { uav, .. } => Some(*uav),
        _ => None,
    }
}

/// A sentence without its full stop.
pub(super) fn words(event: &Event) -> String {
    match &event.kind {
        EventKind::UavLow {
            uav,
            battery_j,
            needed_j,
        } => format!(
            "UAV {} is low: {} left, {} needed to go on",
            uav.0,
            energy(*battery_j),
            energy(*needed_j)
        ),
        EventKind::UavLeft { uav, returns_at_s } => match returns_at_s {
            Some(at_s) => format!(
                "UAV {} left for the base, back at {}",
                uav.0,
                duration(*at_s)
            ),
            None => format!("UAV {} left for the base, for good", uav.0),
        },
        EventKind::UavReturned { uav } => format!("UAV {} is back at its position", uav.0),
        EventKind::UavDepleted {
            uav,
            during,
            updates_lost,
        } => format!(
            "UAV {} ran empty ({}) and is lost, with {}",
            uav.0,
            during.label(),
            updates(*updates_lost)
        ),
        EventKind::UavMoved {
            uav,
            from_m,
            to_m,
            energy_j,
            arrives_at_s,
        } => {
            let way = match from_m.distance(*to_m) {
                metres if metres < 999.5 => format!("{metres:.0} m"),
                metres => format!("{:.1} km", metres / 1e3),
            };
            let cost = energy(*energy_j);
            match arrives_at_s {
                None => format!("UAV {} moved {way} for {cost}", uav.0),
                Some(at_s) => format!(
                    "UAV {} set off for a place {way} away for {cost}, there at {}",
                    uav.0,
                    duration(*at_s)
                ),
            }
        }
        EventKind::UavArrived { uav } => format!("UAV {} is at its new position", uav.0),
        EventKind::FlightsWeighed {
            worthwhile,
            flights,
            flight_s,
            flight_j,
            saved_s,
            saved_j,
            rounds_left,
        } => {
            let (decided, take, bring) = match (worthwhile, flights) {
                (true, 1) => ("moved", "takes", "brings"),
                (true, _) => ("moved", "take", "bring"),
                (false, _) => ("stayed", "would take", "would bring"),
            };
            format!(
                "{decided}: {} {take} {} and {}, and {bring} {} and {} in the {rounds_left:.0} rounds to the target",
                counted(*flights, "flight"),
                duration(*flight_s),
                energy(*flight_j),
                signed(*saved_s, duration),
                signed(*saved_j, energy),
            )
        }
        EventKind::UavLost { uav, updates_lost } => {
            format!("UAV {} was lost, with {}", uav.0, updates(*updates_lost))
        }
        EventKind::UavDrained {
            uav,
            battery_j,
            arrives_at_s,
        } => {
            let when = arrives_at_s.map_or("", |_| " in flight");
            let left = energy(*battery_j);
            format!("UAV {}'s battery was drained to {left}{when}", uav.0)
        }
        EventKind::ModelStranded { uav, updates_lost } => format!(
            "UAV {} could not hand its model over; {} stayed behind",
            uav.0,
            updates(*updates_lost)
        ),
        EventKind::UpdateLost {
            device,
            uav,
            reason,
        } => format!(
            "the update of device {} never reached UAV {}: {reason}",
            device.0, uav.0
        ),
        EventKind::UpdateHandedOver { device, uav, to } => format!(
            "device {} left the coverage of UAV {} and sent its update to UAV {}",
            device.0, uav.0, to.0
        ),
        EventKind::DevicesOutOfReach { uav, devices } => format!(
            "UAV {} has no usable link to {} within its radius",
            uav.0,
            counted(*devices, "device")
        ),
        EventKind::UavLinkOutage { uavs: [a, b] } => {
            format!("the link between UAVs {} and {} is out", a.0, b.0)
        }
        EventKind::TransfersRepeated { uav, attempts } => format!(
            "transfers in the cell of UAV {} took {} more",
            uav.0,
            counted(*attempts, "attempt")
        ),
        EventKind::UavLinkRepeated {
            uavs: [a, b],
            attempts,
        } => format!(
            "transfers between UAVs {} and {} take {} more",
            a.0,
            b.0,
            counted(*attempts, "attempt")
        ),
        EventKind::NobodyTrained => "nobody trained".into(),
        EventKind::Waited { until_s } => format!(
            "everybody was away; the fleet waited until {}",
            duration(*until_s)
        ),
        EventKind::Diverged => "the model diverged".into(),
        // Kinds from after this was written say what they are called.
        other => serde_json::to_value(other)
            .ok()
            .and_then(|value| Some(value.get("event")?.as_str()?.replace('_', " ")))
            .unwrap_or_default(),
    }
}

/// A number whose unit is for positive ones.
fn signed(number: f64, words: fn(f64) -> String) -> String {
    match number < 0.0 {
        true => format!("-{}", words(-number)),
        false => words(number),
    }
}

fn updates(number: usize) -> String {
    match number {
        0 => "no update of a device".into(),
        1 => "1 update of a device".into(),
        many => format!("{} updates of devices", count(many)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aerofed::geometry::Point;
    use aerofed::record::EnergyItem;
    use aerofed::world::DeviceId;

    #[test]
    fn every_event_has_words_with_units() {
        let uav = UavId(3);
        let cases = [
            (
                EventKind::UavLow {
                    uav,
                    battery_j: 12_100.0,
                    needed_j: 13_000.0,
                },
                "UAV 3 is low: 12.1 kJ left, 13.0 kJ needed to go on",
            ),
            (
                EventKind::UavLeft {
                    uav,
                    returns_at_s: Some(3_720.0),
                },
                "UAV 3 left for the base, back at 1 h 2 min",
            ),
            (
                EventKind::UavLeft {
                    uav,
                    returns_at_s: None,
                },
                "UAV 3 left for the base, for good",
            ),
            (
                EventKind::UavReturned { uav },
                "UAV 3 is back at its position",
            ),
            (
                EventKind::UavDepleted {
                    uav,
                    during: EnergyItem::EdgeHover,
                    updates_lost: 1,
                },
                "UAV 3 ran empty (edge hover) and is lost, with 1 update of a device",
            ),
            (
                EventKind::UavMoved {
                    uav,
                    from_m: Point::new(0.0, 0.0),
                    to_m: Point::new(3_000.0, 4_000.0),
                    energy_j: 40_000.0,
                    arrives_at_s: None,
                },
                "UAV 3 moved 5.0 km for 40.0 kJ",
            ),
            (
                EventKind::UavMoved {
                    uav,
                    from_m: Point::new(0.0, 0.0),
                    to_m: Point::new(3_000.0, 4_000.0),
                    energy_j: 40_000.0,
                    arrives_at_s: Some(300.0),
                },
                "UAV 3 set off for a place 5.0 km away for 40.0 kJ, there at 5 min 0 s",
            ),
            (
                EventKind::UavArrived { uav },
                "UAV 3 is at its new position",
            ),
            (
                EventKind::FlightsWeighed {
                    worthwhile: false,
                    flights: 2,
                    flight_s: 41.0,
                    flight_j: 12_000.0,
                    saved_s: 3.0,
                    saved_j: -1_500.0,
                    rounds_left: 20.4,
                },
                "stayed: 2 flights would take 41.0 s and 12.0 kJ, and would bring 3.0 s and -1.50 kJ in the 20 rounds to the target",
            ),
            (
                EventKind::FlightsWeighed {
                    worthwhile: true,
                    flights: 1,
                    flight_s: 41.0,
                    flight_j: 12_000.0,
                    saved_s: 300.0,
                    saved_j: 150_000.0,
                    rounds_left: 200.0,
                },
                "moved: 1 flight takes 41.0 s and 12.0 kJ, and brings 5 min 0 s and 150 kJ in the 200 rounds to the target",
            ),
            (
                EventKind::UavLost {
                    uav,
                    updates_lost: 12,
                },
                "UAV 3 was lost, with 12 updates of devices",
            ),
            (
                EventKind::UpdateLost {
                    device: DeviceId(7),
                    uav,
                    reason: "no answer within 10 s".into(),
                },
                "the update of device 7 never reached UAV 3: no answer within 10 s",
            ),
            (
                EventKind::UpdateHandedOver {
                    device: DeviceId(7),
                    uav,
                    to: UavId(4),
                },
                "device 7 left the coverage of UAV 3 and sent its update to UAV 4",
            ),
            (
                EventKind::DevicesOutOfReach { uav, devices: 2 },
                "UAV 3 has no usable link to 2 devices within its radius",
            ),
            (
                EventKind::UavLinkOutage {
                    uavs: [uav, UavId(5)],
                },
                "the link between UAVs 3 and 5 is out",
            ),
            (
                EventKind::TransfersRepeated { uav, attempts: 1 },
                "transfers in the cell of UAV 3 took 1 attempt more",
            ),
            (
                EventKind::UavLinkRepeated {
                    uavs: [uav, UavId(5)],
                    attempts: 2,
                },
                "transfers between UAVs 3 and 5 take 2 attempts more",
            ),
            (EventKind::NobodyTrained, "nobody trained"),
            (EventKind::Diverged, "the model diverged"),
        ];
        for (kind, expected) in cases {
            let event = Event {
                round: 1,
                edge_round: 0,
                kind,
            };
            assert_eq!(words(&event), expected);
        }
    }
}
