//! What can keep an experiment from being planned, run or summed up.

use aerofed::scenario::ScenarioError;

/// Why an experiment stops.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A list of methods, a comparison or an experiment that cannot be planned.
    #[error("{place}: {reason}")]
    Plan {
        /// Which part of it.
        place: String,
        /// Why it cannot be used.
        reason: String,
    },
    /// An experiment's file that is none; the message names it, and the line.
    #[error("{0}")]
    Text(String),
    /// A scenario, a run or its folder.
    #[error(transparent)]
    Run(#[from] aerofed::Error),
}

impl Error {
    /// Whether the input is to blame (exit code 2) rather than the machine (exit code 1).
    #[must_use]
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Plan { .. } | Self::Text(_) => true,
            Self::Run(error) => error.is_bad_input(),
        }
    }
}

impl From<ScenarioError> for Error {
    fn from(error: ScenarioError) -> Self {
        Self::Run(error.into())
    }
}
