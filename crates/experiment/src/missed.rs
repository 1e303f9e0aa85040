//! Why runs ended, for those that never reached a target.

use std::collections::BTreeMap;

use super::comparison::Comparison;
use super::stored::{StoredRun, word};

/// Why runs ended, in the words of `summary.json`, and how many of them.
pub type Reasons = BTreeMap<String, usize>;

pub(super) fn reasons<'a>(runs: impl Iterator<Item = &'a StoredRun>) -> Reasons {
    let mut reasons = Reasons::new();
    for run in runs {
        *reasons.entry(word(run.summary.stopped_by)).or_default() += 1;
    }
    reasons
}

/// How runs that ended so are called.
fn reason_words(reason: &str) -> &str {
    match reason {
        "max_rounds" => "out of rounds",
        "no_uav_left" => "without UAVs",
        "target_accuracy" => "at the scenario's own target",
        other => other,
    }
}

impl Comparison {
    /// How many runs never reached a target, why they ended, and whose they are; none when all reached it.
    #[must_use]
    pub fn missed(&self, target: usize) -> Option<String> {
        let mut missed: BTreeMap<&str, (usize, Vec<&str>)> = BTreeMap::new();
        for method in &self.methods {
            for (reason, runs) in &method.targets.get(target)?.missed {
                let (sum, labels) = missed.entry(reason).or_default();
                *sum += runs;
                labels.push(&method.label);
            }
        }
        let words = |(reason, (runs, labels)): (&&str, &(usize, Vec<&str>))| {
            format!("{runs} {} ({})", reason_words(reason), labels.join(", "))
        };
        let words: Vec<String> = missed.iter().map(words).collect();
        (!words.is_empty()).then(|| format!("Runs that never reached it: {}.", words.join("; ")))
    }
}
