//! A finished run whose files were damaged is told of, and never counted.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

use crate::compare::{derived, small, text};

const FLAGS: [&str; 6] = ["--methods", "hfl", "--seeds", "2", "--targets", "0.5"];

/// File, what becomes of it, and what is said of it.
type Damage<'a> = (&'a str, fn(&str) -> String, &'a str);

fn without_last_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[..lines.len() - 1].join("\n") + "\n"
}

/// The test accuracy of the second round, replaced.
fn with_accuracy(text: &str, accuracy: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let column = lines[0].split(',').position(|name| name == "test_accuracy");
    let mut cells: Vec<&str> = lines[2].split(',').collect();
    cells[column.unwrap()] = accuracy;
    lines[2] = cells.join(",");
    lines.join("\n") + "\n"
}

fn summary_with(text: &str, field: &str, value: serde_json::Value) -> String {
    let mut summary: serde_json::Value = serde_json::from_str(text).unwrap();
    summary[field] = value;
    summary.to_string()
}

const DAMAGES: [Damage; 12] = [
    (
        "rounds.csv",
        |text| text.lines().next().unwrap().into(),
        "rounds.csv 0",
    ),
    ("rounds.csv", without_last_line, "`rounds` 2, rounds.csv 1"),
    (
        "rounds.csv",
        |text| text.replacen("\n1,", "\n7,", 1),
        "rounds.csv, line 2: `round` is 7, allowed: 1",
    ),
    (
        "rounds.csv",
        |text| with_accuracy(text, "1.5"),
        "line 3: `test_accuracy` is 1.5, allowed: 0 to 1",
    ),
    (
        "rounds.csv",
        |text| with_accuracy(text, "NaN"),
        "`test_accuracy` is NaN",
    ),
    (
        "rounds.csv",
        |text| with_accuracy(text, "0.999"),
        "rounds.csv 0.999",
    ),
    (
        "rounds.csv",
        |text| text.replacen("\n1,", "\n1,9", 1),
        "line 3: `clock_s` is",
    ),
    (
        "summary.json",
        |text| summary_with(text, "rounds", 9.into()),
        "summary.json has `rounds` 9",
    ),
    (
        "summary.json",
        |text| summary_with(text, "final_accuracy", 0.999.into()),
        "summary.json has `final_accuracy` 0.999",
    ),
    (
        "summary.json",
        |text| summary_with(text, "seed", 77.into()),
        "summary.json has `seed` 77, scenario.toml",
    ),
    ("summary.json", |_| "{".into(), "summary.json, line 1"),
    (
        "uavs.csv",
        |text| text.replacen(",active,", ",asleep,", 1),
        "uavs.csv, line 2",
    ),
];

fn report(folder: &Path) -> (Option<i32>, String) {
    let mut command = Command::cargo_bin("aerofed").unwrap();
    let output = command.arg("report").arg(folder).output().unwrap();
    (output.status.code(), text(&output.stderr))
}

fn first_run(out: &Path) -> PathBuf {
    let folders = fs::read_dir(out.join("runs")).unwrap();
    folders.map(|entry| entry.unwrap().path()).min().unwrap()
}

#[test]
fn damage_is_named_and_nothing_is_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("c");
    assert_eq!(small(&out, &FLAGS).status.code(), Some(0));
    let before = derived(&out);
    let run = first_run(&out);
    let name = run.file_name().unwrap().to_str().unwrap();
    for (file, damage, words) in DAMAGES {
        let whole = fs::read_to_string(run.join(file)).unwrap();
        fs::write(run.join(file), damage(&whole)).unwrap();
        let output = small(&out, &FLAGS);
        let compared = (output.status.code(), text(&output.stderr));
        for (code, said) in [compared, report(&out)] {
            assert_eq!(code, Some(2), "{words}: {said}");
            let said = said.lines().last().unwrap_or_default();
            assert!(
                said.contains(name) && said.contains(words),
                "{words}: {said}"
            );
        }
        assert!(derived(&out) == before, "{words}");
        fs::write(run.join(file), whole).unwrap();
    }
    assert_eq!(report(&out).0, Some(0));
}

