//! Whether flights to new positions are worth what they take, by an estimate of how the run goes on with them and without.
//!
//! By the run's own curve (`outlook.rs`) the target is reached in round t* = t exp((y* - y) / p). With other devices covered it is
//! another round. Let s be the share of the training samples that is covered, and u the share that is covered at some time before the target,
//! as a harmonic mean over classes, each relative to the rounds that the curve was drawn in:
//!
//! ```text
//! a round counts as     s^0.3 rounds            fewer devices make noisier rounds
//! the target is reached when they add up to     t* u^(-0.3 / p)      less data is worth less accuracy, which time makes good slowly
//! u of a class          1 - (1 - s of the class) (1 - q)^rounds      q: how likely a device comes within reach from one round to the next
//! ```
//!
//! Who covers devices changes on the way: UAVs in flight arrive, UAVs that charge come back, batteries run empty. So seconds are counted from
//! one such change to the next, up to the target or the last round. Joules go with the seconds, and with the number of
//! UAVs in the air. Flights are worthwhile if the weighted sum of joules and seconds that they save (weights of P1) is more than that of
//! what they take. Exponents were fitted to runs in which UAVs were missing from the start (`docs/flights.md`).

use crate::decide::redeploy::Move;
use crate::scenario::Weights;
use crate::vocabulary::{Bill, Point};

use super::label_mixes::LabelMixes;
use super::outlook::{Curve, RoundCost};

/// By what power of the share of covered samples a round counts.
const PACE_EXPONENT: f64 = 0.3;

/// What a factor e of data is worth in log-odds of accuracy.
const DATA_WORTH: f64 = 0.3;

/// A class that nobody covers counts as covered to this share.
const LEAST_SHARE: f64 = 0.02;

/// More flights than this are not weighed one by one.
const ONE_BY_ONE: usize = 12;

/// Somebody covers devices from a place, for some time from now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Service {
    pub(super) at: Point,
    pub(super) radius_m: f64,
    pub(super) from_s: f64,
    pub(super) until_s: f64,
}

/// A UAV that would move: how it serves if it stays, and if it does not.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) flight: Move,
    pub(super) stays: Vec<Service>,
    pub(super) moves: Vec<Service>,
    /// What a second of waiting takes from it, W.
    pub(super) waiting_power_w: f64,
}

/// What is known of a run when flights are weighed.
pub(super) struct Stakes<'a> {
    /// The devices within a distance of a place.
    pub(super) near: &'a dyn Fn(Point, f64) -> Vec<u32>,
    pub(super) devices: usize,
    pub(super) mixes: &'a LabelMixes,
    pub(super) weights: &'a Weights,
    pub(super) curve: Curve,
    pub(super) target: f64,
    /// Rounds until the run ends anyway.
    pub(super) rounds_left: f64,
    /// What a round takes.
    pub(super) round: RoundCost,
    /// How likely a device that nobody covers is covered in the next round.
    pub(super) arrival_rate: f64,
    /// The places from which devices were covered in the rounds that the curve was drawn in.
    pub(super) so_far: &'a [Service],
    /// Whether everybody waits until the last has arrived.
    pub(super) wait: bool,
    /// What a second of waiting takes from all that are in the air, W.
    pub(super) waiting_power_w: f64,
}

/// How flights were judged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Verdict {
    /// The longest flight, and the joules of all.
    pub(super) flights: Bill,
    /// What they save until the target, without what the flights themselves take.
    pub(super) saved: Bill,
    /// Rounds to the target if everybody stays.
    pub(super) rounds_left: f64,
    /// Weighted sum of what they save, less what they take.
    pub(super) worth: f64,
}

/// Shares of the training samples that are covered.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shares {
    /// Now.
    now: f64,
    /// At some time before the target, over classes.
    data: f64,
}

