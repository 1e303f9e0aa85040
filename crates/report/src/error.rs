//! What can keep a report from being written.

use std::path::PathBuf;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A folder that tells nothing.
    #[error("{}: {reason}, allowed: a run folder (summary.json), or a folder of compare or reproduce", path.display())]
    NothingToTell {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A run that was given before.
    #[error("{}: the same scenario, method and seed as {}, allowed: every run once", path.display(), other.display())]
    Twice {
        /// The folder.
        path: PathBuf,
        /// The folder before it.
        other: PathBuf,
    },
    /// A file of results that does not say what such a file says.
    #[error("{}: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong, and in which line.
        source: serde_json::Error,
    },
    /// A run folder cannot be read.
    #[error(transparent)]
    Run(#[from] aerofed::Error),
    /// What a comparison or a reproduction left cannot be used.
    #[error(transparent)]
    Experiment(#[from] aerofed_experiment::Error),
}

impl Error {
    /// Whether the input is to blame (exit code 2) rather than the machine (exit code 1).
    #[must_use]
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Run(error) => error.is_bad_input(),
            Self::Experiment(error) => error.is_bad_input(),
            _ => true,
        }
    }
}
