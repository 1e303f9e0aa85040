//! Many runs at once: what `compare` and `reproduce` share.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;

use aerofed::learn::DataStore;
use aerofed::method::Registry;
use aerofed_experiment::plan::{PlannedRun, distinct};
use aerofed_experiment::runner::{Done, News, Runner};
use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::run::interruption;
use crate::console;

/// Reads a number of seeds.
pub(crate) fn seed_count(text: &str) -> Result<u64, String> {
    whole_number(text, 1..=1_000_000)
}

/// Reads a seed: a TOML file holds no larger one.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    whole_number(text, 0..=i64::MAX as u64)
}

/// Reads over how many rounds accuracies are averaged.
pub(crate) fn smooth_rounds(text: &str) -> Result<usize, String> {
    whole_number(text, 1..=1_000).map(|rounds| rounds as usize)
}

fn whole_number(text: &str, allowed: RangeInclusive<u64>) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| allowed.contains(number));
    let (least, most) = allowed.into_inner();
    number.ok_or_else(|| format!("allowed: a whole number from {least} to {most}"))
}

#[derive(Args)]
pub(crate) struct BatchArgs {
    /// Runs at a time, each on one thread; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// No progress, no remarks
    #[arg(long, short)]
    pub(crate) quiet: bool,
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
        let progress = Progress::start(&distinct(runs.iter().copied()), self.quiet);
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

    /// Says what came of it; an error when runs failed or were not come to.
    pub(crate) fn conclude(&self, mut done: Done, folder: &Path) -> Result<()> {
        let finished = done.found + done.ran;
        let kept = format!(
            "{finished} runs are finished and kept in {}",
            folder.display()
        );
        if !done.failures.is_empty() {
            let (first, error) = done.failures.remove(0);
            for (name, other) in &done.failures {
                console::message(&format!("{name}: {other}"));
            }
            let failed = done.failures.len() + 1;
            let context = format!("{failed} runs failed, {kept}; {first}");
            return Err(anyhow::Error::new(error).context(context));
        }
        if done.interrupted {
            anyhow::bail!(
                "interrupted; {kept}, those under way were set down: the same command does the rest"
            );
        }
        if !self.quiet {
            let (ran, found) = (done.ran, done.found);
            console::message(&format!("{ran} runs done, {found} were there already"));
        }
        Ok(())
    }
}

/// A bar over the rounds of all runs for a person, a line for each run in a log file.
struct Progress {
    bar: Option<ProgressBar>,
    lines: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    finished: usize,
    of: usize,
}

impl Progress {
    fn start(runs: &[&PlannedRun], quiet: bool) -> Self {
        let bar = (!quiet && console::is_watched()).then(|| {
            let rounds: usize = runs.iter().map(|run| run.scenario.stop.max_rounds).sum();
            let template = "{msg} [{bar:30}] {percent} %  {elapsed} so far, ETA {eta}";
            let style = ProgressStyle::with_template(template).map(|s| s.progress_chars("=> "));
            let bar = ProgressBar::new(rounds as u64);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(format!("run 0/{}", runs.len()));
            bar
        });
        Self {
            lines: !quiet && bar.is_none(),
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
                let left = most.saturating_sub(summary.rounds.min(most.saturating_sub(1)));
                if let Some(bar) = &self.bar {
                    bar.inc(left as u64);
                }
                if self.lines {
                    console::message(&format!(
                        "run {finished}/{of}  {}  {} rounds, accuracy {:.1} %",
                        run.folder_name(),
                        summary.rounds,
                        100.0 * summary.final_accuracy
                    ));
                }
            }
            News::Failed | News::Round(_) => {}
        }
    }

    fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