impl Stakes<'_> {
    /// Which of the flights are best made, and what is to be said of them; of all of them where none is worth it.
    /// `others` serve in any case.
    pub(super) fn weigh(
        &self,
        candidates: &[Candidate],
        others: &[Service],
    ) -> (Vec<Move>, Verdict) {
        let reference = self.reference();
        let stay = self.outcome(&self.services(candidates, others, &[]), &reference);
        let judge = |chosen: &[bool]| self.judge(candidates, others, chosen, (&reference, stay));
        let mut chosen = vec![true; candidates.len()];
        let all = judge(&chosen);
        let mut best = all;
        while candidates.len() <= ONE_BY_ONE {
            let without = |place: usize| {
                let mut fewer = chosen.clone();
                fewer[place] = false;
                (judge(&fewer), place)
            };
            let places = (0..candidates.len()).filter(|&place| chosen[place]);
            let tried = places.map(without);
            let better = tried.max_by(|a, b| a.0.worth.total_cmp(&b.0.worth));
            match better {
                Some((verdict, place)) if verdict.worth > best.worth => {
                    (best, chosen[place]) = (verdict, false);
                }
                _ => break,
            }
        }
        if best.worth <= 0.0 || !chosen.contains(&true) {
            return (Vec::new(), all);
        }
        let made = candidates.iter().zip(chosen).filter(|(_, chosen)| *chosen);
        (made.map(|(candidate, _)| candidate.flight).collect(), best)
    }

    fn judge(
        &self,
        candidates: &[Candidate],
        others: &[Service],
        chosen: &[bool],
        (reference, stay): (&Shares, Bill),
    ) -> Verdict {
        let made = candidates.iter().zip(chosen).filter(|(_, chosen)| **chosen);
        let (mut flights, mut flying_w) = (Bill::default(), 0.0);
        for (candidate, _) in made {
            flights.seconds = flights.seconds.max(candidate.flight.seconds);
            flights.joules += candidate.flight.energy_j;
            flying_w += candidate.waiting_power_w;
        }
        let mut go = self.outcome(&self.services(candidates, others, chosen), reference);
        if self.wait {
            go.seconds += flights.seconds;
            go.joules += flights.seconds * (self.waiting_power_w - flying_w).max(0.0);
        }
        let saved = Bill::new(stay.seconds - go.seconds, stay.joules - go.joules);
        let (energy, time) = (self.weights.energy, self.weights.time);
        Verdict {
            flights,
            saved,
            rounds_left: stay.seconds / self.round.seconds,
            worth: energy * (saved.joules - flights.joules) + time * saved.seconds,
        }
    }

    /// Who serves from where and when, if the chosen fly. Where everybody waits for them, they serve at once when that is over.
    fn services(
        &self,
        candidates: &[Candidate],
        others: &[Service],
        chosen: &[bool],
    ) -> Vec<Service> {
        let mut all = others.to_vec();
        for (place, candidate) in candidates.iter().enumerate() {
            match chosen.get(place) {
                Some(true) => all.extend(candidate.moves.iter().map(|service| Service {
                    from_s: match self.wait && service.from_s <= candidate.flight.seconds {
                        true => 0.0,
                        // A round is under way when it arrives.
                        false => service.from_s + self.round.seconds / 2.0,
                    },
                    ..*service
                })),
                _ => all.extend(&candidate.stays),
            }
        }
        all
    }

    /// The shares of the rounds so far.
    fn reference(&self) -> Shares {
        let mut cover = Cover::new(self);
        self.so_far.iter().for_each(|service| cover.add(service));
        cover.shares()
    }

    /// Seconds and joules to the target, or to the end of the run.
    fn outcome(&self, services: &[Service], reference: &Shares) -> Bill {
        let round_s = self.round.seconds;
        let end_s = self.rounds_left * round_s;
        let mut changes: Vec<(f64, bool, &Service)> = Vec::with_capacity(2 * services.len());
        for service in services {
            if service.from_s < service.until_s.min(end_s) {
                changes.push((service.from_s.max(0.0), true, service));
                changes.push((service.until_s, false, service));
            }
        }
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut changes = changes.into_iter().peekable();
        let due = self.curve.rounds_to(self.target);
        let mut cover = Cover::new(self);
        let mut done = self.curve.rounds;
        let mut spent = Bill::default();
        loop {
            while let Some((_, begins, service)) = changes.next_if(|next| next.0 <= spent.seconds) {
                match begins {
                    true => cover.add(service),
                    false => cover.remove(service),
                }
            }
            let next_s = changes.peek().map_or(end_s, |next| next.0.min(end_s));
            let lasts_s = (next_s - spent.seconds).max(0.0);
            let shares = cover.shares();
            let pace = libm::pow(shares.now / reference.now, PACE_EXPONENT);
            let data = (shares.data / reference.data).max(f64::MIN_POSITIVE);
            let needed = due * libm::pow(data, -DATA_WORTH / self.curve.slope) - done;
            let needed_s = match cover.uavs > 0 && pace > 0.0 {
                true => needed.max(0.0) / pace * round_s,
                false => f64::INFINITY,
            };
            let passes_s = needed_s.min(lasts_s);
            let share = cover.uavs as f64 / self.round.uavs.max(1.0);
            spent.joules += passes_s / round_s * self.round.joules * share;
            spent.seconds += passes_s;
            done += pace * passes_s / round_s;
            if needed_s <= lasts_s || next_s >= end_s {
                return spent;
            }
        }
    }
}

