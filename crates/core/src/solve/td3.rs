//! TD3, the twin delayed deep deterministic policy gradient: an agent that learns continuous actions from its own steps.
//!
//! An actor mu(s) proposes the action, two critics Q1 and Q2 judge it, and each of the three has a target, a copy that
//! follows slowly. One [`Td3::update`] draws a batch of transitions (s, a, r, s') and
//!
//! 1. sets the value wanted, r + gamma min_j Q'_j(s', a'), with the target actor's action plus clipped noise as a':
//!    the smaller critic keeps overestimates from feeding on themselves, the noise makes like actions alike in value;
//! 2. moves both critics one step of Adam towards it, in mean square;
//! 3. every `policy_delay` updates, moves the actor one step up Q1(s, mu(s)), and all targets by tau towards
//!    the networks they follow.
//!
//! Reference: S. Fujimoto, H. van Hoof and D. Meger, *Addressing function approximation error in actor-critic methods*,
//! ICML 2018. It is steps (I)-(V) and (VII) of the paper's P2 and Algorithm 3. Departs from the paper: its target has gamma^(g-1),
//! here it is gamma; its gradients' plain steps are Adam's. See `docs/td3.md`.
//!
//! # Example
//! A bandit that pays most for 0.3:
//! ```
//! use aerofed::seed::{Stream, stream};
//! use aerofed::solve::replay::Transition;
//! use aerofed::solve::td3::{Settings, Td3};
//!
//! # fn main() -> Result<(), aerofed::solve::td3::Td3Error> {
//! let mut rng = stream(1, Stream::Association, 0, 0);
//! let settings = Settings {
//!     hidden: vec![16],
//!     batch_size: 32,
//!     actor_learning_rate: 0.003,
//!     critic_learning_rate: 0.01,
//!     ..Settings::default()
//! };
//! let mut agent = Td3::new(settings, 1, 1, &mut rng)?;
//! for _ in 0..1500 {
//!     let action = agent.random_action(&mut rng);
//!     let reward = -(action[0] - 0.3).abs();
//!     let state = vec![1.0];
//!     agent.remember(&Transition { next_state: state.clone(), state, action, reward, done: true })?;
//!     agent.update(&mut rng)?;
//! }
//! assert!((agent.act(&[1.0])?[0] - 0.3).abs() < 0.1);
//! # Ok(())
//! # }
//! ```

mod policy_file;
mod settings;
#[cfg(test)]
mod tests;

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use aerofed_nn::{Activation, Adam, Mlp};
use rand::RngExt;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::replay::{Batch, Replay, Transition, check_values};
use crate::seed::Random;
use settings::within;
pub use settings::{Settings, Td3Error};

/// One network that learns: its weights, the copy that follows them, and the memory of its optimiser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Learner {
    weights: Vec<f32>,
    target: Vec<f32>,
    adam: Adam,
}

impl Learner {
    fn new(weights: Vec<f32>) -> Self {
        Self {
            target: weights.clone(),
            adam: Adam::new(weights.len()),
            weights,
        }
    }

    fn follow(&mut self, rate: f32) {
        for (target, weight) in self.target.iter_mut().zip(&self.weights) {
            *target += rate * (*weight - *target);
        }
    }
}

/// A learner that several agents have in common until one of them learns. In files it is the learner itself.
#[derive(Clone, Debug, PartialEq)]
struct Shared(Arc<Learner>);

impl Deref for Shared {
    type Target = Learner;

    fn deref(&self) -> &Learner {
        &self.0
    }
}

impl DerefMut for Shared {
    fn deref_mut(&mut self) -> &mut Learner {
        Arc::make_mut(&mut self.0)
    }
}

impl Serialize for Shared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Learner::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Shared {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Learner::deserialize(deserializer).map(Self::from)
    }
}

impl From<Learner> for Shared {
    fn from(learner: Learner) -> Self {
        Self(Arc::new(learner))
    }
}

/// Everything an agent carries from one step to the next: weights, optimisers, replay buffer, counters.
///
/// Serialised and restored with [`Td3::restore`], an agent goes on bit for bit as if nothing had happened. The random
/// stream is the caller's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Td3State {
    settings: Settings,
    state_dim: usize,
    action_dim: usize,
    actor: Shared,
    critics: [Shared; 2],
    replay: Replay,
    updates: u64,
}

