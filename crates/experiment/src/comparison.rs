//! Methods side by side: what each target cost, and what the first saves against the others.

mod table;
mod words;

use aerofed::record::{Energy, Time};
use aerofed::scenario::TargetOn;
use serde::{Deserialize, Serialize};

use super::curve::{Along, mean_series};
use super::holm::{Saving, correct};
use super::missed::{Reasons, reasons};
use super::plan::{ComparePlan, Contender};
use super::quantity::Quantity;
use super::results::{Axis, Panel, PanelKind, Series};
use super::statistics::{AMOUNT, Estimate, SHARE, saving};
use super::stored::{Stand, StoredRun};
use super::styles::Styles;

pub(crate) use table::columns;

/// All statistics of a comparison: `compare.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The program's version.
    pub version: String,
    /// The scenario's name.
    pub scenario: String,
    /// The seeds, the same for each method.
    pub seeds: Vec<u64>,
    /// Which accuracy targets are judged by.
    pub target_on: TargetOn,
    /// Over how many rounds it is averaged; 1: not at all.
    pub smooth: usize,
    /// In the order given; savings are of the first.
    pub methods: Vec<MethodStatistics>,
}

/// One method over all seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodStatistics {
    /// What it is called here.
    pub label: String,
    /// Its registered name.
    pub method: String,
    /// Settings that hold for it alone.
    pub settings: Vec<String>,
    /// What each target took, by rising accuracy.
    pub targets: Vec<TargetStatistics>,
    /// Why its runs ended, and how many of them.
    #[serde(default)]
    pub stopped_by: Reasons,
    /// Test accuracy after the last round.
    pub final_accuracy: Option<Estimate>,
    /// Best test accuracy of any round.
    pub best_accuracy: Option<Estimate>,
    /// Devices that trained in a round.
    pub selected_per_round: Option<Estimate>,
    /// Device updates of a run that never reached the global model.
    pub updates_lost: Option<Estimate>,
    /// The same as a share of the updates computed.
    pub updates_lost_share: Option<Estimate>,
    /// What the time of a whole run went into, mean.
    pub time: Time,
    /// What the energy of a whole run went into, mean.
    pub energy: Energy,
}

/// One method and one target over all seeds. Means are over the runs that reached it: in the round in which the mean over the
/// last [`Comparison::smooth`] accuracies was first at or above it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetStatistics {
    /// The accuracy asked for.
    pub accuracy: f64,
    /// Runs that reached it.
    pub reached: usize,
    /// Runs.
    pub of: usize,
    /// Why the runs that never reached it ended.
    #[serde(default)]
    pub missed: Reasons,
    /// Global rounds until then.
    pub rounds: Option<Estimate>,
    /// Simulated time until then, s.
    pub time_s: Option<Estimate>,
    /// Energy until then, J.
    pub energy_j: Option<Estimate>,
    /// 1 - first / this, seed by seed where both reached it; none for the first itself.
    pub time_saving_of_first: Option<Saving>,
    /// The same for energy.
    pub energy_saving_of_first: Option<Saving>,
    /// The same for the curve without smoothing, which noise carries over a target early; none where that is what stands above.
    #[serde(default)]
    pub first_crossing: Option<Box<Self>>,
}

impl Comparison {
    /// Sums up the runs of a plan, `runs[contender][seed]`.
    #[must_use]
    pub fn new(plan: &ComparePlan, runs: &[Vec<StoredRun>]) -> Self {
        let of = |(contender, mine): (&Contender, &Vec<StoredRun>)| {
            let over = |domain, value: fn(&StoredRun) -> f64| {
                Estimate::within(&mine.iter().map(value).collect::<Vec<_>>(), domain)
            };
            let rivals = runs.first().filter(|first| !std::ptr::eq(*first, mine));
            let targets = plan.targets.iter();
            MethodStatistics {
                label: contender.label.clone(),
                method: contender.method.clone(),
                settings: contender.settings.clone(),
                targets: targets.map(|&t| cost(plan, t, mine, rivals)).collect(),
                stopped_by: reasons(mine.iter()),
                final_accuracy: over(SHARE, |run| run.summary.final_accuracy),
                best_accuracy: over(SHARE, |run| run.summary.best_accuracy),
                selected_per_round: over(AMOUNT, StoredRun::selected_per_round),
                updates_lost: over(AMOUNT, |run| run.summary.updates_lost as f64),
                updates_lost_share: over(SHARE, StoredRun::lost_share),
                time: Time::mean(mine.iter().map(|run| &run.summary.time)),
                energy: Energy::mean(mine.iter().map(|run| &run.summary.energy)),
            }
        };
        let mut comparison = Self {
            version: aerofed::VERSION.into(),
            scenario: plan.base.name.clone(),
            seeds: plan.seeds.clone(),
            target_on: plan.base.stop.target_on,
            smooth: plan.base.stop.smooth,
            methods: plan.contenders.iter().zip(runs).map(of).collect(),
        };
        comparison.correct_savings();
        comparison
    }

