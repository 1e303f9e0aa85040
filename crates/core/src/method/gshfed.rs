//! `gshfed`: the devices that score highest for their data, with P1's local iterations and bandwidth. Nobody moves.
//!
//! Source: VI.B. Departs from the paper, which does not say how many: a share of each UAV's covered devices
//! (`selection.share`), about as many as `cehfed` takes. Its score is S^Sim of the fitness, with the departures of that
//! (PAPER.md#model-difference, PAPER.md#personal-models, PAPER.md#diversity); `fitness.diversity = "paper"` makes it the model
//! difference alone.

use super::Entry;
use super::parts::{AllocationPart, AssociationPart, Parts};

pub(super) const ENTRY: Entry = Entry::built_in(
    "gshfed",
    "the share of the covered devices that score highest for their data, with optimised H and bandwidth (P1)",
    Parts {
        association: AssociationPart::Difference,
        allocation: AllocationPart::P1,
        ..Parts::RIVAL
    },
);
