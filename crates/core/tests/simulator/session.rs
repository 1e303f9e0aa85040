//! A run on disk, with a method that no registry knows.

use crate::common::light;
use aerofed::decide::allocation::Equal;
use aerofed::learn::Engine;
use aerofed::run_folder::RunLog;
use aerofed::session::{Keeping, Session};
use aerofed::{Error, Method, Simulation, ValidScenario};
use aerofed_data::Dataset;
use aerofed_nn::{Evaluation, Job, Network, Update};
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn set_up(scenario: &ValidScenario) -> Result<(Simulation, Method), Error> {
    let method = Method {
        name: "mine".into(),
        allocation: Box::new(Equal {
            local_iterations: 3,
        }),
        ..Method::of(scenario)?
    };
    Ok((Simulation::builder(scenario).threads(1).build()?, method))
}

fn finish(mut session: Session) {
    while session.step().unwrap().is_some() {}
    session.finish(|_, _| Ok(Vec::new())).unwrap();
}

const KEEPING: Keeping = Keeping {
    checkpoint_every: 0,
    force: false,
    stop: None,
};

fn files(folder: &Path) -> Vec<Vec<u8>> {
    let names = [
        "rounds.csv",
        "uavs.csv",
        "events.jsonl",
        "model.safetensors",
    ];
    names
        .map(|name| fs::read(folder.join(name)).unwrap())
        .into()
}

#[test]
fn a_foreign_method_is_set_down_and_taken_up_under_its_own_name() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, parts) = (dir.path().join("whole"), dir.path().join("parts"));
    let scenario = light(&["stop.max_rounds=4"]);
    finish(Session::begin(&whole, &scenario, KEEPING, set_up).unwrap());

    let mut session = Session::begin(&parts, &scenario, KEEPING, set_up).unwrap();
    for _ in 0..2 {
        session.step().unwrap().unwrap();
    }
    session.set_down().unwrap();
    assert!(!parts.exists());
    drop(session);
    // Another method would go on differently, and is refused.
    let other = |scenario: &ValidScenario| {
        let (simulation, method) = set_up(scenario)?;
        let name = "yours".into();
        Ok((simulation, Method { name, ..method }))
    };
    assert!(Session::resume(&parts, KEEPING, other, |_| {}).is_err());
    let session = Session::resume(&parts, KEEPING, set_up, |_| {})
        .unwrap()
        .unwrap();
    assert_eq!(session.rounds(), 2);
    finish(session);
    assert_eq!(files(&whole), files(&parts));
    assert_eq!(RunLog::read_summary(&parts).unwrap().method, "mine");
    assert!(
        Session::resume(&parts, KEEPING, set_up, |_| {})
            .unwrap()
            .is_none()
    );
}

/// Cores under another name.
struct Renamed(aerofed_nn::Engine);

impl Engine for Renamed {
    fn name(&self) -> &str {
        "a card"
    }

    fn network(&self) -> &Network {
        self.0.network()
    }

    fn jobs_at_once(&self) -> usize {
        1
    }

    fn train(&self, set: &Arc<Dataset>, jobs: &[Job]) -> Result<Vec<Update>, Error> {
        Engine::train(&self.0, set, jobs)
    }

    fn outputs(
        &self,
        set: &Arc<Dataset>,
        models: &[(&[f32], &[u32])],
    ) -> Result<Vec<Vec<f32>>, Error> {
        Engine::outputs(&self.0, set, models)
    }

    fn evaluate(
        &self,
        set: &Arc<Dataset>,
        model: &[f32],
        samples: Option<&[u32]>,
    ) -> Result<Evaluation, Error> {
        Engine::evaluate(&self.0, set, model, samples)
    }
}

/// Its last bits are others: half a run of each would be no run of either.
#[test]
fn a_run_goes_on_only_on_what_it_was_trained_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let scenario = light(&["stop.max_rounds=2"]);
    let elsewhere = |scenario: &ValidScenario| {
        let renamed = |network| {
            let cores = aerofed_nn::Engine::new(network, 1);
            Ok(Arc::new(Renamed(cores)) as Arc<dyn Engine>)
        };
        let simulation = Simulation::builder(scenario).engine(renamed).build()?;
        Ok((simulation, Method::of(scenario)?))
    };
    let here = |scenario: &ValidScenario| {
        let simulation = Simulation::builder(scenario).threads(1).build()?;
        Ok((simulation, Method::of(scenario)?))
    };
    let mut session = Session::begin(&path, &scenario, KEEPING, elsewhere).unwrap();
    session.step().unwrap().unwrap();
    session.set_down().unwrap();
    drop(session);
    let mut told = Vec::new();
    let on_cores = Session::resume(&path, KEEPING, here, |error| told.push(error.to_string()));
    assert!(on_cores.is_err());
    assert!(
        told[0].contains("trained on a card, this is cores") && told[0].contains("--device"),
        "{told:?}"
    );
    finish(
        Session::resume(&path, KEEPING, elsewhere, |_| {})
            .unwrap()
            .unwrap(),
    );
    let summary = RunLog::read_summary(&path).unwrap();
    assert_eq!(summary.trained_on.as_deref(), Some("a card"));
}

#[test]
fn a_run_that_is_asked_for_again_goes_on_if_it_is_the_same_and_begins_anew_if_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let scenario = light(&["stop.max_rounds=3"]);
    let set_down = |scenario: &ValidScenario| {
        let mut session = Session::begin_or_resume(&path, scenario, KEEPING, set_up).unwrap();
        let before = session.rounds();
        session.step().unwrap().unwrap();
        session.set_down().unwrap();
        before
    };
    assert_eq!(set_down(&scenario), 0);
    assert_eq!(set_down(&scenario), 1);
    let other = light(&["stop.max_rounds=3", "seed=8"]);
    assert_eq!(set_down(&other), 0, "of another scenario");
    let partial = dir.path().join("run.partial");
    let checkpoint = fs::read_dir(&partial).unwrap().flatten();
    let is_one = |name: &str| name.starts_with("checkpoint-");
    let checkpoint = checkpoint.map(|entry| entry.path());
    let checkpoint = checkpoint.filter(|p| is_one(p.file_name().unwrap().to_str().unwrap()));
    for path in checkpoint {
        fs::write(path, "damaged").unwrap();
    }
    assert_eq!(set_down(&other), 0, "of damaged checkpoints");
    finish(Session::begin_or_resume(&path, &other, KEEPING, set_up).unwrap());
    // A finished run is nobody's to replace.
    assert!(Session::begin_or_resume(&path, &other, KEEPING, set_up).is_err());
}

#[test]
fn a_run_that_cannot_begin_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let broken = |_: &ValidScenario| {
        let reason = "no card in this machine".into();
        Err(Error::Learner { reason })
    };
    assert!(Session::begin(&path, &light(&[]), KEEPING, broken).is_err());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}
