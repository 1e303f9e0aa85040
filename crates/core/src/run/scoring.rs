//! What UAVs find out about devices before they choose: personal models, and how far each device's
//! last local model is from them.

use aerofed_nn::Sgd;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::decide::fitness::{Answer, divergence};
use crate::learn::batches;
use crate::learn::trainer::{Job, Update};
use crate::nature::channel::{self, Link};
use crate::nature::compute;
use crate::record::{EnergyItem, EventKind, TimeItem};
use crate::seed::{Stream, stream};
use crate::world::{Coverage, DeviceId, Uav, UavId};

use super::Simulation;
use super::books::Books;

/// A forward pass is a third of a training step: going back takes twice the multiplications.
const FORWARD_SHARE: f64 = 1.0 / 3.0;
/// Devices whose small batches are looked at in one go.
const BLOCK: usize = 32;

/// What models said about small batches. Devices keep their outputs, not their weights.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Opinions {
    /// Each UAV's personal model.
    pub(super) personal: Vec<Vec<f32>>,
    /// Class probabilities of each device's last local model on its small batch; empty before it trained.
    pub(super) said: Vec<Vec<f32>>,
    /// The global model of the first round, which devices have until they train.
    pub(super) first_model: Vec<f32>,
    /// The last round in which each device trained; 0 before it did.
    pub(super) trained_in: Vec<usize>,
}

impl Simulation {
    /// Trains the personal models before the first round. False when a UAV's battery did not bear it.
    pub(super) fn prepare_personal_models(&mut self, books: &mut Books) -> Result<bool, Error> {
        if !self.opinions.personal.is_empty() {
            return Ok(true);
        }
        let epochs = self.scenario.fitness.personal_epochs;
        self.train_personal_models(epochs)?;
        let opinions = &mut self.opinions;
        opinions.first_model.clone_from(&self.global_model);
        opinions.said = vec![Vec::new(); self.held.len()];
        opinions.trained_in = vec![0; self.held.len()];
        Ok(self.pay_for_training(epochs, 0.0, &[], books))
    }

    /// Trains the personal models for the next round, from the global model of this one.
    ///
    /// Departs from the paper, whose personal models are trained once: then the same devices differ most in every
    /// round, and the others never train. Anew from the global model, a device that has not trained for long differs
    /// most, because its last local model is old.
    pub(super) fn refresh_personal_models(&mut self) -> Result<(), Error> {
        match self.scenario.fitness.refresh_epochs {
            0 => Ok(()),
            epochs => self.train_personal_models(epochs),
        }
    }

    /// Each UAV trains on its own samples from the global model; without any that is its model.
    fn train_personal_models(&mut self, epochs: usize) -> Result<(), Error> {
        let training = &self.scenario.training;
        if self.scenario.data.personal_samples == 0 {
            self.opinions.personal = vec![self.global_model.clone(); self.world.uavs.len()];
            return Ok(());
        }
        let jobs: Vec<Job> = self
            .personal_samples
            .iter()
            .enumerate()
            .map(|(uav, own)| {
                let mut rng = stream(
                    self.scenario.seed,
                    Stream::Personal,
                    self.round as u64,
                    uav as u64,
                );
                let batch_size = training.batch_size.min(own.len());
                let order = batches::draw(
                    own,
                    batch_size,
                    self.personal_steps(own.len(), epochs),
                    &mut rng,
                );
                Job {
                    device: DeviceId(uav as u32),
                    start: &self.global_model,
                    order,
                    batch_size,
                    sgd: Sgd {
                        learning_rate: training.learning_rate as f32,
                        momentum: training.momentum as f32,
                        weight_decay: training.weight_decay as f32,
                        ..Sgd::default()
                    },
                }
            })
            .collect();
        let personal = self.trainer.train(&jobs)?;
        self.opinions.personal = personal.into_iter().map(|update| update.weights).collect();
        Ok(())
    }

    fn personal_steps(&self, own: usize, epochs: usize) -> usize {
        epochs * own.div_ceil(self.scenario.training.batch_size)
    }

