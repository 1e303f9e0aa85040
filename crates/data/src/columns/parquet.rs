//! Columns as a Parquet file.

use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::{ColumnValues, NamedColumn};
use crate::Error;

/// The bytes of a Parquet file with these columns, which have the same number of rows. The same columns give the same bytes.
///
/// # Errors
/// When two columns have the same name, or not as many rows as each other; messages call the file `path`.
pub fn parquet(path: &Path, columns: &[NamedColumn]) -> Result<Vec<u8>, Error> {
    written(columns).map_err(|error| Error::Table {
        path: path.into(),
        problem: error.to_string(),
    })
}

fn written(columns: &[NamedColumn]) -> Result<Vec<u8>, ParquetError> {
    let fields: Result<Vec<TypePtr>, ParquetError> = columns.iter().map(field).collect();
    let schema = Type::group_type_builder("table").with_fields(fields?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(
        &mut bytes,
        Arc::new(schema.build()?),
        Arc::new(properties.build()),
    )?;
    let mut group = file.next_row_group()?;
    for column in columns {
        match &column.values {
            ColumnValues::Integers(values) => write::<Int64Type>(&mut group, values)?,
            ColumnValues::Numbers(values) => write::<DoubleType>(&mut group, values)?,
            ColumnValues::Booleans(values) => write::<BoolType>(&mut group, values)?,
            ColumnValues::Texts(values) => {
                let bytes = |text: &Option<String>| text.as_deref().map(ByteArray::from);
                let values: Vec<Option<ByteArray>> = values.iter().map(bytes).collect();
                write::<ByteArrayType>(&mut group, &values)?;
            }
            ColumnValues::IntegerLists(lists) => write_lists::<Int64Type>(&mut group, lists)?,
            ColumnValues::NumberLists(lists) => write_lists::<DoubleType>(&mut group, lists)?,
        }
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

fn field(column: &NamedColumn) -> Result<TypePtr, ParquetError> {
    let physical = match column.values {
        ColumnValues::Integers(_) => Physical::INT64,
        ColumnValues::Numbers(_) => Physical::DOUBLE,
        ColumnValues::Booleans(_) => Physical::BOOLEAN,
        ColumnValues::Texts(_) => Physical::BYTE_ARRAY,
        ColumnValues::IntegerLists(_) => return list(&column.name, Physical::INT64),
        ColumnValues::NumberLists(_) => return list(&column.name, Physical::DOUBLE),
    };
    let field = Type::primitive_type_builder(&column.name, physical);
    let field = match column.values {
        ColumnValues::Texts(_) => field
            .with_logical_type(Some(LogicalType::String))
            .with_converted_type(ConvertedType::UTF8),
        _ => field,
    };
    Ok(Arc::new(
        field.with_repetition(Repetition::OPTIONAL).build()?,
    ))
}

/// A list as Parquet has it: a group of elements, repeated, in a group that may be missing.
fn list(name: &str, physical: Physical) -> Result<TypePtr, ParquetError> {
    let element = Type::primitive_type_builder("element", physical)
        .with_repetition(Repetition::REQUIRED)
        .build()?;
    let elements = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    let field = Type::group_type_builder(name)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::List))
        .with_converted_type(ConvertedType::LIST)
        .with_fields(vec![Arc::new(elements)]);
    Ok(Arc::new(field.build()?))
}

type Group<'a, 'b> = SerializedRowGroupWriter<'a, &'b mut Vec<u8>>;

fn write<T: DataType>(group: &mut Group, values: &[Option<T::T>]) -> Result<(), ParquetError> {
    let there: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
    let known: Vec<T::T> = values.iter().flatten().cloned().collect();
    write_column::<T>(group, &known, &there, None)
}

fn write_lists<T: DataType>(
    group: &mut Group,
    lists: &[Option<Vec<T::T>>],
) -> Result<(), ParquetError> {
    // How much of a row is there: 0 no list, 1 an empty one, 2 an element. Repeated: 0 begins a row, 1 goes on with it.
    let (mut there, mut repeated, mut known) = (Vec::new(), Vec::new(), Vec::new());
    for list in lists {
        let elements = list.as_deref().unwrap_or_default();
        match elements.len() {
            0 => {
                there.push(i16::from(list.is_some()));
                repeated.push(0);
            }
            count => {
                there.extend(std::iter::repeat_n(2, count));
                repeated.extend((0..count).map(|place| i16::from(place > 0)));
                known.extend_from_slice(elements);
            }
        }
    }
    write_column::<T>(group, &known, &there, Some(&repeated))
}

fn write_column<T: DataType>(
    group: &mut Group,
    known: &[T::T],
    there: &[i16],
    repeated: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("more columns than fields".into()));
    };
    let writer = column.typed::<T>();
    writer.write_batch(known, Some(there), repeated)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    fn columns() -> Vec<NamedColumn> {
        let column = |name: &str, values| NamedColumn {
            name: name.into(),
            values,
        };
        vec![
            column(
                "uavs.count",
                ColumnValues::Integers(vec![Some(3), None, Some(-5)]),
            ),
            column(
                "time_s",
                ColumnValues::Numbers(vec![Some(0.1), Some(1e300), None]),
            ),
            column(
                "reached",
                ColumnValues::Booleans(vec![Some(true), Some(false), None]),
            ),
            column(
                "label",
                ColumnValues::Texts(vec![Some("a, b".into()), None, Some(String::new())]),
            ),
            column(
                "devices",
                ColumnValues::IntegerLists(vec![Some(vec![4, -1, 7]), None, Some(Vec::new())]),
            ),
            column(
                "to_m",
                ColumnValues::NumberLists(vec![None, Some(vec![0.5]), Some(vec![1.0, 2.0])]),
            ),
        ]
    }

    #[test]
    fn what_was_written_is_read_back_and_is_the_same_bytes_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("table.parquet");
        let bytes = parquet(&path, &columns()).unwrap();
        assert_eq!(bytes, parquet(&path, &columns()).unwrap());
        std::fs::write(&path, &bytes).unwrap();
        let table = Table::read(&path).unwrap();
        assert_eq!(table.rows(), 3);
        assert_eq!(table.words("uavs.count").unwrap(), ["3", "", "-5"]);
        assert_eq!(table.words("label").unwrap(), ["a, b", "", ""]);
        assert_eq!(table.words("reached").unwrap(), ["true", "false", ""]);
        assert_eq!(table.words("devices").unwrap(), ["[4, -1, 7]", "", "[]"]);
        assert_eq!(table.words("to_m").unwrap(), ["", "[0.5]", "[1.0, 2.0]"]);
        let times = table.words("time_s").unwrap();
        assert_eq!(times[0], "0.1");
        assert_eq!(times[1].parse(), Ok(1e300));
        let none = parquet(&path, &[]).unwrap();
        std::fs::write(&path, none).unwrap();
        assert_eq!(Table::read(&path).unwrap().rows(), 0);
    }

    #[test]
    fn columns_of_different_lengths_are_refused() {
        let mut columns = columns();
        columns[2].values = ColumnValues::Booleans(vec![None]);
        let told = parquet(Path::new("t.parquet"), &columns).unwrap_err();
        assert!(told.to_string().contains("t.parquet"), "{told}");
    }
}
