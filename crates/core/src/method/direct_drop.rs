//! `direct_drop`: `cehfed` in which nobody checks energy. A UAV flies until its battery is empty and takes its
//! edge model along, and nobody moves to cover for it.
//!
//! Source: VI.C.2. Departures: those of P2 (PAPER.md 16 to 19 and 21).

use super::{Entry, Method, cehfed};
use crate::decide::redeploy::Stay;

pub(super) const ENTRY: Entry = Entry {
    name: "direct_drop",
    summary: "cehfed without energy checks: a dying UAV takes its edge model with it, and nobody moves",
    build: |scenario| Method {
        name: "direct_drop".into(),
        checks_energy: false,
        redeployment: Box::new(Stay),
        ..(cehfed::ENTRY.build)(scenario)
    },
};
