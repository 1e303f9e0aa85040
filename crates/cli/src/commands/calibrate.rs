//! `aerofed calibrate`

use std::collections::BTreeSet;
use std::path::PathBuf;

use aerofed::calibrate::{Evidence, fit};
use aerofed::disk::replace_file;
use aerofed::learn::DataStore;
use aerofed::scenario::{LawFile, LawGroup};
use aerofed_experiment::calibration::{
    Judged, Quality, cross_validate, rankings, rankings_table, runs_table,
};
use aerofed_report::units::counted;
use anyhow::Result;
use clap::Args;

use super::outputs;
use crate::console::{self, BadInput};

/// One run in so many is held out, unless told which.
const HELD_OUT: usize = 4;

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    aerofed calibrate runs/* --out law.toml\n  \
    aerofed calibrate runs/fit-* --held-out runs/test-*\n  \
    aerofed run paper --dry --set surrogate.law=law.toml\n\n\
    Fits a law to each data set, model and learning rate among the runs, and one to all of them for everything else.\n\
    The runs held out are predicted by running their scenarios without training; the report says how well.")]
pub(crate) struct CalibrateArgs {
    /// Folders of finished runs that trained
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Runs to judge by, which nothing is fitted to [default: every fourth of the others]
    #[arg(long, value_name = "RUN", num_args = 1..)]
    held_out: Vec<PathBuf>,
    /// Where to write the law
    #[arg(long, value_name = "FILE", default_value = "law.toml")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// No cross-validation, which takes four times as long as the fit
    #[arg(long)]
    no_cross_validation: bool,
    /// No remarks but where the law is
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(args: &CalibrateArgs) -> Result<()> {
    if args.out.as_os_str().is_empty() || args.out.is_dir() {
        let reason = format!("`--out` is {:?}, allowed: a file", args.out.display());
        return Err(BadInput(reason).into());
    }
    outputs::check(&args.out, None, args.force)?;
    let data = DataStore::new();
    let (fitted, held_out) = divide(args);
    let read = |folders: &[&PathBuf]| {
        let runs = folders.iter().map(|folder| Evidence::read(folder, &data));
        runs.collect::<Result<Vec<_>, _>>()
    };
    let (fitted, held_out) = (read(&fitted)?, read(&held_out)?);
    let remark = |text: &str| {
        if !args.quiet {
            console::message(text);
        }
    };
    let usable: Vec<&Evidence> = fitted.iter().filter(|run| run.can_be_fitted()).collect();
    for run in fitted.iter().filter(|run| !run.can_be_fitted()) {
        let (folder, method) = (run.folder.display(), &run.scenario.method);
        remark(&format!(
            "{folder}: not fitted to, records of {method} do not tell which cell began from which model"
        ));
    }
    let Some(laws) = fit(&usable, &data)? else {
        let reason =
            "no run among them that a law can be fitted to: all have an asynchronous schedule";
        return Err(BadInput(reason.into()).into());
    };
    let mut report = laws.group.iter().map(group_line).collect::<String>();
    let judge = |run| Judged::new(run, &laws, &data);
    let judged = held_out.iter().map(judge).collect::<Result<Vec<_>, _>>()?;
    if !judged.is_empty() {
        report += &format!("\n{}", runs_table(&judged));
        let orders = rankings(&judged);
        if !orders.is_empty() {
            report += &format!("\n{}", rankings_table(&orders));
        }
        report += &format!("\nHeld out: {}\n", quality_line(&Quality::of(&judged)));
    }
    if usable.len() > 1 && !args.no_cross_validation {
        let crossed = cross_validate(&usable, &data)?;
        report += &format!(
            "Cross-validation: {}\n",
            quality_line(&Quality::of(&crossed))
        );
    }
    replace_file(&args.out, laws.to_toml(&comment(&laws, &judged)).as_bytes())?;
    console::result(report.trim_end())?;
    console::message(&format!("wrote {}", args.out.display()));
    Ok(())
}

/// The runs to fit to, and those to judge by; each once, in the order of their names.
fn divide(args: &CalibrateArgs) -> (Vec<&PathBuf>, Vec<&PathBuf>) {
    let held_out: BTreeSet<&PathBuf> = args.held_out.iter().collect();
    let given: BTreeSet<&PathBuf> = args.runs.iter().collect();
    let others: Vec<&PathBuf> = given.difference(&held_out).copied().collect();
    if !held_out.is_empty() {
        return (others, held_out.into_iter().collect());
    }
    let places = others.into_iter().enumerate();
    let (held, fitted): (Vec<_>, Vec<_>) =
        places.partition(|(place, _)| place % HELD_OUT == HELD_OUT - 1);
    let folders = |part: Vec<(usize, _)>| part.into_iter().map(|(_, folder)| folder).collect();
    (folders(fitted), folders(held))
}

fn group_name(group: &LawGroup) -> String {
    match (&group.data[..], &group.model[..]) {
        ("", "") => "everything else".into(),
        (data, model) => format!("{data} {model}, learning rate {}", group.learning_rate),
    }
}

fn group_line(group: &LawGroup) -> String {
    format!(
        "{}: {}, accuracy of their rounds within {:.1} %\n",
        group_name(group),
        counted(group.runs, "run"),
        100.0 * group.accuracy_error
    )
}

fn quality_line(quality: &Quality) -> String {
    format!(
        "{}, accuracy within {:.1} % (root mean square), rounds to {} within {:.0} % (median)",
        counted(quality.runs, "run"),
        100.0 * quality.accuracy_error,
        counted(quality.targets, "target"),
        100.0 * quality.rounds_error
    )
}

/// What stands at the head of a law file.
fn comment(laws: &LawFile, judged: &[Judged]) -> String {
    let mut text = format!(
        "What `learner = \"surrogate\"` follows in place of training, by aerofed {}: `aerofed calibrate` fitted it, docs/surrogate.md says what it means.\n",
        aerofed::VERSION
    );
    for group in &laws.group {
        text += &format!(
            "{}Methods {}; partitions {}; {} to {} samples; H {} to {}.\n",
            group_line(group),
            group.methods.join(", "),
            group.partitions.join(", "),
            group.data_volume[0],
            group.data_volume[1],
            group.local_iterations[0],
            group.local_iterations[1],
        );
    }
    if !judged.is_empty() {
        text += &format!("Held out: {}.\n", quality_line(&Quality::of(judged)));
    }
    text
}
