//! The learning part of a run: devices, models, and how edge rounds train and merge them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Error;
use crate::learn::aggregation::{Aggregation, Fold};
use crate::learn::{Devices, Evaluator, Job, LocalTraining, LocalUpdate, Task, UpdateLost};
use crate::scenario::ValidScenario;
use crate::vocabulary::{DeviceId, Quality, UavId};

use super::cells::CellWork;
use super::scoring::Scoring;

/// Who trains, who evaluates, and the models that there are between rounds.
pub(crate) struct Learning {
    pub(super) scenario: Arc<ValidScenario>,
    pub(super) task: Task,
    pub(super) devices: Box<dyn Devices>,
    pub(super) evaluator: Box<dyn Evaluator>,
    pub(super) global_model: Vec<f32>,
    /// How the global model does on the probe samples.
    pub(super) quality: Quality,
    /// Older global models, of UAVs that the last broadcasts did not reach.
    pub(super) stale_models: BTreeMap<UavId, Vec<f32>>,
    /// Personal models and softmax outputs; empty until a method needs them.
    pub(super) scoring: Scoring,
}

/// How the cells of an edge round are trained and merged.
pub(super) struct EdgeTraining<'a> {
    /// Tells the random draws of this edge round from those of all others.
    pub(super) key: u64,
    pub(super) local: LocalTraining,
    pub(super) aggregation: &'a dyn Aggregation,
    pub(super) merges_at_uavs: bool,
    pub(super) wants_outputs: bool,
}

/// What an edge round came to, besides what the cells carry now.
#[derive(Default)]
pub(super) struct Trained {
    /// Updates that devices computed, those included that never came.
    pub(super) computed: usize,
    /// Losses of the updates that came, summed.
    pub(super) loss: f64,
    /// Softmax outputs of new local models, where wanted.
    pub(super) outputs: Vec<(DeviceId, Vec<f32>)>,
    pub(super) lost: Vec<(DeviceId, UavId, UpdateLost)>,
}

impl Trained {
    /// Updates that came.
    pub(super) fn received(&self) -> usize {
        self.computed - self.lost.len()
    }
}

impl Learning {
    /// Local SGD and edge FedAvg, Eqs. (1) and (2): all devices of the cells at once, in the order of cells and of devices in
    /// them. Updates are merged as they come.
    pub(super) fn train(
        &mut self,
        cells: &mut [(UavId, &mut CellWork)],
        training: &EdgeTraining,
    ) -> Result<Trained, Error> {
        let samples = &self.task.device_samples;
        let weight = |device: DeviceId| f64::from(samples[device.index()]);
        let (mut jobs, mut owners) = (Vec::new(), Vec::new());
        for (place, (uav, cell)) in cells.iter().enumerate() {
            if !cell.trains() {
                continue;
            }
            let own = cell.model.as_ref().map(|(model, _)| model);
            let start = own.or_else(|| self.stale_models.get(uav));
            let start = start.unwrap_or(&self.global_model);
            jobs.extend(cell.devices.iter().map(|&device| Job {
                device,
                start,
                local_iterations: cell.plan.local_iterations,
                key: training.key,
                local: training.local,
                wants_outputs: training.wants_outputs,
            }));
            owners.extend(cell.devices.iter().map(|_| place));
        }
        let sum = |cell: &CellWork| cell.devices.iter().map(|d| weight(*d)).sum::<f64>();
        let all: f64 = jobs.iter().map(|job| weight(job.device)).sum();
        let begin = |(_, cell): &(UavId, &mut CellWork)| {
            // Models that are only relayed meet those of other cells at the aggregator.
            let expected = match training.merges_at_uavs {
                true => sum(cell),
                false => all,
            };
            let aggregation = training.aggregation;
            cell.trains()
                .then(|| aggregation.begin(self.task.parameters, expected))
        };
        let mut folds: Vec<Option<Box<dyn Fold>>> = cells.iter().map(begin).collect();
        // By job: none until it is delivered, then its loss, or why there is none.
        let mut results: Vec<Option<Result<f64, UpdateLost>>> = vec![None; jobs.len()];
        let mut outputs = Vec::new();
        let parameters = self.task.parameters;
        let mut deliver = |place: usize, result: Result<LocalUpdate, UpdateLost>| {
            let Some(open) = results.get_mut(place).filter(|open| open.is_none()) else {
                return;
            };
            let device = jobs[place].device;
            *open = Some(result.and_then(|update| {
                if update.weights.len() != parameters {
                    let found = update.weights.len();
                    let reason = format!("a model of {found} parameters, {parameters} are due");
                    return Err(UpdateLost { reason });
                }
                if let Some(fold) = &mut folds[owners[place]] {
                    fold.add(&update.weights, weight(device));
                }
                if training.wants_outputs {
                    outputs.push((device, update.outputs));
                }
                Ok(f64::from(update.mean_loss))
            }));
        };
        self.devices.train(&jobs, &mut deliver)?;
        let mut trained = Trained {
            computed: jobs.len(),
            outputs,
            ..Trained::default()
        };
        let mut losses = Vec::with_capacity(jobs.len());
        for ((job, owner), result) in jobs.iter().zip(&owners).zip(results) {
            let result = result.unwrap_or_else(|| {
                let reason = "nothing was delivered".into();
                Err(UpdateLost { reason })
            });
            losses.push(result.as_ref().ok().copied());
            match result {
                Ok(loss) => trained.loss += loss,
                Err(lost) => trained.lost.push((job.device, cells[*owner].0, lost)),
            }
        }
        drop(jobs);
        let mut losses = losses.into_iter();
        for ((_, cell), fold) in cells.iter_mut().zip(folds) {
            let Some(fold) = fold else {
                continue;
            };
            for ((sum, count), loss) in cell.device_loss.iter_mut().zip(&mut losses) {
                if let Some(loss) = loss {
                    *sum += loss;
                    *count += 1;
                    cell.updates += 1;
                }
            }
            let behind = fold.weight();
            if !training.merges_at_uavs {
                cell.relayed = (behind > 0.0).then_some(fold);
            } else if let Some(model) = fold.finish() {
                cell.model = Some((model, behind));
            }
        }
        Ok(trained)
    }

    /// Global FedAvg, Eq. (3), over what the UAVs carry; none when nobody has anything.
    pub(super) fn merge(cells: &mut [CellWork], aggregation: &dyn Aggregation) -> Option<Vec<f32>> {
        let relayed: Vec<Box<dyn Fold>> = cells
            .iter_mut()
            .filter_map(|cell| cell.relayed.take())
            .collect();
        if !relayed.is_empty() {
            return aggregation.join(relayed);
        }
        let edge = cells.iter().filter_map(|cell| cell.model.as_ref());
        let models: Vec<(&[f32], f64)> = edge
            .map(|(model, samples)| (&model[..], *samples))
            .collect();
        aggregation.merge(&models)
    }
}
