//! `rhfed`: random devices, with P1's local iterations and bandwidth. Nobody moves.
//!
//! Source: VI.B. Departs from the paper, which does not say how many: a share of each UAV's covered devices
//! (`selection.share`), about as many as `cehfed` takes.

use super::{Entry, Method, p1, random_hfl};

pub(super) const ENTRY: Entry = Entry {
    name: "rhfed",
    summary: "a random share of the covered devices, with optimised H and bandwidth (P1)",
    build: |scenario| Method {
        name: "rhfed".into(),
        allocation: p1(scenario),
        ..random_hfl(scenario)
    },
};
