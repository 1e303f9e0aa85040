//! One global round.

use aerofed::RoundRecord;
use aerofed::record::{EnergyItem, TimeItem};
use aerofed::world::Status;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::broken;
use crate::json::to_python;

/// What a global round left behind.
#[pyclass(frozen, module = "aerofed._aerofed")]
pub(crate) struct Round {
    pub(crate) record: RoundRecord,
}

/// A table of seconds or joules as a dictionary.
fn items<'py>(
    py: Python<'py>,
    items: impl Iterator<Item = (&'static str, f64)>,
) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    for (name, amount) in items {
        table.set_item(name, amount)?;
    }
    Ok(table)
}

#[pymethods]
impl Round {
    /// Its number, from 1.
    #[getter]
    fn round(&self) -> usize {
        self.record.round
    }

    /// Simulated time at its end, s.
    #[getter]
    fn clock_s(&self) -> f64 {
        self.record.clock_s
    }

    /// Energy spent since the start, devices and UAVs, J.
    #[getter]
    fn cumulative_energy_j(&self) -> f64 {
        self.record.cumulative_energy_j
    }

    /// How long it took, s.
    #[getter]
    fn time_s(&self) -> f64 {
        self.record.time.total_s()
    }

    /// What it took, J.
    #[getter]
    fn energy_j(&self) -> f64 {
        self.record.energy.spent_j()
    }

    /// Accuracy of the global model on the test set, 0 to 1.
    #[getter]
    fn test_accuracy(&self) -> f64 {
        self.record.test_accuracy
    }

    /// Its cross-entropy there.
    #[getter]
    fn test_loss(&self) -> f64 {
        self.record.test_loss
    }

    /// Its accuracy on the validation samples.
    #[getter]
    fn validation_accuracy(&self) -> f64 {
        self.record.validation_accuracy
    }

    /// Its cross-entropy there.
    #[getter]
    fn validation_loss(&self) -> f64 {
        self.record.validation_loss
    }

    /// Mean loss of the local steps; NaN when nobody trained.
    #[getter]
    fn train_loss(&self) -> f64 {
        self.record.train_loss
    }

    /// Edge rounds, K.
    #[getter]
    fn edge_rounds(&self) -> usize {
        self.record.edge_rounds
    }

    /// Devices that some UAV covers.
    #[getter]
    fn covered(&self) -> usize {
        self.record.covered
    }

    /// Devices that trained.
    #[getter]
    fn selected(&self) -> usize {
        self.record.selected
    }

    /// Device updates that never reached the global model.
    #[getter]
    fn updates_lost(&self) -> usize {
        self.record.updates_lost
    }

    /// UAVs above their cells at its end.
    #[getter]
    fn active_uavs(&self) -> usize {
        let uavs = self.record.uavs.iter();
        uavs.filter(|uav| uav.status == Status::Active).count()
    }

    /// The UAV that merged; none when nothing was merged.
    #[getter]
    fn aggregator(&self) -> Option<u32> {
        self.record.aggregator.map(|uav| uav.0)
    }

    /// Norm of the change of the global model.
    #[getter]
    fn model_change(&self) -> f64 {
        self.record.model_change
    }

    /// Seconds by item.
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let time = &self.record.time;
        items(
            py,
            TimeItem::ALL.into_iter().map(|i| (i.name(), time.get(i))),
        )
    }

    /// Joules by item.
    #[getter]
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let energy = &self.record.energy;
        items(
            py,
            EnergyItem::ALL
                .into_iter()
                .map(|i| (i.name(), energy.get(i))),
        )
    }

    /// What happened, a dictionary each.
    #[getter]
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let told = |event| {
            let json = serde_json::to_value(event).map_err(broken)?;
            to_python(py, &json)
        };
        self.record.events.iter().map(told).collect()
    }

    /// The devices that trained with each UAV.
    #[getter]
    fn selection(&self) -> Vec<Vec<u32>> {
        let ids = |uav: &aerofed::record::UavRecord| uav.devices.iter().map(|d| d.0).collect();
        self.record.uavs.iter().map(ids).collect()
    }

    fn __repr__(&self) -> String {
        let record = &self.record;
        format!(
            "Round(round={}, test_accuracy={}, clock_s={}, cumulative_energy_j={}, selected={})",
            record.round,
            record.test_accuracy,
            record.clock_s,
            record.cumulative_energy_j,
            record.selected
        )
    }
}
