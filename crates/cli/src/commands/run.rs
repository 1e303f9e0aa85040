//! `aerofed run`

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aerofed::checkpoint;
use aerofed::record::StoppedBy;
use aerofed::run::Outcome;
use aerofed::run_folder::{self, RunLog};
use aerofed::session::{Keeping, Session};
use aerofed::world::Status;
use aerofed::{Method, RoundRecord, Simulation, ValidScenario};
use aerofed_nn::Network;
use aerofed_report::units::{duration, energy};
use aerofed_report::{TENSORBOARD_FILE, run_pictures, run_tables, tensorboard};
use anyhow::Result;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};

use super::device::{Device, DeviceArgs};
use super::scenario;
use crate::console::{self, BadInput, Interrupted};
use crate::numbers::{rounds, seed, whole};

#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  \
    aerofed run\n  \
    aerofed run paper --rounds 20 --set training.learning_rate=0.05\n  \
    aerofed run mine.toml --seed 7 --out runs/seven --json\n  \
    aerofed run --resume runs/seven\n\n\
    A name of `aerofed scenario list` always means that scenario; a file of the same name is reached by a path, as in ./paper.\n\
    Writes scenario.toml, rounds.csv, uavs.csv, devices.jsonl, events.jsonl, summary.json,\n\
    model.safetensors, progress.svg, map.svg (and map.geojson where the area has an origin),\n\
    and report.html with all of it to look at; --parquet adds rounds.parquet, uavs.parquet, devices.parquet and events.parquet.\n\
    Ctrl-C ends the run after the current round (exit code 130) and keeps its results;\n\
    --resume continues it, or one that was killed, with the same results as if it had never stopped."
)]
pub(crate) struct RunArgs {
    /// A scenario file, or a name of `aerofed scenario list`; none: the quick start
    #[arg(value_parser = scenario::ScenarioName, hide_possible_values = true)]
    scenario: Option<PathBuf>,
    /// The method; `aerofed methods` lists them
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// The seed
    #[arg(long, value_name = "N", value_parser = seed)]
    seed: Option<u64>,
    /// Global rounds at most
    #[arg(long, value_name = "N", value_parser = rounds)]
    rounds: Option<u64>,
    /// Nobody trains: accuracy follows a law fitted to real runs, all else is exact (learner=surrogate)
    #[arg(long)]
    dry: bool,
    /// Change any field of the scenario, as in `uavs.speed_mps=15`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    settings: Vec<String>,
    /// Where to write; default: a new folder under runs/
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the run in the folder given by --out if there is one
    #[arg(long)]
    force: bool,
    /// Continue the run in this folder from its last good checkpoint
    #[arg(long, value_name = "DIR", conflicts_with_all = ["scenario", "method", "seed", "rounds", "settings", "dry", "out"])]
    resume: Option<PathBuf>,
    /// Rounds from one checkpoint to the next; 0: none but when interrupted
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<usize>(0..=10_000_000))]
    checkpoint_every: usize,
    /// Worker threads; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    device: DeviceArgs,
    /// Write the curves for another tool, too: `tensorboard` reads an event file in the run's folder
    #[arg(long, value_name = "TOOL", value_enum)]
    log: Option<LogName>,
    /// Write the tables as Parquet, too: rounds, uavs, devices and events
    #[arg(long)]
    parquet: bool,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
    /// No progress, no remarks but where the run is
    #[arg(long, short)]
    quiet: bool,
    /// A line for every round
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogName {
    /// An event file; its wall time is the simulated clock
    Tensorboard,
}

impl RunArgs {
    /// The flags that are short for `--set`, after the explicit ones.
    fn all_settings(&self) -> Vec<String> {
        let mut all = self.settings.clone();
        all.extend(self.method.iter().map(|name| format!("method={name:?}")));
        all.extend(self.dry.then(|| "learner=surrogate".to_owned()));
        all.extend(self.seed.iter().map(|seed| format!("seed={seed}")));
        all.extend(
            self.rounds
                .iter()
                .map(|rounds| format!("stop.max_rounds={rounds}")),
        );
        all
    }

