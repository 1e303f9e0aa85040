//! Runs what is missing, several runs at a time.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aerofed::learn::DataStore;
use aerofed::method::Registry;
use aerofed::record::{RoundRecord, Summary};
use aerofed::run::Run;
use aerofed::run_folder::Stop;
use aerofed::session::{Keeping, Session};
use aerofed::{Method, Simulation, ValidScenario};

use super::plan::{PlannedRun, distinct};
use super::stored::StoredRun;
use crate::Error;

/// What a watcher hears.
pub enum News<'a> {
    /// A run is there already.
    Found,
    /// Another process is doing this run; it is waited for.
    Elsewhere,
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
    /// Who puts simulations together in place of the scenario: for learners and worlds of one's own. None: the scenario does.
    pub simulate: Option<Simulate<'a>>,
    /// Raised when it is to stop: runs under way are then set down at the end of their round, and go on from there the next time.
    pub stop: &'a AtomicBool,
}

/// Makes the simulation of a run.
pub type Simulate<'a> = &'a (dyn Fn(&ValidScenario) -> Result<Simulation, aerofed::Error> + Sync);

/// Whoever wants to know how far runs are.
pub type Watch<'a> = &'a (dyn Fn(&PlannedRun, News) + Sync);

/// Where finished runs are kept.
pub trait Keep: Sync {
    /// Whether a run is there already.
    ///
    /// # Errors
    /// When something else is there, the disk fails, or it is told to stop.
    fn has(&self, run: &PlannedRun, stop: Stop) -> Result<bool, aerofed::Error>;

    /// Does a run and keeps it; nothing when it was told to stop.
    ///
    /// # Errors
    /// When the run fails, or the disk.
    fn keep(
        &self,
        runner: &Runner,
        run: &PlannedRun,
        watch: Watch,
    ) -> Result<Option<Came>, aerofed::Error>;
}

/// How a run came about.
pub enum Came {
    /// It was done now.
    Finished(Box<Summary>),
    /// Another process has done it meanwhile.
    Found,
}

