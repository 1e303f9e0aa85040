//! What the controller chooses: who trains, how long, on which bandwidth, and who aggregates.

pub mod aggregator;
pub mod allocation;
mod answers;
pub mod association;
pub(crate) mod fitness;
pub mod redeploy;

pub use answers::Answers;
