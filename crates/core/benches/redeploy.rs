//! Redeployment by size of the fleet: `cargo bench -p aerofed --bench redeploy`.
//!
//! UAVs per square kilometre stay as in the paper and devices are 1 000 for each UAV, so that a UAV sees as many devices in a
//! small fleet as in a large one: time that grows with the fleet, not with its square, is the claim.

#![allow(missing_docs)]

use aerofed::decide::redeploy::{
    Fleet, FleetUav, JointGreedy, MarginalGains, Redeployment, TwoStage,
};
use aerofed::geometry::Point;
use aerofed::nature::flight::Cruise;
use aerofed::scenario::Area;
use aerofed::seed::{Random, Stream, stream};
use aerofed::solve::airspace::Airspace;
use aerofed::world::UavId;
use divan::Bencher;
use rand::RngExt;

const FLEETS: [usize; 3] = [10, 100, 1_000];
const DEVICES_PER_UAV: usize = 1_000;
/// The paper's 5 UAVs in 20 km x 20 km.
const SQUARE_KM_PER_UAV: f64 = 80.0;

fn main() {
    divan::main();
}

fn points(count: usize, side_m: f64, rng: &mut Random) -> Vec<Point> {
    let mut coordinate = || rng.random::<f64>() * side_m;
    (0..count)
        .map(|_| Point::new(coordinate(), coordinate()))
        .collect()
}

fn bench(bencher: Bencher, uavs: usize, method: &mut dyn Redeployment) {
    let side_m = (uavs as f64 * SQUARE_KM_PER_UAV).sqrt() * 1e3;
    let mut rng = stream(1, Stream::Layout, 0, 0);
    let devices = points(uavs * DEVICES_PER_UAV, side_m, &mut rng);
    let posts = points(uavs, side_m, &mut rng);
    let fleet_uav = |(id, position)| FleetUav {
        id: UavId(id as u32),
        position,
        altitude_m: 150.0,
        coverage_radius_m: 5e3,
        cruise: Cruise::calm(20.0, 160.0),
        spare_j: 250e3,
        tx_power_w: 0.75,
    };
    let uavs: Vec<FleetUav> = posts.into_iter().enumerate().map(fleet_uav).collect();
    let area = Area::new(side_m, side_m);
    let fleet = Fleet {
        area: &area,
        air: Airspace::open(),
        devices: &devices,
        uavs: &uavs,
        model_energy_j: &|from, to| 1e-3 * from.position.distance(to.position),
        changed: &[],
    };
    bencher.bench_local(|| method.redeploy(&fleet, &mut stream(1, Stream::Layout, 1, 0)));
}

#[divan::bench(args = FLEETS, sample_count = 3, sample_size = 1)]
fn two_stage(bencher: Bencher, uavs: usize) {
    bench(bencher, uavs, &mut TwoStage::default());
}

#[divan::bench(args = FLEETS, sample_count = 3, sample_size = 1)]
fn joint_greedy(bencher: Bencher, uavs: usize) {
    bench(bencher, uavs, &mut JointGreedy::default());
}

#[divan::bench(args = FLEETS, sample_count = 3, sample_size = 1)]
fn marginal_gains(bencher: Bencher, uavs: usize) {
    bench(bencher, uavs, &mut MarginalGains::default());
}