    /// What every covered device says, per UAV in the order of its coverage.
    pub(super) fn answers(&self, coverage: &Coverage) -> Result<Vec<Vec<Answer>>, Error> {
        let new: Vec<DeviceId> = (0..self.held.len() as u32)
            .map(DeviceId)
            .filter(|device| coverage.nearest[device.index()].is_some())
            .filter(|device| self.opinions.said[device.index()].is_empty())
            .collect();
        let mut said_by_new = vec![&[][..]; self.held.len()];
        let global = self.opinions_on(&[(&self.opinions.first_model, &new)])?;
        for (device, said) in new.iter().zip(&global[0]) {
            said_by_new[device.index()] = said;
        }
        let personal = &self.opinions.personal;
        let asked: Vec<(&[f32], &[DeviceId])> = personal
            .iter()
            .zip(&coverage.cells)
            .map(|(model, cell)| (&model[..], &cell[..]))
            .collect();
        let classes = self.network.classes();
        let answer = |(device, taken_for): (&DeviceId, &Vec<f32>)| {
            let index = device.index();
            let own = match &self.opinions.said[index][..] {
                [] => said_by_new[index],
                said => said,
            };
            Answer {
                difference: divergence(taken_for, own, classes),
                rounds_idle: self.round - self.opinions.trained_in[index],
                classes: mean_row(taken_for, classes),
            }
        };
        let outputs = self.opinions_on(&asked)?;
        let cells = coverage.cells.iter().zip(&outputs);
        Ok(cells
            .map(|(cell, outputs)| cell.iter().zip(outputs).map(answer).collect())
            .collect())
    }

    /// What each model says about the small batch of each of its devices.
    fn opinions_on(&self, asked: &[(&[f32], &[DeviceId])]) -> Result<Vec<Vec<Vec<f32>>>, Error> {
        let blocks: Vec<(usize, &[DeviceId])> = asked
            .iter()
            .enumerate()
            .flat_map(|(model, (_, devices))| devices.chunks(BLOCK).map(move |part| (model, part)))
            .collect();
        let samples: Vec<Vec<u32>> = blocks
            .iter()
            .map(|(_, part)| {
                part.iter()
                    .flat_map(|d| self.small_batch(*d))
                    .copied()
                    .collect()
            })
            .collect();
        let models: Vec<(&[f32], &[u32])> = blocks
            .iter()
            .zip(&samples)
            .map(|((model, _), samples)| (asked[*model].0, &samples[..]))
            .collect();
        let outputs = self.trainer.outputs(&models)?;
        let mut answers: Vec<Vec<Vec<f32>>> = vec![Vec::new(); asked.len()];
        for ((model, part), mut rest) in blocks.into_iter().zip(outputs.iter().map(|o| &o[..])) {
            for device in part {
                let (own, others) =
                    rest.split_at(self.small_batch(*device).len() * self.network.classes());
                answers[model].push(own.to_vec());
                rest = others;
            }
        }
        Ok(answers)
    }

    /// Whether opinions are those of these UAVs, devices and models, after so many rounds.
    pub(super) fn could_have_heard(&self, opinions: &Opinions, rounds: usize) -> bool {
        let Opinions {
            personal,
            said,
            first_model,
            trained_in,
        } = opinions;
        if personal.is_empty() {
            return said.is_empty() && first_model.is_empty() && trained_in.is_empty();
        }
        let is_model = |weights: &Vec<f32>| weights.len() == self.global_model.len();
        let answers = (0..).map(DeviceId).zip(said);
        personal.len() == self.world.uavs.len()
            && personal.iter().chain([first_model]).all(is_model)
            && said.len() == self.held.len()
            && trained_in.len() == self.held.len()
            && trained_in.iter().all(|round| *round <= rounds)
            && answers.into_iter().all(|(device, said)| {
                let due = self.small_batch(device).len() * self.network.classes();
                said.is_empty() || said.len() == due
            })
    }

