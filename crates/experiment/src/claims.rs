//! What the paper says, set beside what the runs say.

use std::collections::{BTreeMap, BTreeSet};

use super::description::{Choice, ClaimPlan};
use super::experiment_sweep::{ExperimentSweep, Finished};
use super::results::{Claim, Measure, Verdict};
use super::statistics::{Estimate, SAVING, saving};

/// Values by seed, and within a seed by what else was varied; none where a run never reached its
/// target.
pub type Samples = BTreeMap<u64, BTreeMap<Vec<String>, Option<f64>>>;

/// The values that a claim's choice has in the finished runs of a sweep.
#[must_use]
pub fn samples(
    sweep: &ExperimentSweep,
    finished: &Finished,
    claim: &ClaimPlan,
    choice: &Choice,
) -> Samples {
    let mut samples = Samples::new();
    for case in sweep.cases.iter().filter(|case| sweep.is_of(case, choice)) {
        let Some(run) = finished.get(&case.run.id) else {
            continue;
        };
        let axes = sweep.description.axes.iter().zip(&case.labels);
        let free = axes.filter(|(axis, _)| !choice.contains_key(&axis.name));
        let rest: Vec<String> = free.map(|(_, label)| label.clone()).collect();
        let value = claim.quantity.of_run(run, case.target.or(claim.target));
        let seed = case.run.scenario.seed;
        samples.entry(seed).or_default().insert(rest, value);
    }
    samples
}

/// The other side of a claim: what `against` names, the rest as in `of`.
#[must_use]
pub fn against(claim: &ClaimPlan) -> Choice {
    let mut choice = claim.of.clone();
    choice.extend(claim.against.clone());
    choice
}

/// Judges a claim by the values of both sides; `against` is not looked at for a plain value.
#[must_use]
pub fn judge(experiment: &str, claim: &ClaimPlan, of: &Samples, against: &Samples) -> Claim {
    let measure = claim.measure();
    let mut values = Vec::new();
    let mut seeds = BTreeSet::new();
    for (seed, mine) in of {
        let mut each = Vec::new();
        for (rest, &value) in mine {
            let other = against.get(seed).and_then(|others| others.get(rest));
            if measure != Measure::Value && other.is_none() {
                continue;
            }
            seeds.insert(seed);
            each.extend(measured(measure, value, other.copied().flatten()));
        }
        // One number for each seed: what was varied besides is not independent.
        values.extend(Estimate::of(&each).map(|over| over.mean));
    }
    let ours = match measure {
        Measure::Value => Estimate::within(&values, claim.quantity.domain()),
        Measure::Difference => Estimate::of(&values),
        Measure::Saving => Estimate::within(&values, SAVING),
    };
    Claim {
        experiment: experiment.into(),
        text: claim.text.clone(),
        measure,
        unit: match measure {
            Measure::Saving => "".into(),
            _ => claim.quantity.unit().into(),
        },
        paper: claim.paper,
        ours,
        of: seeds.len(),
        verdict: verdict(measure, claim.paper, claim.tolerance, ours.as_ref()),
        sure: ours.is_some_and(|ours| ours.excludes(0.0)),
    }
}

fn measured(measure: Measure, value: Option<f64>, other: Option<f64>) -> Option<f64> {
    match measure {
        Measure::Value => value,
        Measure::Difference => Some(value? - other?),
        Measure::Saving => saving(value?, other?),
    }
}

/// Off by more than this share of the paper's number, a value contradicts it.
const FAR_OFF: f64 = 0.5;

