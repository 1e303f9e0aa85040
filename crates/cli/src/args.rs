//! The command line's grammar.

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

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run a scenario: train a real model through UAVs, and count what it costs
    Run(RunArgs),
    /// Compare methods over seeds: what each needs to reach an accuracy
    Compare(CompareArgs),
    /// Reproduce the paper's figures and tables, or experiments of your own
    Reproduce(ReproduceArgs),
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
