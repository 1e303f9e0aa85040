//! `aerofed scenario`

use std::ffi::OsStr;
use std::path::PathBuf;

use aerofed::method::Registry;
use aerofed::reading::choices;
use aerofed::scenario::{BUILT_IN, DEFAULTS, QUICKSTART, built_in, first_sentence};
use aerofed::world::World;
use aerofed::{Method, Scenario, ValidScenario};
use aerofed_report::units::{counted, energy, shorten};
use anyhow::Result;
use clap::builder::{PathBufValueParser, PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Subcommand};
use serde_json::json;

use crate::args::{DIVIDED, is_setting};
use crate::console::{self, BadInput};

#[derive(Args)]
pub(crate) struct ScenarioArgs {
    #[command(subcommand)]
    command: ScenarioCommand,
}

#[derive(Subcommand)]
enum ScenarioCommand {
    /// List the scenarios that come with the program
    #[command(after_help = "Example:\n  aerofed run quickstart\n\n\
        These names always mean these scenarios; a file of the same name is reached by a path, as in ./paper.")]
    List {
        /// Print them as one JSON list
        #[arg(long)]
        json: bool,
    },
    /// Print one of them as it is written, with its comments
    #[command(
        after_help = "Example:\n  aerofed scenario show quickstart > mine.toml\n\n\
        It holds what differs from the defaults; `aerofed scenario defaults NAME` prints every field."
    )]
    Show {
        /// Which one
        #[arg(value_parser = ScenarioName, hide_possible_values = true)]
        name: PathBuf,
    },
    /// Print a commented scenario with every field and its default, or its value in another scenario
    #[command(after_help = "Examples:\n  \
        aerofed scenario defaults > mine.toml\n  \
        aerofed scenario defaults paper > mine.toml\n\n\
        A file need not hold every field: what it leaves out is at its default, or, with extends = \"paper\" at its top,\n\
        as in the scenario so named (or in a file, by a path that starts where this one stands).")]
    Defaults {
        /// A name of `aerofed scenario list`, or a file; none: the defaults
        #[arg(value_parser = ScenarioName, hide_possible_values = true)]
        name: Option<PathBuf>,
    },
    /// Check a scenario without running it
    #[command(after_help = "Example:\n  aerofed scenario check mine.toml")]
    Check {
        /// The scenario file, or a name of `aerofed scenario list`
        #[arg(value_parser = ScenarioName, hide_possible_values = true)]
        file: PathBuf,
        /// Change a field before checking, as in `uavs.speed_mps=15`
        #[arg(long = "set", value_name = "PATH=VALUE")]
        settings: Vec<String>,
    },
}

pub(crate) fn run(args: &ScenarioArgs) -> Result<()> {
    match &args.command {
        ScenarioCommand::List { json } => list(*json),
        ScenarioCommand::Show { name } => {
            let name = name.to_string_lossy();
            let Some(text) = built_in(&name) else {
                let names = choices(&name, names());
                let reason = format!("no scenario {name:?} in the library, allowed: {names}");
                return Err(BadInput(reason).into());
            };
            console::result(text.trim_end())
        }
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
    Ok(match file {
        None => Scenario::parse(QUICKSTART, settings)?,
        Some(file) => Scenario::open(file, settings)?,
    })
}

fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// A scenario as people name it: any path will do, and shells are told the names of the library.
#[derive(Clone)]
pub(crate) struct ScenarioName;

impl TypedValueParser for ScenarioName {
    type Value = PathBuf;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<PathBuf, clap::Error> {
        let path = PathBufValueParser::new().parse_ref(command, argument, value)?;
        let word = value.to_string_lossy();
        if is_setting(&word) && !path.exists() {
            let told = format!("{word}: no such file; {DIVIDED}\n");
            return Err(clap::Error::raw(ErrorKind::ValueValidation, told).with_cmd(command));
        }
        Ok(path)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(names().map(PossibleValue::new)))
    }
}

/// A line for each scenario of the library.
fn list(as_json: bool) -> Result<()> {
    let mut found = Vec::new();
    for (name, text) in BUILT_IN {
        let scenario = Scenario::parse(text, &[] as &[&str])?;
        found.push((*name, first_sentence(text), scenario));
    }
    if as_json {
        let entry = |(name, summary, scenario): &(&str, String, Scenario)| {
            json!({
                "name": name,
                "summary": summary,
                "devices": scenario.devices.count,
                "uavs": scenario.uavs.count,
                "width_m": scenario.area.width_m,
                "height_m": scenario.area.height_m,
            })
        };
        let all: Vec<_> = found.iter().map(entry).collect();
        return console::result(&serde_json::to_string(&all)?);
    }
    let rows: Vec<([String; 4], &str)> = found
        .iter()
        .map(|(name, summary, scenario)| {
            let area = &scenario.area;
            let columns = [
                (*name).into(),
                counted(scenario.devices.count, "device"),
                counted(scenario.uavs.count, "UAV"),
                format!("{} x {} km", area.width_m / 1e3, area.height_m / 1e3),
            ];
            (columns, summary.as_str())
        })
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|(row, _)| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths = [0, 1, 2, 3].map(width);
    for (row, summary) in &rows {
        let cells = row.iter().zip(widths);
        let start: String = cells
            .map(|(text, width)| format!("{text:width$}  "))
            .collect();
        let room = console::width().saturating_sub(start.chars().count());
        let line = format!("{start}{}", shorten(summary, room.max(10)));
        console::result(line.trim_end())?;
    }
    Ok(())
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
