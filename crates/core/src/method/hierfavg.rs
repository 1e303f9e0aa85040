//! `hierfavg`: HierFAVG (Liu et al., "Client-Edge-Cloud Hierarchical Federated Learning", ICC 2020). Every
//! covered device trains κ1 steps per edge round, and every κ2 edge rounds the UAVs' models are merged.
//! Equal bandwidth, nobody moves.
//!
//! Departs from the source: the cloud is one of the UAVs, devices move between cells, and a UAV that runs
//! low ends the global round early, as under every method here that checks energy.

use super::{Entry, Method, Schedule, random_hfl};
use crate::decide::allocation::Equal;
use crate::decide::association::All;

pub(super) const ENTRY: Entry = Entry {
    name: "hierfavg",
    summary: "HierFAVG: all covered devices, a fixed number of local steps and of edge rounds",
    build: |scenario| Method {
        name: "hierfavg".into(),
        association: Box::new(All),
        allocation: Box::new(Equal {
            local_iterations: scenario.methods.hierfavg.local_iterations,
        }),
        schedule: Schedule::Synchronous {
            edge_rounds: scenario.methods.hierfavg.edge_rounds,
        },
        ..random_hfl(scenario)
    },
};
