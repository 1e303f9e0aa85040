//! The flat schedule: federated learning without a hierarchy. UAVs only relay models.
//!
//! A global round is one edge round: every selected device trains H steps from the global model and
//! sends its own model to its UAV. There nothing is merged: every device's model crosses the link to
//! the aggregator, one after another, and the UAV hovers meanwhile. The aggregator merges all of them
//! and sends the global model to the UAVs. Everything else is Algorithm 1.
//!
//! The global model reaches devices once, in the download of their next edge round (10). In a hierarchy
//! the broadcast (22) also relays it to them, one download more among K; here that would double the
//! downlink.

use crate::Error;

use super::super::algorithm_1;
use super::super::stage::{RoundWork, Stage, Terms};
use super::Scheduler;

/// UAVs relay, the aggregator merges.
pub(super) struct Flat;

impl Scheduler for Flat {
    fn round(&mut self, stage: Stage) -> Result<RoundWork, Error> {
        let terms = Terms {
            edge_rounds: 1,
            merges_at_uavs: false,
        };
        algorithm_1(stage, terms)
    }
}
