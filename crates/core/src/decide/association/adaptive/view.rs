//! What an agent sees of a round, how its action is read, and what it gets for it.
//!
//! `state = "paper"`: loss and accuracy of the UAV's last edge model; the action is β itself; with
//! `reward = "paper"` the reward is what the edge model gained, Eq. (45).
//!
//! `state = "extended"`: how the global model does, how fitness is spread over the covered devices, how
//! many they are, how loaded the cell is beside the others, the battery, and the round. The action is a
//! quantile: β is the fitness that this share of the covered devices does not reach. Scores are
//! relative to the best of a cell and drift with training; quantiles stay.
//!
//! `reward = "cost_aware"`: x / x̄ - λ_4 E / Ē - λ_5 T / T̄ (λ_4 + λ_5 scaled to 1), where x is what the *global* model gained, E the
//! energy and T the time of the whole round, and x̄, Ē, T̄ are running means. Where its mean slope is zero, gain per
//! (energy^λ_4 time^λ_5) is largest: the agents climb progress per cost, not progress. The gain is λ_6 times the loss drop, relative to
//! the loss, plus λ_7 times the accuracy gain; because it fades like 1 / round, round x gain is averaged.

use serde::{Deserialize, Serialize};

use super::super::{CellOutcome, Quality, RoundOutcome, Scene};
use crate::scenario::{self, AgentReward, AgentState, ValidScenario};

/// Quantiles of fitness in the extended state.
const QUANTILES: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];
/// How fast running means follow.
const FOLLOW: f64 = 0.2;
/// The mean gain counts at least as this share of the mean size of gains: late in training, gains are mostly noise.
const LEAST_GAIN: f64 = 0.25;
/// No reward is larger.
const REWARD_LIMIT: f64 = 4.0;

/// States, thresholds and rewards of all UAVs, with what must be remembered for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentView {
    state: AgentState,
    reward: AgentReward,
    loss_weight: f64,
    accuracy_weight: f64,
    /// λ_4 and λ_5, scaled to a sum of 1.
    energy_weight: f64,
    time_weight: f64,
    battery_j: f64,
    /// Each UAV's last edge model.
    edge_models: Vec<Option<Quality>>,
    /// Share of a round's time that does not depend on how many train.
    overhead: f64,
    /// Of round x gain, and of its size.
    gain: RunningMean,
    gain_size: RunningMean,
    energy_j: RunningMean,
    time_s: RunningMean,
}

/// An exponentially forgetting mean that starts at its first value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct RunningMean(Option<f64>);

impl RunningMean {
    /// Takes in a value and gives the mean with it.
    fn with(&mut self, value: f64) -> f64 {
        let before = self.0.unwrap_or(value);
        let mean = before + FOLLOW * (value - before);
        self.0 = Some(mean);
        mean
    }
}

impl AgentView {
    /// The view that a scenario asks for.
    #[must_use]
    pub fn new(scenario: &ValidScenario) -> Self {
        let scenario::Td3 {
            state,
            reward,
            loss_weight,
            accuracy_weight,
            ..
        } = scenario.td3;
        let weights = &scenario.weights;
        let sum = weights.energy + weights.time;
        Self {
            state,
            reward,
            loss_weight,
            accuracy_weight,
            energy_weight: weights.energy / sum,
            time_weight: weights.time / sum,
            battery_j: scenario.uavs.battery_j,
            edge_models: vec![None; scenario.uavs.count],
            overhead: 0.0,
            gain: RunningMean::default(),
            gain_size: RunningMean::default(),
            energy_j: RunningMean::default(),
            time_s: RunningMean::default(),
        }
    }

    /// UAVs it looks at.
    pub(super) fn uavs(&self) -> usize {
        self.edge_models.len()
    }

    /// Numbers in a state.
    #[must_use]
    pub fn state_len(state: AgentState) -> usize {
        match state {
            AgentState::Paper => 2,
            AgentState::Extended => 7 + QUANTILES.len(),
        }
    }

