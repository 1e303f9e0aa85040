//! Scenario x methods x seeds: planned, run in parallel, kept on disk, and summed up.
//!
//! Every run has a folder of its own, named by the hash of its complete scenario: whoever asks for
//! the same run again finds it there.

pub mod built_in;
mod check;
pub mod claims;
pub mod comparison;
pub mod curve;
pub mod description;
pub mod figures;
mod losses;
pub mod markdown;
pub mod merge;
mod page;
pub mod plan;
pub mod quantity;
pub mod redeployment;
pub mod reproduction;
pub mod results;
pub mod runner;
pub mod statistics;
pub mod stored;
pub mod sweep;

#[cfg(test)]
mod reproduction_tests;
#[cfg(test)]
mod tests;

use std::path::Path;

use crate::{Error, disk};

/// Writes a file so that it is there whole or not at all.
///
/// # Errors
/// When the disk does not take it.
pub fn write_whole(path: &Path, contents: &[u8]) -> Result<(), Error> {
    disk::replace_file(path, contents)
}
