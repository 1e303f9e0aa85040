//! The synchronous schedule, Algorithm 1: every UAV merges its devices' models up to K times, then all of them hand over and
//! wait for the new global model.

use crate::Error;

use super::super::algorithm_1;
use super::super::stage::{RoundWork, Stage, Terms};
use super::Scheduler;

/// Everybody waits for everybody.
pub(super) struct Synchronous {
    /// K^Max.
    pub(super) edge_rounds: usize,
}

impl Scheduler for Synchronous {
    fn round(&mut self, stage: Stage) -> Result<RoundWork, Error> {
        let terms = Terms {
            edge_rounds: self.edge_rounds,
            merges_at_uavs: true,
        };
        algorithm_1(stage, terms)
    }
}