    /// The samples on which a device compares models.
    fn small_batch(&self, device: DeviceId) -> &[u32] {
        let held = &self.held[device.index()];
        &held[..held.len().min(self.scenario.fitness.small_batch)]
    }

    /// Devices that trained keep what their new local models say.
    pub(super) fn keep_opinions(&mut self, trained: &[(DeviceId, Update)]) -> Result<(), Error> {
        let models: Vec<(&[f32], &[u32])> = trained
            .iter()
            .map(|(device, update)| (&update.weights[..], self.small_batch(*device)))
            .collect();
        let outputs = self.trainer.outputs(&models)?;
        for ((device, _), said) in trained.iter().zip(outputs) {
            self.opinions.said[device.index()] = said;
            self.opinions.trained_in[device.index()] = self.round;
        }
        Ok(())
    }

    /// Seconds and joules of comparing: each UAV sends its personal model to all devices it covers at
    /// once, on its whole band, and each of them runs its small batch through it. The answers are a few
    /// numbers and cost nothing. False when a UAV's battery did not bear it.
    pub(super) fn pay_for_comparing(&mut self, coverage: &Coverage, books: &mut Books) -> bool {
        let (mut slowest_s, mut all_bore_it) = (0.0f64, true);
        for index in 0..self.world.uavs.len() {
            let uav = &self.world.uavs[index];
            if !uav.is_active() {
                continue;
            }
            let (sending_s, comparing_s, comparing_j) =
                self.comparing_cost(uav, &coverage.cells[index]);
            let sending_j = sending_s * uav.broadcast_power_w;
            let time_s = sending_s + comparing_s;
            slowest_s = slowest_s.max(time_s);
            books.devices.add(EnergyItem::DeviceCompute, comparing_j);
            all_bore_it &= self.pay_for_scoring(index, sending_j, time_s, books);
        }
        books.time.add(TimeItem::Scoring, slowest_s);
        all_bore_it
    }

    /// The same for refreshing the personal models. UAVs do that while their devices train and models are handed
    /// over; only what takes longer is waited for. Those that are `leaving` need no personal model.
    pub(super) fn pay_for_refreshing(&mut self, leaving: &[UavId], books: &mut Books) {
        let time = &books.time;
        let spare_s = time.total_s() - time.get(TimeItem::Scoring) - time.get(TimeItem::Wait);
        let epochs = self.scenario.fitness.refresh_epochs;
        self.pay_for_training(epochs, spare_s, leaving, books);
    }

    /// The same for training the personal models, of which `spare_s` seconds go beside something else.
    fn pay_for_training(
        &mut self,
        epochs: usize,
        spare_s: f64,
        leaving: &[UavId],
        books: &mut Books,
    ) -> bool {
        let (mut slowest_s, mut all_bore_it) = (0.0f64, true);
        for index in 0..self.world.uavs.len() {
            let uav = &self.world.uavs[index];
            if !uav.is_active() || leaving.contains(&uav.id) {
                continue;
            }
            let (training_s, training_j) = self.personal_cost(index, epochs);
            let late_s = (training_s - spare_s).max(0.0);
            slowest_s = slowest_s.max(late_s);
            all_bore_it &= self.pay_for_scoring(index, training_j, late_s, books);
        }
        books.time.add(TimeItem::Scoring, slowest_s);
        all_bore_it
    }

    /// Takes joules and so many seconds of hovering from a UAV's battery. False when it did not bear it.
    fn pay_for_scoring(&mut self, uav: usize, joules: f64, time_s: f64, books: &mut Books) -> bool {
        let joules = joules + time_s * self.nature.hover_power_w();
        let uav = &mut self.world.uavs[uav];
        let bore_it = books.pay(uav, EnergyItem::Scoring, joules);
        if !bore_it {
            books.tell(EventKind::UavDepleted {
                uav: uav.id,
                during: EnergyItem::Scoring,
                updates_lost: 0,
            });
        }
        bore_it
    }

