//! Methods side by side: what each target cost, and what the first saves against the others.

use std::fmt::Write as _;

use aerofed::record::{Energy, EnergyItem, Time, TimeItem};
use serde::{Deserialize, Serialize};

use super::curve::{Along, mean_series};
use super::markdown::{exact_percent, percent, plus_minus, seed_words, table};
use super::missed::{Reasons, reasons};
use super::plan::{ComparePlan, Contender};
use super::quantity::Quantity;
use super::results::{Axis, Panel, PanelKind, Series};
use super::statistics::{Estimate, saving};
use super::stored::{Stand, StoredRun, word};
use super::styles::Styles;

/// All statistics of a comparison: `compare.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The program's version.
    pub version: String,
    /// The scenario's name.
    pub scenario: String,
    /// The seeds, the same for each method.
    pub seeds: Vec<u64>,
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

/// One method and one target over all seeds. Means are over the runs that reached it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetStatistics {
    /// The test accuracy asked for.
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
    pub time_saving_of_first: Option<Estimate>,
    /// The same for energy.
    pub energy_saving_of_first: Option<Estimate>,
}

impl Comparison {
    /// Sums up the runs of a plan, `runs[contender][seed]`.
    #[must_use]
    pub fn new(plan: &ComparePlan, runs: &[Vec<StoredRun>]) -> Self {
        let of = |(contender, mine): (&Contender, &Vec<StoredRun>)| {
            let over = |value: fn(&StoredRun) -> f64| {
                Estimate::of(&mine.iter().map(value).collect::<Vec<_>>())
            };
            let rivals = runs.first().filter(|first| !std::ptr::eq(*first, mine));
            let targets = plan.targets.iter();
            MethodStatistics {
                label: contender.label.clone(),
                method: contender.method.clone(),
                settings: contender.settings.clone(),
                targets: targets.map(|&t| at_target(t, mine, rivals)).collect(),
                stopped_by: reasons(mine.iter()),
                final_accuracy: over(|run| run.summary.final_accuracy),
                best_accuracy: over(|run| run.summary.best_accuracy),
                selected_per_round: over(StoredRun::selected_per_round),
                updates_lost: over(|run| run.summary.updates_lost as f64),
                updates_lost_share: over(StoredRun::lost_share),
                time: Time::mean(mine.iter().map(|run| &run.summary.time)),
                energy: Energy::mean(mine.iter().map(|run| &run.summary.energy)),
            }
        };
        Self {
            version: aerofed::VERSION.into(),
            scenario: plan.base.name.clone(),
            seeds: plan.seeds.clone(),
            methods: plan.contenders.iter().zip(runs).map(of).collect(),
        }
    }

    /// The comparison as Markdown, aligned so that a terminal shows it as well.
    #[must_use]
    pub fn markdown(&self) -> String {
        let Some(first) = self.methods.first() else {
            return String::new();
        };
        let mut text = format!(
            "Scenario {}, {} (mean ± half a 95 % interval).\n",
            self.scenario,
            seed_words(&self.seeds)
        );
        let time_saved = format!("time saved by {}", first.label);
        let header = ["method", "reached", "rounds", "time (s)", "energy (kJ)"];
        let header = [&header[..], &[&time_saved, "energy saved"]].concat();
        for (index, target) in first.targets.iter().enumerate() {
            let columns = self.methods.iter().map(|m| (m, &m.targets[index]));
            let rows: Vec<Vec<String>> = columns.clone().map(|(m, t)| t.row(m)).collect();
            // Writing to a string cannot fail.
            _ = write!(
                text,
                "\nTo {} accuracy:\n\n{}",
                exact_percent(target.accuracy),
                table(&header, &rows)
            );
            if columns.clone().any(|(_, t)| (1..t.of).contains(&t.reached)) {
                text += "\n\\* only over the runs that reached it\n";
            }
            if let Some(missed) = self.missed(index) {
                _ = write!(text, "\n{missed}\n");
            }
        }
        let header = [
            "method",
            "final accuracy",
            "devices a round",
            "updates lost",
            "share lost",
        ];
        let row = |m: &MethodStatistics| {
            vec![
                m.label.clone(),
                percent(m.final_accuracy.as_ref()),
                plus_minus(m.selected_per_round.as_ref(), 1.0),
                plus_minus(m.updates_lost.as_ref(), 1.0),
                percent(m.updates_lost_share.as_ref()),
            ]
        };
        let rows: Vec<Vec<String>> = self.methods.iter().map(row).collect();
        _ = write!(text, "\nWhole runs:\n\n{}", table(&header, &rows));
        let time = |m: &MethodStatistics, item| m.time.get(item);
        let energy = |m: &MethodStatistics, item| m.energy.get(item) / 1e3;
        text += &self.items("time (s)", &TimeItem::ALL.map(|i| (i, i.label())), time);
        text += &self.items(
            "energy (kJ)",
            &EnergyItem::spent()
                .map(|i| (i, i.label()))
                .collect::<Vec<_>>(),
            energy,
        );
        text
    }

