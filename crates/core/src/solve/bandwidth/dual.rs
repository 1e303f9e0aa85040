//! The cell as three equations in three unknowns.
//!
//! Give bandwidth a price (`mu` up, `nu` down, per whole budget) and the round a completion time T. Then every device decides for
//! itself: with k = c + w, c the weight of its own transmission energy and w >= 0 the multiplier of 'be done by T',
//!
//! ```text
//! m(s_up) = mu a_up / (k_up floor_up),   m(s_down) = nu a_down / (k_down floor_down),   w >= 0 complementary to time <= T
//! ```
//!
//! which is one decreasing function of w to be inverted ([`Node::respond`]). What remains is that the bands fill both budgets and
//! that the multipliers add up to W; [`Market::evaluate`] returns these three sums and their derivatives in O(N).
//! Times are kept as excess over the least time that any bandwidth could give, so that a device within 1e-12 of its floor still
//! has all its digits.

use super::cell::Cell;
use super::link::{Point, exponential, log_ratio};

/// How often [`Market::guess`] asks every device.
pub(super) const GUESS_PASSES: usize = 3;

/// One direction of one device: constants and the SNR found last.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    /// a over the budget.
    ratio: f64,
    /// I ln 2 / a.
    floor_s: f64,
    /// Weight of this transmission's own energy, c = lambda_4 p.
    weight: f64,
    /// ratio / floor: price = mu * lever / k.
    lever: f64,
    /// The SNR found last, where the next search starts, and ln(1 + SNR).
    snr: f64,
    log: f64,
}

/// A link's answer to a price.
#[derive(Clone, Copy, Debug)]
struct Response {
    /// Share of the budget.
    share: f64,
    /// Time above the floor.
    excess_s: f64,
    /// d time / d ln price.
    growth_s: f64,
}

impl Link {
    fn new(snr_hz: f64, budget_hz: f64, bits: f64, weight: f64, equal_share: f64) -> Self {
        let ratio = snr_hz / budget_hz;
        let floor_s = bits * std::f64::consts::LN_2 / snr_hz;
        let snr = ratio / equal_share;
        Self {
            ratio,
            floor_s,
            weight,
            lever: ratio / floor_s,
            snr,
            log: snr.ln_1p(),
        }
    }

    #[inline]
    fn share(&self) -> f64 {
        self.ratio / self.snr
    }

    #[inline]
    fn point(&self) -> Point {
        Point::resume(self.snr, self.log)
    }

    /// The band that minimises (c + w) tau(b) + price b.
    #[inline]
    fn respond(&mut self, price: f64, multiplier: f64) -> Response {
        let point = self
            .point()
            .at_price(price * self.lever / (self.weight + multiplier));
        (self.snr, self.log) = (point.snr, point.log);
        Response {
            share: self.share(),
            excess_s: self.floor_s * point.excess,
            growth_s: self.floor_s * point.growth,
        }
    }

    /// The price at which this link would take its present band, if its time weighed c + w.
    fn price(&self, multiplier: f64) -> f64 {
        self.point().marginal * (self.weight + multiplier) / self.lever
    }

    /// min over b of (c + w) tau(b) + price b.
    fn least(&mut self, price: f64, multiplier: f64) -> f64 {
        let weight = self.weight + multiplier;
        if weight <= 0.0 || price <= 0.0 {
            // No price: unlimited bandwidth. No weight: no bandwidth.
            return weight.max(0.0) * self.floor_s;
        }
        let response = self.respond(price, multiplier);
        weight * (self.floor_s + response.excess_s) + price * response.share
    }
}

/// One device with its multiplier.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    up: Link,
    down: Link,
    /// Time of the local steps.
    computing_s: f64,
    /// How far the least possible time, computation plus both floors, lies below the slowest device's.
    slack_s: f64,
    /// w, the multiplier of 'be done by T'; 0 for a device that is done earlier.
    multiplier: f64,
}

/// What a device does at given prices and completion time.
#[derive(Clone, Copy, Debug)]
struct Decision {
    up: Response,
    down: Response,
}

impl Node {
    fn floor_s(&self) -> f64 {
        self.computing_s + self.up.floor_s + self.down.floor_s
    }

