//! Whatever a user types wrongly: exit code 2, one message that names it, nothing left behind.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

fn aerofed() -> Command {
    Command::cargo_bin("aerofed").unwrap()
}

/// Runs with `args`, expects exit 2 without a panic, and gives the message.
fn refused(args: &[&str]) -> String {
    let output = aerofed().args(args).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(!message.contains("panicked"), "{args:?}: {message}");
    assert!(output.stdout.is_empty(), "{args:?} printed a result");
    message
}

/// `run` with settings must be refused, name `field`, and leave no folder.
fn run_refused(settings: &[&str], field: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let mut args = vec!["run", "--out", out.to_str().unwrap(), "--quiet"];
    settings
        .iter()
        .for_each(|setting| args.extend(["--set", setting]));
    let message = refused(&args);
    assert!(message.contains(field), "{settings:?}: {message}");
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        0,
        "{settings:?} left something behind"
    );
    message
}

/// Every leaf of a table, as `a.b.c`.
fn leaves(prefix: &str, table: &toml::Table, found: &mut Vec<(String, toml::Value)>) {
    for (key, value) in table {
        let path = if prefix.is_empty() {
            key.clone()
        } else {
            format!("{prefix}.{key}")
        };
        match value {
            toml::Value::Table(inner) => leaves(&path, inner, found),
            value => found.push((path, value.clone())),
        }
    }
}

/// Bad values for a field, by its name or else by the type of its default.
fn bad_values(path: &str, default: &toml::Value) -> Vec<&'static str> {
    match path {
        "name" => return vec!["\"\"", "\"a/b\"", "3"],
        "seed" => return vec!["-1", "1.5", "\"one\"", "99999999999999999999"],
        "data.dir" => return vec!["7", "\"/no/such/folder\""],
        "model.start" => return vec!["7", "\"/no/such/file\""],
        "data.classes" => return vec!["\"all\"", "[1]"],
        "model.layers" => {
            return vec![
                "\"deep\"",
                "[{kind=\"attention\"}]",
                "[{kind=\"relu\", size=2}]",
            ];
        }
        "stop.targets" => return vec!["0.5", "[1.5]", "[nan]", "[\"high\"]"],
        "uavs.base_m" => {
            return vec![
                "[nan, 0]",
                "[-1, 0]",
                "[0, 1e9]",
                "[0]",
                "[]",
                "\"home\"",
                "[[0, 0], [1, -1]]",
                "{lat = 47, lon = 8}",
                "{lat = 47}",
            ];
        }
        "area.origin" => {
            return vec![
                "47",
                "[47]",
                "[nan, 8]",
                "[91, 8]",
                "[47, 181]",
                "[47, 8, 1e9]",
                "\"Au\"",
            ];
        }
        "area.no_fly" => {
            return vec![
                "3",
                "[[0, 0], [1, 0], [0, 1]]",
                "[{}]",
                "[{polygon=[]}]",
                "[{polygon=[[0, 0], [1, 1], [2, 2]]}]",
                "[{polygon=[[0, 0], [2, 2], [2, 0], [0, 3]]}]",
                "[{polygon=[[0, 0], [1, 0], [0, inf]]}]",
                "[{polygon=[[0, 0], [1, 0], [0, 1e300]]}]",
                "[{polygon=[[0, 0], [1, 0], [0, 1]], height_m=-1}]",
                "[{polygon=[[0, 0], [1, 0], [0, 1]], height_m=nan}]",
                "[{polygon=[[-9, -9], [9e4, -9], [9e4, 9e4], [-9, 9e4]]}]",
            ];
        }
        "flight.wind_mps" => {
            return vec![
                "[nan, 1]",
                "[1, inf]",
                "[0, -101]",
                "[3]",
                "\"west\"",
                "[20, 0]",
            ];
        }
        "uavs.each" => {
            return vec![
                "3",
                "[{}]",
                "[{uav=-1}]",
                "[{uav=99}]",
                "[{uav=0, speed_mps=nan}]",
            ];
        }
        "area.no_fly_file" => return vec!["7", "\"/no/such.geojson\"", "\"/\""],
        "surrogate.law" => return vec!["7", "\"/no/such.toml\""],
        "devices.positions" => return vec!["7", "\"/no/such.csv\"", "\"/\"", "\"a.txt\""],
        _ => {}
    }
    match default {
        toml::Value::Float(_) => vec!["nan", "inf", "-inf", "-1e300", "1e300", "\"x\""],
        toml::Value::Integer(_) => vec!["-1", "9223372036854775807", "1.5", "nan", "\"x\""],
        toml::Value::Array(_) => vec![
            "[nan, 1]",
            "[1, inf]",
            "[-1, 1]",
            "[1, 1e300]",
            "[1e3]",
            "\"x\"",
            "[1e12, 1e3]",
        ],
        toml::Value::Boolean(_) => vec!["3", "\"yes\""],
        toml::Value::String(_) => vec!["\"nonsense\"", "3", "\"\""],
        other => panic!("no bad value known for {path} = {other}"),
    }
}

