//! What goes wrong, as exceptions: a `ValueError` where the input is to blame, with the text of the command line.

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// The exception of an error of the simulator.
pub(crate) fn raise(error: aerofed::Error) -> PyErr {
    let text = error.to_string();
    match error {
        aerofed::Error::Interrupted => PyKeyboardInterrupt::new_err(text),
        aerofed::Error::Io { .. } => PyOSError::new_err(text),
        error if error.is_bad_input() => PyValueError::new_err(text),
        aerofed::Error::Data(_) => PyOSError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

/// The exception of bad input.
pub(crate) fn refuse(reason: impl ToString) -> PyErr {
    PyValueError::new_err(reason.to_string())
}

/// The exception of what cannot go on, whatever the input.
pub(crate) fn broken(reason: impl ToString) -> PyErr {
    PyRuntimeError::new_err(reason.to_string())
}

/// The exception of an error of an experiment.
pub(crate) fn experiment(error: aerofed_experiment::Error) -> PyErr {
    match error {
        aerofed_experiment::Error::Run(error) => raise(error),
        other => refuse(other),
    }
}

/// The exception of an error of a report.
pub(crate) fn report(error: aerofed_report::Error) -> PyErr {
    match error {
        aerofed_report::Error::Run(error) => raise(error),
        aerofed_report::Error::Experiment(error) => experiment(error),
        other => refuse(other),
    }
}
