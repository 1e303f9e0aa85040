//! Every seed of the fuzz targets, and every input that once broke something, goes through its target.

#[path = "../../../../fuzz/src/targets.rs"]
mod targets;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use aerofed::run::Run;
use aerofed::{Method, Scenario, Simulation};
use flate2::Compression;
use flate2::write::GzEncoder;
use image::{DynamicImage, ImageFormat, RgbImage};

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 7] = [
    ("scenario", targets::scenario),
    ("cell", targets::cell),
    ("fleet", targets::fleet),
    ("idx", targets::idx),
    ("images", targets::images),
    ("safetensors", targets::safetensors),
    ("checkpoint", targets::checkpoint),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn seeds() -> PathBuf {
    root().join("fuzz/seeds")
}

#[test]
fn no_seed_breaks_its_target() {
    for (name, target) in TARGETS {
        let mut count = 0;
        for entry in fs::read_dir(seeds().join(name)).unwrap() {
            target(&fs::read(entry.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count >= 3, "{name} has only {count} seeds");
    }
}

/// Seeds of an older format would be refused at once, and nothing behind that be tried.
#[test]
fn checkpoints_among_the_seeds_are_taken_up() {
    for (which, name) in targets::CHECKPOINT_METHODS.iter().enumerate() {
        let scenario = targets::checkpoint_scenario(name);
        let seed = fs::read(seeds().join(format!("checkpoint/{name}-0"))).unwrap();
        assert_eq!(usize::from(seed[0]), which);
        let resumed = Run::resume(
            Simulation::builder(&scenario).threads(1).build().unwrap(),
            &mut Method::of(&scenario).unwrap(),
            &seed[1..],
        );
        assert!(
            resumed.is_ok(),
            "{name}: make seeds anew, as `make_seeds` says: {:?}",
            resumed.err()
        );
    }
}

/// Every target is listed here, has its binary and its place in the manifest.
#[test]
fn the_list_of_targets_is_complete() {
    let fuzz = root().join("fuzz");
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    let mut binaries: Vec<String> = fs::read_dir(fuzz.join("fuzz_targets"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    binaries.sort();
    let mut listed: Vec<String> = TARGETS
        .iter()
        .map(|(name, _)| format!("{name}.rs"))
        .collect();
    listed.sort();
    assert_eq!(binaries, listed);
    assert!(
        listed
            .iter()
            .all(|name| manifest.contains(&format!("fuzz_targets/{name}")))
    );
}

/// Makes the seeds anew; what fuzzing found beside them stays.
#[test]
#[ignore = "writes fuzz/seeds: cargo test --workspace --test commands fuzz_seeds -- --ignored"]
fn make_seeds() {
    let write = |target: &str, name: &str, contents: &[u8]| {
        let folder = seeds().join(target);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), contents).unwrap();
    };
    for name in ["paper", "quickstart"] {
        let text = fs::read(root().join(format!("scenarios/{name}.toml"))).unwrap();
        write("scenario", name, &text);
    }
    write(
        "scenario",
        "setting",
        b"seed = 3\n[devices]\ncount = 20\0uavs.speed_mps=15",
    );
    write(
        "scenario",
        "faults",
        b"faults = [{ kind = \"loss\", uav = 0, round = 3, moment = \"edge\" }, { kind = \"leak\", uav = 1, from = 1, until = 9, power_w = 300 }]",
    );
    let every_field = Scenario::default().to_toml().unwrap();
    write("scenario", "every-field", every_field.as_bytes());

    let device = r#"{"snr_up_hz":1e11,"snr_down_hz":2e11,"tx_power_w":0.5,"iteration_time_s":2e-3,"iteration_energy_j":5e-3}"#;
    for (name, iterations, devices) in [("one", "5", 1), ("three", "null", 3), ("nobody", "1", 0)] {
        let devices = vec![device; devices].join(",");
        let cell = format!(
            r#"{{"energy_weight":0.5,"time_weight":0.5,"hover_power_w":100,"bandwidth_up_hz":6e7,"bandwidth_down_hz":6e7,"model_bits_up":698880,"model_bits_down":698880,"broadcast_power_w":0.8,"local_iterations":{iterations},"devices":[{devices}]}}"#
        );
        write("cell", name, cell.as_bytes());
    }
    let uav = r#"{"position_m":[10,20],"battery_j":5e4,"reserve_j":1e4}"#;
    for (name, uavs, devices) in [
        ("two", [uav, uav].join(","), "[30,40],[80,90]"),
        ("empty", String::new(), ""),
        ("alone", uav.into(), "[0,0]"),
    ] {
        let fleet = format!(
            r#"{{"area_m":[100,100],"coverage_radius_m":25,"speed_mps":20,"move_power_w":160,"uavs":[{uavs}],"devices_m":[{devices}]}}"#
        );
        write("fleet", name, fleet.as_bytes());
    }
    let packed = |contents: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(contents).unwrap();
        encoder.finish().unwrap()
    };
    for (name, which, contents) in [
        ("images", 0, targets::IMAGES),
        ("labels", 1, targets::LABELS),
    ] {
        write("idx", name, &[&[which], contents].concat());
        write(
            "idx",
            &format!("{name}-packed"),
            &[&[which], &packed(contents)[..]].concat(),
        );
    }
    let picture = RgbImage::from_fn(5, 3, |x, y| image::Rgb([x as u8 * 40, y as u8 * 80, 99]));
    let picture = DynamicImage::from(picture);
    for (name, format) in [("png", ImageFormat::Png), ("jpg", ImageFormat::Jpeg)] {
        for (how, picture) in [(5, picture.clone()), (8, picture.to_luma16().into())] {
            let picture = match format {
                ImageFormat::Jpeg => picture.to_luma8().into(),
                _ => picture,
            };
            let mut contents = std::io::Cursor::new(vec![how]);
            contents.set_position(1);
            picture.write_to(&mut contents, format).unwrap();
            write("images", &format!("{name}-{how}"), &contents.into_inner());
        }
    }
    let network = targets::small_network();
    let weights: Vec<f32> = (0..network.parameter_count()).map(|i| i as f32).collect();
    let sound = aerofed_nn::to_safetensors(&network, &weights, &Default::default()).unwrap();
    write("safetensors", "sound", &sound);
    write("safetensors", "cut", &sound[..sound.len() - 5]);
    write(
        "safetensors",
        "empty",
        &[2, 0, 0, 0, 0, 0, 0, 0, b'{', b'}'],
    );

    for (which, name) in (0u8..).zip(targets::CHECKPOINT_METHODS) {
        let scenario = targets::checkpoint_scenario(name);
        let mut method = Method::of(&scenario).unwrap();
        let mut run = Run::new(Simulation::builder(&scenario).threads(1).build().unwrap());
        for round in 0..3 {
            let seed = [&[which], &run.save(&method)[..]].concat();
            // Agents are too large to be mutated usefully once they are there.
            if seed.len() < 16_384 {
                write("checkpoint", &format!("{name}-{round}"), &seed);
            }
            run.step(&mut method).unwrap();
        }
    }
}
