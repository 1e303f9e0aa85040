//! What UAVs find out about devices before they choose: personal models, and how far each device's
//! last local model is from them. What that costs is in `scoring_costs.rs`.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::decide::Answers;
use crate::decide::association::Needs;
use crate::decide::fitness::divergence;
use crate::learn::StatelessDevices;
use crate::vocabulary::{DeviceId, UavId};
use crate::world::Coverage;

use super::heard::Heard;
use super::learning::Learning;

/// Devices whose softmax outputs are in memory at the same time.
const DEVICES_AT_ONCE: usize = 1 << 16;

/// Personal models, and the softmax outputs of local models. Devices keep their outputs, not their weights.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Scoring {
    /// Each UAV's personal model.
    personal_models: Vec<Vec<f32>>,
    /// Softmax outputs of each device's last local model on its small batch; empty before it trained.
    outputs: Vec<Vec<f32>>,
    /// The global model of the first round, which devices have until they train.
    first_model: Vec<f32>,
    /// The last round in which each device trained; 0 before it did.
    trained_in: Vec<usize>,
    /// The last round in which devices were asked; 0 before they were.
    asked_in: usize,
    /// What they said, for rounds that are spared.
    heard: Heard,
}

impl Scoring {
    /// Softmax outputs of each device's last local model on samples of its own; empty before it trained.
    pub(super) fn told(&self) -> &[Vec<f32>] {
        &self.outputs
    }

    /// Whether UAVs ask devices about their data in a round; in the others what they heard last will do.
    pub(super) fn asks_in(&self, round: usize, needs: Needs) -> bool {
        needs.answers
            && match needs.spared_rounds {
                0 => true,
                _ if self.asked_in == 0 => round > 1,
                spared => round > self.asked_in + spared,
            }
    }

    /// Whether there are personal models to compare with.
    pub(super) fn is_ready(&self) -> bool {
        !self.personal_models.is_empty()
    }

    /// Whether a device has not yet said what the first model makes of its small batch.
    pub(super) fn is_new(&self, device: DeviceId) -> bool {
        self.outputs[device.index()].is_empty()
    }
}

impl Learning {
    /// Begins before the first round that needs answers; `training` UAVs train their personal models for it.
    pub(super) fn prepare_scoring(
        &mut self,
        training: &[UavId],
        round: usize,
    ) -> Result<(), Error> {
        let epochs = self.scenario.fitness.personal_epochs;
        let uavs = self.task.personal_samples.len();
        self.scoring.personal_models = vec![self.global_model.clone(); uavs];
        self.train_personal_models(training, epochs, round)?;
        let devices = self.task.device_samples.len();
        self.scoring.first_model.clone_from(&self.global_model);
        self.scoring.outputs = vec![Vec::new(); devices];
        self.scoring.trained_in = vec![0; devices];
        Ok(())
    }

    /// Devices that trained keep the softmax outputs of their new local models, and `training` UAVs train their personal
    /// models for the next round, from the global model of this one. Who is away comes back with the model it had.
    ///
    /// Departs from the paper, whose personal models are trained once: then the same devices differ most in every
    /// round, and the others never train. Anew from the global model, a device that has not trained for long differs
    /// most, because its last local model is old.
    pub(super) fn update_scoring(
        &mut self,
        outputs: Vec<(DeviceId, Vec<f32>)>,
        training: &[UavId],
        round: usize,
    ) -> Result<(), Error> {
        for (device, outputs) in outputs {
            // A device that does not say keeps what is known of it.
            if outputs.len() == self.outputs_of(device) {
                self.scoring.outputs[device.index()] = outputs;
            }
            self.scoring.trained_in[device.index()] = round;
        }
        match self.refresh_epochs() {
            0 => Ok(()),
            epochs => self.train_personal_models(training, epochs, round),
        }
    }

    /// Passes over its own samples with which a UAV trains its personal model while devices train: those of the first time until somebody was asked.
    pub(super) fn refresh_epochs(&self) -> usize {
        let fitness = &self.scenario.fitness;
        match self.scoring.asked_in {
            0 => fitness.personal_epochs,
            _ => fitness.refresh_epochs,
        }
    }

