//! Numbers as numpy arrays.

use std::collections::HashMap;

use aerofed::vocabulary::Point;
use numpy::ndarray::Dimension;
use numpy::{Element, PyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::errors::broken;

/// A row of x and y for each point.
pub(super) fn points<'py>(
    py: Python<'py>,
    points: impl Iterator<Item = Point>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    rows(py, flat(points), 2)
}

/// Numbers behind each other as rows of so many.
pub(super) fn rows<'py>(
    py: Python<'py>,
    flat: Vec<f64>,
    columns: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = flat.len().checked_div(columns).unwrap_or_default();
    PyArray1::from_vec(py, flat).reshape([rows, columns])
}

pub(super) fn numbers<'py>(
    py: Python<'py>,
    values: impl Iterator<Item = f64>,
) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_vec(py, values.collect())
}

fn flat(points: impl Iterator<Item = Point>) -> Vec<f64> {
    points.flat_map(|point| [point.x_m, point.y_m]).collect()
}

/// Read-only arrays that go from one scene to the next for as long as their numbers stay the same.
#[derive(Default)]
pub(super) struct Kept(HashMap<&'static str, Py<PyAny>>);

impl Kept {
    pub(super) fn column<'py, T: Element + PartialEq>(
        &mut self,
        py: Python<'py>,
        name: &'static str,
        now: &[T],
    ) -> PyResult<Bound<'py, PyArray1<T>>> {
        self.array(py, name, now, || Ok(PyArray1::from_slice(py, now)))
    }

    /// A row of x and y for each point.
    pub(super) fn places<'py>(
        &mut self,
        py: Python<'py>,
        name: &'static str,
        now: impl Iterator<Item = Point>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let now = flat(now);
        self.array(py, name, &now, || {
            let rows = now.len() / 2;
            PyArray1::from_slice(py, &now).reshape([rows, 2])
        })
    }

    /// The array of this name, if it still holds what stands here behind each other, or else a new one.
    fn array<'py, T: Element + PartialEq, D: Dimension>(
        &mut self,
        py: Python<'py>,
        name: &'static str,
        now: &[T],
        make: impl FnOnce() -> PyResult<Bound<'py, PyArray<T, D>>>,
    ) -> PyResult<Bound<'py, PyArray<T, D>>> {
        if let Some(kept) = self.0.get(name)
            && let Ok(kept) = kept.bind(py).cast::<PyArray<T, D>>()
            && kept
                .try_readonly()
                .is_ok_and(|kept| kept.as_slice().is_ok_and(|kept| kept == now))
        {
            return Ok(kept.clone());
        }
        let array = make()?;
        read_only(&array)?;
        self.0.insert(name, array.clone().into_any().unbind());
        Ok(array)
    }
}

/// Makes an array one that nobody writes to.
pub(super) fn read_only<T: Element, D: Dimension>(array: &Bound<PyArray<T, D>>) -> PyResult<()> {
    let array = array.try_readwrite().map_err(broken)?;
    array.make_nonwriteable();
    Ok(())
}
