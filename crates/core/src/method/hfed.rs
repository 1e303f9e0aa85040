//! `hfed`: `cehfed`'s choice of devices alone, with fixed H, equal bandwidth and nobody moving.
//!
//! Source: VI.B. Departures: those of P2 (PAPER.md 16 to 19 and 21).

use super::Entry;
use super::parts::{AssociationPart, Parts};

pub(super) const ENTRY: Entry = Entry::built_in(
    "hfed",
    "learned thresholds (P2) with fixed H and equal bandwidth",
    Parts {
        association: AssociationPart::Td3,
        ..Parts::RIVAL
    },
);
