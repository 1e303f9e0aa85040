//! A run under way: in memory, or kept in a folder as `aerofed run` keeps it.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use aerofed::run::{Outcome, Run};
use aerofed::session::{Keeping, Session};
use aerofed::{Error, Method, RoundRecord, ValidScenario};
use aerofed_report::run_pictures;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{broken, raise};
use crate::model::arrays;
use crate::numbers::{CHECKPOINT_EVERY, whole};
use crate::round::Round;
use crate::run::NativeRun;
use crate::scenario::NativeScenario;
use crate::set_up::{NativeMethod, SetUp};

/// A run under way.
#[pyclass(frozen, module = "aerofed._aerofed")]
pub(crate) struct NativeSimulation {
    scenario: ValidScenario,
    /// None when it is finished. Locked while a round is done.
    state: Mutex<Option<State>>,
    /// Whether a round ended in the middle: what it left is no state that a run could go on from.
    spoiled: AtomicBool,
    set_up: SetUp,
}

enum State {
    Memory { run: Box<Run>, method: Box<Method> },
    Folder(Box<Session>),
}

impl State {
    fn step(&mut self) -> Result<Option<&RoundRecord>, Error> {
        match self {
            Self::Memory { run, method } => run.step(method),
            Self::Folder(session) => session.step(),
        }
    }

    fn run(&self) -> &Run {
        match self {
            Self::Memory { run, .. } => run,
            Self::Folder(session) => session.run(),
        }
    }
}

impl NativeSimulation {
    /// Does something to the run, without holding up other Python threads meanwhile.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            // Not waited for: whoever asks from within a round would wait for itself.
            let Ok(mut state) = self.state.try_lock() else {
                return Err("a round is under way");
            };
            state.as_mut().map(work).ok_or("the run is finished")
        });
        let done = done.map_err(broken)?;
        let done = done.map_err(|error| self.set_up.exception(error))?;
        // A part that could not save its state did not end the round.
        self.set_up.failed().map_or(Ok(done), Err)
    }

    /// Does a round.
    fn advance<T: Send>(
        &self,
        py: Python<'_>,
        round: impl FnOnce(&mut State) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        if self.spoiled.load(Ordering::Relaxed) {
            return Err(broken("a round of this run failed: it cannot go on"));
        }
        self.with(py, |state| {
            round(state).inspect_err(|_| self.spoiled.store(true, Ordering::Relaxed))
        })
    }
}

#[pymethods]
impl NativeSimulation {
    /// Begins a run, in memory or in the folder `out`.
    #[new]
    #[pyo3(signature = (scenario, own, learner, threads, out, force, checkpoint_every))]
    #[expect(clippy::too_many_arguments, reason = "Python passes them by position")]
    fn new(
        py: Python<'_>,
        scenario: &NativeScenario,
        own: Option<Py<NativeMethod>>,
        learner: Option<Py<PyAny>>,
        threads: Option<i64>,
        out: Option<PathBuf>,
        force: bool,
        checkpoint_every: i64,
    ) -> PyResult<Self> {
        let scenario = scenario.valid.clone();
        let set_up = SetUp::new(py, threads, own.as_slice(), learner)?;
        let checkpoint_every = whole("checkpoint_every", checkpoint_every, CHECKPOINT_EVERY)?;
        let begin = || match out {
            None => {
                let (simulation, method) = set_up.build(&scenario)?;
                Ok(State::Memory {
                    run: Box::new(Run::new(simulation)),
                    method: Box::new(method),
                })
            }
            Some(path) => {
                let keeping = Keeping {
                    checkpoint_every,
                    force,
                    stop: None,
                };
                let session = Session::begin(&path, &scenario, keeping, |s| set_up.build(s))?;
                Ok(State::Folder(Box::new(session)))
            }
        };
        let state = py.detach(begin).map_err(|error| set_up.exception(error))?;
        Ok(Self {
            scenario,
            state: Mutex::new(Some(state)),
            spoiled: AtomicBool::new(false),
            set_up,
        })
    }

