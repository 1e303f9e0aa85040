//! How well a surrogate's law predicts runs that it was not fitted on.

use std::collections::BTreeMap;

use aerofed::calibrate::{Evidence, Predicted, fit};
use aerofed::learn::DataStore;
use aerofed::record::first_reached;
use aerofed::scenario::LawFile;

use crate::Error;
use crate::markdown::table;
use crate::statistics::kendall;

/// An accuracy counts as reached when the mean over so many rounds is: single rounds of real runs are chance.
pub const SMOOTH: usize = 3;
/// Parts that a cross-validation leaves out in turn.
const FOLDS: usize = 4;
/// Methods that an order is asked of, at least.
const FEWEST_METHODS: usize = 4;

/// A run, and what a law made of its scenario without training.
pub struct Judged<'a> {
    /// The run.
    pub run: &'a Evidence,
    /// The prediction, for more rounds than the run had.
    pub predicted: Vec<Predicted>,
}

/// What came of a target in a run and in its prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The accuracy.
    pub target: f64,
    /// Rounds until it, in the run; none: not in all its rounds.
    pub real: Option<usize>,
    /// The same in the prediction.
    pub predicted: Option<usize>,
}

impl<'a> Judged<'a> {
    /// Runs the scenario of a run by a law.
    ///
    /// # Errors
    /// As [`Evidence::predict`].
    pub fn new(run: &'a Evidence, laws: &LawFile, data: &DataStore) -> Result<Self, Error> {
        let rounds = 2 * run.rounds.len() + 10;
        let predicted = run.predict(laws, data, rounds)?;
        Ok(Self { run, predicted })
    }

    /// Root mean square of the differences of accuracies, round by round.
    #[must_use]
    pub fn accuracy_error(&self) -> f64 {
        let squares: Vec<f64> = self
            .run
            .rounds
            .iter()
            .zip(&self.predicted)
            .map(|(real, predicted)| (real.accuracy - predicted.accuracy).powi(2))
            .collect();
        (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
    }

    /// Rounds to the targets of the scenario.
    #[must_use]
    pub fn crossings(&self) -> Vec<Crossing> {
        let reached = |rounds: &[Predicted], target: f64| {
            let curve: Vec<f64> = rounds.iter().map(|round| round.accuracy).collect();
            first_reached(&curve, SMOOTH, target).map(|place| place + 1)
        };
        let crossing = |&target: &f64| Crossing {
            target,
            real: reached(&self.run.rounds, target),
            predicted: reached(&self.predicted, target),
        };
        self.run
            .scenario
            .stop
            .targets
            .iter()
            .map(crossing)
            .collect()
    }

    /// By how much the rounds to each target are missed, relative to those of the run.
    fn errors(&self) -> impl Iterator<Item = f64> {
        let rounds = self.run.rounds.len();
        let crossings = self.crossings().into_iter();
        crossings.filter_map(move |crossing| crossing.error(rounds))
    }
}

impl Crossing {
    /// By how much a prediction is off, relative to the run, which had so many rounds. None where neither got there. Where only
    /// one did, the rounds that the other did not get there in count as its own.
    #[must_use]
    pub fn error(&self, rounds: usize) -> Option<f64> {
        let (real, predicted) = match (self.real, self.predicted) {
            (Some(real), Some(predicted)) => (real, predicted),
            (Some(real), None) => (real, 2 * rounds + 10),
            (None, Some(predicted)) if predicted < rounds => (rounds, predicted),
            _ => return None,
        };
        Some((predicted as f64 - real as f64).abs() / real as f64)
    }
}

/// What predictions of several runs are like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Runs.
    pub runs: usize,
    /// Root mean square of the differences of accuracies.
    pub accuracy_error: f64,
    /// Targets that a run or its prediction reached.
    pub targets: usize,
    /// Median of the relative errors of the rounds to them.
    pub rounds_error: f64,
}

impl Quality {
    /// Of these predictions.
    #[must_use]
    pub fn of(judged: &[Judged]) -> Self {
        let squares = judged.iter().map(|run| run.accuracy_error().powi(2));
        let mut errors: Vec<f64> = judged.iter().flat_map(Judged::errors).collect();
        errors.sort_by(f64::total_cmp);
        let middle = |values: &[f64]| match values.len() {
            0 => f64::NAN,
            n => 0.5 * (values[(n - 1) / 2] + values[n / 2]),
        };
        Self {
            runs: judged.len(),
            accuracy_error: (squares.sum::<f64>() / judged.len() as f64).sqrt(),
            targets: errors.len(),
            rounds_error: middle(&errors),
        }
    }
}

/// Predictions of runs, each by a law that was fitted to others of them.
///
/// # Errors
/// As [`Judged::new`].
pub fn cross_validate<'a>(
    runs: &[&'a Evidence],
    data: &DataStore,
) -> Result<Vec<Judged<'a>>, Error> {
    let mut judged = Vec::new();
    for fold in 0..FOLDS.min(runs.len()) {
        let of_fold = |place: usize| place % FOLDS == fold;
        let part = |own: bool| {
            let places = runs.iter().enumerate();
            places
                .filter(move |(place, _)| of_fold(*place) == own)
                .map(|(_, run)| *run)
        };
        let others: Vec<&Evidence> = part(false).collect();
        let Some(laws) = fit(&others, data)? else {
            continue;
        };
        for run in part(true) {
            judged.push(Judged::new(run, &laws, data)?);
        }
    }
    Ok(judged)
}