    /// Each UAV's state; none for UAVs that cover nobody. `fitness` is in the order of coverage.
    #[must_use]
    pub fn states(&self, scene: &Scene, fitness: &[Vec<f64>]) -> Vec<Option<Vec<f32>>> {
        let loads: Vec<f64> = scene
            .world
            .uavs
            .iter()
            .zip(fitness)
            .map(|(uav, covered)| covered.len() as f64 / uav.bandwidth_up_hz)
            .collect();
        let busy = loads.iter().filter(|load| **load > 0.0).count().max(1);
        let mean_load = loads.iter().sum::<f64>() / busy as f64;
        let of_uav = |(index, covered): (usize, &Vec<f64>)| {
            if covered.is_empty() {
                return None;
            }
            let values = match self.state {
                AgentState::Paper => {
                    let model = self.edge_models[index].unwrap_or(scene.quality);
                    vec![model.loss, model.accuracy]
                }
                AgentState::Extended => {
                    let world = scene.world;
                    let share = world.devices.position.len() as f64 / world.uavs.len() as f64;
                    let mut values = vec![
                        scene.quality.loss,
                        scene.quality.accuracy,
                        covered.len() as f64 / share,
                        loads[index] / mean_load,
                        world.uavs[index].battery_j / self.battery_j,
                        (scene.round as f64).ln() / 4.0,
                        self.overhead,
                    ];
                    let sorted = ascending(covered);
                    values.extend(QUANTILES.map(|share| quantile(&sorted, share)));
                    values
                }
            };
            Some(values.into_iter().map(tame).collect())
        };
        fitness.iter().enumerate().map(of_uav).collect()
    }

    /// β of a UAV whose covered devices have `fitness`, for an action of 0 to 1.
    #[must_use]
    pub fn threshold(&self, fitness: &[f64], action: f32) -> f64 {
        match self.state {
            AgentState::Paper => f64::from(action),
            AgentState::Extended => quantile(&ascending(fitness), f64::from(action)),
        }
    }

    /// Each UAV's reward for a round, Eqs. (45) and (49); `penalties` are their factors α̃.
    pub fn rewards(&mut self, outcome: &RoundOutcome, penalties: &[f64]) -> Vec<f32> {
        let gains: Vec<f64> = outcome
            .cells
            .iter()
            .map(|cell| self.edge_gain(cell, outcome))
            .collect();
        let slowest_s = outcome
            .cells
            .iter()
            .map(|cell| cell.time_s)
            .fold(0.0, f64::max);
        self.overhead = 1.0 - slowest_s / outcome.time_s;
        let progress = self.progress(outcome);
        let reward = |(index, cell): (usize, &CellOutcome)| {
            let earned = match self.reward {
                AgentReward::Paper => gains[index],
                AgentReward::CostAware => progress,
            };
            let penalty = penalties[index] * cell.overrun.powi(2);
            tame((earned - penalty).clamp(-REWARD_LIMIT, REWARD_LIMIT))
        };
        outcome.cells.iter().enumerate().map(reward).collect()
    }

    /// Progress of a round less its cost, all relative to what is usual.
    fn progress(&mut self, outcome: &RoundOutcome) -> f64 {
        let drop = (outcome.before.loss / outcome.after.loss).ln();
        let rise = outcome.after.accuracy - outcome.before.accuracy;
        let gain = self.loss_weight * drop + self.accuracy_weight * rise;
        let gain = gain * outcome.round as f64;
        let least = LEAST_GAIN * self.gain_size.with(gain.abs());
        gain / self.gain.with(gain).max(least)
            - self.energy_weight * outcome.energy_j / self.energy_j.with(outcome.energy_j)
            - self.time_weight * outcome.time_s / self.time_s.with(outcome.time_s)
    }

    /// λ_6 times the loss drop plus λ_7 times the accuracy gain, Eqs. (42)-(45).
    fn gained(&self, before: Quality, after: Quality) -> f64 {
        self.loss_weight * (before.loss - after.loss)
            + self.accuracy_weight * (after.accuracy - before.accuracy)
    }

    /// What a UAV's edge model gained since its last one; a UAV that selected nobody keeps the model it had.
    fn edge_gain(&mut self, cell: &CellOutcome, outcome: &RoundOutcome) -> f64 {
        let last = &mut self.edge_models[cell.uav.index()];
        let before = last.unwrap_or(outcome.before);
        let after = cell.edge_model.unwrap_or(before);
        *last = Some(after);
        self.gained(before, after)
    }
}

fn ascending(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The value that `share` of the sorted values lie below: the first that at most keeps a share of
/// `1 - share`, and at least one.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (share * sorted.len() as f64).floor() as usize;
    sorted[place.min(sorted.len() - 1)]
}

