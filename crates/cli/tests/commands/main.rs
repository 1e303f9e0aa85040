//! The command line as a user types it. One program: each would be linked anew.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    unreachable_pub,
    reason = "tests"
)]

mod bad_input;
mod calibrate;
mod compare;
mod damage;
mod deploy;
mod docs;
mod experiments;
mod files;
#[cfg(unix)]
mod folders;
mod fuzz_seeds;
mod layers;
mod missions;
mod mistakes;
mod own_experiment;
#[cfg(unix)]
mod place;
mod places;
mod plan;
mod pretrain;
mod report;
mod reproduce;
#[cfg(unix)]
mod resume;
mod run;
mod settings;
mod statistics;
mod sweep;
mod terminal;