/// Whether predictions put the methods of a scenario into the order that real runs have them in.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// What all have in common.
    pub scenario: String,
    /// The accuracy that they are compared at.
    pub target: f64,
    /// How many methods reached it, in runs and predictions.
    pub methods: usize,
    /// Kendall's tau-b of the rounds to it, ...
    pub rounds: f64,
    /// ... of the time ...
    pub time: f64,
    /// ... and of the energy.
    pub energy: f64,
}

/// The orders of methods in all scenarios that enough of them were run in.
#[must_use]
pub fn rankings(judged: &[Judged]) -> Vec<Ranking> {
    let mut scenarios: BTreeMap<String, Vec<&Judged>> = BTreeMap::new();
    for run in judged {
        scenarios.entry(setting(run.run)).or_default().push(run);
    }
    let mut all = Vec::new();
    for (scenario, runs) in &scenarios {
        let targets = runs[0].run.scenario.stop.targets.iter();
        all.extend(targets.filter_map(|target| ranking(scenario, *target, runs)));
    }
    all
}

/// What runs of different methods have in common.
fn setting(run: &Evidence) -> String {
    let scenario = &run.scenario;
    let (data, training) = (&scenario.data, &scenario.training);
    format!(
        "{} {}, {:?}, {} samples, rate {}",
        data.set.name(),
        scenario.model.name,
        data.partition,
        data.data_volume,
        training.learning_rate
    )
}

/// Rounds, seconds and joules until an accuracy.
fn costs(rounds: &[Predicted], target: f64) -> Option<[f64; 3]> {
    let curve: Vec<f64> = rounds.iter().map(|round| round.accuracy).collect();
    let place = first_reached(&curve, SMOOTH, target)?;
    Some([
        (place + 1) as f64,
        rounds[place].clock_s,
        rounds[place].energy_j,
    ])
}

fn ranking(scenario: &str, target: f64, runs: &[&Judged]) -> Option<Ranking> {
    // Sums over the seeds of a method; a method that did not always get there has no place in the order.
    let mut methods: BTreeMap<&str, Option<([f64; 6], f64)>> = BTreeMap::new();
    for run in runs {
        let (real, ours) = (
            costs(&run.run.rounds, target),
            costs(&run.predicted, target),
        );
        let sums = methods
            .entry(&run.run.scenario.method)
            .or_insert(Some(([0.0; 6], 0.0)));
        *sums = match (real, ours, *sums) {
            (Some(real), Some(ours), Some((mut sums, count))) => {
                for (sum, cost) in sums.iter_mut().zip(real.into_iter().chain(ours)) {
                    *sum += cost;
                }
                Some((sums, count + 1.0))
            }
            _ => None,
        };
    }
    let means: Vec<[f64; 6]> = methods
        .values()
        .flatten()
        .map(|(sums, count)| sums.map(|sum| sum / count))
        .collect();
    if means.len() < FEWEST_METHODS {
        return None;
    }
    let tau = |what: usize| {
        let pairs: Vec<(f64, f64)> = means.iter().map(|m| (m[what], m[what + 3])).collect();
        kendall(&pairs)
    };
    Some(Ranking {
        scenario: scenario.into(),
        target,
        methods: means.len(),
        rounds: tau(0),
        time: tau(1),
        energy: tau(2),
    })
}

/// A line for each run: rounds to its targets, in the run and predicted.
#[must_use]
pub fn runs_table(judged: &[Judged]) -> String {
    let name = |run: &Evidence| {
        let folder = run.folder.file_name().map(|name| name.to_string_lossy());
        folder.unwrap_or_default().into_owned()
    };
    let rounds = |count: Option<usize>| count.map_or("-".into(), |rounds| rounds.to_string());
    let row = |judged: &Judged| {
        let each = judged.crossings();
        let reached = each
            .iter()
            .map(|crossing| format!("{} / {}", rounds(crossing.real), rounds(crossing.predicted)));
        vec![
            name(judged.run),
            setting(judged.run),
            judged.run.scenario.method.clone(),
            judged.run.scenario.seed.to_string(),
            format!("{:.1} %", 100.0 * judged.accuracy_error()),
            reached.collect::<Vec<_>>().join(", "),
        ]
    };
    let header = [
        "run",
        "setting",
        "method",
        "seed",
        "accuracy error",
        "rounds to targets, real / predicted",
    ];
    table(&header, &judged.iter().map(row).collect::<Vec<_>>())
}

/// A line for each order.
#[must_use]
pub fn rankings_table(rankings: &[Ranking]) -> String {
    let row = |ranking: &Ranking| {
        vec![
            ranking.scenario.clone(),
            format!("{:.0} %", 100.0 * ranking.target),
            ranking.methods.to_string(),
            format!("{:.2}", ranking.rounds),
            format!("{:.2}", ranking.time),
            format!("{:.2}", ranking.energy),
        ]
    };
    let header = [
        "setting",
        "target",
        "methods",
        "tau of rounds",
        "of time",
        "of energy",
    ];
    table(&header, &rankings.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_does_not_get_there_counts_with_the_rounds_it_had() {
        let error = |real, predicted| {
            let target = 0.9;
            let crossing = Crossing {
                target,
                real,
                predicted,
            };
            crossing.error(40)
        };
        assert_eq!(error(Some(20), Some(25)), Some(0.25));
        assert_eq!(error(Some(20), None), Some(3.5));
        assert_eq!(error(None, Some(30)), Some(0.25));
        assert_eq!(error(None, Some(60)), None, "it was not run for so long");
        assert_eq!(error(None, None), None);
    }
}
