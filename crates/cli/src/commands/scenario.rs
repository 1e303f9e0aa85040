//! `aerofed scenario`

use std::path::PathBuf;

use aerofed::method::Registry;
use aerofed::scenario::{BUILT_IN, DEFAULTS, QUICKSTART};
use aerofed::world::World;
use aerofed::{Method, Scenario, ValidScenario};
use aerofed_report::units::{counted, energy};
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
    /// Print a commented scenario with every field and its default, or its value in another scenario
    #[command(after_help = "Examples:\n  \
        aerofed scenario defaults > mine.toml\n  \
        aerofed scenario defaults paper > mine.toml\n\n\
        A file need not hold every field: what it leaves out is at its default, or, with extends = \"paper\" at its top,\n\
        as in the scenario so named (or in a file, by a path that starts where this one stands).")]
    Defaults {
        /// A built-in scenario (`defaults`, `paper`, `quickstart`) or a file; none: the defaults
        name: Option<PathBuf>,
    },
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
        ScenarioCommand::Defaults { name: None } => console::result(DEFAULTS.trim_end()),
        ScenarioCommand::Defaults { name: Some(name) } => {
            let text = read(Some(name), &[])?.commented()?;
            console::result(text.trim_end())
        }
        ScenarioCommand::Check { file, settings } => {
            let scenario = load(Some(file), settings)?;
            warn(&scenario);
            if let Some(warning) = cannot_return(&scenario) {
                console::message(&format!("warning: {warning}"));
            }
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
    let scenario = read(file, settings)?;
    Registry::builtin().find(&scenario.method)?;
    Ok(scenario.check()?)
}

/// What a scenario says, whether or not it can be run.
fn read(file: Option<&PathBuf>, settings: &[String]) -> Result<Scenario> {
    let built_in = |path: &PathBuf| BUILT_IN.iter().find(|(name, _)| path.as_os_str() == *name);
    Ok(match (file, file.and_then(built_in)) {
        (None, _) => Scenario::parse(QUICKSTART, settings)?,
        (Some(path), Some((_, text))) if !path.exists() => Scenario::parse(text, settings)?,
        (Some(path), _) => Scenario::load(path, settings)?,
    })
}

/// Who would fly home to charge and never come back.
fn cannot_return(scenario: &ValidScenario) -> Option<String> {
    // Where everybody hovers does not depend on who holds how much data.
    let world = World::new(scenario, vec![1; scenario.devices.count], 1.0);
    let stranded = world.cannot_return(scenario);
    let farthest_j = stranded
        .iter()
        .map(|(_, way_j)| *way_j)
        .max_by(f64::total_cmp)?;
    let uavs: Vec<String> = stranded.iter().map(|(uav, _)| uav.0.to_string()).collect();
    let full_j = stranded
        .iter()
        .map(|(uav, _)| scenario.full_battery_j(uav.index()));
    let least_j = full_j.fold(f64::INFINITY, f64::min);
    let bases = scenario.places().bases.iter();
    let bases: Vec<String> = bases
        .map(|at| format!("[{}, {}]", at.x_m, at.y_m))
        .collect();
    let who = match &uavs[..] {
        [one] => format!("UAV {one} could not come back once it left"),
        several => format!(
            "UAVs {} could not come back once they left",
            several.join(", ")
        ),
    };
    Some(format!(
        "{who}: from `uavs.base_m` {} the way takes up to {}, there and again back, and \
         a full battery gives {}",
        bases.join(", "),
        energy(farthest_j),
        energy(least_j),
    ))
}

/// Says which values hardly anybody means.
pub(crate) fn warn(scenario: &Scenario) {
    for warning in scenario.warnings() {
        console::message(&format!("warning: {warning}"));
    }
}
