//! Tables in Parquet files.

use std::fs::File;
use std::panic::catch_unwind;
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use super::{Table, Words, refuse};
use crate::Error;

/// Rows at most: compressed columns may be larger than any memory.
const MAX_ROWS: i64 = 1 << 28;

/// Reads the columns of a Parquet file: numbers and words as they are, timestamps in seconds.
pub(super) fn read(path: &Path) -> Result<Table, Error> {
    let file = File::open(path).map_err(Error::io(path))?;
    // The reader trusts some of what a damaged file says.
    let rows = catch_unwind(|| rows(path, file));
    match rows {
        Ok(Ok(table)) => Ok(table),
        Ok(Err(error)) => Err(refuse(path, error.to_string())),
        Err(_) => Err(refuse(path, "is a damaged Parquet file".into())),
    }
}

fn rows(path: &Path, file: File) -> Result<Table, ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let metadata = reader.metadata().file_metadata();
    let count = metadata.num_rows();
    if count > MAX_ROWS {
        let problem = format!("{count} rows, at most {MAX_ROWS} are read");
        return Err(ParquetError::General(problem));
    }
    let fields = metadata.schema().get_fields();
    let names: Vec<String> = fields.iter().map(|field| field.name().into()).collect();
    let mut columns = vec![Words::default(); names.len()];
    for row in reader.get_row_iter(None)? {
        let row = row?;
        for (column, (_, field)) in columns.iter_mut().zip(row.get_column_iter()) {
            column.push(&word(field));
        }
    }
    Ok(Table {
        path: path.to_path_buf(),
        names,
        lines: Vec::new(),
        rows: columns.first().map_or(0, |column| column.ends.len()),
        columns,
    })
}

/// What a CSV file would have; nothing where there is no value.
fn word(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(word) => word.clone(),
        Field::Bytes(bytes) => String::from_utf8_lossy(bytes.data()).into_owned(),
        Field::Float(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        Field::TimestampMillis(time) => (*time as f64 / 1e3).to_string(),
        Field::TimestampMicros(time) => (*time as f64 / 1e6).to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    fn write(path: &Path) {
        let schema = "message tracks { required int64 id; required double t_s; required binary who (UTF8); }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let snappy = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let file = File::create(path).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema, Arc::new(snappy.build())).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut ids = group.next_column().unwrap().unwrap();
        let values = [7, -3, 7];
        ids.typed::<Int64Type>()
            .write_batch(&values, None, None)
            .unwrap();
        ids.close().unwrap();
        let mut times = group.next_column().unwrap().unwrap();
        let values = [0.1, 1e9 + 0.25, -2.0];
        times
            .typed::<DoubleType>()
            .write_batch(&values, None, None)
            .unwrap();
        times.close().unwrap();
        let mut words = group.next_column().unwrap().unwrap();
        let values = ["bus", "ship, fast", ""].map(ByteArray::from);
        words
            .typed::<ByteArrayType>()
            .write_batch(&values, None, None)
            .unwrap();
        words.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
    }

    #[test]
    fn columns_are_those_that_were_written_and_damage_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tracks");
        write(&path);
        // It is known by its bytes, not by its name.
        let table = Table::read(&path).unwrap();
        assert_eq!(table.rows(), 3);
        assert_eq!(table.numbers("id").unwrap(), [7.0, -3.0, 7.0]);
        assert_eq!(table.numbers("t_s").unwrap(), [0.1, 1e9 + 0.25, -2.0]);
        assert_eq!(table.words("who").unwrap(), ["bus", "ship, fast", ""]);
        assert_eq!(table.place(1), "row 2");
        let told = table.numbers("who").unwrap_err().to_string();
        assert!(told.contains("row 1, column `who`"), "{told}");

        let whole = fs::read(&path).unwrap();
        for length in 4..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(Table::read(&path).is_err(), "{length} bytes");
        }
        for byte in 4..whole.len() {
            let mut changed = whole.clone();
            changed[byte] ^= 0x55;
            fs::write(&path, &changed).unwrap();
            let _any_answer = Table::read(&path);
        }
    }
}
