//! `aerofed run`

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aerofed::run::run_on;
use aerofed::run_folder::{RunFolder, RunLog};
use aerofed::{Method, RoundRecord, Scenario, ValidScenario};
use aerofed_report::Report;
use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::scenario;
use crate::console::{self, BadInput};

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    aerofed run\n  \
    aerofed run paper --rounds 20 --set training.learning_rate=0.05\n  \
    aerofed run mine.toml --seed 7 --out runs/seven --json\n\n\
    Writes scenario.toml, rounds.csv, uavs.csv, devices.jsonl, events.jsonl, summary.json,\n\
    model.safetensors, progress.svg, map.svg, and report.html with all of it to look at.\n\
    Ctrl-C ends the run after the current round and keeps its results.")]
pub(crate) struct RunArgs {
    /// A scenario file, or `paper` or `quickstart`; none: the quick start
    scenario: Option<PathBuf>,
    /// The method; `aerofed methods` lists them
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// The seed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Global rounds at most
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
    /// Change any field of the scenario, as in `uavs.speed_mps=15`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    settings: Vec<String>,
    /// Where to write; default: a new folder under runs/
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the folder given by --out if it exists
    #[arg(long)]
    force: bool,
    /// Worker threads; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
    /// No progress, no remarks
    #[arg(long, short)]
    quiet: bool,
}

impl RunArgs {
    /// The flags that are short for `--set`, after the explicit ones.
    fn all_settings(&self) -> Vec<String> {
        let mut all = self.settings.clone();
        all.extend(self.method.iter().map(|name| format!("method={name:?}")));
        all.extend(self.seed.iter().map(|seed| format!("seed={seed}")));
        all.extend(
            self.rounds
                .iter()
                .map(|rounds| format!("stop.max_rounds={rounds}")),
        );
        all
    }
}

pub(crate) fn run(args: &RunArgs) -> Result<()> {
    let scenario = scenario::load(args.scenario.as_ref(), &args.all_settings())?;
    let threads = match args.threads {
        Some(threads) => usize::from(threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let out = match &args.out {
        Some(path) if path.as_os_str().is_empty() => {
            return Err(BadInput("`--out` is empty, allowed: a folder".into()).into());
        }
        Some(path) => path.clone(),
        None => unused_folder(&scenario),
    };
    let mut folder = RunFolder::create(&out, &scenario, args.force)?;
    let progress = Progress::start(&scenario, args.quiet);
    let interrupted = interruption()?;

    let mut method = Method::of(&scenario);
    let mut written = Ok(());
    let outcome = run_on(&scenario, &mut method, threads, |record| {
        progress.show(record);
        written = folder.append(record);
        if written.is_err() || interrupted.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    progress.finish();
    // Nothing of a run that failed is worth keeping: what was wrong is said, the folder goes.
    let mut outcome = match (outcome, written) {
        (Ok(outcome), Ok(())) => outcome,
        (Err(error), _) | (_, Err(error)) => {
            folder.discard();
            return Err(error.into());
        }
    };

    let plot = aerofed_report::progress_svg(&outcome.summary, &outcome.records);
    folder.add_file("progress.svg", plot.as_bytes())?;
    if let Some(last) = outcome.records.last() {
        let uavs = &scenario.uavs;
        let map = aerofed_report::map_svg(&outcome.world, last, uavs.base_m, uavs.battery_j);
        folder.add_file("map.svg", map.as_bytes())?;
    }
    let log = RunLog {
        scenario: Scenario::clone(&scenario),
        records: std::mem::take(&mut outcome.records),
        summary: outcome.summary.clone(),
    };
    let page = Report::of_runs(vec![log]).html();
    folder.add_file("report.html", page.as_bytes())?;
    folder.finish(&outcome)?;
    if args.json {
        console::result(&serde_json::to_string(&outcome.summary)?)?;
    } else {
        console::result(aerofed_report::summary_table(&outcome.summary).trim_end())?;
    }
    if !args.quiet {
        console::message(&format!("wrote {}", out.display()));
    }
    Ok(())
}

/// `runs/SCENARIO-METHOD-SEED`, with a number behind it when that is taken.
fn unused_folder(scenario: &ValidScenario) -> PathBuf {
    let name = format!("{}-{}-{}", scenario.name, scenario.method, scenario.seed);
    let candidates = (1u64..).map(|n| match n {
        1 => PathBuf::from("runs").join(&name),
        n => PathBuf::from("runs").join(format!("{name}-{n}")),
    });
    candidates
        .into_iter()
        .find(|path| !path.exists())
        .unwrap_or_else(|| name.into())
}

/// A flag that the first Ctrl-C or SIGTERM raises; the second one ends the program at once.
pub(super) fn interruption() -> Result<Arc<AtomicBool>> {
    let raised = Arc::new(AtomicBool::new(false));
    let handle = Arc::clone(&raised);
    ctrlc::set_handler(move || {
        if handle.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        console::message("stopping after this round (again: at once)");
    })?;
    Ok(raised)
}

/// A bar for a person, a line now and then for a log file.
enum Progress {
    Bar(ProgressBar),
    Lines { every: usize, of: usize },
    Nothing,
}

impl Progress {
    fn start(scenario: &ValidScenario, quiet: bool) -> Self {
        let of = scenario.stop.max_rounds;
        if quiet {
            return Self::Nothing;
        }
        if !console::is_watched() {
            return Self::Lines {
                every: of.div_ceil(10),
                of,
            };
        }
        let template = "round {pos}/{len} [{bar:30}] {msg}  ETA {eta}";
        let style = ProgressStyle::with_template(template).map(|style| style.progress_chars("=> "));
        let bar = ProgressBar::new(of as u64);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message("loading data");
        bar.tick();
        Self::Bar(bar)
    }

    fn show(&self, record: &RoundRecord) {
        let state = || {
            format!(
                "accuracy {:.1} %  simulated {:.1} s  energy {:.2} kJ",
                record.test_accuracy * 100.0,
                record.clock_s,
                record.cumulative_energy_j / 1e3
            )
        };
        match self {
            Self::Bar(bar) => {
                bar.set_message(state());
                bar.set_position(record.round as u64);
            }
            Self::Lines { every, of }
                if record.round.is_multiple_of(*every) || record.round == 1 =>
            {
                console::message(&format!("round {}/{of}  {}", record.round, state()));
            }
            Self::Lines { .. } | Self::Nothing => {}
        }
    }

    fn finish(self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
