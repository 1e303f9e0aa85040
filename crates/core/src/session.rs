//! A run on disk: recorded as it goes, set down between any two rounds, and taken up again as if nothing had happened.
//!
//! Everything that runs a scenario to be kept goes through here: `aerofed run`, comparisons, reproductions, and programs with
//! methods or worlds of their own.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::checkpoint::{Checkpoints, Fingerprint};
use crate::record::RoundRecord;
use crate::run::{Outcome, Run, Simulation};
use crate::run_folder::{LeftBehind, RunFolder, can_go_on, check_inputs};
use crate::scenario::ValidScenario;
use crate::{Error, Method};

/// How a run is kept.
#[derive(Clone, Copy, Debug)]
pub struct Keeping<'a> {
    /// Rounds from one checkpoint to the next; 0: only when it is set down.
    pub checkpoint_every: usize,
    /// Whether a run that has the same name is replaced.
    pub force: bool,
    /// Raised when it is to stop: a run that has not begun, because the files that its scenario names are still being
    /// read, ends with [`Error::Interrupted`] and leaves nothing. Between rounds it is for the caller to look.
    pub stop: Option<&'a AtomicBool>,
}

impl Default for Keeping<'_> {
    fn default() -> Self {
        Self {
            checkpoint_every: 5,
            force: false,
            stop: None,
        }
    }
}

