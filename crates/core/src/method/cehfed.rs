//! `cehfed`: the paper's method. The fittest devices of each UAV (P2), local iterations and bandwidth of P1, UAVs that move to where devices
//! are when one of them is gone (P3).
//!
//! Source: the paper, Algorithms 1 to 4. Departures: PAPER.md, above all PAPER.md#a-rule-instead-of-agents: how many devices a UAV takes is a
//! constant share, not what a TD3 agent learned; `association.kind = "td3"` has the agents.

use super::Entry;
use super::parts::{AllocationPart, AssociationPart, Parts, RedeploymentPart};

pub(super) const PARTS: Parts = Parts {
    association: AssociationPart::Quota,
    allocation: AllocationPart::P1,
    redeployment: RedeploymentPart::TwoStage,
    hands_over: true,
    ..Parts::PLAIN
};

pub(super) const ENTRY: Entry = Entry::built_in(
    "cehfed",
    "the paper's method: the fittest devices (P2), optimised H and bandwidth (P1), redeployment (P3)",
    PARTS,
);
