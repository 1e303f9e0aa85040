//! `oort`: hierarchical FedAvg whose UAVs select devices by utility after Oort (Lai et al., OSDI 2021): high
//! loss, many samples, quick. What differs from Oort stands in the association's file
//! (`decide/association/oort.rs`). Fixed H, equal bandwidth, nobody moves.

use super::{Entry, Method, random_hfl};
use crate::decide::association::Oort;

pub(super) const ENTRY: Entry = Entry {
    name: "oort",
    summary: "hierarchical FedAvg with devices selected by loss and speed, after Oort",
    build: |scenario| Method {
        name: "oort".into(),
        association: Box::new(Oort::new(scenario.selection.share, &scenario.methods.oort)),
        ..random_hfl(scenario)
    },
};
