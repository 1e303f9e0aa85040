//! `fixed_threshold`: `cehfed` with one threshold for all UAVs and rounds (`selection.threshold`).
//!
//! Source: VI.C.2, where it is 0.40, 0.55, 0.70 or 0.85. 0.4 is the default here. Departures: those of the fitness
//! (PAPER.md#model-difference, PAPER.md#personal-models, PAPER.md#diversity).

use super::parts::{AssociationPart, Parts};
use super::{Entry, cehfed};

pub(super) const ENTRY: Entry = Entry::built_in(
    "fixed_threshold",
    "cehfed with a fixed fitness threshold",
    Parts {
        association: AssociationPart::FixedThreshold,
        ..cehfed::PARTS
    },
);
