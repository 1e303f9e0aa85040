//! Edge rounds of devices that are asked about all cells together, and answer in their order.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::Error;
use crate::learn::aggregation::Aggregation;
use crate::learn::codec::{Air, Sender};
use crate::learn::{Averages, Devices, Job, LocalUpdate, Task, UpdateLost};
use crate::vocabulary::UavId;

use super::cells::CellWork;
use super::learning::{CellTrained, EdgeTraining};
use super::leaving::Fate;

/// What has come of a job.
#[derive(Clone, Copy)]
enum Delivery {
    Open,
    Came(f32),
    Lost,
}

/// Updates on their way into the models of their cells.
struct Merging<'a, 'b> {
    cells: &'a [(UavId, &'b mut CellWork)],
    jobs: &'a [Job<'a>],
    /// Cell and place in it of each job.
    places: Vec<(u32, u32)>,
    /// By job.
    deliveries: Vec<Delivery>,
    /// Why updates were lost, by job.
    lost: BTreeMap<usize, UpdateLost>,
    /// Per cell; none for those that do not train.
    trained: Vec<Option<CellTrained>>,
    task: &'a Task,
    air: &'a mut Air,
}

/// Trains all cells, each from its model in `starts`. What they come to is in their order; none for those that do not train.
pub(super) fn train(
    devices: &mut dyn Devices,
    air: &mut Air,
    cells: &[(UavId, &mut CellWork)],
    starts: &[&[f32]],
    task: &Task,
    training: &EdgeTraining,
) -> Result<Vec<Option<CellTrained>>, Error> {
    let (mut jobs, mut places) = (Vec::new(), Vec::new());
    for (index, ((uav, cell), start)) in cells.iter().zip(starts).enumerate() {
        if cell.trains() {
            for (place, device, _) in cell.training() {
                jobs.push(training.job((*uav, device), start, cell));
                places.push((index as u32, place as u32));
            }
        }
    }
    let mut merging = Merging {
        cells,
        jobs: &jobs,
        places,
        deliveries: vec![Delivery::Open; jobs.len()],
        lost: BTreeMap::new(),
        trained: begin(cells, task, training),
        task,
        air,
    };
    if devices.averages() && merging.is_plain(training.aggregation) {
        let (cells, shares) = merging.shares();
        if let Some(averages) = devices.train_and_average(&jobs, &cells, &shares)? {
            return merging.finish_averaged(&cells, averages);
        }
    }
    devices.train(&jobs, &mut |place, result| merging.take(place, result))?;
    Ok(merging.finish())
}

/// A merge for each cell that trains. Models that are only relayed meet those of other cells at the aggregator.
fn begin(
    cells: &[(UavId, &mut CellWork)],
    task: &Task,
    training: &EdgeTraining,
) -> Vec<Option<CellTrained>> {
    let weight = |cell: &CellWork| cell.training().map(|(_, d, _)| task.weight(d)).sum::<f64>();
    let training_cells = cells.iter().filter(|(_, cell)| cell.trains());
    let all: f64 = training_cells.map(|(_, cell)| weight(cell)).sum();
    let begin = |(_, cell): &(UavId, &mut CellWork)| {
        let expected = match training.merges_at_uavs {
            true => weight(cell),
            false => all,
        };
        cell.trains().then(|| {
            let fold = training.aggregation.begin(task.model_values, expected);
            CellTrained::new(fold, cell.devices.len())
        })
    };
    cells.iter().map(begin).collect()
}

impl Merging<'_, '_> {
    /// Whether all updates arrive as they are, at the UAV of their cell, and nothing but their weighted mean counts.
    fn is_plain(&self, aggregation: &dyn Aggregation) -> bool {
        let arrives = |(cell, nth): &(u32, u32)| {
            let (_, work) = &self.cells[*cell as usize];
            work.failure(*nth as usize).is_none() && matches!(work.fate(*nth as usize), Fate::Stays)
        };
        aggregation.is_weighted_mean() && !self.air.is_lossy() && self.places.iter().all(arrives)
    }