    /// Marks the savings that hold although there are many: those that stand first are one family, those of first crossings
    /// another.
    fn correct_savings(&mut self) {
        let targets = self.methods.iter_mut().flat_map(|m| &mut m.targets);
        let (mut shown, mut first) = (Vec::new(), Vec::new());
        for target in targets {
            let crossing = target.first_crossing.as_deref_mut();
            first.extend(crossing.into_iter().flat_map(TargetStatistics::savings));
            let (time, energy) = (
                &mut target.time_saving_of_first,
                &mut target.energy_saving_of_first,
            );
            shown.extend([time, energy].into_iter().flatten());
        }
        correct(&mut shown);
        correct(&mut first);
    }
}

impl TargetStatistics {
    fn savings(&mut self) -> impl Iterator<Item = &mut Saving> {
        let both = [
            &mut self.time_saving_of_first,
            &mut self.energy_saving_of_first,
        ];
        both.into_iter().flatten()
    }
}

/// Accuracy over time and over energy, with bands.
#[must_use]
pub fn panels(plan: &ComparePlan, runs: &[Vec<StoredRun>]) -> [Panel; 2] {
    let mut styles = Styles::default();
    let mut panel = |id: &str, along: Along, label: &str, unit: &str| {
        let series = plan
            .contenders
            .iter()
            .zip(runs)
            .map(|(contender, runs)| Series {
                label: contender.label.clone(),
                method: contender.method.clone(),
                style: styles.of(&contender.method, &contender.label),
                ..mean_series(&runs.iter().collect::<Vec<_>>(), along)
            });
        let axis = |label: &str, unit: &str| Axis {
            label: label.into(),
            unit: unit.into(),
            ticks: Vec::new(),
        };
        let title = match plan.seeds.len() {
            1 => "Test accuracy, 1 seed".into(),
            seeds => format!("Test accuracy, {seeds} seeds"),
        };
        Panel {
            id: id.into(),
            title,
            kind: PanelKind::Lines,
            series: series.collect(),
            x: axis(label, unit),
            y: axis(Quantity::Accuracy.label(), Quantity::Accuracy.unit()),
        }
    };
    [
        panel("time", Along::TimeS, "simulated time", "s"),
        panel("energy", Along::EnergyJ, "energy", "J"),
    ]
}

/// `first` is empty for the first method itself.
fn cost(
    plan: &ComparePlan,
    accuracy: f64,
    mine: &[StoredRun],
    first: Option<&Vec<StoredRun>>,
) -> TargetStatistics {
    let mut cost = at_target(accuracy, mine, first, |run| run.reached(accuracy));
    if plan.base.stop.smooth > 1 {
        let crossing = at_target(accuracy, mine, first, |run| run.first_crossing(accuracy));
        cost.first_crossing = Some(Box::new(crossing));
    }
    cost
}

