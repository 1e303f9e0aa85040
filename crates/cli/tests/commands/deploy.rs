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
    let more = |field: &str, value: Value| {
        let mut fleet = fleet();
        fleet[field] = value;
        fleet.to_string()
    };
    let of_uav = |field: &str, value: Value| {
        let mut fleet = fleet();
        fleet["uavs"][1][field] = value;
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
        (with("/devices_m/7", json!({"lat": 47, "lon": 8})), "origin"),
        (more("origin", json!([1])), "origin"),
        (more("origin", json!([95, 8])), "origin[0]"),
        (more("hover_power_w", json!(-1)), "hover_power_w"),
        (more("altitude_m", json!(1e9)), "altitude_m"),
        (
            of_uav("coverage_radius_m", json!(0)),
            "uavs[1].coverage_radius_m",
        ),
        (of_uav("speed_mps", json!(0)), "uavs[1].speed_mps"),
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

/// The example of the README, from the root of the repository: 5 UAVs at one base, 120 devices in three villages.
fn villages() -> (String, Value) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/fleet.json");
    let text = fs::read_to_string(path).unwrap();
    let fleet = serde_json::from_str(&text).unwrap();
    (path.into(), fleet)
}

#[test]
fn the_villages_are_covered_within_everybodys_energy() {
    let (_, fleet) = villages();
    let answer = answer(&[], &fleet);
    let number = |value: &Value| value.as_f64().unwrap();
    assert!(number(&answer["coverage_after"]) >= 0.97, "{answer}");
    assert_eq!(answer["coverage_before"], 0.0);
    for uav in answer["uavs"].as_array().unwrap() {
        let energy_j = number(&uav["energy_j"]);
        assert!(energy_j <= 260e3, "{uav}");
        assert!((energy_j - number(&uav["seconds"]) * 160.0).abs() < 1e-6);
        let left_j = number(&uav["battery_left_j"]);
        assert!((left_j + energy_j - 400e3).abs() < 1e-6, "{uav}");
        let minutes = (left_j - 140e3) / 120.0 / 60.0;
        assert!((number(&uav["endurance_min"]) - minutes).abs() < 1e-9);
    }
}

#[test]
fn the_commands_of_the_readme_work_as_written() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    fs::create_dir(dir.path().join("examples")).unwrap();
    for file in ["fleet.json", "cell.json"] {
        let to = dir.path().join("examples").join(file);
        fs::copy(format!("{root}/{file}"), to).unwrap();
    }
    let mut found = 0;
    for line in readme.lines() {
        let Some(words) = line.strip_prefix("aerofed ") else {
            continue;
        };
        if !words.starts_with("deploy ") && !words.starts_with("allocate ") {
            continue;
        }
        found += 1;
        let words = words.split('#').next().unwrap().split_whitespace();
        let mut command = Command::cargo_bin("aerofed").unwrap();
        let output = command
            .args(words)
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
        let _: Value = serde_json::from_slice(&output.stdout).unwrap();
    }
    assert!(found >= 3, "{found}");
}

