//! Learning: local training, and merging what was learned.

pub mod aggregation;
pub mod batches;
pub mod data;
pub mod trainer;
