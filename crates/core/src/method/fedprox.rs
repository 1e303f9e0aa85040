//! `fedprox`: FedProx (Li et al., MLSys 2020) in a hierarchy: local steps are pulled back towards the model that
//! the device was sent, which keeps devices with unlike data together. Devices at random, fixed H, equal
//! bandwidth, nobody moves.
//!
//! Departs from the source: the pull is towards the edge model of the edge round, not the global model, and
//! every device does the same number of steps. The pull costs one addition per weight and step, which
//! the cost model leaves out.

use super::Entry;
use super::parts::{LocalPart, Parts};

pub(super) const ENTRY: Entry = Entry::built_in(
    "fedprox",
    "hierarchical FedProx: local steps are pulled towards the edge model; devices drawn at random",
    Parts {
        local: LocalPart::Proximal,
        ..Parts::RIVAL
    },
);
