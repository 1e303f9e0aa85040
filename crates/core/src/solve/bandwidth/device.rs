//! One device's answer to prices and a completion time.

use super::link::{Point, exponential, log_ratio};

/// One direction of one device: constants and the SNR found last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    /// a over the budget.
    pub(super) ratio: f64,
    /// I ln 2 / a.
    pub(super) floor_s: f64,
    /// Weight of this transmission's own energy, c = lambda_4 p.
    pub(super) weight: f64,
    /// ratio / floor: price = mu * lever / k.
    pub(super) lever: f64,
    /// The SNR found last, where the next search starts, and ln(1 + SNR).
    pub(super) snr: f64,
    pub(super) log: f64,
}

/// A link's answer to a price.
#[derive(Clone, Copy, Debug)]
pub(super) struct Response {
    /// Share of the budget.
    pub(super) share: f64,
    /// Time above the floor.
    pub(super) excess_s: f64,
    /// d time / d ln price.
    pub(super) growth_s: f64,
}

impl Link {
    /// A link that starts at the SNR of `last`, or else at the equal split among `count`.
    pub(super) fn new(
        snr_hz: f64,
        budget_hz: f64,
        bits: f64,
        weight: f64,
        count: f64,
        last: Option<&Self>,
    ) -> Self {
        let ratio = snr_hz / budget_hz;
        let floor_s = bits * std::f64::consts::LN_2 / snr_hz;
        let (snr, log) = last.map_or_else(
            || (ratio * count, (ratio * count).ln_1p()),
            |last| (last.snr, last.log),
        );
        Self {
            ratio,
            floor_s,
            weight,
            lever: ratio / floor_s,
            snr,
            log,
        }
    }

    #[inline]
    pub(super) fn share(&self) -> f64 {
        self.ratio / self.snr
    }

    #[inline]
    pub(super) fn point(&self) -> Point {
        Point::with_log(self.snr, self.log)
    }

    /// The band that minimises (c + w) tau(b) + price b.
    #[inline]
    pub(super) fn respond(&mut self, price: f64, multiplier: f64) -> Response {
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
    pub(super) fn price(&self, multiplier: f64) -> f64 {
        self.point().marginal * (self.weight + multiplier) / self.lever
    }

    /// min over b of (c + w) tau(b) + price b.
    pub(super) fn least(&mut self, price: f64, multiplier: f64) -> f64 {
        let weight = self.weight + multiplier;
        if weight <= 0.0 || price <= 0.0 {
            // No price: unlimited bandwidth. No weight: no bandwidth.
            return weight.max(0.0) * self.floor_s;
        }
        let mut point = self.point();
        let target = price * self.lever / weight;
        // The minimum is flat: half this lag squared is what the value would be off.
        let close = log_ratio(target, point.marginal).abs() < 1e-7;
        if !close {
            point = point.at_price(target);
        }
        weight * self.floor_s * (1.0 + point.excess) + price * self.ratio / point.snr
    }

    /// One Newton step towards the band that `price` and the weight k call for; returns the share and its derivative in -ln price.
    #[inline]
    pub(super) fn approach(&mut self, price: f64, weight: f64) -> (f64, f64) {
        let point = self.point();
        let step = log_ratio(price * self.lever, weight * point.marginal) * point.response;
        (self.snr, self.log) = point.position(step);
        (self.share(), self.floor_s * point.growth * weight / price)
    }
}

/// One device with its multiplier.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    pub(super) up: Link,
    pub(super) down: Link,
    /// Time of the local steps.
    pub(super) computing_s: f64,
    /// How far the least possible time, computation plus both floors, lies below the slowest device's.
    pub(super) slack_s: f64,
    /// w, the multiplier of 'be done by T'; 0 for a device that is done earlier.
    pub(super) multiplier: f64,
}

/// What a device does at given prices and completion time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decision {
    pub(super) up: Response,
    pub(super) down: Response,
}

impl Node {
    pub(super) fn floor_s(&self) -> f64 {
        self.computing_s + self.up.floor_s + self.down.floor_s
    }

    #[inline]
    pub(super) fn decide(&mut self, prices: [f64; 2], multiplier: f64) -> Decision {
        Decision {
            up: self.up.respond(prices[0], multiplier),
            down: self.down.respond(prices[1], multiplier),
        }
    }

    /// The bands for completion `excess_s` above the slowest floor; leaves w in `self.multiplier`.
    #[inline]
    pub(super) fn respond(&mut self, prices: [f64; 2], excess_s: f64) -> Decision {
        let target_s = self.slack_s + excess_s;
        self.refine(prices, target_s)
            .unwrap_or_else(|| self.search(prices, target_s))
    }

    /// Newton's method on both SNRs and w together, from where they are: what nearly every call needs.
    ///
    /// Gives up (`None`) where the start is too far off to trust the steps.
    #[inline]
    pub(super) fn refine(&mut self, prices: [f64; 2], target_s: f64) -> Option<Decision> {
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
            let moves = [lag[0] * up.response, lag[1] * down.response];
            // Also false for NaN.
            let calm = moves[0].abs() < 2.0 && moves[1].abs() < 2.0 && step.abs() < 2.0;
            if !calm {
                return None;
            }
            let largest = moves[0].abs().max(moves[1].abs()).max(step.abs());
            self.multiplier = next;
            (self.up.snr, self.up.log) = up.position(moves[0]);
            (self.down.snr, self.down.log) = down.position(moves[1]);
            if largest < 3e-5 {
                // The error left is of second order (1e-10), less in the last passes, which move less; the growths matter for the
                // speed of convergence only.
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
    pub(super) fn search(&mut self, prices: [f64; 2], target: f64) -> Decision {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn node(up_weight: f64, down_weight: f64) -> Node {
        Node {
            up: Link::new(2e9, 6e7, 7e5, up_weight, 30.0, None),
            down: Link::new(5e8, 4e7, 7e5, down_weight, 30.0, None),
            ..Node::default()
        }
    }

    #[test]
    fn refining_and_searching_find_the_same() {
        for (up_weight, down_weight) in [(0.2, 0.5), (0.5, 0.1), (0.0, 0.0)] {
            for excess_s in [1e-3, 0.02, 0.05, 0.3, 5.0] {
                let prices = [3.0, 2.0];
                let mut sought = node(up_weight, down_weight);
                let decision = sought.search(prices, excess_s);
                let time_s = decision.up.excess_s + decision.down.excess_s;
                if sought.multiplier > 0.0 {
                    assert!(
                        (time_s / excess_s - 1.0).abs() < 1e-11,
                        "{time_s} for {excess_s}"
                    );
                } else {
                    assert!(time_s <= excess_s && up_weight > 0.0);
                }
                // From nearby, the joint Newton steps must arrive at the same place.
                let mut refined = sought;
                refined.multiplier *= 1.3;
                refined.up = Link {
                    snr: sought.up.snr * 0.8,
                    ..sought.up
                };
                refined.up.log = refined.up.snr.ln_1p();
                assert!(refined.refine(prices, excess_s).is_some());
                let scale = sought.multiplier + up_weight;
                assert!((refined.multiplier - sought.multiplier).abs() < 1e-7 * scale);
                assert!((refined.up.snr / sought.up.snr - 1.0).abs() < 1e-7);
                assert!((refined.down.snr / sought.down.snr - 1.0).abs() < 1e-7);
            }
        }
    }
}