    /// Each of these UAVs trains on its own samples from the global model; without any that is its model.
    fn train_personal_models(
        &mut self,
        uavs: &[UavId],
        epochs: usize,
        round: usize,
    ) -> Result<(), Error> {
        if uavs.is_empty() {
            return Ok(());
        }
        let start = &self.global_model;
        let models = match self.scenario.data.personal_samples {
            0 => vec![start.clone(); uavs.len()],
            _ => self.evaluator.personal_models(uavs, start, epochs, round)?,
        };
        for (uav, mut model) in uavs.iter().zip(models) {
            // What it sends out is all that its personal model is for.
            self.air.send_model(&mut model);
            self.scoring.personal_models[uav.index()] = model;
        }
        Ok(())
    }

    /// What UAVs know about the data of every covered device, per UAV: what they are told, or were told last.
    pub(super) fn answers(
        &mut self,
        coverage: &Coverage,
        needs: Needs,
        round: usize,
    ) -> Result<Vec<Answers>, Error> {
        let classes = self.task.classes;
        if !self.scoring.asks_in(round, needs) {
            let (scoring, cells) = (&self.scoring, coverage.cells.par_iter());
            let idle = |device| scoring.idle(device, round);
            let recall = |cell: &Vec<DeviceId>| scoring.heard.recall(cell, classes, idle);
            return Ok(cells.map(recall).collect());
        }
        let answers = self.ask(coverage, round)?;
        self.scoring.asked_in = round;
        if needs.spared_rounds > 0 {
            self.scoring.heard.keep(coverage, &answers, classes);
        }
        Ok(answers)
    }

    /// What UAVs hear from every covered device, per UAV. So many devices are looked at in one go that what they say does not
    /// fill the memory.
    fn ask(&mut self, coverage: &Coverage, round: usize) -> Result<Vec<Answers>, Error> {
        let (scoring, classes) = (&self.scoring, self.task.classes);
        let first = &scoring.first_model[..];
        if let Some(devices) = self.devices.stateless() {
            let cells = coverage.cells.par_iter().zip(&scoring.personal_models);
            let ask = |(cell, model): (&Vec<DeviceId>, &Vec<f32>)| {
                scoring.ask(devices, model, cell, classes, round)
            };
            return Ok(cells.map(ask).collect());
        }
        let mut answers = Vec::with_capacity(coverage.cells.len());
        let mut cells = &coverage.cells[..];
        while !cells.is_empty() {
            let some = cells_at_once(cells);
            let uavs = answers.len()..;
            let (block, rest) = cells.split_at(some);
            cells = rest;
            let is_new = |device: &&DeviceId| scoring.is_new(**device);
            let new = block.iter().map(|cell| cell.iter().filter(is_new).copied());
            let new: Vec<Vec<DeviceId>> = new.map(Iterator::collect).collect();
            let personal = uavs.zip(block);
            let asked = personal.map(|(uav, cell)| (&scoring.personal_models[uav][..], &cell[..]));
            let asked: Vec<(&[f32], &[DeviceId])> = asked
                .chain(new.iter().map(|new| (first, &new[..])))
                .collect();
            let mut outputs = self.devices.softmax_outputs(&asked)?;
            let of_new = outputs.split_off(some.min(outputs.len()));
            let answer = |((cell, by_personal), of_new): ((&Vec<DeviceId>, &Vec<_>), &Vec<_>)| {
                scoring.answers_of(cell, by_personal, of_new, classes, round)
            };
            let cells = block.par_iter().zip(&outputs).zip(&of_new);
            answers.par_extend(cells.map(answer));
        }
        Ok(answers)
    }

