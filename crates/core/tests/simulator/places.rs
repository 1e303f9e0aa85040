//! Real places: zones that posts and flights keep out of, several bases, devices where a file says.

use std::fs;

use aerofed::geometry::Point;
use aerofed::nature::Nature;
use aerofed::record::{EnergyItem, EventKind};
use aerofed::run::Outcome;
use aerofed::{RoundRecord, ValidScenario};

use crate::common::{assert_balanced, assert_conforms, light, run};

/// A wall through the middle, a block around a corner of the quincunx, a tower that the UAVs pass over.
const ZONES: &str = r#"area.no_fly=[
    { name = "wall", polygon = [[9000, 3000], [11000, 3000], [11000, 17000], [9000, 17000]] },
    { name = "block", polygon = [[3000, 3000], [6500, 2000], [7000, 6000], [5000, 6800], [2500, 6000]], height_m = 200 },
    { name = "tower", polygon = [[14000, 14000], [16000, 14000], [16000, 16000], [14000, 16000]], height_m = 60 },
]"#;

const AROUND: [&str; 4] = [
    ZONES,
    "uavs.base_m=[[500, 500], [19000, 10000]]",
    "redeploy.when=every_round",
    "stop.max_rounds=5",
];

/// Nobody hovers in a zone, flights cost what the way around takes, and who leaves pays for the way to the nearest base.
fn assert_around(scenario: &ValidScenario, outcome: &Outcome) -> (usize, usize) {
    let nature = Nature::new(scenario);
    let (routes, air) = (&nature.routes, &scenario.places().air);
    let (mut moves, mut detours) = (0, 0);
    for record in &outcome.records {
        for uav in &record.uavs {
            assert!(air.allows(uav.position_m, 150.0), "{uav:?}");
        }
        for event in &record.events {
            let EventKind::UavMoved {
                from_m,
                to_m,
                energy_j,
                ..
            } = event.kind
            else {
                continue;
            };
            let legs = routes.legs(from_m, to_m, 150.0);
            let zones = air.at(150.0).unwrap();
            assert!(legs.windows(2).all(|leg| !zones.blocks(leg[0], leg[1])));
            let way_m = routes.length_m(from_m, to_m, 150.0);
            assert_close(energy_j, way_m / 20.0 * 160.0);
            moves += 1;
            detours += usize::from(legs.len() > 2);
        }
    }
    (moves, detours)
}

fn assert_close(a: f64, b: f64) {
    assert!(
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0),
        "{a} {b}"
    );
}

fn return_flight_j(record: &RoundRecord) -> f64 {
    record.energy.get(EnergyItem::ReturnFlight)
}

#[test]
fn posts_and_flights_keep_out_of_zones_whatever_the_method_of_redeployment() {
    let (mut moves, mut detours) = (0, 0);
    for redeploy in ["two_stage", "marginal_gains", "joint_greedy"] {
        for seed in 1..=4 {
            let (redeploy, seed) = (
                format!("redeploy.method={redeploy}"),
                format!("seed={seed}"),
            );
            let scenario = light(
                &[
                    &AROUND[..],
                    &[&redeploy, &seed, "uavs.coverage_radius_m=3500"],
                ]
                .concat(),
            );
            let outcome = run(&scenario, 2);
            let (moved, around) = assert_around(&scenario, &outcome);
            moves += moved;
            detours += around;
            let uavs = outcome.records.iter().flat_map(|record| &record.uavs);
            uavs.for_each(assert_balanced);
        }
    }
    assert!(moves > 20 && detours > 0, "{moves} {detours}");
}

#[test]
fn layouts_are_moved_out_of_zones_by_the_shortest_way() {
    let scenario = light(&AROUND);
    let outcome = run(&scenario, 1);
    let posts: Vec<Point> = outcome.records[0]
        .uavs
        .iter()
        .map(|uav| uav.position_m)
        .collect();
    // The quincunx has its middle in the wall and its first corner in the block; the tower is lower than UAVs fly.
    let free = run(&light(&["stop.max_rounds=1"]), 1);
    let quincunx: Vec<Point> = free.records[0]
        .uavs
        .iter()
        .map(|uav| uav.position_m)
        .collect();
    assert_eq!(quincunx[4], Point::new(10e3, 10e3));
    let first = aerofed::world::World::new(&scenario, vec![1; 30], 1.0);
    let first: Vec<Point> = first.uavs.iter().map(|uav| uav.position).collect();
    assert_eq!(first[1..4], quincunx[1..4]);
    assert!(
        (first[4].distance(quincunx[4]) - 1000.0).abs() < 0.1,
        "{first:?}"
    );
    assert_ne!(first[0], quincunx[0]);
    assert!(
        posts
            .iter()
            .all(|&post| scenario.places().air.allows(post, 150.0))
    );
}

/// The way home is around the wall, to the nearer of the bases.
#[test]
fn who_leaves_flies_to_the_base_that_costs_least() {
    let home_j = |base: &str| {
        let base = format!("uavs.base_m={base}");
        let scenario = light(&[
            ZONES,
            &base,
            "uavs.count=1",
            "uavs.layout={kind=\"fixed\", positions_m=[[8000, 10000]]}",
            "faults=[{kind=\"drain\", uav=0, round=1}]",
            "redeploy.method=none",
            "stop.max_rounds=1",
        ]);
        return_flight_j(&run(&scenario, 1).records[0])
    };
    let per_m = 160.0 / 20.0;
    let (east, south) = (home_j("[12000, 10000]"), home_j("[8000, 1000]"));
    assert_close(south, 9000.0 * per_m);
    // Around the wall's lower corners: straight through it would be 4 km.
    let around_m = 2.0 * 1000f64.hypot(7000.0) + 2000.0;
    assert!((east - around_m * per_m).abs() < 1.0, "{east}");
    assert_eq!(home_j("[[12000, 10000], [8000, 1000]]"), south);
    assert_eq!(home_j("[[8000, 1000], [12000, 10000]]"), south);
}

#[test]
fn flights_around_zones_conform_under_every_schedule() {
    for method in ["hfl", "cehfed", "cfed", "hfedat"] {
        let method = format!("method={method}");
        assert_conforms(&light(&[&AROUND[..], &[&method]].concat()));
    }
}

#[test]
fn devices_start_where_a_file_says_and_the_file_belongs_to_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sites.csv");
    fs::write(
        &path,
        "lat,lon,devices,radius_m\n47.05,8.05,2,0\n47.10,8.10,1,300\n",
    )
    .unwrap();
    let positions = format!("devices.positions={path:?}");
    let settings = [
        &positions,
        "area.origin=[47, 8]",
        "mobility.kind=static",
        "stop.max_rounds=1",
    ];
    let scenario = light(&settings);
    let outcome = run(&scenario, 1);
    let frame = scenario.places().frame.unwrap();
    let at = &outcome.world.devices.position;
    assert!(
        at[..20]
            .iter()
            .all(|&place| place == frame.point(47.05, 8.05))
    );
    let second = frame.point(47.10, 8.10);
    assert!(at[20..].iter().all(|place| place.distance(second) <= 300.0));

    let destination = folder.path().join("run");
    let run = aerofed::run_folder::RunFolder::create(&destination, &scenario, false).unwrap();
    let check = || aerofed::run_folder::check_inputs(run.partial(), &scenario, &|| false);
    check().unwrap();
    fs::write(&path, "lat,lon\n47.05,8.05\n").unwrap();
    let told = check().unwrap_err().to_string();
    assert!(told.contains("`devices.positions`"), "{told}");
}
