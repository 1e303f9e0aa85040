//! A run set down after any round and taken up again ends in the same bytes, whatever the method.

use std::collections::BTreeMap;
use std::fs;

use crate::common::resume;
use crate::common::{few_digits, light};
use crate::conformance::each_method;
use aerofed::run::{Outcome, Run};
use aerofed::run_folder::RunFolder;
use aerofed::{Error, Method, Simulation, ValidScenario};

/// Worlds in which as much as possible is carried from round to round.
const WORLDS: [&[&str]; 4] = [
    &["mobility.hop_probability=0.5", "stop.max_rounds=5"],
    &[
        "allocation={kind=\"p1\"}",
        "redeploy.method=two_stage",
        "uavs.battery_j=172000",
        "uavs.bandwidth_up_hz=[2e4, 1e5]",
        "faults=[{kind=\"leak\", uav=1, from=1, until=9, power_w=300}, {kind=\"loss\", uav=0, round=3, moment=\"edge\"}, \
         {kind=\"device_crash\", device=4, from=2, until=4}]",
        "stop.max_rounds=6",
    ],
    &[
        "allocation={kind=\"p1\", estimate=true, solver=\"palm\"}",
        "redeploy.method=joint_greedy",
        "redeploy.when=every_round",
        "aggregator=cost",
        "faults=[{kind=\"drain\", uav=2, round=2}]",
        "stop.max_rounds=4",
    ],
    &[
        "mobility={kind=\"random_waypoint\", speed_mps=[10, 40], pause_s=[0, 60]}",
        "uavs.bandwidth_up_hz=[1e3, 2e3]",
        "stop.max_rounds=4",
    ],
];

/// Everything a run leaves on disk, but for the real time it took.
fn files(scenario: &ValidScenario, mut outcome: Outcome) -> BTreeMap<String, Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    outcome.summary.wall_clock_s = 0.0;
    let mut folder = RunFolder::create(&out, scenario, false).unwrap();
    for record in &outcome.records {
        folder.append(record).unwrap();
    }
    folder.finish(&outcome).unwrap();
    let entries = fs::read_dir(&out).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

fn to_the_end(mut run: Run, method: &mut Method) -> Outcome {
    while run.step(method).unwrap().is_some() {}
    run.finish(method)
}

#[test]
fn interrupted_after_any_round_every_method_ends_as_if_uninterrupted() {
    each_method(|name| {
        for world in WORLDS {
            let named = format!("method={name}");
            let named: Vec<&str> = named.split(' ').collect();
            let scenario = light(&[world, &named[..]].concat());
            let mut method = Method::of(&scenario).unwrap();
            let run = Run::new(Simulation::builder(&scenario).threads(2).build().unwrap());
            let uninterrupted = to_the_end(run, &mut method);
            let rounds = uninterrupted.records.len();
            assert!(rounds >= 3, "{name} ends after {rounds} rounds");

            // Set down and taken up again before every round, and once more at the end.
            let mut saved = Run::new(Simulation::builder(&scenario).threads(2).build().unwrap())
                .save(&Method::of(&scenario).unwrap());
            for record in &uninterrupted.records {
                let mut method = Method::of(&scenario).unwrap();
                let mut run = resume(&scenario, &mut method, 1, &saved).unwrap();
                let resumed = run.step(&mut method).unwrap().unwrap();
                // As text, because NaN is not equal to itself.
                assert_eq!(
                    format!("{resumed:?}"),
                    format!("{record:?}"),
                    "{name} in {world:?}"
                );
                saved = run.save(&method);
            }
            let mut method = Method::of(&scenario).unwrap();
            let run = resume(&scenario, &mut method, 2, &saved).unwrap();
            let resumed = to_the_end(run, &mut method);
            assert!(
                files(&scenario, resumed) == files(&scenario, uninterrupted),
                "{name} in {world:?}"
            );
        }
    });
}

/// Two of the same would hide state that is not saved.
#[test]
fn the_warm_state_of_p1_matters() {
    let scenario = light(WORLDS[1]);
    let mut method = Method::of(&scenario).unwrap();
    let mut run = Run::new(Simulation::builder(&scenario).threads(2).build().unwrap());
    for _ in 0..2 {
        run.step(&mut method).unwrap();
    }
    let fresh = Method::of(&scenario).unwrap();
    assert_ne!(method.allocation.save(), fresh.allocation.save());
}

