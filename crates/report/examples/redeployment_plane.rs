//! Algorithm 4 against marginal gains in the plane of recovered coverage and energy, as a picture: each point is a weight λ_9.
//!
//! `cargo run --release -p aerofed-report --example redeployment_plane > docs/redeployment-plane.svg`
#![allow(clippy::print_stdout, reason = "an example")]

use aerofed::Scenario;
use aerofed::decide::redeploy::{
    CoverageCounts, Fleet, FleetUav, MarginalGains, Redeployment, TwoStage,
};
use aerofed::nature::flight::Cruise;
use aerofed::scenario::ScenarioError;
use aerofed::seed::{Stream, stream};
use aerofed::solve::airspace::Airspace;
use aerofed::world::{Uav, World};
use aerofed_report::{Curve, curves_svg};

const LAYOUTS: u64 = 100;
const DEVICES: usize = 150;
const WEIGHTS: [f64; 17] = [
    0.0, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.0125, 0.015, 0.0175, 0.02, 0.025, 0.03, 0.04,
    0.05, 0.1, 1.0,
];

fn main() -> Result<(), ScenarioError> {
    let world = |seed| -> Result<World, ScenarioError> {
        let scenario = Scenario {
            seed,
            ..Scenario::default()
        };
        Ok(World::new(&scenario.check()?, vec![26; DEVICES], 6_272.0))
    };
    let worlds = (1..=LAYOUTS).map(world).collect::<Result<Vec<_>, _>>()?;
    let theirs = |movement_weight| -> Box<dyn Redeployment> {
        Box::new(TwoStage {
            movement_weight,
            ..TwoStage::default()
        })
    };
    let ours = |movement_weight| -> Box<dyn Redeployment> {
        Box::new(MarginalGains {
            movement_weight,
            ..MarginalGains::default()
        })
    };
    let curve = |name: &str, make: &dyn Fn(f64) -> Box<dyn Redeployment>| {
        let spot = |&weight: &f64| mean(&worlds, make(weight).as_mut());
        let mut points: Vec<(f64, f64)> = WEIGHTS.iter().map(spot).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Curve {
            name: name.into(),
            points,
        }
    };
    let curves = [
        curve("marginal gains", &ours),
        curve("Algorithm 4", &theirs),
    ];
    println!(
        "{}",
        curves_svg(
            "What a redeployment recovers of a lost UAV's coverage",
            "energy (kJ)",
            "recovered (%)",
            200.0,
            &curves
        )
    );
    Ok(())
}

/// Kilojoules and recovered share of what was lost, over all single losses.
fn mean(worlds: &[World], method: &mut dyn Redeployment) -> (f64, f64) {
    let (mut losses, mut energy_j, mut lost, mut recovered) = (0.0, 0.0, 0.0, 0.0);
    for (layout, world) in worlds.iter().enumerate() {
        let before = covered(world, world.uavs.iter().map(|uav| uav.position));
        for gone in &world.uavs {
            let left: Vec<FleetUav> = world
                .uavs
                .iter()
                .filter(|uav| uav.id != gone.id)
                .map(fleet_uav)
                .collect();
            let fleet = Fleet {
                area: &world.area,
                air: Airspace::open(),
                devices: &world.devices.position,
                uavs: &left,
                model_energy_j: &|_, _| 0.0,
                changed: &[],
            };
            let mut rng = stream(layout as u64, Stream::Layout, 1, u64::from(gone.id.0));
            let moves = method.redeploy(&fleet, &mut rng);
            let after = covered(
                world,
                left.iter().map(|uav| {
                    let moved = moves.iter().find(|m| m.uav == uav.id);
                    moved.map_or(uav.position, |m| m.to)
                }),
            );
            let after_loss = fleet.coverage().covered() as f64;
            losses += 1.0;
            lost += before - after_loss;
            recovered += after - after_loss;
            energy_j += moves.iter().map(|m| m.energy_j).sum::<f64>();
        }
    }
    (energy_j / losses / 1e3, 100.0 * recovered / lost)
}

fn fleet_uav(uav: &Uav) -> FleetUav {
    FleetUav {
        id: uav.id,
        position: uav.position,
        altitude_m: uav.altitude_m,
        coverage_radius_m: uav.coverage_radius_m,
        cruise: Cruise::calm(20.0, 160.0),
        spare_j: uav.battery_j,
        tx_power_w: uav.tx_power_w,
    }
}

fn covered(world: &World, posts: impl Iterator<Item = aerofed::geometry::Point>) -> f64 {
    let devices = &world.devices.position;
    let radius_m = world.uavs[0].coverage_radius_m;
    let mut counts = CoverageCounts::new(&world.area, radius_m, devices);
    posts.for_each(|at| counts.add(at, radius_m));
    counts.covered() as f64
}
