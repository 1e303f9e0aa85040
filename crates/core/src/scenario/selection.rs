//! Who trains: fitness, thresholds and the agents that learn them (P2).

use serde::{Deserialize, Serialize};

/// How many of the covered devices train.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Selection {
    /// Share of the covered devices taken by `random`, `distance`, `difference` and `oort`; of a UAV's quota by `quota`.
    pub share: f64,
    /// β of `fixed_threshold`.
    pub threshold: f64,
    /// `quota`: what the noise of merged updates counts when the number of devices is chosen; 0: it is `share` in every round.
    pub noise_weight: f64,
    /// `quota`: devices are asked about their data in every so many rounds, from the second on, and what they said counts in between; 1: in all of them.
    pub ask_every_rounds: usize,
    /// `quota` and `td3`: the exponent with which quotas of devices follow the times that cells took; 0: all in proportion to the devices covered.
    pub pace: f64,
}

/// The fitness of a device with a UAV, and how the UAV finds it out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fitness {
    /// Weight of model difference (λ_1).
    pub difference: f64,
    /// Weight of nearness (λ_2).
    pub distance: f64,
    /// Weight of computing power (λ_3).
    pub compute: f64,
    /// What S^Sim counts.
    pub diversity: Diversity,
    /// Samples of a device on which models are compared (|D^Small|).
    pub small_batch: usize,
    /// Passes over a UAV's own samples when it trains its personal model at the start.
    pub personal_epochs: usize,
    /// Passes when it trains it anew from the global model, in the round before devices are asked again; 0: it never does.
    pub refresh_epochs: usize,
    /// Processor clock of UAVs.
    pub uav_cpu_hz: f64,
    /// Work of UAVs per bit of training data.
    pub uav_cycles_per_bit: f64,
}

impl Fitness {
    /// The same where the model difference alone counts.
    #[must_use]
    pub fn difference_alone(self) -> Self {
        self.weighing(1.0, 0.0)
    }

    /// The same where nearness alone counts.
    #[must_use]
    pub fn distance_alone(self) -> Self {
        self.weighing(0.0, 1.0)
    }

    /// Whether devices have to be asked about their data.
    #[must_use]
    pub fn counts_data(&self) -> bool {
        self.difference > 0.0
    }

    fn weighing(self, difference: f64, distance: f64) -> Self {
        Self {
            difference,
            distance,
            compute: 1.0 - difference - distance,
            ..self
        }
    }
}

/// What S^Sim, a device's score for its data, counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Diversity {
    /// The model difference (6) alone.
    Paper,
    /// The model difference, times the rounds since the device trained, times what its classes add to those of
    /// the devices that the UAV prefers to it.
    Marginal,
}

/// The agents that learn thresholds, one per UAV.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Td3 {
    /// What they start from: `pretrained`, `fresh`, or a file of `aerofed pretrain`.
    pub agent: String,
    /// Whether they learn during the run.
    pub online: bool,
    /// What they see.
    pub state: AgentState,
    /// What they are paid for.
    pub reward: AgentReward,
    /// Weight of a loss drop in the reward (λ_6).
    pub loss_weight: f64,
    /// Weight of an accuracy gain in the reward (λ_7).
    pub accuracy_weight: f64,
    /// What a reward is worth one round later (γ).
    pub discount: f64,
    /// Step size of actors and critics.
    pub learning_rate: f64,
    /// Standard deviation of the noise on actions, in halves of their range (σ̃).
    pub exploration_noise: f64,
    /// With the extended state: no agent takes devices of less fitness, its best one excepted.
    pub least_threshold: f64,
    /// With the extended state: the least share of its quota of devices that an agent may take.
    pub least_share: f64,
    /// The same at most.
    pub most_share: f64,
    /// Noisy actions of which the critics choose one.
    pub candidates: usize,
    /// Updates before each round (t^Step).
    pub updates_per_round: usize,
    /// Rounds before an agent learns; a fresh one acts at random until then.
    pub warm_up: usize,
    /// First weight of the squared deadline overrun (α̃).
    pub penalty: f64,
    /// What each update of the policy adds to it (Δα̃).
    pub penalty_step: f64,
}

/// What a threshold agent sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// Loss and accuracy of the UAV's last edge model.
    Paper,
    /// The global model, the spread of fitness, coverage, load and battery.
    Extended,
}

impl AgentState {
    /// Quantiles of fitness in the extended state.
    pub(crate) const QUANTILES: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];

    /// How many numbers it is.
    #[must_use]
    pub fn length(self) -> usize {
        match self {
            Self::Paper => 2,
            Self::Extended => 5 + Self::QUANTILES.len(),
        }
    }
}

/// What a threshold agent is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentReward {
    /// What the edge model gained, Eq. (45).
    Paper,
    /// Progress of the global model per cost of the round.
    CostAware,
}
