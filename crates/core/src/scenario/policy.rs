//! Where a threshold agent's networks come from: what `td3.agent` names.

use std::path::Path;
use std::sync::Arc;

use super::{AgentState, Td3 as Config};
use crate::seed::{Random, Stream, stream};
use crate::solve::td3::{Settings, Td3, Td3Error};

/// Made by `aerofed pretrain`, see `docs/td3.md`.
const EXTENDED: &[u8] = include_bytes!("extended.safetensors");
const PAPER: &[u8] = include_bytes!("paper.safetensors");

/// The networks that agents start from.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Policy {
    /// The one that comes with the program.
    #[default]
    Pretrained,
    /// Random networks.
    Fresh,
    /// A file of `aerofed pretrain`.
    File(Arc<[u8]>),
}

/// Why a policy cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(#[from] std::io::Error),
    /// It is no policy, or one for other states.
    #[error("{0}")]
    Unfit(#[from] Td3Error),
}

impl Policy {
    /// The policy that `td3.agent` names.
    ///
    /// # Errors
    /// When it names a file that cannot be read, or is no policy for such states.
    pub fn of(config: &Config) -> Result<Self, PolicyError> {
        match config.agent.as_str() {
            "pretrained" => Ok(Self::Pretrained),
            "fresh" => Ok(Self::Fresh),
            path => {
                let policy = Self::File(std::fs::read(Path::new(path))?.into());
                policy.agent(config, &mut stream(0, Stream::Agent, 0, 0))?;
                Ok(policy)
            }
        }
    }

    /// Whether agents start from nothing.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        *self == Self::Fresh
    }

    /// A new agent with this policy.
    ///
    /// # Errors
    /// When the settings are out of range, or the file is no policy for such states.
    pub fn agent(&self, config: &Config, rng: &mut Random) -> Result<Td3, Td3Error> {
        let settings = Self::settings(config);
        let state_len = config.state.length();
        let bytes = match self {
            Self::Fresh => return Td3::new(settings, state_len, 1, rng),
            Self::Pretrained if config.state == AgentState::Extended => EXTENDED,
            Self::Pretrained => PAPER,
            Self::File(bytes) => bytes,
        };
        Td3::from_safetensors(settings, state_len, 1, bytes)
    }

    /// TD3 as a scenario sets it.
    pub(crate) fn settings(config: &Config) -> Settings {
        Settings {
            discount: config.discount,
            actor_learning_rate: config.learning_rate,
            critic_learning_rate: config.learning_rate,
            exploration_noise: config.exploration_noise,
            batch_size: 64,
            replay_capacity: 20_000,
            learning_starts: config.warm_up.max(1),
            ..Settings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn a_policy_for_each_kind_of_state_comes_with_the_program() {
        let fresh_state = stream(1, Stream::Agent, 0, 0);
        for state in [AgentState::Extended, AgentState::Paper] {
            let config = Config {
                state,
                ..Scenario::default().td3
            };
            let mut agent = Policy::Pretrained
                .agent(&config, &mut fresh_state.clone())
                .unwrap();
            let seen = vec![0.5; state.length()];
            let action = agent.act(&seen).unwrap()[0];
            assert!((0.0..=1.0).contains(&action), "{action}");
            let mut fresh = Policy::Fresh
                .agent(&config, &mut fresh_state.clone())
                .unwrap();
            assert_ne!(fresh.act(&seen).unwrap()[0], action);
        }
    }
}
