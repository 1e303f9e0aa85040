//! Edge rounds of devices that are asked about all cells together, and answer in their order.

use std::collections::BTreeMap;

use crate::Error;
use crate::learn::codec::{Air, Sender};
use crate::learn::{Devices, Job, LocalUpdate, Task, UpdateLost};
use crate::vocabulary::UavId;

use super::cells::CellWork;
use super::learning::{CellTrained, EdgeTraining};

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
