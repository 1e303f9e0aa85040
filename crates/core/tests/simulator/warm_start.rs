//! Runs that begin with the weights of a file.

use std::fs;
use std::path::{Path, PathBuf};

use aerofed::session::{Keeping, Session};
use aerofed::{Error, Method, RoundRecord, Scenario, Simulation, ValidScenario};

use crate::common::{TINY, few_digits, light};

const KEEPING: Keeping = Keeping {
    checkpoint_every: 0,
    force: false,
    stop: None,
};

fn set_up(scenario: &ValidScenario) -> Result<(Simulation, Method), Error> {
    let simulation = Simulation::builder(scenario).threads(1).build()?;
    Ok((simulation, Method::of(scenario)?))
}

/// Does all rounds that are left, and leaves the run in its folder.
fn finish(mut session: Session) -> Vec<RoundRecord> {
    let mut records = Vec::new();
    while let Some(record) = session.step().unwrap() {
        records.push(record.clone());
    }
    session.finish(|_, _| Ok(Vec::new())).unwrap();
    records
}

/// A finished run with its rounds and its model's file.
fn finished(dir: &Path, name: &str, settings: &[&str]) -> (Vec<RoundRecord>, PathBuf) {
    let folder = dir.join(name);
    let session = Session::begin(&folder, &light(settings), KEEPING, set_up).unwrap();
    (finish(session), folder.join("model.safetensors"))
}

fn start(file: &Path) -> String {
    format!("model.start={file:?}")
}

/// Why a scenario with such a start is refused, at the latest when the network is built.
fn refused(settings: &[&str]) -> String {
    let data = format!("data.dir={:?}", few_digits());
    let settings = [&["data.set=idx", &data], settings].concat();
    let checked = Scenario::parse(TINY, &settings).unwrap().check();
    let error = match checked {
        Ok(scenario) => Simulation::builder(&scenario)
            .build()
            .map(|_| ())
            .unwrap_err(),
        Err(error) => error.into(),
    };
    assert!(error.is_bad_input(), "{error}");
    error.to_string()
}

#[test]
fn a_run_begins_with_the_model_that_another_ended_with() {
    let dir = tempfile::tempdir().unwrap();
    let (first, model) = finished(dir.path(), "first", &[]);
    let accuracy = first.last().unwrap().test_accuracy;
    // Steps of no length leave the model as it is, so that the first round measures the start.
    let still = ["training.learning_rate=0", "stop.max_rounds=1"];
    let (second, _) = finished(
        dir.path(),
        "second",
        &[&still[..], &[&start(&model)]].concat(),
    );
    let start_accuracy = second[0].test_accuracy;
    assert!(
        (start_accuracy - accuracy).abs() < 1e-12,
        "{start_accuracy} {accuracy}"
    );
    let (cold, _) = finished(dir.path(), "cold", &still);
    assert!(cold[0].test_accuracy < accuracy, "nothing was learnt");
}

#[test]
fn a_warm_start_is_taken_up_and_a_changed_file_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (_, model) = finished(dir.path(), "first", &[]);
    let scenario = light(&[&start(&model)]);
    let whole = dir.path().join("whole");
    finish(Session::begin(&whole, &scenario, KEEPING, set_up).unwrap());

    let parts = dir.path().join("parts");
    let mut session = Session::begin(&parts, &scenario, KEEPING, set_up).unwrap();
    session.step().unwrap().unwrap();
    session.set_down().unwrap();
    drop(session);
    let original = fs::read(&model).unwrap();
    let mut other = original.clone();
    *other.last_mut().unwrap() ^= 1;
    fs::write(&model, &other).unwrap();
    let error = Session::resume(&parts, KEEPING, set_up, |_| {})
        .map(|_| ())
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("`model.start`") && text.contains("changed"),
        "{text}"
    );
    fs::write(&model, &original).unwrap();
    let session = Session::resume(&parts, KEEPING, set_up, |_| {})
        .unwrap()
        .unwrap();
    assert_eq!(session.rounds(), 1);
    finish(session);
    for file in ["rounds.csv", "model.safetensors"] {
        let [one, two] = [&whole, &parts].map(|folder| fs::read(folder.join(file)).unwrap());
        assert!(one == two, "{file}");
    }
}

#[test]
fn a_start_that_does_not_fit_is_refused_with_its_tensor_and_both_shapes() {
    let dir = tempfile::tempdir().unwrap();
    let (_, model) = finished(dir.path(), "first", &["stop.max_rounds=1"]);
    let start = start(&model);
    for (settings, words) in [
        (
            &["model.name=mlp"][..],
            ["layer0.weight", "[10, 784]", "F32 [200, 784]"],
        ),
        (
            &["model.name=cnn"],
            ["layer0.weight", "[10, 784]", "the network needs F32"],
        ),
    ] {
        let text = refused(&[settings, &[&start]].concat());
        for word in ["`model.start`", "model.safetensors"].iter().chain(&words) {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
}

#[test]
fn a_start_that_is_missing_or_no_model_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let text = refused(&[&start(&dir.path().join("nothing.safetensors"))]);
    assert!(
        text.contains("`model.start`") && text.contains("nothing.safetensors"),
        "{text}"
    );
    let text = refused(&[&start(dir.path())]);
    assert!(text.contains("`model.start`"), "{text}");
    let file = dir.path().join("letter.txt");
    fs::write(&file, "Dear reader, these are no weights.").unwrap();
    let text = refused(&[&start(&file)]);
    assert!(
        text.contains("`model.start`") && text.contains("letter.txt"),
        "{text}"
    );

    let (_, model) = finished(dir.path(), "first", &["stop.max_rounds=1"]);
    let mut bytes = fs::read(&model).unwrap();
    let last = bytes.len() - 4;
    bytes[last..].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&model, bytes).unwrap();
    let text = refused(&[&start(&model)]);
    assert!(text.contains("a weight is NaN"), "{text}");
}
