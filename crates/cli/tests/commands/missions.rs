//! Files of `aerofed deploy` for ground stations, read again by hand. `scripts/check_missions.py` reads them with others' readers.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

/// One UAV at the origin, 46.0 N 8.0 E at 650 m; its devices are 10 km to the east, behind a zone.
fn fleet() -> Value {
    json!({"origin": [46, 8, 650], "area_m": [12e3, 8e3], "coverage_radius_m": 500, "speed_mps": 15, "move_power_w": 160,
           "altitude_m": 80, "uavs": [{"position_m": [0, 0], "battery_j": 1e6}, {"position_m": [0, 8e3], "battery_j": 0}],
           "devices_m": [[10e3, 0], [10_010, 0]], "no_fly": [[[4e3, -3e3], [5e3, -3e3], [5e3, 2e3], [4e3, 2e3]]]})
}

fn deploy(dir: &Path, args: &[&str], fleet: &Value) -> (Option<i32>, String) {
    let output = Command::cargo_bin("aerofed")
        .unwrap()
        .args(["deploy", "-"])
        .args(args)
        .current_dir(dir)
        .write_stdin(fleet.to_string())
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), err)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Degrees of a place so many metres east and north of 46 N 8 E. By hand: with w = 1 - e^2 sin^2 46 = 0.996536 a degree of latitude
/// is M = a (1 - e^2) / w^1.5 = 6 368 501 m over 57.29578, 111 151 m, one of longitude N cos 46 = a / w^0.5 cos 46 =
/// 4 438 320 m over 57.29578, 77 463 m.
fn degrees(east_m: f64, north_m: f64) -> [f64; 2] {
    [46.0 + north_m / 111_151.0, 8.0 + east_m / 77_463.0]
}

fn close(found: [f64; 2], expected: [f64; 2], within: f64) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= within, "{found} {expected}");
    }
}

#[test]
fn a_plan_takes_off_flies_around_the_zone_and_hovers() {
    let dir = tempfile::tempdir().unwrap();
    let (code, err) = deploy(
        dir.path(),
        &["--plan", "m.plan", "--margin-m", "0"],
        &fleet(),
    );
    assert_eq!(code, Some(0), "{err}");
    // The second UAV has no battery: it has no mission.
    assert!(!dir.path().join("m-1.plan").exists());
    let text = fs::read_to_string(dir.path().join("m-0.plan")).unwrap();
    let plan: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&plan["fileType"], &plan["version"]),
        (&json!("Plan"), &json!(1))
    );
    assert_eq!(plan["geoFence"]["version"], 2);
    assert_eq!(
        plan["geoFence"]["polygons"][0]["polygon"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    assert_eq!(plan["rallyPoints"]["version"], 2);
    let mission = &plan["mission"];
    assert_eq!(mission["plannedHomePosition"], json!([46.0, 8.0, 650.0]));
    let items = mission["items"].as_array().unwrap();
    let commands: Vec<u64> = items
        .iter()
        .map(|item| item["command"].as_u64().unwrap())
        .collect();
    assert_eq!((commands[0], commands[1]), (22, 178));
    assert!(
        commands[2..commands.len() - 1]
            .iter()
            .all(|&command| command == 16),
        "{commands:?}"
    );
    assert_eq!(
        (commands.last(), commands.len() >= 5),
        (Some(&17), true),
        "{commands:?}"
    );
    for (index, item) in items.iter().enumerate() {
        assert_eq!(item["type"], "SimpleItem");
        assert_eq!(item["doJumpId"], index + 1);
        assert_eq!(item["params"].as_array().unwrap().len(), 7);
        if index != 1 {
            assert_eq!(
                (&item["frame"], &item["params"][6]),
                (&json!(3), &json!(80.0))
            );
        }
    }
    assert_eq!(items[1]["params"][1], 15.0);
    // It turns at the far corners of the zone, a hair outside, and stops where both devices are just within 500 m.
    let place = |item: &Value| [4, 5].map(|i| number(&item["params"][i]));
    close(place(&items[2]), degrees(4e3, 2e3), 3e-5);
    close(place(&items[3]), degrees(5e3, 2e3), 3e-5);
    let last = place(&items[items.len() - 1]);
    let metres = [(last[0] - 46.0) * 111_151.0, (last[1] - 8.0) * 77_463.0];
    let away_m = (metres[1] - 10_010.0).hypot(metres[0]);
    assert!((490.0..=505.0).contains(&away_m), "{metres:?}");
}

#[test]
fn waypoints_are_lines_of_twelve_columns() {
    let dir = tempfile::tempdir().unwrap();
    let (code, err) = deploy(dir.path(), &["--plan", "m.waypoints"], &fleet());
    assert_eq!(code, Some(0), "{err}");
    let text = fs::read_to_string(dir.path().join("m-0.waypoints")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("QGC WPL 110"));
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split('\t').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    assert!(rows.len() >= 6, "{text}");
    for (index, row) in rows.iter().enumerate() {
        assert_eq!(row.len(), 12, "{text}");
        assert_eq!(
            (row[0], row[1], row[11]),
            (index as f64, f64::from(index == 0), 1.0)
        );
    }
    assert_eq!(rows[0][2..4], [0.0, 16.0]);
    assert_eq!(rows[0][8..11], [46.0, 8.0, 650.0]);
    assert_eq!((rows[1][3], rows[2][3], rows[2][5]), (22.0, 178.0, 15.0));
    assert_eq!(
        (rows[rows.len() - 1][3], rows[rows.len() - 1][10]),
        (17.0, 80.0)
    );
}

#[test]
fn maps_are_sound_geojson_and_kml() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["--geojson", "a.geojson", "--kml", "a.kml"];
    assert_eq!(deploy(dir.path(), &args, &fleet()).0, Some(0));
    let text = fs::read_to_string(dir.path().join("a.geojson")).unwrap();
    let map: Value = serde_json::from_str(&text).unwrap();
    let of = |kind: &str| -> Vec<Value> {
        let features = map["features"].as_array().unwrap().iter();
        features
            .filter(|f| f["properties"]["kind"] == kind)
            .cloned()
            .collect()
    };
    assert_eq!(
        ["device", "uav", "flight", "zone"].map(|kind| of(kind).len()),
        [2, 2, 1, 1]
    );
    let device = &of("device")[0];
    assert_eq!(device["properties"]["covered"], true);
    let at = [1, 0].map(|i| number(&device["geometry"]["coordinates"][i]));
    close(at, degrees(10e3, 0.0), 1e-4);
    let way = of("flight")[0]["geometry"]["coordinates"].clone();
    assert_eq!(way[0], json!([8.0, 46.0, 730.0]));
    let ring = of("zone")[0]["geometry"]["coordinates"][0].clone();
    assert_eq!(ring[0], ring[4]);

    let text = fs::read_to_string(dir.path().join("a.kml")).unwrap();
    let kml = roxmltree::Document::parse(&text).unwrap();
    let named = |name: &str| {
        kml.descendants()
            .filter(|node| node.has_tag_name(("http://www.opengis.net/kml/2.2", name)))
            .count()
    };
    assert_eq!(
        ["Placemark", "Point", "LineString", "Polygon"].map(named),
        [4, 2, 1, 1]
    );
    let first = kml
        .descendants()
        .find(|node| node.has_tag_name(("http://www.opengis.net/kml/2.2", "coordinates")));
    let numbers: Vec<f64> = first
        .unwrap()
        .text()
        .unwrap()
        .split(',')
        .map(|n| n.parse().unwrap())
        .collect();
    assert!(
        numbers.len() == 3 && numbers[0] > 8.1 && numbers[2] == 80.0,
        "{numbers:?}"
    );
}