/// Runs as folders of a folder, each a session: set down when told to stop, and taken up where it was.
struct Folders<'a>(&'a Path);

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
        self.run_missing_in(runs, &Folders(folder), watch)
    }

    /// The same with runs that are kept in another way.
    ///
    /// # Errors
    /// When the place cannot be used.
    pub fn run_missing_in(
        &self,
        runs: &[&PlannedRun],
        place: &dyn Keep,
        watch: Watch,
    ) -> Result<Done, Error> {
        let mut missing = VecDeque::new();
        let mut done = Done::default();
        for run in distinct(runs.iter().copied()) {
            match place.has(run, &|| self.is_stopped()) {
                Ok(false) => missing.push_back((run, false)),
                Ok(true) => {
                    done.found += 1;
                    watch(run, News::Found);
                }
                Err(aerofed::Error::Interrupted) => {
                    done.interrupted = true;
                    return Ok(done);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let all = done.found + missing.len();
        let jobs = self.jobs.clamp(1, missing.len().max(1));
        let work = Work {
            missing: Mutex::new(missing),
            done: Mutex::new(done),
            hopeless: AtomicBool::new(false),
        };
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| self.work(&work, place, watch));
            }
        });
        let done = work.done.into_inner();
        let mut done = done.unwrap_or_else(PoisonError::into_inner);
        done.failures.sort_by(|a, b| a.0.cmp(&b.0));
        done.interrupted = done.found + done.ran + done.failures.len() < all;
        Ok(done)
    }

    /// Whether it is to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn set_up(&self, scenario: &ValidScenario) -> Result<(Simulation, Method), aerofed::Error> {
        let method = self.registry.method(scenario)?;
        if let Some(simulate) = self.simulate {
            return Ok((simulate(scenario)?, method));
        }
        let builder = Simulation::builder(scenario).threads(1);
        Ok((builder.data(self.store.get(scenario)?).build()?, method))
    }

    /// Does a run that leaves nothing on disk; nothing when it was told to stop.
    ///
    /// # Errors
    /// When the run fails.
    pub fn run_in_memory(
        &self,
        run: &PlannedRun,
        watch: Watch,
    ) -> Result<Option<StoredRun>, aerofed::Error> {
        let (simulation, mut method) = self.set_up(&run.scenario)?;
        let mut under_way = Run::new(simulation);
        while let Some(record) = under_way.step(&mut method)? {
            watch(run, News::Round(record));
            if self.is_stopped() && under_way.stopped_by().is_none() {
                return Ok(None);
            }
        }
        let outcome = under_way.finish(&method);
        Ok(Some(StoredRun::of_rounds(
            outcome.summary,
            &outcome.records,
        )))
    }

    /// What each thread does.
    fn work(&self, work: &Work, place: &dyn Keep, watch: Watch) {
        while !self.is_stopped() && !work.hopeless.load(Ordering::Relaxed) {
            let next = locked(&work.missing).pop_front();
            let Some((run, is_elsewhere)) = next else {
                break;
            };
            if is_elsewhere {
                std::thread::sleep(PAUSE);
            }
            let outcome = place.keep(self, run, watch);
            let mut done = locked(&work.done);
            match outcome {
                Ok(Some(Came::Finished(summary))) => {
                    done.ran += 1;
                    watch(run, News::Finished(&summary));
                }
                Ok(Some(Came::Found)) => {
                    done.found += 1;
                    watch(run, News::Found);
                }
                Ok(None) | Err(aerofed::Error::Interrupted) => {}
                Err(aerofed::Error::Busy { .. }) => {
                    if !is_elsewhere {
                        watch(run, News::Elsewhere);
                    }
                    // Behind those that nobody does.
                    locked(&work.missing).push_back((run, true));
                }
                Err(error) => {
                    let own_fault = matches!(
                        error,
                        aerofed::Error::Decision { .. } | aerofed::Error::Cell(_)
                    );
                    work.hopeless.fetch_or(!own_fault, Ordering::Relaxed);
                    done.failures.push((run.folder_name(), error));
                    watch(run, News::Failed);
                }
            }
        }
    }
}

impl Keep for Folders<'_> {
    fn has(&self, run: &PlannedRun, stop: Stop) -> Result<bool, aerofed::Error> {
        Ok(StoredRun::find_unless(stop, self.0, run)?.is_some())
    }

    fn keep(
        &self,
        runner: &Runner,
        run: &PlannedRun,
        watch: Watch,
    ) -> Result<Option<Came>, aerofed::Error> {
        let path = self.0.join(run.folder_name());
        let set_up = |scenario: &ValidScenario| runner.set_up(scenario);
        let keeping = Keeping {
            checkpoint_every: 0,
            stop: Some(runner.stop),
            ..Keeping::default()
        };
        let mut session = match Session::begin_or_resume(&path, &run.scenario, keeping, set_up) {
            // Another process has finished it since it was missing.
            Err(aerofed::Error::Output { .. }) if self.has(run, &|| runner.is_stopped())? => {
                return Ok(Some(Came::Found));
            }
            other => other?,
        };
        loop {
            match session.step() {
                Ok(Some(record)) => watch(run, News::Round(record)),
                Ok(None) => break,
                Err(error) => {
                    session.discard();
                    return Err(error);
                }
            }
            if runner.is_stopped() && !session.is_over() {
                session.set_down()?;
                return Ok(None);
            }
        }
        let outcome = session.finish(|_, _| Ok(Vec::new()))?;
        Ok(Some(Came::Finished(Box::new(outcome.summary))))
    }
}

/// Between two looks at a run that another process is doing.
const PAUSE: Duration = Duration::from_millis(200);

/// What the threads of a [`Runner`] share.
struct Work<'a> {
    /// The runs to do, and whether another process was doing them when last looked at.
    missing: Mutex<VecDeque<(&'a PlannedRun, bool)>>,
    done: Mutex<Done>,
    /// A failure of the input or the disk would meet every other run as well.
    hopeless: AtomicBool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
