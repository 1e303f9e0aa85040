//! What can go wrong, in one place.

use std::path::PathBuf;

use crate::checkpoint::Flaw;
use crate::scenario::ScenarioError;
use crate::solve::bandwidth::CellError;
use crate::solve::td3::Td3Error;

/// Everything that can stop a run from starting or finishing.
///
/// An empty battery, a cell without devices or a diverging loss are *outcomes* that the records
/// tell of, not errors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The scenario cannot be run as written.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The data set cannot be loaded or divided as asked.
    #[error(transparent)]
    Data(#[from] aerofed_data::Error),
    /// The model does not fit the data, or training was asked for something impossible.
    #[error(transparent)]
    Network(#[from] aerofed_nn::Error),
    /// A cell cannot be planned for.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// An agent cannot be made or used.
    #[error("threshold agent: {0}")]
    Agent(#[from] Td3Error),
    /// What the caller brought to train or evaluate with does not fit the scenario.
    #[error("the learner does not fit the scenario: {reason}")]
    Learner {
        /// What does not fit.
        reason: String,
    },
    /// What computes cannot be had, or failed.
    #[error("{reason}")]
    Engine {
        /// What is wrong.
        reason: String,
    },
    /// A decision module returned something that the world cannot carry out.
    #[error("method `{method}` made an impossible decision: {reason}")]
    Decision {
        /// The method's name.
        method: String,
        /// What is wrong with the decision.
        reason: String,
    },
    /// A run folder that must not be overwritten, or cannot be used.
    #[error("output folder {}: {reason}", path.display())]
    Output {
        /// The folder.
        path: PathBuf,
        /// Why it cannot be used.
        reason: String,
    },
    /// A run folder that another process is writing.
    #[error("output folder {}: a run is being written there now", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// It was told to stop before anything came about.
    #[error("interrupted")]
    Interrupted,
    /// A file of a run folder does not say what such a file says.
    #[error("{}, line {line}: {reason}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A checkpoint that cannot be used.
    #[error("checkpoint {} {flaw}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        flaw: Flaw,
    },
    /// What a checkpoint holds for one part of a run does not fit that part.
    #[error("saved state of the {part}: {reason}")]
    State {
        /// Which part, as in "allocation".
        part: &'static str,
        /// Why it does not fit.
        reason: String,
    },
    /// Reading or writing a file failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted, as in "write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    /// Whether the input is to blame (exit code 2) rather than the machine (exit code 1).
    #[must_use]
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Data(error) => error.is_bad_input(),
            Self::Io { .. } | Self::Decision { .. } | Self::Interrupted => false,
            _ => true,
        }
    }

    /// Wraps an input/output error with what was being done to which path.
    pub fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}
