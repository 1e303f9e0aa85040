//! What holds for every registered method when methods are compared.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use aerofed::geometry::Point;
use aerofed::learn::DataStore;
use aerofed::method::Registry;
use aerofed::{Method, Scenario, Simulation, ValidScenario};

use super::plan::{ComparePlan, Contender, PlannedRun};
use super::runner::{Done, News, Runner, Watch};
use super::stored::StoredRun;
use crate::Error;

const TINY: &str = r#"
name = "tiny"
[devices]
count = 30
[data]
data_volume = 300
probe_samples = 50
personal_samples = 10
[model]
name = "logistic"
[training]
max_edge_rounds = 2
[stop]
max_rounds = 2
"#;

fn tiny(settings: &[&str]) -> Scenario {
    Scenario::parse(TINY, settings).unwrap()
}

/// Where devices are after each of three rounds, and what each computes with.
fn nature_of(scenario: &ValidScenario) -> (Vec<Vec<Point>>, Vec<f64>, Vec<u32>) {
    let mut simulation = Simulation::builder(scenario).threads(1).build().unwrap();
    let mut method = Method::of(scenario).unwrap();
    let mut places = vec![simulation.world().devices.position.clone()];
    for _ in 0..3 {
        simulation.step(&mut method).unwrap();
        places.push(simulation.world().devices.position.clone());
    }
    let devices = &simulation.world().devices;
    (
        places,
        devices.iteration_time_s.clone(),
        devices.samples.clone(),
    )
}

#[test]
fn every_method_meets_the_same_nature_under_a_seed() {
    let nature = |method: &str, seed: u64| {
        let contender = Contender::parse(&Registry::builtin(), method).unwrap();
        let run =
            PlannedRun::new(&Registry::builtin(), &tiny(&[]), &contender, seed, |_| {}).unwrap();
        nature_of(&run.scenario)
    };
    let first = nature("cehfed", 5);
    assert_ne!(first.0[0], first.0[3], "somebody moves");
    for entry in Registry::builtin().entries() {
        assert_eq!(nature(entry.name(), 5), first, "{}", entry.name());
    }
    let longer = "cehfed:allocation={kind=\"equal\", local_iterations=9}";
    assert_eq!(nature(longer, 5), first);
    assert_ne!(nature("cehfed", 6), first);
}

fn plan(methods: &str) -> ComparePlan {
    let contenders = Contender::parse_list(&Registry::builtin(), methods).unwrap();
    ComparePlan::new(tiny(&[]), contenders, 1..=2, vec![0.99], false).unwrap()
}

fn run_on(
    store: &DataStore,
    stop: &AtomicBool,
    runs: &[PlannedRun],
    folder: &Path,
    watch: Watch,
) -> Result<Done, Error> {
    let runner = Runner {
        registry: &Registry::builtin(),
        store,
        jobs: 2,
        simulate: None,
        stop,
    };
    runner.run_missing(&runs.iter().collect::<Vec<_>>(), folder, watch)
}

fn run_all(runs: &[PlannedRun], folder: &Path) -> Done {
    let (store, stop) = (DataStore::new(), AtomicBool::new(false));
    run_on(&store, &stop, runs, folder, &|_, _| {}).unwrap()
}

#[test]
fn twenty_runs_load_the_data_once() {
    let dir = tempfile::tempdir().unwrap();
    let contenders = Contender::parse_list(&Registry::builtin(), "hfl,direct_drop").unwrap();
    let plan = ComparePlan::new(tiny(&[]), contenders, 1..=10, vec![0.99], false).unwrap();
    let runs = plan.runs(&Registry::builtin()).unwrap().concat();
    let (store, stop) = (DataStore::new(), AtomicBool::new(false));
    let done = run_on(&store, &stop, &runs, dir.path(), &|_, _| {}).unwrap();
    assert_eq!((done.ran, store.loads()), (20, 1));
}

#[test]
fn a_run_asked_for_twice_is_run_once_and_found_the_next_time() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan("hfl,again=hfl,direct_drop");
    let runs = plan.runs(&Registry::builtin()).unwrap().concat();
    let done = run_all(&runs, dir.path());
    assert_eq!((runs.len(), done.ran, done.found), (6, 4, 0));
    let done = run_all(&runs, dir.path());
    assert_eq!((done.ran, done.found, done.interrupted), (0, 4, false));
    let stored = plan.stored(&Registry::builtin(), dir.path()).unwrap();
    assert_eq!(stored[0], stored[1]);
    assert_eq!(stored[2][1].summary.method, "direct_drop");
    assert_eq!(stored[2][1].curve.len(), 2);
}

