//! Fitting a surrogate's law to runs that trained (`aerofed calibrate`).

mod evidence;
mod length;
mod replay;

use std::cmp::Ordering;

use rayon::prelude::*;

pub use evidence::{Evidence, Predicted};

use crate::Error;
use crate::learn::DataStore;
use crate::scenario::{LawFile, LawGroup, LawNumbers, Scenario};
use crate::solve::simplex;
use replay::Replay;

/// How often a fit looks at its runs, in each of two turns.
const LOOKS: usize = 260;
/// What a law that is far from where its fit began must be better by. Few runs say little about some of its numbers.
const RIDGE: f64 = 2e-4;
/// What a squared error of a loss weighs beside one of log odds of an accuracy.
const LOSS_WEIGHT: f64 = 0.1;
/// Where fits begin.
const FIRST: LawNumbers = LawNumbers {
    margin_rate: 0.05,
    transfer: 0.75,
    bias_rate: 9.0,
    bias_reach: 15.0,
    onset: 0.4,
    ceiling: 4.1,
    ceiling_per_fold: 0.8,
    sharpness: 1.45,
    bias_length: 1.0,
};

/// Laws for all kinds of training among these runs, and one for everything else; none where no run can be replayed.
///
/// # Errors
/// As [`Evidence::predict`].
pub fn fit(runs: &[&Evidence], data: &DataStore) -> Result<Option<LawFile>, Error> {
    let Some(laws) = fit_accuracies(runs) else {
        return Ok(None);
    };
    length::fit(laws, runs, data).map(Some)
}

/// All numbers of laws but those that accuracies do not tell.
fn fit_accuracies(runs: &[&Evidence]) -> Option<LawFile> {
    let runs: Vec<(&Scenario, &Replay)> = runs.iter().filter_map(|run| run.replay()).collect();
    let mut kinds: Vec<Kind> = runs
        .iter()
        .map(|(scenario, _)| Kind::of(scenario))
        .collect();
    kinds.sort_by(Kind::order);
    kinds.dedup();
    let usual = usual_kind(&kinds, &runs)?.clone();
    let general = fit_group(&usual, &runs);
    if kinds.len() == 1 {
        return Some(LawFile::new(vec![general]));
    }
    let group = |kind: &Kind| {
        let own = |(scenario, _): &&(&Scenario, &Replay)| Kind::of(scenario) == *kind;
        let own: Vec<_> = runs.iter().filter(own).copied().collect();
        fit_group(kind, &own)
    };
    let mut groups: Vec<LawGroup> = kinds.iter().map(group).collect();
    groups.push(LawGroup {
        data: String::new(),
        model: String::new(),
        ..general
    });
    Some(LawFile::new(groups))
}

/// What a law is fitted for.
#[derive(Clone, PartialEq)]
struct Kind {
    data: String,
    model: String,
    learning_rate: f64,
    momentum: f64,
    batch_size: usize,
}

impl Kind {
    fn of(scenario: &Scenario) -> Self {
        let training = &scenario.training;
        Self {
            data: scenario.data.set.name().into(),
            model: scenario.model_name().into(),
            learning_rate: training.learning_rate,
            momentum: training.momentum,
            batch_size: training.batch_size,
        }
    }

    /// The kind that a law is of.
    fn of_group(group: &LawGroup) -> Self {
        Self {
            data: group.data.clone(),
            model: group.model.clone(),
            learning_rate: group.learning_rate,
            momentum: group.momentum,
            batch_size: group.batch_size,
        }
    }

    fn order(&self, other: &Self) -> Ordering {
        let names = |kind: &Self| (kind.data.clone(), kind.model.clone(), kind.batch_size);
        let rates = self.learning_rate.total_cmp(&other.learning_rate);
        let momenta = self.momentum.total_cmp(&other.momentum);
        names(self).cmp(&names(other)).then(rates).then(momenta)
    }
}

/// The kind that most runs are of; of several the first.
fn usual_kind<'a>(kinds: &'a [Kind], runs: &[(&Scenario, &Replay)]) -> Option<&'a Kind> {
    let count = |kind: &Kind| runs.iter().filter(|(s, _)| Kind::of(s) == *kind).count();
    kinds.iter().rev().max_by_key(|kind| count(kind))
}

