//! `aerofed sweep`

use std::fs;
use std::path::{Path, PathBuf};

use aerofed::disk::replace_file;
use aerofed::method::Registry;
use aerofed::{Error, Scenario};
use aerofed_experiment::plan::{Contender, PlannedRun, digest};
use aerofed_experiment::results::{Overview, Results};
use aerofed_experiment::sweep::{
    RowFiles, SweepAxis, SweepCase, SweepPlan, SweepTable, folder_rows, stored_rows,
};
use aerofed_experiment::{check_data, claim, release};
use aerofed_report::sweep_files;
use aerofed_report::units::counted;
use anyhow::Result;
use clap::Args;

use super::batch::{BatchArgs, Kept, RowKept, Work};
use super::engine::EngineArgs;
use super::outputs::folder;
use super::scenario;
use crate::console::{self, BadInput};
use crate::numbers::{number, rounds, seed, seed_count, whole};

#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  \
    aerofed sweep paper --grid uavs.count=3,5,8 --grid data.partition.kind=iid,noniid_a --seeds 3\n  \
    aerofed sweep paper --dry --random uavs.speed_mps=10..30 --random training.learning_rate=1e-3..1e-1,log --samples 500\n  \
    aerofed sweep mine.toml --methods cehfed,hfl --grid radio.uav_link_bandwidth_hz=1e6,2e6 --engine hyperqueue\n\n\
    Every value of every grid meets every other, every sample of what is random, every method and every seed. What is random is\n\
    drawn for each sample anew; the same samples are drawn again by whoever asks, and more samples leave the first as they are.\n\n\
    Writes sweep.csv and sweep.parquet (a row for each run, with what was varied in columns), schema.json (what the columns mean),\n\
    results.json and results.md (the Pareto front of time, energy and accuracy, and how much depends on each axis), figures/ (SVG)\n\
    and report.html. Real runs have a folder each under runs/; dry ones, and those with --rows, a row each under rows/.\n\
    The same command again does only what is missing; Ctrl-C (exit code 130) keeps the runs that are finished."
)]
pub(crate) struct SweepArgs {
    /// A scenario file, or a name of `aerofed scenario list`; none: the quick start
    #[arg(value_parser = scenario::ScenarioName, hide_possible_values = true)]
    scenario: Option<PathBuf>,
    /// A field and its values, as in `uavs.count=3,5,8`; may be repeated
    #[arg(long, value_name = "PATH=A,B,...")]
    grid: Vec<String>,
    /// A field and the ends between which it is drawn, as in `uavs.speed_mps=10..30` or `training.learning_rate=1e-3..1,log`; may
    /// be repeated
    #[arg(long, value_name = "PATH=LOW..HIGH[,log]")]
    random: Vec<String>,
    /// How many samples are drawn of what is random
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..=100_000))]
    samples: Option<usize>,
    /// Methods with commas between, or `all` [default: the scenario's]
    #[arg(long, value_name = "LIST")]
    methods: Option<String>,
    /// How many seeds
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed_count)]
    seeds: u64,
    /// The first seed
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = seed)]
    first_seed: u64,
    /// An accuracy whose cost the table has [default: the largest of the scenario's `stop.targets`]
    #[arg(long, value_name = "A", value_parser = number(0.0..=1.0))]
    target: Option<f64>,
    /// Global rounds of each run at most
    #[arg(long, value_name = "N", value_parser = rounds)]
    rounds: Option<u64>,
    /// Change any field of the scenario, as in `uavs.speed_mps=15`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    settings: Vec<String>,
    /// Nobody trains: accuracy follows a law that was fitted to real runs (`learner=surrogate`)
    #[arg(long)]
    dry: bool,
    /// Keep a row of each run and no folder; what --dry does
    #[arg(long)]
    rows: bool,
    /// Where to write, and to look for finished runs [default: runs/sweep-SCENARIO-HASH]
    #[arg(long, value_name = "DIR", overrides_with = "out")]
    out: Option<PathBuf>,
    /// Print results.json as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    engine: EngineArgs,
}

/// The file that makes a folder a sweep's.
const MARK: &str = "sweep.toml";

/// Rows of the front that are printed; all of them are in results.md.
const PRINTED: usize = 20;

