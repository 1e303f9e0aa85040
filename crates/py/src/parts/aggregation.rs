//! How models are merged, in Python.

use std::sync::Arc;

use aerofed::learn::aggregation::{Aggregation, Fold};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::Part;

/// An `aerofed.Aggregation`.
pub(crate) struct OwnAggregation {
    pub(crate) part: Arc<Part>,
}

/// Models that wait to be merged: Python gets them all at once.
struct Waiting {
    part: Arc<Part>,
    parameters: usize,
    models: Vec<f32>,
    weights: Vec<f64>,
}

impl Aggregation for OwnAggregation {
    fn begin(&self, parameters: usize, _: f64) -> Box<dyn Fold> {
        Box::new(Waiting {
            part: Arc::clone(&self.part),
            parameters,
            models: Vec::new(),
            weights: Vec::new(),
        })
    }
}

impl Fold for Waiting {
    fn add(&mut self, model: &[f32], weight: f64) {
        self.models.extend_from_slice(model);
        self.weights.push(weight);
    }

    fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    fn finish(self: Box<Self>) -> Option<Vec<f32>> {
        let Self {
            part,
            parameters,
            models,
            weights,
        } = *self;
        if weights.is_empty() {
            return None;
        }
        part.ask(|part| {
            let py = part.py();
            let models = PyArray1::from_vec(py, models).reshape([weights.len(), parameters])?;
            let weights = PyArray1::from_vec(py, weights);
            let merged = part.call_method1("merge", (models, weights))?;
            let merged = model(&merged)?;
            match merged.len() == parameters {
                true => Ok(merged),
                false => Err(PyValueError::new_err(format!(
                    "`merge` returned {} numbers, allowed: {parameters}, as each model has",
                    merged.len()
                ))),
            }
        })
    }
}

/// Numbers of a model, from an array of any shape and kind of float.
pub(super) fn model(answer: &Bound<PyAny>) -> PyResult<Vec<f32>> {
    if let Ok(array) = answer.cast::<PyArray1<f32>>()
        && let Ok(values) = array.to_vec()
    {
        return Ok(values);
    }
    let numpy = answer.py().import("numpy")?;
    let flat = numpy.call_method1("ascontiguousarray", (answer, "float32"))?;
    let flat = flat.call_method1("reshape", (-1,))?;
    Ok(flat.cast_into::<PyArray1<f32>>()?.to_vec()?)
}
