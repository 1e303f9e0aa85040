//! The rounds of a run as typed columns, for tools that read Parquet or Arrow.

use aerofed::RoundRecord;
use aerofed::record::schema::{self, Column, Kind};
use aerofed::record::{EnergyItem, TimeItem, UavRecord, UavTime};
use aerofed::world::Status;
use aerofed_data::{ColumnValues, NamedColumn};
use serde_json::Value;

/// A table of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunTable {
    /// What it tells of: `rounds`, `uavs`, `devices` or `events`.
    pub name: &'static str,
    /// Its columns, and what stands in them.
    pub columns: Vec<(Column, ColumnValues)>,
}

impl RunTable {
    /// The columns by their names alone.
    #[must_use]
    pub fn named(self) -> Vec<NamedColumn> {
        let named = |(column, values): (Column, ColumnValues)| NamedColumn {
            name: column.name.into(),
            values,
        };
        self.columns.into_iter().map(named).collect()
    }
}

/// All tables of a run.
#[must_use]
pub fn run_tables(records: &[RoundRecord]) -> [RunTable; 4] {
    [
        rounds_table(records),
        uavs_table(records),
        devices_table(records),
        events_table(records),
    ]
}

/// The values of a column, one for each row.
fn whole<T>(rows: &[T], value: impl Fn(&T) -> usize) -> ColumnValues {
    ColumnValues::Integers(rows.iter().map(|row| Some(value(row) as i64)).collect())
}

fn number<T>(rows: &[T], value: impl Fn(&T) -> f64) -> ColumnValues {
    ColumnValues::Numbers(rows.iter().map(|row| Some(value(row))).collect())
}

/// A row for each round: `rounds.csv`.
#[must_use]
pub fn rounds_table(records: &[RoundRecord]) -> RunTable {
    let active = |record: &RoundRecord| {
        let uavs = record.uavs.iter();
        uavs.filter(|uav| uav.status == Status::Active).count()
    };
    let aggregator = |record: &RoundRecord| record.aggregator.map(|uav| i64::from(uav.0));
    let mut values = vec![
        whole(records, |r| r.round),
        number(records, |r| r.clock_s),
        number(records, |r| r.cumulative_energy_j),
        number(records, |r| r.time.total_s()),
        number(records, |r| r.energy.spent_j()),
        number(records, |r| r.test_accuracy),
        number(records, |r| r.test_loss),
        number(records, |r| r.validation_accuracy),
        number(records, |r| r.validation_loss),
        number(records, |r| r.train_loss),
        whole(records, |r| r.edge_rounds),
        number(records, RoundRecord::mean_local_iterations),
        whole(records, RoundRecord::most_local_iterations),
        whole(records, |r| r.covered),
        whole(records, |r| r.selected),
        whole(records, |r| r.updates_computed),
        whole(records, RoundRecord::updates_aggregated),
        whole(records, |r| r.updates_lost),
        whole(records, active),
        ColumnValues::Integers(records.iter().map(aggregator).collect()),
        number(records, |r| r.model_change),
    ];
    values.extend(TimeItem::ALL.map(|item| number(records, |r| r.time.get(item))));
    values.extend(EnergyItem::ALL.map(|item| number(records, |r| r.energy.get(item))));
    table("rounds", schema::rounds(), values)
}

