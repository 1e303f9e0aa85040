//! Training threshold agents before a run: many short runs with random thresholds, then updates
//! of one agent from all of them, in a few turns.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aerofed_data::PartitionKind;
use rand::RngExt;
use rayon::prelude::*;

use crate::Error;
use crate::environment::Environment;
use crate::learn::DataStore;
use crate::scenario::{Policy, Scenario, ValidScenario};
use crate::seed::{Random, Stream, stream};
use crate::solve::replay::Transition;
use crate::solve::td3::{Settings, Td3};

/// Exploring and learning take turns this often.
const TURNS: usize = 2;
/// How far UAVs stray from what all lean to, and from the policy in later turns.
const NOISE: f32 = 0.1;
/// Episodes in the same world, each with another share of the devices.
const STRATA: usize = 4;
/// Rounds until it shows what a choice brought: rewards are smoothed, and at the start the loss of few devices stands still.
const SHOWS_AFTER: usize = 3;
/// Step size of actor and critics.
const LEARNING_RATE: f64 = 5e-4;
/// Episodes on which the policy is judged after each turn.
const JUDGED: u64 = 4;
/// Seeds of those: nothing is learned from them.
const JUDGED_SEEDS: u64 = 1 << 40;
/// A judged episode may take this many times the rounds of the one that sets its budget.
const MOST_ROUNDS: usize = 4;

/// How much to train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Runs to learn from.
    pub episodes: usize,
    /// Global rounds of each.
    pub rounds: usize,
    /// Updates of the agent in each turn.
    pub updates: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            episodes: 32,
            rounds: 16,
            updates: 4_000,
        }
    }
}

/// How far the training is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Episodes done.
    pub episodes: usize,
    /// Updates of this turn's agent.
    pub updates: usize,
    /// Validation accuracy when the budget is spent, mean over judged episodes (the test set has no say in which policy is kept); the
    /// budget of each is what its first rounds cost with as many devices as agents may take.
    pub accuracy: f64,
    /// The same with as many all the time.
    pub accuracy_with_most: f64,
    /// Mean squared error of the critics in the last update.
    pub critic_loss: f64,
}

/// What happens during training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// An episode is over.
    Episode,
    /// A turn of exploring and learning is over.
    Turn(Progress),
}

/// Trains an agent for the `[td3]` table of `scenario` from nothing; the best of all turns, as judged on episodes that nothing was
/// learned from. `watch` may end it: then what was learned in finished turns remains.
///
/// # Errors
/// When the scenario's data cannot be loaded, or its settings make no agent.
pub fn pretrain(
    scenario: &ValidScenario,
    plan: &Plan,
    watch: impl Fn(Event) -> ControlFlow<()> + Sync,
) -> Result<Td3, Error> {
    let stopped = AtomicBool::new(false);
    let stopped_by = |event| {
        let now = watch(event).is_break();
        stopped.fetch_or(now, Ordering::Relaxed) || now
    };
    let mut rng = stream(scenario.seed, Stream::Pretraining, 0, 0);
    let mut agent = newborn(scenario, &mut rng)?;
    let mut best = (f64::NEG_INFINITY, agent.state().clone());
    let mut memory: Vec<Transition> = Vec::new();
    let store = Arc::new(DataStore::new());
    let budgets: Result<Vec<Budget>, Error> = (0..JUDGED)
        .into_par_iter()
        .map(|index| Budget::measure(scenario, plan, JUDGED_SEEDS + index, &store))
        .collect();
    let budgets = budgets?;
    let accuracy_with_most = mean(budgets.iter().map(|budget| budget.accuracy));
    for turn in 0..TURNS {
        let share = |whole: usize, turn: usize| whole * turn / TURNS;
        let episodes = share(plan.episodes, turn)..share(plan.episodes, turn + 1);
        let policy = (turn > 0).then(|| agent.state().clone());
        let seen: Result<Vec<Vec<Transition>>, Error> = episodes
            .clone()
            .into_par_iter()
            .map(|episode| {
                if stopped.load(Ordering::Relaxed) {
                    return Ok(Vec::new());
                }
                let policy = policy
                    .clone()
                    .filter(|_| (episode / STRATA).is_multiple_of(2));
                let policy = policy.map(Td3::restore).transpose()?;
                let seen = explore(scenario, plan, episode, policy, &store);
                stopped_by(Event::Episode);
                seen
            })
            .collect();
        if stopped.load(Ordering::Relaxed) {
            break;
        }
        memory.extend(seen?.into_iter().flatten());
        // From nothing in every turn: networks that took their first steps on little data seldom get over it.
        agent = newborn(scenario, &mut rng)?;
        for transition in &memory {
            agent.remember(transition)?;
        }
        let mut critic_loss = f64::NAN;
        for _ in 0..plan.updates {
            if let Some(losses) = agent.update(&mut rng)? {
                critic_loss = f64::from(losses.critic);
            }
        }
        let state = agent.state();
        let accuracies: Result<Vec<f64>, Error> = budgets
            .par_iter()
            .map(|budget| budget.judge(scenario, plan, &mut Td3::restore(state.clone())?))
            .collect();
        let progress = Progress {
            episodes: episodes.end,
            updates: plan.updates,
            accuracy: mean(accuracies?.into_iter()),
            accuracy_with_most,
            critic_loss,
        };
        if progress.accuracy > best.0 {
            best = (progress.accuracy, state.clone());
        }
        if stopped_by(Event::Turn(progress)) {
            break;
        }
    }
    Ok(Td3::restore(best.1)?)
}

