//! What a selection rule looks at, and how it is told what came of it.

use aerofed::decide::association::{RoundOutcome, Scene};
use aerofed::world::Uav;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::arrays::{Kept, numbers, read_only, rows};
use super::view;

/// A number of a UAV.
type Quantity = fn(&Uav) -> f64;

/// The arrays of a run's last scene.
#[derive(Default)]
pub(super) struct LastScene {
    devices: Kept,
    uavs: Kept,
}

impl LastScene {
    /// `aerofed.Scene`: what has not changed since the last one is the same array.
    pub(super) fn next<'py>(
        &mut self,
        py: Python<'py>,
        scene: &Scene,
        fitness: Option<Vec<Vec<f64>>>,
        seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let covered: PyResult<Vec<_>> = scene
            .coverage
            .cells
            .iter()
            .map(|cell| {
                let ids = cell.iter().map(|device| i64::from(device.0));
                let ids = PyArray1::from_vec(py, ids.collect());
                read_only(&ids)?;
                Ok(ids)
            })
            .collect();
        let fitness = fitness.unwrap_or_default().into_iter();
        let fitness = fitness.map(|alphas| PyArray1::from_vec(py, alphas));
        let fields = PyDict::new(py);
        fields.set_item("round", scene.round)?;
        fields.set_item("clock_s", scene.world.clock_s)?;
        fields.set_item("loss", scene.quality.loss)?;
        fields.set_item("accuracy", scene.quality.accuracy)?;
        fields.set_item("devices", self.devices(py, scene)?)?;
        fields.set_item("uavs", self.uavs(py, scene)?)?;
        fields.set_item("covered", PyList::new(py, covered?)?)?;
        fields.set_item("answers", answers(py, scene)?)?;
        fields.set_item("fitness", fitness.collect::<Vec<_>>())?;
        fields.set_item("seed", seed)?;
        view(py, "Scene", &fields)
    }

    fn devices<'py>(&mut self, py: Python<'py>, scene: &Scene) -> PyResult<Bound<'py, PyAny>> {
        let (of, kept) = (&scene.world.devices, &mut self.devices);
        let fields = PyDict::new(py);
        let places = of.position.iter().copied();
        fields.set_item("position_m", kept.places(py, "position_m", places)?)?;
        for (name, values) in [
            ("tx_power_w", &of.tx_power_w),
            ("cpu_hz", &of.cpu_hz),
            ("iteration_time_s", &of.iteration_time_s),
            ("iteration_energy_j", &of.iteration_energy_j),
        ] {
            fields.set_item(name, kept.column(py, name, values)?)?;
        }
        fields.set_item("samples", kept.column(py, "samples", &of.samples)?)?;
        let nearest = scene.coverage.nearest.iter();
        let nearest = nearest.map(|uav| uav.map_or(-1, |uav| i64::from(uav.0)));
        let nearest: Vec<i64> = nearest.collect();
        fields.set_item("nearest", kept.column(py, "nearest", &nearest)?)?;
        view(py, "Devices", &fields)
    }

    fn uavs<'py>(&mut self, py: Python<'py>, scene: &Scene) -> PyResult<Bound<'py, PyAny>> {
        let (all, kept) = (&scene.world.uavs, &mut self.uavs);
        let fields = PyDict::new(py);
        let places = all.iter().map(|uav| uav.position);
        fields.set_item("position_m", kept.places(py, "position_m", places)?)?;
        let columns: [(&str, Quantity); 6] = [
            ("altitude_m", |uav| uav.altitude_m),
            ("coverage_radius_m", |uav| uav.coverage_radius_m),
            ("battery_j", |uav| uav.battery_j),
            ("full_j", |uav| uav.full_j),
            ("bandwidth_up_hz", |uav| uav.bandwidth_up_hz),
            ("bandwidth_down_hz", |uav| uav.bandwidth_down_hz),
        ];
        for (name, value) in columns {
            let now: Vec<f64> = all.iter().map(value).collect();
            fields.set_item(name, kept.column(py, name, &now)?)?;
        }
        let active: Vec<bool> = all.iter().map(|uav| uav.is_active()).collect();
        fields.set_item("active", kept.column(py, "active", &active)?)?;
        view(py, "Uavs", &fields)
    }
}

/// `aerofed.Answers` for each UAV.
fn answers<'py>(py: Python<'py>, scene: &Scene) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let each = scene.answers.iter().map(|answers| {
        let fields = PyDict::new(py);
        let differences = PyArray1::from_slice(py, answers.differences());
        fields.set_item("differences", differences)?;
        let idle = PyArray1::from_slice(py, answers.rounds_idle());
        fields.set_item("rounds_idle", idle)?;
        let classes: Vec<&[f64]> = (0..answers.len())
            .map(|place| answers.classes(place))
            .collect();
        let count = classes.first().map_or(0, |of| of.len());
        fields.set_item("classes", rows(py, classes.concat(), count)?)?;
        view(py, "Answers", &fields)
    });
    each.collect()
}

/// `aerofed.Outcome`.
pub(super) fn outcome<'py>(py: Python<'py>, outcome: &RoundOutcome) -> PyResult<Bound<'py, PyAny>> {
    let cells: PyResult<Vec<Bound<PyAny>>> = outcome
        .cells
        .iter()
        .map(|cell| {
            let fields = PyDict::new(py);
            fields.set_item("uav", cell.uav.0)?;
            fields.set_item("selected", cell.selected)?;
            fields.set_item("energy_j", cell.energy_j)?;
            fields.set_item("time_s", cell.time_s)?;
            fields.set_item("samples", cell.samples)?;
            fields.set_item("loss", cell.edge_model.map(|model| model.loss))?;
            fields.set_item("accuracy", cell.edge_model.map(|model| model.accuracy))?;
            fields.set_item("moved", cell.moved)?;
            view(py, "CellOutcome", &fields)
        })
        .collect();
    let who = || outcome.devices.iter();
    let fields = PyDict::new(py);
    fields.set_item("round", outcome.round)?;
    fields.set_item("loss_before", outcome.before.loss)?;
    fields.set_item("loss_after", outcome.after.loss)?;
    fields.set_item("accuracy_before", outcome.before.accuracy)?;
    fields.set_item("accuracy_after", outcome.after.accuracy)?;
    fields.set_item("covered", outcome.covered)?;
    fields.set_item("energy_j", outcome.energy_j)?;
    fields.set_item("time_s", outcome.time_s)?;
    fields.set_item("model_change", outcome.model_change)?;
    fields.set_item("cells", cells?)?;
    let devices: Vec<i64> = who().map(|one| i64::from(one.device.0)).collect();
    fields.set_item("devices", PyArray1::from_vec(py, devices))?;
    let losses = who().map(|one| one.mean_loss);
    fields.set_item("losses", numbers(py, losses))?;
    let seconds = who().map(|one| one.edge_time_s);
    fields.set_item("edge_time_s", numbers(py, seconds))?;
    view(py, "Outcome", &fields)
}
