//! `hfed`: `cehfed`'s choice of devices alone, with fixed H, equal bandwidth and nobody moving.
//!
//! Source: VI.B. Departures: none known.

use super::{Entry, Method, fixed_h, hfl};
use crate::decide::association::Adaptive;

pub(super) const ENTRY: Entry = Entry {
    name: "hfed",
    summary: "learned thresholds (P2) with fixed H and equal bandwidth",
    build: |scenario| Method {
        name: "hfed".into(),
        association: Box::new(Adaptive::new(scenario)),
        allocation: fixed_h(scenario),
        ..(hfl::ENTRY.build)(scenario)
    },
};
