//! The one table of a sweep: a row a run, what was varied in columns.

use aerofed::record::schema::{Column, FileSchema, Kind, header};
use aerofed_data::{ColumnValues, NamedColumn};

use super::{SweepCase, SweepPlan};
use crate::csv::line;
use crate::tidy::{RUN, WHO, plain, varied_column};

/// A table in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepTable {
    /// What its columns mean.
    pub columns: Vec<Column>,
    /// Its cells as text; empty where there is no value.
    pub rows: Vec<Vec<String>>,
}

/// What `sweep.csv` and `sweep.parquet` hold, with a column for each axis.
#[must_use]
pub fn file(axes: &[String]) -> FileSchema {
    // Label, method and seed: what else tells runs of comparisons apart, a sweep does not have.
    let who = WHO[2..].iter().cloned();
    let varied = axes.iter().map(|path| varied_column(path));
    FileSchema {
        file: "sweep.csv",
        row: "a run",
        columns: who.chain(varied).chain(RUN.iter().cloned()).collect(),
    }
}

impl SweepTable {
    /// The table of some runs; `rows` has the cells of each case that a run alone tells.
    #[must_use]
    pub fn new(plan: &SweepPlan, cases: &[SweepCase], rows: &[Vec<String>]) -> Self {
        let paths: Vec<String> = plan.axes.iter().map(|axis| axis.path.clone()).collect();
        let mut columns = file(&paths).columns;
        let row = |(case, cells): (&SweepCase, &Vec<String>)| {
            let contender = &plan.contenders[case.contender];
            let mut row = vec![
                contender.label.clone(),
                contender.method.clone(),
                case.run.scenario.seed.to_string(),
            ];
            row.extend(plan.values(case.point).iter().map(|value| plain(value)));
            row.extend(cells.iter().cloned());
            row
        };
        let rows: Vec<Vec<String>> = cases.iter().zip(rows).map(row).collect();
        let first = columns.len() - RUN.len() - paths.len();
        for (place, column) in columns.iter_mut().enumerate().skip(first).take(paths.len()) {
            column.kind = kind(rows.iter().map(|row| row[place].as_str()));
        }
        Self { columns, rows }
    }

    /// As comma-separated values.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut text = header(&self.columns) + "\n";
        self.rows.iter().for_each(|row| text += &line(row));
        text
    }

    /// Its columns by type, for a Parquet file.
    #[must_use]
    pub fn typed(&self) -> Vec<NamedColumn> {
        let typed = |(place, column): (usize, &Column)| {
            let cells = self.rows.iter().map(|row| row[place].as_str());
            let values = match column.kind {
                Kind::Integer => ColumnValues::Integers(cells.map(|c| c.parse().ok()).collect()),
                Kind::Number => ColumnValues::Numbers(cells.map(|c| c.parse().ok()).collect()),
                Kind::Boolean => ColumnValues::Booleans(cells.map(|c| c.parse().ok()).collect()),
                Kind::Text | Kind::List => {
                    let text = |cell: &str| (!cell.is_empty()).then(|| cell.to_owned());
                    ColumnValues::Texts(cells.map(text).collect())
                }
            };
            NamedColumn {
                name: column.name.clone().into_owned(),
                values,
            }
        };
        self.columns.iter().enumerate().map(typed).collect()
    }

    /// The values of a column as numbers; NaN where there is none.
    #[must_use]
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        let place = self.columns.iter().position(|column| column.name == name);
        let number = |row: &Vec<String>| {
            let cell = place.and_then(|place| row.get(place));
            cell.and_then(|cell| cell.parse().ok()).unwrap_or(f64::NAN)
        };
        self.rows.iter().map(number).collect()
    }
}

/// The narrowest type that holds all cells.
fn kind<'a>(cells: impl Iterator<Item = &'a str> + Clone) -> Kind {
    let all = |fits: fn(&str) -> bool| cells.clone().all(fits);
    if all(|cell| cell.parse::<i64>().is_ok()) {
        Kind::Integer
    } else if all(|cell| cell.parse::<f64>().is_ok()) {
        Kind::Number
    } else if all(|cell| cell.parse::<bool>().is_ok()) {
        Kind::Boolean
    } else {
        Kind::Text
    }
}
