//! `aerofed merge`

use std::path::{Path, PathBuf};

use aerofed::method::Registry;
use aerofed_experiment::merge::merge;
use aerofed_experiment::reproduction::Reproduction;
use aerofed_report::units::counted;
use anyhow::Result;
use clap::Args;

use super::reproduce::{came_to, write_results};
use crate::console::{self, BadInput};

#[derive(Args)]
#[command(after_help = "Example:\n  \
    aerofed merge part1 part2 --out results\n\n\
    The folders are those of `aerofed reproduce`, of shards or of different experiments. A run that two of\n\
    them hold must have come out the same.")]
pub(crate) struct MergeArgs {
    /// Results folders
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Where to write; may hold results already
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(args: &MergeArgs) -> Result<()> {
    if args.out.as_os_str().is_empty() {
        return Err(BadInput("`--out` is empty, allowed: a folder".into()).into());
    }
    let folders: Vec<&Path> = args.folders.iter().map(PathBuf::as_path).collect();
    let (request, new) = merge(&folders, &args.out)?;
    let reproduction = Reproduction::new(&Registry::builtin(), &request)?;
    let results = write_results(&args.out, &reproduction)?;
    console::result(&came_to(&results))?;
    let (runs, out) = (counted(new, "run"), args.out.display());
    console::message(&format!("took {runs} into {out}"));
    Ok(())
}
