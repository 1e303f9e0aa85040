//! The `aerofed` command: federated learning where the aggregators fly.
//!
//! Results go to stdout, progress and messages to stderr. Exit codes: 0 done, 2 bad input, 130 interrupted, 1
//! anything else.

use std::process::ExitCode;

mod args;
mod commands;
mod console;
mod numbers;

fn main() -> ExitCode {
    match commands::dispatch(args::Cli::read()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if console::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let head = if console::is_interrupted(&error) {
                ""
            } else {
                "error: "
            };
            console::message(&format!("{head}{}", console::explain(&error)));
            ExitCode::from(console::exit_code(&error))
        }
    }
}
