//! `gdhfed`: the nearest devices, with P1's local iterations and bandwidth. Nobody moves.
//!
//! Source: VI.B. Departs from the paper, which does not say how many: a share of each UAV's covered devices
//! (`selection.share`), about as many as `cehfed` takes.

use super::Entry;
use super::parts::{AllocationPart, AssociationPart, Parts};

pub(super) const ENTRY: Entry = Entry::built_in(
    "gdhfed",
    "the nearest share of the covered devices, with optimised H and bandwidth (P1)",
    Parts {
        association: AssociationPart::Distance,
        allocation: AllocationPart::P1,
        ..Parts::RIVAL
    },
);
