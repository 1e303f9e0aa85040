//! Devices of one's own: a fleet that measures a field of five numbers, over links on which some answers never come.
//!
//! ```text
//! cargo run --release --example own_learner
//! ```
//!
//! No data set and no network: a model is five numbers, a device knows them with its own error and moves the model towards what
//! it knows. Selection, bandwidth, seconds, joules, batteries and merging are aerofed's as ever. A GPU, a surrogate or real nodes
//! come in at the same place.
#![allow(clippy::print_stdout, reason = "an example")]

use aerofed::learn::{Devices, Evaluator, Job, LocalUpdate, Task, UpdateLost};
use aerofed::record::EventKind;
use aerofed::seed::{Stream, stream};
use aerofed::vocabulary::{DeviceId, Quality, UavId};
use aerofed::{Error, Method, Scenario, Simulation};
use rand::RngExt;

/// What is to be found out.
const FIELD: [f32; 5] = [3.0, -1.0, 0.5, 2.0, -4.0];

struct Sensors {
    seed: u64,
}

impl Sensors {
    /// One local step goes a tenth of the way to what the device believes.
    fn measure(&self, job: &Job) -> Result<LocalUpdate, UpdateLost> {
        let id = u64::from(job.device.0);
        let mut rng = stream(self.seed, Stream::Batches, job.key, id);
        if rng.random_bool(0.1) {
            return Err(UpdateLost {
                reason: "no answer within 10 s".into(),
            });
        }
        let left = 0.9f32.powi(job.local_iterations as i32);
        let step = |(start, truth): (&f32, f32)| {
            let belief = truth + 0.5 * (rng.random::<f32>() - 0.5);
            belief + left * (start - belief)
        };
        let weights: Vec<f32> = job.start.iter().zip(FIELD).map(step).collect();
        Ok(LocalUpdate {
            mean_loss: error(&weights) as f32,
            weights,
            outputs: Vec::new(),
        })
    }
}

impl Devices for Sensors {
    fn train(
        &mut self,
        jobs: &[Job],
        deliver: &mut dyn FnMut(usize, Result<LocalUpdate, UpdateLost>),
    ) -> Result<(), Error> {
        for (place, job) in jobs.iter().enumerate() {
            deliver(place, self.measure(job));
        }
        Ok(())
    }

    fn softmax_outputs(
        &mut self,
        asked: &[(&[f32], &[DeviceId])],
    ) -> Result<Vec<Vec<Vec<f32>>>, Error> {
        // Nothing to compare models by: methods that select by model difference see none.
        let silent = |(_, devices): &(&[f32], &[DeviceId])| vec![Vec::new(); devices.len()];
        Ok(asked.iter().map(silent).collect())
    }
}

/// Looks at how far a model is from the field.
struct Inspector;

fn error(model: &[f32]) -> f64 {
    let squares = model
        .iter()
        .zip(FIELD)
        .map(|(m, f)| f64::from(m - f).powi(2));
    squares.sum::<f64>() / FIELD.len() as f64
}

impl Evaluator for Inspector {
    fn first_model(&mut self) -> Result<Vec<f32>, Error> {
        Ok(vec![0.0; FIELD.len()])
    }

    fn test(&mut self, model: &[f32]) -> Result<Quality, Error> {
        let loss = error(model);
        Ok(Quality {
            loss,
            accuracy: 1.0 / (1.0 + loss),
        })
    }

    fn probe(&mut self, model: &[f32]) -> Result<Quality, Error> {
        self.test(model)
    }

    fn personal_models(
        &mut self,
        uavs: &[UavId],
        start: &[f32],
        _: usize,
        _: usize,
    ) -> Result<Vec<Vec<f32>>, Error> {
        Ok(vec![start.to_vec(); uavs.len()])
    }
}

pub(crate) fn main() -> Result<(), Error> {
    let settings = ["method=hfl", "devices.count=200", "data.data_volume=2000"];
    let scenario = Scenario::parse("", &settings)?.check()?;
    let mut method = Method::of(&scenario)?;
    let mut simulation = Simulation::builder(&scenario)
        .task(Task {
            parameters: FIELD.len(),
            model_values: FIELD.len(),
            classes: 1,
            sample_bits: 5.0 * 32.0,
            device_samples: vec![10; 200],
            personal_samples: vec![0; 5],
            small_batch: 1,
        })
        .devices(Sensors {
            seed: scenario.seed,
        })
        .evaluator(Inspector)
        .build()?;
    for _ in 0..4 {
        let Some(record) = simulation.step(&mut method)? else {
            break;
        };
        let lost = |kind: &EventKind| matches!(kind, EventKind::UpdateLost { .. });
        let lost = record
            .events
            .iter()
            .filter(|event| lost(&event.kind))
            .count();
        println!(
            "round {}: error {:.5} after {:.3} s and {:.1} J, {lost} of {} updates lost",
            record.round,
            record.test_loss,
            record.clock_s,
            record.cumulative_energy_j,
            record.updates_computed,
        );
    }
    Ok(())
}
