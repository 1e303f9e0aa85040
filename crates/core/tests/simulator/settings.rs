//! Every field that is some methods' business: whoever reads it follows it, whoever does not refuses it, and it does nothing
//! where it is not read.

use std::collections::BTreeSet;

use crate::common::few_digits;
use aerofed::method::{Entry, Registry, is_method_specific};
use aerofed::run::Run;
use aerofed::{Method, Scenario, Simulation, ValidScenario};

/// Where a field shows: what a run leaves behind, or what agents have learned, which later rounds follow.
#[derive(Clone, Copy, PartialEq)]
enum Shows {
    Records,
    Learned,
}
use Shows::{Learned, Records};

/// A field, another value for it (with others where one alone is not valid), and a method and a world in which that shows.
struct Field {
    name: &'static str,
    change: &'static [&'static str],
    shows: Shows,
    method: &'static str,
    world: &'static [&'static str],
}

const fn field(
    name: &'static str,
    change: &'static [&'static str],
    shows: Shows,
    method: &'static str,
    world: &'static [&'static str],
) -> Field {
    Field {
        name,
        change,
        shows,
        method,
        world,
    }
}

const WEIGHTS: &[&str] = &[
    "fitness.difference=0.1",
    "fitness.distance=0.1",
    "fitness.compute=0.8",
];
/// Agents that learn from the second round on.
const LEARNING: &[&str] = &["association.kind=td3", "td3.warm_up=1"];
/// Agents.
const AGENTS: &[&str] = &["association.kind=td3"];
/// Edge rounds longer than devices put up with, so that agents are punished.
const LATE: &[&str] = &[
    "association.kind=td3",
    "td3.warm_up=1",
    "devices.deadline_s=0.003",
    "stop.max_rounds=4",
];
/// Enough devices and rounds that those who trained are chosen again, or not.
const CROWD: &[&str] = &[
    "devices.count=60",
    "data.data_volume=240",
    "selection.share=0.5",
    "stop.max_rounds=5",
];

/// The same, chosen by agents.
const AGENTS_OF_A_CROWD: &[&str] = &[
    "association.kind=td3",
    "devices.count=60",
    "data.data_volume=240",
    "stop.max_rounds=5",
];

/// Flying costs next to nothing, and devices move away every round.
const SEARCHING: &[&str] = &[
    "redeploy.when=on_change",
    "redeploy.method=marginal_gains",
    "redeploy.movement_weight=1e-6",
    "devices.count=60",
    "data.data_volume=240",
];