#[test]
fn every_field_of_the_scenario_refuses_bad_values_by_name() {
    let mut fields = Vec::new();
    leaves(
        "",
        &aerofed::scenario::DEFAULTS.parse().unwrap(),
        &mut fields,
    );
    assert!(fields.len() > 50, "{}", fields.len());
    for (path, default) in fields {
        let last = path.rsplit('.').next().unwrap();
        for value in bad_values(&path, &default) {
            run_refused(&[&format!("{path}={value}")], last);
        }
    }
}

#[test]
fn fields_of_other_kinds_refuse_bad_values_by_name() {
    let dirichlet = "data.partition.kind=dirichlet";
    let shards = "data.partition.kind=shards";
    for (kind, setting, field) in [
        (dirichlet, "data.partition.alpha=0", "alpha"),
        (dirichlet, "data.partition.alpha=nan", "alpha"),
        (shards, "data.partition.per_device=0", "per_device"),
        ("seed=1", "data.partition.kind=user", "partition.kind"),
        ("seed=1", "data.set=cifar10", "data.dir"),
        ("seed=1", "model.start=nowhere.safetensors", "model.start"),
        ("seed=1", "fitness.compute=0.9", "fitness.compute"),
        ("uavs.count=2", "uavs.layout={kind=\"quincunx\"}", "layout"),
        (
            "uavs.count=2",
            "uavs.layout={kind=\"fixed\", positions_m=[[1,1]]}",
            "positions_m",
        ),
        (
            "uavs.count=1",
            "uavs.layout={kind=\"fixed\", positions_m=[[nan,1]]}",
            "positions_m",
        ),
        (
            "uavs.count=1",
            "uavs.layout={kind=\"fixed\", positions_m=[[1e9,1]]}",
            "positions_m",
        ),
        ("seed=1", "faults=[{kind=\"loss\", uav=9, round=1}]", "uav"),
        (
            "seed=1",
            "faults=[{kind=\"loss\", uav=0, round=0}]",
            "round",
        ),
        (
            "seed=1",
            "faults=[{kind=\"loss\", uav=0, round=1, edge_round=99}]",
            "edge_round",
        ),
        (
            "seed=1",
            "faults=[{kind=\"loss\", uav=0, round=1, moment=\"never\"}]",
            "moment",
        ),
        ("seed=1", "faults=[{kind=\"drain\", uav=0}]", "round"),
        (
            "seed=1",
            "faults=[{kind=\"leak\", uav=0, from=1, until=2, power_w=nan}]",
            "power_w",
        ),
        (
            "seed=1",
            "faults=[{kind=\"link_outage\", uavs=[1, 1], from=1, until=2}]",
            "uavs",
        ),
        (
            "seed=1",
            "faults=[{kind=\"cell_outage\", uav=0, from=3, until=2}]",
            "until",
        ),
        (
            "seed=1",
            "faults=[{kind=\"device_crash\", device=150, from=1, until=2}]",
            "device",
        ),
        ("allocation.kind=p1", "allocation.h_max=0", "h_max"),
        ("allocation.kind=p1", "allocation.h_min=51", "h_min"),
        ("allocation.kind=p1", "allocation.c0=nan", "c0"),
        ("allocation.kind=p1", "allocation.c1=-1", "c1"),
        ("allocation.kind=p1", "allocation.solver=guess", "solver"),
        (
            "allocation.kind=p1",
            "allocation.objective=luck",
            "objective",
        ),
        ("allocation.kind=p1", "allocation.estimate=3", "estimate"),
        (
            "methods.oort.exploration=0.1",
            "methods.oort.exploration_min=0.2",
            "exploration_min",
        ),
        ("weights.energy=0", "weights.time=0", "weights"),
        ("data.set=idx", "data.dir=\"\"", "data.dir"),
        ("data.set=images", "data.dir=\"\"", "data.dir"),
        (
            "data.set=images",
            "data.dir=\"/no/such/folder\"",
            "/no/such/folder",
        ),
        ("devices.count=100", "data.data_volume=99", "data_volume"),
        ("devices.count=100", "data.data_volume=8001", "8001"),
        (
            "model.name=cnn",
            "model.layers=[{kind=\"conv\", filters=1, kernel=99}, {kind=\"dense\", units=10}]",
            "kernel",
        ),
        (
            "model.name=cnn",
            "model.layers=[{kind=\"dense\", units=3}]",
            "units",
        ),
        (
            "model.name=cnn",
            "model.layers=[{kind=\"dense\", units=1000000000000}]",
            "units",
        ),
    ] {
        run_refused(&[kind, setting], field);
    }
}

