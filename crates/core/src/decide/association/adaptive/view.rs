//! What an agent sees of a round, how its action is read, and what it gets for it.
//!
//! `state = "paper"`: loss and accuracy of the UAV's last edge model; the action is β itself; with
//! `reward = "paper"` the reward is what the edge model gained, Eq. (45).
//!
//! `state = "extended"`: how the global model does, how fitness is spread over the covered devices, how
//! many they are, how loaded the cell is beside the others, and the battery. Not the round, and nothing that tells how many
//! devices trained before: agents would learn to go on as they began. The action says how many of the
//! UAV's devices train, 0 being the most and 1 the least: β is the fitness of the last of them. Scores are relative to the
//! best of a cell and drift with training; shares stay. They are shares of a quota by which all cells take equally long (`Quotas`).
//!
//! `reward = "cost_aware"`: progress per cost, y / (e^λ_4 t^λ_5) with λ_4 + λ_5 scaled to 1. Whoever makes the most progress for its
//! cost at every loss there is on the way down gets there cheapest. Progress y is λ_6 times the relative loss drop of the *global*
//! model plus λ_7 times its accuracy gain, times (first loss / loss)^1.4: loss curves here fall like round^-0.7, so that y is about
//! the same in early and late rounds. Losses, accuracies and costs, here and in the state, are smoothed over some four rounds. Few devices make
//! noisy rounds, and noise evens out; but an agent that sees a luckily low loss would learn that few devices lose
//! it again, and that many are needed from there on. Costs e and t
//! are the energy and the time of the whole round, in multiples of what does not depend on how many train: offloading, broadcasts.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::quota::{Quotas, ascending};
use super::super::{CellOutcome, Quality, RoundOutcome, Scene};
use crate::scenario::{self, AgentReward, AgentState, ValidScenario};

