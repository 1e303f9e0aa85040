//! Tables of named columns, written as Parquet files.

#[cfg(feature = "parquet")]
mod parquet;

#[cfg(feature = "parquet")]
pub use parquet::parquet;

/// A column of a table to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedColumn {
    /// Its name.
    pub name: String,
    /// Its values, row by row.
    pub values: ColumnValues,
}

/// Values of one type; none where there is no value.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValues {
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// True or false.
    Booleans(Vec<Option<bool>>),
    /// Texts.
    Texts(Vec<Option<String>>),
    /// Several whole numbers.
    IntegerLists(Vec<Option<Vec<i64>>>),
    /// Several numbers.
    NumberLists(Vec<Option<Vec<f64>>>),
}
