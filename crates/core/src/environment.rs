//! The choice of thresholds as an environment with `reset` and `step`, for trying agents of one's own.
//!
//! Every UAV is a player: in each global round it sees a state, answers with an action of 0 to 1 that
//! sets its threshold, and gets a reward when the round is over. States, actions and rewards are those of
//! the scenario's `[td3]` table, see [`AgentView`].
//!
//! ```
//! use aerofed::{Scenario, environment::Environment};
//! # fn main() -> Result<(), aerofed::Error> {
//! let settings = ["devices.count=20", "data.data_volume=200", "model.name=logistic", "stop.max_rounds=2"];
//! let scenario = Scenario::parse("", &settings)?.check()?;
//! let mut environment = Environment::new(&scenario, 1);
//! let mut states = environment.reset(7)?;
//! loop {
//!     // An agent that always takes as many devices as lie halfway between the most and the fewest it may.
//!     let actions: Vec<f32> = states.iter().map(|_| 0.5).collect();
//!     let step = environment.step(&actions)?;
//!     if step.done {
//!         break;
//!     }
//!     states = step.states;
//! }
//! # Ok(())
//! # }
//! ```

use std::sync::Arc;

use crate::decide::association::{AgentView, Needs, Prescribed, above};
use crate::learn::DataStore;
use crate::method::parts::AssociationPart;
use crate::record::RoundRecord;
use crate::run::{Opening, Simulation, stop_rule};
use crate::scenario::{Association, ScenarioError, ValidScenario};
use crate::{Error, Method, Scenario};

/// States of all UAVs; none for those that cover nobody or are not there.
pub type States = Vec<Option<Vec<f32>>>;

/// A run whose thresholds are chosen from outside.
pub struct Environment {
    scenario: ValidScenario,
    threads: usize,
    store: Arc<DataStore>,
    round: Option<Round>,
    /// What targets are judged by, round by round.
    accuracies: Vec<f64>,
}

/// What is on the table while the actions are awaited.
struct Round {
    simulation: Simulation,
    method: Method,
    view: AgentView,
    opening: Opening,
    fitness: Vec<Vec<f64>>,
}

/// What came of a round.
#[derive(Debug)]
pub struct Step {
    /// What each UAV sees before the next round; empty at the end.
    pub states: States,
    /// What each UAV gets for its last action.
    pub rewards: Vec<f32>,
    /// Whether the run is over, by the scenario's `[stop]` or because no UAV is left.
    pub done: bool,
    /// The round as recorded.
    pub record: RoundRecord,
}

const NEEDS: Needs = Needs {
    answers: true,
    spared_rounds: 0,
    edge_models: true,
    moves: false,
};

impl Environment {
    /// An environment in a scenario's world; the scenario's method decides everything but thresholds.
    #[must_use]
    pub fn new(scenario: &ValidScenario, threads: usize) -> Self {
        Self {
            scenario: scenario.clone(),
            threads,
            store: Arc::default(),
            round: None,
            accuracies: Vec::new(),
        }
    }

    /// Takes data from a store that others use as well.
    #[must_use]
    pub fn with_store(mut self, store: Arc<DataStore>) -> Self {
        self.store = store;
        self
    }

    /// Begins a run with another seed. Empty when no UAV ever gets to choose.
    ///
    /// # Errors
    /// When the data cannot be loaded, the model does not fit it, or the scenario's method leaves no thresholds to choose.
    pub fn reset(&mut self, seed: u64) -> Result<States, Error> {
        let scenario = Scenario {
            seed,
            ..Scenario::clone(&self.scenario)
        };
        let scenario = scenario.check()?;
        let builder = Simulation::builder(&scenario).threads(self.threads);
        let simulation = builder.data(self.store.get(&scenario)?).build()?;
        let method = Method::of(&with_agents(&scenario)?)?;
        let view = AgentView::new(&scenario);
        self.scenario = scenario;
        self.accuracies.clear();
        self.open(simulation, method, view)
    }

    /// Plays a round with one action per UAV, 0 to 1; others are taken for the nearer end, and actions
    /// of UAVs without a state do nothing.
    ///
    /// # Errors
    /// When there is no round to play: before the first reset, and after the end.
    pub fn step(&mut self, actions: &[f32]) -> Result<Step, Error> {
        let Some(round) = self.round.take() else {
            return Err(Error::Decision {
                method: "environment".into(),
                reason: "a step without a round to play: reset first".into(),
            });
        };
        let Round {
            mut simulation,
            mut method,
            mut view,
            opening,
            fitness,
        } = round;
        let action = |uav: usize| actions.get(uav).map(|action| action.clamp(0.0, 1.0));
        let actions: Vec<Option<f32>> = (0..fitness.len()).map(action).collect();
        let thresholds = view.thresholds(&fitness, &actions);
        let selection = above(&simulation.scene(&opening), &fitness, |uav| thresholds[uav]);
        method.association = Box::new(Prescribed { selection });
        let closed = simulation.close_round(opening, &mut method)?;
        let penalties = vec![self.scenario.td3.penalty; fitness.len()];
        let rewards = view.rewards(&closed.outcome(), &penalties);
        let mut states = States::new();
        let target_on = self.scenario.stop.target_on;
        self.accuracies.push(target_on.accuracy(&closed.record));
        if stop_rule(&self.scenario, &closed.record, &self.accuracies).is_none() {
            states = self.open(simulation, method, view)?;
        }
        Ok(Step {
            states,
            rewards,
            done: self.round.is_none(),
            record: closed.record,
        })
    }

    fn open(
        &mut self,
        mut simulation: Simulation,
        method: Method,
        view: AgentView,
    ) -> Result<States, Error> {
        let Some(opening) = simulation.open_round(&method, NEEDS)? else {
            return Ok(States::new());
        };
        let scene = simulation.scene(&opening);
        let fitness = scene.fitness(&self.scenario.fitness);
        let states = view.states(&scene, &fitness);
        self.round = Some(Round {
            simulation,
            method,
            view,
            opening,
            fitness,
        });
        Ok(states)
    }
}

/// The scenario in which its method's devices are chosen by agents, as they are here from outside.
fn with_agents(scenario: &ValidScenario) -> Result<ValidScenario, Error> {
    let asked = AssociationPart::overriding(&scenario.association);
    if let Some(other) = asked.filter(|part| *part != AssociationPart::Td3) {
        return Err(Error::Scenario(ScenarioError::Field {
            field: "association.kind".into(),
            value: format!("{:?}", other.describe().name),
            allowed: "auto, td3: thresholds are chosen from outside".into(),
        }));
    }
    let scenario = Scenario {
        association: Association::Td3 {},
        ..Scenario::clone(scenario)
    };
    Ok(scenario.check()?)
}