/// Whatever flights take, they are made.
const ON_CHANGE: &[&str] = &["redeploy.when=on_change"];

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    field("association.kind", &["association.kind=all"], Records, "cehfed", &[]),
    field("selection.share", &["selection.share=0.9"], Records, "rhfed", &[]),
    field("selection.threshold", &["selection.threshold=0.9"], Records, "fixed_threshold", &[]),
    field("selection.noise_weight", &["selection.noise_weight=0"], Records, "cehfed", CROWD),
    field("selection.ask_every_rounds", &["selection.ask_every_rounds=1"], Records, "cehfed", CROWD),
    field("selection.pace", &["selection.pace=0"], Records, "cehfed", CROWD),
    field("fitness.difference", WEIGHTS, Records, "fixed_threshold", &[]),
    field("fitness.distance", WEIGHTS, Records, "fixed_threshold", &[]),
    field("fitness.compute", WEIGHTS, Records, "fixed_threshold", &[]),
    field("fitness.diversity", &["fitness.diversity=paper"], Records, "fixed_threshold", &[]),
    field("fitness.small_batch", &["fitness.small_batch=1"], Records, "gshfed", &[]),
    field("fitness.personal_epochs", &["fitness.personal_epochs=3"], Records, "gshfed", &[]),
    field("fitness.refresh_epochs", &["fitness.refresh_epochs=0"], Records, "gshfed", &[]),
    field("fitness.uav_cpu_hz", &["fitness.uav_cpu_hz=1e9"], Records, "gshfed", &[]),
    field("fitness.uav_cycles_per_bit", &["fitness.uav_cycles_per_bit=99"], Records, "gshfed", &[]),
    field("td3.agent", &["td3.agent=fresh"], Learned, "cehfed", AGENTS),
    field("td3.online", &["td3.online=false"], Learned, "cehfed", LEARNING),
    field("td3.state", &["td3.state=paper"], Records, "cehfed", AGENTS),
    field("td3.reward", &["td3.reward=paper"], Learned, "cehfed", LEARNING),
    field("td3.loss_weight", &["td3.loss_weight=5"], Learned, "cehfed", LEARNING),
    field("td3.accuracy_weight", &["td3.accuracy_weight=5"], Learned, "cehfed", LEARNING),
    field("td3.discount", &["td3.discount=0.9"], Learned, "cehfed", LEARNING),
    field("td3.learning_rate", &["td3.learning_rate=0.1"], Learned, "cehfed", LEARNING),
    field("td3.exploration_noise", &["td3.exploration_noise=1"], Learned, "cehfed", AGENTS),
    field("td3.least_threshold", &["td3.least_threshold=1"], Records, "cehfed", AGENTS_OF_A_CROWD),
    field("td3.least_share", &["td3.least_share=0.25"], Records, "cehfed", AGENTS_OF_A_CROWD),
    field("td3.most_share", &["td3.most_share=1"], Records, "cehfed", AGENTS_OF_A_CROWD),
    field("td3.candidates", &["td3.candidates=1"], Learned, "cehfed", AGENTS),
    field("td3.updates_per_round", &["td3.updates_per_round=0"], Learned, "cehfed", LEARNING),
    field("td3.warm_up", &["td3.warm_up=1"], Learned, "cehfed", AGENTS),
    field("td3.penalty", &["td3.penalty=3"], Learned, "cehfed", LATE),
    field("td3.penalty_step", &["td3.penalty_step=9"], Learned, "cehfed", LATE),
    field("allocation.kind", &["allocation.kind=p1"], Records, "hfl", &[]),
    field("allocation.local_iterations", &["allocation.local_iterations=9"], Records, "hfl", &[]),
    field("allocation.solver", &["allocation.solver=palm"], Records, "rhfed", CROWD),
    field("allocation.objective", &["allocation.objective=paper"], Records, "rhfed", &[]),
    field("allocation.h_min", &["allocation.h_min=40"], Records, "rhfed", &[]),
    field("allocation.h_max", &["allocation.h_max=2"], Records, "rhfed", &[]),
    field("allocation.c0", &["allocation.c0=40"], Records, "rhfed", &[]),
    field("allocation.c1", &["allocation.c1=1"], Records, "rhfed", &[]),
    field("allocation.estimate", &["allocation.estimate=false"], Records, "rhfed", &[]),
    field("redeploy.method", &["redeploy.method=marginal_gains"], Records, "hfl", &[]),
    field("redeploy.coverage_weight", &["redeploy.coverage_weight=0"], Records, "cehfed", ON_CHANGE),
    field("redeploy.movement_weight", &["redeploy.movement_weight=1000"], Records, "cehfed", ON_CHANGE),
    field("redeploy.margin_m", &["redeploy.margin_m=2000"], Records, "hfl", SEARCHING),
    field("redeploy.relay_m", &["redeploy.relay_m=2000"], Records, "hfl", SEARCHING),
    field("methods.ahfed.epsilon", &["methods.ahfed.epsilon=0.5"], Records, "ahfed", &[]),
    field("methods.fedprox.proximal", &["methods.fedprox.proximal=9"], Records, "fedprox", &[]),
    field("methods.oort.exploration", &["methods.oort.exploration=0.2"], Records, "oort", CROWD),
    field("methods.oort.exploration_decay", &["methods.oort.exploration_decay=0"], Records, "oort", CROWD),
    field("methods.oort.exploration_min", &["methods.oort.exploration_min=0.9"], Records, "oort", CROWD),
    field("methods.oort.speed_penalty", &["methods.oort.speed_penalty=50"], Records, "oort", CROWD),
    field("methods.oort.preferred_time", &["methods.oort.preferred_time=0.1"], Records, "oort", CROWD),
    field("weights.energy", &["weights.energy=5"], Records, "rhfed", CROWD),
    field("weights.time", &["weights.time=5"], Records, "rhfed", CROWD),
    field("training.max_edge_rounds", &["training.max_edge_rounds=3"], Records, "hfl", &[]),
];

