//! The learning part of a run: devices, models, and how edge rounds train and merge them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Error;
use crate::learn::aggregation::{Aggregation, Fold, distance};
use crate::learn::codec::{Air, Sender};
use crate::learn::{Devices, Evaluator, Job, LocalTraining, LocalUpdate, Task, UpdateLost};
use crate::scenario::ValidScenario;
use crate::vocabulary::{DeviceId, Quality, UavId};

use super::cells::CellWork;
use super::leaving::{Fate, HandedOver};
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
    /// What becomes of models and updates on their way.
    pub(super) air: Air,
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
    /// Updates that another UAV merged than the one that their device trained with: device, trained with, merged by.
    pub(super) handed_over: Vec<(DeviceId, UavId, UavId)>,
    /// What sending updates to others took, J.
    pub(super) handover_j: f64,
}

impl Trained {
    /// Updates that came.
    pub(super) fn received(&self) -> usize {
        self.computed - self.lost.len()
    }
}

/// Jobs of an edge round, each with the place of its cell, and what becomes of its update.
struct Jobs<'a> {
    jobs: Vec<Job<'a>>,
    cells: Vec<(usize, Fate)>,
    /// Why the result cannot arrive; none: it can.
    failures: Vec<Option<&'static str>>,
}

/// Updates on their way into the models of their cells.
struct Merging<'a> {
    /// Per cell; none for those that do not train.
    folds: Vec<Option<Box<dyn Fold>>>,
    /// By job: none until it is delivered, then its loss, or why there is none.
    results: Vec<Option<Result<f64, UpdateLost>>>,
    outputs: Vec<(DeviceId, Vec<f32>)>,
    /// By the UAV that gets them.
    handed_over: Vec<(UavId, HandedOver)>,
    task: &'a Task,
    air: &'a mut Air,
}

impl Task {
    /// What a device's model weighs in a merge.
    fn weight(&self, device: DeviceId) -> f64 {
        f64::from(self.device_samples[device.index()])
    }
}

impl Merging<'_> {
    /// The result of a job is there. What was not asked for, or comes a second time, is passed over.
    fn take(
        &mut self,
        uavs: &[UavId],
        jobs: &Jobs,
        place: usize,
        result: Result<LocalUpdate, UpdateLost>,
    ) {
        let Some(open) = self.results.get_mut(place).filter(|open| open.is_none()) else {
            return;
        };
        let (job, due) = (&jobs.jobs[place], self.task.model_values);
        let result = match jobs.failures[place] {
            Some(reason) => Err(UpdateLost {
                reason: reason.into(),
            }),
            None => result,
        };
        let mut update = match result {
            Ok(update) if update.weights.len() == due => update,
            Ok(update) => {
                let found = update.weights.len();
                let reason = format!("a model of {found} parameters, {due} are due");
                *open = Some(Err(UpdateLost { reason }));
                return;
            }
            Err(lost) => {
                *open = Some(Err(lost));
                return;
            }
        };
        let (cell, fate) = jobs.cells[place];
        if fate == Fate::Leaves {
            let UavId(uav) = uavs[cell];
            let reason = format!("left the coverage of UAV {uav} before its upload ended");
            *open = Some(Err(UpdateLost { reason }));
            return;
        }
        *open = Some(Ok(f64::from(update.mean_loss)));
        if job.wants_outputs {
            self.outputs.push((job.device, update.outputs));
        }
        let sender = Sender::Device(job.device);
        self.air.send(sender, job.start, &mut update.weights);
        let weight = self.task.weight(job.device);
        if let Fate::HandsOver { to, after, .. } = fate {
            let update = HandedOver {
                device: job.device,
                from: uavs[cell],
                model: update.weights,
                weight,
                after,
            };
            self.handed_over.push((to, update));
        } else if let Some(fold) = &mut self.folds[cell] {
            fold.add(&update.weights, weight);
        }
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
        let jobs = jobs(&self.stale_models, &self.global_model, cells, training);
        let mut merging = Merging {
            folds: folds(&self.task, cells, training),
            results: vec![None; jobs.jobs.len()],
            outputs: Vec::new(),
            handed_over: Vec::new(),
            task: &self.task,
            air: &mut self.air,
        };
        let uavs: Vec<UavId> = cells.iter().map(|(uav, _)| *uav).collect();
        let mut deliver = |place, result| merging.take(&uavs, &jobs, place, result);
        self.devices.train(&jobs.jobs, &mut deliver)?;
        let mut trained = Trained {
            computed: jobs.jobs.len(),
            outputs: merging.outputs,
            ..Trained::default()
        };
        let nothing = || UpdateLost {
            reason: "nothing was delivered".into(),
        };
        let results = merging.results.into_iter();
        let mut results = results.map(|result| result.unwrap_or_else(|| Err(nothing())));
        for (to, update) in merging.handed_over {
            if let Some((_, cell)) = cells.iter_mut().find(|(uav, _)| *uav == to) {
                cell.handed_over.push(update);
            }
        }
        for ((uav, cell), fold) in cells.iter_mut().zip(merging.folds) {
            let Some(mut fold) = fold else {
                continue;
            };
            let (mut losses, mut came) = (Vec::with_capacity(cell.devices.len()), 0);
            for ((place, device, fate), result) in cell.training().zip(&mut results) {
                let loss = match result {
                    Ok(loss) => loss,
                    Err(lost) => {
                        trained.lost.push((device, *uav, lost));
                        continue;
                    }
                };
                losses.push((place, loss));
                trained.loss += loss;
                match fate {
                    Fate::HandsOver { upload_j, .. } => trained.handover_j += upload_j,
                    _ => came += 1,
                }
            }
            for (place, loss) in losses {
                let (sum, count) = &mut cell.device_loss[place];
                *sum += loss;
                *count += 1;
            }
            for update in cell.take_handed_over() {
                fold.add(&update.model, update.weight);
                came += 1;
                let HandedOver { device, from, .. } = update;
                trained.handed_over.push((device, from, *uav));
            }
            cell.updates += came;
            let samples = fold.weight();
            if !training.merges_at_uavs {
                cell.relayed = (samples > 0.0).then_some(fold);
            } else if let Some(mut model) = fold.finish() {
                // The UAV goes on from what its devices get.
                self.air.send_model(&mut model);
                cell.model = Some((model, samples));
            }
        }
        Ok(trained)
    }

    /// Global FedAvg, Eq. (3), over what arrives of what the UAVs carry; none when nobody has anything.
    pub(super) fn merge(
        &mut self,
        cells: &mut [CellWork],
        aggregator: UavId,
        aggregation: &dyn Aggregation,
    ) -> Option<Vec<f32>> {
        let relayed: Vec<Box<dyn Fold>> = cells
            .iter_mut()
            .filter_map(|cell| cell.relayed.take())
            .collect();
        if !relayed.is_empty() {
            return aggregation.join(relayed);
        }
        for (uav, cell) in (0..).map(UavId).zip(cells.iter_mut()) {
            let Some((model, _)) = cell.model.as_mut().filter(|_| uav != aggregator) else {
                continue;
            };
            let start = self.stale_models.get(&uav).unwrap_or(&self.global_model);
            self.air.send(Sender::Uav(uav), start, model);
        }
        let edge = cells.iter().filter_map(|cell| cell.model.as_ref());
        let models: Vec<(&[f32], f64)> = edge
            .map(|(model, samples)| (&model[..], *samples))
            .collect();
        aggregation.merge(&models)
    }

    /// A new global model, if there is one. UAVs that it did not reach go on from the one they have. Returns how far it moved.
    pub(super) fn replace_global_model(
        &mut self,
        new: Option<Vec<f32>>,
        missed: Vec<UavId>,
        reached: &[UavId],
    ) -> f64 {
        let Some(mut new) = new else {
            return 0.0;
        };
        // Whoever merged it goes on from what the others get.
        self.air.send_model(&mut new);
        for uav in missed {
            let old = || self.global_model.clone();
            self.stale_models.entry(uav).or_insert_with(old);
        }
        for uav in reached {
            self.stale_models.remove(uav);
        }
        let moved = distance(&new, &self.global_model);
        self.global_model = new;
        moved
    }
}

