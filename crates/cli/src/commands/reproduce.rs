//! `aerofed reproduce`

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use aerofed::disk::replace_file;
use aerofed::method::Registry;
use aerofed::reading::choices;
use aerofed_experiment::built_in;
use aerofed_experiment::reproduction::{Reproduction, Request};
use aerofed_experiment::results::{Results, Scale, Verdict};
use aerofed_report::Report;
use aerofed_report::units::{counted, counted_are};
use anyhow::Result;
use clap::{Args, ValueEnum};

use super::batch::BatchArgs;
use crate::console::{self, BadInput};
use crate::numbers::{rounds, seed, seed_count};

#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  \
    aerofed reproduce fig5\n  \
    aerofed reproduce all --scale quick --seeds 2\n  \
    aerofed reproduce fig10 --data-dir aerial\n  \
    aerofed reproduce mine.toml --out results/mine\n  \
    aerofed reproduce all --scale paper --shard 1/4 --out part1    on the first of four machines, then\n  \
    aerofed merge part1 part2 part3 part4 --out results/paper\n\n\
    The files of experiments/ are the format for your own. Writes results.json (figures, tables, claims with\n\
    verdicts), results.md, report.html, and a folder for each run under runs/. Runs that two figures share are done once;\n\
    the same command again does only what is missing; Ctrl-C (exit code 130) keeps the runs that are\n\
    finished and sets down those under way."
)]
pub(crate) struct ReproduceArgs {
    /// Names of the paper's figures and tables, experiment files, or `all`
    #[arg(value_name = "NAME|FILE|all", required_unless_present = "list")]
    experiments: Vec<String>,
    /// List the experiments
    #[arg(long)]
    list: bool,
    /// How much to run
    #[arg(long, value_enum, default_value_t = ScaleName::Quick)]
    scale: ScaleName,
    /// Seeds of each experiment [default: what it says]
    #[arg(long, value_name = "N", value_parser = seed_count)]
    seeds: Option<u64>,
    /// The first seed [default: 1]
    #[arg(long, value_name = "S", value_parser = seed)]
    first_seed: Option<u64>,
    /// Global rounds of each run at most [default: what the experiment says]
    #[arg(long, value_name = "N", value_parser = rounds)]
    rounds: Option<u64>,
    /// Do every N-th run only, as in 1/4: `aerofed merge` joins the parts
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(usize, usize)>,
    /// Folder of images for the experiments that need one, a subfolder for each class
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Where to write, and to look for finished runs [default: results/SCALE]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    batch: BatchArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum ScaleName {
    /// Fewer rounds, values and layouts
    Quick,
    /// Everything that the paper shows
    Paper,
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let numbers = text
        .split_once('/')
        .and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match numbers {
        Some((i, n)) if (1..=n).contains(&i) => Ok((i, n)),
        _ => Err("allowed: I/N with I from 1 to N, as in 1/4".into()),
    }
}

pub(crate) fn run(args: &ReproduceArgs) -> Result<()> {
    if args.list {
        return list();
    }
    let experiments = texts(&args.experiments)?;
    let request = Request {
        scale: match args.scale {
            ScaleName::Quick => Scale::Quick,
            ScaleName::Paper => Scale::Paper,
        },
        seeds: args.seeds,
        first_seed: args.first_seed,
        rounds: args.rounds,
        data_dir: args.data_dir.clone(),
        files: experiments.iter().map(|(file, _)| file.clone()).collect(),
        experiments: experiments.into_iter().map(|(_, text)| text).collect(),
    };
    if let Some(dir) = args.data_dir.as_ref().filter(|dir| !dir.is_dir()) {
        return Err(BadInput(format!("`--data-dir` {}: not a folder", dir.display())).into());
    }
    let registry = Registry::builtin();
    let reproduction = Reproduction::new(&registry, &request)?;
    let out = match (&args.out, args.scale) {
        (Some(path), _) if path.as_os_str().is_empty() => {
            return Err(BadInput("`--out` is empty, allowed: a folder".into()).into());
        }
        (Some(path), _) => path.clone(),
        (None, ScaleName::Quick) => "results/quick".into(),
        (None, ScaleName::Paper) => "results/paper".into(),
    };
    if let [skipped, ..] = reproduction.skipped()
        && reproduction.skipped().len() == request.experiments.len()
    {
        let (name, reason) = (&skipped.experiment, &skipped.reason);
        return Err(BadInput(format!("nothing to do: {name} {reason}")).into());
    }
    Request::check_place(&out)?;
    if !args.batch.quiet {
        for skipped in reproduction.skipped() {
            let (name, reason) = (&skipped.experiment, &skipped.reason);
            console::message(&format!("{name} is skipped: {reason}"));
        }
        let runs = reproduction.runs();
        let warnings: BTreeSet<_> = runs
            .iter()
            .flat_map(|run| run.scenario.warnings())
            .collect();
        for warning in warnings {
            console::message(&format!("warning: {warning}"));
        }
    }
    request.write(&out)?;
    let runs = match args.shard {
        Some((shard, of)) => reproduction.shard(shard, of),
        None => reproduction.runs(),
    };
    let folder = out.join("runs");
    let done = args.batch.run(&registry, &runs, &folder)?;
    let results = reproduction.results(&out)?;
    write_results(&out, &results)?;
    args.batch.conclude(done, &folder)?;
    console::result(&verdicts(&results))?;
    console::message(&format!("wrote {}", out.display()));
    Ok(())
}

fn list() -> Result<()> {
    for (name, text) in built_in::ALL {
        let title = aerofed_experiment::description::Description::parse(text, name)?.title;
        console::result(&format!("{name:<8}  {title}"))?;
    }
    Ok(())
}

/// The experiments asked for: what messages call each, and its text.
fn texts(names: &[String]) -> Result<Vec<(String, String)>> {
    let mut texts = Vec::new();
    let known = |&(name, text): &(&str, &str)| (format!("experiment {name}"), text.to_owned());
    for name in names {
        match (name.as_str(), built_in::named(name)) {
            ("all", _) => texts.extend(built_in::ALL.iter().map(known)),
            (name, Some(text)) => texts.push(known(&(name, text))),
            (name, None) => texts.push((name.into(), read(Path::new(name))?)),
        }
    }
    Ok(texts)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| {
        let given = path.display().to_string();
        let known = built_in::ALL.iter().map(|(name, _)| *name).chain(["all"]);
        let known = choices(&given, known);
        BadInput(format!(
            "no experiment or file `{given}` ({error}); there are: {known}"
        ))
        .into()
    })
}