    /// What whole runs spent, by item; what would be 0.00 in every row is left out, but for the sum.
    fn items<I: Copy>(
        &self,
        what: &str,
        items: &[(I, String)],
        of: impl Fn(&MethodStatistics, I) -> f64,
    ) -> String {
        let seen = |item| self.methods.iter().any(|m| of(m, item).abs() >= 0.005);
        let shown: Vec<_> = items.iter().filter(|(item, _)| seen(*item)).collect();
        let mut header = vec!["method"];
        header.extend(shown.iter().map(|(_, label)| label.as_str()));
        header.push("sum");
        let row = |m: &MethodStatistics| {
            let sum = items.iter().map(|(item, _)| of(m, *item)).sum();
            let cells = shown.iter().map(|(item, _)| of(m, *item)).chain([sum]);
            let cells = cells.map(|value: f64| format!("{value:.2}"));
            [m.label.clone()].into_iter().chain(cells).collect()
        };
        let rows: Vec<Vec<String>> = self.methods.iter().map(row).collect();
        format!(
            "\nWhere the {what} of whole runs went, means:\n\n{}",
            table(&header, &rows)
        )
    }
}

impl TargetStatistics {
    /// A saving, and over how many seeds it is where not over all.
    #[must_use]
    pub fn saving_words(&self, saving: Option<&Estimate>) -> String {
        match saving {
            Some(estimate) if estimate.n < self.of => {
                format!("{} ({} seeds)", percent(saving), estimate.n)
            }
            _ => percent(saving),
        }
    }

