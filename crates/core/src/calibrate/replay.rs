//! What a run did, without what it cost: who trained under whom and for how long, and how good the model was after each round.

use aerofed_data::Partition;

use crate::learn::Data;
use crate::learn::aggregation::{Aggregation, FedAvg};
use crate::learn::surrogate::{LabelMixes, Rates, Scratch};
use crate::record::RoundRecord;
use crate::scenario::LawNumbers;
use crate::vocabulary::DeviceId;

/// A run to be gone over again with any law.
pub(super) struct Replay {
    classes: usize,
    mixes: LabelMixes,
    /// Of each device.
    samples: Vec<f64>,
    data_volume: usize,
    rounds: Vec<Round>,
}

struct Round {
    edge_rounds: usize,
    /// H and devices.
    cells: Vec<(usize, Vec<DeviceId>)>,
    /// On the test set.
    accuracy: f64,
    /// On the validation samples.
    loss: f64,
}

impl Replay {
    pub(super) fn new(
        data: &Data,
        parts: &Partition,
        data_volume: usize,
        records: &[RoundRecord],
    ) -> Self {
        let round = |record: &RoundRecord| {
            let training = record.uavs.iter().filter(|uav| !uav.devices.is_empty());
            Round {
                edge_rounds: record.edge_rounds,
                cells: training
                    .map(|uav| (uav.local_iterations, uav.devices.clone()))
                    .collect(),
                accuracy: record.test_accuracy,
                loss: record.validation_loss,
            }
        };
        Self {
            classes: data.train.classes(),
            mixes: LabelMixes::of(&data.train, &parts.devices),
            samples: parts.devices.iter().map(|own| own.len() as f64).collect(),
            data_volume,
            rounds: records.iter().map(round).collect(),
        }
    }

    /// H of every cell and round.
    pub(super) fn local_iterations(&self) -> impl Iterator<Item = usize> + Clone {
        let cells = self.rounds.iter().flat_map(|round| &round.cells);
        cells.map(|(steps, _)| *steps)
    }

    /// Accuracy and loss after each round, had a law been right.
    fn qualities(&self, law: &LawNumbers, relative_rate: f64) -> Vec<(f64, f64)> {
        let rates = Rates::new(law, relative_rate);
        let ceiling = law.ceiling_at(self.data_volume) as f32;
        let mut scratch = Scratch::new(self.classes, 1.0);
        let mut global = scratch.first_model();
        let mut after = Vec::with_capacity(self.rounds.len());
        for round in &self.rounds {
            let edge: Vec<(Vec<f32>, f64)> = round
                .cells
                .iter()
                .filter_map(|cell| {
                    self.edge_model(cell, round.edge_rounds, &global, &rates, &mut scratch)
                })
                .collect();
            let models: Vec<(&[f32], f64)> = edge.iter().map(|(m, w)| (&m[..], *w)).collect();
            global = FedAvg.merge(&models).unwrap_or(global);
            scratch.set_even_mix();
            after.push(scratch.quality(&global, law.sharpness as f32, ceiling));
        }
        after
    }

    /// What a cell makes of the global model, and what it weighs.
    fn edge_model(
        &self,
        (steps, devices): &(usize, Vec<DeviceId>),
        edge_rounds: usize,
        global: &[f32],
        rates: &Rates,
        scratch: &mut Scratch,
    ) -> Option<(Vec<f32>, f64)> {
        let weight = |device: &DeviceId| self.samples[device.index()];
        let whole: f64 = devices.iter().map(weight).sum();
        let mut model = global.to_vec();
        let mut local = model.clone();
        for _ in 0..edge_rounds {
            let mut fold = FedAvg.begin(model.len(), whole);
            for device in devices {
                local.copy_from_slice(&model);
                scratch.set_mix(self.mixes.shares(*device));
                scratch.train(&mut local, *steps, 0.0, &model, rates);
                fold.add(&local, weight(device));
            }
            model = fold.finish()?;
        }
        Some((model, whole))
    }

    /// How far a law is from the run: mean squares of log odds of accuracies, and of losses.
    pub(super) fn cost(&self, law: &LawNumbers, relative_rate: f64, loss_weight: f64) -> f64 {
        let odds = |share: f64| {
            let share = share.clamp(0.01, 0.99);
            libm::log(share / (1.0 - share))
        };
        let square = |(round, (accuracy, loss)): (&Round, (f64, f64))| {
            let missed = odds(accuracy) - odds(round.accuracy);
            let loss = loss - round.loss.min(10.0);
            missed * missed + loss_weight * loss * loss
        };
        let qualities = self.qualities(law, relative_rate);
        let squares = self.rounds.iter().zip(qualities).map(square);
        squares.sum::<f64>() / self.rounds.len().max(1) as f64
    }

    /// By how much a law misses the accuracy of each round.
    pub(super) fn errors(&self, law: &LawNumbers, relative_rate: f64) -> Vec<f64> {
        let qualities = self.qualities(law, relative_rate);
        let rounds = self.rounds.iter().zip(qualities);
        rounds
            .map(|(round, (accuracy, _))| accuracy - round.accuracy)
            .collect()
    }
}
