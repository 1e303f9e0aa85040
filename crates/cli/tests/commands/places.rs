//! `docs/places.md` as somebody with a valley of their own follows it: GeoJSON in, a run and its map in degrees out.

use std::fs;
use std::path::Path;

use aerofed::Scenario;
use aerofed::nature::Nature;
use aerofed::record::EventKind;
use aerofed::run_folder::RunLog;
use serde_json::Value;

use crate::own_experiment::blocks;

fn aerofed(dir: &Path, line: &str) -> (Option<i32>, String) {
    let mut command = assert_cmd::Command::cargo_bin("aerofed").unwrap();
    let words = line.split_whitespace().skip(1);
    let output = command.current_dir(dir).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

/// Writes the files of the page and runs its commands.
fn follow_the_page(dir: &Path) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/places.md");
    let page = fs::read_to_string(path).unwrap();
    let mut commands = 0;
    for (language, name, text) in blocks(&page) {
        match (language, name) {
            ("sh", _) => {
                for line in text.lines() {
                    let (code, said) = aerofed(dir, line);
                    assert_eq!(code, Some(0), "{line}: {said}");
                    commands += 1;
                }
            }
            // A piece of a scenario rather than a file.
            (_, "") => {
                let scenario = Scenario::parse(text, &[] as &[&str]).unwrap();
                scenario.check().unwrap();
            }
            (_, name) => fs::write(dir.join(name), text).unwrap(),
        }
    }
    assert_eq!(commands, 2);
}

fn features<'a>(map: &'a Value, kind: &'a str) -> Vec<&'a Value> {
    let all = map["features"].as_array().unwrap().iter();
    all.filter(|feature| feature["properties"]["kind"] == kind)
        .collect()
}

fn position(feature: &Value) -> (f64, f64) {
    let at = &feature["geometry"]["coordinates"];
    (at[0].as_f64().unwrap(), at[1].as_f64().unwrap())
}

#[test]
fn villages_and_a_no_fly_zone_make_a_run_and_its_map_in_degrees() {
    let dir = tempfile::tempdir().unwrap();
    follow_the_page(dir.path());
    let run = dir.path().join("runs/valley");

    // Devices are where the villages are: 18 of 42 in Langnau, within 800 m.
    let text = fs::read_to_string(run.join("map.geojson")).unwrap();
    let map: Value = serde_json::from_str(&text).unwrap();
    let devices = features(&map, "device");
    assert_eq!(devices.len(), 42);
    for device in &devices[..18] {
        let (lon, lat) = position(device);
        let (east_m, north_m) = ((lon - 7.787) * 76.2e3, (lat - 46.939) * 111.2e3);
        assert!(east_m.hypot(north_m) < 805.0, "{device}");
    }
    let (lon, lat) = position(devices[41]);
    assert!((7.725..7.760).contains(&lon) && (46.955..46.975).contains(&lat));
    assert_eq!(position(features(&map, "base")[0]), (7.76, 46.915));
    let zones = features(&map, "zone");
    assert_eq!(zones[0]["properties"]["name"], "hospital");
    assert_eq!(
        zones[0]["geometry"]["coordinates"][0][0],
        serde_json::json!([7.77, 46.93])
    );
    assert_eq!(features(&map, "uav").len(), 3);

    let svg = fs::read_to_string(run.join("map.svg")).unwrap();
    for expected in [
        "longitude (°)",
        ">7.75<",
        "latitude (°)",
        ">46.95<",
        "no-fly zone",
        "obstacle",
        ">hospital<",
    ] {
        assert!(svg.contains(expected), "{expected}");
    }
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("\"name\":\"hospital\""));

    // Nobody hovers in the zone, and flights cost the way around it.
    let log = RunLog::read(&run).unwrap();
    let mut scenario = log.scenario.clone();
    scenario.area.no_fly_file = dir.path().join(&scenario.area.no_fly_file);
    scenario.devices.positions = dir.path().join(&scenario.devices.positions);
    let scenario = scenario.check().unwrap();
    let nature = Nature::new(&scenario);
    let air = &scenario.places().air;
    let mut flights = 0;
    for record in &log.records {
        for uav in &record.uavs {
            assert!(air.allows(uav.position_m, 150.0), "{uav:?}");
        }
        for event in &record.events {
            if let EventKind::UavMoved {
                from_m,
                to_m,
                energy_j,
                ..
            } = event.kind
            {
                let way_m = nature.routes.length_m(from_m, to_m, 150.0);
                assert!((way_m / 20.0 * 160.0 - energy_j).abs() < 1e-3);
                flights += 1;
            }
            flights += usize::from(matches!(event.kind, EventKind::UavLeft { .. }));
        }
    }
    assert!(flights > 0);

    // The villages belong to the run.
    let (code, said) = aerofed(dir.path(), "aerofed run --resume runs/valley");
    assert_eq!(code, Some(0), "{said}");
    let moved = fs::read_to_string(dir.path().join("villages.geojson")).unwrap();
    fs::write(
        dir.path().join("villages.geojson"),
        moved.replace("7.787", "9.787"),
    )
    .unwrap();
    let (code, said) = aerofed(dir.path(), "aerofed scenario check valley.toml");
    assert_eq!(code, Some(2));
    assert!(
        said.contains("feature 1 (Langnau)") && said.contains("`devices.positions`"),
        "{said}"
    );
}