/// Twelve devices, two rounds, and a UAV that is lost in the second: some methods move the others then.
const WORLD: &[&str] = &[
    "data.set=idx",
    "devices.count=12",
    "data.data_volume=60",
    "data.probe_samples=20",
    "data.personal_samples=5",
    "model.name=logistic",
    "training.learning_rate=0.05",
    "stop.max_rounds=2",
    "faults=[{kind=\"loss\", uav=3, round=2}]",
];

fn scenario(method: &str, settings: &[&[&str]]) -> ValidScenario {
    let (method, dir) = (
        format!("method={method}"),
        format!("data.dir={:?}", few_digits()),
    );
    let all = [&[method.as_str(), &dir], WORLD, &settings.concat()].concat();
    Scenario::parse("", &all).unwrap().check().unwrap()
}

/// What a run leaves behind, and what its choice of devices has learned.
fn outcome(scenario: &ValidScenario, mut method: Method) -> (String, Vec<u8>) {
    let mut run = Run::new(Simulation::builder(scenario).threads(1).build().unwrap());
    while run.step(&mut method).unwrap().is_some() {}
    let outcome = run.finish(&method);
    // As text, because NaN is not equal to itself.
    let records = format!("{:?} {:?}", outcome.records, outcome.weights);
    (records, method.association.save())
}

fn built(entry: &Entry, settings: &[&[&str]]) -> (String, Vec<u8>) {
    let scenario = scenario(entry.name(), settings);
    outcome(&scenario, entry.build(&scenario).unwrap())
}

/// The dotted paths of a table's fields.
fn paths(table: &toml::Table, above: &str, all: &mut BTreeSet<String>) {
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => paths(inner, &format!("{above}{key}."), all),
            _ => _ = all.insert(format!("{above}{key}")),
        }
    }
}

#[test]
fn the_list_of_fields_is_complete() {
    let text = Scenario::default().to_toml().unwrap();
    let mut all =
        BTreeSet::from(["allocation.local_iterations", "redeploy.margin_m"].map(str::to_owned));
    paths(&text.parse().unwrap(), "", &mut all);
    all.retain(|field| is_method_specific(field));
    let listed: BTreeSet<String> = FIELDS.iter().map(|field| field.name.into()).collect();
    assert_eq!(listed, all);
}

#[test]
fn what_a_method_does_not_read_is_refused_and_does_nothing() {
    let registry = Registry::builtin();
    for entry in registry.entries() {
        let unchanged = built(entry, &[]);
        for field in FIELDS {
            let (what, change) = (format!("{}, {}", entry.name(), field.name), field.change);
            let scenario = scenario(entry.name(), &[change]);
            // Switches are refused where they do not fit the schedule: that is another test's matter.
            if field.name.ends_with(".kind") || field.name == "redeploy.method" {
                assert!(entry.reads(&scenario, field.name), "{what}");
                continue;
            }
            let accepted = registry.method(&scenario);
            if entry.reads(&scenario, field.name) {
                accepted.unwrap();
                continue;
            }
            let told = accepted.err().unwrap().to_string();
            // Of several that are changed together, the first is named.
            let named = |setting: &&str| {
                told.contains(&format!("`{}`", setting.split('=').next().unwrap()))
            };
            assert!(change.iter().any(named), "{what}: {told}");
            assert!(told.contains("does not read it"), "{what}: {told}");
            let changed = outcome(&scenario, entry.build(&scenario).unwrap());
            assert!(changed == unchanged, "{what} has an effect");
        }
    }
}

#[test]
fn every_field_shows_in_some_method() {
    let registry = Registry::builtin();
    let mut hidden = Vec::new();
    for field in FIELDS {
        let entry = registry.get(field.method).unwrap();
        let before = built(entry, &[field.world]);
        let after = built(entry, &[field.world, field.change]);
        let shows = match field.shows {
            Records => before.0 != after.0,
            Learned => before.1 != after.1,
        };
        if !shows {
            hidden.push(field.name);
        }
    }
    assert_eq!(hidden, [] as [&str; 0]);
}
