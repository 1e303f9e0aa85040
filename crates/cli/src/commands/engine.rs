//! Who does the runs of a plan: this process, or an engine that has more machines.
//!
//! An engine gets the plan as an array of tasks. A task is this very command line with `--shard I/N` behind it, so it plans what we
//! planned and does its part of it, in the same folder. What came about is seen in that folder and nowhere else: whatever becomes of
//! tasks, workers or this process, a run counts when it is there.

mod hyperqueue;
mod script;
mod slurm;

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aerofed::Error;
use aerofed::disk::replace_file;
use aerofed_experiment::plan::{digest, part_of};
use aerofed_report::units::{counted, counted_are};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::console::{self, BadInput, Interrupted};
use crate::numbers::whole;
use hyperqueue::HyperQueue;
use slurm::Slurm;

#[derive(Args)]
pub(crate) struct EngineArgs {
    /// Who does the runs: this process, a HyperQueue server (`hq`), or Slurm (`sbatch`)
    #[arg(long, value_enum, default_value_t = EngineName::Local, overrides_with = "engine")]
    engine: EngineName,
    /// Tasks that an engine gets, each with a part of the runs
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..=1000))]
    tasks: Option<usize>,
    /// How often an engine gets the tasks again that have failed
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = whole::<usize>(0..=100))]
    retries: usize,
    /// One more option for `hq submit` or `sbatch`, as in --engine-option=--partition=long; may be repeated
    #[arg(
        long = "engine-option",
        value_name = "OPTION",
        allow_hyphen_values = true
    )]
    options: Vec<String>,
    /// Do every N-th run only, as in 1/4
    #[arg(long, value_name = "I/N", value_parser = shard, overrides_with = "shard")]
    shard: Option<(usize, usize)>,
    /// Do the runs and leave it to another call to sum them up
    #[arg(long)]
    pub(crate) runs_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EngineName {
    /// This process, several runs at a time
    Local,
    /// A task array of a HyperQueue server
    Hyperqueue,
    /// A job array of Slurm
    Slurm,
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

impl EngineName {
    fn remote(self) -> Option<&'static dyn Engine> {
        match self {
            Self::Local => None,
            Self::Hyperqueue => Some(&HyperQueue),
            Self::Slurm => Some(&Slurm),
        }
    }
}

/// What an engine gets.
struct Array {
    /// What it is called.
    name: String,
    /// The script that each task runs.
    script: PathBuf,
    /// Where the tasks' outputs go, `I.out` and `I.err`.
    logs: PathBuf,
    /// Which tasks, from 1, as in `1-3,7`.
    tasks: String,
    /// Cores of each.
    cores: u16,
    /// Whatever else the user wants.
    options: Vec<String>,
}

/// Something with machines that takes task arrays.
trait Engine {
    /// Refuses when its commands are not there.
    fn check(&self) -> Result<()>;
    /// Hands an array over; its number.
    fn submit(&self, array: &Array) -> Result<String>;
    /// How many tasks of an array are not over yet; 0 for an array that is not known any more, or has another name.
    fn unfinished(&self, name: &str, job: &str) -> Result<usize>;
    /// How a user ends an array.
    fn cancel_words(&self, job: &str) -> String;
}

/// The array that was submitted last: `engine/job.json`.
#[derive(Serialize, Deserialize)]
struct Submitted {
    engine: EngineName,
    job: String,
}

/// The runs of a plan, as an engine sees them.
pub(crate) struct Plan<'a> {
    /// The folder of the results.
    pub(crate) out: &'a Path,
    /// How many runs.
    pub(crate) runs: usize,
    /// Tasks unless the user says otherwise.
    pub(crate) tasks: usize,
    /// The places of runs that are not there yet.
    pub(crate) missing: &'a dyn Fn() -> Result<Vec<usize>>,
    /// Cores of a task.
    pub(crate) cores: u16,
    /// Whether nothing but the end is told.
    pub(crate) quiet: bool,
    /// Raised when it is to stop.
    pub(crate) stop: &'a AtomicBool,
}

