//! `aerofed compare`

use std::path::PathBuf;

use aerofed::Scenario;
use aerofed::disk::replace_file;
use aerofed::method::Registry;
use aerofed::scenario::TargetOn;
use aerofed_experiment::latex::of_markdown;
use aerofed_experiment::plan::{ComparePlan, Contender, digest};
use aerofed_experiment::{check_data, claim, release};
use aerofed_report::comparison_files;
use anyhow::Result;
use clap::{Args, ValueEnum};

use super::batch::{BatchArgs, Kept, Work};
use super::engine::EngineArgs;
use super::outputs::folder;
use super::scenario;
use crate::console::{self, BadInput};
use crate::numbers::{number, rounds, seed, seed_count, smooth_rounds};

#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  \
    aerofed compare --methods hfl,direct_drop --seeds 5\n  \
    aerofed compare mine.toml --methods all --seeds 3 --targets 0.8,0.9 --out runs/mine\n  \
    aerofed compare --methods hfl,long=hfl:allocation.local_iterations=20 --seeds 3\n  \
    aerofed compare --methods cehfed,even=cehfed:allocation.kind=equal --seeds 3\n\n\
    A method may carry settings of its own, METHOD:PATH=VALUE:PATH=VALUE, and a label, LABEL=METHOD.\n\
    What a method does not read it cannot set; what the scenario sets, one of the methods must read.\n\
    Every method meets the same devices, data, mobility and faults under a seed.\n\n\
    A target counts as reached when the mean accuracy over --smooth rounds is there; the first crossing of the curve itself\n\
    stands beside it. Tune with --target-on validation, so that the test set is used once, for the final table.\n\n\
    Writes compare.md (the table), compare.csv and compare.json (all statistics), runs.csv (a row for each run and target),\n\
    curves.csv (a row for each run and round), schema.json (what the columns mean), compare-time.svg and compare-energy.svg,\n\
    report.html, and a folder for each run under runs/.\n\
    The same command again does only what is missing; Ctrl-C (exit code 130) keeps the runs that are finished and sets\n\
    down those under way. Two such commands at once share the work."
)]
pub(crate) struct CompareArgs {
    /// A scenario file, or a name of `aerofed scenario list`; none: the quick start
    #[arg(value_parser = scenario::ScenarioName, hide_possible_values = true)]
    scenario: Option<PathBuf>,
    /// Methods with commas between, or `all`; savings are of the first against each other
    #[arg(long, value_name = "LIST", required = true)]
    methods: String,
    /// How many seeds
    #[arg(long, value_name = "N", value_parser = seed_count)]
    seeds: u64,
    /// The first seed
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = seed)]
    first_seed: u64,
    /// Accuracies with commas between, whose cost is compared [default: the scenario's `stop.targets`]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = number(0.0..=1.0))]
    targets: Vec<f64>,
    /// Rounds over which accuracy is averaged before it is held against targets; 1: the first crossing alone
    /// [default: the scenario's `stop.smooth` if that is above 1, or else 3]
    #[arg(long, value_name = "N", value_parser = smooth_rounds)]
    smooth: Option<usize>,
    /// Which accuracy targets are judged by: `validation` for tuning, `test` for final numbers
    /// [default: the scenario's `stop.target_on`]
    #[arg(long, value_name = "test|validation", value_enum)]
    target_on: Option<TargetName>,
    /// Run to the scenario's own end, not just to the largest target
    #[arg(long)]
    full: bool,
    /// Global rounds of each run at most
    #[arg(long, value_name = "N", value_parser = rounds)]
    rounds: Option<u64>,
    /// Change any field of the scenario, as in `uavs.speed_mps=15`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    settings: Vec<String>,
    /// Where to write, and to look for finished runs [default: runs/compare-SCENARIO-HASH]
    #[arg(long, value_name = "DIR", overrides_with = "out")]
    out: Option<PathBuf>,
    /// Print all statistics as one JSON object
    #[arg(long)]
    json: bool,
    /// Write the tables for a paper, too: compare.tex, with booktabs
    #[arg(long)]
    latex: bool,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    engine: EngineArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum TargetName {
    /// The test set
    Test,
    /// The validation samples, which nobody trains on
    Validation,
}