#[test]
fn a_goal_takes_as_few_uavs_as_it_needs_and_says_when_it_cannot_be_met() {
    let (_, fleet) = villages();
    let needed = |goal: &str| {
        let answer = answer(&["--goal", goal], &fleet);
        let share = answer["coverage_after"].as_f64().unwrap();
        assert!(share >= goal.parse().unwrap(), "{answer}");
        let uavs = answer["uavs"].as_array().unwrap();
        let flying = uavs.iter().filter(|uav| uav["needed"] == true).count();
        assert_eq!(answer["uavs_needed"], flying);
        for uav in uavs.iter().filter(|uav| uav["needed"] == false) {
            assert_eq!(
                (&uav["energy_j"], &uav["from_m"]),
                (&json!(0.0), &uav["to_m"])
            );
        }
        flying
    };
    // Each village has a third of the devices, and two of them are wider than a UAV covers.
    assert_eq!(["0.3", "0.6", "0.97"].map(needed), [1, 2, 5]);
    let (code, out, err) = deploy(&["--goal", "1", "--margin-m", "500"], &fleet.to_string());
    assert_eq!(code, Some(1));
    assert!(err.contains("goal 100.0 % is not met"), "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["uavs_needed"], 5);
    for bad in ["1.1", "-0.1", "x"] {
        assert_eq!(deploy(&["--goal", bad], &fleet.to_string()).0, Some(2));
    }
}

#[test]
fn options_that_a_method_does_not_read_and_margins_that_leave_nothing_are_refused() {
    let (_, fleet) = villages();
    for (args, named) in [
        (
            &["--method", "two_stage", "--margin-m", "5"][..],
            "--margin-m",
        ),
        (&["--method", "joint_greedy", "--relay-m", "5"], "--relay-m"),
        (
            &["--method", "none", "--movement-weight", "1"],
            "--movement-weight",
        ),
        (&["--margin-m", "1900"], "1900"),
        (&["--plan", "missions.doc"], "missions.doc"),
    ] {
        let (code, out, err) = deploy(args, &fleet.to_string());
        assert_eq!((code, out.as_str()), (Some(2), ""), "{args:?}: {err}");
        assert!(err.contains(named), "{args:?}: {err}");
    }
}

/// What a margin costs and what it is for: with 300 m everybody who is covered stays so when the radius is 299 m less.
#[test]
fn a_margin_keeps_devices_inside_and_a_price_keeps_uavs_at_home() {
    let (_, fleet) = villages();
    let number = |value: &Value| value.as_f64().unwrap();
    let covered = |args: &[&str], less_m: f64| {
        let answer = answer(args, &fleet);
        let near = |device: &&Value| {
            answer["uavs"].as_array().unwrap().iter().any(|uav| {
                let axis = |i: usize| number(&uav["to_m"][i]) - number(&device[i]);
                axis(0).hypot(axis(1)) <= 1_900.0 - less_m
            })
        };
        fleet["devices_m"]
            .as_array()
            .unwrap()
            .iter()
            .filter(near)
            .count()
    };
    let tight = covered(&["--margin-m", "0"], 299.0);
    let safe = covered(&["--margin-m", "300"], 299.0);
    assert!(safe > tight + 5, "{safe} {tight}");
    assert!(covered(&["--margin-m", "0"], 0.0) >= covered(&["--margin-m", "300"], 0.0));
    let dear = answer(&["--movement-weight", "1000"], &fleet);
    assert_eq!(dear["energy_j"], 0.0);
    // Nobody is covered, whatever it takes.
    assert_eq!(dear["pays_after_min"], Value::Null);
}

/// A UAV that covers half as far, one that flies twice as far for a joule, one that does not fly at all.
#[test]
fn uavs_may_have_numbers_of_their_own() {
    let (_, mut fleet) = villages();
    fleet["uavs"][0]["coverage_radius_m"] = json!(950);
    fleet["uavs"][1]["speed_mps"] = json!(40);
    fleet["uavs"][2]["battery_j"] = json!(140e3);
    fleet["uavs"][3]["move_power_w"] = json!(80);
    fleet["uavs"][4]["hover_power_w"] = json!(240);
    fleet["uavs"][4]["altitude_m"] = json!(60);
    let answer = answer(&[], &fleet);
    let number = |value: &Value| value.as_f64().unwrap();
    let per_m = |uav: usize| {
        let uav = &answer["uavs"][uav];
        number(&uav["energy_j"]) / number(&uav["distance_m"])
    };
    assert_eq!(answer["uavs"][2]["distance_m"], 0.0);
    for (uav, expected) in [(0, 8.0), (1, 4.0), (3, 4.0), (4, 8.0)] {
        assert!((per_m(uav) - expected).abs() < 1e-9, "{uav}: {answer}");
    }
    let last = &answer["uavs"][4];
    let left_s = (number(&last["battery_left_j"]) - 140e3) / 240.0;
    assert!((number(&last["endurance_min"]) - left_s / 60.0).abs() < 1e-9);
}
