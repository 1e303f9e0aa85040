//! How long devices train and on which bandwidth, chosen in Python.

use aerofed::Error;
use aerofed::decide::allocation::{Allocation, Cell, CellDevice, CellError, CellPlan};
use aerofed::vocabulary::UavId;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{Part, caused, odd_answer, view};

/// An `aerofed.Allocation`.
pub(crate) struct OwnAllocation {
    pub(crate) part: Part,
}

impl Allocation for OwnAllocation {
    fn allocate(&mut self, uav: UavId, cell: &Cell) -> Result<CellPlan, CellError> {
        let plan = self.part.ask(|part| {
            let seen = shown(part.py(), uav, cell)?;
            let answer = part.call_method1("allocate", (seen,))?;
            read(&answer).map_err(|error| {
                let allowed = "an aerofed.Plan: a positive number of local iterations, and a bandwidth up and down for each device";
                caused(odd_answer("allocate", &answer, allowed), error, part.py())
            })
        });
        // No plan is an impossible one.
        Ok(plan.unwrap_or_default())
    }

    fn save(&self) -> Vec<u8> {
        self.part.save()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        self.part.restore("allocation", saved)
    }
}

fn read(answer: &Bound<PyAny>) -> PyResult<CellPlan> {
    let (local_iterations, up_hz, down_hz): (usize, Bound<PyAny>, Bound<PyAny>) =
        answer.extract()?;
    Ok(CellPlan {
        local_iterations,
        bandwidth_up_hz: shares(&up_hz)?,
        bandwidth_down_hz: shares(&down_hz)?,
    })
}

fn shares(answer: &Bound<PyAny>) -> PyResult<Vec<f64>> {
    let numbers = answer.try_iter()?;
    numbers.map(|number| number?.extract()).collect()
}

/// A number of a device.
type Quantity = fn(&CellDevice) -> f64;

/// `aerofed.Cell`.
fn shown<'py>(py: Python<'py>, uav: UavId, cell: &Cell) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    fields.set_item("uav", uav.0)?;
    for (name, value) in [
        ("energy_weight", cell.energy_weight),
        ("time_weight", cell.time_weight),
        ("hover_power_w", cell.hover_power_w),
        ("broadcast_power_w", cell.broadcast_power_w),
        ("bandwidth_up_hz", cell.bandwidth_up_hz),
        ("bandwidth_down_hz", cell.bandwidth_down_hz),
        ("model_bits_up", cell.model_bits_up),
        ("model_bits_down", cell.model_bits_down),
    ] {
        fields.set_item(name, value)?;
    }
    let columns: [(&str, Quantity); 5] = [
        ("snr_up_hz", |device| device.snr_up_hz),
        ("snr_down_hz", |device| device.snr_down_hz),
        ("tx_power_w", |device| device.tx_power_w),
        ("iteration_time_s", |device| device.iteration_time_s),
        ("iteration_energy_j", |device| device.iteration_energy_j),
    ];
    for (name, value) in columns {
        let values: Vec<f64> = cell.devices.iter().map(value).collect();
        fields.set_item(name, PyArray1::from_vec(py, values))?;
    }
    view(py, "Cell", &fields)
}