    /// Whether a saved state is one of these UAVs, devices and models, after so many rounds.
    pub(super) fn could_have_scored(&self, saved: &Scoring, rounds: usize) -> bool {
        let Scoring {
            personal_models,
            outputs,
            first_model,
            trained_in,
            asked_in,
            heard,
        } = saved;
        let classes = self.task.classes;
        if personal_models.is_empty() {
            return outputs.is_empty()
                && first_model.is_empty()
                && trained_in.is_empty()
                && *asked_in == 0
                && heard.is_of(0, classes);
        }
        let is_model = |weights: &Vec<f32>| weights.len() == self.task.model_values;
        let samples = &self.task.device_samples;
        let fits = |(device, outputs): (u32, &Vec<f32>)| {
            outputs.is_empty() || outputs.len() == self.outputs_of(DeviceId(device))
        };
        personal_models.len() == self.task.personal_samples.len()
            && personal_models.iter().chain([first_model]).all(is_model)
            && outputs.len() == samples.len()
            && trained_in.len() == samples.len()
            && trained_in.iter().all(|round| *round <= rounds)
            && (0..).zip(outputs).all(fits)
            && *asked_in <= rounds
            && heard.is_of(samples.len(), classes)
    }

    /// How many numbers the softmax outputs on a device's small batch are.
    fn outputs_of(&self, device: DeviceId) -> usize {
        let held = self.task.device_samples[device.index()] as usize;
        self.task.small_batch.min(held) * self.task.classes
    }
}

impl Scoring {
    /// What the devices of a cell say: `by_personal` are the outputs of the UAV's own model on their small batches, `of_new` those
    /// of the first model on the small batches of the new ones among them.
    fn answers_of(
        &self,
        cell: &[DeviceId],
        by_personal: &[Vec<f32>],
        of_new: &[Vec<f32>],
        classes: usize,
        round: usize,
    ) -> Answers {
        let mut answers = Answers::with_capacity(cell.len(), classes);
        let mut of_new = of_new.iter().map(|outputs| &outputs[..]);
        let mut mean = vec![0.0; classes];
        for (device, by_personal) in cell.iter().zip(by_personal) {
            let own = self.known_of(*device).or_else(|| of_new.next());
            mean_row(by_personal, &mut mean);
            let difference = divergence(by_personal, own.unwrap_or_default(), classes);
            answers.push(difference, self.idle(*device, round), &mean);
        }
        answers
    }

    /// The same of devices that any thread may ask.
    fn ask(
        &self,
        devices: &dyn StatelessDevices,
        personal_model: &[f32],
        cell: &[DeviceId],
        classes: usize,
        round: usize,
    ) -> Answers {
        let is_new = |device: &&DeviceId| self.is_new(**device);
        let new: Vec<DeviceId> = cell.iter().filter(is_new).copied().collect();
        // One after the other, with where each device's end.
        let (mut of_new, mut ends) = (Vec::new(), vec![0]);
        devices.cell_outputs(&self.first_model, &new, &mut |_, outputs| {
            of_new.extend_from_slice(outputs);
            ends.push(of_new.len());
        });
        let mut of_new = ends.windows(2).map(|ends| &of_new[ends[0]..ends[1]]);
        let mut answers = Answers::with_capacity(cell.len(), classes);
        let mut mean = vec![0.0; classes];
        devices.cell_outputs(personal_model, cell, &mut |place, by_personal| {
            let device = cell[place];
            let own = self.known_of(device).or_else(|| of_new.next());
            mean_row(by_personal, &mut mean);
            let difference = divergence(by_personal, own.unwrap_or_default(), classes);
            answers.push(difference, self.idle(device, round), &mean);
        });
        answers
    }

    /// The softmax outputs of a device's last local model; none before it trained.
    fn known_of(&self, device: DeviceId) -> Option<&[f32]> {
        let known = &self.outputs[device.index()];
        (!known.is_empty()).then_some(&known[..])
    }

    /// Rounds since a device trained.
    fn idle(&self, device: DeviceId, round: usize) -> usize {
        round - self.trained_in[device.index()]
    }
}

/// How many of the next cells are looked at in one go: as many as have this number of devices, and at least one.
fn cells_at_once(cells: &[Vec<DeviceId>]) -> usize {
    let mut devices = 0;
    let fits = cells.iter().take_while(|cell| {
        devices += cell.len();
        devices <= DEVICES_AT_ONCE
    });
    fits.count().max(1)
}

