//! The columns of all files are told in one place: headers, `schema.json` and `docs/files.md` agree with it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use aerofed::record::schema::{FileSchema, device_rows, run_files};
use aerofed_data::Table;
use aerofed_experiment::sweep::file as sweep_file;
use aerofed_experiment::tidy::{VARIED, files};
use serde_json::Value;

fn page_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/files.md")
}

const HEAD: &str = "# The files, column by column

Printed from the tables in `crates/core/src/record/schema.rs`, `crates/experiment/src/tidy.rs` and `crates/experiment/src/comparison/table.rs`; the same stands
as `schema.json` beside the data. CSV files have a header and are quoted where they must be; JSONL files have an object in each line.
Quantities are SI, accuracies and shares are fractions from 0 to 1. UAVs and devices are numbered from 0.
";

const OTHERS: &str = "
## Others

| file | what |
|---|---|
| `scenario.toml` | the complete scenario of a run; of a comparison what all methods share |
| `model.safetensors` | the global model after the last round |
| `inputs.sha256` | checksum of the files that the scenario names |
| `map.geojson` | where devices, UAVs, bases and zones were at the end, in degrees; only where the area has an origin (`docs/places.md`) |
| `compare.json` | all statistics of a comparison; its fields are told in `crates/experiment/src/comparison.rs` |
| `results.json` | figures, tables, claims and an index of the runs; `crates/experiment/src/results.rs` |
| `request.json` | what a reproduction was asked for |
| `sweep.toml` | what all runs of a sweep share |
| `rows/N.csv` | runs of a sweep that have no folder, as they were finished; a process has a file of its own |
| `engine/job.json`, `engine/task.sh`, `engine/logs/` | the task array that was submitted last, what each task runs, what tasks said |
";

fn section(file: &FileSchema) -> String {
    let mut text = format!("\n### `{}`\n\nOne for each: {}.\n\n", file.file, file.row);
    text += "| column | type | unit | meaning |\n|---|---|---|---|\n";
    for column in &file.columns {
        let (name, kind) = (&column.name, column.kind.name());
        text += &format!(
            "| `{name}` | {kind} | {} | {} |\n",
            column.unit, column.description
        );
    }
    text
}

fn page() -> String {
    let mut text = HEAD.to_owned() + "\n## Of a run\n";
    run_files().iter().for_each(|file| text += &section(file));
    text += "\n`aerofed run --parquet` writes `rounds.parquet`, `uavs.parquet` and `events.parquet` with the same columns besides; what an event does not have is null, \
             and lists are lists of numbers.\n";
    text += &section(&FileSchema {
        file: "devices.parquet",
        row: "a device in a global round: what `devices.jsonl` tells",
        columns: device_rows(),
    });
    text += "\n## Of a comparison or a reproduction\n\n";
    text += &format!(
        "`{VARIED}` stands for a column for each field of the scenario that is varied, named by its path (`uavs.bandwidth_up_hz`); before \
         those stands a column for each axis of an experiment, with the labels of its points.\n"
    );
    let all = files(&[VARIED.into()], true);
    all.iter().for_each(|file| text += &section(file));
    text += "\n## Of a sweep\n\nThe same table is in `sweep.parquet`, where the columns of what is varied are numbers if all values are.\n";
    text += &section(&sweep_file(&[VARIED.into()]));
    text + OTHERS
}

#[test]
fn the_page_of_columns_says_what_the_program_writes() {
    let there = fs::read_to_string(page_path()).unwrap();
    let same = there == page();
    assert!(
        same,
        "docs/files.md is old; `cargo test --workspace --test commands write_the_page_of_columns -- --ignored` writes it"
    );
}

#[test]
#[ignore = "writes docs/files.md: cargo test --workspace --test commands write_the_page_of_columns -- --ignored"]
fn write_the_page_of_columns() {
    fs::write(page_path(), page()).unwrap();
}

fn aerofed(place: &Path, line: &str) {
    let mut command = assert_cmd::Command::cargo_bin("aerofed").unwrap();
    let output = command
        .current_dir(place)
        .args(line.split_whitespace())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{line}: {said}");
}

/// The names of an object's fields, with those of objects inside.
fn fields(value: &Value, before: &str, found: &mut BTreeSet<String>) {
    let Value::Object(object) = value else {
        found.insert(before.trim_end_matches('.').into());
        return;
    };
    for (name, value) in object {
        match value {
            Value::Array(list) if list.iter().any(Value::is_object) => {
                let inside = list.iter();
                inside.for_each(|entry| fields(entry, &format!("{before}{name}[]."), found));
            }
            value => fields(value, &format!("{before}{name}."), found),
        }
    }
}

