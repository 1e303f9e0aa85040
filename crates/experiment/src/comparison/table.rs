//! `compare.csv`: what each target cost each method, and what the first saves.

use aerofed::record::schema::{Column, Kind, header};

use super::{Comparison, MethodStatistics, TargetStatistics};
use crate::csv::{line, number};
use crate::holm::Saving;
use crate::statistics::Estimate;

use Kind::{Boolean, Integer, Number, Text};

/// Columns of `compare.csv`.
pub(crate) fn columns() -> &'static [Column] {
    &COLUMNS
}

#[rustfmt::skip]
static COLUMNS: [Column; 30] = [
    Column::new("label", Text, "", "What the method is called here; savings are of the first against each other"),
    Column::new("method", Text, "", "Its registered name"),
    Column::new("target", Number, "", "The accuracy asked for, 0 to 1"),
    Column::new("curve", Text, "", "smoothed: reached when the mean over `smooth` rounds is; first_crossing: in the first round at or above it"),
    Column::new("target_on", Text, "", "Which accuracy is judged: test or validation"),
    Column::new("smooth", Integer, "rounds", "Over how many rounds it is averaged; 1 for first_crossing"),
    Column::new("reached", Integer, "runs", "Runs that reached it; means are over these"),
    Column::new("runs", Integer, "runs", "Runs, one for each seed"),
    Column::new("rounds", Number, "rounds", "Global rounds until then, mean"),
    Column::new("rounds_low", Number, "rounds", "Lower end of its 95 % interval; of two seeds the smaller; empty with one"),
    Column::new("rounds_high", Number, "rounds", "Upper end"),
    Column::new("time_s", Number, "s", "Simulated time until then, mean"),
    Column::new("time_s_low", Number, "s", "Lower end, as for rounds"),
    Column::new("time_s_high", Number, "s", "Upper end"),
    Column::new("energy_j", Number, "J", "Energy of devices and UAVs until then, mean; not what faults took"),
    Column::new("energy_j_low", Number, "J", "Lower end"),
    Column::new("energy_j_high", Number, "J", "Upper end"),
    Column::new("savings", Integer, "seeds", "Seeds under which both methods reached it: savings are over these"),
    Column::new("time_saving", Number, "", "1 - first / this, mean over seeds; empty for the first itself"),
    Column::new("time_saving_low", Number, "", "Lower end"),
    Column::new("time_saving_high", Number, "", "Upper end"),
    Column::new("time_saving_p", Number, "", "Probability of a saving at least so far from zero without any effect (t test, two-sided); empty below three seeds"),
    Column::new("time_saving_p_holm", Number, "", "The same after Holm's correction over all savings of this curve"),
    Column::new("time_saving_holds", Boolean, "", "Whether that is at most 0.05"),
    Column::new("energy_saving", Number, "", "1 - first / this for the energy"),
    Column::new("energy_saving_low", Number, "", "Lower end"),
    Column::new("energy_saving_high", Number, "", "Upper end"),
    Column::new("energy_saving_p", Number, "", "As for the time"),
    Column::new("energy_saving_p_holm", Number, "", "As for the time"),
    Column::new("energy_saving_holds", Boolean, "", "As for the time"),
];

impl Comparison {
    /// One row per method, target and curve: `compare.csv`. Cells without a value are empty.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut text = header(columns()) + "\n";
        for method in &self.methods {
            for target in &method.targets {
                let curve = match self.smooth {
                    1 => "first_crossing",
                    _ => "smoothed",
                };
                text += &self.row(method, target, curve, self.smooth);
                if let Some(first) = &target.first_crossing {
                    text += &self.row(method, first, "first_crossing", 1);
                }
            }
        }
        text
    }

    fn row(
        &self,
        method: &MethodStatistics,
        target: &TargetStatistics,
        curve: &str,
        smooth: usize,
    ) -> String {
        let (time, energy) = (target.time_saving_of_first, target.energy_saving_of_first);
        let mut cells = vec![
            method.label.clone(),
            method.method.clone(),
            target.accuracy.to_string(),
            curve.into(),
            self.target_on.name().into(),
            smooth.to_string(),
            target.reached.to_string(),
            target.of.to_string(),
        ];
        for cost in [target.rounds, target.time_s, target.energy_j] {
            cells.extend(estimate(cost));
        }
        cells.push(number(time.or(energy).map(|saving| saving.estimate.n)));
        for saved in [time, energy] {
            cells.extend(saving(saved));
        }
        line(cells)
    }
}

fn estimate(estimate: Option<Estimate>) -> [String; 3] {
    let ends = estimate.and_then(|estimate| estimate.ends());
    [
        number(estimate.map(|estimate| estimate.mean)),
        number(ends.map(|ends| ends.0)),
        number(ends.map(|ends| ends.1)),
    ]
}

fn saving(saving: Option<Saving>) -> Vec<String> {
    let mut cells: Vec<String> = estimate(saving.map(|saving| saving.estimate)).into();
    cells.extend([
        number(saving.and_then(|saving| saving.p)),
        number(saving.and_then(|saving| saving.p_holm)),
        number(saving.map(|saving| saving.holds)),
    ]);
    cells
}
