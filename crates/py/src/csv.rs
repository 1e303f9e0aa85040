//! Tables of ours that are written as comma-separated values.

use std::path::Path;

use aerofed::record::schema::{Column, Kind};
use aerofed_data::{ColumnValues, Table};
use pyo3::prelude::*;

use crate::errors::{broken, raise};
use crate::table::NativeTable;

/// A table with a header, which messages call `name`; an empty cell is null.
pub(crate) fn table(name: &str, columns: &[Column], text: &str) -> PyResult<NativeTable> {
    let table = Table::from_csv(Path::new(name), text).map_err(|error| raise(error.into()))?;
    let column = |name: &String| {
        let known = columns.iter().find(|column| column.name == *name);
        let column = known.ok_or_else(|| broken(format!("no column {name:?} in the schema")))?;
        let cells = table.words(name).map_err(|error| raise(error.into()))?;
        Ok((column.clone(), typed(column.kind, &cells)))
    };
    NativeTable::new(table.names().iter().map(column).collect::<PyResult<_>>()?)
}

fn typed(kind: Kind, cells: &[&str]) -> ColumnValues {
    let cells = cells.iter();
    match kind {
        Kind::Integer => ColumnValues::Integers(cells.map(|c| c.parse().ok()).collect()),
        Kind::Number => ColumnValues::Numbers(cells.map(|c| c.parse().ok()).collect()),
        Kind::Boolean => ColumnValues::Booleans(cells.map(|c| c.parse().ok()).collect()),
        Kind::Text | Kind::List => {
            let text = |cell: &&str| Some((*cell).to_owned()).filter(|cell| !cell.is_empty());
            ColumnValues::Texts(cells.map(text).collect())
        }
    }
}