    /// Which jobs are those of each cell that trains, and what each weighs in it.
    fn shares(&self) -> (Vec<Range<usize>>, Vec<f64>) {
        let weight = |job: &Job| self.task.weight(job.device);
        let (mut cells, mut shares) = (Vec::new(), Vec::with_capacity(self.jobs.len()));
        for cell in self.places.chunk_by(|a, b| a.0 == b.0) {
            let jobs = shares.len()..shares.len() + cell.len();
            let own = &self.jobs[jobs.clone()];
            let all: f64 = own.iter().map(weight).sum();
            shares.extend(own.iter().map(|job| weight(job) / all));
            cells.push(jobs);
        }
        (cells, shares)
    }

    /// Merges models that were averaged where they were trained.
    fn finish_averaged(
        mut self,
        cells: &[Range<usize>],
        averages: Averages,
    ) -> Result<Vec<Option<CellTrained>>, Error> {
        let (jobs, due) = (self.jobs, self.task.model_values);
        let fits = averages.models.len() == cells.len()
            && averages.models.iter().all(|model| model.len() == due)
            && averages.losses.len() == jobs.len()
            && averages.outputs.len() == jobs.len();
        if !fits {
            let reason = "averages of other cells than those that train".into();
            return Err(Error::Learner { reason });
        }
        let mut outputs = averages.outputs.into_iter();
        for (own, model) in cells.iter().zip(&averages.models) {
            let (cell, _) = self.places[own.start];
            let Some(trained) = &mut self.trained[cell as usize] else {
                continue;
            };
            let weights = jobs[own.clone()]
                .iter()
                .map(|job| self.task.weight(job.device));
            trained.fold.add(model, weights.sum());
            trained
                .losses
                .extend(averages.losses[own.clone()].iter().copied().map(Some));
            for (job, outputs) in jobs[own.clone()].iter().zip(outputs.by_ref()) {
                if job.wants_outputs {
                    trained.outputs.push((job.device, outputs));
                }
            }
        }
        Ok(self.trained)
    }

    /// The result of a job is there. What was not asked for, or comes a second time, is passed over.
    fn take(&mut self, place: usize, result: Result<LocalUpdate, UpdateLost>) {
        let Some(Delivery::Open) = self.deliveries.get(place) else {
            return;
        };
        self.deliveries[place] = match self.merge(place, result) {
            Ok(loss) => Delivery::Came(loss),
            Err(reason) => {
                self.lost.insert(place, UpdateLost { reason });
                Delivery::Lost
            }
        };
    }

    /// Merges the result of a job into its cell's, unless it cannot arrive. Returns its loss, or why.
    fn merge(
        &mut self,
        place: usize,
        result: Result<LocalUpdate, UpdateLost>,
    ) -> Result<f32, String> {
        let (job, (cell, nth)) = (&self.jobs[place], self.places[place]);
        let (uav, work) = &self.cells[cell as usize];
        if let Some(reason) = work.failure(nth as usize) {
            return Err(reason.into());
        }
        let mut update = result.map_err(|lost| lost.reason)?;
        let (found, due) = (update.weights.len(), self.task.model_values);
        if found != due {
            return Err(format!("a model of {found} parameters, {due} are due"));
        }
        let fate = work.fate(nth as usize);
        if let Some(reason) = fate.failure(*uav) {
            return Err(reason);
        }
        let sender = Sender::Device(job.device);
        self.air.send(sender, job.start, &mut update.weights);
        if let Some(trained) = &mut self.trained[cell as usize] {
            let weight = self.task.weight(job.device);
            let from = (*uav, job.device, fate);
            trained.merge(from, &update.view(), weight, job.wants_outputs);
        }
        Ok(update.mean_loss)
    }

    /// Everybody has answered who will.
    fn finish(mut self) -> Vec<Option<CellTrained>> {
        for (place, delivery) in self.deliveries.iter().enumerate() {
            let Some(trained) = &mut self.trained[self.places[place].0 as usize] else {
                continue;
            };
            let nothing = || UpdateLost {
                reason: "nothing was delivered".into(),
            };
            trained.losses.push(match delivery {
                Delivery::Came(loss) => Some(*loss),
                Delivery::Open | Delivery::Lost => {
                    let lost = self.lost.remove(&place);
                    trained.lost.push(lost.unwrap_or_else(nothing));
                    None
                }
            });
        }
        self.trained
    }
}
