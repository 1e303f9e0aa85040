//! `direct_drop`: `cehfed` in which nobody checks energy. A UAV flies until its battery is empty and takes its
//! edge model along, and nobody moves to cover for it.
//!
//! Source: VI.C.2. Departures: PAPER.md#departures-of-p2.

use super::parts::{Parts, RedeploymentPart};
use super::{Entry, cehfed};

pub(super) const ENTRY: Entry = Entry::built_in(
    "direct_drop",
    "cehfed without energy checks: a dying UAV takes its edge model with it, and nobody moves",
    Parts {
        checks_energy: false,
        hands_over: false,
        redeployment: RedeploymentPart::None,
        ..cehfed::PARTS
    },
);
