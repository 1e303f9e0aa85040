//! What every redeployment keeps to.

use std::sync::LazyLock;

use crate::common::cases;
use aerofed::decide::redeploy::{
    CoverageCounts, CoverageMeasure, Fleet, FleetUav, JointGreedy, MarginalGains, Move,
    Redeployment, Stay, TwoStage,
};
use aerofed::geometry::{Point, Polygon};
use aerofed::nature::flight::Cruise;
use aerofed::scenario::Area;
use aerofed::seed::{Stream, stream};
use aerofed::solve::airspace::{Airspace, Zone, length_m};
use aerofed::world::UavId;
use proptest::prelude::*;

const SIDE_M: f64 = 20_000.0;
static AREA: LazyLock<Area> = LazyLock::new(|| Area::new(SIDE_M, SIDE_M));
const RADIUS_M: f64 = 5_000.0;

fn methods() -> Vec<(&'static str, Box<dyn Redeployment>)> {
    vec![
        ("stay", Box::new(Stay)),
        ("two_stage", Box::new(TwoStage::default())),
        (
            "two_stage own",
            Box::new(TwoStage {
                coverage: CoverageMeasure::Own,
                ..TwoStage::default()
            }),
        ),
        ("joint_greedy", Box::new(JointGreedy::default())),
        ("marginal_gains", Box::new(MarginalGains::default())),
    ]
}

fn uavs(posts: &[Point], spare_j: f64) -> Vec<FleetUav> {
    let uav = |(id, &position)| FleetUav {
        id: UavId(id as u32),
        position,
        altitude_m: 150.0,
        coverage_radius_m: RADIUS_M,
        cruise: Cruise::calm(20.0, 160.0),
        spare_j,
        tx_power_w: 0.7,
    };
    posts.iter().enumerate().map(uav).collect()
}

fn fleet<'a>(devices: &'a [Point], uavs: &'a [FleetUav]) -> Fleet<'a> {
    Fleet {
        area: &AREA,
        air: Airspace::open(),
        devices,
        uavs,
        model_energy_j: &|from, to| 1e-3 * from.position.distance(to.position),
        changed: &[],
    }
}

fn redeploy(method: &mut dyn Redeployment, fleet: &Fleet, seed: u64) -> Vec<Move> {
    method.redeploy(fleet, &mut stream(seed, Stream::Layout, 0, 0))
}

/// How many devices are covered once the moves are made.
fn covered_after(fleet: &Fleet, moves: &[Move]) -> usize {
    let mut counts = CoverageCounts::new(fleet.area, RADIUS_M, fleet.devices);
    for uav in fleet.uavs {
        let moved = moves.iter().find(|m| m.uav == uav.id);
        counts.add(moved.map_or(uav.position, |m| m.to), uav.coverage_radius_m);
    }
    counts.covered()
}