    fn row(&self, method: &MethodStatistics) -> Vec<String> {
        let marked = |text: String| match self.reached < self.of && self.reached > 0 {
            true => text + " *",
            false => text,
        };
        vec![
            method.label.clone(),
            format!("{}/{} reached", self.reached, self.of),
            marked(plus_minus(self.rounds.as_ref(), 1.0)),
            marked(plus_minus(self.time_s.as_ref(), 1.0)),
            marked(plus_minus(self.energy_j.as_ref(), 1e3)),
            self.saving_words(self.time_saving_of_first.as_ref()),
            self.saving_words(self.energy_saving_of_first.as_ref()),
        ]
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
        Panel {
            id: id.into(),
            title: format!("Test accuracy, {} seeds", plan.seeds.len()),
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
fn at_target(
    accuracy: f64,
    mine: &[StoredRun],
    first: Option<&Vec<StoredRun>>,
) -> TargetStatistics {
    let stands: Vec<&Stand> = mine
        .iter()
        .filter_map(|run| run.reached(accuracy))
        .collect();
    let over = |value: fn(&Stand) -> f64| {
        Estimate::of(&stands.iter().map(|stand| value(stand)).collect::<Vec<_>>())
    };
    let saved = |value: fn(&Stand) -> f64| {
        let pairs = first?.iter().zip(mine);
        let savings = pairs.filter_map(|(first, mine)| {
            let (first, mine) = (first.reached(accuracy)?, mine.reached(accuracy)?);
            saving(value(first), value(mine))
        });
        Estimate::of(&savings.collect::<Vec<_>>())
    };
    TargetStatistics {
        accuracy,
        reached: stands.len(),
        of: mine.len(),
        missed: reasons(mine.iter().filter(|run| run.reached(accuracy).is_none())),
        rounds: over(|stand| stand.round as f64),
        time_s: over(|stand| stand.clock_s),
        energy_j: over(|stand| stand.energy_j),
        time_saving_of_first: saved(|stand| stand.clock_s),
        energy_saving_of_first: saved(|stand| stand.energy_j),
    }
}

/// One row per method, seed and target: `compare.csv`. Cells of targets never reached are empty; `stopped_by` says
/// why the run ended.
#[must_use]
pub fn csv(plan: &ComparePlan, runs: &[Vec<StoredRun>]) -> String {
    let mut text = String::from(
        "method,seed,target,rounds,time_s,energy_j,run_rounds,final_accuracy,best_accuracy,\
         selected_per_round,updates_computed,updates_lost,run,stopped_by\n",
    );
    for (contender, runs) in plan.contenders.iter().zip(runs) {
        for (run, target) in runs
            .iter()
            .flat_map(|r| plan.targets.iter().map(move |t| (r, t)))
        {
            let cost = run.reached(*target).map_or(",,".into(), |stand| {
                format!("{},{},{}", stand.round, stand.clock_s, stand.energy_j)
            });
            let summary = &run.summary;
            let folder = run.folder.file_name().unwrap_or_default();
            // Writing to a string cannot fail.
            _ = writeln!(
                text,
                "{},{},{target},{cost},{},{},{},{},{},{},{},{}",
                csv_cell(&contender.label),
                summary.seed,
                summary.rounds,
                summary.final_accuracy,
                summary.best_accuracy,
                run.selected_per_round(),
                summary.updates_computed,
                summary.updates_lost,
                folder.to_string_lossy(),
                word(summary.stopped_by),
            );
        }
    }
    text
}

/// Quoted when it must be.
fn csv_cell(text: &str) -> String {
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::stored::tests::run;
    use super::*;
    use aerofed::Scenario;
    use aerofed::method::Registry;
    use aerofed::record::StoppedBy;

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
        let saving = other[0].time_saving_of_first.unwrap();
        assert!((saving.mean - 5.0 / 12.0).abs() < 1e-12);
        let half = 4.302_653 * (1.0f64 / 48.0 / 3.0).sqrt();
        assert!((saving.half_width().unwrap() - half).abs() < 1e-6);
        assert_eq!(other[0].energy_saving_of_first.unwrap().mean, 0.5);
    }

    #[test]
    fn runs_that_missed_a_target_are_counted_and_marked() {
        let comparison = Comparison::new(&plan("hfl,direct_drop"), &runs());
        let missed = &comparison.methods[1].targets[1];
        assert_eq!((missed.reached, missed.of), (2, 3));
        assert_eq!(missed.time_s.unwrap().mean, 60.0);
        assert_eq!(missed.time_saving_of_first.unwrap().n, 2);
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
        let table = csv(&plan, &runs);
        assert!(table.lines().next().unwrap().ends_with(",run,stopped_by"));
        assert!(
            table.lines().last().unwrap().ends_with(",diverged"),
            "{table}"
        );
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

    #[test]
    fn rows_for_every_method_seed_and_target() {
        let plan = plan("\"a, b\"=hfl,direct_drop");
        let text = csv(&plan, &runs());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 2 * 3 * 2);
        assert!(
            lines[1].starts_with("\"\"\"a, b\"\"\",1,0.5,1,10,100,2,"),
            "{}",
            lines[1]
        );
        assert!(
            lines[12].starts_with("direct_drop,3,0.8,,,,2,0.7,"),
            "{}",
            lines[12]
        );
    }
}