/// An agent that knows nothing, with steps for learning from much at once.
fn newborn(scenario: &ValidScenario, rng: &mut Random) -> Result<Td3, Error> {
    let settings = Settings {
        actor_learning_rate: LEARNING_RATE,
        critic_learning_rate: LEARNING_RATE,
        batch_size: 256,
        replay_capacity: 1_000_000,
        ..Policy::settings(&scenario.td3)
    };
    let state_len = scenario.td3.state.length();
    Ok(Td3::new(settings, state_len, 1, rng)?)
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// One run with thresholds that are random or near the policy's; returns every UAV's transitions.
fn explore(
    scenario: &ValidScenario,
    plan: &Plan,
    episode: usize,
    mut policy: Option<Td3>,
    store: &Arc<DataStore>,
) -> Result<Vec<Transition>, Error> {
    // Every world is met with few, some and many devices: worlds differ more than what is to be found out.
    let mut rng = stream(
        scenario.seed,
        Stream::Pretraining,
        1,
        (episode / STRATA) as u64,
    );
    let scenario = varied(scenario, plan.rounds, &mut rng)?;
    let seed = rng.random_range(0..JUDGED_SEEDS);
    let mut rng = stream(scenario.seed, Stream::Pretraining, 2, episode as u64);
    // All UAVs lean the same way all the time: what one of them does alone, or once, hardly shows in the global model. And many devices
    // after few would be paid for taking out the noise that the few left, again and again.
    let leaning = ((episode % STRATA) as f32 + rng.random::<f32>()) / STRATA as f32;
    let mut environment = Environment::new(&scenario, 1).with_store(store.clone());
    let mut states = environment.reset(seed)?;
    let strayed: Vec<f32> = states
        .iter()
        .map(|_| NOISE * rng.random_range(-1.0..1.0))
        .collect();
    let mut transitions = Vec::new();
    let mut rewards = Vec::new();
    while !states.is_empty() {
        let mut actions = vec![0.0; states.len()];
        for ((action, state), strayed) in actions.iter_mut().zip(&states).zip(&strayed) {
            let centre = match (&mut policy, state) {
                (Some(policy), Some(state)) => {
                    policy.act(state)?[0] + 4.0 * NOISE * (leaning - 0.5)
                }
                _ => leaning,
            };
            *action = (centre + strayed).clamp(0.0, 1.0);
        }
        let step = environment.step(&actions)?;
        for (uav, state) in states.into_iter().enumerate() {
            let next = step.states.get(uav).cloned().flatten();
            if let (Some(state), Some(next_state)) = (state, next) {
                let transition = Transition {
                    state,
                    action: vec![actions[uav]],
                    reward: 0.0,
                    next_state,
                    done: false,
                };
                transitions.push((rewards.len(), uav, transition));
            }
        }
        rewards.push(step.rewards);
        states = step.states;
    }
    let rewarded = |(round, uav, transition)| {
        let later: &Vec<f32> = rewards.get(round + SHOWS_AFTER)?;
        Some(Transition {
            reward: later[uav],
            ..transition
        })
    };
    Ok(transitions.into_iter().filter_map(rewarded).collect())
}

/// A world like the scenario's, with less data and maybe another model.
fn varied(base: &ValidScenario, rounds: usize, rng: &mut Random) -> Result<ValidScenario, Error> {
    let mut scenario = short(base, rounds);
    let volume = scenario.data.data_volume as f64 * rng.random_range(0.5..1.0);
    scenario.data.data_volume = (volume as usize).max(scenario.devices.count);
    if rng.random_bool(0.3) {
        scenario.data.partition = PartitionKind::NoniidB;
    }
    if rng.random_bool(0.3) {
        scenario.model.name = "lenet5".into();
    }
    Ok(scenario.check()?)
}

/// The scenario for a number of rounds.
fn short(base: &ValidScenario, rounds: usize) -> Scenario {
    let mut scenario = Scenario::clone(base);
    scenario.stop.max_rounds = rounds;
    scenario.stop.target_accuracy = 1.0;
    scenario
}

/// What an episode may cost, and what as many devices as agents may take make of it.
struct Budget {
    store: Arc<DataStore>,
    seed: u64,
    cost: f64,
    accuracy: f64,
}

impl Budget {
    fn measure(
        scenario: &ValidScenario,
        plan: &Plan,
        seed: u64,
        store: &Arc<DataStore>,
    ) -> Result<Self, Error> {
        let mut budget = Self {
            store: store.clone(),
            seed,
            cost: f64::INFINITY,
            accuracy: 0.0,
        };
        let walk = budget.walk(&short(scenario, plan.rounds).check()?, |_| Ok(0.0))?;
        if let Some(&(cost, accuracy)) = walk.last() {
            (budget.cost, budget.accuracy) = (cost, accuracy);
        }
        Ok(budget)
    }

    /// The policy's accuracy at the budget, between the two rounds around it.
    fn judge(&self, scenario: &ValidScenario, plan: &Plan, policy: &mut Td3) -> Result<f64, Error> {
        let scenario = short(scenario, MOST_ROUNDS * plan.rounds).check()?;
        let walk = self.walk(&scenario, |state| Ok(policy.act(state)?[0]))?;
        let mut before = (0.0, 0.0);
        for &after in &walk {
            if after.0 >= self.cost {
                let share = (self.cost - before.0) / (after.0 - before.0);
                return Ok(before.1 + share * (after.1 - before.1));
            }
            before = after;
        }
        Ok(before.1)
    }

    /// Cost so far and accuracy after each round, until the budget is spent.
    fn walk(
        &self,
        scenario: &ValidScenario,
        mut act: impl FnMut(&[f32]) -> Result<f32, Error>,
    ) -> Result<Vec<(f64, f64)>, Error> {
        let (energy, time) = (scenario.weights.energy, scenario.weights.time);
        let mut environment = Environment::new(scenario, 1).with_store(self.store.clone());
        let mut states = environment.reset(self.seed)?;
        let mut walk = Vec::new();
        while !states.is_empty() {
            let mut actions = vec![0.0; states.len()];
            for (action, state) in actions.iter_mut().zip(&states) {
                if let Some(state) = state {
                    *action = act(state)?;
                }
            }
            let step = environment.step(&actions)?;
            let spent =
                step.record.cumulative_energy_j.ln() * energy + step.record.clock_s.ln() * time;
            let cost = (spent / (energy + time)).exp();
            walk.push((cost, step.record.validation_accuracy));
            if cost >= self.cost {
                break;
            }
            states = step.states;
        }
        Ok(walk)
    }
}
