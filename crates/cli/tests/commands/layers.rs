//! Who may know whom: modules of the simulator import modules of the same or a lower layer, crates only those below.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of `crates/core/src`, lowest layer first. `error` is what all of them can fail with: everybody knows it, and it
/// knows everybody's errors.
const LAYERS: &[&[&str]] = &[
    &["vocabulary", "disk", "reading"],
    &["seed", "grid"],
    &["solve"],
    &["scenario"],
    &["checkpoint"],
    &["nature"],
    &["world"],
    &["decide"],
    &["learn"],
    &["method"],
    &["record"],
    &["books"],
    &["run"],
    &["run_folder"],
    &["session", "environment", "calibrate"],
    &["pretrain"],
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|names| names.contains(&module))
}

/// Source files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

/// The modules that a source names after `crate::`, outside of comments and tests.
fn modules_named(source: &str) -> BTreeSet<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    let code: String = lines.collect::<Vec<_>>().join("\n");
    let mut named = BTreeSet::new();
    for after in code.split("crate::").skip(1) {
        let list = match after.strip_prefix('{') {
            // `use crate::{Error, checkpoint, disk};`
            Some(list) => list.split('}').next().unwrap_or_default(),
            None => after
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
                .unwrap_or_default(),
        };
        let names = list
            .split(',')
            .map(|name| name.trim().split("::").next().unwrap_or_default());
        named.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
    }
    named
}

#[test]
fn modules_know_only_what_lies_below_them() {
    let folder = crates().join("core/src").canonicalize().unwrap();
    let mut imports = 0;
    for path in sources(&folder) {
        let inside = path.strip_prefix(&folder).unwrap();
        let first = inside.iter().next().unwrap().to_str().unwrap();
        let module = first.strip_suffix(".rs").unwrap_or(first);
        if ["lib", "error"].contains(&module) || inside.ends_with("tests.rs") {
            continue;
        }
        let own = layer(module).unwrap_or_else(|| panic!("{module} is in no layer"));
        for other in modules_named(&fs::read_to_string(&path).unwrap()) {
            // Names of the crate's root that are no modules: what is re-exported there belongs to its module.
            let other = match other.as_str() {
                "Error" | "error" | "VERSION" => continue,
                "Method" => "method",
                "Scenario" | "ValidScenario" => "scenario",
                "Simulation" => "run",
                "RoundRecord" | "Summary" => "record",
                "geometry" => "vocabulary",
                module => module,
            };
            let theirs = layer(other).unwrap_or_else(|| panic!("{other} is in no layer"));
            imports += 1;
            assert!(
                theirs <= own,
                "{} (layer of `{module}`) imports `{other}`, which lies above it",
                inside.display()
            );
        }
    }
    assert!(imports > 150, "{imports} imports seen");
}

#[test]
fn crates_know_only_those_below_them() {
    const ORDER: [&str; 6] = ["nn", "data", "core", "experiment", "report", "cli"];
    let package = |folder: &str| match folder {
        "core" => "aerofed".to_owned(),
        other => format!("aerofed-{other}"),
    };
    // An engine: knows the simulator, and only the command line knows it, if asked for.
    let gpu = fs::read_to_string(crates().join("gpu/Cargo.toml")).unwrap();
    for above in ["experiment", "report", "cli"] {
        assert!(!gpu.contains(&format!("\naerofed-{above}.workspace")));
    }
    // Beside the command line: above all others.
    let python = fs::read_to_string(crates().join("py/Cargo.toml")).unwrap();
    assert!(!python.contains("\naerofed-cli.workspace"));
    for (place, folder) in ORDER.iter().enumerate() {
        let manifest = fs::read_to_string(crates().join(folder).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("[dev-dependencies]").next().unwrap();
        for above in &ORDER[place + 1..] {
            let line = format!("\n{}.workspace", package(above));
            assert!(!dependencies.contains(&line), "{folder} depends on {above}");
        }
        for other in ["aerofed-py", "pyo3", "numpy", "aerofed-gpu", "cudarc"] {
            let line = format!("\n{other}.workspace");
            assert!(!manifest.contains(&line), "{folder} depends on {other}");
        }
        let knows_gpu = manifest.contains("\naerofed-gpu = ");
        let if_asked = manifest.contains("\naerofed-gpu = { workspace = true, optional = true }");
        assert!(!knows_gpu || (*folder == "cli" && if_asked), "{folder}");
    }
}
