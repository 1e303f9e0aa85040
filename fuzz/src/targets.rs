//! One function for each kind of input that comes from outside. None may panic, whatever the bytes; what is
//! accepted must be sound.

use std::cell::RefCell;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use aerofed::checkpoint::{self, Fingerprint};
use aerofed::decide::allocation::read_cell;
use aerofed::decide::redeploy::{
    Fleet, FleetFile, JointGreedy, MarginalGains, Redeployment, TwoStage,
};
use aerofed::run::Run;
use aerofed::scenario::Area;
use aerofed::seed::{Stream, stream};
use aerofed::solve::bandwidth::{Method as Solver, Options, allocate};
use aerofed::{Method, Scenario, Simulation, ValidScenario};
use aerofed_data::{ImageFolder, idx_folder, image_folder};
use aerofed_nn::{Layer, ModelSpec, Network, Shape, from_safetensors, to_safetensors};
use image::ImageReader;

/// A scenario file; behind a zero byte may stand a setting, as `--set` takes it.
pub fn scenario(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (text, settings) = match text.split_once('\0') {
        Some((text, setting)) => (text, vec![setting]),
        None => (text, Vec::new()),
    };
    let Ok(valid) = Scenario::parse(text, &settings).map(Scenario::check) else {
        return;
    };
    let Ok(valid) = valid else {
        return;
    };
    let written = valid.to_toml().unwrap();
    let again = Scenario::parse(&written, &[] as &[&str]).unwrap().check();
    assert_eq!(again.unwrap(), valid);
}

/// What `aerofed allocate` reads.
pub fn cell(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(cell) = read_cell(text) else {
        return;
    };
    if cell.devices.len() > 64 {
        return;
    }
    // The slow solver only where it is quick.
    let solvers = match (cell.local_iterations, cell.devices.len()) {
        (Some(_), 0..=3) => &[Solver::Exact, Solver::Palm][..],
        _ => &[Solver::Exact],
    };
    for &solver in solvers {
        let options = Options {
            solver,
            ..Options::default()
        };
        let Ok(answer) = allocate(&cell, &options) else {
            return;
        };
        assert_eq!(answer.devices.len(), cell.devices.len());
        let (mut up_hz, mut down_hz) = (0.0, 0.0);
        for share in &answer.devices {
            assert!(share.bandwidth_up_hz > 0.0 && share.bandwidth_down_hz > 0.0);
            up_hz += share.bandwidth_up_hz;
            down_hz += share.bandwidth_down_hz;
        }
        assert!(up_hz <= cell.bandwidth_up_hz * (1.0 + 1e-9));
        assert!(down_hz <= cell.bandwidth_down_hz * (1.0 + 1e-9));
        assert!(!answer.objective.is_nan());
    }
}

/// What `aerofed deploy` reads.
pub fn fleet(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(file) = FleetFile::parse(text) else {
        return;
    };
    if file.uavs.len() > 6 || file.devices_m.len() > 40 {
        return;
    }
    let uavs = file.fleet_uavs(0.75);
    let air = file.airspace();
    let fleet = Fleet {
        air: &air,
        area: &Area::new(file.area_m[0], file.area_m[1]),
        devices: &file.devices_m,
        uavs: &uavs,
        model_energy_j: &|from, to| from.tx_power_w * from.position.distance(to.position),
        changed: &[],
    };
    let methods: [Box<dyn Redeployment>; 3] = [
        Box::new(MarginalGains::default()),
        Box::new(TwoStage::default()),
        Box::new(JointGreedy::default()),
    ];
    for mut method in methods {
        let moves = method.redeploy(&fleet, &mut stream(1, Stream::Redeployment, 0, 0));
        for flight in moves {
            let uav = &uavs[flight.uav.index()];
            assert!(fleet.contains(flight.to), "{flight:?}");
            assert!(
                flight.energy_j <= uav.spare_j.max(0.0) * (1.0 + 1e-9),
                "{flight:?} with {}",
                uav.spare_j
            );
        }
    }
}

/// The training images of an idx folder; the first byte says whether the labels are meant instead.
pub fn idx(data: &[u8]) {
    let Some((&which, file)) = data.split_first() else {
        return;
    };
    let dir = folder("idx", |dir| {
        for part in ["train", "t10k"] {
            fs::write(dir.join(format!("{part}-images-idx3-ubyte")), IMAGES).unwrap();
            fs::write(dir.join(format!("{part}-labels-idx1-ubyte")), LABELS).unwrap();
        }
    });
    let (name, sound) = match which % 2 {
        0 => ("train-images-idx3-ubyte", IMAGES),
        _ => ("train-labels-idx1-ubyte", LABELS),
    };
    fs::write(dir.join(name), file).unwrap();
    if let Ok(split) = idx_folder(&dir, None) {
        let values = split.train.channels * split.train.height * split.train.width;
        assert_eq!(split.train.inputs.len(), split.train.labels.len() * values);
    }
    fs::write(dir.join(name), sound).unwrap();
}

