//! The cell as three equations in three unknowns.
//!
//! Give bandwidth a price (`mu` up, `nu` down, per whole budget) and the round a completion time T. Then every device decides for
//! itself: with k = c + w, c the weight of its own transmission energy and w >= 0 the multiplier of 'be done by T',
//!
//! ```text
//! m(s_up) = mu a_up / (k_up floor_up),   m(s_down) = nu a_down / (k_down floor_down),   w >= 0 complementary to time <= T
//! ```
//!
//! which is one decreasing function of w to be inverted (`Node::respond`). What remains is that the bands fill both budgets and
//! that the multipliers add up to W; `Market::evaluate` returns these three sums and their derivatives in O(N).
//! Times are kept as excess over the least time that any bandwidth could give, so that a device within 1e-12 of its floor still
//! has all its digits.

use super::Cell;
use super::device::{Decision, Link, Node};

/// How often [`Market::guess`] asks every device.
pub(super) const GUESS_PASSES: usize = 2;

/// The sums of the three equations and their derivatives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// Shares of the uplink, shares of the downlink, multipliers.
    pub(super) value: [f64; 3],
    /// d (mu value_0, nu value_1, value_2) / d (ln mu, ln nu, T).
    pub(super) slope: [[f64; 3]; 3],
}

/// All devices of a cell, prepared for one H.
#[derive(Clone, Debug, Default)]
pub(super) struct Market {
    nodes: Vec<Node>,
    /// The least completion time that any bandwidth could give.
    pub(super) floor_s: f64,
    /// W.
    pub(super) wait_weight: f64,
    /// The least weight of anybody's own transmission energy.
    own_weight: f64,
    /// Energy of the local steps, weighed: the part of the objective that bandwidth does not change.
    fixed: f64,
}

impl Market {
    /// Takes over a cell; keeps the SNRs and multipliers found last where `warm`.
    pub(super) fn load(&mut self, cell: &Cell, local_iterations: u32, warm: bool) {
        let steps = f64::from(local_iterations);
        let count = cell.devices.len() as f64;
        self.nodes.resize(cell.devices.len(), Node::default());
        self.wait_weight = cell.wait_weight();
        self.own_weight = f64::INFINITY;
        self.floor_s = 0.0;
        self.fixed = 0.0;
        for (node, device) in self.nodes.iter_mut().zip(&cell.devices) {
            let weights = [
                cell.energy_weight * device.tx_power_w,
                cell.energy_weight * cell.broadcast_power_w,
            ];
            self.own_weight = self.own_weight.min(weights[0]).min(weights[1]);
            let (last_up, last_down) = (warm.then_some(&node.up), warm.then_some(&node.down));
            let up = Link::new(
                device.snr_up_hz,
                cell.bandwidth_up_hz,
                cell.model_bits_up,
                weights[0],
                count,
                last_up,
            );
            let down = Link::new(
                device.snr_down_hz,
                cell.bandwidth_down_hz,
                cell.model_bits_down,
                weights[1],
                count,
                last_down,
            );
            (node.up, node.down) = (up, down);
            node.computing_s = steps * device.iteration_time_s;
            self.floor_s = self.floor_s.max(node.floor_s());
            self.fixed += cell.energy_weight * device.iteration_energy_j * steps;
        }
        let slowest_s = self.floor_s;
        for node in &mut self.nodes {
            node.slack_s = slowest_s - node.floor_s();
        }
    }

    /// What the next warm start takes over from each device: both SNRs with their logarithms, and the multiplier.
    pub(super) fn warmth(&self) -> Vec<[f64; 5]> {
        let warmth = |node: &Node| {
            let (up, down) = (&node.up, &node.down);
            [up.snr, up.log, down.snr, down.log, node.multiplier]
        };
        self.nodes.iter().map(warmth).collect()
    }

    /// Takes up what [`Market::warmth`] gave; everything else comes with the next cell.
    pub(super) fn warm_up(&mut self, warmth: &[[f64; 5]]) {
        self.nodes.clear();
        self.nodes.extend(warmth.iter().map(|&values| {
            let mut node = Node::default();
            [
                node.up.snr,
                node.up.log,
                node.down.snr,
                node.down.log,
                node.multiplier,
            ] = values;
            node
        }));
    }

    /// Whether waiting weighs enough to move any bandwidth: below this, W is lost in the rounding of c + w.
    pub(super) fn timed(&self) -> bool {
        self.wait_weight > 1e-11 * self.own_weight
    }

    /// Number of devices.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Everybody's answer to two prices and a completion time `excess_s` above the floor (infinite where W = 0).
    pub(super) fn evaluate(&mut self, prices: [f64; 2], excess_s: f64) -> Sums {
        let mut sums = Sums::default();
        let slope = &mut sums.slope;
        for node in &mut self.nodes {
            let Decision { up, down } = node.respond(prices, excess_s);
            let w = node.multiplier;
            sums.value[0] += up.share;
            sums.value[1] += down.share;
            let (k_up, k_down) = (node.up.weight + w, node.down.weight + w);
            if w > 0.0 {
                sums.value[2] += w;
                let stiffness = up.growth_s / k_up + down.growth_s / k_down;
                let (by_up, by_down) = (up.growth_s / stiffness, down.growth_s / stiffness);
                let cross = up.growth_s * by_down;
                slope[0][0] -= cross * k_up / k_down;
                slope[1][1] -= cross * k_down / k_up;
                slope[0][1] += cross;
                slope[2][0] += by_up;
                slope[2][1] += by_down;
                slope[2][2] -= 1.0 / stiffness;
            } else {
                slope[0][0] -= up.growth_s * k_up;
                slope[1][1] -= down.growth_s * k_down;
            }
        }
        slope[1][0] = slope[0][1];
        slope[0][2] = -slope[2][0];
        slope[1][2] = -slope[2][1];
        sums
    }

