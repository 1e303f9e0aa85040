//! Scenario x methods x seeds: planned, run in parallel, kept on disk, and summed up.
//!
//! Every run has a folder of its own, named by the hash of its complete scenario: whoever asks for
//! the same run again finds it there.

pub mod built_in;
pub mod calibration;
mod check;
pub mod claims;
pub mod comparison;
mod csv;
pub mod curve;
pub mod description;
mod error;
pub mod experiment_sweep;
pub mod figures;
pub mod holm;
pub mod latex;
mod losses;
pub mod markdown;
pub mod merge;
pub mod missed;
mod overview;
mod page;
mod place;
pub mod plan;
pub mod quantity;
pub mod redeployment;
mod regret;
pub mod reproduction;
pub mod results;
pub mod runner;
mod settings;
pub mod statistics;
pub mod stored;
pub mod styles;
pub mod sweep;

pub mod tidy;

#[cfg(test)]
mod reproduction_tests;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;

pub use error::Error;
pub use place::{check_data, claim, release};

/// Refuses a folder that is neither empty nor has the mark of its kind, a file that is written before all others.
///
/// # Errors
/// When the folder is a file, or holds something else than `kind`.
pub fn check_place(folder: &Path, mark: &str, kind: &str) -> Result<(), Error> {
    let refuse = |reason: String| {
        Error::from(aerofed::Error::Output {
            path: folder.into(),
            reason,
        })
    };
    if folder.exists() && !folder.is_dir() {
        return Err(refuse("is a file".into()));
    }
    // Whoever was killed while it wrote the mark left a part of it.
    let of_mark = |entry: fs::DirEntry| entry.file_name().to_string_lossy().contains(mark);
    let foreign = fs::read_dir(folder).is_ok_and(|entries| !entries.flatten().all(of_mark));
    if foreign && !folder.join(mark).is_file() {
        return Err(refuse(format!(
            "is not empty and holds no {kind}; choose another"
        )));
    }
    Ok(())
}

/// The README's example, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
