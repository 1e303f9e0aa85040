//! Models as numpy arrays, layer by layer.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use safetensors::SafeTensors;

use crate::errors::broken;

/// The tensors of a safetensors file, by name.
pub(crate) fn arrays<'py>(py: Python<'py>, file: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    let model = PyDict::new(py);
    let tensors = SafeTensors::deserialize(file).map_err(broken)?;
    let mut names = tensors.names();
    names.sort_unstable();
    for name in names {
        let tensor = tensors.tensor(name).map_err(broken)?;
        let words = tensor.data().as_chunks::<4>().0.iter();
        let values: Vec<f32> = words.map(|word| f32::from_le_bytes(*word)).collect();
        let array = PyArray1::from_vec(py, values).reshape(tensor.shape())?;
        model.set_item(name, array)?;
    }
    Ok(model)
}