/// Progress counts as loss^-1.4: loss curves fall like round^-0.7.
const FADING: f64 = 1.4;
/// What a round counts in the smoothed quality.
const SMOOTHING: f64 = 0.25;
/// A cost of 1 is so many times what a round takes beside its edge rounds: about a round with every device.
const OVERHEADS: f64 = 10.0;
/// The least share of a round's cost that counts as overhead.
const LEAST_OVERHEAD: f64 = 1e-3;
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
    least_share: f64,
    most_share: f64,
    /// Each UAV's last edge model.
    edge_models: Vec<Option<Quality>>,
    /// The global model's loss and accuracy without the noise of single rounds.
    smoothed: Option<Quality>,
    /// Energy and time of a round, smoothed in the same way.
    cost: Option<(f64, f64)>,
    /// Loss of the first global model.
    first_loss: Option<f64>,
    /// The least energy and time of a round beside its edge rounds.
    least_overhead: Option<(f64, f64)>,
    quotas: Quotas,
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
            least_share,
            most_share,
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
            least_share,
            most_share,
            edge_models: vec![None; scenario.uavs.count],
            smoothed: None,
            cost: None,
            first_loss: None,
            least_overhead: None,
            quotas: Quotas::new(scenario),
        }
    }

    /// UAVs it looks at.
    pub(super) fn uavs(&self) -> usize {
        self.edge_models.len()
    }

    /// Whether all of it is about so many UAVs, as that of a damaged checkpoint may not be.
    pub(super) fn is_of(&self, uavs: usize) -> bool {
        self.uavs() == uavs && self.quotas.uavs() == uavs
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
                    let model = self.smoothed.unwrap_or(scene.quality);
                    let share = world.devices.position.len() as f64 / world.uavs.len() as f64;
                    let mut values = vec![
                        model.loss,
                        model.accuracy,
                        covered.len() as f64 / share,
                        loads[index] / mean_load,
                        world.uavs[index].battery_j / world.uavs[index].full_j,
                    ];
                    let sorted = ascending(covered);
                    values.extend(AgentState::QUANTILES.map(|share| quantile(&sorted, share)));
                    values
                }
            };
            Some(values.into_iter().map(tame).collect())
        };
        fitness.par_iter().enumerate().map(of_uav).collect()
    }

    /// β of each UAV, whose covered devices have `fitness`, for its action of 0 to 1; infinite for UAVs that cover nobody
    /// or have no action.
    #[must_use]
    pub fn thresholds(&self, fitness: &[Vec<f64>], actions: &[Option<f32>]) -> Vec<f64> {
        let action = |uav: usize| actions[uav].map(f64::from);
        match self.state {
            AgentState::Paper => {
                let uavs = fitness.iter().enumerate();
                let beta = |(uav, covered): (usize, &Vec<f64>)| match action(uav) {
                    Some(beta) if !covered.is_empty() => beta,
                    _ => f64::INFINITY,
                };
                uavs.map(beta).collect()
            }
            AgentState::Extended => self.quotas.thresholds(fitness, |uav| {
                let range = self.most_share - self.least_share;
                action(uav).map(|action| self.most_share - action * range)
            }),
        }
    }

    /// Each UAV's reward for a round, Eqs. (45) and (49); `penalties` are their factors α̃.
    pub fn rewards(&mut self, outcome: &RoundOutcome, penalties: &[f64]) -> Vec<f32> {
        let gains: Vec<f64> = outcome
            .cells
            .iter()
            .map(|cell| self.edge_gain(cell, outcome))
            .collect();
        self.quotas.observe(outcome.cells);
        let progress_per_cost = self.progress_per_cost(outcome);
        let reward = |(index, cell): (usize, &CellOutcome)| {
            let earned = match self.reward {
                AgentReward::Paper => gains[index],
                AgentReward::CostAware => progress_per_cost,
            };
            let penalty = penalties[index] * cell.overrun.powi(2);
            tame((earned - penalty).clamp(-REWARD_LIMIT, REWARD_LIMIT))
        };
        outcome.cells.iter().enumerate().map(reward).collect()
    }

    /// Progress of a round per cost.
    fn progress_per_cost(&mut self, outcome: &RoundOutcome) -> f64 {
        let before = self.smoothed.unwrap_or(outcome.before);
        let after = smooth(before, outcome.after);
        self.smoothed = Some(after);
        let first_loss = *self.first_loss.get_or_insert(before.loss);
        let gain = self.loss_weight * (before.loss / after.loss).ln()
            + self.accuracy_weight * (after.accuracy - before.accuracy);
        let middle_loss = (before.loss * after.loss).sqrt();
        let progress = gain * (first_loss / middle_loss).powf(FADING);
        let edge_j: f64 = outcome.cells.iter().map(|cell| cell.energy_j).sum();
        // Of a UAV that fell, not all was paid.
        let overhead = (
            (outcome.energy_j - edge_j).max(LEAST_OVERHEAD * outcome.energy_j),
            (outcome.time_s - slowest_s(outcome)).max(LEAST_OVERHEAD * outcome.time_s),
        );
        let least = self.least_overhead.get_or_insert(overhead);
        *least = (least.0.min(overhead.0), least.1.min(overhead.1));
        let (energy_j, time_s) = self.cost.get_or_insert((outcome.energy_j, outcome.time_s));
        *energy_j += SMOOTHING * (outcome.energy_j - *energy_j);
        *time_s += SMOOTHING * (outcome.time_s - *time_s);
        let energy = *energy_j / (OVERHEADS * least.0);
        let time = *time_s / (OVERHEADS * least.1);
        progress / (energy.powf(self.energy_weight) * time.powf(self.time_weight))
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

/// Seconds of the slowest cell's edge rounds.
fn slowest_s(outcome: &RoundOutcome) -> f64 {
    outcome
        .cells
        .iter()
        .map(|cell| cell.time_s)
        .fold(0.0, f64::max)
}

/// One more round of a smoothed quality; losses are smoothed by their logarithm.
fn smooth(so_far: Quality, now: Quality) -> Quality {
    Quality {
        loss: so_far.loss * (now.loss / so_far.loss).powf(SMOOTHING),
        accuracy: so_far.accuracy + SMOOTHING * (now.accuracy - so_far.accuracy),
    }
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
            covered: 12,
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

    /// A checkpoint may hold anything: parts of different fleets would be indexed out of their range.
    #[test]
    fn parts_of_different_fleets_are_noticed() {
        let sound = view(&["uavs.count=5"]);
        assert!(sound.is_of(5) && !sound.is_of(4));
        let quotas = view(&["uavs.count=4"]).quotas;
        assert!(!AgentView { quotas, ..sound }.is_of(5));
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

    /// By hand: the loss falls to a sixteenth, of which a quarter counts: it halves. So progress is 0.5 ln 2 times sqrt(2)^1.4. Beside
    /// the edge rounds it took 400 J and 1 s, so 1000 J and 4 s cost 0.25 and 0.4. The next round starts from half the
    /// loss and counts 2^1.4 times.
    #[test]
    fn the_cost_aware_reward_is_progress_per_cost() {
        let mut view = view(&["td3.reward=cost_aware"]);
        let cells = [cell(0, None, 400.0, 3.0), cell(1, None, 200.0, 2.0)];
        let mut round = outcome(&cells);
        (round.before, round.after) = (quality(2.0, 0.3), quality(2.0 / 16.0, 0.3));
        let expected = 0.5 * 2f64.ln() * 2f64.powf(0.7) / (0.25f64 * 0.4).sqrt();
        close(&view.rewards(&round, &[1.0; 2]), &[expected; 2]);
        (round.before, round.after) = (quality(2.0 / 16.0, 0.3), quality(1.0 / 16.0, 0.3));
        // A dear round: it costs 13 times as much, of which a quarter counts, and the overhead stays what it was.
        (round.energy_j, round.time_s) = (13_000.0, 52.0);
        let later = expected * 2f64.powf(1.4) / 4.0;
        close(&view.rewards(&round, &[1.0; 2]), &[later; 2]);
    }

    /// A UAV that fell did not pay all that its edge rounds would have cost: less than nothing is left for the overhead.
    #[test]
    fn a_round_that_was_not_paid_for_has_a_reward_all_the_same() {
        let mut view = view(&["td3.reward=cost_aware"]);
        let cells = [cell(0, None, 900.0, 3.0), cell(1, None, 200.0, 2.0)];
        let mut round = outcome(&cells);
        assert!(round.energy_j < 1100.0);
        (round.before, round.after) = (quality(2.0, 0.3), quality(1.0, 0.3));
        assert!(
            view.rewards(&round, &[1.0; 2])
                .iter()
                .all(|reward| *reward > 0.0)
        );
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
    fn thresholds_are_literal_or_leave_out_a_share() {
        let fitness = [vec![0.9, 0.1, 0.5, 0.3], vec![]];
        let literal = view(&["td3.state=paper", "uavs.count=2"]);
        let threshold = literal.thresholds(&fitness, &[Some(0.4), Some(0.4)]);
        assert!((threshold[0] - 0.4).abs() < 1e-6 && threshold[1] == f64::INFINITY);
        let shares = view(&[
            "td3.state=extended",
            "uavs.count=2",
            "td3.least_share=0.2",
            "td3.most_share=1",
            "selection.least_fitness=0",
        ]);
        let kept = |action: Option<f32>| {
            let threshold = shares.thresholds(&fitness, &[action, None])[0];
            fitness[0]
                .iter()
                .filter(|alpha| **alpha >= threshold)
                .count()
        };
        // 4 - 3.2 x action, rounded
        let actions = [0.0, 0.15, 0.16, 0.5, 0.8, 1.0].map(Some);
        assert_eq!(actions.map(kept), [4, 4, 3, 2, 1, 1]);
        assert_eq!(kept(None), 0);
    }

    #[test]
    fn agents_take_no_device_of_little_fitness_but_always_one() {
        let view = view(&[
            "uavs.count=2",
            "td3.most_share=1",
            "selection.least_fitness=0.3",
        ]);
        let fitness = [vec![0.9, 0.1, 0.5, 0.29], vec![0.1, 0.2]];
        // With an action of 0 everybody is wanted.
        assert_eq!(view.thresholds(&fitness, &[Some(0.0); 2]), [0.3, 0.2]);
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