    #[inline]
    fn decide(&mut self, prices: [f64; 2], multiplier: f64) -> Decision {
        Decision {
            up: self.up.respond(prices[0], multiplier),
            down: self.down.respond(prices[1], multiplier),
        }
    }

    /// The bands for completion `excess_s` above the slowest floor; leaves w in `self.multiplier`.
    #[inline]
    fn respond(&mut self, prices: [f64; 2], excess_s: f64) -> Decision {
        let target_s = self.slack_s + excess_s;
        self.refine(prices, target_s)
            .unwrap_or_else(|| self.search(prices, target_s))
    }

    /// Newton's method on both SNRs and w together, from where they are: what nearly every call needs.
    ///
    /// Gives up (`None`) where the start is too far off to trust the steps.
    #[inline]
    fn refine(&mut self, prices: [f64; 2], target_s: f64) -> Option<Decision> {
        let offset = self.up.weight.min(self.down.weight);
        if offset + self.multiplier <= 0.0 {
            return None;
        }
        for _ in 0..8 {
            let w = self.multiplier;
            let (up, down) = (self.up.point(), self.down.point());
            let (k_up, k_down) = (self.up.weight + w, self.down.weight + w);
            let mut lag = [
                log_ratio(prices[0] * self.up.lever, k_up * up.marginal),
                log_ratio(prices[1] * self.down.lever, k_down * down.marginal),
            ];
            let growth = [self.up.floor_s * up.growth, self.down.floor_s * down.growth];
            // The time both links will take once they have followed their prices, to first order.
            let time = self.up.floor_s * up.excess
                + self.down.floor_s * down.excess
                + growth[0] * lag[0]
                + growth[1] * lag[1];
            let (mut step, mut next) = (0.0, w);
            if w > 0.0 || time > target_s {
                if time <= 0.0 {
                    return None;
                }
                let fall = growth[0] / k_up + growth[1] / k_down;
                step = log_ratio(time, target_s) * time / (fall * (w + offset));
                next = ((w + offset) * exponential(step) - offset).max(0.0);
                lag[0] -= log_ratio(self.up.weight + next, k_up);
                lag[1] -= log_ratio(self.down.weight + next, k_down);
            }
            let moves = [lag[0] / up.slope, lag[1] / down.slope];
            let largest = moves[0].abs().max(moves[1].abs()).max(step.abs());
            // Also false for NaN.
            if !(largest < 2.0) {
                return None;
            }
            self.multiplier = next;
            (self.up.snr, self.up.log) = up.position(moves[0]);
            (self.down.snr, self.down.log) = down.position(moves[1]);
            if largest < 1e-6 {
                // The error left is of second order, and the growths matter for the speed of convergence only.
                return Some(Decision {
                    up: Response {
                        share: self.up.share(),
                        excess_s: self.up.floor_s * up.excess,
                        growth_s: growth[0],
                    },
                    down: Response {
                        share: self.down.share(),
                        excess_s: self.down.floor_s * down.excess,
                        growth_s: growth[1],
                    },
                });
            }
        }
        None
    }

    /// The same from anywhere: time above floor falls with w, and its logarithm is almost linear in ln(c + w), so Newton's method
    /// there, kept inside a bracket.
    fn search(&mut self, prices: [f64; 2], target: f64) -> Decision {
        let offset = self.up.weight.min(self.down.weight);
        let (mut low, mut high) = (0.0_f64, f64::INFINITY);
        if self.multiplier <= 0.0 || !self.multiplier.is_finite() {
            self.multiplier = 0.0;
        }
        if offset <= 0.0 && self.multiplier == 0.0 {
            // A device with nothing of its own to pay has w > 0 always: what its equal share would be worth.
            self.multiplier =
                f64::MIN_POSITIVE.max(prices[0] * self.up.lever / self.up.point().marginal);
        }
        let mut decision = self.decide(prices, self.multiplier);
        for _ in 0..100 {
            let w = self.multiplier;
            let time = decision.up.excess_s + decision.down.excess_s;
            if (w == 0.0 && time <= target) || (time - target).abs() <= 1e-12 * target {
                break;
            }
            if time > target {
                low = w
            } else {
                high = w
            }
            let fall = decision.up.growth_s / (self.up.weight + w)
                + decision.down.growth_s / (self.down.weight + w);
            let step = log_ratio(time, target) * time / (fall * (w + offset));
            let mut next = (w + offset) * step.clamp(-60.0, 60.0).exp() - offset;
            if offset <= 0.0 {
                next = next.max(f64::MIN_POSITIVE);
            }
            if next >= high {
                next = if low > 0.0 {
                    (low * high).sqrt()
                } else {
                    high / 16.0
                };
            } else if next <= low {
                // Below 0 the device is done early without any pressure, unless w = 0 was found too slow before.
                next = if low > 0.0 { (low * high).sqrt() } else { 0.0 };
            }
            if next == w && w > 0.0 || (low > 0.0 && high / low - 1.0 < 1e-15) {
                break;
            }
            self.multiplier = next;
            decision = self.decide(prices, next);
        }
        decision
    }
}

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
    /// Energy of the local steps, weighed: the part of the objective that bandwidth does not change.
    fixed: f64,
}

