//! Devices and tests in Python: any model, any library.

use std::sync::Arc;

use aerofed::Error;
use aerofed::learn::{Devices, Evaluator, Job, LocalUpdate, Task, UpdateLost};
use aerofed::seed::{Stream, stream};
use aerofed::vocabulary::{DeviceId, Quality, UavId};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand::RngExt;

use super::aggregation::{floats, model};
use super::{Part, caused, failed, odd_answer, view};

/// The devices of an `aerofed.Learner`.
pub(crate) struct OwnDevices {
    pub(crate) part: Arc<Part>,
    pub(crate) seed: u64,
    /// Numbers of a model.
    pub(crate) parameters: usize,
}

/// What an `aerofed.Learner` knows of models.
pub(crate) struct OwnEvaluator {
    pub(crate) part: Arc<Part>,
    /// Numbers of a model.
    pub(crate) parameters: usize,
}

/// The sizes of what a learner learns.
pub(crate) fn task(part: &Part) -> Result<Task, Error> {
    let task = part.ask(|learner| {
        let task = learner.call_method0("_task")?;
        let parameters = task.getattr("parameters")?.extract()?;
        Ok(Task {
            parameters,
            model_values: parameters,
            classes: task.getattr("classes")?.extract()?,
            sample_bits: task.getattr("sample_bits")?.extract()?,
            device_samples: task.getattr("device_samples")?.extract()?,
            personal_samples: task.getattr("personal_samples")?.extract()?,
            small_batch: task.getattr("small_batch")?.extract()?,
        })
    });
    task.ok_or_else(|| failed(&part.slot))
}

impl Devices for OwnDevices {
    fn train(
        &mut self,
        jobs: &[Job],
        deliver: &mut dyn FnMut(usize, Result<LocalUpdate, UpdateLost>),
    ) -> Result<(), Error> {
        for (place, job) in jobs.iter().enumerate() {
            let seed = stream(self.seed, Stream::Batches, job.key, job.device.0.into()).random();
            let update = self
                .part
                .ask(|learner| train(learner, job, seed, self.parameters));
            deliver(place, update.ok_or_else(|| failed(&self.part.slot))?);
        }
        Ok(())
    }

    fn softmax_outputs(
        &mut self,
        asked: &[(&[f32], &[DeviceId])],
    ) -> Result<Vec<Vec<Vec<f32>>>, Error> {
        let outputs = self.part.ask(|learner| {
            let mut all = Vec::new();
            for (weights, devices) in asked {
                let weights = PyArray1::from_slice(learner.py(), weights).into_any();
                let rows: PyResult<Vec<Vec<f32>>> = devices
                    .iter()
                    .map(|device| outputs(learner, &weights, device.0))
                    .collect();
                all.push(rows?);
            }
            Ok(all)
        });
        outputs.ok_or_else(|| failed(&self.part.slot))
    }

    fn save(&self) -> Vec<u8> {
        self.part.save()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        self.part.restore("learner", saved)
    }
}

/// Softmax outputs of a model on a device's small batch.
fn outputs(learner: &Bound<PyAny>, weights: &Bound<PyAny>, device: u32) -> PyResult<Vec<f32>> {
    floats(
        "outputs",
        &learner.call_method1("outputs", (weights, device))?,
    )
}

/// One device's work; an `aerofed.UpdateLost` is a result.
fn train(
    learner: &Bound<PyAny>,
    job: &Job,
    seed: u64,
    parameters: usize,
) -> PyResult<Result<LocalUpdate, UpdateLost>> {
    let py = learner.py();
    let fields = PyDict::new(py);
    fields.set_item("device", job.device.0)?;
    fields.set_item("uav", job.uav.0)?;
    fields.set_item("model", PyArray1::from_slice(py, job.start))?;
    fields.set_item("local_iterations", job.local_iterations)?;
    fields.set_item("proximal", job.local.proximal)?;
    fields.set_item("seed", seed)?;
    let seen = view(py, "Job", &fields)?;
    let answer = match learner.call_method1("train", (&seen,)) {
        Ok(answer) => answer,
        Err(error) => {
            let lost = py.import("aerofed._views")?.getattr("UpdateLost")?;
            return match error.matches(py, lost)? {
                true => Ok(Err(UpdateLost {
                    reason: error.value(py).to_string(),
                })),
                false => Err(error),
            };
        }
    };
    let (weights, mean_loss): (Bound<PyAny>, f64) = answer.extract().map_err(|error| {
        let allowed = "the trained model and the mean loss of its steps";
        caused(odd_answer("train", &answer, allowed), error, py)
    })?;
    let outputs = match job.wants_outputs {
        true => outputs(learner, &weights, job.device.0)?,
        false => Vec::new(),
    };
    Ok(Ok(LocalUpdate {
        weights: model("train", &weights, parameters)?,
        mean_loss: mean_loss as f32,
        outputs,
    }))
}

impl OwnEvaluator {
    fn quality(&self, what: &str, weights: &[f32]) -> Result<Quality, Error> {
        let quality = self.part.ask(|learner| {
            let weights = PyArray1::from_slice(learner.py(), weights);
            let answer = learner.call_method1(what, (weights,))?;
            let (loss, accuracy) = answer.extract().map_err(|error| {
                let odd = odd_answer(what, &answer, "loss and accuracy");
                caused(odd, error, learner.py())
            })?;
            Ok(Quality { loss, accuracy })
        });
        quality.ok_or_else(|| failed(&self.part.slot))
    }
}

impl Evaluator for OwnEvaluator {
    fn first_model(&mut self) -> Result<Vec<f32>, Error> {
        let first = self.part.ask(|learner| {
            let first = learner.call_method0("first_model")?;
            model("first_model", &first, self.parameters)
        });
        first.ok_or_else(|| failed(&self.part.slot))
    }

    fn test(&mut self, weights: &[f32]) -> Result<Quality, Error> {
        self.quality("test", weights)
    }

    fn probe(&mut self, weights: &[f32]) -> Result<Quality, Error> {
        self.quality("probe", weights)
    }

    fn personal_models(
        &mut self,
        uavs: &[UavId],
        start: &[f32],
        epochs: usize,
        round: usize,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let models = self.part.ask(|learner| {
            let start = PyArray1::from_slice(learner.py(), start);
            let of = |uav: &UavId| {
                let words = (uav.0, &start, epochs, round);
                let answer = learner.call_method1("personal_model", words)?;
                model("personal_model", &answer, self.parameters)
            };
            uavs.iter().map(of).collect::<PyResult<Vec<_>>>()
        });
        models.ok_or_else(|| failed(&self.part.slot))
    }
}