impl Td3State {
    /// Lengths of a state and of an action.
    #[must_use]
    pub fn dims(&self) -> (usize, usize) {
        (self.state_dim, self.action_dim)
    }
}

/// What an update found. A loss that is not finite moves no weight: it tells of rewards too large to learn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Losses {
    /// Mean square of what the critics missed, the sum of both.
    pub critic: f32,
    /// Mean of -Q1(s, mu(s)), where the actor moved.
    pub actor: Option<f32>,
}

/// The agent.
#[derive(Debug)]
pub struct Td3 {
    state: Td3State,
    /// The shape and scratch of the actor's two networks, and of the critics' four.
    actor: Mlp,
    critic: Mlp,
    batch: Batch,
    /// Rows of a state and an action, as the critics read them.
    pairs: Vec<f32>,
    /// The values that the critics should give.
    wanted: Vec<f32>,
    /// The loss's slope by a network's outputs.
    slopes: Vec<f32>,
    actor_gradient: Vec<f32>,
    critic_gradient: Vec<f32>,
}

impl Td3 {
    /// A new agent with random networks.
    ///
    /// # Errors
    /// A setting out of range, see [`Settings::check`], or `state_dim` or `action_dim` outside 1 to 10 000.
    pub fn new(
        settings: Settings,
        state_dim: usize,
        action_dim: usize,
        rng: &mut Random,
    ) -> Result<Self, Td3Error> {
        let (actor, critic) = shapes(&settings, state_dim, action_dim)?;
        let replay = Replay::new(state_dim, action_dim, settings.replay_capacity);
        let state = Td3State {
            settings,
            state_dim,
            action_dim,
            actor: Learner::new(actor.init(rng)).into(),
            critics: [(); 2].map(|()| Learner::new(critic.init(rng)).into()),
            replay,
            updates: 0,
        };
        Self::restore(state)
    }

    /// The agent that [`Td3::state`] was taken of.
    ///
    /// # Errors
    /// When the parts do not fit each other, as a damaged file's may not.
    pub fn restore(state: Td3State) -> Result<Self, Td3Error> {
        let (actor, critic) = shapes(&state.settings, state.state_dim, state.action_dim)?;
        let learners = [
            (&state.actor, &actor),
            (&state.critics[0], &critic),
            (&state.critics[1], &critic),
        ];
        for (learner, shape) in learners {
            let parameters = shape.parameter_count();
            check_values("weights", &learner.weights, parameters)?;
            check_values("target weights", &learner.target, parameters)?;
            learner.adam.check(parameters)?;
        }
        let capacity = state.settings.replay_capacity;
        if !state
            .replay
            .is_sound(state.state_dim, state.action_dim, capacity)
        {
            return Err(Td3Error::Replay);
        }
        Ok(Self {
            state,
            batch: Batch::default(),
            pairs: Vec::new(),
            wanted: Vec::new(),
            slopes: Vec::new(),
            actor_gradient: Vec::new(),
            critic_gradient: Vec::new(),
            actor,
            critic,
        })
    }

    /// What to put into a checkpoint.
    #[must_use]
    pub fn state(&self) -> &Td3State {
        &self.state
    }