fn at_target(
    accuracy: f64,
    mine: &[StoredRun],
    first: Option<&Vec<StoredRun>>,
    reached: impl Fn(&StoredRun) -> Option<&Stand>,
) -> TargetStatistics {
    let stands: Vec<&Stand> = mine.iter().filter_map(&reached).collect();
    let over = |value: fn(&Stand) -> f64| {
        let values: Vec<f64> = stands.iter().map(|stand| value(stand)).collect();
        Estimate::within(&values, AMOUNT)
    };
    let saved = |value: fn(&Stand) -> f64| {
        let pairs = first?.iter().zip(mine);
        let savings = pairs.filter_map(|(first, mine)| {
            let (first, mine) = (reached(first)?, reached(mine)?);
            saving(value(first), value(mine))
        });
        Saving::of(&savings.collect::<Vec<_>>())
    };
    TargetStatistics {
        accuracy,
        reached: stands.len(),
        of: mine.len(),
        missed: reasons(mine.iter().filter(|run| reached(run).is_none())),
        rounds: over(|stand| stand.round as f64),
        time_s: over(|stand| stand.clock_s),
        energy_j: over(|stand| stand.energy_j),
        time_saving_of_first: saved(|stand| stand.clock_s),
        energy_saving_of_first: saved(|stand| stand.energy_j),
        first_crossing: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::stored::tests::run;
    use super::*;
    use aerofed::Scenario;
    use aerofed::method::Registry;
    use aerofed::record::{EnergyItem, StoppedBy};

    fn plan(methods: &str) -> ComparePlan {
        let contenders = Contender::parse_list(&Registry::builtin(), methods).unwrap();
        ComparePlan::new(
            Scenario::default(),
            contenders,
            1..=3,
            vec![0.5, 0.8],
            false,
        )
        .unwrap()
    }

    /// The first needs 10, 12, 14 s to 0.5 and is through at 0.8 under every seed; the other needs
    /// 20, 16, 28 s and gets to 0.8 under two seeds.
    fn runs() -> Vec<Vec<StoredRun>> {
        let first = [10.0, 12.0, 14.0];
        let second = [(20.0, 0.8), (16.0, 0.8), (28.0, 0.7)];
        vec![
            (1..)
                .zip(first)
                .map(|(s, t)| run(s, &[(t, 100.0, 0.6), (30.0, 300.0, 0.8)]))
                .collect(),
            (1..)
                .zip(second)
                .map(|(s, (t, a))| run(s, &[(t, 200.0, 0.5), (60.0, 400.0, a)]))
                .collect(),
        ]
    }

    #[test]
    fn savings_are_paired_by_seed_worked_by_hand() {
        let comparison = Comparison::new(&plan("hfl,direct_drop"), &runs());
        let first = &comparison.methods[0].targets;
        assert_eq!((first[0].reached, first[0].time_s.unwrap().mean), (3, 12.0));
        assert_eq!(first[0].time_saving_of_first, None);
        let other = &comparison.methods[1].targets;
        // 1 - 10/20, 1 - 12/16, 1 - 14/28: mean 5/12; t(2) s/√3 with s² = 1/48.
        let saving = other[0].time_saving_of_first.unwrap().estimate;
        assert!((saving.mean - 5.0 / 12.0).abs() < 1e-12);
        let half = 4.302_653 * (1.0f64 / 48.0 / 3.0).sqrt();
        assert!((saving.half_width().unwrap() - half).abs() < 1e-6);
        assert_eq!(other[0].energy_saving_of_first.unwrap().estimate.mean, 0.5);
    }

    #[test]
    fn runs_that_missed_a_target_are_counted_and_marked() {
        let comparison = Comparison::new(&plan("hfl,direct_drop"), &runs());
        let missed = &comparison.methods[1].targets[1];
        assert_eq!((missed.reached, missed.of), (2, 3));
        assert_eq!(missed.time_s.unwrap().mean, 60.0);
        assert_eq!(missed.time_saving_of_first.unwrap().estimate.n, 2);
        let text = comparison.markdown();
        let row = text
            .lines()
            .filter(|line| line.contains("direct_drop"))
            .nth(1)
            .unwrap();
        assert!(
            row.contains("2/3 reached") && row.contains("*") && row.contains("(2 seeds)"),
            "{row}"
        );
        assert!(
            text.contains("only over the runs that reached it"),
            "{text}"
        );
        let missed = "Runs that never reached it: 1 out of rounds (direct_drop).";
        assert!(text.contains(missed), "{text}");
        assert_eq!(text.matches("never reached").count(), 1, "{text}");
    }

    #[test]
    fn a_saving_over_one_seed_is_not_told_of_many() {
        let mut runs = runs();
        runs[1].remove(0);
        let text = Comparison::new(&plan("hfl,direct_drop"), &runs).markdown();
        assert!(text.contains("(1 seed)"), "{text}");
        assert!(!text.contains("1 seeds"), "{text}");
    }

    #[test]
    fn why_a_target_was_never_reached_is_told() {
        let mut runs = runs();
        runs[1][2].summary.stopped_by = StoppedBy::Diverged;
        runs[1][1].summary.stopped_by = StoppedBy::TargetAccuracy;
        let plan = plan("hfl,direct_drop");
        let comparison = Comparison::new(&plan, &runs);
        let method = &comparison.methods[1];
        let counts = |reasons: &Reasons| reasons.clone().into_iter().collect::<Vec<_>>();
        let all = ["diverged", "max_rounds", "target_accuracy"].map(|word| (word.into(), 1));
        assert_eq!(counts(&method.stopped_by), all);
        assert!(method.targets[0].missed.is_empty());
        assert_eq!(counts(&method.targets[1].missed), [("diverged".into(), 1)]);
        let text = comparison.markdown();
        assert!(text.contains("1 diverged (direct_drop)"), "{text}");
    }

    #[test]
    fn items_are_means_of_whole_runs_without_empty_ones() {
        let mut runs = runs();
        for (run, hover_j) in runs[0].iter_mut().zip([1e3, 2e3, 6e3]) {
            run.summary.energy.add(EnergyItem::EdgeHover, hover_j);
            run.summary.energy.add(EnergyItem::Move, 500.0);
        }
        let text = Comparison::new(&plan("hfl,direct_drop"), &runs).markdown();
        let (_, energy) = text.split_once("Where the energy (kJ)").unwrap();
        let words = |line: &str| -> Vec<String> {
            let cells = line.trim_matches('|').split('|');
            cells.map(|cell| cell.trim().into()).collect()
        };
        let rows: Vec<Vec<String>> = energy.lines().skip(2).map(words).collect();
        assert_eq!(rows[0], ["method", "edge hover", "move", "sum"]);
        assert_eq!(rows[2], ["hfl", "3.00", "0.50", "3.50"]);
        assert_eq!(rows[3], ["direct_drop", "0.00", "0.00", "0.00"]);
    }

    #[test]
    fn a_target_that_nobody_reached_has_no_mean() {
        let mut none = plan("hfl,direct_drop");
        none.targets = vec![0.99];
        let comparison = Comparison::new(&none, &runs());
        let target = &comparison.methods[1].targets[0];
        assert_eq!(
            (target.reached, target.time_s, target.time_saving_of_first),
            (0, None, None)
        );
        assert!(comparison.markdown().contains("0/3 reached"));
    }

    /// Round by round 1 s, 1 J. The first is at 0.5 in round 1 once by luck, and stays there from round 3 on.
    fn noisy() -> (ComparePlan, Vec<Vec<StoredRun>>) {
        let mut plan = plan("hfl,direct_drop");
        plan.targets = vec![0.5];
        plan.base.stop.smooth = 3;
        let curve = |accuracies: &[f64]| -> Vec<(f64, f64, f64)> {
            let rounds = (1..).zip(accuracies);
            rounds
                .map(|(i, &a)| (f64::from(i), f64::from(i), a))
                .collect()
        };
        let runs = |accuracies: &[f64]| -> Vec<StoredRun> {
            let of_seed = |seed| {
                let mut run = run(seed, &curve(accuracies));
                run.summary.smooth = 3;
                run
            };
            (1..=3).map(of_seed).collect()
        };
        let lucky = runs(&[0.5, 0.2, 0.6, 0.6, 0.6]);
        let steady = runs(&[0.4, 0.5, 0.5, 0.5, 0.5]);
        (plan, vec![lucky, steady])
    }

    #[test]
    fn smoothing_takes_luck_out_of_the_headline_and_keeps_it_beside() {
        let (plan, runs) = noisy();
        let comparison = Comparison::new(&plan, &runs);
        let rounds = |method: usize| {
            let target = &comparison.methods[method].targets[0];
            let first = target.first_crossing.as_ref().unwrap();
            let mean = |estimate: Option<Estimate>| estimate.unwrap().mean;
            (mean(target.rounds), mean(first.rounds))
        };
        // (0.2 + 0.6 + 0.6) / 3 is below 0.5.
        assert_eq!((rounds(0), rounds(1)), ((5.0, 1.0), (4.0, 2.0)));
        let other = &comparison.methods[1].targets[0];
        let saved = |target: &TargetStatistics| target.time_saving_of_first.unwrap();
        assert_eq!(saved(other).estimate.mean, 1.0 - 5.0 / 4.0);
        let first = other.first_crossing.as_ref().unwrap();
        assert_eq!(saved(first).estimate.mean, 0.5);
        let text = comparison.markdown();
        for words in ["mean over the last 3 rounds", "First crossing", "Holm"] {
            assert!(text.contains(words), "{words}: {text}");
        }
        let mut plain = plan;
        plain.base.stop.smooth = 1;
        let text = Comparison::new(&plain, &runs).markdown();
        assert!(!text.contains("First crossing"), "{text}");
    }

    #[test]
    fn targets_on_validation_samples_look_at_those_alone() {
        let (mut plan, mut runs) = noisy();
        plan.base.stop.target_on = TargetOn::Validation;
        for run in runs.iter_mut().flatten() {
            run.summary.target_on = TargetOn::Validation;
        }
        // Made-up runs are half as good there.
        let comparison = Comparison::new(&plan, &runs);
        assert_eq!(comparison.methods[0].targets[0].reached, 0);
        let text = comparison.markdown();
        assert!(text.contains("validation accuracy"), "{text}");
    }

    #[test]
    fn two_seeds_have_ranges_and_no_test() {
        let mut plan = plan("hfl,direct_drop");
        plan.seeds = vec![1, 2];
        let two: Vec<Vec<StoredRun>> = runs().iter().map(|r| r[..2].to_vec()).collect();
        let text = Comparison::new(&plan, &two).markdown();
        assert!(text.contains("37.5 % (25.0 to 50.0)"), "{text}");
        assert!(!text.contains('±') && !text.contains('†'), "{text}");
    }
}