fn points(most: usize) -> impl Strategy<Value = Vec<Point>> {
    let point = (0.0..=SIDE_M, 0.0..=SIDE_M).prop_map(|(x, y)| Point::new(x, y));
    prop::collection::vec(point, 0..most)
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn everybody_flies_straight_inside_the_area_within_its_energy_and_seeds_repeat(
        devices in points(150),
        posts in points(7),
        spare_j in prop_oneof![Just(0.0), Just(-5.0), 0.0..60e3f64, Just(250e3)],
        seed in 0u64..1_000,
    ) {
        let uavs = uavs(&posts, spare_j);
        let fleet = fleet(&devices, &uavs);
        for (name, mut method) in methods() {
            let moves = redeploy(method.as_mut(), &fleet, seed);
            prop_assert_eq!(&moves, &redeploy(method.as_mut(), &fleet, seed), "{}", name);
            for m in &moves {
                let uav = &uavs[m.uav.index()];
                prop_assert!(fleet.contains(m.to), "{name} {m:?}");
                prop_assert!(m.energy_j <= uav.spare_j, "{name} {m:?}");
                prop_assert_eq!(m.from, uav.position);
                // Straight, Eq. (21), whichever way a method searched.
                let straight_j = m.from.distance(m.to) / 20.0 * 160.0;
                prop_assert!((m.energy_j - straight_j).abs() <= 1e-6, "{name} {m:?}");
            }
            let distinct = moves.windows(2).all(|pair| pair[0].uav < pair[1].uav);
            prop_assert!(distinct, "{name}: {moves:?}");
        }
    }

    #[test]
    fn nobody_flies_into_a_zone_or_farther_than_its_energy_lasts(
        devices in points(80),
        posts in points(6),
        corners in prop::collection::vec((0.0..16e3f64, 0.0..16e3f64, 200.0..9e3f64, 200.0..9e3f64), 1..4),
        spare_j in prop_oneof![0.0..60e3f64, Just(250e3)],
        seed in 0u64..1_000,
    ) {
        let zone = |&(x, y, width, height): &(f64, f64, f64, f64)| {
            let (east, north) = (x + width, y + height);
            let ring = [(x, y), (east, y), (east, north), (x, north)].map(|(x, y)| Point::new(x, y));
            Zone { name: String::new(), polygon: Polygon::new(&ring).unwrap(), height_m: 0.0 }
        };
        let air = Airspace::new(corners.iter().map(zone).collect());
        let zones = air.at(150.0).unwrap();
        prop_assume!(zones.enclosed().is_none());
        let posts: Vec<Point> = posts.into_iter().filter(|post| !zones.contains(*post)).collect();
        let uavs = uavs(&posts, spare_j);
        let fleet = Fleet { air: &air, ..fleet(&devices, &uavs) };
        for (name, mut method) in methods() {
            for m in redeploy(method.as_mut(), &fleet, seed) {
                prop_assert!(fleet.contains(m.to) && !zones.contains(m.to), "{name} {m:?}");
                prop_assert!(m.energy_j <= spare_j, "{name} {m:?}");
                let route = zones.route(m.from, m.to).unwrap();
                prop_assert!((m.way_m - length_m(&route)).abs() <= 1e-6, "{name} {m:?}");
                prop_assert!((m.energy_j - m.way_m / 20.0 * 160.0).abs() <= 1e-6, "{name} {m:?}");
            }
        }
    }

    #[test]
    fn marginal_methods_never_lower_coverage(
        devices in points(150),
        posts in points(7),
        seed in 0u64..1_000,
        weight in prop_oneof![Just(0.0), 0.0..0.05f64],
    ) {
        let uavs = uavs(&posts, 250e3);
        let fleet = fleet(&devices, &uavs);
        let before = fleet.coverage().covered();
        let mut ours = MarginalGains { movement_weight: weight, ..MarginalGains::default() };
        let mut theirs = TwoStage { movement_weight: weight, ..TwoStage::default() };
        for method in [&mut ours as &mut dyn Redeployment, &mut theirs] {
            let moves = redeploy(method, &fleet, seed);
            prop_assert!(covered_after(&fleet, &moves) >= before);
        }
    }
}

#[test]
fn stay_moves_nobody() {
    let devices = [Point::new(1.0, 1.0)];
    let uavs = uavs(&[Point::new(15e3, 15e3)], 250e3);
    assert_eq!(redeploy(&mut Stay, &fleet(&devices, &uavs), 1), []);
}

#[test]
fn without_devices_or_uavs_nobody_moves() {
    let some = uavs(&[Point::new(5e3, 5e3), Point::new(5e3, 5e3)], 250e3);
    let devices = [Point::new(1.0, 1.0)];
    for (name, mut method) in methods() {
        assert_eq!(
            redeploy(method.as_mut(), &fleet(&[], &some), 1),
            [],
            "{name}"
        );
        assert_eq!(
            redeploy(method.as_mut(), &fleet(&devices, &[]), 1),
            [],
            "{name}"
        );
    }
}

/// A device 1 km beyond the radius: the cheapest flight that covers it is 1 km straight at it.
#[test]
fn one_uav_flies_just_as_far_as_it_must() {
    let devices = [Point::new(10e3, 10e3), Point::new(10e3, 16e3)];
    let uavs = uavs(&[Point::new(10e3, 10e3)], 250e3);
    let fleet = fleet(&devices, &uavs);
    for (margin_m, way_m) in [
        (Some(0.0), 1_000.0),
        (None, 1_050.0),
        (Some(300.0), 1_300.0),
    ] {
        let mut method = MarginalGains {
            margin_m,
            ..MarginalGains::default()
        };
        let moves = redeploy(&mut method, &fleet, 1);
        assert_eq!(moves.len(), 1);
        assert!((moves[0].way_m - way_m).abs() < 0.01, "{moves:?}");
        assert_eq!(covered_after(&fleet, &moves), 2);
    }
}

/// Two clusters, both UAVs above the first: one must go to the second.
#[test]
fn uavs_on_one_spot_part() {
    let cluster = |x_m: f64, y_m: f64| (0..10).map(move |i| Point::new(x_m + f64::from(i), y_m));
    let devices: Vec<Point> = cluster(4e3, 4e3).chain(cluster(12e3, 4e3)).collect();
    let spot = Point::new(4e3, 4e3);
    let uavs = uavs(&[spot, spot], 250e3);
    let fleet = fleet(&devices, &uavs);
    let moves = redeploy(&mut MarginalGains::default(), &fleet, 1);
    assert_eq!(
        (moves.len(), covered_after(&fleet, &moves)),
        (1, 20),
        "{moves:?}"
    );
}

