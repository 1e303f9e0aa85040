//! What a fleet knows when it weighs flights: who serves from where and for how long, and what a round takes.

use crate::books::Books;
use crate::decide::redeploy::Move;
use crate::record::EventKind;
use crate::vocabulary::{Bill, Point, UavId};
use crate::world::{Status, Uav};

use super::cells::Leaver;
use super::fleet::Fleet;
use super::label_mixes::LabelMixes;
use super::learning::Learning;
use super::outlook::RoundCost;
use super::worth::{Candidate, Service, Stakes};

impl Fleet {
    /// Those of the flights that are best made; none where staying is better. What was weighed is told.
    pub(super) fn worthwhile(
        &self,
        moves: Vec<Move>,
        learning: &Learning,
        leaving: &[Leaver],
        staying: &[UavId],
        books: &mut Books,
    ) -> Vec<Move> {
        let round = self
            .outlook
            .cost()
            .unwrap_or_else(|| self.cost_so_far(books));
        let Some(curve) = self.outlook.curve().filter(|_| round.seconds > 0.0) else {
            return Vec::new();
        };
        if moves.is_empty() {
            return moves;
        }
        let now_s = self.began_s(books) + books.latest_s(&self.world.uavs);
        let stop = &self.scenario.stop;
        let mixes = LabelMixes::new(&learning.task, learning.scoring.told());
        let so_far: Vec<Service> = self.deployed.iter().map(|id| self.so_far(*id)).collect();
        let waiting_power_w = |id: UavId| books.waiting_j(id, 1.0);
        let stakes = Stakes {
            near: &|at, radius_m| self.world.devices_within(at, radius_m),
            devices: self.world.devices.position.len(),
            mixes: &mixes,
            weights: &self.scenario.weights,
            curve,
            target: stop.aim(),
            rounds_left: (stop.max_rounds as f64 - self.round as f64).max(0.0),
            round,
            arrival_rate: self.outlook.arrival_rate(),
            so_far: &so_far,
            wait: self.scenario.redeploy.wait,
            waiting_power_w: staying.iter().map(|id| waiting_power_w(*id)).sum(),
        };
        let candidate = |flight: &Move| {
            let uav = &self.world.uavs[flight.uav.index()];
            Candidate {
                flight: *flight,
                stays: self.services(uav, (uav.position, Bill::default()), now_s),
                moves: self.services(uav, (flight.to, flight_bill(flight)), now_s),
                waiting_power_w: waiting_power_w(flight.uav),
            }
        };
        let candidates: Vec<Candidate> = moves.iter().map(candidate).collect();
        let mut others = Vec::new();
        for uav in &self.world.uavs {
            let leaver = leaving.iter().find(|leaver| leaver.uav == uav.id);
            match (leaver, uav.status) {
                (Some(leaver), _) => others.extend(self.service_after(uav, leaver, now_s)),
                (None, Status::Active) => {
                    if !moves.iter().any(|flight| flight.uav == uav.id) {
                        let here = (uav.position, Bill::default());
                        others.extend(self.services(uav, here, now_s));
                    }
                }
                (None, Status::Flying { arrives_at_s }) => {
                    let rest = Bill::new((arrives_at_s - now_s).max(0.0), 0.0);
                    others.extend(self.services(uav, (uav.position, rest), now_s));
                }
                (None, Status::Away { returns_at_s }) => {
                    others.push(service(uav, uav.position, returns_at_s - now_s));
                }
                (None, Status::Grounded | Status::Lost) => {}
            }
        }
        let (made, verdict) = stakes.weigh(&candidates, &others);
        books.tell(EventKind::FlightsWeighed {
            worthwhile: !made.is_empty(),
            flights: if made.is_empty() {
                moves.len()
            } else {
                made.len()
            },
            flight_s: verdict.flights.seconds,
            flight_j: verdict.flights.joules,
            saved_s: verdict.saved.seconds,
            saved_j: verdict.saved.joules,
            rounds_left: verdict.rounds_left,
        });
        made
    }

    /// What this round took until now, for a change in the first.
    fn cost_so_far(&self, books: &Books) -> RoundCost {
        RoundCost {
            seconds: books.latest_s(&self.world.uavs),
            joules: books.total_energy().spent_j(),
            uavs: self.world.active().count() as f64,
        }
    }

    /// A UAV's place in the rounds so far.
    fn so_far(&self, id: UavId) -> Service {
        let uav = &self.world.uavs[id.index()];
        service(uav, uav.position, 0.0)
    }

    /// How a UAV serves from a place after the flight there: until its battery calls it home, and again when it has charged.
    fn services(&self, uav: &Uav, (at, flight): (Point, Bill), now_s: f64) -> Vec<Service> {
        let home = self.nature.flight_home(uav.id, at);
        let hover_power_w = self.nature.airframe(uav.id).hover_power_w;
        let spare_j = uav.battery_j - flight.joules - home.joules;
        let lasts_s = (spare_j / hover_power_w).max(0.0);
        let mut first = service(uav, at, flight.seconds);
        first.until_s = flight.seconds + lasts_s;
        let leaves_s = Some(now_s + first.until_s).filter(|leaves_s| leaves_s.is_finite());
        let back = leaves_s.and_then(|leaves_s| self.back_at_s(uav, at, (0.0, home), leaves_s));
        let again = back.map(|back_s| service(uav, at, back_s - now_s));
        [Some(first), again].into_iter().flatten().collect()
    }

    /// How a UAV that leaves now serves again from where it is.
    fn service_after(&self, uav: &Uav, leaver: &Leaver, now_s: f64) -> Option<Service> {
        if leaver.needed_j.is_infinite() {
            return None;
        }
        let home = self.flight_home(uav);
        let left_j = (uav.battery_j - home.joules).max(0.0);
        let back_s = self.back_at_s(uav, uav.position, (left_j, home), now_s)?;
        Some(service(uav, uav.position, back_s - now_s))
    }

    /// When a UAV is back at a place that leaves it with so much for the base after the flight there; none: never.
    fn back_at_s(
        &self,
        uav: &Uav,
        place: Point,
        (left_j, home): (f64, Bill),
        leaves_s: f64,
    ) -> Option<f64> {
        let there_s = leaves_s + home.seconds;
        let charging = &self.nature.charging;
        let charge_s = charging.charge_s(there_s, left_j, uav.full_j, uav.recharge_w)?;
        Some(there_s + charge_s + self.nature.flight_out(uav.id, place).seconds)
    }
}

/// A UAV covers devices from a place, from some seconds on.
fn service(uav: &Uav, at: Point, from_s: f64) -> Service {
    Service {
        at,
        radius_m: uav.coverage_radius_m,
        from_s,
        until_s: f64::INFINITY,
    }
}

fn flight_bill(flight: &Move) -> Bill {
    Bill::new(flight.seconds, flight.energy_j)
}
