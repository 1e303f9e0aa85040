//! The `aerofed` command: federated learning where the aggregators fly.
//!
//! Results go to stdout, progress and messages to stderr. Exit codes: 0 done, 2 bad input, 1
//! anything else.

use std::process::ExitCode;

use clap::Parser;

mod args;
mod commands;
mod console;
mod numbers;

fn main() -> ExitCode {
    match commands::dispatch(args::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if console::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            console::message(&format!("error: {}", console::explain(&error)));
            ExitCode::from(if console::is_bad_input(&error) { 2 } else { 1 })
        }
    }
}
