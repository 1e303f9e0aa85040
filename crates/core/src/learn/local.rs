//! Training and evaluating on this machine: on its cores, or on a card.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use aerofed_data::Dataset;
use aerofed_nn::Sgd;
use rayon::prelude::*;

use super::data::Data;
use super::engine::{Averages, Engine};
use super::holdings::{DeviceSamples, Holdings};
use super::{Devices, Evaluator, Job, LocalUpdate, Task, UpdateLost, batches};
use crate::Error;
use crate::scenario::{Training, ValidScenario};
use crate::seed::{Stream, stream};
use crate::vocabulary::{DeviceId, Quality, UavId};

/// Devices whose small batches are looked at in one go.
const BLOCK: usize = 32;

/// What a scenario learns on this machine: its sizes, its devices and its evaluator.
pub(crate) struct LocalLearner {
    pub(crate) task: Task,
    pub(crate) devices: LocalDevices,
    pub(crate) evaluator: LocalEvaluator,
}

impl LocalLearner {
    /// Divides the data.
    pub(crate) fn new(
        scenario: &ValidScenario,
        data: &Data,
        engine: Arc<dyn Engine>,
    ) -> Result<Self, Error> {
        let network = engine.network();
        let held = Holdings::new(scenario, &data.train)?;
        let task = Task {
            parameters: network.parameter_count(),
            model_values: network.parameter_count(),
            classes: network.classes(),
            sample_bits: 8.0 * data.train.input_len() as f64,
            device_samples: held.devices.counts(),
            personal_samples: held.personal_counts(),
            small_batch: scenario.fitness.small_batch,
        };
        Ok(Self {
            task,
            devices: LocalDevices {
                engine: engine.clone(),
                train: data.train.clone(),
                held: held.devices,
                small_batch: scenario.fitness.small_batch,
                training: scenario.training.clone(),
                seed: scenario.seed,
            },
            evaluator: LocalEvaluator {
                engine,
                train: data.train.clone(),
                test: data.test.clone(),
                personal: held.personal,
                probe: held.probe,
                training: scenario.training.clone(),
                seed: scenario.seed,
            },
        })
    }
}

fn sgd(training: &Training) -> Sgd {
    Sgd {
        learning_rate: training.learning_rate as f32,
        momentum: training.momentum as f32,
        weight_decay: training.weight_decay as f32,
        ..Sgd::default()
    }
}

/// Devices that train on this machine, each on its own part of one data set.
pub(crate) struct LocalDevices {
    engine: Arc<dyn Engine>,
    train: Arc<Dataset>,
    /// Training samples of each device.
    held: DeviceSamples,
    small_batch: usize,
    training: Training,
    seed: u64,
}

impl LocalDevices {
    /// The samples on which a device compares models.
    fn small_batch(&self, device: DeviceId) -> Cow<'_, [u32]> {
        match self.held.of(device) {
            Cow::Borrowed(held) => held[..held.len().min(self.small_batch)].into(),
            Cow::Owned(mut drawn) => {
                drawn.truncate(self.small_batch);
                drawn.into()
            }
        }
    }

    /// The mini-batches of jobs, one after the other, and how large they are.
    fn draw(&self, jobs: &[Job]) -> Vec<(Vec<u32>, usize)> {
        let (held, seed, size) = (&self.held, self.seed, self.training.batch_size);
        let draw = |job: &Job| {
            let id = u64::from(job.device.0);
            let mut rng = stream(seed, Stream::Batches, job.key, id);
            let held = held.of(job.device);
            let order = batches::draw(&held, size, job.local_iterations, &mut rng);
            (order, size.min(held.len()))
        };
        jobs.par_iter().map(draw).collect()
    }

    /// Jobs as engines take them.
    fn work<'a>(
        &self,
        jobs: &[Job<'a>],
        drawn: &'a [(Vec<u32>, usize)],
    ) -> Vec<aerofed_nn::Job<'a>> {
        let work =
            |(job, (order, batch_size)): (&Job<'a>, &'a (Vec<u32>, usize))| aerofed_nn::Job {
                start: job.start,
                order,
                batch_size: *batch_size,
                sgd: Sgd {
                    proximal: job.local.proximal as f32,
                    adversarial_epsilon: job.local.adversarial_epsilon as f32,
                    ..sgd(&self.training)
                },
            };
        jobs.iter().zip(drawn).map(work).collect()
    }

    fn train_some(&self, jobs: &[Job]) -> Result<Vec<LocalUpdate>, Error> {
        let drawn = self.draw(jobs);
        let trained = self.engine.train(&self.train, &self.work(jobs, &drawn))?;
        let wanting = jobs.iter().zip(&trained);
        let wanting = wanting.filter(|(job, _)| job.wants_outputs);
        let small: Vec<(&[f32], Cow<[u32]>)> = wanting
            .map(|(job, update)| (&update.weights[..], self.small_batch(job.device)))
            .collect();
        let asked: Vec<(&[f32], &[u32])> = small
            .iter()
            .map(|(model, own)| (*model, &own[..]))
            .collect();
        let outputs = self.engine.outputs(&self.train, &asked)?;
        let mut outputs = outputs.into_iter();
        let update = |(job, trained): (&Job, aerofed_nn::Update)| LocalUpdate {
            weights: trained.weights,
            mean_loss: trained.mean_loss,
            outputs: match job.wants_outputs {
                true => outputs.next().unwrap_or_default(),
                false => Vec::new(),
            },
        };
        Ok(jobs.iter().zip(trained).map(update).collect())
    }
}