impl EngineArgs {
    /// Refuses what cannot be, before anything is written.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(engine) = self.engine.remote() else {
            return Ok(());
        };
        if let Some((i, n)) = self.shard {
            let reason = format!(
                "`--shard {i}/{n}` has no effect here, allowed: --engine local, or --tasks {n}"
            );
            return Err(BadInput(reason).into());
        }
        engine.check()
    }

    /// Whether somebody else does the runs.
    pub(crate) fn is_remote(&self) -> bool {
        self.engine != EngineName::Local
    }

    /// The shard that was asked for.
    pub(crate) fn shard(&self) -> Option<(usize, usize)> {
        self.shard
    }

    /// The runs of this shard.
    pub(crate) fn part_of<T: Copy>(&self, runs: &[T]) -> Vec<T> {
        let (part, of) = self.shard.unwrap_or((1, 1));
        part_of(runs, part, of)
    }

    /// Whether only some of the runs are done, or none are to be summed up; says what does that.
    pub(crate) fn is_part(&self, quiet: bool) -> bool {
        let part = match self.shard {
            Some((i, n)) => format!("part {i}/{n} is done"),
            None if self.runs_only => "the runs are done".into(),
            None => return false,
        };
        if !quiet {
            console::message(&format!(
                "{part}; the command without --shard and --runs-only sums up"
            ));
        }
        true
    }

    /// Has the runs done by an engine, and waits until they are there.
    pub(crate) fn run(&self, plan: &Plan) -> Result<()> {
        let Some(engine) = self.engine.remote() else {
            return Ok(());
        };
        let folder = absolute(plan.out)?.join("engine");
        let logs = folder.join("logs");
        fs::create_dir_all(&logs).map_err(Error::io("create", &logs))?;
        let name = format!("aerofed-{}", digest(&folder.display().to_string()));
        let mut under_way = self.taken_up(engine, &folder, &name)?;
        let mut submitted = 0;
        loop {
            let missing = (plan.missing)()?;
            let job = match under_way.take() {
                Some(job) => job,
                None if missing.is_empty() => return Ok(()),
                None if submitted > self.retries => return Err(given_up(missing.len(), &logs)),
                None => {
                    let tasks = self.tasks.unwrap_or(plan.tasks).clamp(1, plan.runs.max(1));
                    let parts: BTreeSet<usize> =
                        missing.iter().map(|place| place % tasks + 1).collect();
                    let script = folder.join("task.sh");
                    let text = script::text(plan.out, plan.cores, tasks)?;
                    replace_file(&script, text.as_bytes())?;
                    let array = Array {
                        name: name.clone(),
                        script,
                        logs: logs.clone(),
                        tasks: ranges(&parts),
                        cores: plan.cores,
                        options: self.options.clone(),
                    };
                    let job = engine.submit(&array)?;
                    let record = Submitted {
                        engine: self.engine,
                        job: job.clone(),
                    };
                    let record = serde_json::to_string(&record)? + "\n";
                    replace_file(&folder.join("job.json"), record.as_bytes())?;
                    submitted += 1;
                    if !plan.quiet {
                        let (tasks, runs) = (counted(parts.len(), "task"), missing.len());
                        console::message(&format!(
                            "submitted {} in {tasks} as job {job}",
                            counted(runs, "run")
                        ));
                    }
                    job
                }
            };
            wait(engine, plan, &name, &job)?;
        }
    }

    /// The array of an earlier call, if it is still under way.
    fn taken_up(&self, engine: &dyn Engine, folder: &Path, name: &str) -> Result<Option<String>> {
        let Ok(text) = fs::read_to_string(folder.join("job.json")) else {
            return Ok(None);
        };
        let Ok(Submitted { engine: of, job }) = serde_json::from_str(&text) else {
            return Ok(None);
        };
        if of != self.engine || engine.unfinished(name, &job)? == 0 {
            return Ok(None);
        }
        console::message(&format!("job {job} is still under way; waiting for it"));
        Ok(Some(job))
    }
}

