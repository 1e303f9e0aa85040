//! A learner that does not train: accuracy follows a law that was fitted to runs that did (`aerofed calibrate`).
//!
//! Devices and evaluator stand behind the same seam as those that train, with a model of a few numbers (`mean_field.rs`) in place
//! of the weights. Who trains, for how long, on which labels, from which model, how models are merged, weighted, lost or late is
//! up to the same code as ever; sizes on the air are those of the network that the scenario names.

mod mean_field;
mod numbers;
mod samples;

use super::data::{Data, network_for};
use super::holdings::Holdings;
pub(crate) use super::label_mix::LabelMixes;
use super::{
    Devices, Evaluator, Job, LocalUpdate, StatelessDevices, Task, UpdateLost, UpdateView, batches,
};
use crate::Error;
use crate::scenario::{Training, ValidScenario};
use crate::vocabulary::{DeviceId, Quality, UavId};
pub(crate) use mean_field::{Rates, Scratch};
use samples::Noise;

/// Label mixes whose answers are remembered while a cell is asked.
const MOST_REMEMBERED: usize = 1 << 12;

/// What a scenario learns by a law.
pub(crate) struct SurrogateLearner {
    pub(crate) task: Task,
    pub(crate) devices: SurrogateDevices,
    pub(crate) evaluator: SurrogateEvaluator,
}

impl SurrogateLearner {
    /// Divides the labels.
    pub(crate) fn new(scenario: &ValidScenario, data: &Data) -> Result<Self, Error> {
        let network = network_for(scenario, &data.train)?;
        let classes = network.classes();
        let held = Holdings::new(scenario, &data.train)?;
        let task = Task {
            parameters: network.parameter_count(),
            model_values: mean_field::values(classes),
            classes,
            sample_bits: 8.0 * data.train.input_len() as f64,
            device_samples: held.devices.counts(),
            personal_samples: held.personal_counts(),
            small_batch: 1,
        };
        let law = scenario.law().ok_or_else(|| Error::Learner {
            reason: "a scenario without a law".into(),
        })?;
        let numbers = &law.group.law;
        let rates = Rates::new(numbers, law.relative_rate);
        let ceiling = numbers.ceiling_at(scenario.data.data_volume) as f32;
        Ok(Self {
            task,
            devices: SurrogateDevices {
                classes,
                bias_length: numbers.bias_length as f32,
                mixes: LabelMixes::of_devices(&data.train, &held.devices),
                noise: Noise::new(scenario.seed, held.devices.len(), classes),
                sharpness: numbers.sharpness as f32,
                rates,
                ceiling,
                learning_rate: scenario.training.learning_rate,
            },
            evaluator: SurrogateEvaluator {
                classes,
                bias_length: numbers.bias_length as f32,
                personal: LabelMixes::of(&data.train, &held.personal),
                personal_samples: held.personal.iter().map(Vec::len).collect(),
                sharpness: numbers.sharpness as f32,
                rates,
                ceiling,
                training: scenario.training.clone(),
            },
        })
    }
}

/// Devices that move margins and biases.
pub(crate) struct SurrogateDevices {
    classes: usize,
    bias_length: f32,
    mixes: LabelMixes,
    /// What tells their samples from others.
    noise: Noise,
    sharpness: f32,
    rates: Rates,
    ceiling: f32,
    learning_rate: f64,
}

impl SurrogateDevices {
    /// The device's update, without its outputs.
    fn train_one(&self, job: &Job, scratch: &mut Scratch) -> LocalUpdate {
        scratch.set_mix(self.mixes.shares(job.device));
        let mut weights = job.start.to_vec();
        let pull = (self.learning_rate * job.local.proximal) as f32;
        let steps = job.local_iterations;
        let mean_loss = scratch.train(&mut weights, steps, pull, job.start, &self.rates);
        LocalUpdate {
            weights,
            mean_loss,
            outputs: Vec::new(),
        }
    }
}

impl Devices for SurrogateDevices {
    fn train(
        &mut self,
        jobs: &[Job],
        deliver: &mut dyn FnMut(usize, Result<LocalUpdate, UpdateLost>),
    ) -> Result<(), Error> {
        self.train_cell(jobs, &mut |place, update| {
            deliver(place, Ok(update.to_update()))
        });
        Ok(())
    }

    fn softmax_outputs(
        &mut self,
        asked: &[(&[f32], &[DeviceId])],
    ) -> Result<Vec<Vec<Vec<f32>>>, Error> {
        let rows = |(model, devices): &(&[f32], &[DeviceId])| {
            let mut rows = Vec::with_capacity(devices.len());
            self.cell_outputs(model, devices, &mut |_, row| rows.push(row.to_vec()));
            rows
        };
        Ok(asked.iter().map(rows).collect())
    }

