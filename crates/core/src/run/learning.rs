//! The learning part of a run: devices, models, and how edge rounds train and merge them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Error;
use crate::learn::aggregation::{Aggregation, Fold, distance};
use crate::learn::codec::{Air, Sender};
use crate::learn::{Devices, Evaluator, Job, LocalTraining, Task, UpdateLost, UpdateView};
use crate::scenario::ValidScenario;
use crate::vocabulary::{DeviceId, Quality, UavId};

use super::cells::CellWork;
use super::leaving::{Fate, HandedOver};
use super::scoring::Scoring;
use super::{cellwise, in_turn};

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

/// What the devices of a cell came to in an edge round.
pub(super) struct CellTrained {
    /// Updates that reached the cell's own UAV.
    pub(super) fold: Box<dyn Fold>,
    /// Of each device that trained, in their order; none where its update never came.
    pub(super) losses: Vec<Option<f32>>,
    /// Why, of the latter in their order.
    pub(super) lost: Vec<UpdateLost>,
    /// Softmax outputs of new local models, where wanted.
    pub(super) outputs: Vec<(DeviceId, Vec<f32>)>,
    /// Updates that go to other UAVs.
    pub(super) handed_over: Vec<(UavId, HandedOver)>,
}

impl CellTrained {
    pub(super) fn new(fold: Box<dyn Fold>, devices: usize) -> Self {
        Self {
            fold,
            losses: Vec::with_capacity(devices),
            lost: Vec::new(),
            outputs: Vec::new(),
            handed_over: Vec::new(),
        }
    }

    /// Merges an update that is there.
    pub(super) fn merge(
        &mut self,
        (from, device, fate): (UavId, DeviceId, Fate),
        update: &UpdateView,
        weight: f64,
        wants_outputs: bool,
    ) {
        if wants_outputs {
            self.outputs.push((device, update.outputs.to_vec()));
        }
        if let Fate::HandsOver { to, after, .. } = fate {
            let handed_over = HandedOver {
                device,
                from,
                model: update.weights.to_vec(),
                weight,
                after,
            };
            self.handed_over.push((to, handed_over));
        } else {
            self.fold.add(update.weights, weight);
        }
    }
}

impl Task {
    /// What a device's model weighs in a merge.
    pub(super) fn weight(&self, device: DeviceId) -> f64 {
        f64::from(self.device_samples[device.index()])
    }
}

impl EdgeTraining<'_> {
    /// A device's work in a cell.
    pub(super) fn job<'a>(
        &self,
        (uav, device): (UavId, DeviceId),
        start: &'a [f32],
        cell: &CellWork,
    ) -> Job<'a> {
        Job {
            device,
            uav,
            start,
            local_iterations: cell.plan.local_iterations,
            key: self.key,
            local: self.local,
            wants_outputs: self.wants_outputs,
        }
    }
}

impl Learning {
    /// Local SGD and edge FedAvg, Eqs. (1) and (2): all devices of the cells, in the order of cells and of devices in
    /// them. Updates are merged as they come.
    pub(super) fn train(
        &mut self,
        cells: &mut [(UavId, &mut CellWork)],
        training: &EdgeTraining,
    ) -> Result<Trained, Error> {
        let (stale, global) = (&self.stale_models, &self.global_model);
        // Each starts from its cell's model, or from what its UAV has of the global one.
        let cells_now = &*cells;
        let starts = cells_now.iter().map(|(uav, cell)| {
            let own = cell.model.as_ref().map(|(model, _)| model);
            let model = own.or_else(|| stale.get(uav)).unwrap_or(global);
            &model[..]
        });
        let starts: Vec<&[f32]> = starts.collect();
        let stateless = self.devices.stateless().filter(|_| !self.air.is_lossy());
        let came = match stateless {
            Some(devices) => cellwise::train(devices, cells_now, &starts, &self.task, training),
            None => {
                let (devices, air) = (&mut *self.devices, &mut self.air);
                in_turn::train(devices, air, cells_now, &starts, &self.task, training)?
            }
        };
        Ok(self.close_edge_round(cells, came, training))
    }

    /// Puts what came to where it belongs.
    fn close_edge_round(
        &mut self,
        cells: &mut [(UavId, &mut CellWork)],
        mut came: Vec<Option<CellTrained>>,
        training: &EdgeTraining,
    ) -> Trained {
        let mut trained = Trained::default();
        for own in came.iter_mut().flatten() {
            trained.computed += own.losses.len();
            trained.outputs.append(&mut own.outputs);
            for (to, update) in own.handed_over.drain(..) {
                if let Some((_, cell)) = cells.iter_mut().find(|(uav, _)| *uav == to) {
                    cell.handed_over.push(update);
                }
            }
        }
        for ((uav, cell), own) in cells.iter_mut().zip(came) {
            let Some(CellTrained {
                mut fold,
                losses,
                lost,
                ..
            }) = own
            else {
                continue;
            };
            let (mut lost, mut arrived) = (lost.into_iter(), 0);
            let mut device_loss = std::mem::take(&mut cell.device_loss);
            for ((place, device, fate), loss) in cell.training().zip(losses) {
                let Some(loss) = loss.map(f64::from) else {
                    trained
                        .lost
                        .extend(lost.next().map(|lost| (device, *uav, lost)));
                    continue;
                };
                trained.loss += loss;
                let (sum, count) = &mut device_loss[place];
                *sum += loss;
                *count += 1;
                match fate {
                    Fate::HandsOver { upload_j, .. } => trained.handover_j += upload_j,
                    _ => arrived += 1,
                }
            }
            cell.device_loss = device_loss;
            for update in cell.take_handed_over() {
                fold.add(&update.model, update.weight);
                arrived += 1;
                let HandedOver { device, from, .. } = update;
                trained.handed_over.push((device, from, *uav));
            }
            cell.updates += arrived;
            let samples = fold.weight();
            if !training.merges_at_uavs {
                cell.relayed = (samples > 0.0).then_some(fold);
            } else if let Some(mut model) = fold.finish() {
                // The UAV goes on from what its devices get.
                self.air.send_model(&mut model);
                cell.model = Some((model, samples));
            }
        }
        trained
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
