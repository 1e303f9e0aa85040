//! Many runs at once: what `compare` and `reproduce` share.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;

use aerofed::learn::DataStore;
use aerofed::method::Registry;
use aerofed_experiment::plan::{PlannedRun, distinct};
use aerofed_experiment::runner::{Done, News, Runner};
use aerofed_report::units::{counted, counted_are};
use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::run::interruption;
use super::run::round_line;
use crate::console::{self, Interrupted};
use crate::numbers::whole;

#[derive(Args)]
pub(crate) struct BatchArgs {
    /// Runs at a time, each on one thread; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=1024))]
    jobs: Option<u16>,
    /// No progress, no remarks but where the results are
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// A line for every round of every run
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
}

impl BatchArgs {
    /// Does what `folder` does not hold yet.
    pub(crate) fn run(
        &self,
        registry: &Registry,
        runs: &[&PlannedRun],
        folder: &Path,
    ) -> Result<Done> {
        let jobs = match self.jobs {
            Some(jobs) => usize::from(jobs),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let stop = interruption()?;
        let progress = Progress::start(&distinct(runs.iter().copied()), self);
        let runner = Runner {
            registry,
            store: &DataStore::new(),
            jobs,
            stop: &stop,
        };
        let done = runner.run_missing(runs, folder, &|run, news| progress.hear(run, &news));
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
            let rest = "those under way were set down: the same command does the rest";
            return Err(Interrupted(format!("; {kept}, {rest}")).into());
        }
        if !self.quiet {
            let (ran, found) = (counted(done.ran, "run"), done.found);
            console::message(&format!("{ran} done, {found} were there already"));
        }
        Ok(())
    }
}

/// A bar over the rounds of all runs for a person, a line for each run in a log file.
struct Progress {
    bar: Option<ProgressBar>,
    lines: bool,
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
    fn start(runs: &[&PlannedRun], args: &BatchArgs) -> Self {
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
            every_round: args.verbose,
            told: !args.quiet,
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
                if self.lines {
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