/// A row for each UAV and round: `uavs.csv`.
#[must_use]
pub fn uavs_table(records: &[RoundRecord]) -> RunTable {
    let rounds = records.iter().flat_map(|record| {
        let round = Some(record.round as i64);
        std::iter::repeat_n(round, record.uavs.len())
    });
    let uavs: Vec<&UavRecord> = records.iter().flat_map(|record| &record.uavs).collect();
    let status = |uav: &&UavRecord| Some(uav.status.name().to_owned());
    let devices = |uav: &&UavRecord| {
        let ids = uav.devices.iter().map(|device| i64::from(device.0));
        Some(ids.collect())
    };
    let mut values = vec![
        ColumnValues::Integers(rounds.collect()),
        whole(&uavs, |uav| uav.uav.index()),
        ColumnValues::Texts(uavs.iter().map(status).collect()),
        number(&uavs, |uav| uav.position_m.x_m),
        number(&uavs, |uav| uav.position_m.y_m),
        whole(&uavs, |uav| uav.covered),
        whole(&uavs, |uav| uav.selected()),
        whole(&uavs, |uav| uav.local_iterations),
        number(&uavs, |uav| uav.edge_time_s),
        number(&uavs, |uav| uav.battery_before_j),
        number(&uavs, |uav| uav.battery_after_j),
        number(&uavs, |uav| uav.recharged_j),
        number(&uavs, |uav| uav.harvested_j),
    ];
    values.extend(EnergyItem::ALL.map(|item| number(&uavs, |uav| uav.energy.get(item))));
    values.extend(UavTime::columns().map(|(item, _)| number(&uavs, |uav| uav.time.get(item))));
    values.push(number(&uavs, |uav| uav.away_s));
    values.push(ColumnValues::IntegerLists(
        uavs.iter().map(devices).collect(),
    ));
    table("uavs", schema::uavs(), values)
}

/// A row for each device and round: `devices.jsonl`.
#[must_use]
pub fn devices_table(records: &[RoundRecord]) -> RunTable {
    let [mut rounds, mut ids, mut x_m, mut y_m, mut uavs] = [const { Vec::new() }; 5];
    for record in records {
        let seen = &record.devices;
        let rows = 0..seen.uav.len();
        rounds.extend(rows.clone().map(|_| Some(record.round as i64)));
        ids.extend(rows.map(|place| Some((place * seen.every) as i64)));
        x_m.extend(seen.x_m.iter().map(|x_m| Some(i64::from(*x_m))));
        y_m.extend(seen.y_m.iter().map(|y_m| Some(i64::from(*y_m))));
        uavs.extend(seen.uav.iter().map(|part| Some(i64::from(*part))));
    }
    let values = [rounds, ids, x_m, y_m, uavs].map(ColumnValues::Integers);
    table("devices", schema::device_rows(), values.into())
}

/// A row for each thing that happened: `events.jsonl`; what an event does not have is null.
#[must_use]
pub fn events_table(records: &[RoundRecord]) -> RunTable {
    let events = records.iter().flat_map(|record| &record.events);
    // Events are written as JSON by the run itself: this cannot fail.
    let rows: Vec<Value> = events
        .filter_map(|e| serde_json::to_value(e).ok())
        .collect();
    let columns = schema::events();
    let values = columns.iter().map(|column| event_values(column, &rows));
    let values = values.collect();
    table("events", columns, values)
}

fn event_values(column: &Column, rows: &[Value]) -> ColumnValues {
    let cells = rows.iter().map(|row| row.get(&*column.name));
    let list = |cell: Option<&Value>| cell.and_then(Value::as_array).cloned();
    match column.kind {
        Kind::Boolean => ColumnValues::Booleans(cells.map(|c| c?.as_bool()).collect()),
        Kind::Integer => ColumnValues::Integers(cells.map(|c| c?.as_i64()).collect()),
        Kind::Number => ColumnValues::Numbers(cells.map(|c| c?.as_f64()).collect()),
        Kind::Text => ColumnValues::Texts(cells.map(|c| c?.as_str().map(Into::into)).collect()),
        // Numbers of UAVs have no unit, positions are in metres.
        Kind::List if column.unit.is_empty() => ColumnValues::IntegerLists(
            cells
                .map(|cell| list(cell)?.iter().map(Value::as_i64).collect())
                .collect(),
        ),
        Kind::List => ColumnValues::NumberLists(
            cells
                .map(|cell| list(cell)?.iter().map(Value::as_f64).collect())
                .collect(),
        ),
    }
}

fn table(name: &'static str, columns: Vec<Column>, values: Vec<ColumnValues>) -> RunTable {
    debug_assert_eq!(columns.len(), values.len(), "the schema of {name}");
    RunTable {
        name,
        columns: columns.into_iter().zip(values).collect(),
    }
}