/// What a number of ours makes of the paper's. Savings and differences agree when they are at least
/// as large, values when they are as near as the tolerance says; an interval that holds the paper's
/// number agrees as well, unless it is so wide that it holds zero.
#[must_use]
pub fn verdict(measure: Measure, paper: f64, tolerance: f64, ours: Option<&Estimate>) -> Verdict {
    let Some(ours) = ours else {
        return Verdict::Open;
    };
    let off = (ours.mean - paper).abs();
    if paper == 0.0 {
        // No effect at all: a tolerance of the paper's number would be none.
        return match off <= tolerance || ours.includes(0.0) {
            true => Verdict::Agrees,
            false => Verdict::Contradicts,
        };
    }
    let near = off <= tolerance * paper.abs() || (ours.includes(paper) && ours.excludes(0.0));
    let (agrees, contradicts) = match measure {
        Measure::Value => (near, off > FAR_OFF * paper.abs()),
        _ => {
            let along = ours.mean * paper.signum();
            (near || along >= paper.abs(), along <= 0.0)
        }
    };
    match (agrees, contradicts) {
        (true, _) => Verdict::Agrees,
        (false, true) => Verdict::Contradicts,
        (false, false) => Verdict::Weaker,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Option<Estimate> {
        Estimate::of(values)
    }

    fn says(measure: Measure, paper: f64, values: &[f64]) -> Verdict {
        verdict(measure, paper, 0.1, of(values).as_ref())
    }

    #[test]
    fn savings_are_judged_by_direction_and_size() {
        let saving = |values: &[f64]| says(Measure::Saving, 0.3, values);
        assert_eq!(saving(&[0.5, 0.52, 0.48]), Verdict::Agrees);
        assert_eq!(
            saving(&[0.28]),
            Verdict::Agrees,
            "within a tenth of the paper's"
        );
        assert_eq!(saving(&[0.1, 0.11, 0.12]), Verdict::Weaker);
        assert_eq!(saving(&[-0.1, -0.2]), Verdict::Contradicts);
        assert_eq!(
            saving(&[0.25, 0.2, 0.31, 0.22]),
            Verdict::Agrees,
            "the interval holds 0.3"
        );
        assert_eq!(
            saving(&[0.01, 0.29]),
            Verdict::Weaker,
            "an interval that holds anything"
        );
        assert_eq!(saving(&[]), Verdict::Open);
        let same = |values: &[f64]| says(Measure::Saving, 0.0, values);
        assert_eq!(same(&[0.05]), Verdict::Agrees);
        assert_eq!(same(&[0.3, 0.31]), Verdict::Contradicts);
        let costs_more = |values: &[f64]| says(Measure::Difference, -5.0, values);
        assert_eq!(costs_more(&[-9.0]), Verdict::Agrees);
        assert_eq!(costs_more(&[-1.0]), Verdict::Weaker);
        assert_eq!(costs_more(&[1.0]), Verdict::Contradicts);
    }

    #[test]
    fn values_are_judged_by_nearness() {
        let value = |values: &[f64]| says(Measure::Value, 0.8, values);
        assert_eq!(value(&[0.75]), Verdict::Agrees);
        assert_eq!(value(&[0.6]), Verdict::Weaker);
        assert_eq!(value(&[0.3]), Verdict::Contradicts);
        assert_eq!(value(&[1.3]), Verdict::Contradicts);
    }

    fn claim(measure: &str) -> ClaimPlan {
        let text = format!(
            "text = \"t\"\nof = {{ method = \"a\" }}\nagainst = {{ method = \"b\" }}\n\
             quantity = \"time_to_target_s\"\ntarget = 0.9\npaper = 0.4\nmeasure = \"{measure}\""
        );
        toml::from_str(&text).unwrap()
    }

    fn side(seeds: &[&[Option<f64>]]) -> Samples {
        let of_seed = |values: &&[Option<f64>]| {
            let names = (0..).map(|i: u32| vec![i.to_string()]);
            names.zip(values.iter().copied()).collect()
        };
        (1..).zip(seeds.iter().map(of_seed)).collect()
    }

    #[test]
    fn pairs_are_averaged_within_a_seed_worked_by_hand() {
        // Seed 1: 1 - 1/2 and 1 - 3/4; seed 2: 1 - 2/4, and a run that never got there.
        let mine = side(&[&[Some(1.0), Some(3.0)], &[Some(2.0), Some(1.0)]]);
        let theirs = side(&[&[Some(2.0), Some(4.0)], &[Some(4.0), None]]);
        let judged = judge("fig", &claim("saving"), &mine, &theirs);
        let ours = judged.ours.unwrap();
        assert!((ours.mean - (0.375 + 0.5) / 2.0).abs() < 1e-12);
        assert_eq!((ours.n, judged.of, judged.verdict), (2, 2, Verdict::Agrees));
        let judged = judge("fig", &claim("difference"), &mine, &theirs);
        assert_eq!(judged.ours.unwrap().mean, (-1.0 - 2.0) / 2.0);
        assert_eq!(judged.unit, "s");
    }

    #[test]
    fn seeds_that_cannot_tell_are_counted_but_not_averaged() {
        let mine = side(&[&[Some(1.0)], &[None], &[Some(1.0)]]);
        let theirs = side(&[&[Some(2.0)], &[Some(4.0)]]);
        let judged = judge("fig", &claim("saving"), &mine, &theirs);
        assert_eq!((judged.of, judged.ours.unwrap().n), (2, 1));
        assert!(!judged.sure);
        let none = judge("fig", &claim("saving"), &mine, &Samples::new());
        assert_eq!((none.of, none.ours, none.verdict), (0, None, Verdict::Open));
    }
}
