//! What the controller chooses: who trains, how long, on which bandwidth, and who aggregates.

pub mod aggregator;
pub mod allocation;
pub mod association;
pub mod fitness;
pub mod redeploy;
