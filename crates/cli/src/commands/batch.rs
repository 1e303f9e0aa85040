//! Many runs at once: what `compare`, `reproduce` and `sweep` share.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use aerofed::learn::DataStore;
use aerofed::method::Registry;
use aerofed::{Simulation, ValidScenario};
use aerofed_experiment::plan::{PlannedRun, distinct};
use aerofed_experiment::runner::{Done, News, Runner, Watch};
use aerofed_experiment::sweep::{RowFiles, RowKeeper};
use aerofed_report::units::{counted, counted_are};
use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::device::DeviceArgs;
use super::engine::{EngineArgs, Plan};
use super::run::{AFTER_THIS_ROUND, interruption, round_line};
use crate::console::{self, Interrupted};
use crate::numbers::whole;

#[derive(Args)]
pub(crate) struct BatchArgs {
    /// Runs at a time, each on one thread; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=1024), overrides_with = "jobs")]
    jobs: Option<u16>,
    #[command(flatten)]
    device: DeviceArgs,
    /// No progress, no remarks but where the results are
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// A line for every round of every run
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
}

impl BatchArgs {
    /// Does what is missing: in this process, or by an engine.
    pub(crate) fn run(&self, work: &Work) -> Result<Done> {
        let told = match work.engine.is_remote() {
            true => "leaving the tasks to themselves",
            false => AFTER_THIS_ROUND,
        };
        let stop = interruption(told)?;
        if work.engine.is_remote() {
            work.engine.run(&Plan {
                out: work.out,
                runs: work.runs.len(),
                tasks: match work.kept {
                    // A run of its own for each task, which fails and is done again alone.
                    Kept::Folders(_) => MOST_TASKS,
                    // Small runs: a task is worth the start of a process.
                    Kept::Rows(_) => ROW_TASKS,
                },
                missing: &|| work.kept.missing(work.runs, &stop),
                cores: self.jobs.unwrap_or(1),
                quiet: self.quiet,
                stop: &stop,
            })?;
        }
        let mine = match work.divided {
            true => work.runs.to_vec(),
            false => work.engine.part_of(work.runs),
        };
        let mine = distinct(mine);
        let jobs = match self.jobs {
            Some(jobs) => usize::from(jobs),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let progress = Progress::start(&mine, self, work.kept.lines(mine.len()));
        let store = DataStore::new();
        let device = self.device.open(self.quiet)?;
        let on_device = |scenario: &ValidScenario| {
            let builder = Simulation::builder(scenario).threads(1);
            device.train_on(builder.data(store.get(scenario)?)).build()
        };
        let runner = Runner {
            registry: work.registry,
            store: &store,
            jobs,
            simulate: match device.is_cores() {
                true => None,
                false => Some(&on_device),
            },
            stop: &stop,
        };
        let watch: Watch = &|run, news| progress.hear(run, &news);
        let done = match &work.kept {
            Kept::Folders(folder) => runner.run_missing(&mine, folder, watch),
            Kept::Rows(rows) => {
                // Those that an engine has done since are there as well.
                let (known, _) = rows.files.read()?;
                let keeper = RowKeeper {
                    files: rows.files,
                    known: &known,
                    target: rows.target,
                };
                let done = runner.run_missing_in(&mine, &keeper, watch);
                rows.files.sync()?;
                done
            }
        };
        progress.finish();
        Ok(done?)
    }

    /// Says which values of any run hardly anybody means.
    pub(crate) fn warn(&self, runs: &[&PlannedRun]) {
        if self.quiet {
            return;
        }
        let warnings = runs.iter().flat_map(|run| run.scenario.warnings());
        for warning in warnings.collect::<BTreeSet<_>>() {
            console::message(&format!("warning: {warning}"));
        }
    }

    /// Says what came of it; an error when runs failed or were not come to.
    pub(crate) fn conclude(&self, mut done: Done, folder: &Path) -> Result<()> {
        let finished = done.found + done.ran;
        let kept = format!(
            "{} finished and kept in {}",
            counted_are(finished, "run"),
            folder.display()
        );
        if !done.failures.is_empty() {
            let (first, error) = done.failures.remove(0);
            for (name, other) in &done.failures {
                console::message(&format!("{name}: {other}"));
            }
            let failed = done.failures.len() + 1;
            let context = format!("{} failed, {kept}; {first}", counted(failed, "run"));
            return Err(anyhow::Error::new(error).context(context));
        }
        if done.interrupted {
            // Rows stand beside what is summed up, folders of runs in one of their own.
            let rest = match folder.ends_with("runs") {
                true => "those under way were set down: the same command does the rest",
                false => "the same command does the rest",
            };
            return Err(Interrupted(format!("; {kept}, {rest}")).into());
        }
        if !self.quiet {
            let (ran, found) = (counted(done.ran, "run"), done.found);
            console::message(&format!("{ran} done, {found} were there already"));
        }
        Ok(())
    }
}

/// Most tasks of an array: what Slurm takes unless it is told otherwise.
const MOST_TASKS: usize = 1_000;
/// Tasks that small runs are divided into.
const ROW_TASKS: usize = 64;

/// What is to be done.
pub(crate) struct Work<'a> {
    /// The methods that scenarios may name.
    pub(crate) registry: &'a Registry,
    /// The runs; each is done once.
    pub(crate) runs: &'a [&'a PlannedRun],
    /// The folder of the results.
    pub(crate) out: &'a Path,
    /// How finished runs are kept.
    pub(crate) kept: Kept<'a>,
    /// Whether `runs` are those of the shard that was asked for, rather than all.
    pub(crate) divided: bool,
    /// Who does them.
    pub(crate) engine: &'a EngineArgs,
}