impl Keeping<'_> {
    fn is_stopped(self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// A run under way, and the folder that it is recorded in.
///
/// ```
/// use aerofed::session::{Keeping, Session};
/// use aerofed::{Method, Scenario, Simulation, ValidScenario};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("mine");
/// let settings = ["devices.count=10", "data.data_volume=50", "model.name=logistic", "stop.max_rounds=3"];
/// let scenario = Scenario::parse("", &settings)?.check()?;
/// // A method, a channel or a learner of one's own goes in here.
/// let set_up = |scenario: &ValidScenario| {
///     Ok((Simulation::builder(scenario).build()?, Method::of(scenario)?))
/// };
/// let mut session = Session::begin(&path, &scenario, Keeping::default(), set_up)?;
/// session.step()?;
/// session.set_down()?;
/// drop(session);
///
/// // Later, in another process:
/// let mut session = Session::resume(&path, Keeping::default(), set_up, |_| {})?.expect("it is unfinished");
/// while let Some(record) = session.step()? {
///     assert!(record.round > 1);
/// }
/// let outcome = session.finish(|_, _| Ok(Vec::new()))?;
/// assert_eq!(outcome.summary.rounds, 3);
/// # Ok::<(), aerofed::Error>(())
/// ```
pub struct Session {
    scenario: ValidScenario,
    method: Method,
    run: Run,
    folder: RunFolder,
    destination: PathBuf,
    checkpoints: Checkpoints,
    checkpoint_every: usize,
    /// The round of the last checkpoint.
    saved: usize,
}

impl Session {
    /// Begins a run that will be in the folder `path` when it is finished. `set_up` builds what it consists of.
    ///
    /// # Errors
    /// When the folder cannot be used, or `set_up` fails; then nothing is left of it.
    pub fn begin(
        path: &Path,
        scenario: &ValidScenario,
        keeping: Keeping,
        set_up: impl FnOnce(&ValidScenario) -> Result<(Simulation, Method), Error>,
    ) -> Result<Self, Error> {
        let stop = &|| keeping.is_stopped();
        let folder = RunFolder::create_unless(stop, path, scenario, keeping.force)?;
        let (simulation, method) = match set_up(scenario) {
            Ok(both) => both,
            Err(error) => {
                folder.discard();
                return Err(error);
            }
        };
        Ok(Self {
            checkpoints: Checkpoints::new(folder.partial(), Fingerprint::of(scenario)?),
            scenario: scenario.clone(),
            method,
            run: Run::new(simulation),
            folder,
            destination: path.into(),
            checkpoint_every: keeping.checkpoint_every,
            saved: 0,
        })
    }

    /// Takes up the run that has, or would have got, this name, from its last good checkpoint; none when it is finished. What is
    /// wrong with checkpoints that are passed over goes to `refused`.
    ///
    /// # Errors
    /// When there is no run, it is being written, or cannot be taken up.
    pub fn resume(
        path: &Path,
        keeping: Keeping,
        mut set_up: impl FnMut(&ValidScenario) -> Result<(Simulation, Method), Error>,
        refused: impl FnMut(&Error),
    ) -> Result<Option<Self>, Error> {
        let Some(left) = LeftBehind::find(path)? else {
            return Ok(None);
        };
        let scenario = left.scenario()?;
        check_inputs(left.folder(), &scenario, &|| keeping.is_stopped())?;
        let fingerprint = Fingerprint::of(&scenario)?;
        let take_up = |saved: &[u8]| {
            let (simulation, mut method) = set_up(&scenario)?;
            let run = Run::resume(simulation, &mut method, saved)?;
            Ok((run, method))
        };
        let latest =
            Checkpoints::new(left.folder(), fingerprint.clone()).latest(take_up, refused)?;
        let (run, method) = match latest {
            Some(both) => both,
            None => {
                let (simulation, method) = set_up(&scenario)?;
                (Run::new(simulation), method)
            }
        };
        let destination = left.destination().to_owned();
        let folder = RunFolder::reopen(left, run.records(), keeping.force)?;
        Ok(Some(Self {
            checkpoints: Checkpoints::new(folder.partial(), fingerprint),
            scenario,
            method,
            saved: run.records().len(),
            run,
            folder,
            destination,
            checkpoint_every: keeping.checkpoint_every,
        }))
    }

    /// Takes up a run that was set down under this name, if it is one of this very scenario, or else begins it.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn begin_or_resume(
        path: &Path,
        scenario: &ValidScenario,
        keeping: Keeping,
        mut set_up: impl FnMut(&ValidScenario) -> Result<(Simulation, Method), Error>,
    ) -> Result<Self, Error> {
        if !can_go_on(path) {
            return Self::begin(path, scenario, keeping, set_up);
        }
        match Self::resume(path, keeping, &mut set_up, |_| {}) {
            Ok(Some(session)) if *session.scenario == **scenario => return Ok(session),
            // Of another version or scenario, or damaged: it is done anew.
            Ok(Some(_)) | Err(Error::Output { .. } | Error::Scenario(_)) => {}
            Ok(None) => return Self::begin(path, scenario, keeping, set_up),
            Err(error) => return Err(error),
        }
        let anew = Keeping {
            force: true,
            ..keeping
        };
        Self::begin(path, scenario, anew, set_up)
    }

    /// One global round, recorded; none when the run is over. Writes a checkpoint when one is due.
    ///
    /// # Errors
    /// As [`Simulation::step`], and when the disk does not take it.
    pub fn step(&mut self) -> Result<Option<&RoundRecord>, Error> {
        let Some(record) = self.run.step(&mut self.method)? else {
            return Ok(None);
        };
        self.folder.append(record)?;
        let round = record.round;
        let every = self.checkpoint_every;
        if every > 0 && round.is_multiple_of(every) && self.run.stopped_by().is_none() {
            self.set_down()?;
        }
        Ok(self.run.records().last())
    }

    /// Writes a checkpoint now, so that the run can be taken up from here.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn set_down(&mut self) -> Result<(), Error> {
        let round = self.rounds();
        if self.saved < round && self.run.stopped_by().is_none() {
            let state = self.run.save(&self.method);
            self.checkpoints.write(round, &state)?;
            self.saved = round;
        }
        Ok(())
    }

    /// Whether there is no round to come.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.run.stopped_by().is_some()
    }

    /// What is run.
    #[must_use]
    pub fn scenario(&self) -> &ValidScenario {
        &self.scenario
    }

    /// The run as it stands.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// How many rounds are done.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.run.records().len()
    }

    /// Where the run is being written.
    #[must_use]
    pub fn partial(&self) -> &Path {
        self.folder.partial()
    }

    /// Where it will be when it is finished.
    #[must_use]
    pub fn destination(&self) -> &Path {
        &self.destination
    }

    /// Sums the run up and gives the folder its final name; one that is not over counts as interrupted, and keeps its
    /// checkpoints. `more` may add files, by name, such as plots; it may also take the records out of the outcome.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn finish(
        self,
        more: impl FnOnce(&ValidScenario, &mut Outcome) -> Result<Vec<(String, Vec<u8>)>, Error>,
    ) -> Result<Outcome, Error> {
        let mut outcome = self.run.finish(&self.method);
        for (name, contents) in more(&self.scenario, &mut outcome)? {
            self.folder.add_file(&name, &contents)?;
        }
        self.folder.finish(&outcome)?;
        Ok(outcome)
    }

    /// Gives up: removes what was written so far.
    pub fn discard(self) {
        self.folder.discard();
    }
}
