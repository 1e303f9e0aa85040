//! Which devices train, chosen in Python.

use aerofed::decide::association::{Association, Needs, RoundOutcome, Scene};
use aerofed::scenario::Fitness;
use aerofed::seed::Random;
use aerofed::vocabulary::{DeviceId, Point};
use aerofed::{Error, ValidScenario};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rand::RngExt;

use super::{Part, view};

/// An `aerofed.Association`.
pub(crate) struct OwnAssociation {
    part: Part,
    needs: Needs,
    /// Whether it looks at fitness, by the scenario's weights.
    fitness: Option<Fitness>,
    observes: bool,
}

impl OwnAssociation {
    pub(crate) fn new(py: Python<'_>, part: Part, scenario: &ValidScenario) -> PyResult<Self> {
        let object = part.object.bind(py);
        let named: Vec<String> = object.getattr("needs")?.extract()?;
        let (mut needs, mut fitness) = (Needs::default(), None);
        for name in &named {
            match name.as_str() {
                "answers" => needs.answers = true,
                "edge_models" => needs.edge_models = true,
                "moves" => needs.moves = true,
                "fitness" => {
                    needs.answers = true;
                    fitness = Some(scenario.fitness);
                }
                other => {
                    return Err(PyValueError::new_err(format!(
                        "`needs` has {other:?}, allowed: answers, fitness, edge_models, moves"
                    )));
                }
            }
        }
        let observes = object.call_method0("_observes")?.extract()?;
        Ok(Self {
            part,
            needs,
            fitness,
            observes,
        })
    }
}

impl Association for OwnAssociation {
    fn select(&mut self, scene: &Scene, rng: &mut Random) -> Vec<Vec<DeviceId>> {
        let seed: u64 = rng.random();
        let fitness = self.fitness.map(|weights| scene.fitness(&weights));
        let chosen = self.part.ask(|part| {
            let seen = shown(part.py(), scene, fitness, seed)?;
            read(&part.call_method1("select", (seen,))?)
        });
        // No answer is an impossible one.
        chosen.unwrap_or_default()
    }

    fn needs(&self) -> Needs {
        self.needs
    }

    fn observe(&mut self, outcome: &RoundOutcome) {
        if !self.observes {
            return;
        }
        self.part.ask(|part| {
            let told = told(part.py(), outcome)?;
            part.call_method1("observe", (told,))
                .map(|answer| answer.unbind())
        });
    }

    fn save(&self) -> Vec<u8> {
        self.part.save()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        self.part.restore("association", saved)
    }
}

/// For each UAV the numbers of its devices.
fn read(answer: &Bound<PyAny>) -> PyResult<Vec<Vec<DeviceId>>> {
    let refuse = || {
        let kind = answer.get_type();
        PyTypeError::new_err(format!(
            "`select` returned {kind}, allowed: for each UAV a list or an array of device numbers"
        ))
    };
    let mut cells = Vec::new();
    for cell in answer.try_iter().map_err(|_| refuse())? {
        let cell = cell?;
        // The usual case without an object for each number.
        let ids: Vec<i64> = match cell.cast::<PyArray1<i64>>() {
            Ok(array) => array.to_vec()?,
            Err(_) => {
                let numbers = cell.try_iter().map_err(|_| refuse())?;
                let whole = |number: PyResult<Bound<PyAny>>| number?.extract::<i64>();
                numbers.map(whole).collect::<PyResult<_>>()?
            }
        };
        let id = |id: i64| {
            let number = u32::try_from(id).map(DeviceId);
            number.map_err(|_| PyValueError::new_err(format!("`select` returned device {id}")))
        };
        cells.push(ids.into_iter().map(id).collect::<PyResult<_>>()?);
    }
    Ok(cells)
}

pub(super) fn points<'py>(
    py: Python<'py>,
    points: impl Iterator<Item = Point>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let flat: Vec<f64> = points.flat_map(|point| [point.x_m, point.y_m]).collect();
    let rows = flat.len() / 2;
    PyArray1::from_vec(py, flat).reshape([rows, 2])
}