/// The mean of rows of as many values as it has.
fn mean_row(rows: &[f32], mean: &mut [f64]) {
    let share = mean.len() as f64 / rows.len().max(1) as f64;
    mean.fill(0.0);
    for row in rows.chunks_exact(mean.len()) {
        for (mean, value) in mean.iter_mut().zip(row) {
            *mean += share * f64::from(*value);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::decide::association::{Needs, Prescribed};
    use crate::method::Method;
    use crate::run::Simulation;
    use crate::scenario::Scenario;
    use crate::vocabulary::TimeItem;

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
        let mut simulation = Simulation::builder(&scenario).threads(1).build().unwrap();
        let needs = Needs {
            answers: true,
            ..Needs::default()
        };
        let mut method = Method::of(&scenario).unwrap();
        let opening = simulation.open_round(&method, needs).unwrap().unwrap();
        let mut idle = opening.answers.iter().flat_map(|a| a.rounds_idle());
        assert!(idle.all(|rounds| *rounds == 1));
        let trained = opening.coverage.cells[0][0];
        let mut selection = vec![Vec::new(); scenario.uavs.count];
        selection[0].push(trained);
        method.association = Box::new(Prescribed { selection });
        simulation.close_round(opening, &mut method).unwrap();

        let opening = simulation.open_round(&method, needs).unwrap().unwrap();
        for (cell, answers) in opening.coverage.cells.iter().zip(&opening.answers) {
            assert_eq!(answers.len(), cell.len());
            for (place, device) in cell.iter().enumerate() {
                let idle = if *device == trained { 1 } else { 2 };
                assert_eq!(answers.rounds_idle()[place], idle);
                let whole: f64 = answers.classes(place).iter().sum();
                assert_eq!(answers.classes(place).len(), 10);
                assert!((whole - 1.0).abs() < 1e-5, "{whole}");
            }
        }
    }

    /// The first question comes in the second round, and every other one so many rounds later. Personal models are trained in the rounds before.
    #[test]
    fn devices_are_asked_in_some_rounds_and_models_are_trained_before() {
        for (every, asked_in) in [
            (1, [1, 2, 3, 4, 5, 6]),
            (2, [0, 2, 2, 4, 4, 6]),
            (3, [0, 2, 2, 2, 5, 5]),
        ] {
            let settings = [
                "method=cehfed",
                "devices.count=30",
                "data.data_volume=600",
                "model.name=logistic",
                &format!("selection.ask_every_rounds={every}"),
            ];
            let scenario = Scenario::parse("", &settings).unwrap().check().unwrap();
            let mut simulation = Simulation::builder(&scenario).threads(1).build().unwrap();
            let mut method = Method::of(&scenario).unwrap();
            let mut models = Vec::new();
            for round in 1..=6 {
                let record = simulation.step(&mut method).unwrap().unwrap();
                let scoring = &simulation.learning.scoring;
                assert_eq!(
                    scoring.asked_in,
                    asked_in[round - 1],
                    "{every}, round {round}"
                );
                let asks = scoring.asked_in == round;
                assert_eq!(
                    record.time.get(TimeItem::Scoring) > 0.0,
                    asks,
                    "{every}, round {round}"
                );
                let asks_next = scoring.asks_in(round + 1, method.association.needs());
                assert_eq!(scoring.personal_models != models, asks_next || round == 1);
                models.clone_from(&scoring.personal_models);
            }
        }
    }

    /// Who is gone trains no personal model, and pays for none.
    #[test]
    fn uavs_that_are_away_keep_the_personal_models_they_had() {
        let settings = [
            "method=gshfed",
            "devices.count=30",
            "data.data_volume=600",
            "model.name=logistic",
            r#"faults=[{kind="loss", uav=1, round=2, moment="edge", warned=true}]"#,
        ];
        let scenario = Scenario::parse("", &settings).unwrap().check().unwrap();
        let mut simulation = Simulation::builder(&scenario).threads(1).build().unwrap();
        let mut method = Method::of(&scenario).unwrap();
        simulation.step(&mut method).unwrap().unwrap();
        for round in 2..=3 {
            let before = simulation.learning.scoring.personal_models.clone();
            simulation.step(&mut method).unwrap().unwrap();
            let after = &simulation.learning.scoring.personal_models;
            for (uav, (before, after)) in before.iter().zip(after).enumerate() {
                assert_eq!(before == after, uav == 1, "UAV {uav}, round {round}");
            }
        }
    }
}
