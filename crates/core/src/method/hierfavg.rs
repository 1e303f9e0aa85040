//! `hierfavg`: HierFAVG (Liu et al., "Client-Edge-Cloud Hierarchical Federated Learning", ICC 2020). Every
//! covered device trains κ1 steps (`allocation.local_iterations`) per edge round, and every κ2 edge rounds
//! (`training.max_edge_rounds`) the UAVs' models are merged.
//! Equal bandwidth, nobody moves.
//!
//! Departs from the source: the cloud is one of the UAVs, devices move between cells, and a UAV that runs
//! low ends the global round early, as under every method here that checks energy.

use super::Entry;
use super::parts::{AssociationPart, Parts};

pub(super) const ENTRY: Entry = Entry::built_in(
    "hierfavg",
    "HierFAVG: all covered devices, a fixed number of local steps and of edge rounds",
    Parts {
        association: AssociationPart::All,
        ..Parts::RIVAL
    },
);