/// The position of one UAV is the best there is: no point of a fine raster is better.
#[test]
fn val_one_uavs_post_is_the_best_of_a_fine_raster() {
    let mut rng = stream(5, Stream::DevicePosition, 0, 0);
    for _ in 0..20 {
        let mut coordinate = || rand::RngExt::random::<f64>(&mut rng) * SIDE_M;
        let devices: Vec<Point> = (0..30)
            .map(|_| Point::new(coordinate(), coordinate()))
            .collect();
        let uavs = uavs(&[Point::new(10e3, 10e3)], 250e3);
        let fleet = fleet(&devices, &uavs);
        let mut method = MarginalGains {
            margin_m: Some(0.0),
            ..MarginalGains::default()
        };
        let before = fleet.coverage().covered().max(1) as f64;
        let value = |to: Point| {
            let covered = devices
                .iter()
                .filter(|d| d.distance(to) <= RADIUS_M)
                .count();
            covered as f64 / before - 0.005 * 8e-3 * uavs[0].position.distance(to)
        };
        let moves = redeploy(&mut method, &fleet, 1);
        let found = value(moves.first().map_or(uavs[0].position, |m| m.to));
        let raster = (0..=200).flat_map(|i| (0..=200).map(move |j| (i, j)));
        for (i, j) in raster {
            let at = Point::new(f64::from(i) * 100.0, f64::from(j) * 100.0);
            assert!(value(at) <= found + 1e-3, "{at:?}: {} > {found}", value(at));
        }
    }
}

/// The calibration of the weights: what Algorithm 4 recovers of single losses, and for how much.
#[test]
fn val_algorithm_4_recovers_almost_half_of_a_loss_and_ours_more_for_less() {
    let quincunx = [
        (5e3, 5e3),
        (15e3, 5e3),
        (5e3, 15e3),
        (15e3, 15e3),
        (10e3, 10e3),
    ]
    .map(|(x, y)| Point::new(x, y));
    let mut ours = MarginalGains {
        movement_weight: 0.02,
        ..MarginalGains::default()
    };
    let mut theirs = TwoStage::default();
    let mut lost_devices = 0;
    let (mut recovered, mut energy_j) = ([0, 0], [0.0, 0.0]);
    for seed in 0..40 {
        let mut rng = stream(seed, Stream::DevicePosition, 0, 0);
        let mut coordinate = || rand::RngExt::random::<f64>(&mut rng) * SIDE_M;
        let devices: Vec<Point> = (0..150)
            .map(|_| Point::new(coordinate(), coordinate()))
            .collect();
        let all = uavs(&quincunx, 250e3);
        let before = fleet(&devices, &all).coverage().covered();
        for lost in 0..5 {
            let left: Vec<FleetUav> = all
                .iter()
                .filter(|u| u.id.index() != lost)
                .copied()
                .collect();
            let fleet = fleet(&devices, &left);
            let after = fleet.coverage().covered();
            lost_devices += before - after;
            for (i, method) in [&mut theirs as &mut dyn Redeployment, &mut ours]
                .into_iter()
                .enumerate()
            {
                let moves = redeploy(method, &fleet, seed);
                recovered[i] += covered_after(&fleet, &moves) - after;
                energy_j[i] += moves.iter().map(|m| m.energy_j).sum::<f64>() / 200.0;
            }
        }
    }
    let share = f64::from(recovered[0] as u32) / lost_devices as f64;
    assert!((0.42..0.55).contains(&share), "{share}");
    assert!((17e3..23e3).contains(&energy_j[0]), "{energy_j:?}");
    assert!(recovered[1] > recovered[0], "{recovered:?}");
    assert!(energy_j[1] < energy_j[0], "{energy_j:?}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mut rng = stream(9, Stream::DevicePosition, 0, 0);
    let mut point = || {
        let mut coordinate = || rand::RngExt::random::<f64>(&mut rng) * SIDE_M;
        Point::new(coordinate(), coordinate())
    };
    let devices: Vec<Point> = (0..3_000).map(|_| point()).collect();
    let posts: Vec<Point> = (0..40).map(|_| point()).collect();
    let mut uavs = uavs(&posts, 250e3);
    for (uav, more) in uavs.iter_mut().zip(0..) {
        uav.coverage_radius_m = 1_200.0 + 20.0 * f64::from(more);
    }
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let fleet = fleet(&devices, &uavs);
        let mut method = MarginalGains::default();
        let pool = pool.build().unwrap();
        pool.install(|| redeploy(&mut method, &fleet, 1))
    };
    let alone = with(1);
    assert!(alone.len() > 10);
    assert_eq!(alone, with(4));
}
