//! `aerofed allocate`

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use aerofed::decide::allocation::read_cell;
use aerofed::solve::bandwidth::{Method, Options, allocate};
use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::console::{self, BadInput};

#[derive(Args)]
#[command(
    after_help = "Example:\n  aerofed allocate cell.json --solver exact\n\n\
    CELL.json holds energy_weight, time_weight, hover_power_w, bandwidth_up_hz, bandwidth_down_hz,\n\
    model_bits_up, model_bits_down, broadcast_power_w, local_iterations (absent: choose it) and devices,\n\
    each with snr_up_hz, snr_down_hz (received power over noise density), tx_power_w, iteration_time_s\n\
    and iteration_energy_j. In place of the two snr a device may have position_m ([x, y]); the cell then has\n\
    uav_position_m, and may have altitude_m (absent: 150), noise_dbm_per_hz (-174), exponent_up and exponent_down (3)\n\
    of a path loss by distance. The answer is one JSON object on stdout."
)]
pub(crate) struct AllocateArgs {
    /// The cell, as JSON; `-` reads standard input
    cell: PathBuf,
    /// Who finds the bandwidths
    #[arg(long, value_enum, default_value_t = SolverName::Exact)]
    solver: SolverName,
}

#[derive(Clone, Copy, ValueEnum)]
enum SolverName {
    /// Uses the problem's structure: microseconds
    Exact,
    /// The paper's Algorithm 2, an augmented Lagrangian method
    Palm,
}

/// A cell of a million devices is some 200 MB of JSON.
const LARGEST_FILE_BYTES: u64 = 1 << 30;

pub(crate) fn run(args: &AllocateArgs) -> Result<()> {
    let refuse = |reason: String| BadInput(format!("{}: {reason}", args.cell.display()));
    let text = read(&args.cell).map_err(|error| refuse(error.to_string()))?;
    let cell = read_cell(&text).map_err(refuse)?;
    let solver = match args.solver {
        SolverName::Exact => Method::Exact,
        SolverName::Palm => Method::Palm,
    };
    let options = Options {
        solver,
        ..Options::default()
    };
    let solution = allocate(&cell, &options).map_err(|error| refuse(error.to_string()))?;
    console::result(&serde_json::to_string(&solution)?)
}

pub(super) fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    if path.as_os_str() == "-" {
        std::io::stdin()
            .take(LARGEST_FILE_BYTES)
            .read_to_string(&mut text)?;
    } else {
        fs::File::open(path)?
            .take(LARGEST_FILE_BYTES)
            .read_to_string(&mut text)?;
    }
    Ok(text)
}
