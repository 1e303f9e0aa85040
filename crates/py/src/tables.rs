//! The rounds of a run as tables, with the columns of its files (`docs/files.md`).

use std::sync::Arc;

use aerofed::RoundRecord;
use aerofed::record::schema::{self, Column, Kind};
use aerofed::record::{EnergyItem, TimeItem, UavRecord, UavTime};
use aerofed::world::Status;
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, PrimitiveBuilder, StringBuilder,
};
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type};
use arrow_array::{ArrayRef, Float64Array, Int32Array, Int64Array, StringArray};
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors::broken;
use crate::table::NativeTable;

/// `rounds.csv`.
pub(crate) fn rounds(records: &[RoundRecord]) -> PyResult<NativeTable> {
    let whole = |value: &dyn Fn(&RoundRecord) -> usize| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(
            records.iter().map(|record| value(record) as i64),
        ))
    };
    let number = |value: &dyn Fn(&RoundRecord) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(records.iter().map(value)))
    };
    let aggregators = records
        .iter()
        .map(|r| r.aggregator.map(|uav| i64::from(uav.0)));
    let active = |record: &RoundRecord| {
        let uavs = record.uavs.iter();
        uavs.filter(|uav| uav.status == Status::Active).count()
    };
    let mut arrays: Vec<ArrayRef> = vec![
        whole(&|r| r.round),
        number(&|r| r.clock_s),
        number(&|r| r.cumulative_energy_j),
        number(&|r| r.time.total_s()),
        number(&|r| r.energy.spent_j()),
        number(&|r| r.test_accuracy),
        number(&|r| r.test_loss),
        number(&|r| r.validation_accuracy),
        number(&|r| r.validation_loss),
        number(&|r| r.train_loss),
        whole(&|r| r.edge_rounds),
        number(&RoundRecord::mean_local_iterations),
        whole(&RoundRecord::most_local_iterations),
        whole(&|r| r.covered),
        whole(&|r| r.selected),
        whole(&|r| r.updates_computed),
        whole(&RoundRecord::updates_aggregated),
        whole(&|r| r.updates_lost),
        whole(&active),
        Arc::new(aggregators.collect::<Int64Array>()),
        number(&|r| r.model_change),
    ];
    arrays.extend(TimeItem::ALL.map(|item| number(&|r| r.time.get(item))));
    arrays.extend(EnergyItem::ALL.map(|item| number(&|r| r.energy.get(item))));
    joined(schema::rounds(), arrays)
}

/// `uavs.csv`.
pub(crate) fn uavs(records: &[RoundRecord]) -> PyResult<NativeTable> {
    let all: Vec<(usize, &UavRecord)> = records
        .iter()
        .flat_map(|record| record.uavs.iter().map(|uav| (record.round, uav)))
        .collect();
    let whole = |value: &dyn Fn(&UavRecord) -> usize| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(
            all.iter().map(|(_, uav)| value(uav) as i64),
        ))
    };
    let number = |value: &dyn Fn(&UavRecord) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(
            all.iter().map(|(_, uav)| value(uav)),
        ))
    };
    let rounds = all.iter().map(|(round, _)| *round as i64);
    let states = all.iter().map(|(_, uav)| uav.status.name());
    let mut arrays: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(rounds)),
        whole(&|uav| uav.uav.index()),
        Arc::new(StringArray::from_iter_values(states)),
        number(&|uav| uav.position_m.x_m),
        number(&|uav| uav.position_m.y_m),
        whole(&|uav| uav.covered),
        whole(&UavRecord::selected),
        whole(&|uav| uav.local_iterations),
        number(&|uav| uav.edge_time_s),
        number(&|uav| uav.battery_before_j),
        number(&|uav| uav.battery_after_j),
        number(&|uav| uav.recharged_j),
        number(&|uav| uav.harvested_j),
    ];
    arrays.extend(EnergyItem::ALL.map(|item| number(&|uav| uav.energy.get(item))));
    arrays.extend(UavTime::columns().map(|(item, _)| number(&|uav| uav.time.get(item))));
    arrays.push(number(&|uav| uav.away_s));
    let mut devices = ListBuilder::new(Int64Builder::new());
    for (_, uav) in &all {
        let ids = uav.devices.iter().map(|device| Some(i64::from(device.0)));
        devices.append_value(ids);
    }
    arrays.push(Arc::new(devices.finish()));
    joined(schema::uavs(), arrays)
}

