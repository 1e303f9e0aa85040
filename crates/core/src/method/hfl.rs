//! `hfl`: plain hierarchical federated learning, the loop of Algorithm 1 with nothing optimised: all covered
//! devices, fixed H, equal bandwidth, nobody moves. What a scenario replaces of it is how other methods are made.
//!
//! Source: III and Algorithm 1. Departures: those of the model that all methods share (PAPER.md).

use super::Entry;
use super::parts::Parts;

pub(super) const ENTRY: Entry = Entry::built_in(
    "hfl",
    "hierarchical FedAvg: all covered devices, fixed H, equal bandwidth, nobody moves",
    Parts::PLAIN,
);
