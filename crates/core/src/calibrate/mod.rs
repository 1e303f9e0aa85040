//! Fitting a surrogate's law to runs that trained (`aerofed calibrate`).

mod evidence;
mod replay;

use std::cmp::Ordering;

use rayon::prelude::*;

pub use evidence::{Evidence, Predicted};

use crate::scenario::{LawFile, LawGroup, LawNumbers, Scenario};
use crate::solve::simplex;
use replay::Replay;

/// How often a fit looks at its runs, in each of two turns.
const LOOKS: usize = 260;
/// What a law that is far from the general one must be better by. Few runs say little about some of its numbers.
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
};

/// Laws for all kinds of training among these runs, and one for everything else; none where no run can be replayed.
#[must_use]
pub fn fit(runs: &[&Evidence]) -> Option<LawFile> {
    let runs: Vec<(&Scenario, &Replay)> = runs.iter().filter_map(|run| run.replay()).collect();
    let mut kinds: Vec<Kind> = runs
        .iter()
        .map(|(scenario, _)| Kind::of(scenario))
        .collect();
    kinds.sort_by(Kind::order);
    kinds.dedup();
    let usual = usual_kind(&kinds, &runs)?.clone();
    let general = fit_group(&usual, &runs, &FIRST);
    if kinds.len() == 1 {
        return Some(LawFile::new(vec![general]));
    }
    let group = |kind: &Kind| {
        let own = |(scenario, _): &&(&Scenario, &Replay)| Kind::of(scenario) == *kind;
        let own: Vec<_> = runs.iter().filter(own).copied().collect();
        fit_group(kind, &own, &general.law)
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

fn fit_group(kind: &Kind, runs: &[(&Scenario, &Replay)], near: &LawNumbers) -> LawGroup {
    let mut group = LawGroup {
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
        law: near.clone(),
    };
    let start = packed(near);
    let cost = |point: &[f64]| {
        let law = LawGroup {
            law: unpacked(point),
            ..group.clone()
        };
        let costs = runs.par_iter().map(|(scenario, replay)| {
            let relative = law.relative_rate(&scenario.training);
            replay.cost(&law.law, relative, LOSS_WEIGHT)
        });
        // Summed in the order of the runs, whoever was first.
        let costs: Vec<f64> = costs.collect();
        let far = point
            .iter()
            .zip(&start)
            .map(|(at, from)| (at - from).powi(2));
        costs.iter().sum::<f64>() / runs.len() as f64 + RIDGE * far.sum::<f64>()
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
