//! Tables as Arrow has them, which pandas, polars, duckdb and pyarrow read where they lie.

use std::collections::HashMap;
use std::sync::Arc;

use aerofed::record::schema::Column;
use aerofed_data::ColumnValues;
use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch,
    RecordBatchIterator, StringArray,
};
use arrow_schema::{DataType, Field, Schema};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

use crate::errors::{broken, refuse};

/// A table in memory.
#[pyclass(frozen, module = "aerofed._aerofed")]
pub(crate) struct NativeTable {
    batch: RecordBatch,
}

impl NativeTable {
    /// A table of columns, each with what it means.
    pub(crate) fn new(columns: Vec<(Column, ColumnValues)>) -> PyResult<Self> {
        let field = |(column, array): &(Column, ArrayRef)| {
            let mut about = HashMap::new();
            about.insert("description".into(), column.description.clone().into());
            if !column.unit.is_empty() {
                about.insert("unit".into(), column.unit.clone().into());
            }
            let nullable = array.null_count() > 0;
            Field::new(&*column.name, array.data_type().clone(), nullable).with_metadata(about)
        };
        let columns: Vec<(Column, ArrayRef)> = columns
            .into_iter()
            .map(|(column, values)| (column, array(values)))
            .collect();
        let fields: Vec<Field> = columns.iter().map(field).collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        Ok(Self {
            batch: batch.map_err(broken)?,
        })
    }
}

/// Values as Arrow has them.
fn array(values: ColumnValues) -> ArrayRef {
    match values {
        ColumnValues::Integers(values) => Arc::new(Int64Array::from(values)),
        ColumnValues::Numbers(values) => Arc::new(Float64Array::from(values)),
        ColumnValues::Booleans(values) => Arc::new(BooleanArray::from(values)),
        ColumnValues::Texts(values) => Arc::new(StringArray::from(values)),
        ColumnValues::IntegerLists(lists) => list_array::<Int64Type>(lists),
        ColumnValues::NumberLists(lists) => list_array::<Float64Type>(lists),
    }
}

fn list_array<T: ArrowPrimitiveType>(lists: Vec<Option<Vec<T::Native>>>) -> ArrayRef {
    let each = |list: Option<Vec<T::Native>>| list.map(|list| list.into_iter().map(Some));
    Arc::new(ListArray::from_iter_primitive::<T, _, _>(
        lists.into_iter().map(each),
    ))
}

#[pymethods]
impl NativeTable {
    /// The Arrow PyCapsule interface: the buffers themselves, not copies.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A request that the protocol lets a producer ignore: columns have one type each.
        _ = requested_schema;
        let reader = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The names and types of the columns, for Arrow.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.batch.schema()).map_err(broken)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The first rows.
    fn head(&self, rows: usize) -> Self {
        let rows = rows.min(self.batch.num_rows());
        let batch = self.batch.slice(0, rows);
        Self { batch }
    }

    /// Name, unit and meaning of each column.
    fn columns(&self) -> Vec<(String, String, String)> {
        let schema = self.batch.schema();
        let told = |field: &Arc<Field>| {
            let about = |key: &str| field.metadata().get(key).cloned().unwrap_or_default();
            (field.name().clone(), about("unit"), about("description"))
        };
        schema.fields().iter().map(told).collect()
    }

    /// One column: a numpy array where every row has a number, a list otherwise.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let Some(array) = self.batch.column_by_name(name) else {
            return Err(refuse(format!("no column {name:?}")));
        };
        if array.null_count() == 0 {
            match array.data_type() {
                DataType::Float64 => {
                    let values = array.as_primitive::<Float64Type>().values();
                    return Ok(PyArray1::from_slice(py, values).into_any());
                }
                DataType::Int64 => {
                    let values = array.as_primitive::<Int64Type>().values();
                    return Ok(PyArray1::from_slice(py, values).into_any());
                }
                DataType::Boolean => {
                    let values: Vec<bool> = array.as_boolean().values().iter().collect();
                    return Ok(values.into_pyarray(py).into_any());
                }
                _ => {}
            }
        }
        let values: PyResult<Vec<Bound<PyAny>>> =
            (0..array.len()).map(|row| value(py, array, row)).collect();
        Ok(PyList::new(py, values?)?.into_any())
    }
}

/// What stands in a row of a column.
fn value<'py>(py: Python<'py>, array: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match array.data_type() {
        DataType::Float64 => {
            let number = array.as_primitive::<Float64Type>().value(row);
            number.into_pyobject(py)?.into_any()
        }
        DataType::Int64 => {
            let number = array.as_primitive::<Int64Type>().value(row);
            number.into_pyobject(py)?.into_any()
        }
        DataType::Boolean => {
            let truth = array.as_boolean().value(row);
            truth.into_pyobject(py)?.to_owned().into_any()
        }
        DataType::Utf8 => {
            let text = array.as_string::<i32>().value(row);
            text.into_pyobject(py)?.into_any()
        }
        DataType::List(_) => {
            let inner = array.as_list::<i32>().value(row);
            let values: PyResult<Vec<Bound<PyAny>>> =
                (0..inner.len()).map(|row| value(py, &inner, row)).collect();
            PyList::new(py, values?)?.into_any()
        }
        other => return Err(broken(format!("a column of {other}"))),
    })
}
