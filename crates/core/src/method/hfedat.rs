//! `hfedat`: FedAT (Chai et al., SC 2021, arXiv 2010.05958) with UAV cells as tiers (the paper's HFedAT, VI.B).
//! Synchronous inside a cell, asynchronous between UAVs and the aggregator, slow cells weighted up.
//! Devices at random, fixed H, equal bandwidth, nobody moves.
//!
//! Departs from FedAT: tiers are cells, not groups of equally fast clients. A pass has K edge rounds
//! (`training.max_edge_rounds`; FedAT's is 1). Cells weigh in when they have delivered for the first time, where
//! FedAT lets the first global model stand in for them; cells that delivered equally often weigh
//! the same. The model of a UAV that is gone counts for one round more; one that comes back keeps its count of
//! deliveries, so that it weighs as a slow cell does. UAVs pay for all their hovering, where those of a synchronous round
//! may wait free of charge (`uavs.waiting = "free"`). No proximal term (the paper's HFedAT does not consider heterogeneous data) and no compression.

use super::Entry;
use super::parts::{Parts, SchedulePart};

pub(super) const ENTRY: Entry = Entry::built_in(
    "hfedat",
    "FedAT: cells do not wait for each other, slow ones weigh more; devices drawn at random",
    Parts {
        schedule: SchedulePart::Asynchronous,
        ..Parts::RIVAL
    },
);
