//! `aerofed report` as a user types it.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

/// A quick start small enough for a test.
const SMALL: [&str; 8] = [
    "--set",
    "devices.count=30",
    "--set",
    "data.data_volume=600",
    "--set",
    "model.name=logistic",
    "--set",
    "stop.max_rounds=3",
];

fn aerofed(args: &[&str]) -> Output {
    Command::cargo_bin("aerofed")
        .unwrap()
        .args(args)
        .output()
        .unwrap()
}

fn done(args: &[&str]) -> String {
    let output = aerofed(args);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
    said
}

fn run(out: &Path, more: &[&str]) {
    let out = ["run", "--quiet", "--out", out.to_str().unwrap()];
    done(&[&out[..], &SMALL, more].concat());
}

#[test]
fn a_run_writes_its_page_and_the_command_writes_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    let name = "name=\"<script>alert(1)<!--\"";
    let lost = "faults=[{kind=\"loss\", uav=3, round=2}]";
    run(&folder, &["--set", name, "--set", lost]);
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("&lt;script&gt;alert(1)&lt;!--"));
    assert!(!page.contains("<script>alert"));
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    for forbidden in ["http://", "https://", "@import", "url("] {
        let allowed = page.matches("http://www.w3.org/2000/svg").count();
        let found = page.matches(forbidden).count();
        let allowed = if forbidden == "http://" { allowed } else { 0 };
        assert_eq!(found, allowed, "{forbidden}");
    }

    // Read back from disk, the run is the same to the last digit.
    let again = dir.path().join("again.html");
    let said = done(&[
        "report",
        folder.to_str().unwrap(),
        "--out",
        again.to_str().unwrap(),
    ]);
    assert!(said.contains("again.html") && said.contains("kB"), "{said}");
    assert_eq!(fs::read_to_string(again).unwrap(), page);
    fs::remove_file(folder.join("report.html")).unwrap();
    assert_eq!(done(&["report", folder.to_str().unwrap(), "--quiet"]), "");
    assert_eq!(
        fs::read_to_string(folder.join("report.html")).unwrap(),
        page
    );
}

#[test]
fn several_runs_and_a_comparison_share_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let folders = ["a", "b", "c"].map(|name| dir.path().join(name));
    run(&folders[0], &["--seed", "1"]);
    run(&folders[1], &["--seed", "2"]);
    run(&folders[2], &["--method", "direct_drop"]);
    let page = dir.path().join("all.html");
    let figures = dir.path().join("figures");
    let mut args = vec!["report"];
    args.extend(folders.iter().map(|folder| folder.to_str().unwrap()));
    args.extend(["--out", page.to_str().unwrap()]);
    args.extend(["--figures", figures.to_str().unwrap()]);
    assert!(done(&args).contains("3 files"));
    let html = fs::read_to_string(&page).unwrap();
    assert!(
        html.contains("3 runs: cehfed · direct_drop"),
        "grouped by seed"
    );
    for name in ["rounds", "time", "energy"] {
        let svg = fs::read_to_string(figures.join(format!("accuracy-{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("direct_drop"));
    }

    let compared = dir.path().join("compared");
    let compare = [
        "compare",
        "--quiet",
        "--methods",
        "hfl,long=hfl:allocation.local_iterations=9",
        "--seeds",
        "2",
        "--targets",
        "0.2,0.999",
        "--out",
        compared.to_str().unwrap(),
    ];
    done(&[&compare[..], &SMALL].concat());
    done(&["report", "--quiet", compared.to_str().unwrap()]);
    let html = fs::read_to_string(compared.join("report.html")).unwrap();
    for words in [
        "4 runs: hfl · long",
        "To 20 % accuracy",
        "time saved by hfl",
    ] {
        assert!(html.contains(words), "{words}");
    }
}

fn refused(args: &[&str]) -> String {
    let output = aerofed(args);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    said
}

#[test]
fn a_run_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (a, b, page) = (path("a"), path("b"), path("page.html"));
    run(Path::new(&a), &[]);
    run(Path::new(&b), &[]);
    for twice in [&a, &b, &format!("{a}/")] {
        let said = refused(&["report", &a, twice, "--out", &page]);
        let words = format!("{twice}: the same scenario, method and seed as {a}");
        assert!(said.contains(&words), "{said}");
        assert!(!Path::new(&page).exists());
    }
}

#[test]
fn a_comparison_that_was_broken_off_says_how_to_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("c");
    for name in ["hfl-1", "hfl-2", "hfl-3.partial"] {
        fs::create_dir_all(folder.join("runs").join(name)).unwrap();
        fs::write(folder.join("runs").join(name).join("summary.json"), "{}").unwrap();
    }
    let said = refused(&["report", folder.to_str().unwrap()]);
    assert!(said.contains("2 runs are finished"), "{said}");
    assert!(said.contains("the same compare command"), "{said}");
    fs::write(folder.join("request.json"), "{}").unwrap();
    let said = refused(&["report", folder.to_str().unwrap()]);
    assert!(said.contains("the same reproduce command"), "{said}");
}

#[test]
fn folders_that_tell_nothing_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(path("empty")).unwrap();
    run(Path::new(&path("run")), &[]);
    let table = dir.path().join("run/rounds.csv");
    let text = fs::read_to_string(&table).unwrap();
    fs::create_dir(path("odd")).unwrap();
    fs::write(dir.path().join("odd/results.json"), "{\"schema\": 1}").unwrap();
    fs::create_dir(path("later")).unwrap();
    let later = "{\"schema\":99,\"version\":\"9\",\"scale\":\"quick\",\"seeds\":[],\"figures\":[],\
        \"tables\":[],\"claims\":[],\"runs\":[],\"runs_missing\":0,\"skipped\":[]}";
    fs::write(dir.path().join("later/results.json"), later).unwrap();
    fs::write(&table, text.replacen("\n2,", "\nx,", 1)).unwrap();
    let cases = [
        (vec![path("nowhere")], "no such folder"),
        (vec![path("empty")], "no finished run"),
        (vec![path("run"), path("empty")], "line 3: `round` is \"x\""),
        (vec![path("odd")], "results.json: missing field"),
        (vec![path("later")], "has schema 99"),
        (vec![], "required"),
    ];
    for (folders, words) in cases {
        let folders = folders.iter().map(String::as_str);
        let args: Vec<&str> = ["report"].into_iter().chain(folders).collect();
        let said = refused(&args);
        assert!(said.contains(words), "{args:?}: {said}");
    }
    let folder = path("empty");
    for out in ["", folder.as_str()] {
        let output = aerofed(&["report", &path("run"), "--out", out]);
        assert_eq!(output.status.code(), Some(2), "{out:?}");
    }
}
