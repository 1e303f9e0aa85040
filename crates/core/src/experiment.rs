//! Scenario x methods x seeds: planned, run in parallel, kept on disk, and summed up.

pub mod results;
pub mod statistics;