/// Between two looks at an array.
const PAUSE: Duration = Duration::from_secs(1);
/// Between two looks at whether to stop.
const BLINK: Duration = Duration::from_millis(50);

/// Waits until no task of an array is left, and tells how far the runs are.
fn wait(engine: &dyn Engine, plan: &Plan, name: &str, job: &str) -> Result<()> {
    let mut told = None;
    loop {
        let tasks = engine.unfinished(name, job)?;
        if tasks == 0 {
            return Ok(());
        }
        let done = plan.runs - (plan.missing)()?.len();
        if !plan.quiet && told != Some(done) {
            let (all, tasks) = (plan.runs, counted(tasks, "task"));
            console::message(&format!("run {done}/{all}, {tasks} to go"));
            told = Some(done);
        }
        let mut rest = PAUSE;
        while rest > Duration::ZERO {
            if plan.stop.load(Ordering::Relaxed) {
                let cancel = engine.cancel_words(job);
                let rest = format!(
                    "; job {job} goes on: the same command waits for it, `{cancel}` ends it"
                );
                return Err(Interrupted(rest).into());
            }
            std::thread::sleep(BLINK);
            rest = rest.saturating_sub(BLINK);
        }
    }
}

/// What to say of runs that no task has brought about.
fn given_up(missing: usize, logs: &Path) -> anyhow::Error {
    let mut said: Vec<(PathBuf, String)> = Vec::new();
    for path in fs::read_dir(logs)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
    {
        let text = fs::read_to_string(&path).unwrap_or_default();
        if let Some(line) = text.lines().rfind(|line| line.starts_with("error: ")) {
            said.push((path, line.trim_start_matches("error: ").into()));
        }
    }
    said.sort();
    let what = format!(
        "{} missing after all tasks are over",
        counted_are(missing, "run")
    );
    match said.first() {
        Some((path, line)) => anyhow::anyhow!("{what}; {}: {line}", path.display()),
        None => anyhow::anyhow!("{what}; what tasks said is in {}", logs.display()),
    }
}

/// A path from the root on: tasks may begin elsewhere.
fn absolute(path: &Path) -> Result<PathBuf> {
    Ok(std::path::absolute(path).map_err(Error::io("find", path))?)
}

/// Numbers as `1-3,7`.
fn ranges(numbers: &BTreeSet<usize>) -> String {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match spans.last_mut() {
            Some((_, end)) if *end + 1 == number => *end = number,
            _ => spans.push((number, number)),
        }
    }
    let words = spans.iter().map(|(from, to)| match from == to {
        true => from.to_string(),
        false => format!("{from}-{to}"),
    });
    words.collect::<Vec<_>>().join(",")
}

/// Runs a command of an engine and gives what it printed.
fn asked(engine: &str, command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow::Error::new(BadInput(format!(
            "`--engine {engine}` needs the command `{name}`, which is not on the PATH (docs/sweep.md)"
        ))),
        _ => anyhow::Error::new(error).context(name.clone()),
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.take_while(|line| !line.starts_with("Stack backtrace"));
    let words: Vec<&str> = lines.take(4).collect();
    anyhow::bail!("`{name}` failed: {}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_ranges() {
        let words = |numbers: &[usize]| ranges(&numbers.iter().copied().collect());
        assert_eq!(words(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
        assert_eq!(words(&[4]), "4");
    }

    #[test]
    fn a_command_that_is_not_there_is_named() {
        let error = asked("slurm", &mut Command::new("sbatch-of-nobody")).unwrap_err();
        assert_eq!(console::exit_code(&error), 2);
        let told = console::explain(&error);
        assert!(told.contains("`--engine slurm`") && told.contains("sbatch-of-nobody"));
    }
}
