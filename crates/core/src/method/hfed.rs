//! `hfed`: `cehfed`'s choice of devices alone, with fixed H, equal bandwidth and nobody moving.
//!
//! Source: VI.B. Departures: those of P2 (PAPER.md 16 to 19 and 21).

use super::{Entry, Method, random_hfl};
use crate::decide::association::Adaptive;

pub(super) const ENTRY: Entry = Entry {
    name: "hfed",
    summary: "learned thresholds (P2) with fixed H and equal bandwidth",
    build: |scenario| Method {
        name: "hfed".into(),
        association: Box::new(Adaptive::new(scenario)),
        ..random_hfl(scenario)
    },
};