/// Every file that `schema.json` names is there and has these columns.
fn check(folder: &Path, expected: &[FileSchema]) {
    let text = fs::read_to_string(folder.join("schema.json")).unwrap();
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(told, serde_json::to_value(expected).unwrap());
    for file in expected {
        let names: Vec<&str> = file.columns.iter().map(|c| &*c.name).collect();
        let text = fs::read_to_string(folder.join(file.file)).unwrap();
        if file.file.ends_with(".csv") {
            let mut lines = text.lines();
            assert_eq!(lines.next().unwrap(), names.join(","), "{}", file.file);
            let cells = lines.next().unwrap().split(',').count();
            assert_eq!(cells, names.len(), "{}", file.file);
            continue;
        }
        let objects: Vec<&str> = match file.file.ends_with(".jsonl") {
            true => text.lines().collect(),
            false => vec![&text],
        };
        let mut found = BTreeSet::new();
        for object in objects {
            fields(&serde_json::from_str(object).unwrap(), "", &mut found);
        }
        let names: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        match file.file {
            // Not every kind of event happens in one run.
            "events.jsonl" => assert!(found.is_subset(&names) && !found.is_empty(), "{found:?}"),
            _ => assert_eq!(found, names, "{}", file.file),
        }
    }
}

const SMALL: &str = "--set devices.count=20 --set data.data_volume=200 --set model.name=logistic --set stop.max_rounds=2 \
                     --set training.max_edge_rounds=2 --quiet";

#[test]
fn parquet_tables_hold_what_the_other_files_hold() {
    let dir = tempfile::tempdir().unwrap();
    let faults = "--set faults=[{kind=\"loss\",uav=2,round=1}]";
    aerofed(
        dir.path(),
        &format!("run {SMALL} {faults} --parquet --out run"),
    );
    let read = |name: &str| Table::read(&dir.path().join("run").join(name)).unwrap();
    for (csv, parquet) in [
        ("rounds.csv", "rounds.parquet"),
        ("uavs.csv", "uavs.parquet"),
    ] {
        let (one, other) = (read(csv), read(parquet));
        assert_eq!(one.names(), other.names());
        for name in one.names() {
            let words = one.words(name).unwrap();
            for (word, typed) in words.iter().zip(other.words(name).unwrap()) {
                let list = typed.trim_matches(['[', ']']).replace(", ", " ");
                let same = *word == list || word.parse::<f64>().ok() == typed.parse().ok();
                assert!(same, "{name}: {typed} for {word}");
            }
            assert_eq!(words.len(), other.rows());
        }
    }
    let lines = |name: &str| -> Vec<Value> {
        let text = fs::read_to_string(dir.path().join("run").join(name)).unwrap();
        let lines = text.lines();
        lines.map(|l| serde_json::from_str(l).unwrap()).collect()
    };
    let (events, told) = (lines("events.jsonl"), read("events.parquet"));
    assert!(told.rows() == events.len() && events.len() > 1);
    for name in told.names() {
        for (word, event) in told.words(name).unwrap().iter().zip(&events) {
            match event.get(name) {
                None | Some(Value::Null) => assert_eq!(*word, "", "{name}"),
                Some(Value::String(text)) => assert_eq!(word, text, "{name}"),
                Some(Value::Number(number)) => {
                    assert_eq!(word.parse().ok(), number.as_f64(), "{name}");
                }
                Some(value) => assert_eq!(&serde_json::from_str::<Value>(word).unwrap(), value),
            }
        }
    }
    let (seen, devices) = (lines("devices.jsonl"), read("devices.parquet"));
    assert_eq!(devices.rows(), 2 * 20);
    for name in ["x_m", "y_m", "uav"] {
        let all = seen.iter().flat_map(|line| line[name].as_array().unwrap());
        let all: Vec<f64> = all.map(|value| value.as_f64().unwrap()).collect();
        assert_eq!(devices.numbers(name).unwrap(), all, "{name}");
    }
    assert_eq!(devices.numbers("device").unwrap()[19..21], [19.0, 0.0]);
}

#[test]
fn schemas_beside_the_data_name_the_columns_that_are_there() {
    let dir = tempfile::tempdir().unwrap();
    let faults = "--set faults=[{kind=\"loss\",uav=2,round=1}]";
    aerofed(dir.path(), &format!("run {SMALL} {faults} --out run"));
    check(&dir.path().join("run"), &run_files());

    let methods = "--methods hfl,long=hfl:allocation.local_iterations=9";
    aerofed(
        dir.path(),
        &format!("compare {SMALL} {methods} --seeds 1 --out compared"),
    );
    let varied = ["allocation.local_iterations".to_owned()];
    check(&dir.path().join("compared"), &files(&varied, true));

    let sweep = "name = \"sweep\"\ntitle = \"t\"\nmethods = [\"hfl\"]\nseeds = 1\n[scenario]\ndevices.count = 20\n\
                 data.data_volume = 200\nmodel.name = \"logistic\"\nstop.max_rounds = 2\n[[axes]]\nname = \"xi\"\n\
                 points = [{ label = \"0\", set = [\"mobility.hop_probability=0\"] }]\n";
    fs::write(dir.path().join("sweep.toml"), sweep).unwrap();
    aerofed(dir.path(), "reproduce sweep.toml --quiet --out swept");
    let varied = ["xi", "mobility.hop_probability"].map(Into::into);
    check(&dir.path().join("swept"), &files(&varied, false));
}
