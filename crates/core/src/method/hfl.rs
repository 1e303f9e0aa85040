//! `hfl`: plain hierarchical federated learning, the loop of Algorithm 1 with nothing optimised.
//! Selection and allocation are what the scenario says: all covered devices, fixed H and equal
//! bandwidth unless told otherwise.
//!
//! Source: III and Algorithm 1. Departures: those of the model that all methods share (PAPER.md).

use super::{Entry, LocalTraining, Method, Schedule};
use crate::decide::{aggregator, allocation, association, redeploy};
use crate::learn::aggregation::FedAvg;

pub(super) const ENTRY: Entry = Entry {
    name: "hfl",
    summary: "hierarchical FedAvg with the scenario's association and allocation (all devices, fixed H, equal bandwidth)",
    build: |scenario| Method {
        name: "hfl".into(),
        association: association::from_config(scenario),
        allocation: allocation::from_config(&scenario.allocation),
        redeployment: redeploy::from_config(&scenario.redeploy),
        aggregator: aggregator::from_config(scenario.aggregator),
        aggregation: Box::new(FedAvg),
        checks_energy: true,
        schedule: Schedule::Synchronous {
            edge_rounds: scenario.training.max_edge_rounds,
        },
        local: LocalTraining::default(),
    },
};