/// Which devices are covered, kept up to date from change to change.
struct Cover<'a> {
    stakes: &'a Stakes<'a>,
    /// Per device.
    counts: Vec<u32>,
    /// Samples of each class that are covered.
    covered: Vec<f64>,
    uavs: usize,
    /// The probability that a device outside never comes within reach before the target.
    stays_outside: f64,
}

impl<'a> Cover<'a> {
    fn new(stakes: &'a Stakes<'a>) -> Self {
        let left = stakes.curve.rounds_to(stakes.target) - stakes.curve.rounds;
        let outside = (1.0 - stakes.arrival_rate).max(0.0);
        Self {
            stakes,
            counts: vec![0; stakes.devices],
            covered: vec![0.0; stakes.mixes.total().len()],
            uavs: 0,
            stays_outside: libm::pow(outside, left.clamp(0.0, stakes.rounds_left)),
        }
    }

    fn add(&mut self, service: &Service) {
        self.uavs += 1;
        for device in (self.stakes.near)(service.at, service.radius_m) {
            let count = &mut self.counts[device as usize];
            *count += 1;
            if *count == 1 {
                self.stakes.mixes.add_to(&mut self.covered, device, 1.0);
            }
        }
    }

    fn remove(&mut self, service: &Service) {
        self.uavs = self.uavs.saturating_sub(1);
        for device in (self.stakes.near)(service.at, service.radius_m) {
            let count = &mut self.counts[device as usize];
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.stakes.mixes.add_to(&mut self.covered, device, -1.0);
            }
        }
    }

    fn shares(&self) -> Shares {
        let (mut now, mut inverse, mut classes) = (0.0, 0.0, 0.0);
        let total: f64 = self.stakes.mixes.total().iter().sum();
        for (covered, all) in self.covered.iter().zip(self.stakes.mixes.total()) {
            if *all <= 0.0 {
                continue;
            }
            // Sums of differences may miss 0 by a rounding error.
            let share = (covered / all).clamp(0.0, 1.0);
            now += share * all / total;
            let in_time = 1.0 - (1.0 - share) * self.stays_outside;
            inverse += 1.0 / in_time.max(LEAST_SHARE);
            classes += 1.0;
        }
        Shares {
            now: now.max(f64::MIN_POSITIVE),
            data: if inverse > 0.0 {
                classes / inverse
            } else {
                1.0
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::UavId;

    /// Four devices at 0, 1, 2 and 3 m, with ten samples each.
    fn near(at: Point, radius_m: f64) -> Vec<u32> {
        let within = |device: &u32| (f64::from(*device) - at.x_m).abs() <= radius_m;
        (0..4).filter(within).collect()
    }

    fn from(x_m: f64, radius_m: f64, from_s: f64) -> Service {
        Service {
            at: Point::new(x_m, 0.0),
            radius_m,
            from_s,
            until_s: f64::INFINITY,
        }
    }

    /// Ten rounds are behind it, at its pace the target is ten more away: a round takes 2 s and 100 J with four UAVs.
    fn stakes<'a>(
        mixes: &'a LabelMixes,
        weights: &'a Weights,
        so_far: &'a [Service],
    ) -> Stakes<'a> {
        Stakes {
            near: &near,
            devices: 4,
            mixes,
            weights,
            curve: Curve {
                slope: 1.0,
                rounds: 10.0,
                level: -libm::log(2.0),
            },
            target: 0.5,
            rounds_left: 1_000.0,
            round: RoundCost {
                seconds: 2.0,
                joules: 100.0,
                uavs: 4.0,
            },
            arrival_rate: 0.0,
            so_far,
            wait: false,
            waiting_power_w: 100.0,
        }
    }

    /// A UAV that covers two devices from 0 m, or all of them after a flight of 10 s.
    fn candidate(energy_j: f64) -> Candidate {
        Candidate {
            flight: Move {
                uav: UavId(0),
                from: Point::new(0.0, 0.0),
                to: Point::new(1.5, 0.0),
                way_m: 1.5,
                seconds: 10.0,
                energy_j,
            },
            stays: vec![from(0.0, 1.0, 0.0)],
            moves: vec![from(1.5, 2.0, 10.0)],
            waiting_power_w: 100.0,
        }
    }

    const WEIGHTS: Weights = Weights {
        energy: 0.5,
        time: 0.5,
    };

    fn all_alike() -> LabelMixes {
        LabelMixes::of(&[10, 10, 10, 10], 1, &[])
    }

    /// Stays: half the samples, so a round counts as 0.5^0.3 = 0.8123 and 20 x 0.5^-0.3 = 24.623 are needed, of which 10 are done:
    /// 18.003 rounds, 36.006 s, and of 100 J a quarter each, 450.1 J. Moves: 11 s until the first round with all, then 10 rounds, 31 s and 250 J.
    #[test]
    fn a_hand_worked_flight() {
        let (mixes, so_far) = (all_alike(), [from(1.5, 2.0, 0.0)]);
        let stakes = stakes(&mixes, &WEIGHTS, &so_far);
        let (made, verdict) = stakes.weigh(&[candidate(100.0)], &[]);
        assert_eq!(made.len(), 1);
        assert!((verdict.rounds_left - 18.003).abs() < 1e-3, "{verdict:?}");
        assert!((verdict.saved.seconds - 5.006).abs() < 1e-3, "{verdict:?}");
        assert!((verdict.saved.joules - 200.08).abs() < 0.01, "{verdict:?}");
        // 0.5 (200.08 - 100) + 0.5 x 5.006
        assert!((verdict.worth - 52.54).abs() < 0.01, "{verdict:?}");
        let (made, verdict) = stakes.weigh(&[candidate(250.0)], &[]);
        assert!(made.is_empty() && verdict.worth < 0.0, "{verdict:?}");
    }

    /// If everybody waits, 10 s pass without a round, and three others hover meanwhile.
    #[test]
    fn waiting_is_counted() {
        let (mixes, so_far) = (all_alike(), [from(1.5, 2.0, 0.0)]);
        let mut stakes = stakes(&mixes, &WEIGHTS, &so_far);
        (stakes.wait, stakes.waiting_power_w) = (true, 400.0);
        let (_, verdict) = stakes.weigh(&[candidate(0.0)], &[]);
        assert!((verdict.saved.seconds - 6.006).abs() < 1e-3, "{verdict:?}");
        // 450.08 - 250 - 10 x 300
        assert!(
            (verdict.saved.joules + 2_799.92).abs() < 0.01,
            "{verdict:?}"
        );
    }

    /// Who comes back soon closes the gap as well, and nobody need fly.
    #[test]
    fn a_gap_that_closes_by_itself_is_left() {
        let (mixes, so_far) = (all_alike(), [from(1.5, 2.0, 0.0)]);
        let stakes = stakes(&mixes, &WEIGHTS, &so_far);
        let back = from(1.5, 2.0, 3.0);
        let (made, verdict) = stakes.weigh(&[candidate(100.0)], &[back]);
        assert!(
            made.is_empty() && verdict.saved.seconds < 0.0,
            "{verdict:?}"
        );
    }

    /// Flights that bring nothing are left out of a plan that is worth it as a whole.
    #[test]
    fn only_flights_that_pay_are_made() {
        let (mixes, so_far) = (all_alike(), [from(1.5, 2.0, 0.0)]);
        let stakes = stakes(&mixes, &WEIGHTS, &so_far);
        let mut idle = candidate(40.0);
        idle.flight.uav = UavId(1);
        idle.stays = vec![from(0.0, 0.5, 0.0)];
        idle.moves = vec![from(1.0, 0.5, 10.0)];
        let (made, _) = stakes.weigh(&[candidate(20.0), idle], &[]);
        let who: Vec<UavId> = made.iter().map(|flight| flight.uav).collect();
        assert_eq!(who, [UavId(0)]);
    }

    /// Device 3 alone holds the second class: without it the same number of devices is worth less.
    #[test]
    fn a_class_that_nobody_covers_weighs_heavily() {
        let outputs = [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(Vec::from);
        let mixes = LabelMixes::of(&[10; 4], 2, &outputs);
        let so_far = [from(1.5, 2.0, 0.0)];
        let stakes = stakes(&mixes, &WEIGHTS, &so_far);
        let reference = stakes.reference();
        let with = stakes.outcome(&[from(2.5, 1.0, 0.0)], &reference);
        let without = stakes.outcome(&[from(0.5, 1.0, 0.0)], &reference);
        assert!(without.seconds > 2.0 * with.seconds, "{with:?} {without:?}");
        // Where devices come within reach by themselves, that is no matter.
        let roaming = Stakes {
            arrival_rate: 0.5,
            ..stakes
        };
        let reference = roaming.reference();
        let without = roaming.outcome(&[from(0.5, 1.0, 0.0)], &reference);
        assert!(without.seconds < 1.1 * with.seconds, "{without:?}");
    }

    /// What neither reaches ends with the run.
    #[test]
    fn nothing_is_brought_after_the_last_round() {
        let (mixes, so_far) = (all_alike(), [from(1.5, 2.0, 0.0)]);
        let mut stakes = stakes(&mixes, &WEIGHTS, &so_far);
        stakes.rounds_left = 8.0;
        let (made, verdict) = stakes.weigh(&[candidate(150.0)], &[]);
        assert!(made.is_empty(), "{verdict:?}");
        assert_eq!((verdict.saved.seconds, verdict.rounds_left), (0.0, 8.0));
    }
}
