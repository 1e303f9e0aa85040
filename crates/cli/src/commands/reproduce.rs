//! `aerofed reproduce`

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use aerofed::Error;
use aerofed::disk::replace_file;
use aerofed::method::Registry;
use aerofed::reading::choices;
use aerofed::record::schema::to_json;
use aerofed_experiment::built_in;
use aerofed_experiment::latex::of_markdown;
use aerofed_experiment::reproduction::{Reproduction, Request};
use aerofed_experiment::results::{Results, Scale, Verdict};
use aerofed_experiment::tidy::files;
use aerofed_report::Report;
use aerofed_report::units::{counted, counted_are};
use anyhow::Result;
use clap::{Args, ValueEnum};

use super::batch::{BatchArgs, Kept, Work};
use super::engine::EngineArgs;
use super::outputs::folder;
use crate::console::{self, BadInput};
use crate::numbers::{rounds, seed, seed_count, smooth_rounds};

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
    The files of experiments/ are the format for your own; docs/own-experiment.md begins with a small one. Writes results.json\n\
    (figures, tables, claims with verdicts), results.md, report.html, figures/ (SVG), runs.csv (a row for each run and target, with\n\
    what was varied in columns), curves.csv (a row for each run and round), schema.json (what the columns mean), and a\n\
    folder for each run under runs/. Runs that two figures share are done once; the same command again does only what is\n\
    missing; Ctrl-C (exit code 130) keeps the runs that are finished and sets down those under way."
)]
pub(crate) struct ReproduceArgs {
    /// Names from `--list`, experiment files, or `all` of the paper's figures and tables
    #[arg(value_name = "NAME|FILE|all", required_unless_present = "list")]
    experiments: Vec<String>,
    /// List the experiments
    #[arg(long)]
    list: bool,
    /// How much to run
    #[arg(long, value_enum, default_value_t = ScaleName::Quick)]
    scale: ScaleName,
    /// Seeds of each experiment that trains [default: what it says]
    #[arg(long, value_name = "N", value_parser = seed_count)]
    seeds: Option<u64>,
    /// The first seed [default: 1]
    #[arg(long, value_name = "S", value_parser = seed)]
    first_seed: Option<u64>,
    /// Global rounds of each run at most [default: what the experiment says]
    #[arg(long, value_name = "N", value_parser = rounds)]
    rounds: Option<u64>,
    /// Rounds over which accuracy is averaged before it is held against targets
    /// [default: the experiment's `stop.smooth`, which is 1 for the paper's: the first crossing]
    #[arg(long, value_name = "N", value_parser = smooth_rounds)]
    smooth: Option<usize>,
    /// Folder of images for the experiments that need one, a subfolder for each class
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Where to write, and to look for finished runs [default: results/SCALE]
    #[arg(long, value_name = "DIR", overrides_with = "out")]
    out: Option<PathBuf>,
    /// Print results.json as one JSON object
    #[arg(long)]
    json: bool,
    /// Write the tables for a paper, too: results.tex, with booktabs
    #[arg(long)]
    latex: bool,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    engine: EngineArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum ScaleName {
    /// Fewer rounds, values and layouts
    Quick,
    /// Everything that the paper shows
    Paper,
}

pub(crate) fn run(args: &ReproduceArgs) -> Result<()> {
    if args.list {
        return list();
    }
    args.engine.check()?;
    let experiments = texts(&args.experiments)?;
    let request = Request {
        scale: match args.scale {
            ScaleName::Quick => Scale::Quick,
            ScaleName::Paper => Scale::Paper,
        },
        seeds: args.seeds,
        first_seed: args.first_seed,
        rounds: args.rounds,
        smooth: args.smooth,
        data_dir: args.data_dir.clone(),
        files: experiments.iter().map(|(file, _)| file.clone()).collect(),
        experiments: experiments.into_iter().map(|(_, text)| text).collect(),
    };
    if let Some(dir) = args.data_dir.as_ref().filter(|dir| !dir.is_dir()) {
        return Err(BadInput(format!("`--data-dir` {}: not a folder", dir.display())).into());
    }
    let registry = Registry::builtin();
    let reproduction = Reproduction::new(&registry, &request)?;
    let out = folder(args.out.as_ref(), || match args.scale {
        ScaleName::Quick => "results/quick".into(),
        ScaleName::Paper => "results/paper".into(),
    })?;
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
    }
    args.batch.warn(&reproduction.runs());
    request.write(&out)?;
    let runs_folder = out.join("runs");
    let done = args.batch.run(&Work {
        registry: &registry,
        runs: &reproduction.runs(),
        out: &out,
        kept: Kept::Folders(&runs_folder),
        divided: false,
        engine: &args.engine,
    })?;
    if args.engine.runs_only {
        return args.batch.conclude(done, &runs_folder);
    }
    let results = write_results(&out, &reproduction)?;
    args.batch.conclude(done, &runs_folder)?;
    if args.latex {
        let latex = of_markdown(&results.markdown());
        replace_file(&out.join("results.tex"), latex.as_bytes())?;
    }
    if args.json {
        console::result(&serde_json::to_string(&results)?)?;
    } else {
        console::result(&came_to(&results))?;
    }
    console::message(&format!("wrote {}", out.display()));
    Ok(())
}

