//! `cehfed`: the paper's method. Devices whose fitness reaches a threshold that a TD3 agent learns (P2), local
//! iterations and bandwidth of P1, UAVs that move to where devices are when one of them is gone (P3).
//!
//! Source: the paper, Algorithms 1 to 4. Departures: PAPER.md; what agents see and are paid for is `[td3]`'s choice.

use super::{Entry, Method, hfl, p1, p3};
use crate::decide::association::Adaptive;

pub(super) const ENTRY: Entry = Entry {
    name: "cehfed",
    summary: "the paper's method: learned thresholds (P2), optimised H and bandwidth (P1), redeployment (P3)",
    build: |scenario| Method {
        name: "cehfed".into(),
        association: Box::new(Adaptive::new(scenario)),
        allocation: p1(scenario),
        redeployment: p3(scenario),
        ..(hfl::ENTRY.build)(scenario)
    },
};
