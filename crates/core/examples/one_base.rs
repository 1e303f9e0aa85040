//! A large fleet from one base: how long the plan takes, and what it covers.
//!
//! `cargo run --release -p aerofed --example one_base [UAVS [DEVICES]]`; 1 000 and 1 000 000 unless told. The ground and the radii are
//! those of `aerofed bench scale`: 20 km x 20 km, and all discs together as large as those of five UAVs of 5 km.
#![allow(clippy::print_stdout, reason = "an example")]

use std::time::Instant;

use aerofed::decide::redeploy::{Fleet, FleetUav, MarginalGains, Redeployment};
use aerofed::geometry::Point;
use aerofed::nature::flight::Cruise;
use aerofed::scenario::Area;
use aerofed::seed::{Stream, stream};
use aerofed::solve::airspace::Airspace;
use aerofed::world::UavId;
use rand::RngExt;

const SIDE_M: f64 = 20e3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let mut number = |otherwise: usize| args.next().map_or(Ok(otherwise), |text| text.parse());
    let (uavs, devices) = (number(1_000)?, number(1_000_000)?);
    let mut rng = stream(1, Stream::DevicePosition, 0, 0);
    let mut anywhere = || Point::new(rng.random::<f64>() * SIDE_M, rng.random::<f64>() * SIDE_M);
    let base = Point::new(0.3 * SIDE_M, 0.2 * SIDE_M);
    let devices: Vec<Point> = (0..devices).map(|_| anywhere()).collect();
    let uav = |id: usize| FleetUav {
        id: UavId(id as u32),
        position: base,
        altitude_m: 150.0,
        coverage_radius_m: 5e3 * (5.0 / uavs as f64).sqrt(),
        cruise: Cruise::calm(20.0, 160.0),
        spare_j: 250e3,
        tx_power_w: 0.75,
    };
    let uavs: Vec<FleetUav> = (0..uavs).map(uav).collect();
    let fleet = Fleet {
        area: &Area::new(SIDE_M, SIDE_M),
        air: Airspace::open(),
        devices: &devices,
        uavs: &uavs,
        model_energy_j: &|_, _| 0.0,
        changed: &[],
    };
    // What `aerofed deploy` does unless told: most devices first.
    let mut method = MarginalGains {
        movement_weight: 0.0,
        ..MarginalGains::default()
    };
    let start = Instant::now();
    let moves = method.redeploy(&fleet, &mut stream(1, Stream::Redeployment, 0, 0));
    let seconds = start.elapsed().as_secs_f64();
    let mut counts = fleet.coverage();
    for flight in &moves {
        let radius_m = uavs[flight.uav.index()].coverage_radius_m;
        counts.shift(flight.from, flight.to, radius_m);
    }
    let kj = moves.iter().map(|flight| flight.energy_j).sum::<f64>() / 1e3;
    println!(
        "{} UAVs, {} devices: {seconds:.2} s; {} fly, {kj:.0} kJ, {:.2} % of the devices covered",
        uavs.len(),
        devices.len(),
        moves.len(),
        100.0 * counts.share(),
    );
    Ok(())
}