fn list() -> Result<()> {
    for (name, text) in built_in::every() {
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
        let known = built_in::every().map(|(name, _)| *name).chain(["all"]);
        let known = choices(&given, known);
        BadInput(match error.kind() {
            ErrorKind::NotFound => format!("no experiment or file `{given}`; there are: {known}"),
            _ => format!("{given}: {error}; experiments are: {known}"),
        })
        .into()
    })
}

/// Sums up what a folder holds: `results.json`, `results.md`, tidy tables, figures and the page.
pub(super) fn write_results(out: &Path, reproduction: &Reproduction) -> Result<Results> {
    let finished = reproduction.finished(out)?;
    let results = reproduction.results(&finished)?;
    let tidy = reproduction.tidy(&finished, &results);
    let json = serde_json::to_string_pretty(&results)? + "\n";
    // Reads the files of the runs: what is damaged is found before anything is overwritten.
    let report = Report::of_results(out, serde_json::from_str(&json)?)?;
    let mut written = vec![
        ("results.json".into(), json),
        ("results.md".into(), results.markdown()),
        ("report.html".into(), report.html()),
    ];
    if !results.runs.is_empty() {
        written.extend([
            ("runs.csv".into(), tidy.runs),
            ("curves.csv".into(), tidy.curves),
            ("schema.json".into(), to_json(&files(&tidy.varied, false))),
        ]);
    }
    let figures = report.figures().into_iter();
    let figures: Vec<_> = figures.filter(|(name, _)| name.ends_with(".svg")).collect();
    if !figures.is_empty() {
        let folder = out.join("figures");
        fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        let inside = figures
            .into_iter()
            .map(|(name, svg)| (format!("figures/{name}"), svg));
        written.extend(inside);
    }
    for (name, contents) in written {
        replace_file(&out.join(name), contents.as_bytes())?;
    }
    Ok(results)
}

/// What became of the claims, in a line; before it the numbers of experiments about which nobody claims anything.
pub(super) fn came_to(results: &Results) -> String {
    let mut text = results.overviews().trim_start().to_owned();
    if !text.is_empty() {
        text.push('\n');
    }
    let made = [
        (results.figures.len(), "figure"),
        (results.tables.len(), "table"),
    ];
    let made = made.into_iter().filter(|(count, _)| *count > 0);
    let made: Vec<String> = made.map(|(count, word)| counted(count, word)).collect();
    let from = format!(" from {}", results.made_of());
    text += &match made.is_empty() {
        true => results.made_of(),
        false => made.join(", ") + &from,
    };
    if !results.claims.is_empty() {
        text += &format!("; {}", verdicts(results));
    }
    match results.runs_missing {
        0 => text,
        missing => text + &format!("; {} missing", counted_are(missing, "run")),
    }
}

fn verdicts(results: &Results) -> String {
    let count = |verdict| {
        let claims = results.claims.iter();
        claims.filter(|claim| claim.verdict == verdict).count()
    };
    format!(
        "of {} {} agree, {} are weaker, {} are contradicted, {} are open",
        counted(results.claims.len(), "claim"),
        count(Verdict::Agrees),
        count(Verdict::Weaker),
        count(Verdict::Contradicts),
        count(Verdict::Open),
    )
}