    /// The settings it was made with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.state.settings
    }

    /// The transitions it remembers.
    #[must_use]
    pub fn replay(&self) -> &Replay {
        &self.state.replay
    }

    /// Updates so far.
    #[must_use]
    pub fn updates(&self) -> u64 {
        self.state.updates
    }

    /// The policy's action, without noise.
    ///
    /// # Errors
    /// When `state` has another length than the agent's or a value that is not finite.
    pub fn act(&mut self, state: &[f32]) -> Result<Vec<f32>, Td3Error> {
        check_values("state", state, self.state.state_dim)?;
        let units = self.actor.forward(&self.state.actor.weights, state)?;
        Ok(units
            .iter()
            .map(|unit| self.state.settings.action(*unit))
            .collect())
    }

    /// The policy's action with noise, to learn from.
    ///
    /// # Errors
    /// As [`Td3::act`].
    pub fn explore(&mut self, state: &[f32], rng: &mut Random) -> Result<Vec<f32>, Td3Error> {
        let policy = self.act(state)?;
        let settings = &self.state.settings;
        Ok(settings.noisy(&policy, settings.exploration_noise, rng))
    }

    /// The most promising of `candidates` actions with noise, by the smaller of the critics.
    ///
    /// # Errors
    /// As [`Td3::act`], and without candidates.
    pub fn best_of(
        &mut self,
        state: &[f32],
        candidates: usize,
        rng: &mut Random,
    ) -> Result<Vec<f32>, Td3Error> {
        within("candidates", candidates, 1..=100_000)?;
        let policy = self.act(state)?.repeat(candidates);
        let (dims, settings) = (self.dims(), &self.state.settings);
        let actions = settings.noisy(&policy, settings.exploration_noise, rng);
        join(&state.repeat(candidates), &actions, dims, &mut self.pairs);
        let [first, second] = &self.state.critics;
        let weights = [first.weights.as_slice(), &second.weights];
        smaller_values(&mut self.critic, weights, &self.pairs, &mut self.wanted)?;
        let mut best = 0;
        for (at, value) in self.wanted.iter().enumerate() {
            if *value > self.wanted[best] {
                best = at;
            }
        }
        Ok(actions[best * dims[1]..][..dims[1]].to_vec())
    }

    /// An action drawn evenly from all, to begin with.
    pub fn random_action(&self, rng: &mut Random) -> Vec<f32> {
        let draw = |_| self.state.settings.action(rng.random());
        (0..self.state.action_dim).map(draw).collect()
    }

    /// What both critics make of an action.
    ///
    /// # Errors
    /// When `state` or `action` has the wrong length or a value that is not finite.
    pub fn values(&mut self, state: &[f32], action: &[f32]) -> Result<[f32; 2], Td3Error> {
        check_values("state", state, self.state.state_dim)?;
        check_values("action", action, self.state.action_dim)?;
        let pair = [state, action].concat();
        let mut values = [0.0; 2];
        for (value, critic) in values.iter_mut().zip(&self.state.critics) {
            *value = self.critic.forward(&critic.weights, &pair)?[0];
        }
        Ok(values)
    }

    /// Puts a step into the replay buffer.
    ///
    /// # Errors
    /// As [`Replay::push`].
    pub fn remember(&mut self, transition: &Transition) -> Result<(), Td3Error> {
        self.state.replay.push(transition)
    }

    /// Learns from one batch of what it remembers; `None` while that is fewer than `learning_starts` transitions.
    ///
    /// # Errors
    /// None that a checked agent could give.
    pub fn update(&mut self, rng: &mut Random) -> Result<Option<Losses>, Td3Error> {
        let Settings {
            learning_starts,
            batch_size,
            policy_delay,
            ..
        } = self.state.settings;
        if self.state.replay.len() < learning_starts {
            return Ok(None);
        }
        self.state.replay.sample(batch_size, rng, &mut self.batch);
        self.find_wanted_values(rng)?;
        let critic = self.improve_critics()?;
        self.state.updates += 1;
        let mut actor = None;
        if self.state.updates.is_multiple_of(policy_delay) {
            actor = Some(self.improve_actor()?);
            let rate = self.state.settings.target_rate as f32;
            self.state.actor.follow(rate);
            self.state
                .critics
                .iter_mut()
                .for_each(|critic| critic.follow(rate));
        }
        Ok(Some(Losses { critic, actor }))
    }

    /// Lengths of a state and of an action.
    fn dims(&self) -> [usize; 2] {
        [self.state.state_dim, self.state.action_dim]
    }

    /// Step 1: r + gamma min_j Q'_j(s', mu'(s') + clipped noise), without the second term where the step is done.
    fn find_wanted_values(&mut self, rng: &mut Random) -> Result<(), Td3Error> {
        let dims = self.dims();
        let Td3State {
            settings,
            actor,
            critics,
            ..
        } = &self.state;
        let units = self.actor.forward(&actor.target, &self.batch.next_states)?;
        let policy: Vec<f32> = units.iter().map(|unit| settings.action(*unit)).collect();
        let actions = settings.noisy(&policy, settings.target_noise, rng);
        join(&self.batch.next_states, &actions, dims, &mut self.pairs);
        let targets = [critics[0].target.as_slice(), &critics[1].target];
        smaller_values(&mut self.critic, targets, &self.pairs, &mut self.wanted)?;
        let discount = settings.discount as f32;
        let steps = self.batch.rewards.iter().zip(&self.batch.continues);
        for (wanted, (reward, continues)) in self.wanted.iter_mut().zip(steps) {
            *wanted = reward + discount * continues * *wanted;
        }
        Ok(())
    }

    /// Step 2: both critics towards the values wanted. Returns the sum of their mean squares.
    fn improve_critics(&mut self) -> Result<f32, Td3Error> {
        self.critic_gradient
            .resize(self.critic.parameter_count(), 0.0);
        let dims = self.dims();
        join(
            &self.batch.states,
            &self.batch.actions,
            dims,
            &mut self.pairs,
        );
        let rate = self.state.settings.critic_learning_rate as f32;
        let count = self.wanted.len() as f32;
        let mut loss = 0.0;
        for critic in &mut self.state.critics {
            let critic = &mut **critic;
            let values = self.critic.forward(&critic.weights, &self.pairs)?;
            self.slopes.clear();
            for (value, wanted) in values.iter().zip(&self.wanted) {
                let miss = value - wanted;
                loss += miss * miss / count;
                self.slopes.push(2.0 * miss / count);
            }
            if loss.is_finite() {
                self.critic
                    .backward(&self.slopes, &mut self.critic_gradient)?;
                critic
                    .adam
                    .step(rate, &mut critic.weights, &self.critic_gradient)?;
            }
        }
        Ok(loss)
    }

    /// Step 3: the actor up the first critic. Returns the mean of -Q1(s, mu(s)).
    fn improve_actor(&mut self) -> Result<f32, Td3Error> {
        self.critic_gradient
            .resize(self.critic.parameter_count(), 0.0);
        self.actor_gradient
            .resize(self.actor.parameter_count(), 0.0);
        let dims = self.dims();
        let Td3State {
            settings,
            actor,
            critics,
            ..
        } = &mut self.state;
        let units = self.actor.forward(&actor.weights, &self.batch.states)?;
        let actions: Vec<f32> = units.iter().map(|unit| settings.action(*unit)).collect();
        join(&self.batch.states, &actions, dims, &mut self.pairs);
        let values = self.critic.forward(&critics[0].weights, &self.pairs)?;
        let count = values.len() as f32;
        let loss = -values.iter().sum::<f32>() / count;
        if !loss.is_finite() {
            return Ok(loss);
        }
        self.slopes.clear();
        self.slopes.resize(values.len(), -1.0 / count);
        // The way back from the value to the actions; the critic itself stays.
        let by_pair = self
            .critic
            .backward(&self.slopes, &mut self.critic_gradient)?;
        let span = settings.span();
        self.slopes.clear();
        for pair in by_pair.chunks_exact(dims[0] + dims[1]) {
            self.slopes
                .extend(pair[dims[0]..].iter().map(|slope| slope * span));
        }
        self.actor
            .backward(&self.slopes, &mut self.actor_gradient)?;
        let rate = settings.actor_learning_rate as f32;
        let actor = &mut **actor;
        actor
            .adam
            .step(rate, &mut actor.weights, &self.actor_gradient)?;
        Ok(loss)
    }
}

