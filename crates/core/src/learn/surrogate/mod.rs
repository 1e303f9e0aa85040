//! A learner that does not train: accuracy follows a law that was fitted to runs that did (`aerofed calibrate`).
//!
//! Devices and evaluator stand behind the same seam as those that train, with a model of a few numbers (`mean_field.rs`) in place
//! of the weights. Who trains, for how long, on which labels, from which model, how models are merged, weighted, lost or late is
//! up to the same code as ever; sizes on the air are those of the network that the scenario names.

mod mean_field;
mod numbers;

use std::sync::Arc;

use rayon::prelude::*;

use super::data::{Data, network_for};
use super::holdings::Holdings;
use super::label_mix::LabelMixes;
use super::{
    Devices, Evaluator, Job, LocalUpdate, StatelessDevices, Task, UpdateLost, UpdateView, batches,
};
use crate::Error;
use crate::scenario::{LawNumbers, Training, ValidScenario};
use crate::vocabulary::{DeviceId, Quality, UavId};
use mean_field::{Rates, Scratch};

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
        let law = scenario.law();
        let rates = Rates::new(&law.numbers, law.relative_rate);
        let ceiling = law.numbers.ceiling_at(scenario.data.data_volume);
        let pull = scenario.training.learning_rate;
        Ok(Self {
            task,
            devices: SurrogateDevices {
                classes,
                mixes: Arc::new(LabelMixes::of_devices(&data.train, &held.devices)),
                rates,
                learning_rate: pull,
            },
            evaluator: SurrogateEvaluator {
                classes,
                personal: LabelMixes::of(&data.train, &held.personal),
                personal_samples: held.personal.iter().map(Vec::len).collect(),
                numbers: law.numbers.clone(),
                rates,
                ceiling: ceiling as f32,
                training: scenario.training.clone(),
            },
        })
    }
}

/// Devices that move margins and biases.
pub(crate) struct SurrogateDevices {
    classes: usize,
    mixes: Arc<LabelMixes>,
    rates: Rates,
    learning_rate: f64,
}

impl SurrogateDevices {
    fn train_one(&self, job: &Job, scratch: &mut Scratch) -> LocalUpdate {
        scratch.set_mix(self.mixes.shares(job.device));
        let mut weights = job.start.to_vec();
        let pull = (self.learning_rate * job.local.proximal) as f32;
        let steps = job.local_iterations;
        let mean_loss = scratch.train(&mut weights, steps, pull, job.start, &self.rates);
        let outputs = match job.wants_outputs {
            true => scratch.outputs(&weights),
            false => Vec::new(),
        };
        LocalUpdate {
            weights,
            mean_loss,
            outputs,
        }
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
            let row = |scratch: &mut Scratch, device: &DeviceId| {
                scratch.set_mix(self.mixes.shares(*device));
                scratch.outputs(model)
            };
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

/// What devices of a cell come to that have the same label mix, and did the same work.
struct Known {
    /// By the number of a mix, its place among the answers, from 1; 0: not known.
    slots: Vec<u32>,
    answers: Vec<LocalUpdate>,
}

impl Known {
    /// None where there are so many mixes that hardly two devices of a cell have the same.
    fn new(mixes: &LabelMixes) -> Option<Self> {
        (mixes.count() <= MOST_REMEMBERED).then(|| Self {
            slots: vec![0; mixes.count()],
            answers: Vec::new(),
        })
    }

    fn get(&mut self, mix: u32, find: impl FnOnce() -> LocalUpdate) -> &LocalUpdate {
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
        let mut scratch = Scratch::new(self.classes);
        let alike = |pair: &[Job]| pair[0].does_the_same_as(&pair[1]);
        let mut known = Known::new(&self.mixes).filter(|_| jobs.windows(2).all(alike));
        for (place, job) in jobs.iter().enumerate() {
            let mut train = || self.train_one(job, &mut scratch);
            match &mut known {
                Some(known) => {
                    let mix = self.mixes.number(job.device);
                    deliver(place, known.get(mix, train).view());
                }
                None => deliver(place, train().view()),
            }
        }
    }

    fn cell_outputs(
        &self,
        model: &[f32],
        devices: &[DeviceId],
        deliver: &mut dyn FnMut(usize, &[f32]),
    ) {
        let mut scratch = Scratch::new(self.classes);
        let mut known = Known::new(&self.mixes);
        for (place, device) in devices.iter().enumerate() {
            let mut row = || {
                scratch.set_mix(self.mixes.shares(*device));
                scratch.outputs(model)
            };
            match &mut known {
                Some(known) => {
                    let find = || LocalUpdate {
                        weights: Vec::new(),
                        mean_loss: 0.0,
                        outputs: row(),
                    };
                    deliver(place, &known.get(self.mixes.number(*device), find).outputs);
                }
                None => deliver(place, &row()),
            }
        }
    }
}

/// Looks at margins and biases.
pub(crate) struct SurrogateEvaluator {
    classes: usize,
    /// Of the UAVs' own samples.
    personal: LabelMixes,
    personal_samples: Vec<usize>,
    numbers: LawNumbers,
    rates: Rates,
    ceiling: f32,
    training: Training,
}

impl Evaluator for SurrogateEvaluator {
    fn first_model(&mut self) -> Result<Vec<f32>, Error> {
        Ok(vec![0.0; mean_field::values(self.classes)])
    }

    fn test(&mut self, model: &[f32]) -> Result<Quality, Error> {
        let mut scratch = Scratch::new(self.classes);
        let share = 1.0 / self.classes as f32;
        scratch.set_mix((0..self.classes).map(|class| (class, share)));
        let (accuracy, loss) = scratch.quality(model, &self.numbers, self.ceiling);
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
