//! `docs/own-experiment.md` as a stranger follows it: its files are written, its commands run, its plot drawn.

use std::fs;
use std::path::Path;
use std::process::Command;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/own-experiment.md");
    fs::read_to_string(path).unwrap()
}

/// Blocks of code in their order: the language, the name of the file that it is to be saved as, the text.
pub(crate) fn blocks(page: &str) -> Vec<(&str, &str, &str)> {
    let parts = page.split("```").skip(1).step_by(2);
    parts
        .map(|part| {
            let (first, text) = part.split_once('\n').unwrap();
            let (language, name) = first.split_once(' ').unwrap_or((first, ""));
            (language, name, text)
        })
        .collect()
}

fn has_matplotlib() -> bool {
    let python = Command::new("python3")
        .args(["-c", "import matplotlib"])
        .output();
    python.is_ok_and(|output| output.status.success())
}

#[test]
fn every_command_of_the_strangers_path_works() {
    let (dir, page) = (tempfile::tempdir().unwrap(), page());
    let mut commands = 0;
    for (language, name, text) in blocks(&page) {
        match language {
            "toml" | "python" => fs::write(dir.path().join(name), text).unwrap(),
            "sh" => {
                for line in text.lines() {
                    let words: Vec<&str> = line.split_whitespace().collect();
                    assert_eq!(words[0], "aerofed", "{line}");
                    let mut command = assert_cmd::Command::cargo_bin("aerofed").unwrap();
                    let output = command
                        .current_dir(dir.path())
                        .args(&words[1..])
                        .output()
                        .unwrap();
                    let said = String::from_utf8_lossy(&output.stderr);
                    assert_eq!(output.status.code(), Some(0), "{line}: {said}");
                    commands += 1;
                }
            }
            other => panic!("a block of {other:?}"),
        }
    }
    assert!(commands >= 6, "{commands}");
    // Whatever file the page promises is there.
    let named = page.split('`').filter(|span| {
        ["runs/", "results/", "both.html"]
            .iter()
            .any(|start| span.starts_with(start))
    });
    let named: Vec<&str> = named
        .filter(|span| !span.contains(char::is_whitespace))
        .collect();
    assert!(named.len() >= 6, "{named:?}");
    for name in named {
        assert!(dir.path().join(name).exists(), "{name}");
    }
    plot(dir.path());
}

/// The columns that the plot reads are there and filled; it is drawn where Python can.
fn plot(place: &Path) {
    let script = fs::read_to_string(place.join("plot.py")).unwrap();
    let runs = place.join("results/sweep/runs.csv");
    let columns: Vec<&str> = script
        .split("row[\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(columns.len() >= 4, "{columns:?}");
    for name in columns {
        let cells = crate::compare::column(&runs, name);
        assert!(cells.iter().any(|cell| !cell.is_empty()), "{name}");
    }
    let reached = crate::compare::column(&runs, "reached");
    let count = reached.iter().filter(|cell| *cell == "true").count();
    assert!(
        count > reached.len() / 2,
        "{count} of {} runs show in the plot",
        reached.len()
    );
    if !has_matplotlib() {
        eprintln!("skipped: plot.py needs python3 with matplotlib");
        return;
    }
    let drawn = Command::new("python3")
        .arg("plot.py")
        .current_dir(place)
        .output()
        .unwrap();
    assert!(
        drawn.status.success(),
        "{}",
        String::from_utf8_lossy(&drawn.stderr)
    );
    assert!(place.join("energy.png").exists());
}
