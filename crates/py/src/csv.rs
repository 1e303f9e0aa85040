//! Tables of ours that are written as comma-separated values, as Arrow.

use std::sync::Arc;

use aerofed::record::schema::{Column, Kind};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use pyo3::prelude::*;

use crate::errors::broken;
use crate::table::NativeTable;

/// A table with a header; an empty cell is null.
pub(crate) fn table(columns: &[Column], text: &str) -> PyResult<NativeTable> {
    let mut rows = rows(text).into_iter();
    let header = rows.next().unwrap_or_default();
    let rows: Vec<Vec<String>> = rows.collect();
    let column = |(place, name): (usize, &String)| {
        let known = columns.iter().find(|column| column.name == *name);
        let column = known.ok_or_else(|| broken(format!("no column {name:?} in the schema")))?;
        let cells: Option<Vec<&str>> = rows
            .iter()
            .map(|row| row.get(place).map(String::as_str))
            .collect();
        let cells = cells.ok_or_else(|| broken(format!("{name}: a row is too short")))?;
        Ok((column.clone(), array(column.kind, &cells)))
    };
    let all: PyResult<Vec<(Column, ArrayRef)>> = header.iter().enumerate().map(column).collect();
    NativeTable::new(all?)
}

fn array(kind: Kind, cells: &[&str]) -> ArrayRef {
    let cells = cells.iter().copied();
    match kind {
        Kind::Integer => Arc::new(cells.map(|c| c.parse().ok()).collect::<Int64Array>()),
        Kind::Number => Arc::new(cells.map(|c| c.parse().ok()).collect::<Float64Array>()),
        Kind::Boolean => Arc::new(
            cells
                .map(|c| c.parse::<bool>().ok())
                .collect::<BooleanArray>(),
        ),
        Kind::Text | Kind::List => {
            let text = |cell| Some(cell).filter(|cell: &&str| !cell.is_empty());
            Arc::new(cells.map(text).collect::<StringArray>())
        }
    }
}

/// The cells of each line, without quotes.
fn rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut characters) = (false, text.chars().peekable());
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            other => cell.push(other),
        }
    }
    rows
}
