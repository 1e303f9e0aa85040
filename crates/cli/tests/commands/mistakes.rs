//! Mistakes that people make, and the message for each: one line that names the field or the argument, in the words of whoever
//! made it, with what was probably meant; exit code 2, and nothing written.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

mod settings;
mod table;

use settings::SETTINGS;
use table::{COMMAND_LINE, FILES};

/// What messages must not contain: words of the language this is written in.
const RUST: &[&str] = &[
    "usize",
    "f64",
    "u64",
    "u32",
    "u16",
    "i64",
    "sequence",
    "invalid type",
    "invalid digit",
    "invalid float",
    "Some(",
    "None",
    "unwrap",
    "panicked",
    "enum",
    "variant",
    "struct",
    "tuple",
    "deserialize",
    "Error {",
    "os error 0",
];

/// Runs in a folder of its own, and gives the message.
fn message(arguments: &[&str], file: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    for name in ["FILE.toml", "FILE.json"] {
        if arguments.contains(&name) || arguments.contains(&"FIEL.toml") {
            fs::write(folder.path().join(name), file).unwrap();
        }
    }
    let before = names(folder.path());
    let output = Command::cargo_bin("aerofed")
        .unwrap()
        .current_dir(folder.path())
        .args(arguments)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed a result");
    assert_eq!(
        names(folder.path()),
        before,
        "{arguments:?} wrote something"
    );
    message
}

fn names(folder: &Path) -> Vec<String> {
    let there = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = there
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// What is wrong with a message; nothing: empty.
fn complaints(message: &str, told: &[&str]) -> Vec<String> {
    let mut wrong = Vec::new();
    if !message.starts_with("error: ") || message.matches("error: ").count() != 1 {
        wrong.push("is not one error".into());
    }
    let rust = RUST.iter().filter(|word| message.contains(**word));
    wrong.extend(rust.map(|word| format!("speaks Rust: {word}")));
    let missing = told.iter().filter(|part| !message.contains(**part));
    wrong.extend(missing.map(|part| format!("does not say {part}")));
    wrong
}

#[test]
fn every_mistake_has_a_message_that_helps() {
    let mut cases: Vec<(Vec<&str>, &str, &[&str])> = Vec::new();
    for mistake in COMMAND_LINE.iter().chain(FILES) {
        cases.push((mistake.arguments.to_vec(), mistake.file, mistake.told));
    }
    for (settings, told) in SETTINGS {
        let mut arguments = vec!["run", "--out", "out"];
        settings
            .iter()
            .for_each(|setting| arguments.extend(["--set", setting]));
        cases.push((arguments, "", told));
    }
    assert!(cases.len() >= 50);
    let mut failed = Vec::new();
    for (arguments, file, told) in cases {
        let message = message(&arguments, file);
        if std::env::var_os("AEROFED_SHOW_MESSAGES").is_some() {
            println!("aerofed {}\n{message}", arguments.join(" "));
        }
        let wrong = complaints(&message, told);
        if !wrong.is_empty() {
            failed.push(format!(
                "{arguments:?} {file:?}\n  {message}  {}",
                wrong.join("; ")
            ));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Runs in a folder of its own with success, and gives what went to stdout and stderr.
fn done(arguments: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::cargo_bin("aerofed")
        .unwrap()
        .current_dir(folder.path())
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {told}");
    (text(&output.stdout), told)
}

#[test]
fn implausible_values_are_warned_of() {
    let check = ["scenario", "check", "quickstart"];
    assert_eq!(done(&check).1, "");
    let odd = [
        "--set",
        "uavs.battery_j=70",
        "--set",
        "training.learning_rate=50",
    ];
    let (_, told) = done(&[&check[..], &odd].concat());
    let lines: Vec<&str> = told.lines().collect();
    // And with such a battery nobody would come back.
    assert_eq!(lines.len(), 3, "{told}");
    assert!(
        lines.iter().all(|line| line.starts_with("warning: ")),
        "{told}"
    );
    assert!(
        told.contains(
            "`uavs.battery_j` is 70, usual: 3000 to 1e8; did you mean Wh? 70 Wh are 252000 J"
        ),
        "{told}"
    );
    assert!(
        told.contains("`training.learning_rate` is 50, usual: 1e-5 to 1"),
        "{told}"
    );
}

#[test]
fn implausible_values_of_one_contender_are_warned_of() {
    let methods = "hfl,fast=hfl:training.learning_rate=50";
    let words = "compare defaults --set devices.count=20 --set model.name=logistic --rounds 1 --seeds 1 --targets 0.5 --methods";
    let arguments: Vec<&str> = words.split(' ').chain([methods]).collect();
    let told = done(&arguments).1;
    let warning = "warning: `training.learning_rate` is 50, usual: 1e-5 to 1";
    assert_eq!(told.matches(warning).count(), 1, "{told}");
}

#[test]
fn a_run_that_learned_nothing_says_so() {
    let run = |rate: &str| {
        let rate = format!("training.learning_rate={rate}");
        let mut arguments = vec!["run", "--method", "hfl", "--rounds", "3"];
        for setting in [
            "devices.count=20",
            "data.data_volume=400",
            "uavs.count=2",
            "model.name=cnn",
            &rate,
        ] {
            arguments.extend(["--set", setting]);
        }
        let told = done(&arguments).1;
        let is_warning = |line: &&str| line.starts_with("warning: ") && !line.contains("usual");
        told.lines()
            .filter(is_warning)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let told = run("50");
    assert!(
        told.contains("diverged") || told.contains("nothing was learned"),
        "{told}"
    );
    assert!(told.contains("`training.learning_rate` is 50"), "{told}");
    assert_eq!(run("0.1"), "");
}

#[test]
fn a_named_scenario_is_printed_in_full_with_its_comments() {
    let (defaults, _) = done(&["scenario", "defaults"]);
    assert_eq!(defaults.trim_end(), aerofed::scenario::DEFAULTS.trim_end());
    for (name, text) in aerofed::scenario::BUILT_IN {
        let (printed, _) = done(&["scenario", "defaults", name]);
        let read = |text: &str| aerofed::Scenario::parse(text, &[] as &[&str]).unwrap();
        assert_eq!(read(&printed), read(text), "{name}");
        assert!(printed.matches("# ").count() > 50, "{name}");
    }
}
