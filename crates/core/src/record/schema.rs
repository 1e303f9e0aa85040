//! What the files of a run hold, column by column: the one place that says so. Headers are made of it, `schema.json` stands beside
//! the data, and `docs/files.md` is printed from it.

use std::borrow::Cow;

use serde::Serialize;

use crate::vocabulary::{EnergyItem, TimeItem, UavTime};

/// One column of a table, or one field of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// As the file has it; `a.b` is a field of an object, `a[].b` one of each entry of a list.
    pub name: Cow<'static, str>,
    /// What stands in it.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// `s`, `J`, `m`, ...; empty where there is none.
    pub unit: Cow<'static, str>,
    /// What it means.
    pub description: Cow<'static, str>,
}

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A whole number.
    Integer,
    /// Any number; NaN and infinity are written so in CSV, and as null in JSON.
    Number,
    /// Text.
    Text,
    /// `true` or `false`.
    Boolean,
    /// Several of them: with spaces between in CSV, an array in JSON.
    List,
}

impl Kind {
    /// As files name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Text => "text",
            Self::Boolean => "boolean",
            Self::List => "list",
        }
    }
}

impl Column {
    /// A column of a fixed name.
    #[must_use]
    pub const fn new(
        name: &'static str,
        kind: Kind,
        unit: &'static str,
        description: &'static str,
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            kind,
            unit: Cow::Borrowed(unit),
            description: Cow::Borrowed(description),
        }
    }
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileSchema {
    /// Its name.
    pub file: &'static str,
    /// What a row, a line or the object tells of.
    pub row: &'static str,
    /// Its columns, in order.
    pub columns: Vec<Column>,
}

/// `schema.json`: a list of files.
#[must_use]
pub fn to_json(files: &[FileSchema]) -> String {
    // Nothing in it can fail to be written.
    serde_json::to_string_pretty(files).unwrap_or_default() + "\n"
}

/// The first line of a CSV file.
#[must_use]
pub fn header(columns: &[Column]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
    names.join(",")
}

use Kind::{Boolean, Integer, List, Number, Text};

/// The tables and objects of a run folder.
#[must_use]
pub fn run_files() -> Vec<FileSchema> {
    vec![
        FileSchema {
            file: "rounds.csv",
            row: "a global round",
            columns: rounds(),
        },
        FileSchema {
            file: "uavs.csv",
            row: "a UAV in a global round; battery_before_j + recharged_j + harvested_j = battery_after_j + all items in J, and all items in s + away_s = the round",
            columns: uavs(),
        },
        FileSchema {
            file: "devices.jsonl",
            row: "a global round: where devices were, rounded to metres, for maps",
            columns: DEVICES.into(),
        },
        FileSchema {
            file: "events.jsonl",
            row: "something that happened; which fields it has depends on `event`",
            columns: events(),
        },
        FileSchema {
            file: "summary.json",
            row: "the run",
            columns: summary(),
        },
    ]
}

fn energy_items() -> impl Iterator<Item = Column> {
    EnergyItem::ALL
        .into_iter()
        .map(|item| Column::new(item.name(), Number, "J", item.description()))
}

fn time_items() -> impl Iterator<Item = Column> {
    TimeItem::ALL
        .into_iter()
        .map(|item| Column::new(item.name(), Number, "s", item.description()))
}

/// Columns of `rounds.csv`.
#[must_use]
pub fn rounds() -> Vec<Column> {
    ROUNDS
        .iter()
        .cloned()
        .chain(time_items())
        .chain(energy_items())
        .collect()
}

/// Columns of `uavs.csv`.
#[must_use]
pub fn uavs() -> Vec<Column> {
    let seconds = UavTime::columns().map(|(item, name)| Column {
        name: name.into(),
        kind: Number,
        unit: "s".into(),
        description: format!("Seconds of it. {}", item.description()).into(),
    });
    let first = UAVS.iter().cloned().chain(energy_items()).chain(seconds);
    first.chain(UAVS_LAST.iter().cloned()).collect()
}

