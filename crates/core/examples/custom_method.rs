//! A method of one's own, from outside the tree: each UAV takes its covered devices with the fastest
//! processors, the more the longer the run lasts.
//!
//! `cargo run --release -p aerofed --example custom_method`
#![allow(clippy::print_stdout, reason = "an example")]

use std::ops::ControlFlow;

use aerofed::decide::allocation::Equal;
use aerofed::decide::association::{Association, Scene};
use aerofed::scenario::QUICKSTART;
use aerofed::seed::Random;
use aerofed::world::DeviceId;
use aerofed::{Error, Method, Scenario, run};

struct Fastest {
    first: usize,
}

impl Association for Fastest {
    fn select(&mut self, scene: &Scene, _: &mut Random) -> Vec<Vec<DeviceId>> {
        let cpu_hz = &scene.world.devices.cpu_hz;
        let mut cells = vec![Vec::new(); scene.world.uavs.len()];
        // A device that several UAVs cover is offered to the nearest one.
        for (device, uav) in scene.coverage.nearest.iter().enumerate() {
            if let Some(uav) = uav {
                cells[uav.index()].push(DeviceId(device as u32));
            }
        }
        for cell in &mut cells {
            cell.sort_by(|a, b| cpu_hz[b.index()].total_cmp(&cpu_hz[a.index()]));
            cell.truncate(self.first + scene.round);
        }
        cells
    }
}

pub(crate) fn main() -> Result<(), Error> {
    let settings = ["model.name=logistic", "stop.max_rounds=4"];
    let scenario = Scenario::parse(QUICKSTART, &settings)?.check()?;
    let mut method = Method {
        name: "fastest".into(),
        association: Box::new(Fastest { first: 5 }),
        allocation: Box::new(Equal {
            local_iterations: 8,
        }),
        ..Method::of(&scenario)?
    };
    let outcome = run(&scenario, &mut method, |record| {
        let (devices, accuracy) = (record.selected, 100.0 * record.test_accuracy);
        println!("round {}: {devices} devices, {accuracy:.1} %", record.round);
        ControlFlow::Continue(())
    })?;
    println!("{} took {:.1} s", method.name, outcome.summary.total_time_s);
    Ok(())
}