pub(super) fn numbers<'py>(
    py: Python<'py>,
    values: impl Iterator<Item = f64>,
) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_vec(py, values.collect())
}

/// `aerofed.Scene`.
fn shown<'py>(
    py: Python<'py>,
    scene: &Scene,
    fitness: Option<Vec<Vec<f64>>>,
    seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let world = scene.world;
    let of = &world.devices;
    let devices = PyDict::new(py);
    devices.set_item("position_m", points(py, of.position.iter().copied())?)?;
    for (name, values) in [
        ("tx_power_w", &of.tx_power_w),
        ("cpu_hz", &of.cpu_hz),
        ("iteration_time_s", &of.iteration_time_s),
        ("iteration_energy_j", &of.iteration_energy_j),
    ] {
        devices.set_item(name, PyArray1::from_slice(py, values))?;
    }
    devices.set_item("samples", PyArray1::from_slice(py, &of.samples))?;
    let nearest = scene.coverage.nearest.iter();
    let nearest = nearest.map(|uav| uav.map_or(-1, |uav| i64::from(uav.0)));
    devices.set_item("nearest", PyArray1::from_vec(py, nearest.collect()))?;

    let all = || world.uavs.iter();
    let uavs = PyDict::new(py);
    uavs.set_item("position_m", points(py, all().map(|uav| uav.position))?)?;
    uavs.set_item("altitude_m", numbers(py, all().map(|uav| uav.altitude_m)))?;
    let radii_m = all().map(|uav| uav.coverage_radius_m);
    uavs.set_item("coverage_radius_m", numbers(py, radii_m))?;
    uavs.set_item("battery_j", numbers(py, all().map(|uav| uav.battery_j)))?;
    uavs.set_item("full_j", numbers(py, all().map(|uav| uav.full_j)))?;
    let up_hz = all().map(|uav| uav.bandwidth_up_hz);
    uavs.set_item("bandwidth_up_hz", numbers(py, up_hz))?;
    let down_hz = all().map(|uav| uav.bandwidth_down_hz);
    uavs.set_item("bandwidth_down_hz", numbers(py, down_hz))?;
    let active: Vec<bool> = all().map(|uav| uav.is_active()).collect();
    uavs.set_item("active", PyArray1::from_vec(py, active))?;

    let covered = scene.coverage.cells.iter().map(|cell| {
        let ids = cell.iter().map(|device| i64::from(device.0));
        PyArray1::from_vec(py, ids.collect())
    });
    let fields = PyDict::new(py);
    fields.set_item("round", scene.round)?;
    fields.set_item("clock_s", world.clock_s)?;
    fields.set_item("loss", scene.quality.loss)?;
    fields.set_item("accuracy", scene.quality.accuracy)?;
    fields.set_item("devices", view(py, "Devices", &devices)?)?;
    fields.set_item("uavs", view(py, "Uavs", &uavs)?)?;
    fields.set_item("covered", PyList::new(py, covered)?)?;
    let answers: PyResult<Vec<Bound<PyAny>>> = scene
        .answers
        .iter()
        .map(|answers| {
            let fields = PyDict::new(py);
            let differences = PyArray1::from_slice(py, answers.differences());
            fields.set_item("differences", differences)?;
            let idle = PyArray1::from_slice(py, answers.rounds_idle());
            fields.set_item("rounds_idle", idle)?;
            let classes: Vec<Vec<f64>> = (0..answers.len())
                .map(|place| answers.classes(place).to_vec())
                .collect();
            fields.set_item("classes", PyArray2::from_vec2(py, &classes)?)?;
            view(py, "Answers", &fields)
        })
        .collect();
    fields.set_item("answers", answers?)?;
    let fitness = fitness.unwrap_or_default().into_iter();
    let fitness = fitness.map(|alphas| PyArray1::from_vec(py, alphas));
    fields.set_item("fitness", fitness.collect::<Vec<_>>())?;
    fields.set_item("seed", seed)?;
    view(py, "Scene", &fields)
}

/// `aerofed.Outcome`.
fn told<'py>(py: Python<'py>, outcome: &RoundOutcome) -> PyResult<Bound<'py, PyAny>> {
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
