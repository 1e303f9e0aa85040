//! `oort`: hierarchical FedAvg whose UAVs select devices by utility after Oort (Lai et al., OSDI 2021): high
//! loss, many samples, quick. What differs from Oort stands in the association's file
//! (`decide/association/oort.rs`). Fixed H, equal bandwidth, nobody moves.

use super::Entry;
use super::parts::{AssociationPart, Parts};

pub(super) const ENTRY: Entry = Entry::built_in(
    "oort",
    "hierarchical FedAvg with devices selected by loss and speed, after Oort",
    Parts {
        association: AssociationPart::Oort,
        ..Parts::RIVAL
    },
);