pub(crate) fn run(args: &SweepArgs) -> Result<()> {
    args.engine.check()?;
    let registry = Registry::builtin();
    let plan = plan(args, &registry)?;
    // A shard plans its own part alone; whoever sums up, or submits, checks them all.
    let cases = plan.cases(&registry, args.engine.shard())?;
    let shared = plan.shared_text()?;
    let out = folder(args.out.as_ref(), || {
        let asked = format!("{shared}{:?}", plan.axes);
        let name = format!("sweep-{}-{}", plan.base.name, &digest(&asked)[..6]);
        PathBuf::from("runs").join(name)
    })?;
    if !args.batch.quiet {
        scenario::warn(&plan.base);
    }
    let new = !out.join(MARK).exists();
    check_data(&plan.base)?;
    claim(&out, MARK, "sweep", &shared)?;
    let runs: Vec<&PlannedRun> = cases.iter().map(|case| &case.run).collect();
    let by_rows = args.dry || args.rows;
    let (rows_folder, folders) = (out.join("rows"), out.join("runs"));
    let files = RowFiles::new(&rows_folder);
    let done = args.batch.run(&Work {
        registry: &registry,
        runs: &runs,
        out: &out,
        kept: match by_rows {
            true => Kept::Rows(RowKept {
                files: &files,
                target: plan.target,
            }),
            false => Kept::Folders(&folders),
        },
        divided: true,
        engine: &args.engine,
    })?;
    if new && done.ran == 0 && !done.failures.is_empty() {
        release(&out, MARK);
    }
    args.batch
        .conclude(done, if by_rows { &rows_folder } else { &folders })?;
    if args.engine.is_part(args.batch.quiet) {
        return Ok(());
    }
    let rows = match by_rows {
        true => stored_rows(&cases, &files, &out)?,
        false => folder_rows(&cases, &folders, plan.target)?,
    };
    let table = SweepTable::new(&plan, &cases, &rows);
    let found = write(&out, &plan, &cases, &table)?;
    if args.json {
        console::result(&serde_json::to_string(&found)?)?;
    } else {
        console::result(printed(&found).trim_end())?;
    }
    console::message(&format!("wrote {}", out.display()));
    Ok(())
}

fn plan(args: &SweepArgs, registry: &Registry) -> Result<SweepPlan> {
    let refuse = |reason: String| Err(BadInput(reason).into());
    if args.grid.is_empty() && args.random.is_empty() {
        return refuse("nothing is varied, allowed: one --grid or --random at least".into());
    }
    match (args.samples, args.random.is_empty()) {
        (None, false) => return refuse("`--random` needs --samples, how many are drawn".into()),
        (Some(n), true) => {
            return refuse(format!("`--samples {n}` has no effect without --random"));
        }
        _ => {}
    }
    check_settings(args)?;
    let mut settings = args.settings.clone();
    settings.extend(args.rounds.iter().map(|n| format!("stop.max_rounds={n}")));
    settings.extend(args.dry.then(|| "learner=surrogate".into()));
    let scenario = scenario::load_for_any(args.scenario.as_ref(), &settings)?;
    let base = Scenario::clone(&scenario);
    let methods = args.methods.as_ref().unwrap_or(&base.method);
    let contenders = Contender::parse_list(registry, methods)?;
    let mut axes = Vec::new();
    for text in &args.grid {
        axes.push(SweepAxis::listed(text)?);
    }
    for text in &args.random {
        axes.push(SweepAxis::drawn(text, &base)?);
    }
    let Some(last) = args.first_seed.checked_add(args.seeds - 1) else {
        return refuse(format!("`--first-seed` is {}, too large", args.first_seed));
    };
    let largest = base.stop.targets.iter().copied().fold(0.0, f64::max);
    let target = args.target.unwrap_or(largest);
    let samples = args.samples.unwrap_or(1);
    Ok(SweepPlan::new(
        base,
        contenders,
        args.first_seed..=last,
        axes,
        samples,
        target,
    )?)
}

/// Refuses settings that a sweep would overrule.
fn check_settings(args: &SweepArgs) -> Result<()> {
    for setting in &args.settings {
        let path = setting.split('=').next().unwrap_or_default().trim();
        let varied = |axis: &&String| axis.split('=').next().map(str::trim) == Some(path);
        let instead = match path {
            "seed" => "--seeds and --first-seed",
            "method" => "--methods",
            "stop.targets" => "--target",
            _ if args.grid.iter().chain(&args.random).any(|a| varied(&a)) => "to vary it alone",
            _ => continue,
        };
        let reason = format!("`--set {setting}` has no effect here, allowed: {instead}");
        return Err(BadInput(reason).into());
    }
    Ok(())
}

fn write(out: &Path, plan: &SweepPlan, cases: &[SweepCase], table: &SweepTable) -> Result<Results> {
    let (found, mut files) = sweep_files(out, plan, cases, table)?;
    let name = "sweep.parquet";
    let parquet = aerofed_data::parquet(&out.join(name), &table.typed())?;
    files.insert(1, (name.into(), parquet));
    let figures = out.join("figures");
    fs::create_dir_all(&figures).map_err(Error::io("create", &figures))?;
    for (name, contents) in files {
        replace_file(&out.join(name), &contents)?;
    }
    Ok(found)
}

/// The front and what depends on what, for a terminal.
fn printed(found: &Results) -> String {
    let mut short = found.clone();
    let mut left = 0;
    for experiment in &mut short.experiments {
        if let Some(Overview { rows, .. }) = &mut experiment.summary {
            left += rows.len().saturating_sub(PRINTED);
            rows.truncate(PRINTED);
        }
    }
    let mut text = short.overviews().trim_start().to_owned();
    if left > 0 {
        text += &format!(
            "\nand {} more, in results.md\n",
            counted(left, "configuration")
        );
    }
    for table in &mut short.tables {
        // How it is computed stands in results.md; here its rows say what they are.
        table.caption.clear();
        text += &table.markdown();
    }
    text + "\n" + &found.made_of()
}
