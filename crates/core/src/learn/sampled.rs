//! Devices of which a few train for all: large fleets learn for real, at a cost that does not grow with them.
//!
//! In every edge round a fixed number of the selected devices trains, drawn at random; all others pay as if they had. A device
//! that did not train sends what those of its cell who did came to on average, each weighing its samples: merged with the same
//! weights that is their average again, which is right on average over the draws. A cell in which nobody was drawn moves as the
//! drawn devices of all cells did on average.

use std::collections::BTreeMap;

use rand::RngExt;

use super::aggregation::{Aggregation, FedAvg};
use super::{Devices, Job, LocalUpdate, UpdateLost};
use crate::Error;
use crate::seed::{Stream, stream};
use crate::vocabulary::{DeviceId, UavId};

/// Devices of which at most so many train in an edge round.
pub(crate) struct SampledDevices<D> {
    /// Those who train.
    pub(crate) devices: D,
    /// How many do.
    pub(crate) most: usize,
    /// Of each device.
    pub(crate) samples: Vec<u32>,
    pub(crate) seed: u64,
}

/// What those of a cell came to who trained.
struct CellMean {
    /// What they began from.
    start: Vec<f32>,
    model: Vec<f32>,
    loss: f64,
    weight: f64,
}

impl<D: Devices> SampledDevices<D> {
    /// Places of the jobs that are done, in order. A device is drawn for all edge rounds of a global round, or of a pass.
    fn drawn(&self, jobs: &[Job]) -> Vec<usize> {
        let lot = |(place, job): (usize, &Job)| {
            let round = job.key >> 32;
            let mut rng = stream(self.seed, Stream::Sampled, round, u64::from(job.device.0));
            (rng.random::<u64>(), place)
        };
        let mut lots: Vec<(u64, usize)> = jobs.iter().enumerate().map(lot).collect();
        lots.select_nth_unstable(self.most);
        lots.truncate(self.most);
        let mut places: Vec<usize> = lots.into_iter().map(|(_, place)| place).collect();
        places.sort_unstable();
        places
    }

    fn weight(&self, device: DeviceId) -> f64 {
        f64::from(self.samples[device.index()])
    }

    /// The mean of updates, in their order; none of none.
    fn mean(&self, jobs: &[Job], updates: &[&(usize, LocalUpdate)]) -> Option<CellMean> {
        let weight = |(place, _): &(usize, LocalUpdate)| self.weight(jobs[*place].device);
        let whole: f64 = updates.iter().map(|update| weight(update)).sum();
        let models: Vec<(&[f32], f64)> = updates
            .iter()
            .map(|update| (&update.1.weights[..], weight(update)))
            .collect();
        let losses = updates.iter().map(|u| weight(u) * f64::from(u.1.mean_loss));
        Some(CellMean {
            start: jobs[updates.first()?.0].start.to_vec(),
            model: FedAvg.merge(&models)?,
            loss: losses.sum::<f64>() / whole,
            weight: whole,
        })
    }

    /// What devices make of their small batches with the model that stands for theirs, where that is wanted.
    fn outputs(
        &mut self,
        jobs: &[Job],
        means: &BTreeMap<UavId, CellMean>,
    ) -> Result<BTreeMap<DeviceId, Vec<f32>>, Error> {
        let mut devices: BTreeMap<UavId, Vec<DeviceId>> = BTreeMap::new();
        for job in jobs.iter().filter(|job| job.wants_outputs) {
            devices.entry(job.uav).or_default().push(job.device);
        }
        let asked: Vec<(&[f32], &[DeviceId])> = devices
            .iter()
            .map(|(cell, devices)| (&means[cell].model[..], &devices[..]))
            .collect();
        let rows = self.devices.softmax_outputs(&asked)?.into_iter().flatten();
        let devices = devices.into_values().flatten();
        Ok(devices.zip(rows).collect())
    }
}

/// How far cells moved on average, and their loss.
fn mean_move(jobs: &[Job], cells: &BTreeMap<UavId, CellMean>) -> (Vec<f64>, f64) {
    let values = jobs.first().map_or(0, |job| job.start.len());
    let whole: f64 = cells.values().map(|mean| mean.weight).sum();
    let (mut moved, mut loss) = (vec![0.0; values], 0.0);
    for mean in cells.values() {
        let share = mean.weight / whole;
        loss += share * mean.loss;
        for ((sum, now), then) in moved.iter_mut().zip(&mean.model).zip(&mean.start) {
            *sum += share * (f64::from(*now) - f64::from(*then));
        }
    }
    (moved, loss)
}

impl<D: Devices> Devices for SampledDevices<D> {
    fn train(
        &mut self,
        jobs: &[Job],
        deliver: &mut dyn FnMut(usize, Result<LocalUpdate, UpdateLost>),
    ) -> Result<(), Error> {
        if jobs.len() <= self.most {
            return self.devices.train(jobs, deliver);
        }
        let places = self.drawn(jobs);
        let work: Vec<Job> = places.iter().map(|&place| jobs[place]).collect();
        let mut trained: Vec<(usize, LocalUpdate)> = Vec::with_capacity(work.len());
        self.devices.train(&work, &mut |nth, result| {
            if let (Ok(update), Some(&place)) = (result, places.get(nth)) {
                trained.push((place, update));
            }
        })?;
        let mut of_cells: BTreeMap<UavId, Vec<&(usize, LocalUpdate)>> = BTreeMap::new();
        for update in &trained {
            let cell = jobs[update.0].uav;
            of_cells.entry(cell).or_default().push(update);
        }
        let means = of_cells.iter();
        let means = means.filter_map(|(cell, updates)| Some((*cell, self.mean(jobs, updates)?)));
        let mut means: BTreeMap<UavId, CellMean> = means.collect();
        if means.is_empty() {
            return Ok(());
        }
        let (moved, loss) = mean_move(jobs, &means);
        for job in jobs {
            let follow = |(then, moved): (&f32, &f64)| (f64::from(*then) + moved) as f32;
            means.entry(job.uav).or_insert_with(|| CellMean {
                start: Vec::new(),
                model: job.start.iter().zip(&moved).map(follow).collect(),
                loss,
                weight: 0.0,
            });
        }
        let mut outputs = self.outputs(jobs, &means)?;
        let mut trained = trained.iter().peekable();
        for (place, job) in jobs.iter().enumerate() {
            if let Some((_, own)) = trained.next_if(|(of, _)| *of == place) {
                deliver(place, Ok(own.clone()));
                continue;
            }
            let mean = &means[&job.uav];
            let update = LocalUpdate {
                weights: mean.model.clone(),
                mean_loss: mean.loss as f32,
                outputs: outputs.remove(&job.device).unwrap_or_default(),
            };
            deliver(place, Ok(update));
        }
        Ok(())
    }

    fn softmax_outputs(
        &mut self,
        asked: &[(&[f32], &[DeviceId])],
    ) -> Result<Vec<Vec<Vec<f32>>>, Error> {
        self.devices.softmax_outputs(asked)
    }
}
