//! A threshold that learns: one TD3 agent per UAV, Algorithm 3.
//!
//! ```text
//! select    finish last round's transition with the state seen now, learn from it, choose β
//! observe   turn what the round brought and took into a reward
//! ```

mod view;

use serde::{Deserialize, Serialize};

pub use view::AgentView;

use super::threshold::above;
use super::{Association, Needs, RoundOutcome, Scene};
use crate::Error;
use crate::checkpoint::{decode, encode};
use crate::scenario::{self, Policy, ValidScenario};
use crate::seed::{Random, Stream, stream};
use crate::solve::replay::Transition;
use crate::solve::td3::{Settings, Td3, Td3State};
use crate::world::DeviceId;

/// Where in its range a threshold lies when an agent cannot say.
const UNDECIDED: f32 = 0.5;

/// Devices whose fitness reaches a threshold that each UAV's agent chooses anew every round.
pub struct Adaptive {
    fitness: scenario::Fitness,
    config: scenario::Td3,
    policy: Policy,
    seed: u64,
    view: AgentView,
    /// One per UAV, made in the first round.
    agents: Vec<Td3>,
    /// What each agent saw and did in the last round, until it sees what came of it.
    pending: Vec<Option<Step>>,
}

/// Half a transition.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Step {
    state: Vec<f32>,
    action: f32,
    reward: Option<f32>,
}

/// What is saved of the agents.
#[derive(Serialize, Deserialize)]
struct Saved {
    view: AgentView,
    agents: Vec<Td3State>,
    pending: Vec<Option<Step>>,
}

impl Adaptive {
    /// The agents that a scenario asks for.
    #[must_use]
    pub fn new(scenario: &ValidScenario) -> Self {
        Self {
            fitness: scenario.fitness,
            config: scenario.td3.clone(),
            policy: scenario.policy().clone(),
            seed: scenario.seed,
            view: AgentView::new(scenario),
            agents: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Makes the agents, each from its own random numbers or all from the policy.
    fn start(&mut self, uavs: usize) {
        // A checked scenario makes sound settings and has read its policy.
        let agent = |uav: usize| {
            let mut rng = stream(self.seed, Stream::Agent, 0, uav as u64);
            self.policy.agent(&self.config, &mut rng).ok()
        };
        self.agents = match agent(0).filter(|_| !self.policy.is_fresh()) {
            // All have its networks in common until they learn.
            Some(first) => (0..uavs)
                .filter_map(|_| Td3::restore(first.state().clone()).ok())
                .collect(),
            None => (0..uavs).filter_map(agent).collect(),
        };
        self.pending = vec![None; uavs];
    }

    /// β's place for one UAV in state `state`, after learning from the last round.
    fn choose(&mut self, uav: usize, state: Vec<f32>, rng: &mut Random) -> f32 {
        let Some(agent) = self.agents.get_mut(uav) else {
            return UNDECIDED;
        };
        if let Some(Step {
            state: before,
            action,
            reward: Some(reward),
        }) = self.pending[uav].take()
        {
            // Values are made finite in `AgentView`: nothing here is refused.
            let _kept = agent.remember(&Transition {
                state: before,
                action: vec![action],
                reward,
                next_state: state.clone(),
                done: false,
            });
        }
        let action = if !self.config.online {
            agent.act(&state)
        } else {
            for _ in 0..self.config.updates_per_round {
                let _learned = agent.update(rng);
            }
            let exploring = self.policy.is_fresh() && agent.replay().len() < self.config.warm_up;
            if exploring {
                Ok(agent.random_action(rng))
            } else {
                agent.best_of(&state, self.config.candidates, rng)
            }
        };
        let action = action.map_or(UNDECIDED, |action| action[0]);
        self.pending[uav] = Some(Step {
            state,
            action,
            reward: None,
        });
        action
    }

    /// α̃ of an agent: it grows with the updates of its policy, Eq. (54).
    fn penalty(&self, uav: usize) -> f64 {
        let updates = self.agents.get(uav).map_or(0, Td3::updates);
        let moves = updates / Settings::default().policy_delay;
        self.config.penalty + self.config.penalty_step * moves as f64
    }
}

impl Association for Adaptive {
    fn needs(&self) -> Needs {
        Needs {
            answers: self.fitness.counts_data(),
            edge_models: true,
        }
    }

    fn select(&mut self, scene: &Scene, rng: &mut Random) -> Vec<Vec<DeviceId>> {
        if self.agents.is_empty() {
            self.start(scene.world.uavs.len());
        }
        let fitness = scene.fitness(&self.fitness);
        let states = self.view.states(scene, &fitness);
        let mut actions = vec![None; fitness.len()];
        for (uav, state) in states.into_iter().enumerate() {
            match state {
                Some(state) => actions[uav] = Some(self.choose(uav, state, rng)),
                // It is away or covers nobody: what its last threshold led to is not seen.
                None => self.pending[uav] = None,
            }
        }
        let thresholds = self.view.thresholds(&fitness, &actions);
        above(scene, &fitness, |uav| thresholds[uav])
    }

    fn observe(&mut self, outcome: &RoundOutcome) {
        let penalties: Vec<f64> = (0..outcome.cells.len())
            .map(|uav| self.penalty(uav))
            .collect();
        let rewards = self.view.rewards(outcome, &penalties);
        for (pending, reward) in self.pending.iter_mut().zip(rewards) {
            if let Some(step) = pending {
                step.reward = Some(reward);
            }
        }
    }

    fn save(&self) -> Vec<u8> {
        encode(&Saved {
            view: self.view.clone(),
            agents: self
                .agents
                .iter()
                .map(|agent| agent.state().clone())
                .collect(),
            pending: self.pending.clone(),
        })
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        let part = "association";
        let Saved {
            view,
            agents,
            pending,
        } = decode(part, saved)?;
        let refuse = |reason: String| Error::State { part, reason };
        let state_len = self.config.state.length();
        let uavs = self.view.uavs();
        let sound = view.is_of(uavs)
            && (agents.is_empty() || agents.len() == uavs)
            && pending.len() == agents.len()
            && agents.iter().all(|agent| agent.dims() == (state_len, 1));
        if !sound {
            return Err(refuse("agents of other UAVs, or with other states".into()));
        }
        let agents: Result<Vec<Td3>, _> = agents.into_iter().map(Td3::restore).collect();
        self.agents = agents.map_err(|error| refuse(error.to_string()))?;
        (self.view, self.pending) = (view, pending);
        Ok(())
    }
}
