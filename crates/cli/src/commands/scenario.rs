//! `aerofed scenario`

use std::path::PathBuf;

use aerofed::method::Registry;
use aerofed::scenario::{DEFAULTS, PAPER, QUICKSTART};
use aerofed::{Method, Scenario, ValidScenario};
use aerofed_report::units::counted;
use anyhow::Result;
use clap::{Args, Subcommand};

use crate::console;

#[derive(Args)]
pub(crate) struct ScenarioArgs {
    #[command(subcommand)]
    command: ScenarioCommand,
}

#[derive(Subcommand)]
enum ScenarioCommand {
    /// Print a commented scenario with every field and its default
    #[command(after_help = "Example:\n  aerofed scenario defaults > mine.toml")]
    Defaults,
    /// Check a scenario without running it
    #[command(after_help = "Example:\n  aerofed scenario check mine.toml")]
    Check {
        /// The scenario file, or `paper` or `quickstart` for the built-in ones
        file: PathBuf,
        /// Change a field before checking, as in `uavs.speed_mps=15`
        #[arg(long = "set", value_name = "PATH=VALUE")]
        settings: Vec<String>,
    },
}

pub(crate) fn run(args: &ScenarioArgs) -> Result<()> {
    match &args.command {
        ScenarioCommand::Defaults => console::result(DEFAULTS.trim_end()),
        ScenarioCommand::Check { file, settings } => {
            let scenario = load(Some(file), settings)?;
            console::result(&format!(
                "{}: valid; {}, {}, method {}, at most {}",
                scenario.name,
                counted(scenario.devices.count, "device"),
                counted(scenario.uavs.count, "UAV"),
                Method::of(&scenario)?.name,
                counted(scenario.stop.max_rounds, "round")
            ))
        }
    }
}

/// The scenario of a file, a built-in one by its name, or the quick start, with a method that reads all that it changes.
pub(crate) fn load(file: Option<&PathBuf>, settings: &[String]) -> Result<ValidScenario> {
    let scenario = load_for_any(file, settings)?;
    Method::of(&scenario)?;
    Ok(scenario)
}

/// The same for methods that are named elsewhere, which may read other fields.
pub(crate) fn load_for_any(file: Option<&PathBuf>, settings: &[String]) -> Result<ValidScenario> {
    let built_in = match file {
        None => Some(QUICKSTART),
        Some(path) if path.exists() => None,
        Some(path) => match path.to_str() {
            Some("quickstart") => Some(QUICKSTART),
            Some("paper") => Some(PAPER),
            Some("defaults") => Some(DEFAULTS),
            _ => None,
        },
    };
    let scenario = match (built_in, file) {
        (None, Some(path)) => Scenario::load(path, settings)?,
        (text, _) => Scenario::parse(text.unwrap_or(QUICKSTART), settings)?,
    };
    Registry::builtin().find(&scenario.method)?;
    Ok(scenario.check()?)
}