fn refused(scenario: &ValidScenario, saved: &[u8]) -> String {
    let mut method = Method::of(scenario).unwrap();
    match resume(scenario, &mut method, 1, saved) {
        Err(error @ Error::State { .. }) => error.to_string(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn a_run_of_another_world_or_method_is_refused() {
    let saved = |scenario: &ValidScenario| {
        let mut method = Method::of(scenario).unwrap();
        let mut run = Run::new(Simulation::builder(scenario).threads(2).build().unwrap());
        run.step(&mut method).unwrap();
        run.save(&method)
    };
    let here = light(&[]);
    for (there, reason) in [
        ("devices.count=29", "29 devices"),
        ("uavs.count=4", "impossible round 1"),
        ("model.name=cnn", "numbers"),
        ("method=direct_drop", "direct_drop"),
        ("allocation={kind=\"p1\"}", "allocation"),
        ("area.width_m=30000", "where nobody can be"),
    ] {
        let message = refused(&here, &saved(&light(&[there])));
        assert!(message.contains(reason), "{there}: {message}");
    }
}

/// Cut short or with bytes changed it is refused or taken up, but never a panic: with warm solvers, agents and their replay
/// buffers, an event queue, the scores of devices.
#[test]
fn damaged_bytes_never_panic() {
    for method in [
        "hfl",
        "cehfed",
        "cehfed association.kind=td3",
        "hfedat",
        "oort",
    ] {
        damaged_bytes_of(method);
    }
}

fn damaged_bytes_of(method: &str) {
    let method = format!("method={method}");
    let method: Vec<&str> = method.split(' ').collect();
    let light_p1 = ["allocation={kind=\"p1\"}", "model.name=logistic"];
    let scenario = light(&[&light_p1, &method[..]].concat());
    let mut method = Method::of(&scenario).unwrap();
    let mut run = Run::new(Simulation::builder(&scenario).threads(1).build().unwrap());
    // After the second round agents have something to remember.
    for _ in 0..2 {
        run.step(&mut method).unwrap();
    }
    let saved = run.save(&method);
    let mut take_up = |saved: &[u8]| {
        let mut method = Method::of(&scenario).unwrap();
        run.take_up(&mut method, saved)?;
        // What it then does with odd numbers may be an error, too.
        _ = run.step(&mut method);
        Ok::<(), Error>(())
    };
    for cut in (0..saved.len()).step_by(saved.len() / 20) {
        assert!(take_up(&saved[..cut]).is_err(), "cut at {cut}");
    }
    let (mut accepted, mut refused) = (0, 0);
    // The beginning is dense with lengths and numbers; behind it come models and records, much alike.
    let everywhere = (0..saved.len()).step_by(saved.len() / 100);
    for place in (0..400).chain(everywhere) {
        for flip in [0xff, 1] {
            let mut changed = saved.clone();
            changed[place] ^= flip;
            match take_up(&changed) {
                Ok(()) => accepted += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(accepted > 0 && refused > 0, "{accepted} {refused}");
}

#[test]
fn data_that_changed_meanwhile_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(few_digits()).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
    }
    let folder = format!("data.dir={:?}", dir.path());
    let scenario = light(&[&folder]);
    let saved = Run::new(Simulation::builder(&scenario).threads(1).build().unwrap())
        .save(&Method::of(&scenario).unwrap());
    let mut method = Method::of(&scenario).unwrap();
    assert!(resume(&scenario, &mut method, 1, &saved).is_ok());
    for name in ["train-images-idx3-ubyte", "t10k-images-idx3-ubyte"] {
        let file = dir.path().join(name);
        let before = fs::read(&file).unwrap();
        let mut changed = before.clone();
        *changed.last_mut().unwrap() ^= 1;
        fs::write(&file, changed).unwrap();
        let message = refused(&scenario, &saved);
        assert!(message.contains("`data.dir`"), "{name}: {message}");
        fs::write(&file, before).unwrap();
    }
    assert!(resume(&scenario, &mut method, 1, &saved).is_ok());
}
