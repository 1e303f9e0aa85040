//! Runs what is missing, several runs at a time.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::plan::{PlannedRun, distinct};
use super::stored::StoredRun;
use crate::Error;
use crate::method::Registry;
use crate::record::{RoundRecord, StoppedBy, Summary};
use crate::run::run_on;
use crate::run_folder::RunFolder;

/// What a watcher hears.
pub enum News<'a> {
    /// A run was there already.
    Found,
    /// A run did another round.
    Round(&'a RoundRecord),
    /// A run is finished and on disk.
    Finished(&'a Summary),
    /// A run failed; [`Done::failures`] will say why.
    Failed,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Done {
    /// Runs that were there already.
    pub found: usize,
    /// Runs that were done now.
    pub ran: usize,
    /// Runs that failed, by their folder's name.
    pub failures: Vec<(String, Error)>,
    /// Whether it was told to stop before everything was done.
    pub interrupted: bool,
}

/// Does the runs that `folder` does not hold yet, each once, `jobs` at a time with one thread each. A
/// run appears in the folder when it is finished, and not before. When `stop` is raised, runs under
/// way are dropped at the end of their round.
///
/// # Errors
/// When the folder cannot be used: it cannot be written to, or holds something else under a run's
/// name. Runs that fail on their own account are reported in [`Done`].
pub fn run_missing(
    registry: &Registry,
    runs: &[&PlannedRun],
    folder: &Path,
    jobs: usize,
    stop: &AtomicBool,
    watch: &(dyn Fn(&PlannedRun, News) + Sync),
) -> Result<Done, Error> {
    fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let mut missing = Vec::new();
    let mut done = Done::default();
    for run in distinct(runs.iter().copied()) {
        if StoredRun::find(folder, run)?.is_some() {
            done.found += 1;
            watch(run, News::Found);
        } else {
            missing.push(run);
        }
    }
    let next = AtomicUsize::new(0);
    // A failure of the input or the disk would meet every other run as well.
    let hopeless = AtomicBool::new(false);
    let shared = Mutex::new(done);
    let work = || {
        while !stop.load(Ordering::Relaxed) && !hopeless.load(Ordering::Relaxed) {
            let Some(&run) = missing.get(next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            let outcome = run_one(registry, run, folder, stop, watch);
            let mut done = shared.lock().unwrap_or_else(PoisonError::into_inner);
            match outcome {
                Ok(Some(summary)) => {
                    done.ran += 1;
                    watch(run, News::Finished(&summary));
                }
                Ok(None) => {}
                Err(error) => {
                    let own_fault = matches!(error, Error::Decision { .. } | Error::Cell(_));
                    hopeless.fetch_or(!own_fault, Ordering::Relaxed);
                    done.failures.push((run.folder_name(), error));
                    watch(run, News::Failed);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, missing.len().max(1)) {
            scope.spawn(work);
        }
    });
    let mut done = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.failures.sort_by(|a, b| a.0.cmp(&b.0));
    done.interrupted = done.ran + done.failures.len() < missing.len();
    Ok(done)
}

/// What it came to; nothing when it was told to stop.
fn run_one(
    registry: &Registry,
    run: &PlannedRun,
    folder: &Path,
    stop: &AtomicBool,
    watch: &(dyn Fn(&PlannedRun, News) + Sync),
) -> Result<Option<Summary>, Error> {
    let mut method = registry.method(&run.scenario)?;
    let mut written = RunFolder::create(&folder.join(run.folder_name()), &run.scenario, false)?;
    let mut appended = Ok(());
    let outcome = run_on(&run.scenario, &mut method, 1, |record| {
        appended = written.append(record);
        watch(run, News::Round(record));
        match appended.is_err() || stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    match (outcome, appended) {
        (Ok(outcome), Ok(())) if outcome.summary.stopped_by != StoppedBy::Interrupted => {
            written.finish(&outcome)?;
            Ok(Some(outcome.summary))
        }
        (outcome, appended) => {
            written.discard();
            outcome.map(|_| ())?;
            appended?;
            Ok(None)
        }
    }
}
