//! Whether the files of a run folder tell of the same run.

use std::path::Path;

use crate::Error;
use crate::record::{RoundRecord, Summary};
use crate::scenario::Scenario;

/// Refuses a run whose summary does not follow from its rounds and its scenario.
pub(super) fn check(
    folder: &Path,
    scenario: &Scenario,
    records: &[RoundRecord],
    summary: &Summary,
) -> Result<(), Error> {
    let refuse = |field: &str, told: String, file: &str, due: String| {
        let reason = format!("summary.json has `{field}` {told}, {file} {due}");
        damaged(folder, &reason)
    };
    if summary.seed != scenario.seed {
        let (told, due) = (summary.seed.to_string(), scenario.seed.to_string());
        return Err(refuse("seed", told, "scenario.toml", due));
    }
    let counts = [
        ("rounds", summary.rounds, records.len()),
        (
            "updates_computed",
            summary.updates_computed,
            records.iter().map(|r| r.updates_computed).sum(),
        ),
        (
            "updates_lost",
            summary.updates_lost,
            records.iter().map(|r| r.updates_lost).sum(),
        ),
    ];
    for (field, told, due) in counts {
        if told != due {
            return Err(refuse(
                field,
                told.to_string(),
                "rounds.csv",
                due.to_string(),
            ));
        }
    }
    let accuracies = records.iter().map(|r| r.test_accuracy);
    let last = accuracies.clone().next_back().unwrap_or(0.0);
    let numbers = [
        ("final_accuracy", summary.final_accuracy, last),
        (
            "best_accuracy",
            summary.best_accuracy,
            accuracies.fold(0.0, f64::max),
        ),
        (
            "total_time_s",
            summary.total_time_s,
            records.iter().map(|r| r.time.total_s()).sum(),
        ),
        (
            "total_energy_j",
            summary.total_energy_j,
            records.iter().map(|r| r.energy.spent_j()).sum(),
        ),
    ];
    for (field, told, due) in numbers {
        if !near(told, due) {
            return Err(refuse(
                field,
                told.to_string(),
                "rounds.csv",
                due.to_string(),
            ));
        }
    }
    Ok(())
}

/// An error that names the folder of a damaged run and says what to do about it.
#[must_use]
pub fn damaged(folder: &Path, reason: &str) -> Error {
    Error::Output {
        path: folder.into(),
        reason: format!("the run is damaged: {reason}; delete the folder to have it run again"),
    }
}

/// An error that names the folder of a run whose scenario names files that are not what they were.
pub(super) fn changed(folder: &Path, named: &str) -> Error {
    Error::Output {
        path: folder.into(),
        reason: format!(
            "what {named} holds has changed since the run; delete the folder to have it run again"
        ),
    }
}

/// Equal but for the last digits, which sums in another order and JSON may change.
fn near(a: f64, b: f64) -> bool {
    let finite = a.is_finite() && b.is_finite();
    // JSON has neither infinity nor NaN, and reads both back as NaN.
    !a.is_finite() && !b.is_finite() || finite && (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}
