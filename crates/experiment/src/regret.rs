//! Regret: what contenders cost more than the best of some of them, point by point of an experiment.
//!
//! Which of those is the best is known when all runs are done, and may be another one at every point: nobody who has to choose
//! beforehand does better than that by choosing one of them. A contender that is better all the same has a negative regret.

use std::collections::BTreeMap;

use super::description::RegretPlan;
use super::experiment_sweep::{ExperimentSweep, Finished};
use super::quantity::Quantity;
use super::results::{Cell, Row, Table};
use super::statistics::Estimate;
use super::stored::StoredRun;

/// A run that never reached its target counts as so many times what it spent (PAR2, as solvers are compared).
const NOT_REACHED: f64 = 2.0;

/// Logarithms of costs by seed; of a point and a contender.
type Costs = BTreeMap<u64, f64>;

/// Costs by point, then by contender.
type Points = Vec<(Vec<String>, Vec<Costs>)>;

/// The table of a plan: a row for each contender, columns for the mean over all points, the worst of them, and each.
pub(super) fn table(sweep: &ExperimentSweep, finished: &Finished, plan: &RegretPlan) -> Table {
    let points = points(sweep, finished, plan);
    let rivals: Vec<usize> = (0..sweep.contenders.len())
        .filter(|&place| plan.best_of.contains(&sweep.contenders[place].label))
        .collect();
    let best: Vec<Option<usize>> = points.iter().map(|(_, all)| best(all, &rivals)).collect();
    let rows = sweep.contenders.iter().enumerate().map(|(place, who)| Row {
        label: who.label.clone(),
        cells: cells(place, &points, &best),
    });
    let named = points.iter().zip(&best).filter_map(|((labels, _), best)| {
        let best = &sweep.contenders[(*best)?].label;
        Some(format!("{}: {best}", labels.join(", ")))
    });
    let caption = format!(
        "{} Best of {}, by point: {}.",
        plan.caption,
        plan.best_of.len(),
        named.collect::<Vec<_>>().join("; ")
    );
    let names = points.iter().map(|(labels, _)| labels.join(", "));
    Table {
        id: sweep.description.name.clone(),
        title: plan.title.clone(),
        caption: caption.trim().into(),
        unit: "%".into(),
        columns: ["mean".into(), "worst".into()]
            .into_iter()
            .chain(names)
            .collect(),
        rows: rows.collect(),
    }
}

fn points(sweep: &ExperimentSweep, finished: &Finished, plan: &RegretPlan) -> Points {
    let mut points = Points::new();
    for case in &sweep.cases {
        let place = points.iter().position(|(labels, _)| *labels == case.labels);
        let place = place.unwrap_or_else(|| {
            let nobody = vec![Costs::new(); sweep.contenders.len()];
            points.push((case.labels.clone(), nobody));
            points.len() - 1
        });
        if let Some(run) = finished.get(&case.run.id) {
            let cost = cost(plan.quantity, run, case.target.or(plan.target));
            points[place].1[case.contender].insert(case.run.scenario.seed, cost.ln());
        }
    }
    points
}

/// What a run cost until its target.
fn cost(quantity: Quantity, run: &StoredRun, target: Option<f64>) -> f64 {
    let spent = || match quantity {
        Quantity::RoundsToTarget => run.summary.rounds as f64,
        Quantity::TimeToTargetS => run.summary.total_time_s,
        _ => run.summary.total_energy_j,
    };
    let reached = quantity.of_run(run, target);
    reached.unwrap_or_else(|| NOT_REACHED * spent())
}

/// Who costs least at a point on average over its seeds.
fn best(all: &[Costs], rivals: &[usize]) -> Option<usize> {
    let mean = |place: &usize| {
        let costs = &all[*place];
        costs.values().sum::<f64>() / costs.len() as f64
    };
    let known = rivals.iter().filter(|place| !all[**place].is_empty());
    known.copied().min_by(|a, b| mean(a).total_cmp(&mean(b)))
}

fn cells(place: usize, points: &Points, best: &[Option<usize>]) -> Vec<Cell> {
    let mut by_seed: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let mut each = Vec::new();
    for ((_, all), best) in points.iter().zip(best) {
        let mut ratios = Vec::new();
        for (seed, mine) in &all[place] {
            if let Some(theirs) = best.and_then(|best| all[best].get(seed)) {
                ratios.push(mine - theirs);
                by_seed.entry(*seed).or_default().push(mine - theirs);
            }
        }
        each.push(Estimate::of(&ratios).map(in_percent));
    }
    let mean_of = |ratios: &Vec<f64>| ratios.iter().sum::<f64>() / ratios.len() as f64;
    let means: Vec<f64> = by_seed.values().map(mean_of).collect();
    let mean = Estimate::of(&means).map(in_percent);
    let known = each.iter().flatten();
    let worst = known.max_by(|a, b| a.mean.total_cmp(&b.mean)).copied();
    let cell = |ours: Option<Estimate>| Cell { ours, paper: None };
    [mean, worst].into_iter().chain(each).map(cell).collect()
}

/// The ratio that a mean of logarithms is, as a percentage above 1.
fn in_percent(logarithms: Estimate) -> Estimate {
    let percent = |value: f64| 100.0 * value.exp_m1();
    Estimate {
        mean: percent(logarithms.mean),
        low: logarithms.low.map(percent),
        high: logarithms.high.map(percent),
        min: percent(logarithms.min),
        max: percent(logarithms.max),
        n: logarithms.n,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(values: [f64; 2]) -> Costs {
        (1..).zip(values.map(f64::ln)).collect()
    }

    /// By hand, two points and two seeds. At the first the second constant is best (costs 2 and 2), and the method takes 1 and 4: a geometric
    /// mean of 1. At the second the first is best with 10 and 10, the method takes 11 and 11: 10 % more. On average sqrt(1.1), 4.88 % more.
    #[test]
    fn regret_is_against_the_best_at_each_point() {
        let points = vec![
            (
                vec!["a".into()],
                vec![costs([1.0, 4.0]), costs([3.0, 3.0]), costs([2.0, 2.0])],
            ),
            (
                vec!["b".into()],
                vec![
                    costs([11.0, 11.0]),
                    costs([10.0, 10.0]),
                    costs([20.0, 20.0]),
                ],
            ),
        ];
        let best: Vec<Option<usize>> = points.iter().map(|(_, all)| best(all, &[1, 2])).collect();
        assert_eq!(best, [Some(2), Some(1)]);
        let cells = cells(0, &points, &best);
        let means: Vec<f64> = cells.iter().map(|cell| cell.ours.unwrap().mean).collect();
        let expected = [100.0 * (1.1f64.sqrt() - 1.0), 10.0, 0.0, 10.0];
        assert_eq!(means.len(), expected.len());
        for (ours, expected) in means.iter().zip(expected) {
            assert!((ours - expected).abs() < 1e-9, "{means:?}");
        }
    }

    /// Runs that are not there say nothing, and nobody's regret is against them.
    #[test]
    fn a_point_without_the_best_has_no_regret() {
        let points = vec![(vec!["a".into()], vec![costs([1.0, 4.0]), Costs::new()])];
        assert_eq!(best(&points[0].1, &[1]), None);
        assert!(
            cells(0, &points, &[None])
                .iter()
                .all(|cell| cell.ours.is_none())
        );
    }
}
