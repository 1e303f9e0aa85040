//! `hfed`: `cehfed`'s choice of devices alone, with fixed H, equal bandwidth and nobody moving.
//!
//! Source: VI.B. Departures: PAPER.md#departures-of-p2.

use super::Entry;
use super::parts::{AssociationPart, Parts};

pub(super) const ENTRY: Entry = Entry::built_in(
    "hfed",
    "the fittest devices (P2) with fixed H and equal bandwidth",
    Parts {
        association: AssociationPart::Quota,
        ..Parts::RIVAL
    },
);
