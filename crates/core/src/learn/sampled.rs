//! Devices of which a few train for all: large fleets learn for real, at a cost that does not grow with them.
//!
//! In every edge round a fixed number of the selected devices trains, drawn at random in every cell; all others pay as if they had. A device
//! that did not train sends what those of its cell who did came to on average, each weighing its samples: merged with the same
//! weights that is their average again, which is right on average over the draws. Where there are more cells than devices that train, a cell
//! in which nobody was drawn moves as the others did on average.

use std::cmp::Ordering;
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
    /// Of all devices of the cell; 0 where nobody was drawn.
    weight: f64,
}

impl<D: Devices> SampledDevices<D> {
    /// Places of the jobs that are done, in order: one of every cell as long as there are enough, then more of each in proportion
    /// to its devices. A device is drawn for all edge rounds of a global round, or of a pass.
    fn drawn(&self, jobs: &[Job]) -> Vec<usize> {
        let lot = |job: &Job, id: u64| {
            let mut rng = stream(self.seed, Stream::Sampled, job.key >> 32, id);
            rng.random::<f64>()
        };
        let mut cells: BTreeMap<UavId, Vec<(f64, usize)>> = BTreeMap::new();
        for (place, job) in jobs.iter().enumerate() {
            let own = lot(job, u64::from(job.device.0));
            cells.entry(job.uav).or_default().push((own, place));
        }
        let mut turns: Vec<(f64, usize)> = Vec::with_capacity(jobs.len());
        for (uav, mut lots) in cells {
            lots.sort_unstable_by(order);
            // Beyond the numbers of devices.
            let shift = lot(&jobs[lots[0].1], 1 << 32 | u64::from(uav.0));
            let devices = lots.len() as f64;
            let turn = |(nth, (_, place)): (usize, (f64, usize))| match nth {
                0 => (shift - 1.0, place),
                nth => ((nth as f64 + shift) / devices, place),
            };
            turns.extend(lots.into_iter().enumerate().map(turn));
        }
        turns.select_nth_unstable_by(self.most, order);
        turns.truncate(self.most);
        let mut places: Vec<usize> = turns.into_iter().map(|(_, place)| place).collect();
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
            weight: 0.0,
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

/// The lower lot first, and the earlier job of equal ones.
fn order(a: &(f64, usize), b: &(f64, usize)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
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
        for job in jobs {
            if let Some(mean) = means.get_mut(&job.uav) {
                mean.weight += self.weight(job.device);
            }
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

    fn save(&self) -> Vec<u8> {
        self.devices.save()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        self.devices.restore(saved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::LocalTraining;

    /// Every device adds its number to the model.
    struct Numbered;

    impl Devices for Numbered {
        fn train(
            &mut self,
            jobs: &[Job],
            deliver: &mut dyn FnMut(usize, Result<LocalUpdate, UpdateLost>),
        ) -> Result<(), Error> {
            for (place, job) in jobs.iter().enumerate() {
                let number = job.device.0 as f32;
                let update = LocalUpdate {
                    weights: vec![job.start[0] + number],
                    mean_loss: number,
                    outputs: Vec::new(),
                };
                deliver(place, Ok(update));
            }
            Ok(())
        }

        fn softmax_outputs(
            &mut self,
            asked: &[(&[f32], &[DeviceId])],
        ) -> Result<Vec<Vec<Vec<f32>>>, Error> {
            Ok(asked
                .iter()
                .map(|(_, devices)| vec![Vec::new(); devices.len()])
                .collect())
        }
    }

    /// Three cells of unequal sizes that begin from different models.
    const STARTS: [[f32; 1]; 3] = [[0.0], [100.0], [200.0]];

    fn jobs(round: u64) -> Vec<Job<'static>> {
        let cell = |device: u32| match device {
            0..20 => 0,
            20..32 => 1,
            _ => 2,
        };
        let job = |device: u32| Job {
            device: DeviceId(device),
            uav: UavId(cell(device)),
            start: &STARTS[cell(device) as usize],
            local_iterations: 1,
            key: round << 32 | 1,
            local: LocalTraining::default(),
            wants_outputs: false,
        };
        (0..36).map(job).collect()
    }

    fn sampled(most: usize) -> SampledDevices<Numbered> {
        SampledDevices {
            devices: Numbered,
            most,
            samples: (0..36).map(|device| 1 + device % 5).collect(),
            seed: 7,
        }
    }

    /// The merged models of the cells.
    fn edge_models(devices: &mut SampledDevices<Numbered>, round: u64) -> [f64; 3] {
        let (jobs, samples) = (jobs(round), devices.samples.clone());
        let (mut sums, mut next) = ([(0.0, 0.0); 3], 0);
        let mut deliver = |place: usize, result: Result<LocalUpdate, UpdateLost>| {
            assert_eq!(place, next, "in the order of the jobs");
            next += 1;
            let (sum, weight) = &mut sums[jobs[place].uav.index()];
            let own = f64::from(samples[jobs[place].device.index()]);
            *sum += own * f64::from(result.unwrap().weights[0]);
            *weight += own;
        };
        devices.train(&jobs, &mut deliver).unwrap();
        assert_eq!(next, jobs.len(), "everybody delivers");
        sums.map(|(sum, weight)| sum / weight)
    }

    /// What all cells come to together is right on average: within four standard errors over many rounds.
    #[test]
    fn what_is_merged_is_right_on_average() {
        let whole = |cells: [f64; 3]| {
            let weights: [f64; 3] = [60.0, 33.0, 13.0];
            let sum: f64 = cells.iter().zip(weights).map(|(c, w)| c * w).sum();
            sum / weights.iter().sum::<f64>()
        };
        let exact = whole(edge_models(&mut sampled(36), 1));
        let rounds = 3000;
        let draws: Vec<f64> = (0..rounds)
            .map(|round| whole(edge_models(&mut sampled(12), round)) - exact)
            .collect();
        let mean = draws.iter().sum::<f64>() / rounds as f64;
        let variance = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / rounds as f64;
        let error = (variance / rounds as f64).sqrt();
        assert!(variance > 0.1, "{variance}");
        // A mean of ratios is a little off: by less than a tenth of what a single draw is off by.
        assert!(
            mean.abs() < 4.0 * error + 0.1 * variance.sqrt(),
            "{mean} {error}"
        );
    }

    /// A cell in which nobody was drawn moves as the others do, from where it was.
    #[test]
    fn cells_without_a_drawn_device_follow_the_others() {
        for round in 0..50 {
            let cells = edge_models(&mut sampled(1), round);
            let moved: Vec<f64> = cells
                .iter()
                .zip(STARTS)
                .map(|(c, s)| c - f64::from(s[0]))
                .collect();
            assert!(
                moved.iter().all(|m| (m - moved[0]).abs() < 1e-9),
                "{moved:?}"
            );
        }
    }

    #[test]
    fn the_same_devices_train_in_all_edge_rounds_of_a_round() {
        let devices = sampled(5);
        let of = |round: u64, edge_round: u64| {
            let mut jobs = jobs(round);
            jobs.iter_mut()
                .for_each(|job| job.key = round << 32 | edge_round);
            devices.drawn(&jobs)
        };
        assert_eq!(of(3, 1), of(3, 2));
        assert_eq!(of(3, 1).len(), 5);
        assert_ne!(of(3, 1), of(4, 1));
    }
}