/// The file that makes a folder a comparison's.
const MARK: &str = "scenario.toml";

pub(crate) fn run(args: &CompareArgs) -> Result<()> {
    args.engine.check()?;
    let registry = Registry::builtin();
    let plan = plan(args, &registry)?;
    let runs = plan.runs(&registry)?;
    let shared = plan.shared_text()?;
    let out = folder(args.out.as_ref(), || {
        let name = format!("compare-{}-{}", plan.base.name, &digest(&shared)[..6]);
        PathBuf::from("runs").join(name)
    })?;
    let runs: Vec<_> = runs.iter().flatten().collect();
    args.batch.warn(&runs);
    let new = !out.join(MARK).exists();
    if new {
        check_data(&plan.base)?;
    }
    claim(&out, MARK, "comparison", &shared)?;
    let runs_folder = out.join("runs");
    let done = args.batch.run(&Work {
        registry: &registry,
        runs: &runs,
        out: &out,
        kept: Kept::Folders(&runs_folder),
        divided: false,
        engine: &args.engine,
    })?;
    if new && done.ran == 0 && !done.failures.is_empty() {
        release(&out, MARK);
    }
    args.batch.conclude(done, &runs_folder)?;
    if args.engine.is_part(args.batch.quiet) {
        return Ok(());
    }

    let stored = plan.stored(&registry, &runs_folder)?;
    let (comparison, files) = comparison_files(&out, &plan, &stored, &registry)?;
    for (name, contents) in files {
        replace_file(&out.join(name), &contents)?;
    }
    if args.latex {
        let latex = of_markdown(&comparison.markdown());
        replace_file(&out.join("compare.tex"), latex.as_bytes())?;
    }
    if args.json {
        console::result(&serde_json::to_string(&comparison)?)?;
    } else {
        console::result(comparison.markdown().trim_end())?;
    }
    console::message(&format!("wrote {}", out.display()));
    Ok(())
}

fn plan(args: &CompareArgs, registry: &Registry) -> Result<ComparePlan> {
    let contenders = Contender::parse_list(registry, &args.methods)?;
    check_settings(args)?;
    let mut settings = args.settings.clone();
    settings.extend(args.rounds.iter().map(|n| format!("stop.max_rounds={n}")));
    let scenario = scenario::load_for_any(args.scenario.as_ref(), &settings)?;
    let mut base = Scenario::clone(&scenario);
    base.stop.smooth = ComparePlan::smooth(args.smooth, &base);
    match args.target_on {
        Some(TargetName::Test) => base.stop.target_on = TargetOn::Test,
        Some(TargetName::Validation) => base.stop.target_on = TargetOn::Validation,
        None => {}
    }
    let Some(last) = args.first_seed.checked_add(args.seeds - 1) else {
        let reason = format!("`--first-seed` is {}, too large", args.first_seed);
        return Err(BadInput(reason).into());
    };
    let targets = match args.targets.is_empty() {
        true => base.stop.targets.clone(),
        false => args.targets.clone(),
    };
    Ok(ComparePlan::new(
        base,
        contenders,
        args.first_seed..=last,
        targets,
        args.full,
    )?)
}

/// Refuses settings that a comparison would overrule.
fn check_settings(args: &CompareArgs) -> Result<()> {
    for setting in &args.settings {
        let instead = match setting.split('=').next().unwrap_or_default().trim() {
            "seed" => "--seeds and --first-seed",
            "method" => "--methods",
            "stop.target_accuracy" if !args.full => "--targets, or --full beside it",
            "stop.targets" if !args.targets.is_empty() => "--targets alone",
            "stop.smooth" => "--smooth",
            "stop.target_on" if args.target_on.is_some() => "--target-on alone",
            _ => continue,
        };
        let reason = format!("`--set {setting}` has no effect here, allowed: {instead}");
        return Err(BadInput(reason).into());
    }
    Ok(())
}