/// The jobs of all cells that train. Each starts from its cell's model, or from what its UAV has of the global one.
fn jobs<'a>(
    stale_models: &'a BTreeMap<UavId, Vec<f32>>,
    global_model: &'a [f32],
    cells: &'a [(UavId, &mut CellWork)],
    training: &EdgeTraining,
) -> Jobs<'a> {
    let mut all = Jobs {
        jobs: Vec::new(),
        cells: Vec::new(),
        failures: Vec::new(),
    };
    for (place, (uav, cell)) in cells.iter().enumerate() {
        if !cell.trains() {
            continue;
        }
        let own = cell.model.as_ref().map(|(model, _)| model);
        let start = own.or_else(|| stale_models.get(uav));
        let start = start.map_or(global_model, |model| model);
        for (nth, device, fate) in cell.training() {
            all.jobs.push(Job {
                device,
                uav: *uav,
                start,
                local_iterations: cell.plan.local_iterations,
                key: training.key,
                local: training.local,
                wants_outputs: training.wants_outputs,
            });
            all.cells.push((place, fate));
            let transfers = cell.transfers.get(nth);
            all.failures.push(transfers.and_then(|both| both.failure()));
        }
    }
    all
}

/// A merge for each cell that trains. Models that are only relayed meet those of other cells at the aggregator.
fn folds(
    task: &Task,
    cells: &[(UavId, &mut CellWork)],
    training: &EdgeTraining,
) -> Vec<Option<Box<dyn Fold>>> {
    let weight = |cell: &CellWork| cell.training().map(|(_, d, _)| task.weight(d)).sum::<f64>();
    let training_cells = cells.iter().filter(|(_, cell)| cell.trains());
    let all: f64 = training_cells.map(|(_, cell)| weight(cell)).sum();
    let begin = |(_, cell): &(UavId, &mut CellWork)| {
        let expected = match training.merges_at_uavs {
            true => weight(cell),
            false => all,
        };
        let aggregation = training.aggregation;
        cell.trains()
            .then(|| aggregation.begin(task.model_values, expected))
    };
    cells.iter().map(begin).collect()
}