impl Devices for LocalDevices {
    fn train(
        &mut self,
        jobs: &[Job],
        deliver: &mut dyn FnMut(usize, Result<LocalUpdate, UpdateLost>),
    ) -> Result<(), Error> {
        let at_once = self.engine.jobs_at_once();
        for (block, some) in jobs.chunks(at_once).enumerate() {
            for (place, update) in (block * at_once..).zip(self.train_some(some)?) {
                deliver(place, Ok(update));
            }
        }
        Ok(())
    }

    fn train_and_average(
        &mut self,
        jobs: &[Job],
        cells: &[Range<usize>],
        shares: &[f64],
    ) -> Result<Option<Averages>, Error> {
        let drawn = self.draw(jobs);
        let small = |job: &Job| match job.wants_outputs {
            true => self.small_batch(job.device),
            false => Cow::default(),
        };
        let small: Vec<Cow<[u32]>> = jobs.iter().map(small).collect();
        let asked: Vec<&[u32]> = small.iter().map(|own| &own[..]).collect();
        let work = self.work(jobs, &drawn);
        self.engine
            .train_and_average(&self.train, &work, &asked, cells, shares)
    }

    fn averages(&self) -> bool {
        self.engine.averages()
    }

    fn softmax_outputs(
        &mut self,
        asked: &[(&[f32], &[DeviceId])],
    ) -> Result<Vec<Vec<Vec<f32>>>, Error> {
        let blocks: Vec<(usize, &[DeviceId])> = asked
            .iter()
            .enumerate()
            .flat_map(|(model, (_, devices))| devices.chunks(BLOCK).map(move |part| (model, part)))
            .collect();
        // One after the other, with where each device's end.
        let samples: Vec<(Vec<u32>, Vec<usize>)> = blocks
            .iter()
            .map(|(_, part)| {
                let (mut samples, mut ends) = (Vec::new(), Vec::with_capacity(part.len()));
                for device in *part {
                    samples.extend_from_slice(&self.small_batch(*device));
                    ends.push(samples.len());
                }
                (samples, ends)
            })
            .collect();
        let models: Vec<(&[f32], &[u32])> = blocks
            .iter()
            .zip(&samples)
            .map(|((model, _), (samples, _))| (asked[*model].0, &samples[..]))
            .collect();
        let outputs = self.engine.outputs(&self.train, &models)?;
        let classes = self.engine.network().classes();
        let mut rows: Vec<Vec<Vec<f32>>> = vec![Vec::new(); asked.len()];
        for (((model, _), (_, ends)), outputs) in blocks.into_iter().zip(&samples).zip(&outputs) {
            let mut from = 0;
            for end in ends {
                rows[model].push(outputs[from * classes..end * classes].to_vec());
                from = *end;
            }
        }
        Ok(rows)
    }
}

/// The controller's looks and the UAVs' own models, on this machine.
pub(crate) struct LocalEvaluator {
    engine: Arc<dyn Engine>,
    train: Arc<Dataset>,
    test: Arc<Dataset>,
    /// Training samples of each UAV's own.
    personal: Vec<Vec<u32>>,
    /// Training samples that the controller may look at.
    probe: Vec<u32>,
    training: Training,
    seed: u64,
}

impl Evaluator for LocalEvaluator {
    fn first_model(&mut self) -> Result<Vec<f32>, Error> {
        let mut rng = stream(self.seed, Stream::ModelInit, 0, 0);
        Ok(self.engine.network().init(&mut rng))
    }

    fn test(&mut self, model: &[f32]) -> Result<Quality, Error> {
        Ok(self.engine.evaluate(&self.test, model, None)?.into())
    }

    fn probe(&mut self, model: &[f32]) -> Result<Quality, Error> {
        let probe = self
            .engine
            .evaluate(&self.train, model, Some(&self.probe))?;
        Ok(probe.into())
    }

    fn personal_models(
        &mut self,
        uavs: &[UavId],
        start: &[f32],
        epochs: usize,
        round: usize,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let size = self.training.batch_size;
        let own = |uav: &UavId| &self.personal[uav.index()];
        let draw = |uav: &UavId| {
            let steps = batches::steps(own(uav).len(), size, epochs);
            let mut rng = stream(self.seed, Stream::Personal, round as u64, u64::from(uav.0));
            batches::draw(own(uav), size, steps, &mut rng)
        };
        let orders: Vec<Vec<u32>> = uavs.iter().map(draw).collect();
        let jobs: Vec<aerofed_nn::Job> = uavs
            .iter()
            .zip(&orders)
            .map(|(uav, order)| aerofed_nn::Job {
                start,
                order,
                batch_size: size.min(own(uav).len()),
                sgd: sgd(&self.training),
            })
            .collect();
        let trained = self.engine.train(&self.train, &jobs)?;
        Ok(trained.into_iter().map(|update| update.weights).collect())
    }
}
