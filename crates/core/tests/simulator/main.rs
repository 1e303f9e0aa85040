//! The simulator from outside, through its library. One program: each would be linked anew.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod accounts;
mod allocation;
mod books;
mod builder;
mod codec;
mod common;
mod conformance;
mod degenerate;
mod determinism;
mod examples;
mod faults;
mod feedback;
mod fleets;
mod flights;
mod inputs;
mod learners;
mod learning;
mod mobility;
mod overrides;
mod placement;
mod places;
mod pretraining;
mod radio;
mod random_worlds;
mod redeployment;
mod reserve;
mod resume;
mod rivals;
mod run_folder;
mod scale;
mod session;
mod settings;
mod surrogate;
mod warm_start;
