//! A learner that does not train: accuracy follows a law that was fitted to runs that did (`aerofed calibrate`).
//!
//! Devices and evaluator stand behind the same seam as those that train, with a model of a few numbers (`mean_field.rs`) in place
//! of the weights. Who trains, for how long, on which labels, from which model, how models are merged, weighted, lost or late is
//! up to the same code as ever; sizes on the air are those of the network that the scenario names.

mod mean_field;
mod numbers;

use rand::RngExt;
use rayon::prelude::*;

use super::data::{Data, network_for};
use super::holdings::Holdings;
pub(crate) use super::label_mix::LabelMixes;
use super::{
    Devices, Evaluator, Job, LocalUpdate, StatelessDevices, Task, UpdateLost, UpdateView, batches,
};
use crate::Error;
use crate::scenario::{Training, ValidScenario};
use crate::seed::{Stream, stream};
use crate::vocabulary::{DeviceId, Quality, UavId};
use mean_field::Peculiarity;
pub(crate) use mean_field::{Rates, Scratch};

/// Jobs that are worth more than one thread.
const MANY: usize = 512;
/// Jobs whose results are there at the same time.
const AT_ONCE: usize = 1 << 15;
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
        let rng = stream(scenario.seed, Stream::Surrogate, 0, 0);
        Ok(Self {
            task,
            devices: SurrogateDevices {
                classes,
                mixes: LabelMixes::of_devices(&data.train, &held.devices),
                peculiar: rng.random_iter().take(held.devices.len()).collect(),
                rates,
                ceiling,
                learning_rate: scenario.training.learning_rate,
            },
            evaluator: SurrogateEvaluator {
                classes,
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
    mixes: LabelMixes,
    /// Two random bytes of each device.
    peculiar: Vec<[u8; 2]>,
    rates: Rates,
    ceiling: f32,
    learning_rate: f64,
}

impl SurrogateDevices {
    /// Of ten samples a few are mistaken, by chance: from a quarter to seven quarters of the average.
    fn peculiarity(&self, device: DeviceId) -> Peculiarity {
        let [class, hardness] = self.peculiar[device.index()];
        Peculiarity {
            confusion: usize::from(class) % self.classes,
            hardness: 0.25 + 1.5 / 255.0 * f32::from(hardness),
        }
    }

    fn train_one(&self, job: &Job, scratch: &mut Scratch) -> LocalUpdate {
        let mut update = self.moved(job, scratch);
        if job.wants_outputs {
            update.outputs = self.outputs_after(job.device, &update.weights, scratch);
        }
        update
    }

    /// Where a device's label mix moves a model; without outputs.
    fn moved(&self, job: &Job, scratch: &mut Scratch) -> LocalUpdate {
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

    /// What a device's own model makes of its samples.
    fn outputs_after(&self, device: DeviceId, weights: &[f32], scratch: &mut Scratch) -> Vec<f32> {
        scratch.set_mix(self.mixes.shares(device));
        scratch.outputs(weights, None, self.peculiarity(device))
    }

    /// What a model that it is sent makes of a device's samples.
    fn outputs_of(&self, device: DeviceId, model: &[f32], scratch: &mut Scratch) -> Vec<f32> {
        scratch.set_mix(self.mixes.shares(device));
        scratch.outputs(model, Some(self.ceiling), self.peculiarity(device))
    }
}

impl Devices for SurrogateDevices {
    fn train(
        &mut self,
        jobs: &[Job],
        deliver: &mut dyn FnMut(usize, Result<LocalUpdate, UpdateLost>),
    ) -> Result<(), Error> {
        let fresh = || Scratch::new(self.classes);
        if jobs.len() < MANY {
            let mut scratch = fresh();
            for (place, job) in jobs.iter().enumerate() {
                deliver(place, Ok(self.train_one(job, &mut scratch)));
            }
            return Ok(());
        }
        for (block, some) in jobs.chunks(AT_ONCE).enumerate() {
            let train = |scratch: &mut Scratch, job: &Job| self.train_one(job, scratch);
            let work = some.par_iter().with_min_len(MANY / 2);
            let updates: Vec<LocalUpdate> = work.map_init(fresh, train).collect();
            for (place, update) in (block * AT_ONCE..).zip(updates) {
                deliver(place, Ok(update));
            }
        }
        Ok(())
    }

    fn softmax_outputs(
        &mut self,
        asked: &[(&[f32], &[DeviceId])],
    ) -> Result<Vec<Vec<Vec<f32>>>, Error> {
        let rows = |(model, devices): &(&[f32], &[DeviceId])| {
            let fresh = || Scratch::new(self.classes);
            let row =
                |scratch: &mut Scratch, device: &DeviceId| self.outputs_of(*device, model, scratch);
            if devices.len() < MANY {
                let mut scratch = fresh();
                return devices.iter().map(|d| row(&mut scratch, d)).collect();
            }
            let work = devices.par_iter().with_min_len(MANY / 2);
            work.map_init(fresh, row).collect()
        };
        Ok(asked.iter().map(rows).collect())
    }

    fn stateless(&self) -> Option<&dyn StatelessDevices> {
        Some(self)
    }
}

/// Where the devices of a cell move a model: those with the same label mix that did the same work, to the same place.
struct Known {
    /// By the number of a mix, its place among the updates, from 1; 0: not known.
    slots: Vec<u32>,
    updates: Vec<LocalUpdate>,
}

impl Known {
    /// None where there are so many mixes that hardly two devices of a cell have the same.
    fn new(mixes: &LabelMixes) -> Option<Self> {
        (mixes.count() <= MOST_REMEMBERED).then(|| Self {
            slots: vec![0; mixes.count()],
            updates: Vec::new(),
        })
    }

    fn get(&mut self, mix: u32, find: impl FnOnce() -> LocalUpdate) -> &LocalUpdate {
        let slot = &mut self.slots[mix as usize];
        if *slot == 0 {
            self.updates.push(find());
            *slot = self.updates.len() as u32;
        }
        &self.updates[*slot as usize - 1]
    }
}

impl StatelessDevices for SurrogateDevices {
    fn train_cell(&self, jobs: &[Job], deliver: &mut dyn FnMut(usize, UpdateView)) {
        let mut scratch = Scratch::new(self.classes);
        let alike = |pair: &[Job]| pair[0].does_the_same_as(&pair[1]);
        let mut known = Known::new(&self.mixes).filter(|_| jobs.windows(2).all(alike));
        for (place, job) in jobs.iter().enumerate() {
            let Some(known) = &mut known else {
                deliver(place, self.train_one(job, &mut scratch).view());
                continue;
            };
            let mix = self.mixes.number(job.device);
            let moved = known.get(mix, || self.moved(job, &mut scratch));
            let outputs = match job.wants_outputs {
                true => self.outputs_after(job.device, &moved.weights, &mut scratch),
                false => Vec::new(),
            };
            deliver(
                place,
                UpdateView {
                    outputs: &outputs,
                    ..moved.view()
                },
            );
        }
    }

    fn cell_outputs(
        &self,
        model: &[f32],
        devices: &[DeviceId],
        deliver: &mut dyn FnMut(usize, &[f32]),
    ) {
        let mut scratch = Scratch::new(self.classes);
        for (place, device) in devices.iter().enumerate() {
            deliver(place, &self.outputs_of(*device, model, &mut scratch));
        }
    }
}

/// Looks at margins and biases.
pub(crate) struct SurrogateEvaluator {
    classes: usize,
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
        Ok(Scratch::new(self.classes).first_model())
    }

    fn test(&mut self, model: &[f32]) -> Result<Quality, Error> {
        let mut scratch = Scratch::new(self.classes);
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
        let mut scratch = Scratch::new(self.classes);
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
