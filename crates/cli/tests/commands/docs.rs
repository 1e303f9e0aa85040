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

/// Where the paths that documents name begin: at the root, among the crates, or in the simulator.
const BASES: [&str; 3] = ["", "crates", "crates/core/src"];

/// The file or folder that a document means by a path, if there is one.
fn resolve(path: &str) -> Option<PathBuf> {
    let places = BASES.iter().map(|base| root().join(base).join(path));
    places.into_iter().find(|place| place.exists())
}

/// What stands between backquotes and is a path of the repository: it begins like one, or is a Rust file.
fn paths_in(text: &str) -> Vec<String> {
    let code = text.split('`').skip(1).step_by(2);
    let known = [
        "crates/",
        "scenarios/",
        "experiments/",
        "scripts/",
        "docs/",
        ".ci/",
    ];
    let spans = code.filter_map(|span| span.split_whitespace().next());
    spans
        .filter(|span| known.iter().any(|start| span.starts_with(start)) || span.ends_with(".rs"))
        .map(Into::into)
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
                resolve(path).is_some(),
                "{name} names {path}, which does not exist"
            );
        }
        assert!(name != "ARCHITECTURE.md" || paths.len() > 15, "{paths:?}");
    }
}

/// The anchors of a document's headings, as GitHub makes them.
fn anchors(name: &str) -> Vec<String> {
    let text = read(name);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = title
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// What a text cites as `FILE.md#anchor`, or as `](#anchor)` in the document itself: the file's last name and the anchor.
fn citations(text: &str) -> Vec<(Option<String>, String)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let anchor = |at: usize| text[at..].chars().take_while(|c| is_name(*c)).collect();
    let of_files = text.match_indices(".md#").map(|(at, mark)| {
        let before = text[..at].rsplit(|c| !is_name(c)).next().unwrap();
        (Some(format!("{before}.md")), anchor(at + mark.len()))
    });
    let of_itself = text
        .match_indices("](#")
        .map(|(at, mark)| (None, anchor(at + mark.len())));
    of_files.chain(of_itself).collect()
}

#[test]
fn headings_that_are_cited_exist() {
    let documents = documents();
    let mut files = Vec::new();
    for member in fs::read_dir(root().join("crates")).unwrap() {
        sources(&member.unwrap().path().join("src"), &mut files);
    }
    let code = files.iter().map(|file| {
        file.to_str()
            .unwrap()
            .trim_start_matches(root().to_str().unwrap())
    });
    let all = documents.iter().map(String::as_str);
    let mut found = 0;
    for citing in all.chain(code.map(|name| name.trim_start_matches('/'))) {
        for (file, anchor) in citations(&read(citing)) {
            let cited = match &file {
                None => citing,
                Some(file) => documents
                    .iter()
                    .find(|name| name.rsplit('/').next() == Some(file))
                    .unwrap_or_else(|| panic!("{citing} cites {file}, which does not exist")),
            };
            assert!(
                anchors(cited).contains(&anchor),
                "{citing} cites {cited}#{anchor}: no such heading"
            );
            found += 1;
        }
    }
    assert!(found > 10, "{found}");
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
            let source = resolve(&file).unwrap_or_else(|| panic!("{file} does not exist"));
            let cited = cited_equations(&fs::read_to_string(source).unwrap());
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