/// Two images of two by two pixels, as idx.
pub const IMAGES: &[u8] = &[
    0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 64, 128, 255, 9, 8, 7, 6,
];
/// Their labels.
pub const LABELS: &[u8] = &[0, 0, 8, 1, 0, 0, 0, 2, 1, 0];

/// An image in a class folder; the first byte says how it is read.
pub fn images(data: &[u8]) {
    let Some((&how, file)) = data.split_first() else {
        return;
    };
    // A few bytes can promise millions of pixels, and decoding those would take all the time there is.
    let guessed = ImageReader::new(Cursor::new(file)).with_guessed_format();
    if let Ok((width, height)) = guessed.unwrap().into_dimensions()
        && width.saturating_mul(height) > 1 << 14
    {
        return;
    }
    let dir = folder("images", |dir| {
        for class in ["a", "b"] {
            fs::create_dir(dir.join(class)).unwrap();
            fs::write(dir.join(class).join("1.png"), PNG).unwrap();
        }
    });
    fs::write(dir.join("a/1.png"), file).unwrap();
    let options = ImageFolder {
        image_size: 1 + usize::from(how >> 1) % 9,
        color: how % 2 == 1,
        test_fraction: 0.0,
        ..ImageFolder::default()
    };
    if let Ok(split) = image_folder(&dir, &options) {
        assert!(
            split
                .train
                .inputs
                .to_vec()
                .iter()
                .all(|value| (0.0..=1.0).contains(value))
        );
    }
}

/// A grey pixel, as png.
pub const PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b,
    0x55, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x68, 0x00, 0x00, 0x00,
    0x82, 0x00, 0x81, 0x77, 0xcd, 0x72, 0xb6, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae,
    0x42, 0x60, 0x82,
];

/// A network of one layer with five numbers for each of three classes.
pub fn small_network() -> Network {
    let spec = ModelSpec {
        layers: vec![Layer::Dense { units: 3 }],
    };
    let shape = Shape {
        channels: 1,
        height: 2,
        width: 2,
    };
    Network::new(&spec, shape, 3).unwrap()
}

/// Weights.
pub fn safetensors(data: &[u8]) {
    let network = small_network();
    if let Ok(weights) = from_safetensors(&network, data) {
        let written = to_safetensors(&network, &weights, &Default::default()).unwrap();
        let again = from_safetensors(&network, &written).unwrap();
        let bits = |all: &[f32]| all.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&again), bits(&weights));
    }
}

/// The methods whose checkpoints differ most: nothing kept but the world, an event queue, agents.
pub const CHECKPOINT_METHODS: [&str; 3] = ["hfl", "hfedat", "cehfed"];

/// A checkpoint: as a file, and as the body of a file whose checksum is right. The first byte chooses the method.
pub fn checkpoint(data: &[u8]) {
    let Some((&which, data)) = data.split_first() else {
        return;
    };
    let which = usize::from(which) % CHECKPOINT_METHODS.len();
    thread_local! {
        static RUNS: RefCell<[Option<(ValidScenario, Fingerprint, Run)>; 3]> = const { RefCell::new([const { None }; 3]) };
    }
    RUNS.with_borrow_mut(|runs| {
        let (scenario, fingerprint, run) = runs[which].get_or_insert_with(|| {
            let scenario = checkpoint_scenario(CHECKPOINT_METHODS[which]);
            let fingerprint = Fingerprint::of(&scenario).unwrap();
            let run = Run::new(Simulation::builder(&scenario).threads(1).build().unwrap());
            (scenario, fingerprint, run)
        });
        _ = checkpoint::open(data, fingerprint);
        let sealed = checkpoint::seal(data, fingerprint);
        let body = checkpoint::open(&sealed, fingerprint).unwrap();
        assert_eq!(body, data);
        let mut method = Method::of(scenario).unwrap();
        if run.take_up(&mut method, body).is_ok() {
            // What is accepted can be saved again, and gone on with; odd numbers may end in an error.
            _ = run.save(&method);
            _ = run.step(&mut method);
        }
    });
}

/// Few devices and a model of few numbers, so that a checkpoint is short.
pub fn checkpoint_scenario(method: &str) -> ValidScenario {
    let text = r#"
        name = "fuzz"
        [devices]
        count = 3
        [uavs]
        count = 2
        [data]
        data_volume = 30
        probe_samples = 10
        personal_samples = 2
        [model]
        layers = [{ kind = "max_pool", size = 14 }, { kind = "dense", units = 10 }]
        [training]
        max_edge_rounds = 1
        [stop]
        max_rounds = 3
    "#;
    let allocation = match method {
        "hfedat" => "allocation.kind=equal",
        _ => "allocation={kind=\"p1\", h_max=3}",
    };
    Scenario::parse(text, &[&format!("method={method}"), allocation])
        .unwrap()
        .check()
        .unwrap()
}

/// A folder for one process, filled once.
fn folder(name: &str, fill: impl Fn(&Path)) -> PathBuf {
    thread_local! {
        static ROOT: tempfile::TempDir = tempfile::tempdir().unwrap();
    }
    ROOT.with(|root| {
        let dir = root.path().join(name);
        if !dir.exists() {
            fs::create_dir(&dir).unwrap();
            fill(&dir);
        }
        dir
    })
}