/// Columns of `devices.parquet`: what `devices.jsonl` tells, a row for each device.
#[must_use]
pub fn device_rows() -> Vec<Column> {
    DEVICE_ROWS.into()
}

/// Fields of `events.jsonl`.
#[must_use]
pub fn events() -> Vec<Column> {
    EVENTS.into()
}

/// Fields of `summary.json`.
#[must_use]
pub fn summary() -> Vec<Column> {
    let nested = |of: &'static str, column: Column| Column {
        name: format!("{of}.{}", column.name).into(),
        ..column
    };
    let items = time_items()
        .map(|c| nested("time", c))
        .chain(energy_items().map(|c| nested("energy", c)));
    SUMMARY.iter().cloned().chain(items).collect()
}

#[rustfmt::skip]
const ROUNDS: &[Column] = &[
    Column::new("round", Integer, "", "Global round, from 1"),
    Column::new("clock_s", Number, "s", "Simulated time at its end"),
    Column::new("cumulative_energy_j", Number, "J", "Energy that devices and UAVs spent since the start; not what faults took"),
    Column::new("time_s", Number, "s", "How long the round took: the sum of its items in s"),
    Column::new("energy_j", Number, "J", "What the round took: the sum of its items in J without drained_j and leaked_j"),
    Column::new("test_accuracy", Number, "", "Accuracy of the global model on the test set, 0 to 1"),
    Column::new("test_loss", Number, "", "Its cross-entropy there"),
    Column::new("validation_accuracy", Number, "", "Its accuracy on the validation samples (`data.probe_samples`), which nobody trains on; for tuning"),
    Column::new("validation_loss", Number, "", "Its cross-entropy there"),
    Column::new("train_loss", Number, "", "Mean loss of the local steps; NaN when nobody trained"),
    Column::new("edge_rounds", Integer, "", "Edge rounds (K)"),
    Column::new("local_iterations_mean", Number, "", "Local iterations per edge round (H) of the average device; NaN when nobody trained"),
    Column::new("local_iterations_max", Integer, "", "H of the cell with most"),
    Column::new("covered", Integer, "devices", "Devices that some UAV covers"),
    Column::new("selected", Integer, "devices", "Devices that trained"),
    Column::new("updates_computed", Integer, "updates", "Device updates over all edge rounds"),
    Column::new("updates_aggregated", Integer, "updates", "Of those, how many reached the global model"),
    Column::new("updates_lost", Integer, "updates", "Of those, how many never did"),
    Column::new("active_uavs", Integer, "UAVs", "UAVs above their cells at the end of the round"),
    Column::new("aggregator", Integer, "", "The UAV that merged, from 0; empty when nothing was merged"),
    Column::new("model_change", Number, "", "Norm of the change of the global model, the left side of (4)"),
];

#[rustfmt::skip]
const UAVS: &[Column] = &[
    Column::new("round", Integer, "", "Global round, from 1"),
    Column::new("uav", Integer, "", "Which UAV, from 0"),
    Column::new("status", Text, "", "At the end of the round: active, away (charging, or on its way), flying (to a new position, while the others go on), grounded (at the base for good), lost"),
    Column::new("x_m", Number, "m", "Where it hovers, or will after its flight, east of the area's corner"),
    Column::new("y_m", Number, "m", "Where it hovers, or will after its flight, north of the area's corner"),
    Column::new("covered", Integer, "devices", "Devices within its coverage"),
    Column::new("selected", Integer, "devices", "Devices that trained with it"),
    Column::new("local_iterations", Integer, "", "Local iterations of its devices per edge round (H); 0 without devices"),
    Column::new("edge_time_s", Number, "s", "All its edge rounds together"),
    Column::new("battery_before_j", Number, "J", "Battery when the round began"),
    Column::new("battery_after_j", Number, "J", "Battery when it ended"),
    Column::new("recharged_j", Number, "J", "What it charged at the base before this round"),
    Column::new("harvested_j", Number, "J", "What its solar panel gave in this round"),
];