/// `results.json`, `results.md` and the page.
pub(super) fn write_results(out: &Path, results: &Results) -> Result<()> {
    let json = serde_json::to_string_pretty(results)? + "\n";
    // Reads the files of the runs: what is damaged is found before anything is overwritten.
    let page = Report::of_results(out, serde_json::from_str(&json)?)?.html();
    replace_file(&out.join("results.json"), json.as_bytes())?;
    replace_file(&out.join("results.md"), results.markdown().as_bytes())?;
    Ok(replace_file(&out.join("report.html"), page.as_bytes())?)
}

/// What became of the claims, in a line.
pub(super) fn verdicts(results: &Results) -> String {
    let count = |verdict| {
        results
            .claims
            .iter()
            .filter(|c| c.verdict == verdict)
            .count()
    };
    let missing = match results.runs_missing {
        0 => String::new(),
        missing => format!("; {} missing", counted_are(missing, "run")),
    };
    format!(
        "{}, {} from {}; of {} {} agree, {} are weaker, {} are contradicted, {} are open{missing}",
        counted(results.figures.len(), "figure"),
        counted(results.tables.len(), "table"),
        counted(results.runs.len(), "run"),
        counted(results.claims.len(), "claim"),
        count(Verdict::Agrees),
        count(Verdict::Weaker),
        count(Verdict::Contradicts),
        count(Verdict::Open),
    )
}
