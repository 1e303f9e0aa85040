//! Fleets of many devices and UAVs: data that are shared, growth, and the same bytes at any number of threads.

use std::time::{Duration, Instant};

use aerofed::learn::data::{Data, divide};
use aerofed::record::RoundRecord;
use aerofed::{Method, Scenario, Simulation, ValidScenario};
use rayon::ThreadPoolBuilder;

/// A square of 20 km that so many UAVs cover together as five do by default; one of them is lost in the second round.
fn fleet(method: &str, devices: usize, uavs: usize, more: &[&str]) -> ValidScenario {
    let radius_m = 5_000.0 * (5.0 / uavs as f64).sqrt();
    let settings = [
        format!("method={method}"),
        "learner=surrogate".into(),
        "data.sharing=pool".into(),
        format!("devices.count={devices}"),
        format!("data.data_volume={}", 4 * devices),
        "data.personal_samples=10".into(),
        format!("uavs.count={uavs}"),
        format!("uavs.coverage_radius_m={radius_m}"),
        format!(
            r#"faults=[{{kind="loss", uav={}, round=2, moment="edge"}}]"#,
            uavs / 2
        ),
    ];
    let settings: Vec<&str> = settings
        .iter()
        .map(String::as_str)
        .chain(more.iter().copied())
        .collect();
    Scenario::parse("", &settings).unwrap().check().unwrap()
}

fn records(scenario: &ValidScenario, rounds: usize) -> Vec<RoundRecord> {
    let mut method = Method::of(scenario).unwrap();
    let mut simulation = Simulation::builder(scenario).threads(1).build().unwrap();
    (0..rounds)
        .map(|_| simulation.step(&mut method).unwrap().unwrap())
        .collect()
}

#[test]
fn a_large_fleet_gives_the_same_bytes_at_any_number_of_threads() {
    for method in ["cehfed", "hfl", "cfed"] {
        let scenario = fleet(method, 3_000, 60, &["seed=4"]);
        let with = |threads: usize| {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let records = pool.install(|| records(&scenario, 3));
            serde_json::to_string(&records).unwrap()
        };
        let one = with(1);
        assert!(one.contains("uav_lost"), "{method}");
        assert_eq!(one, with(2), "{method}");
        assert_eq!(one, with(8), "{method}");
    }
}

/// The shortest of several rounds, so that what else the machine does counts little.
fn round_time(scenario: &ValidScenario) -> Duration {
    let mut method = Method::of(scenario).unwrap();
    let mut simulation = Simulation::builder(scenario).threads(1).build().unwrap();
    let mut shortest = Duration::MAX;
    for _ in 0..4 {
        let start = Instant::now();
        simulation.step(&mut method).unwrap().unwrap();
        shortest = shortest.min(start.elapsed());
    }
    shortest
}

/// Ten times the devices: in proportion would be 10, squared 100.
#[test]
fn a_round_grows_in_proportion_to_devices() {
    for method in ["cehfed", "hfl"] {
        let time = |devices: usize| round_time(&fleet(method, devices, 20, &[]));
        let ratio = time(40_000).as_secs_f64() / time(4_000).as_secs_f64();
        assert!(ratio < 25.0, "{method}: {ratio}");
    }
}

/// Twenty times the UAVs over the same devices: all pairs of them would be 400.
#[test]
fn a_round_does_not_grow_with_pairs_of_uavs() {
    for method in ["cehfed", "hfl"] {
        let time = |uavs: usize| round_time(&fleet(method, 10_000, uavs, &["faults=[]"]));
        let ratio = time(2_000).as_secs_f64() / time(100).as_secs_f64();
        assert!(ratio < 60.0, "{method}: {ratio}");
    }
}

/// The embedded subset has 7 000 training samples: too few for as many devices, and enough for any number that share them.
#[test]
fn more_devices_than_samples_share_a_pool() {
    let settings = |sharing: &str| {
        let sharing = format!("data.sharing={sharing}");
        fleet(
            "hfl",
            20_000,
            20,
            &[
                &sharing,
                "learner=train",
                "model.name=logistic",
                "training.max_edge_rounds=1",
            ],
        )
    };
    let refused = Simulation::builder(&settings("disjoint")).build();
    let refused = refused.err().unwrap().to_string();
    assert!(refused.contains("data.sharing = \"pool\""), "{refused}");
    let scenario = settings("pool");
    let mut simulation = Simulation::builder(&scenario).build().unwrap();
    let record = simulation
        .step(&mut Method::of(&scenario).unwrap())
        .unwrap()
        .unwrap();
    assert!(record.updates_computed > 10_000);
    assert!(record.test_accuracy > 0.2, "{}", record.test_accuracy);
}

/// What devices draw does not depend on how many others there are beyond their share, nor on the order of asking.
#[test]
fn devices_of_a_pool_hold_what_their_partition_says() {
    let scenario = fleet("hfl", 9_000, 5, &["data.partition.kind=noniid_a"]);
    let train = Data::load(&scenario).unwrap().train;
    let parts = divide(&scenario, &train).unwrap();
    assert_eq!(parts, divide(&scenario, &train).unwrap());
    assert_eq!((parts.devices.len(), parts.personal.len()), (9_000, 5));
    assert!(parts.devices.iter().all(|own| own.len() == 4));
    for counts in parts.label_counts(&train) {
        let held: Vec<usize> = counts.into_iter().filter(|count| *count > 0).collect();
        assert_eq!(held, [2, 2]);
    }
    let probed = |sample: &u32| parts.probe.contains(sample);
    assert!(!parts.devices[..100].iter().flatten().any(probed));
}
