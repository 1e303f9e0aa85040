//! `cfed`: conventional federated learning, FedAvg (McMahan et al., AISTATS 2017) over a fleet that only
//! relays (the paper's CFed, VI.B). A share of the covered devices at random trains H steps from the global
//! model; every device's model goes by way of its UAV to the aggregator, one global round each
//! time. Fixed H, equal bandwidth, nobody moves.
//!
//! Departs from FedAvg: clients are drawn per UAV, and there is no server but the aggregating UAV. The
//! paper says "efficiently selected" without saying how: at random here.

use super::Entry;
use super::parts::{Parts, SchedulePart};

pub(super) const ENTRY: Entry = Entry::built_in(
    "cfed",
    "FedAvg without a hierarchy: UAVs only relay the models of devices drawn at random",
    Parts {
        schedule: SchedulePart::Flat,
        ..Parts::RIVAL
    },
);