#[test]
fn a_fleet_that_is_nowhere_has_no_missions_and_files_are_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let mut nowhere = fleet();
    nowhere.as_object_mut().unwrap().remove("origin");
    for option in ["--geojson", "--plan", "--kml"] {
        let (code, err) = deploy(dir.path(), &[option, "a.plan"], &nowhere);
        assert_eq!(code, Some(2));
        assert!(err.contains(option) && err.contains("origin"), "{err}");
    }
    fs::write(dir.path().join("m-0.plan"), "mine").unwrap();
    let args = ["--map", "a.svg", "--plan", "m.plan"];
    let (code, err) = deploy(dir.path(), &args, &fleet());
    assert_eq!(code, Some(2));
    assert!(err.contains("m-0.plan exists"), "{err}");
    assert!(!dir.path().join("a.svg").exists());
    assert_eq!(
        fs::read_to_string(dir.path().join("m-0.plan")).unwrap(),
        "mine"
    );
    let args = [&args[..], &["--force"]].concat();
    assert_eq!(deploy(dir.path(), &args, &fleet()).0, Some(0));
}

/// The same fleet in degrees, without origin and area: the same flights.
#[test]
fn places_in_degrees_need_no_origin() {
    let dir = tempfile::tempdir().unwrap();
    let place = |x: f64, y: f64| {
        let [lat, lon] = degrees(x, y);
        json!({"lat": lat, "lon": lon})
    };
    let fleet = json!({"coverage_radius_m": 500, "speed_mps": 15, "move_power_w": 160, "altitude_m": 80,
        "uavs": [{"position_m": place(0.0, 0.0), "battery_j": 1e6}],
        "devices_m": [place(10e3, 0.0), place(10_010.0, 0.0)]});
    let (code, err) = deploy(dir.path(), &["--plan", "m.plan"], &fleet);
    assert_eq!(code, Some(0), "{err}");
    let text = fs::read_to_string(dir.path().join("m-0.plan")).unwrap();
    let plan: Value = serde_json::from_str(&text).unwrap();
    let home = [0, 1].map(|i| number(&plan["mission"]["plannedHomePosition"][i]));
    close(home, [46.0, 8.0], 1e-6);
    let items = plan["mission"]["items"].as_array().unwrap();
    let last = &items[items.len() - 1]["params"];
    close(
        [4, 5].map(|i| number(&last[i])),
        degrees(9_515.0, 0.0),
        2e-4,
    );
}