    /// Takes up the run that was left in a folder; none when it is finished.
    #[staticmethod]
    #[pyo3(signature = (folder, own, learner, threads, checkpoint_every))]
    fn resume(
        py: Python<'_>,
        folder: PathBuf,
        own: Option<Py<NativeMethod>>,
        learner: Option<Py<PyAny>>,
        threads: Option<i64>,
        checkpoint_every: i64,
    ) -> PyResult<Option<Self>> {
        let set_up = SetUp::new(py, threads, own.as_slice(), learner)?;
        let keeping = Keeping {
            checkpoint_every: whole("checkpoint_every", checkpoint_every, CHECKPOINT_EVERY)?,
            ..Keeping::default()
        };
        let mut refused = Vec::new();
        let resumed = py.detach(|| {
            let set_up = |scenario: &_| set_up.build(scenario);
            Session::resume(&folder, keeping, set_up, |flaw| {
                refused.push(format!("{flaw}; not used"));
            })
        });
        let resumed = match resumed {
            Ok(resumed) => resumed,
            Err(error) => {
                let error = set_up.exception(error);
                for flaw in refused {
                    error.add_note(py, flaw)?;
                }
                return Err(error);
            }
        };
        let warn = py.import("warnings")?.getattr("warn")?;
        for flaw in refused {
            warn.call1((flaw,))?;
        }
        let Some(session) = resumed else {
            return Ok(None);
        };
        Ok(Some(Self {
            scenario: session.scenario().clone(),
            state: Mutex::new(Some(State::Folder(Box::new(session)))),
            spoiled: AtomicBool::new(false),
            set_up,
        }))
    }

    /// One global round; none when the run is over.
    fn step(&self, py: Python<'_>) -> PyResult<Option<Round>> {
        let record = self.advance(py, |state| Ok(state.step()?.cloned()))?;
        Ok(record.map(|record| Round { record }))
    }

    /// Rounds until the run is over. `watch` is called with a round now and then, and with the last.
    #[pyo3(signature = (watch, every_s))]
    fn play(&self, py: Python<'_>, watch: Option<Bound<'_, PyAny>>, every_s: f64) -> PyResult<()> {
        let every = Duration::from_secs_f64(every_s.clamp(0.0, 1e6));
        let mut told = None::<Instant>;
        let watches = watch.is_some();
        loop {
            let due = watches && told.is_none_or(|told| told.elapsed() >= every);
            let (more, record) = self.advance(py, |state| {
                let any = state.step()?.is_some();
                let run = state.run();
                let more = run.stopped_by().is_none();
                let told = any && (due || (watches && !more));
                Ok((more, run.records().last().filter(|_| told).cloned()))
            })?;
            py.check_signals()?;
            if let (Some(watch), Some(record)) = (&watch, record) {
                watch.call1((Round { record },))?;
                told = Some(Instant::now());
            }
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// How many rounds are done.
    fn rounds(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |state| Ok(state.run().records().len()))
    }

    /// Whether there is no round to come.
    fn is_over(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |state| Ok(state.run().stopped_by().is_some()))
    }

    /// What is run.
    #[getter]
    fn scenario(&self) -> NativeScenario {
        let valid = self.scenario.clone();
        NativeScenario { valid }
    }

    /// The global model as it stands, layer by layer.
    fn model<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let file = self.with(py, |state| state.run().simulation().model_file())?;
        arrays(py, &file)
    }

    /// Sums the run up; one that is not over counts as interrupted, and can go on if it has a folder.
    fn finish(&self, py: Python<'_>) -> PyResult<NativeRun> {
        let taken = self.state.try_lock().map(|mut state| state.take());
        let state = taken.map_err(|_| broken("a round is under way"))?;
        let state = state.ok_or_else(|| broken("the run is finished"))?;
        let scenario = self.scenario.clone();
        let finish = || -> Result<Outcome, Error> {
            match state {
                State::Memory { run, method } => Ok(run.finish(&method)),
                State::Folder(mut session) => {
                    if !self.spoiled.load(Ordering::Relaxed) {
                        session.set_down()?;
                    }
                    session.finish(|scenario, outcome| {
                        let records = outcome.records.clone();
                        let files = run_pictures(scenario, outcome);
                        outcome.records = records;
                        Ok(files)
                    })
                }
            }
        };
        let outcome = py.detach(finish).map_err(raise)?;
        // A part that could not be saved: the run is on disk, but cannot go on from here.
        match self.set_up.failed() {
            Some(error) => Err(error),
            None => Ok(NativeRun::fresh(scenario, outcome)),
        }
    }

    /// Ends a run that failed: what is complete of it stays where it can be taken up, before the first round nothing does.
    fn give_up(&self) {
        let taken = self
            .state
            .try_lock()
            .ok()
            .and_then(|mut state| state.take());
        if let Some(State::Folder(session)) = taken
            && session.rounds() == 0
        {
            session.discard();
        }
    }
}
