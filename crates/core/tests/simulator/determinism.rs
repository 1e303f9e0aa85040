//! Same scenario and seed, same bytes, whatever the number of threads.

use std::fs;
use std::path::Path;

use crate::common::{run, tiny};
use aerofed::ValidScenario;
use aerofed::run_folder::RunFolder;

fn files(scenario: &ValidScenario, threads: usize, dir: &Path) -> Vec<(String, Vec<u8>)> {
    let out = dir.join(format!("run-{threads}"));
    let mut folder = RunFolder::create(&out, scenario, false).unwrap();
    let outcome = run(scenario, threads);
    outcome
        .records
        .iter()
        .for_each(|record| folder.append(record).unwrap());
    folder.finish(&outcome).unwrap();
    [
        "scenario.toml",
        "rounds.csv",
        "uavs.csv",
        "events.jsonl",
        "model.safetensors",
    ]
    .map(|name| (name.into(), fs::read(out.join(name)).unwrap()))
    .to_vec()
}

#[test]
fn bytes_do_not_depend_on_threads() {
    for model in ["logistic", "cnn"] {
        let dir = tempfile::tempdir().unwrap();
        let scenario = tiny(&[&format!("model.name={model}"), "stop.max_rounds=2"]);
        let one = files(&scenario, 1, dir.path());
        assert!(
            one.iter()
                .find(|(name, _)| name == "rounds.csv")
                .unwrap()
                .1
                .len()
                > 500
        );
        assert_eq!(one, files(&scenario, 2, dir.path()));
        assert_eq!(one, files(&scenario, 8, dir.path()));
    }
}

#[test]
fn another_seed_gives_another_run() {
    let outcome = |seed: &str| run(&tiny(&[seed]), 2);
    assert_ne!(outcome("seed=1").weights, outcome("seed=2").weights);
}

#[test]
fn a_run_is_replaced_only_when_forced_and_anything_else_never() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    let scenario = tiny(&["stop.max_rounds=1"]);
    let precious = out.join("precious");
    fs::create_dir(&out).unwrap();
    fs::write(&precious, "x").unwrap();
    for force in [false, true] {
        assert!(RunFolder::create(&out, &scenario, force).is_err());
    }
    fs::remove_file(&precious).unwrap();
    let outcome = run(&scenario, 1);
    let write = |force| RunFolder::create(&out, &scenario, force).unwrap();
    write(true).finish(&outcome).unwrap();
    fs::write(&precious, "x").unwrap();

    for force in [false, true] {
        assert!(RunFolder::create(&out, &scenario, force).is_err());
    }
    fs::remove_file(&precious).unwrap();
    let before = fs::read(out.join("summary.json")).unwrap();
    let folder = write(true);
    assert!(
        out.join("summary.json").exists(),
        "replaced only at the end"
    );
    folder.discard();
    assert_eq!(fs::read(out.join("summary.json")).unwrap(), before);

    // What comes in while the run is under way stays, wherever that is.
    let folder = write(true);
    fs::write(&precious, "x").unwrap();
    folder.finish(&outcome).unwrap();
    assert!(out.join("summary.json").exists() && !precious.exists());
    let aside = dir.path().join("run.replaced-1");
    assert_eq!(fs::read_to_string(aside.join("precious")).unwrap(), "x");
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 1);
}
