//! `fixed_threshold`: `cehfed` with one threshold for all UAVs and rounds (`selection.threshold`).
//!
//! Source: VI.C.2, where it is 0.40, 0.55, 0.70 or 0.85. Departures: those of the fitness (PAPER.md 16, 17, 21); 0.4 is the default.

use super::{Entry, Method, cehfed};
use crate::decide::association::FixedThreshold;

pub(super) const ENTRY: Entry = Entry {
    name: "fixed_threshold",
    summary: "cehfed with a fixed fitness threshold",
    build: |scenario| Method {
        name: "fixed_threshold".into(),
        association: Box::new(FixedThreshold {
            threshold: scenario.selection.threshold,
            fitness: scenario.fitness,
        }),
        ..(cehfed::ENTRY.build)(scenario)
    },
};