    /// A starting point: everybody weighs the same share of W, and T follows from time above floor ~ (c + w)^(-1/2).
    pub(super) fn guess(&mut self) -> ([f64; 2], f64) {
        let count = self.len() as f64;
        let even = self.wait_weight / count;
        let mut prices = [0.0; 2];
        for node in &self.nodes {
            prices[0] += node.up.price(even) / count;
            prices[1] += node.down.price(even) / count;
        }
        for _ in 0..GUESS_PASSES {
            let mut sums = [(0.0, 0.0); 2];
            for node in &mut self.nodes {
                for (sum, (link, price)) in sums
                    .iter_mut()
                    .zip([&mut node.up, &mut node.down].into_iter().zip(prices))
                {
                    let (share, slope) = link.approach(price, link.weight + even);
                    *sum = (sum.0 + share, sum.1 + slope);
                }
            }
            for (price, (share, slope)) in prices.iter_mut().zip(sums) {
                *price *= (share.ln() * share / slope).clamp(-20.0, 20.0).exp();
            }
        }
        if !self.timed() {
            self.set_multipliers(std::iter::repeat(0.0));
            return (prices, f64::INFINITY);
        }
        for node in &mut self.nodes {
            // Parked here until T is known.
            node.multiplier = node.up.floor_s * node.up.point().excess
                + node.down.floor_s * node.down.point().excess;
        }
        let own = |node: &Node| node.up.weight.min(node.down.weight);
        let mut excess_s = 0.0_f64;
        for node in &self.nodes {
            let shrink = ((own(node) + even) / (own(node) + self.wait_weight)).sqrt();
            excess_s = excess_s.max(node.multiplier * shrink - node.slack_s);
        }
        let (mut low_s, mut high_s) = (0.0, f64::INFINITY);
        for _ in 0..20 {
            let (mut total, mut slope) = (0.0, 0.0);
            for node in &self.nodes {
                let target = node.slack_s + excess_s;
                let pull = (own(node) + even) * (node.multiplier / target).powi(2);
                if pull > own(node) {
                    total += pull - own(node);
                    slope += 2.0 * pull / target;
                }
            }
            if total > self.wait_weight {
                low_s = excess_s
            } else {
                high_s = excess_s
            }
            // One pole of order 2 makes total^(-1/2) a straight line in T.
            let next = excess_s + 2.0 * total * ((total / self.wait_weight).sqrt() - 1.0) / slope;
            let next = if next > low_s && next < high_s {
                next
            } else {
                low_s + (high_s.min(4.0 * excess_s) - low_s) / 2.0
            };
            let near = (next - excess_s).abs() <= 0.05 * excess_s && total > 0.0;
            excess_s = next;
            if near {
                break;
            }
        }
        for node in &mut self.nodes {
            let pull = (own(node) + even) * (node.multiplier / (node.slack_s + excess_s)).powi(2);
            node.multiplier = (pull - own(node)).max(0.0);
        }
        (prices, excess_s)
    }

    /// The Lagrangian dual at two prices and the multipliers held now, scaled to add up to W: a lower bound of every objective.
    ///
    /// Where no multiplier is above 0, the `slowest` device bears all of W.
    pub(super) fn bound(&mut self, prices: [f64; 2], slowest: usize) -> f64 {
        let total: f64 = self.nodes.iter().map(|node| node.multiplier).sum();
        let mut bound = self.fixed - prices[0] - prices[1];
        let mut steps_s = 0.0;
        for (n, node) in self.nodes.iter_mut().enumerate() {
            let share = if total > 0.0 {
                node.multiplier / total
            } else {
                f64::from(n == slowest)
            };
            let w = share * self.wait_weight;
            steps_s += w * node.computing_s;
            bound += node.up.least(prices[0], w) + node.down.least(prices[1], w);
        }
        bound + steps_s
    }

    /// dV/dH = sum of C_n + w_n t_n: the slope of the optimal objective in the number of local steps (envelope theorem).
    pub(super) fn iteration_slope(&self, local_iterations: u32) -> f64 {
        let waiting: f64 = self
            .nodes
            .iter()
            .map(|node| node.multiplier * node.computing_s)
            .sum();
        (self.fixed + waiting) / f64::from(local_iterations)
    }

    /// Replaces the multipliers by somebody else's, to have their [`Market::bound`].
    pub(super) fn set_multipliers(&mut self, multipliers: impl Iterator<Item = f64>) {
        for (node, w) in self.nodes.iter_mut().zip(multipliers) {
            node.multiplier = w.max(0.0);
        }
    }

    /// Every device's share of both budgets, as found last.
    pub(super) fn shares(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        self.nodes
            .iter()
            .map(|node| [node.up.share(), node.down.share()])
    }
}
