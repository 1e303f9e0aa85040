//! What a planner may write, and what it is told when it makes no sense.

use aerofed::solve::bandwidth::{Cell, CellError, Objective, Options, Solver, allocate};

use crate::cells::{Class, cell};

#[test]
fn bad_cells_are_named() {
    let good = cell(Class::Typical, 3, 1);
    let text = serde_json::to_value(&good).unwrap();
    let mut tried = 0;
    for (name, _) in text
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, value)| value.is_number())
    {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300] {
            let mut cell = good.clone();
            *match name.as_str() {
                "energy_weight" => &mut cell.energy_weight,
                "time_weight" => &mut cell.time_weight,
                "hover_power_w" => &mut cell.hover_power_w,
                "bandwidth_up_hz" => &mut cell.bandwidth_up_hz,
                "bandwidth_down_hz" => &mut cell.bandwidth_down_hz,
                "model_bits_up" => &mut cell.model_bits_up,
                "model_bits_down" => &mut cell.model_bits_down,
                "broadcast_power_w" => &mut cell.broadcast_power_w,
                other => panic!("{other} is not tried"),
            } = bad;
            let message = allocate(&cell, &Options::default())
                .unwrap_err()
                .to_string();
            assert!(
                message.starts_with(&format!("{name} is {bad}; it must be ")),
                "{message}"
            );
            tried += 1;
        }
    }
    assert_eq!(tried, 8 * 5);
    let mut cell = good.clone();
    cell.devices[2].snr_down_hz = 0.0;
    assert_eq!(
        cell.check().unwrap_err().to_string(),
        "devices[2].snr_down_hz is 0; it must be between 1e-6 and 1e24"
    );
    let cell = Cell {
        energy_weight: 0.0,
        time_weight: 0.0,
        ..good.clone()
    };
    assert_eq!(cell.check(), Err(CellError::NoObjective));
    let cell = Cell {
        devices: Vec::new(),
        ..good.clone()
    };
    assert_eq!(cell.check(), Err(CellError::NoDevices));
    let cell = Cell {
        local_iterations: Some(0),
        ..good.clone()
    };
    assert!(
        cell.check()
            .unwrap_err()
            .to_string()
            .starts_with("local_iterations is 0")
    );
    assert!(Solver::new().solve(&good, 0).is_err());
    let options = Options {
        h_min: 5,
        h_max: 4,
        ..Options::default()
    };
    assert_eq!(
        allocate(&good, &options),
        Err(CellError::EmptyIterationRange { h_min: 5, h_max: 4 })
    );
    let options = Options {
        objective: Objective::Convergence {
            c0: f64::NAN,
            c1: 0.0,
        },
        ..Options::default()
    };
    assert!(
        allocate(&good, &options)
            .unwrap_err()
            .to_string()
            .starts_with("c0 is NaN")
    );
}

#[test]
fn the_planner_file_is_read_as_documented() {
    let text = r#"{"energy_weight":0.5,"time_weight":0.5,"hover_power_w":100,"bandwidth_up_hz":6e7,"bandwidth_down_hz":6e7,
        "model_bits_up":698880,"model_bits_down":698880,"broadcast_power_w":0.8,"local_iterations":5,
        "devices":[{"snr_up_hz":1e9,"snr_down_hz":2e9,"tx_power_w":0.5,"iteration_time_s":0.01,"iteration_energy_j":0.2}]}"#;
    let cell: Cell = serde_json::from_str(text).unwrap();
    let answer = serde_json::to_value(allocate(&cell, &Options::default()).unwrap()).unwrap();
    assert_eq!(answer["status"], "solved");
    assert_eq!(answer["local_iterations"], 5);
    assert_eq!(answer["devices"][0]["bandwidth_up_hz"], 6e7);
    // By hand: rate = 6e7 log2(1 + 1e9 / 6e7) = 6e7 * 4.14292 bit/s, and so down with 2e9.
    let up = 698_880.0 / (6e7 * (1.0 + 1e9 / 6e7_f64).log2());
    let down = 698_880.0 / (6e7 * (1.0 + 2e9 / 6e7_f64).log2());
    let time = up + down + 0.05;
    assert!((answer["round_time_s"].as_f64().unwrap() / time - 1.0).abs() < 1e-12);
    let energy = up * 0.5 + 1.0 + down * 0.8 + 100.0 * time;
    assert!((answer["energy_j"].as_f64().unwrap() / energy - 1.0).abs() < 1e-12);
    assert!(
        (answer["objective"].as_f64().unwrap() / (0.5 * energy + 0.5 * time) - 1.0).abs() < 1e-12
    );
    let unknown = text.replace("\"energy_weight\"", "\"energy_wieght\"");
    assert!(
        serde_json::from_str::<Cell>(&unknown)
            .unwrap_err()
            .to_string()
            .contains("energy_wieght")
    );
    let open: Cell =
        serde_json::from_str(&text.replace("\"local_iterations\":5", "\"local_iterations\":null"))
            .unwrap();
    assert_eq!(open.local_iterations, None);
}
