//! Many runs at once, interrupted by Ctrl-C as the command line is.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use aerofed::ValidScenario;
use aerofed::disk::replace_file;
use aerofed::learn::DataStore;
use aerofed_experiment::plan::{PlannedRun, distinct};
use aerofed_experiment::runner::{Done, Keep, News, Runner, Watch};
use aerofed_report::Files;
use pyo3::prelude::*;

use crate::errors::{broken, experiment, raise};
use crate::set_up::{SetUp, threads};

/// Where finished runs go.
pub(crate) enum Kept<'a> {
    /// A folder each, below this one.
    Folders(&'a Path),
    /// Elsewhere.
    In(&'a dyn Keep),
}

/// Between two looks at whether somebody interrupts, and at how far the runs are.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Does the runs that are missing. `watch` is called with the number of finished runs, and how many there are.
pub(crate) fn run_missing(
    py: Python<'_>,
    set_up: &SetUp,
    runs: &[&PlannedRun],
    kept: &Kept,
    jobs: Option<i64>,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<Done> {
    let runs = distinct(runs.iter().copied());
    let (stop, finished, over) = (
        AtomicBool::new(false),
        AtomicUsize::new(0),
        AtomicBool::new(false),
    );
    let jobs = threads("jobs", jobs)?;
    let simulate = |scenario: &ValidScenario| set_up.simulation(scenario, 1, None);
    let store = DataStore::new();
    let runner = Runner {
        registry: &set_up.registry,
        store: &store,
        jobs,
        simulate: if set_up.has_learner() {
            Some(&simulate)
        } else {
            None
        },
        stop: &stop,
    };
    let hear: Watch = &|_, news| {
        if matches!(news, News::Found | News::Finished(_) | News::Failed) {
            finished.fetch_add(1, Ordering::Relaxed);
        }
    };
    let work = || {
        let done = match kept {
            Kept::Folders(folder) => runner.run_missing(&runs, folder, hear),
            Kept::In(place) => runner.run_missing_in(&runs, *place, hear),
        };
        over.store(true, Ordering::Release);
        done
    };
    let mut interruption = None;
    let done = std::thread::scope(|scope| {
        let worker = scope.spawn(work);
        let mut told = None;
        while !over.load(Ordering::Acquire) && !worker.is_finished() {
            py.detach(|| std::thread::park_timeout(LOOK_EVERY));
            let now = finished.load(Ordering::Relaxed);
            let heard = py.check_signals().and_then(|()| match watch {
                Some(watch) if told != Some(now) => {
                    told = Some(now);
                    watch.call1((now, runs.len())).map(|_| ())
                }
                _ => Ok(()),
            });
            if let Err(error) = heard {
                interruption.get_or_insert(error);
                stop.store(true, Ordering::Relaxed);
            }
        }
        py.detach(|| worker.join())
    });
    let done = done.map_err(|_| broken("a run ended the thread it was done in"))?;
    if let Some(error) = set_up.failed().or(interruption) {
        return Err(error);
    }
    let mut done = done.map_err(experiment)?;
    if done.failures.is_empty() {
        if let Some(watch) = watch {
            watch.call1((runs.len(), runs.len()))?;
        }
        return Ok(done);
    }
    let (name, error) = done.failures.remove(0);
    let error = raise(error);
    error.add_note(py, format!("in the run {name}"))?;
    Err(error)
}

/// Writes files into a folder.
pub(crate) fn write(out: &Path, files: Files) -> PyResult<()> {
    for (name, contents) in files {
        let path = out.join(name);
        if let Some(folder) = path.parent() {
            let made = std::fs::create_dir_all(folder);
            made.map_err(|error| raise(aerofed::Error::io("create", folder)(error)))?;
        }
        replace_file(&path, &contents).map_err(raise)?;
    }
    Ok(())
}
