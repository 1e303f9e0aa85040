//! Whether flights to new positions, Eq. (84), are worth what they take, by an estimate of how the run goes on with them and without.
//!
//! By the run's own curve (`outlook.rs`) the target is reached in round t*. With other devices covered it is another round. Let s be the share
//! of the training samples that is covered, relative to the rounds that the curve was drawn in, and m the share of samples whose class nobody
//! covers any more, neither now nor before the target:
//!
//! ```text
//! a round counts as s^0.3 rounds         fewer devices make noisier rounds
//! t* is that of the target plus m        who never sees a class errs on all of it
//! ```
//!
//! m is relative to those rounds too: classes that are covered again make the target easier, which ends the wait of a run that hangs just below
//! it. What is learnt is not forgotten at once, so a target that is near (`outlook.rs`) is not put off by a class that goes.
//!
//! A class counts as gone as far as less than a fifth of its samples is covered in time, 1 - (1 - s of the class) (1 - q)^R: q is how likely
//! a device comes within reach from one round to the next, R the rounds left.
//!
//! Who covers devices changes on the way: UAVs in flight arrive and serve from the next round on, UAVs that charge come back, batteries run
//! empty. So seconds are counted from one such change to the next, up to the target or the last round. Joules go with the seconds, and with
//! the number of UAVs that hover. Where the run ends before the target either way, a round of learning more by then is worth what a round
//! takes. Flights are worthwhile if the weighted sum of joules and seconds that they save (weights of P1), less that of what they take, is
//! more than a twentieth of what staying would cost from now on: closer calls are within what the estimate may be wrong by. The numbers were fitted to runs in which UAVs were missing from the start (`docs/flights.md`).

use crate::decide::redeploy::Move;
use crate::scenario::Weights;
use crate::vocabulary::{Bill, Point};

use super::label_mixes::LabelMixes;
use super::outlook::{Curve, RoundCost};

/// By what power of the share of covered samples a round counts.
const PACE_EXPONENT: f64 = 0.3;

/// A class of which less is covered is as good as gone, as far as it is less.
const ENOUGH: f64 = 0.2;

/// What flights must bring, as a share of what is left to pay.
const HURDLE: f64 = 0.05;

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

/// How a run goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Course {
    /// Seconds and joules to the target, or to the end of the run.
    bill: Bill,
    /// What has been done by then, in rounds of the curve.
    rounds: f64,
    /// Whether that is the target.
    arrives: bool,
}

/// Shares of the training samples that are covered.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shares {
    /// Now.
    now: f64,
    /// Of classes that are gone.
    gone: f64,
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
        let (energy, time) = (self.weights.energy, self.weights.time);
        let left = energy * stay.bill.joules + time * stay.bill.seconds;
        if best.worth <= HURDLE * left || !chosen.contains(&true) {
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
        (reference, stay): (&Shares, Course),
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
            go.bill.seconds += flights.seconds;
            go.bill.joules += flights.seconds * (self.waiting_power_w - flying_w).max(0.0);
        }
        let mut saved = Bill::new(
            stay.bill.seconds - go.bill.seconds,
            stay.bill.joules - go.bill.joules,
        );
        if !stay.arrives && !go.arrives {
            let more = go.rounds - stay.rounds;
            saved.seconds += more * self.round.seconds;
            saved.joules += more * self.round.joules;
        }
        let (energy, time) = (self.weights.energy, self.weights.time);
        Verdict {
            flights,
            saved,
            rounds_left: stay.bill.seconds / self.round.seconds,
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
            let landed_s = candidate.flight.seconds;
            match chosen.get(place) {
                Some(true) => all.extend(candidate.moves.iter().map(|service| Service {
                    from_s: match self.wait && service.from_s <= landed_s {
                        true => 0.0,
                        false => service.from_s,
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

    /// How the run goes on if these serve.
    fn outcome(&self, services: &[Service], reference: &Shares) -> Course {
        let round_s = self.round.seconds;
        let end_s = self.rounds_left * round_s;
        let mut changes: Vec<(f64, Change, &Service)> = Vec::with_capacity(4 * services.len());
        for service in services {
            let there_s = service.from_s.max(0.0);
            // A round that is under way goes on without it.
            let begins_s = (there_s / round_s).ceil() * round_s;
            if there_s < service.until_s.min(end_s) {
                changes.push((there_s, Change::Hovers(1), service));
                changes.push((service.until_s, Change::Hovers(-1), service));
            }
            if begins_s < service.until_s.min(end_s) {
                changes.push((begins_s, Change::Serves, service));
                changes.push((service.until_s, Change::Leaves, service));
            }
        }
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut changes = changes.into_iter().peekable();
        let mut cover = Cover::new(self);
        let mut done = self.curve.rounds;
        let mut spent = Bill::default();
        let mut hovering = 0;
        // In a few rounds nothing is forgotten.
        let most_gone = match self.curve.is_near(self.target) {
            true => 0.0,
            false => f64::INFINITY,
        };
        loop {
            while let Some((_, change, service)) = changes.next_if(|next| next.0 <= spent.seconds) {
                match change {
                    Change::Hovers(more) => hovering += more,
                    Change::Serves => cover.add(service),
                    Change::Leaves => cover.remove(service),
                }
            }
            let next_s = changes.peek().map_or(end_s, |next| next.0.min(end_s));
            let lasts_s = (next_s - spent.seconds).max(0.0);
            let shares = cover.shares();
            let pace = libm::pow(shares.now / reference.now, PACE_EXPONENT);
            let gone = (shares.gone - reference.gone).min(most_gone);
            let needed = self.curve.rounds_to(self.target, gone) - done;
            let needed_s = match cover.uavs > 0 && pace > 0.0 {
                true => needed.max(0.0) / pace * round_s,
                false => f64::INFINITY,
            };
            let passes_s = needed_s.min(lasts_s);
            let share = f64::from(hovering) / self.round.uavs.max(1.0);
            spent.joules += passes_s / round_s * self.round.joules * share;
            spent.seconds += passes_s;
            done += pace * passes_s / round_s;
            let arrives = needed_s <= lasts_s;
            if arrives || next_s >= end_s {
                return Course {
                    bill: spent,
                    rounds: done,
                    arrives,
                };
            }
        }
    }
}

/// What changes at a moment.
#[derive(Clone, Copy)]
enum Change {
    /// One more UAV hovers, or one less.
    Hovers(i32),
    Serves,
    Leaves,
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
        let left = stakes.curve.rounds_to(stakes.target, 0.0) - stakes.curve.rounds;
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
        let (mut now, mut gone) = (0.0, 0.0);
        let total: f64 = self.stakes.mixes.total().iter().sum();
        for (covered, all) in self.covered.iter().zip(self.stakes.mixes.total()) {
            // Sums of differences may miss 0 by a rounding error.
            let share = (covered / all.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            let in_time = 1.0 - (1.0 - share) * self.stays_outside;
            now += share * all / total;
            gone += (1.0 - in_time / ENOUGH).max(0.0) * all / total;
        }
        Shares {
            now: now.max(f64::MIN_POSITIVE),
            gone,
        }
    }
}

#[cfg(test)]
mod tests;