/// How finished runs are kept.
pub(crate) enum Kept<'a> {
    /// A folder each, below this one.
    Folders(&'a Path),
    /// A row each.
    Rows(RowKept<'a>),
}

/// Where rows are, and the accuracy whose cost they have.
pub(crate) struct RowKept<'a> {
    pub(crate) files: &'a RowFiles,
    pub(crate) target: f64,
}

impl Kept<'_> {
    /// The places of runs that are not there, without a closer look.
    fn missing(&self, runs: &[&PlannedRun], stop: &AtomicBool) -> Result<Vec<usize>> {
        let stop = &|| stop.load(Ordering::Relaxed);
        let there: Vec<bool> = match self {
            Self::Folders(folder) => {
                let is_there = |run: &&PlannedRun| folder.join(run.folder_name()).is_dir();
                runs.iter().map(is_there).collect()
            }
            Self::Rows(rows) => {
                let (known, _) = rows.files.read()?;
                let is_there =
                    |run: &&PlannedRun| Ok(known.contains_key(&RowKeeper::key(run, stop)?));
                let there: Result<_, aerofed::Error> = runs.iter().map(is_there).collect();
                there?
            }
        };
        let places = there.into_iter().enumerate();
        Ok(places.filter(|(_, there)| !there).map(|(p, _)| p).collect())
    }

    /// Of how many runs a line tells in a log file.
    fn lines(&self, runs: usize) -> usize {
        match self {
            Self::Folders(_) => 1,
            Self::Rows(_) => runs.div_ceil(20).max(1),
        }
    }
}

/// A bar over the rounds of all runs for a person, a line for each run in a log file.
struct Progress {
    bar: Option<ProgressBar>,
    lines: bool,
    /// Of how many runs a line tells.
    every: usize,
    every_round: bool,
    /// Whether troubles of runs are told.
    told: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    finished: usize,
    of: usize,
}

impl Progress {
    fn start(runs: &[&PlannedRun], args: &BatchArgs, every: usize) -> Self {
        let bar = (!args.quiet && !args.verbose && console::is_watched()).then(|| {
            let rounds: usize = runs.iter().map(|run| run.scenario.stop.max_rounds).sum();
            let template = "{msg} [{bar:30}] {percent} %  {elapsed} so far, ETA {eta}";
            let style = ProgressStyle::with_template(template).map(|s| s.progress_chars("=> "));
            let bar = ProgressBar::new(rounds as u64);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(format!("run 0/{}", runs.len()));
            bar
        });
        Self {
            lines: !args.quiet && bar.is_none(),
            every,
            every_round: args.verbose,
            // One in a thousand small runs that goes wrong is no news.
            told: !args.quiet && every == 1,
            bar,
            state: Mutex::new(State {
                finished: 0,
                of: runs.len(),
            }),
        }
    }

    fn hear(&self, run: &PlannedRun, news: &News) {
        let most = run.scenario.stop.max_rounds;
        if let News::Round(record) = news {
            if let Some(bar) = &self.bar {
                // The last round is counted with the rest of the run.
                bar.inc(u64::from(record.round < most));
            }
            if self.every_round {
                let line = round_line(record, most);
                console::message(&format!("{}  {line}", run.folder_name()));
            }
            return;
        }
        if let News::Elsewhere = news {
            let text = format!("{}: another process is at it; waiting", run.folder_name());
            match &self.bar {
                Some(bar) => bar.suspend(|| console::message(&text)),
                None if self.lines => console::message(&text),
                None => {}
            }
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.finished += 1;
        let State { finished, of } = *state;
        if let Some(bar) = &self.bar {
            bar.set_message(format!("run {finished}/{of}"));
        }
        match news {
            News::Found => {
                // Work that need not be done: the bar gets shorter, so that the ETA stays right.
                if let Some(bar) = &self.bar {
                    bar.set_length(bar.length().unwrap_or(0).saturating_sub(most as u64));
                }
            }
            News::Finished(summary) => {
                let learning_rate = run.scenario.training.learning_rate;
                if let Some(trouble) = self
                    .told
                    .then(|| summary.trouble(None, learning_rate))
                    .flatten()
                {
                    let told = format!("warning: {}: {trouble}", run.folder_name());
                    match &self.bar {
                        Some(bar) => bar.suspend(|| console::message(&told)),
                        None => console::message(&told),
                    }
                }
                let left = most.saturating_sub(summary.rounds.min(most.saturating_sub(1)));
                if let Some(bar) = &self.bar {
                    bar.inc(left as u64);
                }
                if self.lines && (finished % self.every == 0 || finished == of) {
                    console::message(&format!(
                        "run {finished}/{of}  {}  {}, accuracy {:.1} %",
                        run.folder_name(),
                        counted(summary.rounds, "round"),
                        100.0 * summary.final_accuracy
                    ));
                }
            }
            News::Failed | News::Round(_) | News::Elsewhere => {}
        }
    }

    fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
