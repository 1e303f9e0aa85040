//! The documents say what is there.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// What stands between backquotes and begins with a path of the repository.
fn paths_in(text: &str) -> Vec<String> {
    let code = text.split('`').skip(1).step_by(2);
    let known = ["crates/", "scenarios/", "scripts/", "docs/", ".ci/"];
    code.filter(|span| known.iter().any(|start| span.starts_with(start)))
        .filter_map(|span| Some(span.split_whitespace().next()?.into()))
        .collect()
}

/// The documents of the root and of `docs/`.
fn documents() -> Vec<String> {
    let in_folder = |folder: &str| {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let folder = folder.to_owned();
        names.map(move |name| folder.clone() + &name)
    };
    let all = in_folder("").chain(in_folder("docs/"));
    all.filter(|name| name.ends_with(".md")).collect()
}

#[test]
fn paths_named_in_the_documents_exist() {
    let documents = documents();
    assert!(documents.len() > 10, "{documents:?}");
    for name in &documents {
        let paths = paths_in(&read(name));
        for path in &paths {
            assert!(
                root().join(path).exists(),
                "{name} names {path}, which does not exist"
            );
        }
        assert!(name != "ARCHITECTURE.md" || paths.len() > 15, "{paths:?}");
    }
}

/// The numbers of `(8)`, `(22)-(24)` or `(1), (2)`.
fn numbers(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut range_from = None;
    while let Some(open) = rest.find('(') {
        let between = &rest[..open];
        let Some(close) = rest[open..].find(')') else {
            break;
        };
        let Ok(number) = rest[open + 1..open + close].parse::<u32>() else {
            break;
        };
        match range_from.filter(|_| between == "-") {
            Some(from) => found.extend(from + 1..=number),
            None if found.is_empty() && !between.is_empty() => break,
            None => found.push(number),
        }
        range_from = Some(number);
        rest = &rest[open + close + 1..];
        if !rest.starts_with(['-', ',']) && !rest.starts_with(" and (") {
            break;
        }
    }
    found
}

#[test]
fn equation_numbers_are_read_right() {
    assert_eq!(numbers("(8)"), [8]);
    assert_eq!(numbers("(22)-(24): text (5)"), [22, 23, 24]);
    assert_eq!(numbers("(1), (3)-(4)"), [1, 3, 4]);
    assert_eq!(numbers("(14), (17), (18)."), [14, 17, 18]);
    assert_eq!(numbers("(2) and (3)."), [2, 3]);
}

/// Rows of PAPER.md's table: equation numbers and files.
fn equation_rows() -> Vec<(Vec<u32>, Vec<String>)> {
    let paper = read("PAPER.md");
    let rows = paper.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let equations = numbers(cells.get(1)?);
        (!equations.is_empty()).then(|| (equations, paths_in(line)))
    });
    rows.collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_equation_in_the_table_is_named_in_its_files() {
    let rows = equation_rows();
    assert!(rows.len() > 10);
    for (equations, files) in rows {
        assert!(!files.is_empty(), "{equations:?} has no file");
        for file in files {
            let cited = cited_equations(&read(&file));
            assert!(
                equations.iter().any(|number| cited.contains(number)),
                "PAPER.md sends {equations:?} to {file}, which cites only {cited:?}"
            );
        }
    }
}

fn cited_equations(source: &str) -> Vec<u32> {
    let after = |mark: &'static str| {
        source
            .match_indices(mark)
            .map(move |(at, _)| at + mark.len())
    };
    after("Eq. ")
        .chain(after("Eqs. "))
        .flat_map(|at| numbers(&source[at..]))
        .collect()
}

#[test]
fn every_equation_cited_in_the_code_is_in_the_table() {
    let rows = equation_rows();
    let mut files = Vec::new();
    for member in ["nn", "data", "core", "experiment", "report", "cli"] {
        sources(&root().join("crates").join(member).join("src"), &mut files);
    }
    for file in files {
        let name = file
            .strip_prefix(root())
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        for number in cited_equations(&fs::read_to_string(&file).unwrap()) {
            let listed = rows
                .iter()
                .any(|(equations, _)| equations.contains(&number));
            assert!(
                listed,
                "{name} cites ({number}), which PAPER.md does not list"
            );
        }
    }
}

/// The example in a document's first block of Rust.
fn rust_example(name: &str) -> String {
    let text = read(name);
    let (_, block) = text.split_once("```rust\n").unwrap();
    block.split_once("```").unwrap().0.into()
}

/// The crate's own README is a documentation test; the repository's is outside of the package.
#[test]
fn the_readmes_show_the_same_example() {
    assert_eq!(
        rust_example("README.md"),
        rust_example("crates/core/README.md")
    );
}

#[test]
fn the_readme_and_ci_use_the_same_test_command() {
    let command = "cargo test --workspace";
    assert!(read("README.md").contains(command));
    assert!(read(".ci/run").lines().any(|line| line.trim() == command));
}
