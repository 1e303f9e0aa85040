//! Parts that people write in Python, behind the seams of the simulator.
//!
//! The simulator runs without holding Python; a part takes hold of it when it is called. An exception ends the run: it is kept
//! until whoever started the run can raise it, and the round in which it was raised does not count.

mod aggregation;
mod allocation;
mod arrays;
mod association;
mod learner;
mod redeployment;
mod scene;

use std::sync::{Arc, Mutex, PoisonError};

use aerofed::Error;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

pub(crate) use aggregation::OwnAggregation;
pub(crate) use allocation::OwnAllocation;
pub(crate) use association::OwnAssociation;
pub(crate) use learner::{OwnDevices, OwnEvaluator, task};
pub(crate) use redeployment::OwnRedeployment;

/// The first exception of a run's parts.
#[derive(Clone, Default)]
pub(crate) struct Slot(Arc<Mutex<Option<PyErr>>>);

impl Slot {
    pub(crate) fn keep(&self, error: PyErr) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
    }

    /// What went wrong, in words.
    pub(crate) fn told(&self) -> Option<String> {
        let first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.as_ref().map(ToString::to_string)
    }

    /// What went wrong, to be raised.
    pub(crate) fn take(&self) -> Option<PyErr> {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.take()
    }
}

/// A Python object that decides something.
pub(crate) struct Part {
    object: Py<PyAny>,
    slot: Slot,
}

/// What a saved state begins with: whether `save` succeeded.
const SAVED: u8 = 0;
const NOT_SAVED: u8 = 1;

impl Part {
    /// A run's own copy of a part.
    pub(crate) fn copy(py: Python<'_>, object: &Py<PyAny>, slot: &Slot) -> PyResult<Self> {
        let deepcopy = py.import("copy")?.getattr("deepcopy")?;
        Ok(Self {
            object: deepcopy.call1((object,))?.unbind(),
            slot: slot.clone(),
        })
    }

    /// Asks Python; after an exception there is no answer.
    fn ask<T>(
        &self,
        question: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        Python::attach(|py| match question(self.object.bind(py)) {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.slot.keep(error);
                None
            }
        })
    }

    fn save(&self) -> Vec<u8> {
        let saved = self.ask(|part| {
            let state = part.call_method0("save")?;
            let bytes = state.cast::<PyBytes>();
            let bytes = bytes.map_err(|_| odd_answer("save", &state, "bytes"))?;
            Ok(bytes.as_bytes().to_vec())
        });
        match saved {
            Some(state) => [&[SAVED], &state[..]].concat(),
            None => vec![NOT_SAVED],
        }
    }

    fn restore(&self, part: &'static str, saved: &[u8]) -> Result<(), Error> {
        let refuse = |reason: String| Error::State { part, reason };
        let Some((&SAVED, state)) = saved.split_first() else {
            return Err(refuse("not saved by a part in Python".into()));
        };
        let restored = Python::attach(|py| {
            let object = self.object.bind(py);
            object.call_method1("restore", (PyBytes::new(py, state),))?;
            PyResult::Ok(())
        });
        restored.map_err(|error| refuse(error.to_string()))
    }
}

/// An object of a class of `aerofed._views`, which Python parts look at.
fn view<'py>(
    py: Python<'py>,
    class: &str,
    fields: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import("aerofed._views")?.getattr(class)?;
    class.call((), Some(fields))
}

/// The exception of an answer that is not of the kind that was asked for.
fn odd_answer(function: &str, answer: &Bound<PyAny>, allowed: &str) -> PyErr {
    let kind = answer.get_type();
    let kind = kind
        .name()
        .map_or_else(|_| kind.to_string(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "`{function}` returned a {kind}, allowed: {allowed}"
    ))
}

/// An exception that tells what it comes from.
fn caused(error: PyErr, cause: PyErr, py: Python<'_>) -> PyErr {
    error.set_cause(py, Some(cause));
    error
}

/// A failure in Python that ends a run where the simulator takes errors.
pub(crate) fn failed(slot: &Slot) -> Error {
    Error::Learner {
        reason: slot.told().unwrap_or_default(),
    }
}
