//! Scenario x methods x seeds: planned, run in parallel, kept on disk, and summed up.
//!
//! Every run has a folder of its own, named by the hash of its complete scenario: whoever asks for
//! the same run again finds it there.

pub mod comparison;
pub mod curve;
pub mod markdown;
pub mod plan;
pub mod results;
pub mod runner;
pub mod statistics;
pub mod stored;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;

use crate::Error;

/// Writes a file so that it is there whole or not at all.
///
/// # Errors
/// When the disk does not take it.
pub fn write_whole(path: &Path, contents: &[u8]) -> Result<(), Error> {
    let mut partial = path.as_os_str().to_os_string();
    partial.push(".partial");
    fs::write(&partial, contents).map_err(Error::io("write", &partial))?;
    fs::rename(&partial, path).map_err(Error::io("write", path))
}
