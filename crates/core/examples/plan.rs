//! The planner through the library: UAV 0 has left; where do the others go, and how does a cell share its band?
//!
//! `cargo run --release -p aerofed --example plan`
#![allow(clippy::print_stdout, reason = "an example")]

use aerofed::Scenario;
use aerofed::decide::redeploy::{Fleet, FleetUav, MarginalGains, Redeployment};
use aerofed::nature::flight::Cruise;
use aerofed::seed::{Stream, stream};
use aerofed::solve::airspace::Airspace;
use aerofed::solve::bandwidth::{Cell, Options, allocate};
use aerofed::world::{Uav, World};

const CELL: &str = r#"{
    "energy_weight": 0.5, "time_weight": 0.5, "hover_power_w": 100, "broadcast_power_w": 0.7,
    "bandwidth_up_hz": 20e6, "bandwidth_down_hz": 20e6, "model_bits_up": 698880, "model_bits_down": 698880,
    "devices": [
        {"snr_up_hz": 2e8, "snr_down_hz": 2e8, "tx_power_w": 0.5, "iteration_time_s": 0.01, "iteration_energy_j": 0.02},
        {"snr_up_hz": 2e9, "snr_down_hz": 2e9, "tx_power_w": 0.3, "iteration_time_s": 0.02, "iteration_energy_j": 0.01}
    ]
}"#;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Where everybody is: here the paper's network, otherwise your own positions.
    let world = World::new(&Scenario::default().check()?, vec![26; 150], 6_272.0);
    let seen = |uav: &Uav| FleetUav {
        id: uav.id,
        position: uav.position,
        altitude_m: uav.altitude_m,
        coverage_radius_m: uav.coverage_radius_m,
        cruise: Cruise::calm(20.0, 160.0),
        spare_j: uav.battery_j,
        tx_power_w: uav.tx_power_w,
    };
    let left: Vec<FleetUav> = world.uavs.iter().skip(1).map(seen).collect();
    let fleet = Fleet {
        area: &world.area,
        air: Airspace::open(),
        devices: &world.devices.position,
        uavs: &left,
        model_energy_j: &|_, _| 0.0,
        changed: &[],
    };
    let mut rng = stream(1, Stream::Redeployment, 0, 0);
    for flight in MarginalGains::default().redeploy(&fleet, &mut rng) {
        let (uav, to, kj) = (flight.uav.0, flight.to, flight.energy_j / 1e3);
        println!("UAV {uav} to ({:.0}, {:.0}) m, {kj:.1} kJ", to.x_m, to.y_m);
    }

    let cell: Cell = serde_json::from_str(CELL)?;
    let plan = allocate(&cell, &Options::default())?;
    println!("H = {}, {:.3} s", plan.local_iterations, plan.round_time_s);
    for share in &plan.devices {
        println!("  {:.2} MHz up", share.bandwidth_up_hz / 1e6);
    }
    Ok(())
}
