//! `gshfed`: the devices that score highest for their data, with P1's local iterations and bandwidth. Nobody moves.
//!
//! Source: VI.B. Departs from the paper, which does not say how many: a share of each UAV's covered devices
//! (`selection.share`), about as many as `cehfed` takes. Its score is S^Sim of the fitness, with the departures of that
//! (PAPER.md 16, 17, 21); `fitness.diversity = "paper"` makes it the model difference alone.

use super::{Entry, Method, p1, random_hfl};
use crate::decide::association::{Preference, Share};

pub(super) const ENTRY: Entry = Entry {
    name: "gshfed",
    summary: "the share of the covered devices that score highest for their data, with optimised H and bandwidth (P1)",
    build: |scenario| Method {
        name: "gshfed".into(),
        association: Box::new(Share {
            preference: Preference::Fitness(scenario.fitness.difference_alone()),
            share: scenario.selection.share,
        }),
        allocation: p1(scenario),
        ..random_hfl(scenario)
    },
};
