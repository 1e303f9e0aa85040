//! Learners that do not train, or train some: whatever they do, the rest of a run is as ever.

use std::fs;

use crate::common::{light, resume, run};
use crate::conformance::{assert_books_balance, each_method};
use aerofed::record::RoundRecord;
use aerofed::run::Run;
use aerofed::{Method, Scenario, Simulation, ValidScenario};

/// What is not training everybody.
const LEARNERS: [&[&str]; 2] = [
    &["learner=surrogate"],
    &["learner=sampled", "sampled.devices=4"],
];

fn with(method: &str, settings: &[&str]) -> ValidScenario {
    let method = format!("method={method}");
    let method: Vec<&str> = method.split(' ').collect();
    light(&[&method[..], settings].concat())
}

#[test]
fn every_method_runs_with_every_learner_to_the_same_bytes_on_any_threads() {
    each_method(|name| {
        for learner in LEARNERS {
            let scenario = with(name, learner);
            let outcome = run(&scenario, 1);
            let what = format!("{name}, {learner:?}");
            assert_eq!(outcome.records.len(), 3, "{what}");
            assert_books_balance(&what, &outcome, scenario.full_battery_j(0));
            assert!(outcome.weights.iter().all(|w| w.is_finite()), "{what}");
            let last = &outcome.records[2];
            assert!(last.aggregator.is_some() && last.test_loss > 0.0, "{what}");
            let text = |records: &[RoundRecord]| format!("{records:?}");
            for threads in [2, 8] {
                let other = run(&scenario, threads);
                assert_eq!(text(&outcome.records), text(&other.records), "{what}");
                assert_eq!(outcome.weights, other.weights, "{what}");
            }
        }
    });
}

/// Many devices are trained by several threads at once.
#[test]
fn many_devices_give_the_same_bytes_on_any_threads() {
    let settings = [
        "learner=surrogate",
        "devices.count=2000",
        "data.data_volume=4000",
        "data.set=mnist",
        "data.dir=",
        "uavs.coverage_radius_m=20000",
    ];
    let scenario = with("hfl", &settings);
    let weights = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| run(&scenario, threads).weights)
    };
    let one = weights(1);
    assert_eq!(one, weights(2));
    assert_eq!(one, weights(8));
}

#[test]
fn runs_that_were_set_down_go_on_to_the_same_records() {
    for name in ["cehfed", "hfl", "hfedat", "cfed", "oort"] {
        for learner in LEARNERS {
            let scenario = with(name, &[learner, &["stop.max_rounds=4"]].concat());
            let expected = run(&scenario, 2).records;
            let simulation = Simulation::builder(&scenario).threads(1).build().unwrap();
            let mut saved = Run::new(simulation).save(&Method::of(&scenario).unwrap());
            for record in &expected {
                let mut method = Method::of(&scenario).unwrap();
                let mut run = resume(&scenario, &mut method, 2, &saved).unwrap();
                let resumed = run.step(&mut method).unwrap().unwrap();
                assert_eq!(format!("{resumed:?}"), format!("{record:?}"), "{name}");
                saved = run.save(&method);
            }
        }
    }
}

/// Who is selected by the place alone is selected all the same, so that nothing but losses and accuracies may differ.
#[test]
fn seconds_and_joules_are_those_of_training() {
    for name in ["hfl", "gdhfed", "cfed"] {
        // H does not follow the loss.
        let fixed: &[&str] = match name {
            "gdhfed" => &["allocation.estimate=false"],
            _ => &[],
        };
        let costs = |learner: &[&str]| {
            let outcome = run(&with(name, &[learner, fixed].concat()), 1);
            let of_round = |record: &RoundRecord| {
                let RoundRecord {
                    time, energy, uavs, ..
                } = record.clone();
                (format!("{time:?} {energy:?}"), uavs)
            };
            let records: Vec<_> = outcome.records.iter().map(of_round).collect();
            (records, outcome.summary.parameters)
        };
        let trained = costs(&[]);
        for learner in LEARNERS {
            assert_eq!(costs(learner), trained, "{name}, {learner:?}");
        }
        assert_eq!(
            trained.1, 7850,
            "the parameters of the network, 784 x 10 + 10"
        );
    }
}

#[test]
fn enough_sampled_devices_are_all_of_them() {
    for name in ["hfl", "cehfed", "hfedat"] {
        let all = run(&with(name, &[]), 1);
        let sampled = run(&with(name, &["learner=sampled", "sampled.devices=30"]), 1);
        assert_eq!(all.weights, sampled.weights, "{name}");
    }
}

fn accuracy(settings: &[&str]) -> f64 {
    let outcome = run(
        &with("hfl", &[&["learner=surrogate"], settings].concat()),
        1,
    );
    outcome.summary.final_accuracy
}

