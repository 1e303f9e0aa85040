//! Runs what is missing, several runs at a time.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use aerofed::learn::DataStore;
use aerofed::method::Registry;
use aerofed::record::{RoundRecord, Summary};
use aerofed::session::{Keeping, Session};
use aerofed::{Simulation, ValidScenario};

use super::plan::{PlannedRun, distinct};
use super::stored::StoredRun;
use crate::Error;

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
    pub failures: Vec<(String, aerofed::Error)>,
    /// Whether it was told to stop before everything was done.
    pub interrupted: bool,
}

/// What does runs: everything about them that is not in their scenarios.
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    /// The methods that scenarios may name.
    pub registry: &'a Registry,
    /// Every data set is loaded once, into this.
    pub store: &'a DataStore,
    /// Runs at a time, each with one thread.
    pub jobs: usize,
    /// Raised when it is to stop: runs under way are then set down at the end of their round, and go on from there the next time.
    pub stop: &'a AtomicBool,
}

/// Whoever wants to know how far runs are.
pub type Watch<'a> = &'a (dyn Fn(&PlannedRun, News) + Sync);

impl Runner<'_> {
    /// Does the runs that `folder` does not hold yet, each once. A run appears in the folder when it is finished, and not before.
    ///
    /// # Errors
    /// When the folder cannot be used: it cannot be written to, or holds something else under a run's
    /// name. Runs that fail on their own account are reported in [`Done`].
    pub fn run_missing(
        &self,
        runs: &[&PlannedRun],
        folder: &Path,
        watch: Watch,
    ) -> Result<Done, Error> {
        fs::create_dir_all(folder).map_err(aerofed::Error::io("create", folder))?;
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
            while !self.stop.load(Ordering::Relaxed) && !hopeless.load(Ordering::Relaxed) {
                let Some(&run) = missing.get(next.fetch_add(1, Ordering::Relaxed)) else {
                    break;
                };
                let outcome = self.run_one(run, folder, watch);
                let mut done = shared.lock().unwrap_or_else(PoisonError::into_inner);
                match outcome {
                    Ok(Some(summary)) => {
                        done.ran += 1;
                        watch(run, News::Finished(&summary));
                    }
                    Ok(None) => {}
                    Err(error) => {
                        let own_fault = matches!(
                            error,
                            aerofed::Error::Decision { .. } | aerofed::Error::Cell(_)
                        );
                        hopeless.fetch_or(!own_fault, Ordering::Relaxed);
                        done.failures.push((run.folder_name(), error));
                        watch(run, News::Failed);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, missing.len().max(1)) {
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
        &self,
        run: &PlannedRun,
        folder: &Path,
        watch: Watch,
    ) -> Result<Option<Summary>, aerofed::Error> {
        let path = folder.join(run.folder_name());
        let set_up = |scenario: &ValidScenario| {
            let method = self.registry.method(scenario)?;
            let builder = Simulation::builder(scenario).threads(1);
            Ok((builder.data(self.store.get(scenario)?).build()?, method))
        };
        let keeping = Keeping {
            checkpoint_every: 0,
            ..Keeping::default()
        };
        let mut session = Session::begin_or_resume(&path, &run.scenario, keeping, set_up)?;
        loop {
            match session.step() {
                Ok(Some(record)) => watch(run, News::Round(record)),
                Ok(None) => break,
                Err(error) => {
                    session.discard();
                    return Err(error);
                }
            }
            if self.stop.load(Ordering::Relaxed) && !session.is_over() {
                session.set_down()?;
                return Ok(None);
            }
        }
        let outcome = session.finish(|_, _| Ok(Vec::new()))?;
        Ok(Some(outcome.summary))
    }
}