    /// Seconds and joules of computing of one UAV's personal model, as Eqs. (8) and (9) have it for devices.
    fn personal_cost(&self, uav: usize, epochs: usize) -> (f64, f64) {
        let (fitness, devices) = (&self.scenario.fitness, &self.scenario.devices);
        let own = self.personal_samples[uav].len();
        let batch = self.scenario.training.batch_size.min(own);
        let batch_bits = batch as f64 * 8.0 * self.network.input().values() as f64;
        let (cycles, hz) = (fitness.uav_cycles_per_bit, fitness.uav_cpu_hz);
        let steps = self.personal_steps(own, epochs) as f64;
        (
            steps * compute::iteration_time_s(devices.fixed_time_s, cycles, batch_bits, hz),
            steps * compute::iteration_energy_j(devices.capacitance, cycles, batch_bits, hz),
        )
    }

    /// Seconds of sending a UAV's personal model, seconds of the slowest device's comparison, and joules of
    /// all comparisons.
    fn comparing_cost(&self, uav: &Uav, covered: &[DeviceId]) -> (f64, f64, f64) {
        let devices = &self.world.devices;
        let (mut sending_s, mut comparing_s, mut comparing_j) = (0.0f64, 0.0f64, 0.0);
        for device in covered {
            let index = device.index();
            let at = devices.position[index];
            let power_w = uav.broadcast_power_w;
            let snr_hz = self
                .nature
                .ground_snr_hz(Link::UavToDevice, power_w, at, uav.position);
            let rate_bps = channel::rate_bps(uav.bandwidth_down_hz, snr_hz);
            sending_s = sending_s.max(self.model_bits() / rate_bps);
            let batch = self
                .scenario
                .training
                .batch_size
                .min(self.held[index].len());
            let share = FORWARD_SHARE * self.small_batch(*device).len() as f64 / batch as f64;
            comparing_s = comparing_s.max(share * devices.iteration_time_s[index]);
            comparing_j += share * devices.iteration_energy_j[index];
        }
        (sending_s, comparing_s, comparing_j)
    }
}

/// The mean of rows of so many values.
fn mean_row(rows: &[f32], values: usize) -> Vec<f64> {
    let mut mean = vec![0.0; values];
    let share = values as f64 / rows.len().max(1) as f64;
    for row in rows.chunks_exact(values) {
        for (mean, value) in mean.iter_mut().zip(row) {
            *mean += share * f64::from(*value);
        }
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::association::Needs;
    use crate::method::Method;
    use crate::scenario::Scenario;

    /// Two rounds: who trained in the first has been idle for one when the second begins, the others for two.
    #[test]
    fn devices_tell_how_long_they_did_not_train_and_what_they_hold() {
        let settings = [
            "method=cehfed",
            "devices.count=30",
            "data.data_volume=600",
            "model.name=logistic",
            "mobility.kind=static",
        ];
        let scenario = Scenario::parse("", &settings).unwrap().check().unwrap();
        let mut simulation = Simulation::new(&scenario, 1).unwrap();
        let needs = Needs {
            answers: true,
            ..Needs::default()
        };
        let opening = simulation.open_round(needs).unwrap().unwrap();
        assert!(opening.answers.iter().flatten().all(|a| a.rounds_idle == 1));
        let trained = opening.coverage.cells[0][0];
        let mut selection = vec![Vec::new(); scenario.uavs.count];
        selection[0].push(trained);
        let mut method = Method::of(&scenario).unwrap();
        simulation
            .close_round(opening, selection, &mut method)
            .unwrap();

        let opening = simulation.open_round(needs).unwrap().unwrap();
        for (cell, answers) in opening.coverage.cells.iter().zip(&opening.answers) {
            for (device, answer) in cell.iter().zip(answers) {
                let idle = if *device == trained { 1 } else { 2 };
                assert_eq!(answer.rounds_idle, idle);
                let whole: f64 = answer.classes.iter().sum();
                assert_eq!(answer.classes.len(), 10);
                assert!((whole - 1.0).abs() < 1e-5, "{whole}");
            }
        }
    }
}
