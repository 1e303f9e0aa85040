//! Learners of other people: what they may do and what becomes of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{assert_time_adds_up, light};
use aerofed::learn::aggregation::{Aggregation, FedAvg, Fold};
use aerofed::learn::{Devices, Evaluator, Job, LocalUpdate, Task, UpdateLost};
use aerofed::record::EventKind;
use aerofed::run::Run;
use aerofed::vocabulary::{DeviceId, Quality, UavId};
use aerofed::{Error, Method, RoundRecord, Simulation, ValidScenario, checkpoint};

const PARAMETERS: usize = 4;

/// Every device sends its number; those that `fate` names do otherwise.
struct Numbered {
    fate: fn(DeviceId) -> Fate,
    most_asked: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Answers,
    Fails,
    SaysNothing,
    SendsNonsense,
    AnswersTwice,
}

impl Devices for Numbered {
    fn train(
        &mut self,
        jobs: &[Job],
        deliver: &mut dyn FnMut(usize, Result<LocalUpdate, UpdateLost>),
    ) -> Result<(), Error> {
        self.most_asked = self.most_asked.max(jobs.len());
        for (place, job) in jobs.iter().enumerate() {
            let update = |parameters: usize| LocalUpdate {
                weights: vec![job.device.0 as f32; parameters],
                mean_loss: 0.5,
                outputs: Vec::new(),
            };
            match (self.fate)(job.device) {
                Fate::Answers => deliver(place, Ok(update(PARAMETERS))),
                Fate::Fails => {
                    let reason = "out of range".into();
                    deliver(place, Err(UpdateLost { reason }));
                }
                Fate::SaysNothing => {}
                Fate::SendsNonsense => deliver(place, Ok(update(PARAMETERS + 1))),
                Fate::AnswersTwice => {
                    deliver(place, Ok(update(PARAMETERS)));
                    deliver(place, Ok(update(PARAMETERS)));
                }
            }
        }
        // Nobody asked for that.
        deliver(jobs.len(), Err(UpdateLost { reason: "".into() }));
        Ok(())
    }

    fn softmax_outputs(
        &mut self,
        asked: &[(&[f32], &[DeviceId])],
    ) -> Result<Vec<Vec<Vec<f32>>>, Error> {
        let nothing = |(_, devices): &(&[f32], &[DeviceId])| vec![Vec::new(); devices.len()];
        Ok(asked.iter().map(nothing).collect())
    }
}

struct Mean;

impl Evaluator for Mean {
    fn first_model(&mut self) -> Result<Vec<f32>, Error> {
        Ok(vec![0.0; PARAMETERS])
    }
    fn test(&mut self, model: &[f32]) -> Result<Quality, Error> {
        let loss = f64::from(model[0]);
        Ok(Quality {
            loss,
            accuracy: 0.5,
        })
    }
    fn probe(&mut self, model: &[f32]) -> Result<Quality, Error> {
        self.test(model)
    }
    fn personal_models(
        &mut self,
        uavs: &[UavId],
        start: &[f32],
        _: usize,
        _: usize,
    ) -> Result<Vec<Vec<f32>>, Error> {
        Ok(vec![start.to_vec(); uavs.len()])
    }
}

fn simulation(scenario: &ValidScenario, fate: fn(DeviceId) -> Fate) -> Simulation {
    with_devices(
        scenario,
        Numbered {
            fate,
            most_asked: 0,
        },
    )
}

fn with_devices(scenario: &ValidScenario, devices: impl Devices + 'static) -> Simulation {
    let builder = Simulation::builder(scenario)
        .task(Task {
            parameters: PARAMETERS,
            model_values: PARAMETERS,
            classes: 3,
            sample_bits: 64.0,
            device_samples: (1..=scenario.devices.count as u32).collect(),
            personal_samples: vec![2; scenario.uavs.count],
            small_batch: 10,
        })
        .devices(devices)
        .evaluator(Mean);
    builder.build().unwrap()
}

/// The mean of the numbers of those who trained, weighted by their samples.
fn expected(record: &RoundRecord, counts: impl Fn(DeviceId) -> bool) -> f64 {
    let trained = record.uavs.iter().flat_map(|uav| &uav.devices);
    let (mut sum, mut weight) = (0.0, 0.0);
    for device in trained.filter(|device| counts(**device)) {
        let samples = f64::from(device.0 + 1);
        sum += samples * f64::from(device.0);
        weight += samples;
    }
    sum / weight
}

