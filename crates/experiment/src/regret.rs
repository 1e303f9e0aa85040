//! Regret: what contenders cost more than the best of some of them, point by point of an experiment.
//!
//! Which of those is the best is known when all runs are done, and may be another one at every point: nobody who has to choose
//! beforehand does better than that by choosing one of them. A contender that is better all the same has a negative regret.
//!
//! The best of many on a few seeds is partly the luckiest on them, and costs more on others. A plan can ask for the best on the other seeds
//! instead: for each seed the one that costs least on all seeds but this.

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
    let chosen = |all: &[Costs], seed: u64| {
        let without = plan.on_other_seeds.then_some(seed);
        best(all, &rivals, without)
    };
    let rows = sweep.contenders.iter().enumerate().map(|(place, who)| Row {
        label: who.label.clone(),
        cells: cells(place, &points, chosen),
    });
    let named = points.iter().filter_map(|(labels, all)| {
        let best = &sweep.contenders[best(all, &rivals, None)?].label;
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

/// Who costs least at a point on average over its seeds, one of them perhaps left out.
fn best(all: &[Costs], rivals: &[usize], without: Option<u64>) -> Option<usize> {
    let mean = |place: usize| {
        let costs = all[place]
            .iter()
            .filter(|(seed, _)| Some(**seed) != without);
        let (sum, count) = costs.fold((0.0, 0), |(sum, count), (_, cost)| (sum + cost, count + 1));
        (count > 0).then(|| (sum / f64::from(count), place))
    };
    let known = rivals.iter().filter_map(|&place| mean(place));
    let least = known.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(least.1)
}

/// What a contender costs more than whoever is `chosen` at a point for a seed.
fn cells(
    place: usize,
    points: &Points,
    chosen: impl Fn(&[Costs], u64) -> Option<usize>,
) -> Vec<Cell> {
    let mut by_seed: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let mut each = Vec::new();
    for (_, all) in points {
        let mut ratios = Vec::new();
        for (seed, mine) in &all[place] {
            if let Some(theirs) = chosen(all, *seed).and_then(|best| all[best].get(seed)) {
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
        let chosen = |all: &[Costs], _| best(all, &[1, 2], None);
        assert_eq!(chosen(&points[0].1, 1), Some(2));
        assert_eq!(chosen(&points[1].1, 1), Some(1));
        let cells = cells(0, &points, chosen);
        let means: Vec<f64> = cells.iter().map(|cell| cell.ours.unwrap().mean).collect();
        let expected = [100.0 * (1.1f64.sqrt() - 1.0), 10.0, 0.0, 10.0];
        assert_eq!(means.len(), expected.len());
        for (ours, expected) in means.iter().zip(expected) {
            assert!((ours - expected).abs() < 1e-9, "{means:?}");
        }
    }

    /// By hand, one point: two constants are lucky on one seed each (costs 1 and 9), a third takes 2 on both. On the same seeds the third is best
    /// and so is whoever takes as much; on the other seed always the lucky one is, which takes 9 on this.
    #[test]
    fn on_other_seeds_luck_does_not_count() {
        let lucky = [costs([1.0, 9.0]), costs([9.0, 1.0])];
        let all = vec![costs([2.0, 2.0]), lucky[0].clone(), lucky[1].clone()];
        assert_eq!(best(&all, &[0, 1, 2], None), Some(0));
        assert_eq!(best(&all, &[0, 1, 2], Some(1)), Some(2));
        assert_eq!(best(&all, &[0, 1, 2], Some(2)), Some(1));
        let points = vec![(vec!["a".into()], all)];
        let chosen = |all: &[Costs], seed| best(all, &[0, 1, 2], Some(seed));
        let mean = cells(0, &points, chosen)[0].ours.unwrap().mean;
        assert!((mean - 100.0 * (2.0 / 9.0 - 1.0)).abs() < 1e-9, "{mean}");
    }

    /// Runs that are not there say nothing, and nobody's regret is against them.
    #[test]
    fn a_point_without_the_best_has_no_regret() {
        let points = vec![(vec!["a".into()], vec![costs([1.0, 4.0]), Costs::new()])];
        assert_eq!(best(&points[0].1, &[1], None), None);
        assert!(
            cells(0, &points, |_, _| None)
                .iter()
                .all(|cell| cell.ours.is_none())
        );
    }
}