#[test]
fn a_damaged_run_is_run_again_when_its_folder_is_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("c");
    assert_eq!(small(&out, &FLAGS).status.code(), Some(0));
    let before = derived(&out);
    let run = first_run(&out);
    fs::remove_file(run.join("rounds.csv")).unwrap();
    let output = small(&out, &FLAGS);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("rounds.csv is missing; delete the folder"),
        "{said}"
    );
    fs::remove_dir_all(run).unwrap();
    let said = text(&small(&out, &FLAGS).stderr);
    assert!(said.contains("1 run done, 1 were there"), "{said}");
    assert!(derived(&out) == before);
}

/// Ten classes of images of four by four pixels, as idx files.
fn write_images(dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    for (name, count) in [("train", 2_000_u32), ("t10k", 100)] {
        let header = |magic: u32, sizes: &[u32]| -> Vec<u8> {
            let numbers = [magic].into_iter().chain(sizes.iter().copied());
            numbers.flat_map(u32::to_be_bytes).collect()
        };
        let mut images = header(0x803, &[count, 4, 4]);
        let mut labels = header(0x801, &[count]);
        for sample in 0..count {
            let class = (sample % 10) as u8;
            images.extend((0..16).map(|pixel| if pixel == class { 200 } else { 10 }));
            labels.push(class);
        }
        fs::write(dir.join(format!("{name}-images-idx3-ubyte")), images).unwrap();
        fs::write(dir.join(format!("{name}-labels-idx1-ubyte")), labels).unwrap();
    }
}

fn flip_last_byte(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(file, bytes).unwrap();
}

#[test]
fn runs_are_not_taken_for_others_when_files_that_the_scenario_names_have_changed() {
    let dir = tempfile::tempdir().unwrap();
    let images = dir.path().join("images");
    write_images(&images);
    let policy = dir.path().join("policy.safetensors");
    fs::write(
        &policy,
        include_bytes!("../../../core/src/scenario/extended.safetensors"),
    )
    .unwrap();
    let out = dir.path().join("c");
    let data = format!("data.dir={}", images.display());
    let agent = format!("td3.agent={}", policy.display());
    let named = [
        "--set",
        "data.set=idx",
        "--set",
        &data,
        "--set",
        &agent,
        "--set",
        "association.kind=td3",
    ];
    // Agents are some methods' alone.
    let flags = FLAGS.map(|flag| if flag == "hfl" { "cehfed" } else { flag });
    let compare = || {
        let few = ["--set", "data.personal_samples=2"];
        let output = small(&out, &[&flags[..], &named, &few].concat());
        (output.status.code(), text(&output.stderr))
    };
    let (code, said) = compare();
    assert_eq!(code, Some(0), "{said}");
    let before = derived(&out);
    for file in [&policy, &images.join("train-labels-idx1-ubyte")] {
        flip_last_byte(file);
        let (code, said) = compare();
        assert_eq!(code, Some(2), "{said}");
        for words in [
            "`td3.agent`",
            "`data.dir`",
            "has changed since",
            "delete the folder",
        ] {
            assert!(said.contains(words), "{said}");
        }
        flip_last_byte(file);
    }
    let (_, said) = compare();
    assert!(said.contains("0 runs done, 2 were there"), "{said}");
    // Without the data what they gave can still be told.
    fs::remove_dir_all(&images).unwrap();
    let (code, said) = compare();
    assert_eq!(code, Some(0), "{said}");
    assert!(derived(&out) == before);

    let plain = dir.path().join("plain");
    assert_eq!(small(&plain, &FLAGS).status.code(), Some(0));
    assert!(!first_run(&plain).join("inputs.sha256").exists());
}