#[test]
fn an_update_that_is_lost_is_an_outcome_and_the_others_are_merged() {
    let fate = |device: DeviceId| match device.0 % 5 {
        0 => Fate::Fails,
        1 => Fate::SaysNothing,
        2 => Fate::SendsNonsense,
        3 => Fate::AnswersTwice,
        _ => Fate::Answers,
    };
    for method in ["hfl", "cfed", "hfedat", "cehfed"] {
        let scenario = light(&[&format!("method={method}"), "uavs.coverage_radius_m=15000"]);
        let mut simulation = simulation(&scenario, fate);
        let mut method = Method::of(&scenario).unwrap();
        let record = simulation.step(&mut method).unwrap().unwrap();
        assert_time_adds_up(&record);
        let reasons: Vec<&str> = record
            .events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::UpdateLost { reason, .. } => Some(reason.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(reasons.len(), record.updates_lost);
        assert!(record.updates_aggregated() > 0 && record.updates_lost > 0);
        assert!(
            (record.train_loss - 0.5).abs() < 1e-12,
            "{}",
            record.train_loss
        );
        if method.name == "hfl" {
            for part in ["out of range", "nothing was delivered", "5 parameters"] {
                assert!(
                    reasons.iter().any(|r| r.contains(part)),
                    "{part}: {reasons:?}"
                );
            }
        }
        if method.name == "hfl" || method.name == "cfed" {
            let mean = expected(&record, |device| device.0 % 5 >= 3);
            assert!((record.test_loss / mean - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn a_fleet_in_which_nobody_answers_keeps_its_model() {
    let scenario = light(&[]);
    let mut simulation = simulation(&scenario, |_| Fate::Fails);
    let mut method = Method::of(&scenario).unwrap();
    let record = simulation.step(&mut method).unwrap().unwrap();
    assert_eq!(record.updates_lost, record.updates_computed);
    assert_eq!((record.aggregator, record.model_change), (None, 0.0));
    assert_eq!(simulation.global_model(), [0.0; PARAMETERS]);
}

/// Devices that send how often anybody was asked before.
struct Counting(u32);

impl Devices for Counting {
    fn train(
        &mut self,
        jobs: &[Job],
        deliver: &mut dyn FnMut(usize, Result<LocalUpdate, UpdateLost>),
    ) -> Result<(), Error> {
        for place in 0..jobs.len() {
            self.0 += 1;
            let update = LocalUpdate {
                weights: vec![self.0 as f32; PARAMETERS],
                mean_loss: 0.5,
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
        Ok(vec![Vec::new(); asked.len()])
    }

    fn save(&self) -> Vec<u8> {
        checkpoint::encode(&self.0)
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        self.0 = checkpoint::decode("devices", saved)?;
        Ok(())
    }
}

/// An aggregation that adds how often it merged.
struct Growing(Arc<AtomicU32>);

struct GrowingFold(Arc<AtomicU32>, Box<dyn Fold>);

impl Aggregation for Growing {
    fn begin(&self, parameters: usize, expected: f64) -> Box<dyn Fold> {
        let fold = FedAvg.begin(parameters, expected);
        Box::new(GrowingFold(Arc::clone(&self.0), fold))
    }

    fn save(&self) -> Vec<u8> {
        checkpoint::encode(&self.0.load(Ordering::Relaxed))
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        let merged = checkpoint::decode("aggregation", saved)?;
        self.0.store(merged, Ordering::Relaxed);
        Ok(())
    }
}

impl Fold for GrowingFold {
    fn add(&mut self, model: &[f32], weight: f64) {
        self.1.add(model, weight);
    }
    fn weight(&self) -> f64 {
        self.1.weight()
    }
    fn finish(self: Box<Self>) -> Option<Vec<f32>> {
        let merged = self.0.fetch_add(1, Ordering::Relaxed) as f32;
        let model = self.1.finish()?;
        Some(model.into_iter().map(|weight| weight + merged).collect())
    }
}

#[test]
fn what_devices_and_an_aggregation_carry_is_in_checkpoints() {
    let scenario = light(&["stop.max_rounds=4", "method=hfl"]);
    let method = || Method {
        aggregation: Box::new(Growing(Arc::default())),
        ..Method::of(&scenario).unwrap()
    };
    let begin = || Run::new(with_devices(&scenario, Counting(0)));
    let (mut whole, mut own) = (begin(), method());
    while whole.step(&mut own).unwrap().is_some() {}
    let (mut first, mut own) = (begin(), method());
    first.step(&mut own).unwrap();
    first.step(&mut own).unwrap();
    let saved = first.save(&own);
    let mut own = method();
    let fresh = with_devices(&scenario, Counting(0));
    let mut rest = Run::resume(fresh, &mut own, &saved).unwrap();
    while rest.step(&mut own).unwrap().is_some() {}
    assert_eq!(rest.records(), whole.records());
    assert_eq!(
        rest.simulation().global_model(),
        whole.simulation().global_model()
    );

    let other = simulation(&scenario, |_| Fate::Answers);
    let refused = Run::resume(other, &mut method(), &saved).err().unwrap();
    assert!(refused.to_string().contains("devices"), "{refused}");
}

#[test]
fn a_task_for_another_fleet_is_refused() {
    let scenario = light(&[]);
    let task = Task {
        parameters: PARAMETERS,
        model_values: PARAMETERS,
        classes: 3,
        sample_bits: 64.0,
        device_samples: vec![1; 7],
        personal_samples: vec![2; scenario.uavs.count],
        small_batch: 10,
    };
    let refused = Simulation::builder(&scenario).task(task).build();
    let message = refused.err().unwrap().to_string();
    assert!(
        message.contains("7 devices") && message.contains("30"),
        "{message}"
    );
}
