//! Mathematics that knows no UAV: optimisation problems with names, inputs and certificates of their own.

pub mod airspace;
pub mod augmented_lagrangian;
pub mod bandwidth;
mod keyed;
pub mod obstacles;
pub mod placement;
pub mod replay;
pub mod simplex;
pub mod td3;

use serde::{Deserialize, Serialize};

/// How a solver ended: an outcome to be recorded, not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every tolerance was met.
    Solved,
    /// The iterations ran out first; the answer is feasible and its residual says how far off it may be.
    IterationLimit,
}
