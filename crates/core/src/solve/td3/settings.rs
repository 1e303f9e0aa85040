//! Every number of TD3 with its range, and what can be wrong with what an agent is given.

use std::fmt::Display;
use std::ops::RangeInclusive;

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::seed::Random;

/// Every number of an agent. The defaults are those of the authors' own program, but for smaller networks and a smaller
/// buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Units of each hidden layer, of the actor and of the critics.
    pub hidden: Vec<usize>,
    /// The least action, of every component.
    pub action_low: f64,
    /// The largest action, of every component.
    pub action_high: f64,
    /// gamma: what a reward is worth one step later.
    pub discount: f64,
    /// tau: how far the targets move towards the networks they follow.
    pub target_rate: f64,
    /// Adam's step for the actor.
    pub actor_learning_rate: f64,
    /// Adam's step for the critics.
    pub critic_learning_rate: f64,
    /// Transitions drawn for an update, with repetition.
    pub batch_size: usize,
    /// d: the actor and the targets move every so many updates.
    pub policy_delay: u64,
    /// Standard deviation of the noise on actions to learn from, in halves of the action's range.
    pub exploration_noise: f64,
    /// Standard deviation of the noise on the target actor's actions, in halves of the action's range.
    pub target_noise: f64,
    /// c: no noise is larger, in halves of the action's range.
    pub noise_clip: f64,
    /// Transitions remembered.
    pub replay_capacity: usize,
    /// Transitions remembered before the first update.
    pub learning_starts: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hidden: vec![64, 64],
            action_low: 0.0,
            action_high: 1.0,
            discount: 0.99,
            target_rate: 0.005,
            actor_learning_rate: 3e-4,
            critic_learning_rate: 3e-4,
            batch_size: 256,
            policy_delay: 2,
            exploration_noise: 0.1,
            target_noise: 0.2,
            noise_clip: 0.5,
            replay_capacity: 100_000,
            learning_starts: 256,
        }
    }
}

impl Settings {
    /// Checks every field.
    ///
    /// # Errors
    /// The first field that is out of range, with its value and the range.
    pub fn check(&self) -> Result<(), Td3Error> {
        within("hidden layers", self.hidden.len(), 1..=8)?;
        for &units in &self.hidden {
            within("hidden", units, 1..=4096)?;
        }
        within("action_low", self.action_low, -1e6..=1e6)?;
        within("action_high", self.action_high, -1e6..=1e6)?;
        if self.action_high <= self.action_low {
            let allowed = format!("above action_low, which is {}", self.action_low);
            return Err(Td3Error::setting("action_high", self.action_high, allowed));
        }
        within("discount", self.discount, 0.0..=1.0)?;
        above_zero("target_rate", self.target_rate, 1.0)?;
        above_zero("actor_learning_rate", self.actor_learning_rate, 1.0)?;
        above_zero("critic_learning_rate", self.critic_learning_rate, 1.0)?;
        within("batch_size", self.batch_size, 1..=65_536)?;
        within("policy_delay", self.policy_delay, 1..=1_000_000)?;
        within("exploration_noise", self.exploration_noise, 0.0..=10.0)?;
        within("target_noise", self.target_noise, 0.0..=10.0)?;
        within("noise_clip", self.noise_clip, 0.0..=10.0)?;
        within("replay_capacity", self.replay_capacity, 1..=100_000_000)?;
        within(
            "learning_starts",
            self.learning_starts,
            1..=self.replay_capacity,
        )
    }

    /// Width of the range of actions.
    pub(super) fn span(&self) -> f32 {
        (self.action_high - self.action_low) as f32
    }

    /// The action for the actor's output, which is from 0 to 1.
    pub(super) fn action(&self, unit: f32) -> f32 {
        self.bounded(self.action_low as f32 + self.span() * unit)
    }

    /// Actions with clipped normal noise on them, within their range. `deviation` is in halves of it.
    pub(super) fn noisy(&self, actions: &[f32], deviation: f64, rng: &mut Random) -> Vec<f32> {
        let noisy = |action: &f32| {
            let noise = (deviation * normal(rng)).clamp(-self.noise_clip, self.noise_clip);
            self.bounded(*action + noise as f32 * 0.5 * self.span())
        };
        actions.iter().map(noisy).collect()
    }

    fn bounded(&self, action: f32) -> f32 {
        action.clamp(self.action_low as f32, self.action_high as f32)
    }
}

/// A standard normal variate (Box and Muller), by `libm`: the same on every platform.
fn normal(rng: &mut Random) -> f64 {
    // Above 0, so that the logarithm is finite.
    let [first, second] =
        [(); 2].map(|()| ((rng.next_u64() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64);
    (-2.0 * libm::log(first)).sqrt() * libm::cos(std::f64::consts::TAU * second)
}

/// Refuses a value outside the range; NaN is in none.
pub(super) fn within<T: PartialOrd + Display>(
    field: &'static str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<(), Td3Error> {
    if range.contains(&value) {
        return Ok(());
    }
    let allowed = format!("{} to {}", range.start(), range.end());
    Err(Td3Error::setting(field, value, allowed))
}

fn above_zero(field: &'static str, value: f64, most: f64) -> Result<(), Td3Error> {
    if value > 0.0 && value <= most {
        return Ok(());
    }
    Err(Td3Error::setting(
        field,
        value,
        format!("above 0, {most} at most"),
    ))
}

/// Why an agent cannot be made, restored or asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Td3Error {
    /// A setting is out of range.
    #[error("`{field}` is {value}, allowed: {allowed}")]
    Setting {
        /// Its name in [`Settings`].
        field: &'static str,
        /// The value found.
        value: String,
        /// What would be accepted.
        allowed: String,
    },
    /// A vector has the wrong length.
    #[error("`{what}` has {actual} values, {expected} are needed")]
    Length {
        /// Which vector.
        what: &'static str,
        /// Values needed.
        expected: usize,
        /// Values given.
        actual: usize,
    },
    /// An infinite value or one that is no number.
    #[error("`{what}` holds {value}: every value must be finite")]
    NotFinite {
        /// Which vector.
        what: &'static str,
        /// The value.
        value: f32,
    },
    /// A restored replay buffer contradicts itself or the settings.
    #[error("the replay buffer of the saved agent is damaged or of other settings")]
    Replay,
    /// A policy file cannot be read as this agent's.
    #[error("policy file: {0}")]
    PolicyFile(String),
    /// The networks cannot be built or run.
    #[error(transparent)]
    Network(#[from] aerofed_nn::Error),
}

impl Td3Error {
    pub(super) fn setting(
        field: &'static str,
        value: impl Display,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Setting {
            field,
            value: value.to_string(),
            allowed: allowed.into(),
        }
    }
}
