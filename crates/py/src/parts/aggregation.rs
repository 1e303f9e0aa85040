//! How models are merged, in Python.

use std::sync::Arc;

use aerofed::Error;
use aerofed::learn::aggregation::{Aggregation, Fold};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{Part, caused, odd_answer};

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

    fn save(&self) -> Vec<u8> {
        self.part.save()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        self.part.restore("aggregation", saved)
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
            model("merge", &merged, parameters)
        })
    }
}

/// The numbers of a model that a function of a part answered with: an array of any shape and kind of float.
pub(super) fn model(function: &str, answer: &Bound<PyAny>, due: usize) -> PyResult<Vec<f32>> {
    let values = floats(function, answer)?;
    let found = values.len();
    if found != due {
        return Err(PyValueError::new_err(format!(
            "`{function}` returned {found} numbers, allowed: {due}, as each model has"
        )));
    }
    Ok(values)
}

/// Numbers of an array of any shape and kind of float.
pub(super) fn floats(function: &str, answer: &Bound<PyAny>) -> PyResult<Vec<f32>> {
    if let Ok(array) = answer.cast::<PyArray1<f32>>()
        && let Ok(values) = array.to_vec()
    {
        return Ok(values);
    }
    let py = answer.py();
    let flat = py
        .import("numpy")?
        .call_method1("asarray", (answer, "float32"))
        .and_then(|array| array.call_method1("ravel", ()));
    let flat = flat.map_err(|error| {
        let allowed = "an array of numbers";
        caused(odd_answer(function, answer, allowed), error, py)
    })?;
    Ok(flat.cast_into::<PyArray1<f32>>()?.to_vec()?)
}
