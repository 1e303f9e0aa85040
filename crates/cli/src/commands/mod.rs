//! One file per command.

pub(crate) mod allocate;
mod batch;
pub(crate) mod bench;
mod bench_scale;
pub(crate) mod calibrate;
pub(crate) mod compare;
pub(crate) mod data;
pub(crate) mod deploy;
mod device;
mod engine;
pub(crate) mod manual;
pub(crate) mod merge;
pub(crate) mod methods;
mod outputs;
pub(crate) mod pretrain;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod scenario;
pub(crate) mod sweep;

use anyhow::Result;

use crate::args::{Cli, Command};

pub(crate) fn dispatch(cli: Cli) -> Result<()> {
    match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Methods(args) => methods::run(&args),
        Command::Scenario(args) => scenario::run(&args),
        Command::Data(args) => data::run(args),
        Command::Allocate(args) => allocate::run(&args),
        Command::Deploy(args) => deploy::run(&args),
        Command::Pretrain(args) => pretrain::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Bench(args) => bench::run(args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
    }
}
