//! What an edge round over many devices takes in memory: updates are merged as they come, and none of them is kept.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use aerofed::learn::Data;
use aerofed::{Method, Scenario, Simulation};
use aerofed_data::{Dataset, Split, Values};

const DEVICES: usize = 20_000;
const MOST_KIB: u64 = 200 << 10;

/// Images of noise, of ten classes in turn.
fn noise(samples: usize) -> Dataset {
    let value = |index: usize| (index.wrapping_mul(2_654_435_761) >> 7) as u8;
    Dataset {
        name: "noise".into(),
        channels: 1,
        height: 28,
        width: 28,
        class_names: (0..10).map(|class: u8| class.to_string()).collect(),
        inputs: Values::Pixels((0..samples * 28 * 28).map(value).collect()),
        labels: (0..samples).map(|sample| (sample % 10) as u8).collect(),
        users: None,
    }
}

/// The most that the process has had in memory so far, KiB; none where the system does not say.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

#[test]
fn twenty_thousand_updates_of_the_cnn_need_no_room() {
    for method in ["hfl", "cfed"] {
        let settings = [
            &format!("devices.count={DEVICES}"),
            &format!("data.data_volume={DEVICES}"),
            "data.partition.kind=iid",
            "data.probe_samples=10",
            "data.personal_samples=0",
            "area.width_m=2000",
            "area.height_m=2000",
            "allocation.local_iterations=1",
            "selection.share=1",
            "training.max_edge_rounds=2",
            &format!("method={method}"),
        ];
        let scenario = Scenario::parse("", &settings).unwrap();
        let registry = aerofed::method::Registry::builtin();
        let scenario = registry.without_unread(&scenario).unwrap().check().unwrap();
        let data = Data::from(Split {
            train: noise(DEVICES + 100),
            test: noise(100),
        });
        let builder = Simulation::builder(&scenario).data(data).threads(2);
        let mut simulation = builder.build().unwrap();
        let mut method = Method::of(&scenario).unwrap();
        let Some(before_kib) = peak_kib() else {
            eprintln!("skipped: this system does not say what a process has in memory");
            return;
        };
        let record = simulation.step(&mut method).unwrap().unwrap();
        assert!(record.updates_computed >= DEVICES, "{record:?}");
        let grown_kib = peak_kib().unwrap() - before_kib;
        eprintln!("{}: {grown_kib} KiB beyond the data", method.name);
        assert!(grown_kib < MOST_KIB);
    }
}
