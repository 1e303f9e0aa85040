//! The planner and the benchmark, as a user types them.

use assert_cmd::Command;
use serde_json::{Value, json};

fn aerofed(args: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut command = Command::cargo_bin("aerofed").unwrap();
    let output = command.args(args).write_stdin(input).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn cell(local_iterations: Option<u32>) -> Value {
    let device = |snr: f64, time: f64| {
        json!({"snr_up_hz": snr, "snr_down_hz": 2.0 * snr, "tx_power_w": 0.5,
               "iteration_time_s": time, "iteration_energy_j": 0.02})
    };
    json!({"energy_weight": 0.5, "time_weight": 0.5, "hover_power_w": 100, "bandwidth_up_hz": 6e7,
           "bandwidth_down_hz": 6e7, "model_bits_up": 698_880, "model_bits_down": 698_880,
           "broadcast_power_w": 0.8, "local_iterations": local_iterations,
           "devices": [device(1e9, 0.004), device(3e8, 0.006), device(5e7, 0.002)]})
}

#[test]
fn both_solvers_answer_alike_and_within_the_budgets() {
    let answer = |solver: &str| -> Value {
        let (code, out, err) = aerofed(
            &["allocate", "-", "--solver", solver],
            &cell(Some(5)).to_string(),
        );
        assert_eq!(code, Some(0), "{err}");
        serde_json::from_str(&out).unwrap()
    };
    let (exact, palm) = (answer("exact"), answer("palm"));
    let number = |value: &Value| value.as_f64().unwrap();
    assert_eq!(exact["status"], "solved");
    assert_eq!(exact["local_iterations"], 5);
    let (a, b) = (number(&exact["objective"]), number(&palm["objective"]));
    assert!((a - b).abs() <= 1e-6 * a, "{a} {b}");
    assert!(number(&exact["kkt_residual"]) < 1e-6);
    for band in ["bandwidth_up_hz", "bandwidth_down_hz"] {
        let devices = exact["devices"].as_array().unwrap();
        let sum: f64 = devices.iter().map(|device| number(&device[band])).sum();
        assert!(sum <= 6e7 && sum > 5.9e7, "{sum}");
    }
    // The objective is the weighted energy and time that the answer itself states.
    let stated = 0.5 * number(&exact["energy_j"]) + 0.5 * number(&exact["round_time_s"]);
    assert!((stated - a).abs() <= 1e-9 * a);
}

#[test]
fn iterations_are_chosen_when_left_open() {
    let (code, out, err) = aerofed(&["allocate", "-"], &cell(None).to_string());
    assert_eq!(code, Some(0), "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert!(answer["local_iterations"].as_u64().unwrap() > 1);
}

#[test]
fn bad_cells_are_refused_by_name() {
    let mut negative = cell(None);
    negative["bandwidth_up_hz"] = json!(-1);
    let mut device = cell(None);
    device["devices"][1]["snr_up_hz"] = json!(0);
    let mut empty = cell(None);
    empty["devices"] = json!([]);
    let mut extra = cell(None);
    extra["colour"] = json!("red");
    for (input, named) in [
        (negative.to_string(), "bandwidth_up_hz"),
        (device.to_string(), "devices[1].snr_up_hz"),
        (empty.to_string(), "devices"),
        (extra.to_string(), "colour"),
        (cell(Some(0)).to_string(), "local_iterations"),
        (String::new(), "-"),
        ("[".repeat(100_000), "-"),
        ("{\"energy_weight\": 1e999}".into(), "number"),
    ] {
        let (code, out, err) = aerofed(&["allocate", "-"], &input);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.contains(named), "{named}: {err}");
    }
    assert_eq!(aerofed(&["allocate", "/no/such/cell.json"], "").0, Some(2));
}

/// Received power over noise density by hand: 0.5 W over d = (3 km, 4 km, 150 m) at d^-3 and -174 dBm/Hz.
#[test]
fn positions_and_powers_are_as_good_as_the_snr_they_make() {
    let mut by_snr = cell(Some(5));
    let mut by_place = by_snr.clone();
    by_place["uav_position_m"] = json!([1_000, 2_000]);
    let noise_w_per_hz = 10f64.powf(-17.4) / 1e3;
    for (index, (east_m, north_m)) in [(3e3, 4e3), (-200.0, 0.0), (0.0, 1_500.0)]
        .iter()
        .enumerate()
    {
        let away_m = f64::hypot(*east_m, *north_m).hypot(150.0);
        let gain = away_m.powi(-3);
        by_snr["devices"][index]["snr_up_hz"] = json!(0.5 * gain / noise_w_per_hz);
        by_snr["devices"][index]["snr_down_hz"] = json!(0.8 * gain / noise_w_per_hz);
        let device = by_place["devices"][index].as_object_mut().unwrap();
        device.remove("snr_up_hz");
        device.remove("snr_down_hz");
        device.insert(
            "position_m".into(),
            json!([1_000.0 + east_m, 2_000.0 + north_m]),
        );
    }
    let answer = |cell: &Value| -> Value {
        let (code, out, err) = aerofed(&["allocate", "-"], &cell.to_string());
        assert_eq!(code, Some(0), "{err}");
        serde_json::from_str(&out).unwrap()
    };
    let number = |value: &Value| value.as_f64().unwrap();
    let (snr, place) = (answer(&by_snr), answer(&by_place));
    assert!((number(&snr["objective"]) / number(&place["objective"]) - 1.0).abs() < 1e-9);
    for (a, b) in snr["devices"]
        .as_array()
        .unwrap()
        .iter()
        .zip(place["devices"].as_array().unwrap())
    {
        let ratio = number(&a["bandwidth_up_hz"]) / number(&b["bandwidth_up_hz"]);
        assert!((ratio - 1.0).abs() < 1e-6, "{ratio}");
    }
    // Noise and exponents of one's own are heard.
    for (field, value) in [
        ("noise_dbm_per_hz", -160.0),
        ("exponent_up", 3.2),
        ("exponent_down", 3.2),
        ("altitude_m", 900.0),
    ] {
        let mut other = by_place.clone();
        other[field] = json!(value);
        assert!(
            number(&answer(&other)["objective"]) > number(&place["objective"]),
            "{field}"
        );
    }
    let mut both = by_place.clone();
    both["devices"][1]["snr_up_hz"] = json!(1e9);
    let mut neither = by_place.clone();
    neither["devices"][1]
        .as_object_mut()
        .unwrap()
        .remove("position_m");
    let mut half = by_snr.clone();
    half["devices"][2]
        .as_object_mut()
        .unwrap()
        .remove("snr_down_hz");
    let mut nowhere = by_place.clone();
    nowhere.as_object_mut().unwrap().remove("uav_position_m");
    let mut loud = by_place.clone();
    loud["noise_dbm_per_hz"] = json!(1);
    for (cell, named) in [
        (both, "devices[1].position_m"),
        (neither, "devices[1].snr_up_hz"),
        (half, "devices[2].snr_down_hz"),
        (nowhere, "uav_position_m"),
        (loud, "noise_dbm_per_hz"),
    ] {
        let (code, out, err) = aerofed(&["allocate", "-"], &cell.to_string());
        assert_eq!((code, out.as_str()), (Some(2), ""), "{named}: {err}");
        assert!(err.contains(named), "{named}: {err}");
    }
}

#[test]
fn the_training_benchmark_reports_its_figures() {
    let args = [
        "bench",
        "train",
        "--model",
        "logistic",
        "--seconds",
        "0.1",
        "--json",
    ];
    let (code, out, err) = aerofed(&args, "");
    assert_eq!(code, Some(0), "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    for key in ["samples_per_s", "gflops", "peak_share"] {
        assert!(answer[key].as_f64().unwrap() > 0.0, "{key}");
    }
    assert_eq!(answer["model"], "logistic");
    assert_eq!(
        aerofed(&["bench", "train", "--model", "gpt"], "").0,
        Some(2)
    );
    assert_eq!(
        aerofed(&["bench", "train", "--seconds", "nan"], "").0,
        Some(2)
    );
}

#[test]
fn the_scale_benchmark_measures_every_fleet_and_writes_table_and_plot() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("scale");
    let folder = out.to_str().unwrap();
    let args = ["bench", "scale", "--devices", "200,2000", "--uavs", "5,500"];
    let args = [&args[..], &["--methods", "hfl", "--out", folder]].concat();
    let (code, table, err) = aerofed(&args, "");
    assert_eq!(code, Some(0), "{err}");
    // 200 devices have no work for 500 UAVs.
    for fleet in [
        "| hfl | 200 | 5 |",
        "| hfl | 2000 | 5 |",
        "| hfl | 2000 | 500 |",
    ] {
        assert!(table.contains(fleet), "{fleet}: {table}");
    }
    assert_eq!(table.lines().count(), 5, "{table}");
    let csv = std::fs::read_to_string(out.join("scale.csv")).unwrap();
    assert_eq!(csv.lines().count(), 4);
    let plot = std::fs::read_to_string(out.join("scale-hfl.svg")).unwrap();
    assert!(plot.contains("500 UAVs") && plot.ends_with("</svg>\n"));
    let (code, _, err) = aerofed(&["bench", "scale", "--devices", "0"], "");
    assert_eq!(code, Some(2), "{err}");
    let (code, _, err) = aerofed(
        &["bench", "scale", "--methods", "hfll", "--devices", "200"],
        "",
    );
    assert_eq!(code, Some(2), "{err}");
}
