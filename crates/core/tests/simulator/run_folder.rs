//! What is written is what is read.

use std::fs;
use std::path::Path;

use crate::common::{run, tiny};
use aerofed::Error;
use aerofed::record::{EventKind, Part};
use aerofed::run_folder::{RunFolder, RunLog};

/// A loss, a move after it, a drained UAV that charges and returns, a crashed device.
const EVENTFUL: [&str; 8] = [
    "stop.max_rounds=20",
    "redeploy.method='marginal_gains'",
    "uavs.speed_mps=1000",
    "uavs.recharge_w=1e6",
    "uavs.bandwidth_up_hz=[1e5, 1e5]",
    "mobility.kind=static",
    "redeploy.when=on_change",
    "faults=[{kind='loss', uav=2, round=2}, {kind='drain', uav=1, round=9}, \
      {kind='device_crash', device=0, from=1, until=8}]",
];

fn written(folder: &Path, settings: &[&str]) -> RunLog {
    let scenario = tiny(settings);
    let mut files = RunFolder::create(folder, &scenario, false).unwrap();
    let outcome = run(&scenario, 2);
    outcome
        .records
        .iter()
        .for_each(|record| files.append(record).unwrap());
    files.finish(&outcome).unwrap();
    RunLog {
        scenario: (*scenario).clone(),
        records: outcome.records,
        summary: outcome.summary,
    }
}

#[test]
fn a_run_with_every_kind_of_trouble_is_read_back_to_the_last_bit() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    let told = written(&folder, &EVENTFUL);
    let happened = |wanted: fn(&EventKind) -> bool| {
        let mut events = told.records.iter().flat_map(|record| &record.events);
        assert!(events.any(|event| wanted(&event.kind)), "{events:?}");
    };
    happened(|kind| matches!(kind, EventKind::UavLost { .. }));
    happened(|kind| matches!(kind, EventKind::UavMoved { .. }));
    happened(|kind| matches!(kind, EventKind::UavArrived { .. }));
    happened(|kind| matches!(kind, EventKind::UavLeft { .. }));
    happened(|kind| matches!(kind, EventKind::UavReturned { .. }));
    let seen = &told.records[0].devices;
    assert_eq!((seen.every, seen.uav.len()), (1, 30));
    assert_eq!(seen.uav[0], Part::Uncovered, "crashed");

    let read = RunLog::read(&folder).unwrap();
    assert_eq!(read.scenario, told.scenario);
    assert_eq!(read.summary, told.summary);
    assert_eq!(read.records, told.records);
}

#[test]
fn numbers_that_json_lacks_are_read_as_nan() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    // So steep that the weights overflow.
    let told = written(
        &folder,
        &["training.learning_rate=1e3", "training.max_edge_rounds=50"],
    );
    let read = RunLog::read(&folder).unwrap();
    assert_eq!(format!("{:?}", read.records), format!("{:?}", told.records));
}

#[test]
fn damage_is_named_by_file_and_line() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    written(&folder, &EVENTFUL);
    /// File, damage, line of the complaint, and what it says.
    type Damage<'a> = (&'a str, fn(&str) -> String, usize, &'a str);
    let damages: [Damage; 9] = [
        (
            "summary.json",
            |text| text.replace("\"hfl[redeploy=marginal_gains]\"", "7"),
            3,
            "invalid type",
        ),
        ("summary.json", |_| "{".into(), 1, "EOF"),
        (
            "rounds.csv",
            |text| text.replacen("\n2,", "\ntwo,", 1),
            3,
            "`round` is \"two\"",
        ),
        (
            "rounds.csv",
            |text| text.replace("clock_s", "clock"),
            2,
            "has no `clock_s`",
        ),
        (
            "uavs.csv",
            |text| text.replacen(",active,", ",asleep,", 1),
            2,
            "`status` is \"asleep\"",
        ),
        (
            "uavs.csv",
            |text| text.replacen("\n1,", "\n99,", 1),
            2,
            "round 99",
        ),
        (
            "events.jsonl",
            |text| text.replacen("uav_lost", "uav_found", 1),
            1,
            "uav_found",
        ),
        (
            "devices.jsonl",
            |text| text.replacen("\"x_m\":[", "\"x_m\":[1,", 1),
            1,
            "[31, 30, 30]",
        ),
        (
            "devices.jsonl",
            |text| text.replacen("\"uav\":[-2", "\"uav\":[-7", 1),
            1,
            "-7",
        ),
    ];
    for (name, damage, line, words) in damages {
        let file = folder.join(name);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, damage(&text)).unwrap();
        let error = RunLog::read(&folder).unwrap_err();
        let message = error.to_string();
        assert!(
            matches!(error, Error::Log { line: l, .. } if l == line),
            "{name}: {message}"
        );
        assert!(
            message.contains(name) && message.contains(words),
            "{message}"
        );
        assert!(error.is_bad_input());
        fs::write(&file, text).unwrap();
    }
    fs::write(folder.join("uavs.csv"), b"round\n\xff").unwrap();
    let error = RunLog::read(&folder).unwrap_err().to_string();
    assert!(
        error.contains("uavs.csv, line 2") && error.contains("UTF-8"),
        "{error}"
    );
}

#[test]
fn a_folder_from_before_devices_were_seen_is_still_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    let told = written(&folder, &[]);
    fs::remove_file(folder.join("devices.jsonl")).unwrap();
    let read = RunLog::read(&folder).unwrap();
    assert!(read.records[0].devices.x_m.is_empty());
    assert_eq!(read.records[2].uavs, told.records[2].uavs);
}

/// Whatever a run writes is among the files that may be removed: or else it could be neither replaced nor done anew.
#[test]
fn every_file_of_a_run_is_known_for_ours() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    written(&folder, &["stop.max_rounds=1"]);
    let anew = RunFolder::create(&folder, &tiny(&["stop.max_rounds=1"]), true).unwrap();
    drop(anew);
    let files = fs::read_dir(aerofed::run_folder::partial_of(&folder)).unwrap();
    assert!(files.count() > 4, "broken off, and begun again:");
    assert!(RunFolder::create(&folder, &tiny(&["stop.max_rounds=1"]), true).is_ok());
}
