//! The choice of thresholds from outside, for agents of one's own.

use std::sync::{Arc, Mutex};

use aerofed::environment::{Environment, States, Step};
use aerofed::learn::DataStore;
use aerofed::{Error, ValidScenario};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::errors::{broken, raise, refuse};
use crate::numbers::{THREADS, seed, whole};
use crate::round::Round;
use crate::scenario::NativeScenario;

/// Several environments in the same scenario, each with a run of its own, played side by side.
#[pyclass(frozen, module = "aerofed._aerofed")]
pub(crate) struct NativeEnvironments {
    scenario: ValidScenario,
    /// Locked while rounds are played.
    all: Mutex<Vec<Environment>>,
}

/// Each UAV's state; none where it covers nobody or is not there.
type Seen<'py> = Vec<Option<Bound<'py, PyArray1<f32>>>>;

/// What came of a round: states, rewards, whether the run is over, the round.
type Played<'py> = (Seen<'py>, Bound<'py, PyArray1<f32>>, bool, Round);

fn seen(py: Python<'_>, states: States) -> Seen<'_> {
    let states = states.into_iter();
    states
        .map(|state| state.map(|state| PyArray1::from_vec(py, state)))
        .collect()
}

impl NativeEnvironments {
    /// Plays in those environments for which there is something to do, side by side.
    fn play<W: Send, T: Send>(
        &self,
        py: Python<'_>,
        work: Vec<Option<W>>,
        play: impl Fn(&mut Environment, W) -> Result<T, Error> + Sync,
    ) -> PyResult<Vec<Option<T>>> {
        let done = py.detach(|| {
            let mut all = self.all.try_lock().map_err(|_| "a round is under way")?;
            if all.len() != work.len() {
                return Err("not as many entries as environments");
            }
            let play = &play;
            Ok(std::thread::scope(|scope| {
                let threads: Vec<_> = all
                    .iter_mut()
                    .zip(work)
                    .map(|(one, work)| work.map(|work| scope.spawn(move || play(one, work))))
                    .collect();
                let joined = threads.into_iter().map(|thread| thread.map(|t| t.join()));
                joined.collect::<Vec<_>>()
            }))
        });
        let done = done.map_err(broken)?.into_iter();
        done.map(|one| match one {
            None => Ok(None),
            Some(Ok(played)) => played.map(Some).map_err(raise),
            Some(Err(_)) => Err(broken("a round ended the thread it was played in")),
        })
        .collect()
    }
}

#[pymethods]
impl NativeEnvironments {
    /// So many environments, each on so many threads. They share the data.
    #[new]
    fn new(scenario: &NativeScenario, count: i64, threads: i64) -> PyResult<Self> {
        let count = whole("num_envs", count, 1..=1024)?;
        let threads = whole("threads", threads, THREADS)?;
        let scenario = scenario.valid.clone();
        let store = Arc::new(DataStore::new());
        let one = || Environment::new(&scenario, threads).with_store(Arc::clone(&store));
        let all = (0..count).map(|_| one()).collect();
        Ok(Self {
            all: Mutex::new(all),
            scenario,
        })
    }

    /// How many UAVs there are.
    #[getter]
    fn uavs(&self) -> usize {
        self.scenario.uavs.count
    }

    /// How many numbers a state is.
    #[getter]
    fn state_length(&self) -> usize {
        self.scenario.td3.state.length()
    }

    /// Begins runs with these seeds, where there is one.
    fn reset<'py>(
        &self,
        py: Python<'py>,
        seeds: Vec<Option<i64>>,
    ) -> PyResult<Vec<Option<Seen<'py>>>> {
        let seed = |given: Option<i64>| given.map(|given| seed("seed", given)).transpose();
        let seeds = seeds.into_iter().map(seed).collect::<PyResult<_>>()?;
        let states = self.play(py, seeds, Environment::reset)?.into_iter();
        Ok(states.map(|one| one.map(|one| seen(py, one))).collect())
    }

    /// Plays a round with these actions, one for each UAV, where there are some.
    fn step<'py>(
        &self,
        py: Python<'py>,
        actions: Vec<Option<Vec<f32>>>,
    ) -> PyResult<Vec<Option<Played<'py>>>> {
        let uavs = self.uavs();
        if let Some(odd) = actions.iter().flatten().find(|one| one.len() != uavs) {
            let count = odd.len();
            return Err(refuse(format!("{count} actions for {uavs} UAVs")));
        }
        let steps = self.play(py, actions, |one, actions| one.step(&actions))?;
        let told = |step: Step| {
            let rewards = PyArray1::from_vec(py, step.rewards);
            let record = step.record;
            (seen(py, step.states), rewards, step.done, Round { record })
        };
        Ok(steps.into_iter().map(|one| one.map(told)).collect())
    }
}