#[test]
fn a_message_names_field_value_and_range() {
    let message = run_refused(&["uavs.battery_j=-5"], "uavs.battery_j");
    assert_eq!(
        message.trim_end(),
        "error: `uavs.battery_j` is -5, allowed: 1 to 1000000000000"
    );
}

#[test]
fn settings_that_are_no_settings_are_refused() {
    for setting in [
        "",
        "=",
        "seed",
        "nobody.knows=1",
        "seed..x=1",
        "devices=3",
        "uavs.count.x=1",
    ] {
        run_refused(&[setting], "--set");
    }
}

#[test]
fn files_that_are_no_scenarios_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let garbage: Vec<u8> = (0..4_096u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let paths = [
        file("garbage.toml", &garbage),
        file("zeros.toml", &[0; 64]),
        file("unknown.toml", b"[devices]\ncolour = \"red\""),
        file("twice.toml", b"seed = 1\nseed = 2"),
        file("cut.toml", b"[devices]\ncount ="),
        file("deep.toml", "a=[".repeat(20_000).as_bytes()),
        dir.path().to_str().unwrap().to_owned(),
        dir.path().join("missing.toml").to_str().unwrap().to_owned(),
    ];
    for path in &paths {
        for command in [
            vec!["run", path, "--out", "never"],
            vec!["scenario", "check", path],
        ] {
            let message = refused(&command);
            assert!(
                message.contains(Path::new(path).file_name().unwrap().to_str().unwrap()),
                "{message}"
            );
        }
    }
    assert!(!Path::new("never").exists() && !Path::new("never.partial").exists());
}

#[test]
fn data_that_is_no_data_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let idx = dir.path().join("idx");
    fs::create_dir(&idx).unwrap();
    let header = |magic: u32, dims: &[u32]| {
        let words = [&[magic], dims].concat();
        words
            .iter()
            .flat_map(|word| word.to_be_bytes())
            .collect::<Vec<u8>>()
    };
    for (name, bytes) in [
        ("train-images-idx3-ubyte", header(0x803, &[1_000, 28, 28])),
        ("train-labels-idx1-ubyte", header(0x801, &[1_000])),
        (
            "t10k-images-idx3-ubyte",
            header(0x803, &[u32::MAX, u32::MAX, u32::MAX]),
        ),
        ("t10k-labels-idx1-ubyte", vec![]),
    ] {
        fs::write(idx.join(name), bytes).unwrap();
    }
    run_refused(
        &["data.set=idx", &format!("data.dir={}", idx.display())],
        "ubyte",
    );

    let images = dir.path().join("images");
    for class in ["cat", "dog"] {
        fs::create_dir_all(images.join(class)).unwrap();
        for name in ["fake.png", "other.jpg"] {
            fs::write(images.join(class).join(name), "not an image").unwrap();
        }
    }
    run_refused(
        &["data.set=images", &format!("data.dir={}", images.display())],
        "fake.png",
    );
    assert!(refused_check(&images).contains("fake.png"));
    refused(&["data", "check", "/no/such/folder"]);
    refused(&["data", "get", "imagenet"]);
}

/// `data check` prints its findings, and ends with 2 when the folder cannot be used.
fn refused_check(folder: &Path) -> String {
    let output = aerofed()
        .args(["data", "check"])
        .arg(folder)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn flags_are_checked_too() {
    refused(&["run", "--threads", "0"]);
    refused(&["run", "--seed", "-1"]);
    refused(&["run", "--rounds", "0"]);
    refused(&["run", "--method", "telepathy"]);
    refused(&["run", "--out", ""]);
    refused(&["fly"]);
}