impl Market {
    /// Takes over a cell; keeps the SNRs and multipliers found last where `warm`.
    pub(super) fn load(&mut self, cell: &Cell, local_iterations: u32, warm: bool) {
        let steps = f64::from(local_iterations);
        let equal_share = 1.0 / cell.devices.len() as f64;
        self.nodes.resize(cell.devices.len(), Node::default());
        self.wait_weight = cell.wait_weight();
        self.floor_s = 0.0;
        self.fixed = 0.0;
        for (node, device) in self.nodes.iter_mut().zip(&cell.devices) {
            let last = *node;
            let up_weight = cell.energy_weight * device.tx_power_w;
            let down_weight = cell.energy_weight * cell.broadcast_power_w;
            node.up = Link::new(
                device.snr_up_hz,
                cell.bandwidth_up_hz,
                cell.model_bits_up,
                up_weight,
                equal_share,
            );
            node.down = Link::new(
                device.snr_down_hz,
                cell.bandwidth_down_hz,
                cell.model_bits_down,
                down_weight,
                equal_share,
            );
            if warm {
                (node.up.snr, node.up.log) = (last.up.snr, last.up.log);
                (node.down.snr, node.down.log) = (last.down.snr, last.down.log);
            }
            node.computing_s = steps * device.iteration_time_s;
            self.floor_s = self.floor_s.max(node.floor_s());
            self.fixed += cell.energy_weight * device.iteration_energy_j * steps;
        }
        let slowest_s = self.floor_s;
        for node in &mut self.nodes {
            node.slack_s = slowest_s - node.floor_s();
        }
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
        let mut excess_s = 0.0_f64;
        for _ in 0..GUESS_PASSES {
            let (mut shares, mut slopes) = ([0.0; 2], [0.0; 2]);
            for node in &mut self.nodes {
                let Decision { up, down } = node.decide(prices, even);
                shares = [shares[0] + up.share, shares[1] + down.share];
                slopes[0] += up.growth_s * (node.up.weight + even);
                slopes[1] += down.growth_s * (node.down.weight + even);
                // Parked here until T is known.
                node.multiplier = up.excess_s + down.excess_s;
            }
            for (price, (share, slope)) in prices.iter_mut().zip(shares.iter().zip(&slopes)) {
                *price *= (share.ln() * share * *price / slope)
                    .clamp(-20.0, 20.0)
                    .exp();
            }
        }
        if self.wait_weight <= 0.0 {
            self.set_multipliers(std::iter::repeat(0.0));
            return (prices, f64::INFINITY);
        }
        let own = |node: &Node| node.up.weight.min(node.down.weight);
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
            let near = (next - excess_s).abs() <= 1e-2 * excess_s && total > 0.0;
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
    pub(super) fn bound(&mut self, prices: [f64; 2]) -> f64 {
        let total: f64 = self.nodes.iter().map(|node| node.multiplier).sum();
        let count = self.len() as f64;
        let mut bound = self.fixed - prices[0] - prices[1];
        let mut steps_s = 0.0;
        for node in &mut self.nodes {
            let w = if total > 0.0 {
                node.multiplier * (self.wait_weight / total)
            } else {
                self.wait_weight / count
            };
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