fn fit_group(kind: &Kind, runs: &[(&Scenario, &Replay)]) -> LawGroup {
    let mut group = described(kind, runs, &FIRST);
    let misfit = |law: LawNumbers| {
        let law = LawGroup {
            law,
            ..group.clone()
        };
        let costs = runs.par_iter().map(|(scenario, replay)| {
            let relative = law.relative_rate(&scenario.training);
            replay.cost(&law.law, relative, LOSS_WEIGHT)
        });
        // Summed in the order of the runs, whoever was first.
        let costs: Vec<f64> = costs.collect();
        costs.iter().sum::<f64>() / runs.len() as f64
    };
    let start = packed(&FIRST);
    let cost = |point: &[f64]| {
        let away = point.iter().zip(&start);
        let far: f64 = away.map(|(at, from)| (at - from).powi(2)).sum();
        misfit(unpacked(point)) + RIDGE * far
    };
    let (point, _) = simplex::minimise(cost, &start, 0.4, LOOKS);
    let (point, _) = simplex::minimise(cost, &point, 0.1, LOOKS);
    group.law = unpacked(&point);
    let errors = runs.iter().flat_map(|(scenario, replay)| {
        let relative = group.relative_rate(&scenario.training);
        replay.errors(&group.law, relative)
    });
    let squares: Vec<f64> = errors.map(|error| error * error).collect();
    let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
    group.accuracy_error = round(mean.sqrt());
    group
}

/// A law before it is fitted, and what it is fitted on.
fn described(kind: &Kind, runs: &[(&Scenario, &Replay)], law: &LawNumbers) -> LawGroup {
    LawGroup {
        data: kind.data.clone(),
        model: kind.model.clone(),
        learning_rate: kind.learning_rate,
        momentum: kind.momentum,
        batch_size: kind.batch_size,
        runs: runs.len(),
        methods: distinct(runs.iter().map(|(scenario, _)| scenario.method.clone())),
        partitions: distinct(runs.iter().map(|(s, _)| s.data.partition.name().to_owned())),
        data_volume: ends(runs.iter().map(|(scenario, _)| scenario.data.data_volume)),
        local_iterations: ends(
            runs.iter()
                .flat_map(|(_, replay)| replay.local_iterations()),
        ),
        accuracy_error: 0.0,
        law: law.clone(),
    }
}

/// Numbers as they are searched for: any will do.
fn packed(law: &LawNumbers) -> Vec<f64> {
    let odds = |share: f64| libm::log(share / (1.0 - share));
    vec![
        libm::log(law.margin_rate),
        odds(law.transfer),
        libm::log(law.bias_rate),
        libm::log(law.bias_reach),
        odds(law.onset),
        libm::log(law.ceiling),
        law.ceiling_per_fold,
        libm::log(law.sharpness),
    ]
}

/// The numbers behind a point, four digits of them: more are chance.
fn unpacked(point: &[f64]) -> LawNumbers {
    let share = |odds: f64| round(1.0 / (1.0 + libm::exp(-odds))).clamp(1e-3, 0.999);
    let positive = |log: f64, [least, most]: [f64; 2]| round(libm::exp(log).clamp(least, most));
    LawNumbers {
        margin_rate: positive(point[0], [1e-6, 10.0]),
        transfer: share(point[1]),
        bias_rate: positive(point[2], [1e-6, 100.0]),
        bias_reach: positive(point[3], [1e-3, 50.0]),
        onset: share(point[4]),
        ceiling: positive(point[5], [0.1, 50.0]),
        ceiling_per_fold: round(point[6].clamp(-10.0, 10.0)),
        sharpness: positive(point[7], [0.1, 10.0]),
        bias_length: FIRST.bias_length,
    }
}

/// To four significant digits.
fn round(value: f64) -> f64 {
    let text = format!("{value:.3e}");
    text.parse().unwrap_or(value)
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = names.collect();
    all.sort();
    all.dedup();
    all
}