    fn stateless(&self) -> Option<&dyn StatelessDevices> {
        Some(self)
    }
}

/// What devices of a cell come to that have the same label mix and did the same work, but for their outputs.
struct Known<T> {
    /// By the number of a mix, its place among the answers, from 1; 0: not known.
    slots: Vec<u32>,
    answers: Vec<T>,
}

impl<T> Known<T> {
    /// None where there are so many mixes that hardly two devices of a cell have the same.
    fn new(mixes: &LabelMixes) -> Option<Self> {
        (mixes.count() <= MOST_REMEMBERED).then(|| Self {
            slots: vec![0; mixes.count()],
            answers: Vec::new(),
        })
    }

    fn get(&mut self, mix: u32, find: impl FnOnce() -> T) -> &T {
        let slot = &mut self.slots[mix as usize];
        if *slot == 0 {
            self.answers.push(find());
            *slot = self.answers.len() as u32;
        }
        &self.answers[*slot as usize - 1]
    }
}

impl StatelessDevices for SurrogateDevices {
    fn train_cell(&self, jobs: &[Job], deliver: &mut dyn FnMut(usize, UpdateView)) {
        let mut scratch = Scratch::new(self.classes, self.bias_length);
        let alike = |pair: &[Job]| pair[0].does_the_same_as(&pair[1]);
        let mut known = Known::new(&self.mixes).filter(|_| jobs.windows(2).all(alike));
        let mut outputs = Vec::new();
        for (place, job) in jobs.iter().enumerate() {
            let mut train = || self.train_one(job, &mut scratch);
            let trained;
            let update = match &mut known {
                Some(known) => known.get(self.mixes.number(job.device), train),
                None => {
                    trained = train();
                    &trained
                }
            };
            if job.wants_outputs {
                scratch.set_mix(self.mixes.shares(job.device));
                let noise = self.noise.of(job.device);
                scratch.outputs(&update.weights, None, self.sharpness, noise, &mut outputs);
            }
            let view = UpdateView {
                outputs: &outputs,
                ..update.view()
            };
            deliver(place, view);
        }
    }

    fn cell_outputs(
        &self,
        model: &[f32],
        devices: &[DeviceId],
        deliver: &mut dyn FnMut(usize, &[f32]),
    ) {
        let mut scratch = Scratch::new(self.classes, self.bias_length);
        let mut outputs = Vec::new();
        for (place, device) in devices.iter().enumerate() {
            scratch.set_mix(self.mixes.shares(*device));
            let (ceiling, noise) = (Some(self.ceiling), self.noise.of(*device));
            scratch.outputs(model, ceiling, self.sharpness, noise, &mut outputs);
            deliver(place, &outputs);
        }
    }
}

/// Looks at margins and biases.
pub(crate) struct SurrogateEvaluator {
    classes: usize,
    bias_length: f32,
    /// Of the UAVs' own samples.
    personal: LabelMixes,
    personal_samples: Vec<usize>,
    sharpness: f32,
    rates: Rates,
    ceiling: f32,
    training: Training,
}

impl Evaluator for SurrogateEvaluator {
    fn first_model(&mut self) -> Result<Vec<f32>, Error> {
        Ok(Scratch::new(self.classes, self.bias_length).first_model())
    }

    fn test(&mut self, model: &[f32]) -> Result<Quality, Error> {
        let mut scratch = Scratch::new(self.classes, self.bias_length);
        scratch.set_even_mix();
        let (accuracy, loss) = scratch.quality(model, self.sharpness, self.ceiling);
        Ok(Quality { loss, accuracy })
    }

    fn probe(&mut self, model: &[f32]) -> Result<Quality, Error> {
        self.test(model)
    }

    fn personal_models(
        &mut self,
        uavs: &[UavId],
        start: &[f32],
        epochs: usize,
        _: usize,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let mut scratch = Scratch::new(self.classes, self.bias_length);
        let train = |uav: &UavId| {
            let samples = self.personal_samples[uav.index()];
            let steps = batches::steps(samples, self.training.batch_size, epochs);
            let mut model = start.to_vec();
            scratch.set_mix(self.personal.shares(DeviceId(uav.0)));
            scratch.train(&mut model, steps, 0.0, start, &self.rates);
            model
        };
        Ok(uavs.iter().map(train).collect())
    }
}
