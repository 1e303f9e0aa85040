//! How models come about: by training, by training some, or by a law.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Scenario;
use super::check::{Checked, bad, within};

/// How local updates and accuracies come about. Seconds, joules, links and decisions are the same with all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Learner {
    /// Every selected device trains the network on its samples.
    #[default]
    Train,
    /// Nobody trains: accuracy follows a law that was fitted to runs that did.
    Surrogate,
    /// A few of the selected devices train, and stand for the others.
    Sampled,
}

/// What `learner = "surrogate"` reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Surrogate {
    /// A law that `aerofed calibrate` wrote; empty: the one that comes with the program.
    pub law: PathBuf,
}

/// What `learner = "sampled"` reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sampled {
    /// How many devices train in an edge round, at most.
    pub devices: usize,
}

impl Default for Sampled {
    fn default() -> Self {
        Self { devices: 64 }
    }
}

impl Learner {
    /// As a scenario names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Surrogate => "surrogate",
            Self::Sampled => "sampled",
        }
    }
}

impl Scenario {
    pub(super) fn check_learner(&self) -> Checked {
        within("sampled.devices", self.sampled.devices, 1..=10_000_000)?;
        let (learner, name) = (self.learner, self.learner.name());
        let law = &self.surrogate.law;
        if learner != Learner::Surrogate && !law.as_os_str().is_empty() {
            let allowed = format!("empty with learner = {name:?}, which does not read it");
            return Err(bad("surrogate.law", format_args!("{law:?}"), allowed));
        }
        let (devices, default) = (self.sampled.devices, Sampled::default().devices);
        if learner != Learner::Sampled && devices != default {
            let allowed =
                format!("{default}, its default, with learner = {name:?}, which does not read it");
            return Err(bad("sampled.devices", devices, allowed));
        }
        let start = &self.model.start;
        if learner == Learner::Surrogate && !start.as_os_str().is_empty() {
            let allowed = "empty with learner = \"surrogate\", which has no weights";
            return Err(bad("model.start", format_args!("{start:?}"), allowed));
        }
        Ok(())
    }
}