#[rustfmt::skip]
const UAVS_LAST: &[Column] = &[
    Column::new("away_s", Number, "s", "Seconds in which it was not above its cell: at the base, on the way there or back, or lost"),
    Column::new("devices", List, "", "Numbers of the devices that trained with it, from 0; of a fleet of more than 20 000 only those that devices.jsonl tells of"),
];

#[rustfmt::skip]
const DEVICES: &[Column] = &[
    Column::new("round", Integer, "", "Global round, from 1"),
    Column::new("every", Integer, "", "Entry i of each list is device i * every; 1 for fleets of up to 2 000 devices"),
    Column::new("x_m", List, "m", "East of the area's corner"),
    Column::new("y_m", List, "m", "North of the area's corner"),
    Column::new("uav", List, "", "The UAV that each trained with; -1: covered and not selected, -2: not covered"),
];

#[rustfmt::skip]
const DEVICE_ROWS: &[Column] = &[
    Column::new("round", Integer, "", "Global round, from 1"),
    Column::new("device", Integer, "", "Which device, from 0"),
    Column::new("x_m", Integer, "m", "East of the area's corner"),
    Column::new("y_m", Integer, "m", "North of the area's corner"),
    Column::new("uav", Integer, "", "The UAV that it trained with; -1: covered and not selected, -2: not covered"),
];

#[rustfmt::skip]
const EVENTS: &[Column] = &[
    Column::new("round", Integer, "", "Global round, from 1"),
    Column::new("edge_round", Integer, "", "The edge round after which it happened; 0: before the first"),
    Column::new("event", Text, "", "uav_low, uav_left, uav_returned, uav_depleted, uav_moved, uav_arrived, flights_weighed, uav_lost, uav_drained, model_stranded, update_lost, update_handed_over, devices_out_of_reach, uav_link_outage, transfers_repeated, uav_link_repeated, model_arrived, nobody_trained, waited, diverged"),
    Column::new("uav", Integer, "", "Which UAV, from 0"),
    Column::new("uavs", List, "", "Between which two UAVs (uav_link_outage, uav_link_repeated)"),
    Column::new("device", Integer, "", "Which device, from 0 (update_lost, update_handed_over)"),
    Column::new("devices", Integer, "devices", "How many devices (devices_out_of_reach)"),
    Column::new("attempts", Integer, "", "Attempts at transfers after the first ones (transfers_repeated, uav_link_repeated)"),
    Column::new("battery_j", Number, "J", "What the battery holds (uav_low, uav_drained)"),
    Column::new("needed_j", Number, "J", "What another edge round and the reserve would need (uav_low)"),
    Column::new("returns_at_s", Number, "s", "When it will be back; null: never (uav_left)"),
    Column::new("during", Text, "", "The item of energy at which the battery ran empty (uav_depleted)"),
    Column::new("updates_lost", Integer, "updates", "Device updates that went down with it or stayed behind (uav_depleted, uav_lost, model_stranded)"),
    Column::new("from_m", List, "m", "Where it was: x_m and y_m (uav_moved)"),
    Column::new("to", Integer, "", "The UAV that got the update (update_handed_over)"),
    Column::new("to_m", List, "m", "Where it hovers from now on (uav_moved)"),
    Column::new("energy_j", Number, "J", "What the flight costs (uav_moved)"),
    Column::new("arrives_at_s", Number, "s", "When it is there, while the others go on (uav_moved, and uav_drained in flight); missing where everybody waited for it"),
    Column::new("worthwhile", Boolean, "", "Whether flights are worth what they take (flights_weighed)"),
    Column::new("flights", Integer, "UAVs", "How many would fly (flights_weighed)"),
    Column::new("flight_s", Number, "s", "The longest of the flights (flights_weighed)"),
    Column::new("flight_j", Number, "J", "What the flights take together (flights_weighed)"),
    Column::new("saved_s", Number, "s", "By how much sooner the target would be reached; negative: later (flights_weighed)"),
    Column::new("saved_j", Number, "J", "By how much less the rounds until then would take, without the flights (flights_weighed)"),
    Column::new("rounds_left", Number, "rounds", "Rounds to the target if everybody stays, by estimate (flights_weighed)"),
    Column::new("reason", Text, "", "Why (update_lost)"),
    Column::new("time_s", Number, "s", "When it was merged (model_arrived)"),
    Column::new("staleness", Integer, "", "Merges since the cell fetched the global model (model_arrived)"),
    Column::new("until_s", Number, "s", "Until when (waited)"),
];

