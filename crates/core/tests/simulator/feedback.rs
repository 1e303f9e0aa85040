//! What a method hears about the devices it selected.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use crate::common::run_on;
use crate::common::tiny;
use aerofed::Method;
use aerofed::decide::association::{All, Association, DeviceOutcome, RoundOutcome, Scene};
use aerofed::record::{EnergyItem, TimeItem};
use aerofed::run::Outcome;
use aerofed::seed::Random;
use aerofed::world::DeviceId;

/// The devices of each round, its energy (J) and its time (s).
type Heard = Arc<Mutex<Vec<(Vec<DeviceOutcome>, f64, f64)>>>;

struct Listening(Heard);

impl Association for Listening {
    fn select(&mut self, scene: &Scene, rng: &mut Random) -> Vec<Vec<DeviceId>> {
        All.select(scene, rng)
    }

    fn observe(&mut self, outcome: &RoundOutcome) {
        let mut heard = self.0.lock().unwrap();
        assert_eq!(outcome.round, heard.len() + 1);
        heard.push((outcome.devices.to_vec(), outcome.energy_j, outcome.time_s));
    }
}

fn listen(settings: &[&str]) -> (Outcome, Heard) {
    let scenario = tiny(settings);
    let heard = Heard::default();
    let mut method = Method {
        association: Box::new(Listening(heard.clone())),
        ..Method::of(&scenario).unwrap()
    };
    let outcome = run_on(&scenario, &mut method, 2, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(heard.lock().unwrap().len(), outcome.records.len());
    (outcome, heard)
}

/// What a drained battery loses and what flights take is nothing that a choice of devices can help.
#[test]
fn the_outcome_costs_what_the_work_took() {
    let drain = r#"faults=[{kind="drain", uav=1, round=2}]"#;
    let (outcome, heard) = listen(&[drain, "redeploy.method=marginal_gains"]);
    let mut apart_j = 0.0;
    for (record, (_, energy_j, time_s)) in outcome.records.iter().zip(heard.lock().unwrap().iter())
    {
        let apart = [
            EnergyItem::Move,
            EnergyItem::ReturnFlight,
            EnergyItem::Drained,
        ];
        let apart: f64 = apart.iter().map(|item| record.energy.get(*item)).sum();
        let work_j = record.energy.total_j() - apart;
        assert!((energy_j - work_j).abs() <= 1e-9 * record.energy.total_j());
        let work_s = record.time.total_s() - record.time.get(TimeItem::Move);
        assert!((time_s - work_s).abs() <= 1e-9 * record.time.total_s());
        apart_j += apart;
    }
    assert!(apart_j > 1e4, "{apart_j}");
}

#[test]
fn the_outcome_tells_of_every_device_that_a_living_uav_heard() {
    let fault = r#"faults=[{kind="loss", uav=1, round=2, moment="edge", edge_round=1}]"#;
    let (outcome, heard) = listen(&[fault]);
    let heard = heard.lock().unwrap();
    for (record, (devices, ..)) in outcome.records.iter().zip(heard.iter()) {
        for uav in &record.uavs {
            let of_uav: Vec<_> = devices.iter().filter(|d| d.uav == uav.uav).collect();
            if record.round == 2 && uav.uav.0 == 1 {
                assert!(of_uav.is_empty() && !uav.devices.is_empty());
                continue;
            }
            let ids: Vec<DeviceId> = of_uav.iter().map(|d| d.device).collect();
            assert_eq!(ids, uav.devices);
            let slowest_s = of_uav.iter().map(|d| d.edge_time_s).fold(0.0, f64::max);
            let edge_time_s = record.edge_rounds as f64 * slowest_s;
            assert!((edge_time_s - uav.edge_time_s).abs() <= 1e-12 * edge_time_s);
        }
        let samples: u32 = devices.iter().map(|d| d.samples).sum();
        assert!(samples > 0);
        if record.round != 2 {
            let mean = devices.iter().map(|d| d.mean_loss).sum::<f64>() / devices.len() as f64;
            assert!((mean / record.train_loss - 1.0).abs() < 1e-9);
        }
    }
}
