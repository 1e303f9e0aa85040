//! What a method hears about the devices it selected.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use crate::common::tiny;
use aerofed::Method;
use aerofed::decide::association::{All, Association, DeviceOutcome, RoundOutcome, Scene};
use aerofed::run::run_on;
use aerofed::seed::Random;
use aerofed::world::DeviceId;

type Heard = Arc<Mutex<Vec<Vec<DeviceOutcome>>>>;

struct Listening(Heard);

impl Association for Listening {
    fn select(&mut self, scene: &Scene, rng: &mut Random) -> Vec<Vec<DeviceId>> {
        All.select(scene, rng)
    }

    fn observe(&mut self, outcome: &RoundOutcome) {
        let mut heard = self.0.lock().unwrap();
        assert_eq!(outcome.round, heard.len() + 1);
        heard.push(outcome.devices.to_vec());
    }
}

#[test]
fn the_outcome_tells_of_every_device_that_a_living_uav_heard() {
    let fault = r#"faults=[{kind="loss", uav=1, round=2, moment="edge", edge_round=1}]"#;
    let scenario = tiny(&[fault]);
    let heard = Heard::default();
    let mut method = Method {
        association: Box::new(Listening(heard.clone())),
        ..Method::of(&scenario)
    };
    let outcome = run_on(&scenario, &mut method, 2, |_| ControlFlow::Continue(())).unwrap();
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), outcome.records.len());
    for (record, devices) in outcome.records.iter().zip(heard.iter()) {
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
