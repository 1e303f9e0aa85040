//! The short table at the end of a run.

use aerofed::Summary;
use aerofed::record::{EnergyItem, Reached, StoppedBy, TimeItem};

use crate::units::{
    Unit, counted, duration, energy, energy_unit, percent, percent_exact, shorten, time_unit,
};

/// Columns of the first word of a line.
const LABEL: usize = 18;
/// Columns of a full bar.
const BAR: usize = 28;

/// What a run came to, for a terminal: plain text, at most 80 columns, units everywhere.
#[must_use]
pub fn summary_table(summary: &Summary) -> String {
    let mut lines = vec![
        line("Scenario", &shorten(&summary.scenario, 60)),
        line("Method", &shorten(&summary.method, 60)),
        line("Seed", &summary.seed.to_string()),
        line(
            "Rounds",
            &format!("{}, {}", summary.rounds, stop_words(summary.stopped_by)),
        ),
        line("Test accuracy", &accuracy(summary)),
        line("Simulated time", &duration(summary.total_time_s)),
        line("Energy", &energy(summary.total_energy_j)),
    ];
    let taken_j = summary.energy.taken_by_faults_j();
    if taken_j > 0.0 {
        lines.push(line("Lost to faults", &energy(taken_j)));
    }
    if summary.updates_lost > 0 {
        lines.push(line("Updates lost", &updates_lost(summary)));
    }
    lines.push(line("Wall clock", &wall_clock(summary)));

    let energies: Vec<(String, f64)> = EnergyItem::spent()
        .map(|item| (item.label(), summary.energy.get(item)))
        .collect();
    let unit = energy_unit(summary.total_energy_j);
    lines.extend(shares("Energy by item", &energies, unit));
    let times = TimeItem::ALL.map(|item| (item.label(), summary.time.get(item)));
    lines.extend(shares(
        "Time by item",
        &times,
        time_unit(summary.total_time_s),
    ));
    lines.extend(targets(&summary.targets));
    lines.join("\n") + "\n"
}

fn line(label: &str, text: &str) -> String {
    format!("{label:<LABEL$}{text}")
}

pub(crate) fn stop_words(stopped_by: StoppedBy) -> &'static str {
    match stopped_by {
        StoppedBy::MaxRounds => "all that were asked for",
        StoppedBy::TargetAccuracy => "stopped at the target accuracy",
        StoppedBy::Converged => "stopped because the model converged",
        StoppedBy::NoUavLeft => "stopped because no UAV is left",
        StoppedBy::Diverged => "stopped because the model diverged",
        StoppedBy::Interrupted => "interrupted",
    }
}

fn accuracy(summary: &Summary) -> String {
    if summary.rounds == 0 {
        return "not tested".into();
    }
    let (last, best) = (summary.final_accuracy, summary.best_accuracy);
    format!(
        "{} at the end, {} at best",
        percent(last, 2),
        percent(best, 2)
    )
}

fn updates_lost(summary: &Summary) -> String {
    let (lost, all) = (summary.updates_lost, summary.updates_computed);
    let share = lost as f64 / all.max(1) as f64;
    format!("{lost} of {all} ({})", percent(share, 1))
}

fn wall_clock(summary: &Summary) -> String {
    let threads = counted(summary.threads, "thread");
    format!("{} on {threads}", duration(summary.wall_clock_s))
}

/// A block of items with their shares, the largest first; items that came to nothing are left out.
fn shares(heading: &str, items: &[(String, f64)], unit: Unit) -> Vec<String> {
    let mut spent: Vec<_> = items.iter().filter(|(_, v)| *v > 0.0).collect();
    if spent.is_empty() {
        return Vec::new();
    }
    // A stable sort: equal items stay in the order of columns.
    spent.sort_by(|a, b| b.1.total_cmp(&a.1));
    let total: f64 = spent.iter().map(|(_, value)| value).sum();
    let unit_of_column = unit.symbol;
    let mut lines = vec![
        String::new(),
        format!("{heading:<LABEL$}{unit_of_column:>10}{:>10}", "share"),
    ];
    for (name, value) in spent {
        let share = value / total;
        let row = format!(
            "  {:<16}{:>10}{:>10}  {}",
            name,
            column_number(value / unit.size),
            small_percent(share),
            bar(share),
        );
        lines.push(row.trim_end().into());
    }
    lines
}

fn small_percent(share: f64) -> String {
    if share < 0.0005 {
        return "<0.1 %".into();
    }
    percent(share, 1)
}

/// Three decimals keep the points of a column below each other; what is too long for it is written
/// as a power of ten.
fn column_number(value: f64) -> String {
    if value < 0.0005 {
        "<0.001".into()
    } else if value < 1e6 {
        format!("{value:.3}")
    } else {
        format!("{value:.2e}")
    }
}

/// A bar of block characters, exact to an eighth of a column.
fn bar(share: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if !share.is_finite() {
        return String::new();
    }
    let eighths = (share.clamp(0.0, 1.0) * 8.0 * BAR as f64).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

fn targets(targets: &[Reached]) -> Vec<String> {
    if targets.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![
        String::new(),
        format!(
            "{:<LABEL$}{:>12}{:>14}{:>14}",
            "Accuracy", "rounds", "time", "energy"
        ),
    ];
    lines.extend(targets.iter().map(|target| {
        let label = percent_exact(target.accuracy);
        let cost = &target.smoothed;
        match (cost.rounds, cost.time_s, cost.energy_j) {
            (Some(rounds), Some(time_s), Some(energy_j)) => format!(
                "  {label:<16}{rounds:>12}{:>14}{:>14}",
                duration(time_s),
                energy(energy_j),
            ),
            _ => format!("  {label:<16}{:>12}", "not reached"),
        }
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_proportional() {
        assert_eq!(bar(1.0), "█".repeat(BAR));
        assert_eq!(bar(0.5), "█".repeat(BAR / 2));
        assert_eq!(bar(1.0 / BAR as f64 / 8.0), "▏");
        assert_eq!((bar(0.0), bar(f64::NAN)), (String::new(), String::new()));
    }

    #[test]
    fn shares_come_largest_first_without_empty_items() {
        let items =
            [("a small", 1.0), ("none", 0.0), ("large", 3.0)].map(|(name, j)| (name.into(), j));
        let lines = shares("Energy", &items, energy_unit(4.0));
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[2].contains("large") && lines[2].contains("75.0 %"));
        assert!(lines[3].contains("a small") && lines[3].contains("25.0 %"));
        assert!(shares("Energy", &[("a".into(), 0.0)], energy_unit(0.0)).is_empty());
    }
}