#[rustfmt::skip]
const SUMMARY: &[Column] = &[
    Column::new("scenario", Text, "", "The scenario's name"),
    Column::new("method", Text, "", "The method's name, with the parts that were replaced in brackets"),
    Column::new("seed", Integer, "", "The seed"),
    Column::new("rounds", Integer, "", "Global rounds done"),
    Column::new("stopped_by", Text, "", "Why it ended: max_rounds, target_accuracy, converged, no_uav_left, diverged, interrupted"),
    Column::new("final_accuracy", Number, "", "Test accuracy after the last round, 0 to 1"),
    Column::new("best_accuracy", Number, "", "Best test accuracy of any round"),
    Column::new("final_loss", Number, "", "Test loss after the last round"),
    Column::new("total_time_s", Number, "s", "Simulated time"),
    Column::new("total_energy_j", Number, "J", "Energy that devices and UAVs spent; not what faults took"),
    Column::new("updates_computed", Integer, "updates", "Device updates"),
    Column::new("updates_lost", Integer, "updates", "Of those, how many never reached the global model"),
    Column::new("local_iterations_mean", Number, "", "Local iterations per edge round (H) of the average device, over all rounds"),
    Column::new("parameters", Integer, "", "Trainable parameters of the model"),
    Column::new("target_on", Text, "", "Which accuracy targets are judged by: test or validation"),
    Column::new("smooth", Integer, "rounds", "Over how many rounds it is averaged (`stop.smooth`)"),
    Column::new("targets[].accuracy", Number, "", "An accuracy of `stop.targets`"),
    Column::new("targets[].rounds", Integer, "", "The first round at or above it, without smoothing; null: never"),
    Column::new("targets[].time_s", Number, "s", "Simulated time until then"),
    Column::new("targets[].energy_j", Number, "J", "Energy until then"),
    Column::new("targets[].smoothed.rounds", Integer, "", "The first round in which the mean over the last `smooth` rounds is at or above it; null: never"),
    Column::new("targets[].smoothed.time_s", Number, "s", "Simulated time until then"),
    Column::new("targets[].smoothed.energy_j", Number, "J", "Energy until then"),
    Column::new("wall_clock_s", Number, "s", "Real time"),
    Column::new("trained_on", Text, "", "What trained: `cores`, or the name of a GPU; null: nobody, or parts of the caller's"),
    Column::new("threads", Integer, "", "Worker threads"),
    Column::new("version", Text, "", "The program's version"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Event, EventKind};
    use crate::vocabulary::Point;
    use crate::world::{DeviceId, UavId};

    /// One of each.
    fn every_event() -> Vec<EventKind> {
        let uav = UavId(1);
        let (from_m, to_m) = (Point::default(), Point::default());
        let all = vec![
            EventKind::UavLow {
                uav,
                battery_j: 1.0,
                needed_j: 2.0,
            },
            EventKind::UavLeft {
                uav,
                returns_at_s: None,
            },
            EventKind::UavReturned { uav },
            EventKind::UavDepleted {
                uav,
                during: EnergyItem::Move,
                updates_lost: 0,
            },
            EventKind::UavMoved {
                uav,
                from_m,
                to_m,
                energy_j: 1.0,
                arrives_at_s: Some(2.0),
            },
            EventKind::UavArrived { uav },
            EventKind::FlightsWeighed {
                worthwhile: true,
                flights: 1,
                flight_s: 1.0,
                flight_j: 1.0,
                saved_s: 1.0,
                saved_j: 1.0,
                rounds_left: 1.0,
            },
            EventKind::UavLost {
                uav,
                updates_lost: 0,
            },
            EventKind::UavDrained {
                uav,
                battery_j: 1.0,
                arrives_at_s: Some(1.0),
            },
            EventKind::ModelStranded {
                uav,
                updates_lost: 0,
            },
            EventKind::UpdateLost {
                device: DeviceId(0),
                uav,
                reason: "r".into(),
            },
            EventKind::UpdateHandedOver {
                device: DeviceId(0),
                uav,
                to: uav,
            },
            EventKind::DevicesOutOfReach { uav, devices: 1 },
            EventKind::UavLinkOutage { uavs: [uav, uav] },
            EventKind::TransfersRepeated { uav, attempts: 1 },
            EventKind::UavLinkRepeated {
                uavs: [uav, uav],
                attempts: 1,
            },
            EventKind::ModelArrived {
                uav,
                time_s: 1.0,
                staleness: 0,
            },
            EventKind::NobodyTrained,
            EventKind::Waited { until_s: 1.0 },
            EventKind::Diverged,
        ];
        // A new kind of event does not compile until it is in the list above.
        for kind in &all {
            match kind {
                EventKind::UavLow { .. }
                | EventKind::UavLeft { .. }
                | EventKind::UavReturned { .. }
                | EventKind::UavDepleted { .. }
                | EventKind::UavMoved { .. }
                | EventKind::UavArrived { .. }
                | EventKind::FlightsWeighed { .. }
                | EventKind::UavLost { .. }
                | EventKind::UavDrained { .. }
                | EventKind::ModelStranded { .. }
                | EventKind::UpdateLost { .. }
                | EventKind::UpdateHandedOver { .. }
                | EventKind::DevicesOutOfReach { .. }
                | EventKind::UavLinkOutage { .. }
                | EventKind::TransfersRepeated { .. }
                | EventKind::UavLinkRepeated { .. }
                | EventKind::ModelArrived { .. }
                | EventKind::NobodyTrained
                | EventKind::Waited { .. }
                | EventKind::Diverged => {}
            }
        }
        all
    }

    #[test]
    fn every_kind_of_event_and_each_of_its_fields_is_told() {
        let of = |name: &str| EVENTS.iter().find(|column| column.name == name);
        let kinds: Vec<&str> = of("event").unwrap().description.split(", ").collect();
        let mut seen = Vec::new();
        for kind in every_event() {
            let event = Event {
                round: 1,
                edge_round: 0,
                kind,
            };
            let json = serde_json::to_value(event).unwrap();
            let object = json.as_object().unwrap();
            for field in object.keys() {
                assert!(of(field).is_some(), "{field}: {json}");
                seen.push(field.clone());
            }
            let name = object["event"].as_str().unwrap();
            assert!(kinds.contains(&name), "{name}");
        }
        assert_eq!(kinds.len(), every_event().len());
        assert!(EVENTS.iter().all(|c| seen.iter().any(|s| *s == c.name)));
    }

    #[test]
    fn no_file_has_a_column_twice_or_without_words() {
        for file in run_files() {
            for (place, column) in file.columns.iter().enumerate() {
                let same = |other: &Column| other.name == column.name;
                assert!(!file.columns[..place].iter().any(same), "{}", column.name);
                assert!(!column.description.is_empty(), "{}", column.name);
            }
        }
    }
}
