//! `aerofed deploy`, as a planner types it.

use std::fs;

use assert_cmd::Command;
use serde_json::{Value, json};

fn deploy(args: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut command = Command::cargo_bin("aerofed").unwrap();
    let output = command
        .args(["deploy", "-"])
        .args(args)
        .write_stdin(input)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// One corner of the quincunx is gone; devices stand on a raster.
fn fleet() -> Value {
    let uav = |x: f64, y: f64| json!({"position_m": [x, y], "battery_j": 250e3, "reserve_j": 50e3});
    let raster = |i: u32| 1_000.0 + 2_000.0 * f64::from(i);
    let devices: Vec<[f64; 2]> = (0..100).map(|i| [raster(i % 10), raster(i / 10)]).collect();
    json!({"area_m": [20e3, 20e3], "coverage_radius_m": 5e3, "speed_mps": 20, "move_power_w": 160,
           "uavs": [uav(5e3, 5e3), uav(15e3, 5e3), uav(5e3, 15e3), uav(10e3, 10e3)], "devices_m": devices})
}

fn answer(args: &[&str], fleet: &Value) -> Value {
    let (code, out, err) = deploy(args, &fleet.to_string());
    assert_eq!(code, Some(0), "{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn each_method_answers_with_what_its_moves_give() {
    let number = |value: &Value| value.as_f64().unwrap();
    for method in ["none", "two_stage", "joint_greedy", "marginal_gains"] {
        let answer = answer(&["--method", method], &fleet());
        assert_eq!(answer["method"], method);
        let uavs = answer["uavs"].as_array().unwrap();
        assert_eq!(uavs.len(), 4);
        let spent: f64 = uavs.iter().map(|uav| number(&uav["energy_j"])).sum();
        assert!((spent - number(&answer["energy_j"])).abs() <= 1e-6 * spent.max(1.0));
        let devices = fleet()["devices_m"].clone();
        let covered = |key: &str| {
            let near = |device: &&Value| {
                uavs.iter().any(|uav| {
                    let axis = |i: usize| number(&uav[key][i]) - number(&device[i]);
                    axis(0).hypot(axis(1)) <= 5e3
                })
            };
            devices.as_array().unwrap().iter().filter(near).count() as f64 / 100.0
        };
        assert_eq!(number(&answer["coverage_before"]), covered("from_m"));
        assert_eq!(number(&answer["coverage_after"]), covered("to_m"));
        if method == "none" {
            assert_eq!(spent, 0.0);
        } else {
            assert!(covered("to_m") > covered("from_m"), "{answer}");
        }
    }
}

#[test]
fn seeds_repeat_and_matter() {
    let with = |seed| answer(&["--method", "two_stage", "--seed", seed], &fleet());
    assert_eq!(with("1"), with("1"));
    assert_ne!(with("1"), with("2"));
}

#[test]
fn a_map_is_written_and_an_unwritable_one_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("moves.svg");
    answer(&["--map", path.to_str().unwrap()], &fleet());
    let svg = fs::read_to_string(path).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("covered only after"));
    let (code, _, err) = deploy(&["--map", "/no/such/folder/a.svg"], &fleet().to_string());
    assert_eq!(code, Some(1));
    assert!(err.contains("/no/such/folder/a.svg"), "{err}");
}

#[test]
fn no_devices_and_a_battery_below_its_reserve_mean_no_moves() {
    let mut empty = fleet();
    empty["devices_m"] = json!([]);
    let mut tired = fleet();
    for uav in tired["uavs"].as_array_mut().unwrap() {
        uav["battery_j"] = json!(40e3);
    }
    for fleet in [empty, tired] {
        for method in ["two_stage", "joint_greedy", "marginal_gains"] {
            assert_eq!(answer(&["--method", method], &fleet)["energy_j"], 0.0);
        }
    }
}

#[test]
fn bad_fleets_are_refused_by_name() {
    let with = |path: &str, value: Value| {
        let mut fleet = fleet();
        *fleet.pointer_mut(path).unwrap() = value;
        fleet.to_string()
    };
    let mut extra = fleet();
    extra["colour"] = json!("red");
    let mut missing = fleet();
    missing.as_object_mut().unwrap().remove("speed_mps");
    for (input, named) in [
        (with("/area_m/0", json!(0)), "area_m[0]"),
        (with("/area_m", json!([1])), "area_m"),
        (with("/coverage_radius_m", json!(-1)), "coverage_radius_m"),
        (with("/speed_mps", json!(0)), "speed_mps"),
        (with("/move_power_w", json!(1e300)), "move_power_w"),
        (with("/uavs", json!([])), "uavs"),
        (
            with("/uavs/1/position_m", json!([20_001, 0])),
            "uavs[1].position_m",
        ),
        (with("/uavs/2/battery_j", json!(-1)), "uavs[2].battery_j"),
        (with("/uavs/3/reserve_j", json!(-1)), "uavs[3].reserve_j"),
        (with("/devices_m/7", json!([0, -1])), "devices_m[7]"),
        (with("/devices_m/7", json!("x")), "devices_m[7]"),
        (extra.to_string(), "colour"),
        (missing.to_string(), "speed_mps"),
        (String::new(), "-"),
        ("{\"speed_mps\": 1e999}".into(), "number"),
    ] {
        let (code, out, err) = deploy(&[], &input);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{named}: {err}");
        assert!(err.contains(named), "{named}: {err}");
        assert!(!err.contains("panicked"), "{err}");
    }
    assert_eq!(
        deploy(&["--method", "magic"], &fleet().to_string()).0,
        Some(2)
    );
    assert_eq!(deploy(&["--seed", "-1"], &fleet().to_string()).0, Some(2));
}

#[test]
fn zones_are_flown_around_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("moves.svg");
    let mut fleet = fleet();
    fleet["no_fly"] = json!([[[7e3, 11e3], [18e3, 11e3], [18e3, 12e3], [7e3, 12e3]]]);
    let answer = answer(&["--map", map.to_str().unwrap()], &fleet);
    let number = |value: &Value| value.as_f64().unwrap();
    let mut detours = 0;
    for uav in answer["uavs"].as_array().unwrap() {
        let [x, y] = [0, 1].map(|axis| number(&uav["to_m"][axis]));
        assert!(
            !((7e3..=18e3).contains(&x) && (11e3..=12e3).contains(&y)),
            "{uav}"
        );
        let [dx, dy] = [0, 1].map(|axis| number(&uav["to_m"][axis]) - number(&uav["from_m"][axis]));
        detours += usize::from(number(&uav["distance_m"]) > dx.hypot(dy) + 1.0);
    }
    assert!(detours > 0, "{answer}");
    let svg = fs::read_to_string(map).unwrap();
    assert!(svg.contains("no-fly zone") && svg.contains("<pattern"));
}
