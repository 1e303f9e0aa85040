//! Edge rounds of devices that any thread may ask: cells are trained side by side, and no update is kept.

use rayon::prelude::*;

use crate::learn::{Job, StatelessDevices, Task, UpdateLost, UpdateView};
use crate::vocabulary::{DeviceId, UavId};

use super::cells::CellWork;
use super::learning::{CellTrained, EdgeTraining};
use super::leaving::Fate;

/// Trains all cells, each from its model in `starts`. What they come to is in their order; none for those that do not train.
pub(super) fn train(
    devices: &dyn StatelessDevices,
    cells: &[(UavId, &mut CellWork)],
    starts: &[&[f32]],
    task: &Task,
    training: &EdgeTraining,
) -> Vec<Option<CellTrained>> {
    let weight = |cell: &CellWork| cell.training().map(|(_, d, _)| task.weight(d)).sum::<f64>();
    let trains = |cell: &CellWork| if cell.trains() { weight(cell) } else { 0.0 };
    let weights: Vec<f64> = cells.par_iter().map(|(_, cell)| trains(cell)).collect();
    let all: f64 = weights.iter().sum();
    let work = cells.par_iter().zip(starts).zip(&weights);
    work.map(|(((uav, cell), start), own)| {
        let expected = if training.merges_at_uavs { *own } else { all };
        cell.trains()
            .then(|| train_cell(devices, *uav, cell, start, task, training, expected))
    })
    .collect()
}

fn train_cell(
    devices: &dyn StatelessDevices,
    uav: UavId,
    cell: &CellWork,
    start: &[f32],
    task: &Task,
    training: &EdgeTraining,
    expected: f64,
) -> CellTrained {
    let job = |(_, device, _): (usize, DeviceId, Fate)| training.job((uav, device), start, cell);
    let jobs: Vec<Job> = cell.training().map(job).collect();
    let fold = training.aggregation.begin(task.model_values, expected);
    let mut trained = CellTrained::new(fold, jobs.len());
    let mut due = cell.training();
    devices.train_cell(&jobs, &mut |_, update: UpdateView| {
        let Some((place, device, fate)) = due.next() else {
            return;
        };
        let failure = cell.failure(place).map(String::from);
        if let Some(reason) = failure.or_else(|| fate.failure(uav)) {
            trained.losses.push(None);
            trained.lost.push(UpdateLost { reason });
            return;
        }
        trained.losses.push(Some(update.mean_loss));
        let weight = task.weight(device);
        trained.merge((uav, device, fate), &update, weight, training.wants_outputs);
    });
    trained
}
