//! A comparison as Markdown.

use std::fmt::Write as _;

use aerofed::record::{EnergyItem, TimeItem};
use aerofed::scenario::TargetOn;

use super::{Comparison, MethodStatistics, TargetStatistics};
use crate::holm::Saving;
use crate::markdown::{exact_percent, percent, plus_minus, seed_words, spread_words, table};

/// Stands behind a saving that holds.
const HOLDS: &str = "†";

impl Comparison {
    /// The comparison as Markdown, aligned so that a terminal shows it as well.
    #[must_use]
    pub fn markdown(&self) -> String {
        let Some(first) = self.methods.first() else {
            return String::new();
        };
        let mut text = format!(
            "Scenario {}, {} ({}).\n{}\n",
            self.scenario,
            seed_words(&self.seeds),
            spread_words(self.seeds.len()),
            self.judged_words(),
        );
        for (index, target) in first.targets.iter().enumerate() {
            let shown: Vec<(&MethodStatistics, &TargetStatistics)> = self
                .methods
                .iter()
                .filter_map(|m| Some((m, m.targets.get(index)?)))
                .collect();
            let accuracy = exact_percent(target.accuracy);
            // Writing to a string cannot fail.
            _ = write!(
                text,
                "\nTo {accuracy} accuracy:\n\n{}",
                self.costs(first, &shown)
            );
            if let Some(missed) = self.missed(index) {
                _ = write!(text, "\n{missed}\n");
            }
            let raw: Vec<_> = shown
                .iter()
                .filter_map(|&(m, t)| Some((m, t.first_crossing.as_deref()?)))
                .collect();
            if !raw.is_empty() {
                _ = write!(
                    text,
                    "\nFirst crossing of {accuracy}, without smoothing:\n\n{}",
                    self.costs(first, &raw)
                );
            }
        }
        if let Some(words) = self.holm_words() {
            _ = write!(text, "\n{words}\n");
        }
        text += &self.whole_runs();
        let time = |m: &MethodStatistics, item| m.time.get(item);
        let energy = |m: &MethodStatistics, item| m.energy.get(item) / 1e3;
        text += &self.items("time (s)", &TimeItem::ALL.map(|i| (i, i.label())), time);
        let spent: Vec<_> = EnergyItem::spent().map(|i| (i, i.label())).collect();
        text + &self.items("energy (kJ)", &spent, energy)
    }

    /// When a target counts as reached.
    #[must_use]
    pub fn judged_words(&self) -> String {
        let on = match self.target_on {
            TargetOn::Test => "test accuracy",
            TargetOn::Validation => "validation accuracy (not the test set)",
        };
        match self.smooth {
            1 => format!("Targets are judged by {on}: the first round at or above them."),
            rounds => format!(
                "Targets are judged by {on}, mean over the last {rounds} rounds (so not before round {rounds}); \
                 the first crossing of the curve itself stands beside it."
            ),
        }
    }

    /// Which savings hold; none where none was tested.
    #[must_use]
    pub fn holm_words(&self) -> Option<String> {
        let targets = self.methods.iter().flat_map(|m| &m.targets);
        let savings = targets.flat_map(|t| [t.time_saving_of_first, t.energy_saving_of_first]);
        let tested: Vec<Saving> = savings.flatten().filter(|s| s.p.is_some()).collect();
        if tested.is_empty() {
            return None;
        }
        let holding = tested.iter().filter(|saving| saving.holds).count();
        let first = match self.smooth {
            1 => "",
            _ => " First crossings are a family of their own.",
        };
        Some(format!(
            "{HOLDS} holds after Holm's correction at 5 % over all savings shown: {holding} of {}.{first}",
            tested.len()
        ))
    }

    fn costs(
        &self,
        first: &MethodStatistics,
        shown: &[(&MethodStatistics, &TargetStatistics)],
    ) -> String {
        let time_saved = format!("time saved by {}", first.label);
        let header = ["method", "reached", "rounds", "time (s)", "energy (kJ)"];
        let header = [&header[..], &[&time_saved, "energy saved"]].concat();
        let rows: Vec<Vec<String>> = shown.iter().map(|(m, t)| t.row(m)).collect();
        let mut text = table(&header, &rows);
        if shown.iter().any(|(_, t)| (1..t.of).contains(&t.reached)) {
            text += "\n\\* only over the runs that reached it\n";
        }
        text
    }

    fn whole_runs(&self) -> String {
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
        format!("\nWhole runs:\n\n{}", table(&header, &rows))
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
    /// A saving, over how many seeds it is where not over all, and whether it holds.
    #[must_use]
    pub fn saving_words(&self, saving: Option<&Saving>) -> String {
        let mut words = percent(saving.map(|saving| &saving.estimate));
        if let Some(saving) = saving {
            if saving.holds {
                words += &format!(" {HOLDS}");
            }
            if saving.estimate.n < self.of {
                let seeds = saving.estimate.n;
                let plural = if seeds == 1 { "" } else { "s" };
                words += &format!(" ({seeds} seed{plural})");
            }
        }
        words
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