/// What is known of training holds for the law: devices that have all labels learn faster than those with two, and more
/// rounds, local iterations, edge rounds and samples are better than fewer.
#[test]
fn the_law_goes_the_way_of_training() {
    let usual = accuracy(&[]);
    assert!(usual > 0.15 && usual < 0.95, "{usual}");
    assert!(accuracy(&["data.partition.kind=iid"]) > usual + 0.02);
    assert!(accuracy(&["stop.max_rounds=8"]) > usual + 0.05);
    assert!(accuracy(&["training.max_edge_rounds=6"]) > usual + 0.05);
    assert!(accuracy(&["training.learning_rate=0.1"]) > usual + 0.01);
    let iid = |more: &str| accuracy(&["data.partition.kind=iid", "stop.max_rounds=40", more]);
    assert!(iid("data.data_volume=500") > iid("data.data_volume=100"));
    assert!(iid("allocation.local_iterations=12") > iid("allocation.local_iterations=2"));
}

#[test]
fn a_run_of_the_law_is_no_run_of_training() {
    let saved = |scenario: &ValidScenario| {
        let simulation = Simulation::builder(scenario).threads(1).build().unwrap();
        Run::new(simulation).save(&Method::of(scenario).unwrap())
    };
    let (trains, dry) = (with("hfl", &[]), with("hfl", &["learner=surrogate"]));
    let mut method = Method::of(&trains).unwrap();
    assert!(resume(&trains, &mut method, 1, &saved(&dry)).is_err());
}

const LAW: &str = r#"
format = 1
[[group]]
data = "mnist"
model = "logistic"
learning_rate = 0.05
momentum = 0.0
batch_size = 10
runs = 3
methods = ["hfl"]
partitions = ["iid"]
data_volume = [300, 300]
local_iterations = [1, 6]
accuracy_error = 0.01
[group.law]
margin_rate = 0.2
transfer = 0.3
bias_rate = 8.0
bias_reach = 15.0
onset = 0.9
ceiling = 3.0
ceiling_per_fold = 0.1
sharpness = 1.4
"#;

#[test]
fn law_files_are_read_and_bad_ones_refused_by_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("law.toml");
    let check = |text: &str| {
        fs::write(&path, text).unwrap();
        let law = format!("surrogate.law={path:?}");
        let settings = ["learner=surrogate", law.as_str(), "model.name=logistic"];
        Scenario::parse("", &settings).unwrap().check()
    };
    let group = check(LAW).unwrap().law().unwrap().group.clone();
    assert_eq!((group.runs, group.law.ceiling), (3, 3.0));
    for (from, to, told) in [
        (
            "transfer = 0.3",
            "transfer = 1.3",
            "`group[0].law.transfer` is 1.3, allowed: 0 to 1",
        ),
        ("transfer = 0.3", "transfer = nan", "transfer"),
        ("transfer = 0.3", "", "transfer"),
        (
            "transfer = 0.3",
            "transfers = 0.3",
            "did you mean `transfer`?",
        ),
        ("transfer = 0.3", "transfer = \"x\"", "line 17"),
        ("format = 1", "format = 2", "`format` is 2, allowed: 1"),
        ("learning_rate = 0.05", "learning_rate = 0", "learning_rate"),
        ("[[group]]", "[group", "not TOML"),
    ] {
        let error = check(&LAW.replace(from, to)).unwrap_err().to_string();
        assert!(
            error.contains("surrogate.law") && error.contains(told),
            "{to}: {error}"
        );
    }
    let error = check("format = 1\ngroup = []").unwrap_err().to_string();
    assert!(error.contains("no [[group]]"), "{error}");
    fs::remove_file(&path).unwrap();
    let settings = ["learner=surrogate", "surrogate.law=/no/such.toml"];
    let error = Scenario::parse("", &settings).unwrap().check().unwrap_err();
    assert!(error.to_string().contains("/no/such.toml"), "{error}");
}

#[test]
fn settings_of_other_learners_are_refused() {
    for (settings, told) in [
        (&["surrogate.law=a.toml"][..], "surrogate.law"),
        (&["sampled.devices=3"], "sampled.devices"),
        (
            &["learner=surrogate", "sampled.devices=3"],
            "sampled.devices",
        ),
        (&["learner=sampled", "sampled.devices=0"], "sampled.devices"),
        (
            &["learner=surrogate", "model.start=a.safetensors"],
            "model.start",
        ),
    ] {
        let error = Scenario::parse("", settings).unwrap().check().unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[test]
fn whoever_leaves_what_a_law_was_fitted_on_is_warned() {
    let told = |settings: &[&str]| {
        let settings = [&["learner=surrogate"], settings].concat();
        let scenario = Scenario::parse("", &settings).unwrap();
        let fields: Vec<&str> = scenario.warnings().iter().map(|w| w.field).collect();
        fields
    };
    assert!(told(&[]).is_empty(), "{:?}", told(&[]));
    for (setting, field) in [
        ("model.name=vgg", "model.name"),
        ("training.learning_rate=0.2", "training.learning_rate"),
        ("training.batch_size=50", "training.batch_size"),
        ("data.data_volume=90000", "data.data_volume"),
        ("codec.kind=top_k", "codec.kind"),
    ] {
        assert!(told(&[setting]).contains(&field), "{setting}");
    }
}
