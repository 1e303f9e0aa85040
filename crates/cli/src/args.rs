//! The command line's grammar.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};

use crate::commands::allocate::AllocateArgs;
use crate::commands::bench::BenchArgs;
use crate::commands::calibrate::CalibrateArgs;
use crate::commands::compare::CompareArgs;
use crate::commands::data::DataArgs;
use crate::commands::deploy::DeployArgs;
use crate::commands::manual::{CompletionsArgs, ManArgs};
use crate::commands::merge::MergeArgs;
use crate::commands::methods::MethodsArgs;
use crate::commands::pretrain::PretrainArgs;
use crate::commands::report::ReportArgs;
use crate::commands::reproduce::ReproduceArgs;
use crate::commands::run::RunArgs;
use crate::commands::scenario::ScenarioArgs;
use crate::commands::sweep::SweepArgs;

/// Federated learning where the aggregators fly: UAVs collect model updates from moving devices,
/// merge them, and account for every second and joule.
#[derive(Parser)]
#[command(
    name = "aerofed",
    version,
    after_help = "Examples:\n  \
        aerofed run                                  the quick start, on embedded data\n  \
        aerofed run --set data.set=fashion-mnist     the same with another data set\n  \
        aerofed scenario defaults > mine.toml        every field, commented\n  \
        aerofed run mine.toml --seed 7 --out runs/7  your own"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// What was typed, or the end of the program with a message or with help.
    pub(crate) fn read() -> Self {
        Self::try_parse().unwrap_or_else(|mut error| {
            let stray = match (error.kind(), error.get(ContextKind::InvalidArg)) {
                (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) => word.clone(),
                _ => String::new(),
            };
            if is_setting(&stray) {
                let tip = ContextValue::StyledStrs(vec![DIVIDED.into()]);
                error.insert(ContextKind::Suggested, tip);
            }
            error.exit()
        })
    }
}

/// Said of a word that is none of a command's but looks like a setting, as the parts of `--set faults=[{kind="loss",uav=0}]` do.
pub(crate) const DIVIDED: &str = "a setting stands behind --set, and in quotes, or the shell divides it: \
    --set 'faults=[{kind=\"loss\", uav=0, round=2}]'";

/// Whether a word looks like `path=value`.
pub(crate) fn is_setting(word: &str) -> bool {
    !word.starts_with('-') && word.contains('=')
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run a scenario: train a real model through UAVs, and count what it costs
    Run(RunArgs),
    /// Compare methods over seeds: what each needs to reach an accuracy
    Compare(CompareArgs),
    /// Reproduce the paper's figures and tables, or experiments of your own
    Reproduce(ReproduceArgs),
    /// Vary fields of a scenario, in a grid or at random: what they cost, and what depends on them
    Sweep(SweepArgs),
    /// Join what several machines reproduced
    Merge(MergeArgs),
    /// Turn run folders into one page to look at: curves, costs, a map replay
    Report(ReportArgs),
    /// List the methods
    Methods(MethodsArgs),
    /// List, print or check scenarios
    Scenario(ScenarioArgs),
    /// List, fetch, check and divide data sets
    Data(DataArgs),
    /// Plan one cell: local iterations and bandwidth of each device
    Allocate(AllocateArgs),
    /// Plan a fleet: where the UAVs go when one has left
    Deploy(DeployArgs),
    /// Train the agents that choose devices, before any run
    Pretrain(PretrainArgs),
    /// Fit the law that `run --dry` follows to runs that trained
    Calibrate(CalibrateArgs),
    /// Measure speed
    Bench(BenchArgs),
    /// Print what a shell needs to complete commands and options
    Completions(CompletionsArgs),
    /// Print a manual page
    Man(ManArgs),
}
