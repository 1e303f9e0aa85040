//! Federated learning where the aggregators fly.

pub mod solve;
