//! Which devices train, chosen in Python.

use aerofed::decide::association::{Association, Needs, RoundOutcome, Scene};
use aerofed::scenario::Fitness;
use aerofed::seed::Random;
use aerofed::vocabulary::DeviceId;
use aerofed::{Error, ValidScenario};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rand::RngExt;

use super::scene::{self, LastScene};
use super::{Part, odd_answer};

/// An `aerofed.Association`.
pub(crate) struct OwnAssociation {
    part: Part,
    needs: Needs,
    /// Whether it looks at fitness, by the scenario's weights.
    fitness: Option<Fitness>,
    observes: bool,
    last: LastScene,
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
            last: LastScene::default(),
        })
    }
}

impl Association for OwnAssociation {
    fn select(&mut self, scene: &Scene, rng: &mut Random) -> Vec<Vec<DeviceId>> {
        let seed: u64 = rng.random();
        let fitness = self.fitness.map(|weights| scene.fitness(&weights));
        let last = &mut self.last;
        let chosen = self.part.ask(|part| {
            let seen = last.next(part.py(), scene, fitness, seed)?;
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
            let told = scene::outcome(part.py(), outcome)?;
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
    let refuse = |odd: &Bound<PyAny>| {
        let allowed = "for each UAV a list or an array of device numbers";
        odd_answer("select", odd, allowed)
    };
    let mut cells = Vec::new();
    for cell in answer.try_iter().map_err(|_| refuse(answer))? {
        let cell = cell?;
        let numbers = match whole_numbers(&cell) {
            Some(numbers) => numbers,
            None => {
                let numbers = cell.try_iter().map_err(|_| refuse(&cell))?;
                let whole = |number: PyResult<Bound<PyAny>>| number?.extract::<i64>();
                numbers.map(whole).collect::<PyResult<_>>()?
            }
        };
        let device = |number: i64| {
            let device = u32::try_from(number).map(DeviceId);
            device.map_err(|_| PyValueError::new_err(format!("`select` returned device {number}")))
        };
        cells.push(numbers.into_iter().map(device).collect::<PyResult<_>>()?);
    }
    Ok(cells)
}

/// The usual answer, without an object for each number: an array as numpy's own functions make them.
fn whole_numbers(cell: &Bound<PyAny>) -> Option<Vec<i64>> {
    cell.cast::<PyArray1<i64>>().ok()?.to_vec().ok()
}