/// Networks take no infinite numbers, and learn badly from huge ones.
fn tame(value: f64) -> f32 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(-10.0, 10.0) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use crate::world::UavId;

    fn view(settings: &[&str]) -> AgentView {
        AgentView::new(&Scenario::parse("", settings).unwrap().check().unwrap())
    }

    fn quality(loss: f64, accuracy: f64) -> Quality {
        Quality { loss, accuracy }
    }

    fn cell(uav: u32, edge_model: Option<Quality>, energy_j: f64, time_s: f64) -> CellOutcome {
        CellOutcome {
            uav: UavId(uav),
            selected: 3,
            edge_model,
            energy_j,
            time_s,
            overrun: 0.0,
        }
    }

    fn outcome(cells: &[CellOutcome]) -> RoundOutcome<'_> {
        RoundOutcome {
            round: 1,
            before: quality(2.0, 0.3),
            after: quality(1.6, 0.5),
            energy_j: 1_000.0,
            time_s: 4.0,
            cells,
            devices: &[],
        }
    }

    fn close(ours: &[f32], expected: &[f64]) {
        assert_eq!(ours.len(), expected.len());
        for (a, b) in ours.iter().zip(expected) {
            assert!((f64::from(*a) - b).abs() < 1e-6, "{ours:?} {expected:?}");
        }
    }

    /// Eq. (45) by hand, twice: the second time against the edge models of the first.
    #[test]
    fn the_papers_reward_is_what_the_edge_model_gained() {
        let mut view = view(&["td3.reward=paper"]);
        let first = [
            cell(0, Some(quality(1.5, 0.4)), 300.0, 3.0),
            cell(1, None, 0.0, 0.0),
        ];
        // 0.5 x (2.0 - 1.5) + 0.5 x (0.4 - 0.3) = 0.30; who selected nobody gained nothing.
        close(&view.rewards(&outcome(&first), &[1.0; 2]), &[0.30, 0.0]);
        let second = [
            cell(0, Some(quality(1.7, 0.5)), 300.0, 3.0),
            cell(1, Some(quality(1.0, 0.7)), 100.0, 1.0),
        ];
        // 0.5 x (1.5 - 1.7) + 0.5 x (0.5 - 0.4) = -0.05; 0.5 x (2.0 - 1.0) + 0.5 x (0.7 - 0.3) = 0.70.
        close(&view.rewards(&outcome(&second), &[1.0; 2]), &[-0.05, 0.70]);
    }

    /// By hand. In the first round the running means are the round itself: 1 - 0.5 - 0.5. In the second the gain is
    /// half as large by twice the round, energy is double and time half: means are 1.2 and 0.9 of the first.
    #[test]
    fn the_cost_aware_reward_is_progress_less_cost() {
        let mut view = view(&["td3.reward=cost_aware"]);
        let cells = [cell(0, None, 400.0, 3.0), cell(1, None, 200.0, 2.0)];
        let mut round = outcome(&cells);
        (round.before, round.after) = (quality(2.0, 0.3), quality(1.0, 0.3));
        close(&view.rewards(&round, &[1.0; 2]), &[0.0, 0.0]);
        round.round = 2;
        round.after = quality(2.0 / 2f64.sqrt(), 0.3);
        (round.energy_j, round.time_s) = (2_000.0, 2.0);
        let expected = 1.0 - 0.5 * 2.0 / 1.2 - 0.5 * 0.5 / 0.9;
        close(&view.rewards(&round, &[1.0; 2]), &[expected; 2]);
    }

    #[test]
    fn missed_deadlines_are_punished_by_their_square() {
        let mut view = view(&["td3.reward=paper"]);
        let late = CellOutcome {
            overrun: 0.5,
            ..cell(0, None, 0.0, 0.0)
        };
        close(&view.rewards(&outcome(&[late]), &[4.0]), &[-1.0]);
    }

    #[test]
    fn thresholds_are_literal_or_quantiles() {
        let fitness = [0.9, 0.1, 0.5, 0.3];
        let literal = view(&["td3.state=paper"]);
        assert!((literal.threshold(&fitness, 0.4) - 0.4).abs() < 1e-6);
        let quantiles = view(&["td3.state=extended"]);
        let kept = |action: f32| {
            let threshold = quantiles.threshold(&fitness, action);
            fitness.iter().filter(|alpha| **alpha >= threshold).count()
        };
        assert_eq!(
            [0.0, 0.24, 0.26, 0.5, 0.76, 1.0].map(kept),
            [4, 4, 3, 2, 1, 1]
        );
    }

    #[test]
    fn what_is_not_finite_does_not_reach_the_networks() {
        let mut view = view(&[]);
        let mut broken = outcome(&[]);
        let cells = [cell(0, Some(quality(f64::NAN, 0.0)), f64::INFINITY, 0.0)];
        broken.cells = &cells;
        broken.after = quality(f64::INFINITY, 0.1);
        assert!(view.rewards(&broken, &[1.0]).iter().all(|r| r.is_finite()));
    }
}