/// What was under way is set down, and gives the same results when it is taken up.
#[test]
fn a_raised_stop_sets_runs_down_and_the_next_time_they_go_on() {
    let (dir, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let runs = plan("hfl").runs(&Registry::builtin()).unwrap().concat();
    let (store, stop) = (DataStore::new(), AtomicBool::new(false));
    let done = run_on(&store, &stop, &runs[..1], dir.path(), &|_, news| {
        if matches!(news, News::Round(_)) {
            stop.store(true, Ordering::Relaxed);
        }
    });
    let done = done.unwrap();
    assert!(done.interrupted && done.ran == 0);
    let name = runs[0].folder_name();
    assert!(dir.path().join(format!("{name}.partial")).is_dir());
    assert!(!dir.path().join(&name).exists());

    let (rounds, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let done = run_on(&store, &stop, &runs[..1], dir.path(), &|_, news| {
        rounds.fetch_add(
            usize::from(matches!(news, News::Round(_))),
            Ordering::Relaxed,
        );
    });
    assert_eq!(done.unwrap().ran, 1);
    assert_eq!(rounds.into_inner(), 1, "the first of two rounds was done");
    run_all(&runs[..1], whole.path());
    for file in [
        "rounds.csv",
        "uavs.csv",
        "model.safetensors",
        "scenario.toml",
    ] {
        let read = |folder: &Path| fs::read(folder.join(&name).join(file)).unwrap();
        assert_eq!(read(dir.path()), read(whole.path()), "{file}");
    }
}

/// As two processes would: locks are of open folders, not of processes.
#[test]
fn two_that_do_the_same_runs_at_once_share_them() {
    let (dir, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let runs = plan("hfl,direct_drop").runs(&Registry::builtin());
    let runs = runs.unwrap().concat();
    run_all(&runs, whole.path());
    let folder = dir.path().join("runs");
    let both = std::thread::scope(|scope| {
        let start = || scope.spawn(|| run_all(&runs, &folder));
        [start(), start()].map(|done| done.join().unwrap())
    });
    for done in &both {
        assert!(done.failures.is_empty(), "{:?}", done.failures);
        assert_eq!((done.ran + done.found, done.interrupted), (4, false));
    }
    assert_eq!(both[0].ran + both[1].ran, 4, "each was done once");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 4);
    for run in &runs {
        let read = |folder: &Path| fs::read(folder.join(run.folder_name()).join("rounds.csv"));
        assert_eq!(read(&folder).unwrap(), read(whole.path()).unwrap());
    }
}

#[test]
fn merging_removes_nothing_that_stands_in_its_way() {
    let dir = tempfile::tempdir().unwrap();
    let runs = plan("hfl").runs(&Registry::builtin()).unwrap().concat();
    run_all(&runs[..1], dir.path());
    let from = dir.path().join(runs[0].folder_name());
    let to = dir.path().join("copy");
    let partial = dir.path().join("copy.partial");
    fs::create_dir(&partial).unwrap();
    fs::write(partial.join("thesis.txt"), "x").unwrap();
    let error = aerofed::run_folder::copy(&from, &to, false).unwrap_err();
    assert!(error.to_string().contains("thesis.txt"), "{error}");
    assert!(partial.join("thesis.txt").exists() && !to.exists());
    fs::remove_dir_all(&partial).unwrap();
    aerofed::run_folder::copy(&from, &to, false).unwrap();
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&from), names(&to));
    assert!(!partial.exists());
}

#[test]
fn folders_that_hold_something_else_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let runs = plan("hfl").runs(&Registry::builtin()).unwrap().concat();
    run_all(&runs, dir.path());
    let folder = dir.path().join(runs[0].folder_name());
    let refused = |file: &str, from: &str, to: &str, said: &str| {
        let path = folder.join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace(from, to)).unwrap();
        let error = StoredRun::find(dir.path(), &runs[0]).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        let (store, stop) = (DataStore::new(), AtomicBool::new(false));
        assert!(run_on(&store, &stop, &runs, dir.path(), &|_, _| {}).is_err());
        fs::write(&path, text).unwrap();
    };
    refused("scenario.toml", "seed = 1", "seed = 7", "seed = 7");
    let version = aerofed::VERSION;
    refused("summary.json", version, "0.0.1", "version 0.0.1");
    refused("summary.json", "max_rounds", "interrupted", "interrupted");
    refused("summary.json", "\"seed\"", "seed", "summary.json");
    assert!(StoredRun::find(dir.path(), &runs[0]).unwrap().is_some());
}

#[test]
fn bad_input_stops_everything_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let contenders = Contender::parse_list(&Registry::builtin(), "hfl").unwrap();
    let base = tiny(&["data.set=idx", "data.dir=/no/such/folder"]);
    let plan = ComparePlan::new(base, contenders, 1..=50, vec![0.5], false).unwrap();
    let done = run_all(
        &plan.runs(&Registry::builtin()).unwrap().concat(),
        dir.path(),
    );
    assert!(
        (1..=2).contains(&done.failures.len()),
        "{}",
        done.failures.len()
    );
    assert!(done.failures[0].1.is_bad_input());
}