    fn threads(&self) -> usize {
        match self.threads {
            Some(threads) => threads.into(),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

pub(crate) fn run(args: &RunArgs) -> Result<()> {
    let interrupted = interruption(AFTER_THIS_ROUND)?;
    let device = args.device.open(args.quiet)?;
    let session = match &args.resume {
        Some(path) => resume(path, args, &device, &interrupted)?,
        None => Some(begin(args, &device, &interrupted)?),
    };
    let Some(mut session) = session else {
        return Ok(());
    };
    let progress = Progress::start(session.scenario(), args);
    let ran = run_on(&mut session, &interrupted, |record| progress.show(record));
    progress.finish();
    if let Err(error) = ran {
        return Err(give_up(session, error));
    }
    let out = session.destination().to_owned();
    let (partial, rounds) = (session.partial().to_owned(), session.rounds());
    let learning_rate = session.scenario().training.learning_rate;
    let outcome = session
        .finish(|scenario, outcome| files(scenario, outcome, args))
        .map_err(|error| kept_in(&partial, &out, rounds, error))?;
    if args.json {
        console::result(&serde_json::to_string(&outcome.summary)?)?;
    } else {
        console::result(aerofed_report::summary_table(&outcome.summary).trim_end())?;
    }
    if !args.quiet {
        let classes = outcome.network.as_ref().map(Network::classes);
        if let Some(trouble) = outcome.summary.trouble(classes, learning_rate) {
            console::message(&format!("warning: {trouble}"));
        }
    }
    let out = out.display();
    console::message(&format!("wrote {out}"));
    if outcome.summary.stopped_by == StoppedBy::Interrupted {
        let text = format!(" after round {rounds}; `aerofed run --resume {out}` continues");
        return Err(Interrupted(text).into());
    }
    Ok(())
}

fn keeping<'a>(args: &RunArgs, interrupted: &'a AtomicBool) -> Keeping<'a> {
    Keeping {
        checkpoint_every: args.checkpoint_every,
        force: args.force,
        stop: Some(interrupted),
    }
}

/// What a run consists of, as its scenario says.
fn set_up(
    scenario: &ValidScenario,
    args: &RunArgs,
    device: &Device,
) -> Result<(Simulation, Method), aerofed::Error> {
    let method = Method::of(scenario)?;
    let builder = Simulation::builder(scenario).threads(args.threads());
    Ok((device.train_on(builder).build()?, method))
}

fn begin(args: &RunArgs, device: &Device, interrupted: &AtomicBool) -> Result<Session> {
    let scenario = scenario::load(args.scenario.as_ref(), &args.all_settings())?;
    if !args.quiet {
        scenario::warn(&scenario);
    }
    let begin = |out: &Path| {
        let set_up = |scenario: &_| set_up(scenario, args, device);
        Session::begin(out, &scenario, keeping(args, interrupted), set_up)
    };
    if let Some(out) = &args.out {
        if out.as_os_str().is_empty() {
            return Err(BadInput("`--out` is empty, allowed: a folder".into()).into());
        }
        return Ok(begin(out)?);
    }
    loop {
        match begin(&unused_folder(&scenario)) {
            // Another run took the name at the same moment.
            Err(aerofed::Error::Busy { .. }) => {}
            other => return Ok(other?),
        }
    }
}

/// The run that was left in a folder; none when it is finished.
fn resume(
    path: &Path,
    args: &RunArgs,
    device: &Device,
    interrupted: &AtomicBool,
) -> Result<Option<Session>> {
    let refused = |error: &aerofed::Error| console::message(&format!("{error}; not used"));
    let set_up = |scenario: &_| set_up(scenario, args, device);
    let keeping = keeping(args, interrupted);
    let Some(session) = Session::resume(path, keeping, set_up, refused)? else {
        console::message(&format!("{}: the run is finished", path.display()));
        if args.json {
            // Whoever names the partial folder means the run.
            let named = path.join("summary.json").exists();
            let folder = if named {
                path
            } else {
                &path.with_extension("")
            };
            let summary = RunLog::read_summary(folder)?;
            console::result(&serde_json::to_string(&summary)?)?;
        }
        return Ok(None);
    };
    if !args.quiet {
        let round = session.rounds();
        console::message(&format!("continuing after round {round}"));
    }
    Ok(Some(session))
}

fn run_on(
    session: &mut Session,
    interrupted: &AtomicBool,
    watch: impl Fn(&RoundRecord),
) -> Result<(), aerofed::Error> {
    while let Some(record) = session.step()? {
        watch(record);
        if interrupted.load(Ordering::Relaxed) {
            return session.set_down();
        }
    }
    Ok(())
}

/// Keeps what is complete of a run that failed; before the first round that is nothing.
fn give_up(session: Session, error: aerofed::Error) -> anyhow::Error {
    let rounds = session.rounds();
    if rounds == 0 {
        session.discard();
        return error.into();
    }
    kept_in(session.partial(), session.destination(), rounds, error)
}

/// What a run's folder has besides its tables.
fn files(
    scenario: &ValidScenario,
    outcome: &mut Outcome,
    args: &RunArgs,
) -> Result<Vec<(String, Vec<u8>)>, aerofed::Error> {
    let mut files = Vec::new();
    if let Some(LogName::Tensorboard) = args.log {
        files.push((TENSORBOARD_FILE.to_owned(), tensorboard(&outcome.records)));
    }
    if args.parquet {
        for table in run_tables(&outcome.records) {
            let name = format!("{}.parquet", table.name);
            let bytes = aerofed_data::parquet(Path::new(&name), &table.named())?;
            files.push((name, bytes));
        }
    }
    // It takes the records.
    files.extend(run_pictures(scenario, outcome));
    Ok(files)
}

/// An error after some rounds: what is left of them, and how to go on.
fn kept_in(partial: &Path, out: &Path, rounds: usize, error: aerofed::Error) -> anyhow::Error {
    if !partial.exists() {
        return error.into();
    }
    let saved = match checkpoint::list(partial).first() {
        Some((round, _)) => format!(
            "; `aerofed run --resume {}` continues after round {round}",
            out.display()
        ),
        None => String::new(),
    };
    let partial = partial.display();
    anyhow::Error::new(error).context(format!(
        "stopped in round {rounds}, what is complete stays in {partial}{saved}"
    ))
}

/// `runs/scenario-METHOD-SEED`, with a number behind it when that is taken.
fn unused_folder(scenario: &ValidScenario) -> PathBuf {
    let name = format!("{}-{}-{}", scenario.name, scenario.method, scenario.seed);
    let candidates = (1u64..).map(|n| match n {
        1 => PathBuf::from("runs").join(&name),
        n => PathBuf::from("runs").join(format!("{name}-{n}")),
    });
    candidates
        .into_iter()
        .find(|path| run_folder::is_free(path))
        .unwrap_or_else(|| name.into())
}

/// What runs do when they are told to stop.
pub(super) const AFTER_THIS_ROUND: &str = "stopping after this round (again: at once)";

/// A flag that the first Ctrl-C or SIGTERM raises, which is told; the second one ends the program at once.
pub(super) fn interruption(told: &'static str) -> Result<Arc<AtomicBool>> {
    let raised = Arc::new(AtomicBool::new(false));
    let handle = Arc::clone(&raised);
    ctrlc::set_handler(move || {
        if handle.swap(true, Ordering::Relaxed) {
            std::process::exit(console::INTERRUPTED.into());
        }
        console::message(told);
    })?;
    Ok(raised)
}

/// A bar for a person, a line now and then for a log file.
enum Progress {
    Bar(ProgressBar),
    Lines { every: usize, of: usize },
    EveryRound { of: usize },
    Nothing,
}

impl Progress {
    fn start(scenario: &ValidScenario, args: &RunArgs) -> Self {
        let of = scenario.stop.max_rounds;
        if args.quiet {
            return Self::Nothing;
        }
        if args.verbose {
            return Self::EveryRound { of };
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
        match self {
            Self::Bar(bar) => {
                bar.set_message(state(record));
                bar.set_position(record.round as u64);
            }
            Self::Lines { every, of }
                if record.round.is_multiple_of(*every) || record.round == 1 =>
            {
                console::message(&format!("round {}/{of}  {}", record.round, state(record)));
            }
            Self::EveryRound { of } => console::message(&round_line(record, *of)),
            Self::Lines { .. } | Self::Nothing => {}
        }
    }

    fn finish(self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// Where a run stands.
fn state(record: &RoundRecord) -> String {
    format!(
        "accuracy {:.1} %  simulated {}  energy {}",
        record.test_accuracy * 100.0,
        duration(record.clock_s),
        energy(record.cumulative_energy_j)
    )
}

/// What a round was like, and where the run stands after it.
pub(super) fn round_line(record: &RoundRecord, of: usize) -> String {
    let active = record
        .uavs
        .iter()
        .filter(|uav| uav.status == Status::Active);
    let aggregator = match record.aggregator {
        Some(uav) => format!("UAV {}", uav.0),
        None => "nobody".into(),
    };
    format!(
        "round {}/{of}  {}  H {:.2}  K {}  {} of {} covered devices  {} UAVs active  {aggregator} aggregates  \
         +{:.1} s  +{:.3} kJ  {} lost",
        record.round,
        state(record),
        record.mean_local_iterations(),
        record.edge_rounds,
        record.selected,
        record.covered,
        active.count(),
        record.time.total_s(),
        record.energy.spent_j() / 1e3,
        record.updates_lost,
    )
}
