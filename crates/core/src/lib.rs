//! Federated learning where the aggregators fly.