/// The actor's shape and the critics'.
fn shapes(
    settings: &Settings,
    state_dim: usize,
    action_dim: usize,
) -> Result<(Mlp, Mlp), Td3Error> {
    settings.check()?;
    within("state_dim", state_dim, 1..=10_000)?;
    within("action_dim", action_dim, 1..=10_000)?;
    let sizes = |first, last| [&[first], settings.hidden.as_slice(), &[last]].concat();
    let actor = Mlp::new(&sizes(state_dim, action_dim), Activation::Sigmoid)?;
    let critic = Mlp::new(&sizes(state_dim + action_dim, 1), Activation::Linear)?;
    Ok((actor, critic))
}

/// Rows of a state and its action.
fn join(
    states: &[f32],
    actions: &[f32],
    [state_dim, action_dim]: [usize; 2],
    pairs: &mut Vec<f32>,
) {
    pairs.clear();
    for (state, action) in states
        .chunks_exact(state_dim)
        .zip(actions.chunks_exact(action_dim))
    {
        pairs.extend_from_slice(state);
        pairs.extend_from_slice(action);
    }
}

/// For each pair, the smaller value of two critics.
fn smaller_values(
    critic: &mut Mlp,
    weights: [&[f32]; 2],
    pairs: &[f32],
    smaller: &mut Vec<f32>,
) -> Result<(), Td3Error> {
    smaller.clear();
    smaller.extend_from_slice(critic.forward(weights[0], pairs)?);
    for (smaller, value) in smaller.iter_mut().zip(critic.forward(weights[1], pairs)?) {
        if value < smaller {
            *smaller = *value;
        }
    }
    Ok(())
}