fn ends(numbers: impl Iterator<Item = usize> + Clone) -> [usize; 2] {
    let least = numbers.clone().min().unwrap_or(0);
    [least, numbers.max().unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Method;
    use crate::learn::Data;
    use crate::learn::data::divide;
    use crate::run::{Run, Simulation};

    /// A run whose accuracies follow a known law.
    fn run_of(law: &LawNumbers, method: &str, partition: &str, seed: &str) -> (Scenario, Replay) {
        let settings = [
            "devices.count=40",
            "data.data_volume=800",
            "model.name=logistic",
            "training.max_edge_rounds=4",
            method,
            partition,
            seed,
        ];
        let scenario = Scenario::parse("", &settings).unwrap().check().unwrap();
        let kind = Kind::of(&scenario);
        let runs: [(&Scenario, &Replay); 0] = [];
        let group = LawGroup {
            law: law.clone(),
            ..described(&kind, &runs, law)
        };
        let dry = scenario.dry(&LawFile::new(vec![group]), 15).unwrap();
        let data = Data::load(&dry).unwrap();
        let simulation = Simulation::builder(&dry)
            .data(data.clone())
            .threads(1)
            .build();
        let mut run = Run::new(simulation.unwrap());
        let mut method = Method::of(&dry).unwrap();
        while run.step(&mut method).unwrap().is_some() {}
        let parts = divide(&dry, &data.train).unwrap();
        let replay = Replay::new(&data, &parts, dry.data.data_volume, run.records());
        (Scenario::clone(&dry), replay)
    }

    #[test]
    fn a_known_law_is_found_again() {
        let law = LawNumbers {
            margin_rate: 0.12,
            transfer: 0.5,
            bias_rate: 5.0,
            bias_reach: 8.0,
            onset: 0.7,
            ceiling: 3.0,
            ceiling_per_fold: 0.8,
            sharpness: 1.2,
            bias_length: 1.0,
        };
        let runs = [
            run_of(
                &law,
                "method=rhfed",
                "data.partition.kind=noniid_a",
                "seed=1",
            ),
            run_of(&law, "method=hfl", "data.partition.kind=iid", "seed=2"),
            run_of(
                &law,
                "method=gdhfed",
                "data.partition.kind=noniid_b",
                "seed=3",
            ),
        ];
        // A replay with the law itself misses nothing: it does what the run did.
        for (_, replay) in &runs {
            let missed = replay.errors(&law, 1.0);
            assert!(missed.iter().all(|error| error.abs() < 1e-4), "{missed:?}");
        }
        let given: Vec<(&Scenario, &Replay)> = runs.iter().map(|(s, r)| (s, r)).collect();
        let kind = Kind::of(&runs[0].0);
        let fitted = fit_group(&kind, &given);
        assert!(fitted.accuracy_error < 0.01, "{fitted:?}");
        let from_first = given
            .iter()
            .flat_map(|(_, replay)| replay.errors(&FIRST, 1.0));
        let worst = from_first.fold(0.0, |most: f64, error| most.max(error.abs()));
        assert!(worst > 0.05, "the start is no answer: {worst}");
        assert_eq!(fitted, fit_group(&kind, &given), "same runs, same law");
    }

    #[test]
    fn laws_are_written_and_read_again() {
        let group = |data: &str, rate: f64| LawGroup {
            data: data.into(),
            model: "cnn".into(),
            learning_rate: rate,
            momentum: 0.0,
            batch_size: 10,
            runs: 1,
            methods: vec!["hfl".into()],
            partitions: vec!["iid".into()],
            data_volume: [1, 2],
            local_iterations: [1, 2],
            accuracy_error: 0.01,
            law: FIRST,
        };
        let general = LawGroup {
            model: String::new(),
            ..group("", 0.1)
        };
        let file = LawFile::new(vec![
            group("mnist", 0.05),
            group("mnist", 0.001),
            group("idx", 0.01),
            general,
        ]);
        assert_eq!(LawFile::parse(&file.to_toml("two\nlines")).unwrap(), file);
        let chosen = |settings: &[&str]| {
            let law = file.of(&Scenario::parse("", settings).unwrap()).unwrap();
            (law.group.data, law.group.learning_rate, law.relative_rate)
        };
        assert_eq!(chosen(&[]), ("mnist".into(), 0.05, 1.0));
        assert_eq!(
            chosen(&["training.learning_rate=0.002"]),
            ("mnist".into(), 0.001, 2.0)
        );
        // Nothing of Fashion-MNIST: the law of everything.
        assert_eq!(chosen(&["data.set=fashion-mnist"]).0, "");
        let momentum = chosen(&["training.momentum=0.9", "training.learning_rate=0.005"]);
        assert_eq!(momentum.1, 0.05);
        assert!((momentum.2 - 1.0).abs() < 1e-9, "{momentum:?}");
    }
}
