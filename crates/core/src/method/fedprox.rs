//! `fedprox`: FedProx (Li et al., MLSys 2020) in a hierarchy: local steps are pulled back towards the model that
//! the device was sent, which keeps devices with unlike data together. Devices at random, fixed H, equal
//! bandwidth, nobody moves.
//!
//! Departs from the source: the pull is towards the edge model of the edge round, not the global model, and
//! every device does the same number of steps. The pull costs one addition per weight and step, which
//! the cost model leaves out.

use super::{Entry, LocalTraining, Method, random_hfl};

pub(super) const ENTRY: Entry = Entry {
    name: "fedprox",
    summary: "hierarchical FedProx: local steps are pulled towards the edge model; devices drawn at random",
    build: |scenario| Method {
        name: "fedprox".into(),
        local: LocalTraining {
            proximal: scenario.methods.fedprox.proximal,
            ..LocalTraining::default()
        },
        ..random_hfl(scenario)
    },
};