#[rustfmt::skip]
const DEVICES: [Column; 5] = [
    Column::new("round", Kind::Integer, "", "Global round, from 1"),
    Column::new("device", Kind::Integer, "", "Which device, from 0"),
    Column::new("x_m", Kind::Integer, "m", "East of the area's corner"),
    Column::new("y_m", Kind::Integer, "m", "North of the area's corner"),
    Column::new("uav", Kind::Integer, "", "The UAV that it trained with; -1: covered and not selected, -2: not covered"),
];

/// `devices.jsonl`, a row for each device and round.
pub(crate) fn devices(records: &[RoundRecord]) -> PyResult<NativeTable> {
    let seen = || records.iter().map(|record| (record.round, &record.devices));
    let rows = seen().map(|(_, seen)| seen.uav.len()).sum();
    let (mut rounds, mut ids) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    for (round, seen) in seen() {
        rounds.extend(std::iter::repeat_n(round as i64, seen.uav.len()));
        ids.extend((0..seen.uav.len()).map(|place| (place * seen.every) as i64));
    }
    let mut x_m: Vec<i32> = Vec::with_capacity(rows);
    let mut y_m: Vec<i32> = Vec::with_capacity(rows);
    let mut uavs: Vec<i64> = Vec::with_capacity(rows);
    for (_, seen) in seen() {
        x_m.extend(&seen.x_m);
        y_m.extend(&seen.y_m);
        uavs.extend(seen.uav.iter().map(|part| i64::from(*part)));
    }
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(rounds)),
        Arc::new(Int64Array::from(ids)),
        Arc::new(Int32Array::from(x_m)),
        Arc::new(Int32Array::from(y_m)),
        Arc::new(Int64Array::from(uavs)),
    ];
    joined(DEVICES.into(), arrays)
}

/// `events.jsonl`; what an event does not have is null.
pub(crate) fn events(records: &[RoundRecord]) -> PyResult<NativeTable> {
    let events = records.iter().flat_map(|record| &record.events);
    let rows: Result<Vec<Value>, _> = events.map(serde_json::to_value).collect();
    let rows = rows.map_err(broken)?;
    let files = schema::run_files().into_iter();
    let columns = files
        .filter(|file| file.file == "events.jsonl")
        .flat_map(|file| file.columns);
    let columns = columns.map(|column| {
        let array = event_column(&column, &rows);
        (column, array)
    });
    NativeTable::new(columns.collect())
}

fn event_column(column: &Column, rows: &[Value]) -> ArrayRef {
    let cells = rows.iter().map(|row| row.get(&*column.name));
    match (&*column.name, column.kind) {
        ("worthwhile", _) | (_, Kind::Boolean) => {
            let mut array = BooleanBuilder::new();
            cells.for_each(|cell| array.append_option(cell.and_then(Value::as_bool)));
            Arc::new(array.finish())
        }
        ("uavs", _) => lists(cells, Value::as_i64, PrimitiveBuilder::<Int64Type>::new()),
        (_, Kind::List) => lists(cells, Value::as_f64, PrimitiveBuilder::<Float64Type>::new()),
        (_, Kind::Integer) => {
            let mut array = Int64Builder::new();
            cells.for_each(|cell| array.append_option(cell.and_then(Value::as_i64)));
            Arc::new(array.finish())
        }
        (_, Kind::Number) => {
            let mut array = Float64Builder::new();
            cells.for_each(|cell| array.append_option(cell.and_then(Value::as_f64)));
            Arc::new(array.finish())
        }
        (_, Kind::Text) => {
            let mut array = StringBuilder::new();
            cells.for_each(|cell| array.append_option(cell.and_then(Value::as_str)));
            Arc::new(array.finish())
        }
    }
}

fn lists<'a, T: ArrowPrimitiveType>(
    cells: impl Iterator<Item = Option<&'a Value>>,
    read: fn(&Value) -> Option<T::Native>,
    builder: PrimitiveBuilder<T>,
) -> ArrayRef {
    let mut array = ListBuilder::new(builder);
    for cell in cells {
        let values = cell.and_then(Value::as_array);
        array.append_option(values.map(|values| values.iter().map(read)));
    }
    Arc::new(array.finish())
}

/// Columns and what stands in them.
fn joined(columns: Vec<Column>, arrays: Vec<ArrayRef>) -> PyResult<NativeTable> {
    let (told, there) = (columns.len(), arrays.len());
    if told != there {
        return Err(broken(format!("{there} columns, the schema has {told}")));
    }
    NativeTable::new(columns.into_iter().zip(arrays).collect())
}
