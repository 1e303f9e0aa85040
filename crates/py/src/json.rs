//! JSON as Python's own objects.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;

/// Dictionaries, lists, numbers and texts.
pub(crate) fn to_python<'py>(py: Python<'py>, json: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match json {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, Some(whole)) => whole.into_pyobject(py)?.into_any(),
            (None, None) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                number.into_pyobject(py)?.into_any()
            }
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(values) => {
            let values: PyResult<Vec<_>> = values.iter().map(|v| to_python(py, v)).collect();
            PyList::new(py, values?)?.into_any()
        }
        Value::Object(fields) => {
            let table = PyDict::new(py);
            for (name, value) in fields {
                table.set_item(name, to_python(py, value)?)?;
            }
            table.into_any()
        }
    })
}
