//! The fleet: everybody's place and battery, the laws they live under, and the life of a UAV between rounds.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use crate::books::Books;
use crate::method::Method;
use crate::nature::Nature;
use crate::nature::links::{Covered, Ground, RoundLinks};
use crate::record::EventKind;
use crate::scenario::{RedeployWhen, Reserve, ValidScenario, Waiting};
use crate::vocabulary::{Bill, EnergyItem, TimeItem, UavId};
use crate::world::{Coverage, Status, Uav, World};

use super::cells::{CellWork, Leaver};
use super::outlook::Outlook;
use super::scoring_costs::Probing;
use super::uav_links::SlowestAsked;

/// World, laws and faults. What it does costs seconds and joules, which go into the books that are passed in.
pub(crate) struct Fleet {
    pub(super) scenario: Arc<ValidScenario>,
    pub(super) world: World,
    pub(super) nature: Nature,
    /// Size of a model on its way to devices, bit.
    pub(super) model_bits: f64,
    /// Size of what devices and UAVs send up, bit.
    pub(super) update_bits: f64,
    /// Size of a training sample, bit.
    pub(super) sample_bits: f64,
    /// The global round, from 1; 0 before the first.
    pub(super) round: usize,
    /// UAVs among whom the area was last divided.
    pub(super) deployed: Vec<UavId>,
    /// How the run goes, where flights are weighed by that.
    pub(super) outlook: Outlook,
    /// Links between UAVs that a fault has cut in this round.
    pub(super) failed_links: HashSet<[u32; 2]>,
    /// What the method's looks at models take in this round.
    pub(super) probing: Probing,
    /// What is known of the slowest links: round, bits and posts, and the answer.
    pub(super) slowest_links: Mutex<Vec<(SlowestAsked, (f64, bool))>>,
}

impl Fleet {
    pub(super) fn new(
        scenario: Arc<ValidScenario>,
        world: World,
        nature: Nature,
        (model_bits, update_bits): (f64, f64),
        sample_bits: f64,
    ) -> Self {
        Self {
            deployed: world.uavs.iter().map(|uav| uav.id).collect(),
            scenario,
            world,
            nature,
            model_bits,
            update_bits,
            sample_bits,
            round: 0,
            outlook: Outlook::default(),
            failed_links: HashSet::new(),
            probing: Probing::default(),
            slowest_links: Mutex::default(),
        }
    }

    /// Whether the method's UAVs move only if that is worth it.
    pub(super) fn weighs_flights(&self, method: &Method) -> bool {
        self.scenario.redeploy.when == RedeployWhen::Worthwhile && method.redeployment.moves()
    }

    /// The books of the coming round.
    pub(super) fn open_books(&self) -> Books {
        let waiting_power_w = |uav| match self.scenario.uavs.waiting {
            Waiting::Hover => self.nature.airframe(uav).hover_power_w,
            Waiting::Free => 0.0,
        };
        Books::open(self.round + 1, &self.world, waiting_power_w)
    }

    /// The next round begins: links fail and devices move.
    pub(super) fn begin_round(&mut self) {
        self.round += 1;
        self.failed_links = self.links_cut_by_faults().collect();
        if self.round > 1 {
            let seed = self.scenario.seed;
            let mobility = &*self.nature.mobility;
            self.world.move_devices(mobility, seed, self.round);
        }
    }

    /// Who covers whom among UAVs and devices that no fault keeps from working and whose link can be used. `links` is the table
    /// of the round; drawn if there is none yet, and then links that are out are told.
    pub(super) fn working_coverage(
        &self,
        links: &mut Option<RoundLinks>,
        books: &mut Books,
    ) -> Coverage {
        let crashed = self.crashed();
        let all_work = crashed.is_empty() && self.world.active().all(|uav| self.serves(uav));
        let mut coverage = match all_work {
            true => self.world.coverage(),
            false => self
                .world
                .coverage_where(|uav| self.serves(uav), |device| !crashed.contains(&device)),
        };
        let drawn = links.get_or_insert_with(|| match all_work {
            true => self.draw_links(&coverage, books),
            false => self.draw_links(&self.world.coverage(), books),
        });
        coverage.keep_pairs(&self.world, drawn.pairs());
        coverage
    }

    /// The links of everybody who is there, whatever a fault keeps from working now: that may change within the round.
    fn draw_links(&self, coverage: &Coverage, books: &mut Books) -> RoundLinks {
        let uavs = self.world.uavs.iter().zip(&coverage.cells);
        let cells: Vec<Covered> = uavs
            .map(|(uav, cell)| Covered {
                uav: uav.id,
                above: uav.position,
                altitude_m: uav.altitude_m,
                broadcast_power_w: uav.broadcast_power_w,
                bandwidth_up_hz: uav.bandwidth_up_hz,
                bandwidth_down_hz: uav.bandwidth_down_hz,
                devices: cell,
            })
            .collect();
        let ground = Ground {
            position: &self.world.devices.position,
            tx_power_w: &self.world.devices.tx_power_w,
            nearest: &coverage.nearest,
        };
        let (table, out) = RoundLinks::draw(&self.nature, self.round, &cells, &ground);
        for (uav, weak) in self.world.uavs.iter().zip(out) {
            if !weak.is_empty() {
                books.tell(EventKind::DevicesOutOfReach {
                    uav: uav.id,
                    devices: weak.len(),
                });
            }
        }
        self.tell_weak_uav_links(books);
        table
    }

    /// Lets UAVs back in that are due, from their bases or from flights to new positions, and returns who they are. When nobody is
    /// there, waits for the first of them; none when nobody ever will.
    pub(super) fn let_back_in(&mut self, books: &mut Books) -> Option<Vec<UavId>> {
        if self.world.active().next().is_none() {
            let due = |uav: &Uav| match uav.status {
                Status::Away { returns_at_s } => Some(returns_at_s),
                Status::Flying { arrives_at_s } => Some(arrives_at_s),
                Status::Active | Status::Grounded | Status::Lost => None,
            };
            let due = self.world.uavs.iter().filter_map(due);
            let first_s = due.min_by(f64::total_cmp)?;
            let wait_s = first_s - self.world.clock_s;
            if wait_s > 0.0 {
                books.time.add(TimeItem::Wait, wait_s);
                books.nobody_serves(&self.world.uavs, wait_s);
                self.world.clock_s = first_s;
                books.tell(EventKind::Waited { until_s: first_s });
            }
        }
        let clock_s = self.world.clock_s;
        let mut back = Vec::new();
        for index in 0..self.world.uavs.len() {
            match self.world.uavs[index].status {
                Status::Away { returns_at_s } if returns_at_s <= clock_s => {
                    let flight = self.flight_out(&self.world.uavs[index]);
                    let uav = &mut self.world.uavs[index];
                    uav.status = Status::Active;
                    books.recharge(uav, uav.full_j.max(uav.battery_j));
                    // It flew before the round began. Who could not pay for it was grounded, see `send_home`.
                    let _paid = books.spend(uav, EnergyItem::Move, Bill::beside(flight.joules));
                    books.tell(EventKind::UavReturned { uav: uav.id });
                    back.push(uav.id);
                }
                Status::Flying { arrives_at_s } if arrives_at_s <= clock_s => {
                    let uav = &mut self.world.uavs[index];
                    uav.status = Status::Active;
                    books.tell(EventKind::UavArrived { uav: uav.id });
                    back.push(uav.id);
                }
                _ => {}
            }
        }
        Some(back)
    }

    /// Sends UAVs to the base: from there they return charged, unless the scenario has no charger
    /// or a full battery would not do for the way and one edge round.
    pub(super) fn send_home(&mut self, leavers: &[Leaver], books: &mut Books) {
        for leaver in leavers {
            let uav = &self.world.uavs[leaver.uav.index()];
            if !uav.is_airborne() {
                continue;
            }
            books.depart(uav.id);
            let (flight, out) = (self.flight_home(uav), self.flight_out(uav));
            let uav = &mut self.world.uavs[leaver.uav.index()];
            // Its seconds are those in which it is away.
            let home = Bill::beside(flight.joules);
            if !books.spend_or_fall(uav, EnergyItem::ReturnFlight, home) {
                continue;
            }
            let charging = &self.nature.charging;
            let full_j = charging.aged_j(uav.full_j, uav.full_j - uav.battery_j);
            let worthwhile = full_j - out.joules >= leaver.needed_j.max(flight.joules);
            let there_s = self.world.clock_s + flight.seconds;
            let returns_at_s = Some(full_j)
                .filter(|_| worthwhile)
                .and_then(|full_j| {
                    charging.charge_s(there_s, uav.battery_j, full_j, uav.recharge_w)
                })
                .map(|charge_s| there_s + charge_s + out.seconds);
            if returns_at_s.is_some() {
                uav.full_j = full_j;
            }
            uav.status = returns_at_s.map_or(Status::Grounded, |returns_at_s| Status::Away {
                returns_at_s,
            });
            books.tell(EventKind::UavLeft {
                uav: uav.id,
                returns_at_s,
            });
        }
    }

    /// The flight from where a UAV hovers to the base that takes the least energy to reach.
    pub(super) fn flight_home(&self, uav: &Uav) -> Bill {
        self.nature.flight_home(uav.id, uav.position)
    }

    /// The flight back.
    fn flight_out(&self, uav: &Uav) -> Bill {
        self.nature.flight_out(uav.id, uav.position)
    }

    /// The sun shone on the UAVs in the air for the last so many seconds.
    pub(super) fn harvest(&mut self, seconds: f64, books: &mut Books) {
        let clock_s = self.world.clock_s;
        let joules = self.nature.charging.harvest_j(clock_s - seconds, clock_s);
        if joules > 0.0 {
            let there = self.world.uavs.iter_mut().filter(|uav| uav.is_airborne());
            there.for_each(|uav| books.harvest(uav, joules));
        }
    }

    /// What a UAV's battery must hold for it to go on: another edge round, waiting for slower cells where that is charged, and
    /// what it keeps back.
    pub(super) fn needed_j(
        &self,
        uav: &Uav,
        cell: &CellWork,
        worst: &WorstCase,
        books: &Books,
    ) -> f64 {
        let needed_j = cell.cost.uav_j() + self.reserve_j(uav, cell, worst);
        if !books.charges_barriers() {
            return needed_j;
        }
        let own_s = books.elapsed_s(uav.id) + cell.cost.slowest.time_s();
        needed_j + books.waiting_j(uav.id, worst.edge_round_ends_s - own_s)
    }

    /// What the energy check keeps back besides the next edge round: the flight home, and before it
    /// the hand-over and a broadcast, over links as bad as they can be this round, and looks at models.
    fn reserve_j(&self, uav: &Uav, cell: &CellWork, worst: &WorstCase) -> f64 {
        if self.scenario.uavs.reserve == Reserve::None {
            return 0.0;
        }
        let handovers = cell.handovers.max(worst.handovers).max(1) as f64;
        let handover_s = worst.tries * handovers * worst.handover_link_s;
        let hover_s = handover_s + (worst.uav_link_s + worst.relay_s);
        self.flight_home(uav).joules
            + self.nature.hover(uav.id, hover_s).joules
            + worst.sending_j(uav)
            + self.probing.edge_j
            + self.probing.global_j
    }

    /// What it keeps back after it has handed over.
    fn reserve_after_handover_j(&self, uav: &Uav, worst: &WorstCase) -> f64 {
        if self.scenario.uavs.reserve == Reserve::None {
            return 0.0;
        }
        let hover_s = worst.uav_link_s + worst.relay_s;
        let hover = self.nature.hover(uav.id, hover_s);
        self.flight_home(uav).joules + hover.joules + worst.sending_j(uav) + self.probing.global_j
    }

    /// Bounds on what the rest of the round can ask of anybody.
    pub(super) fn worst_case(&self, cells: &[CellWork], books: &Books) -> WorstCase {
        let slowest = |bits: f64| match self.bound_on_uav_links_s(bits) {
            Some(bound_s) => (bound_s, !self.failed_links.is_empty()),
            None => self.slowest_uav_link_s(bits),
        };
        let (uav_link_s, cut) = slowest(self.model_bits);
        let (handover_link_s, _) = match self.update_bits == self.model_bits {
            true => (uav_link_s, cut),
            false => slowest(self.update_bits),
        };
        // Where a link is cut, or where UAVs may fly out of reach of each other, models may go by way of a third UAV.
        let around = cut || self.nature.least_snr > 0.0;
        let hops = if around { 2.0 } else { 1.0 };
        let ends_s = |uav: &Uav| {
            let cell = &cells[uav.id.index()];
            match cell.trains() {
                true => books.elapsed_s(uav.id) + cell.cost.slowest.time_s(),
                false => 0.0,
            }
        };
        let edge_round_ends_s = match books.charges_barriers() {
            true => self.world.active().map(ends_s).fold(0.0, f64::max),
            false => 0.0,
        };
        WorstCase {
            uav_link_s: hops * uav_link_s,
            handover_link_s: hops * handover_link_s,
            relay_s: cells.iter().map(|cell| cell.relay_s).fold(0.0, f64::max),
            // Where cells do not wait for each other, the aggregator may change while a model is on its way.
            tries: if books.has_barriers() { 1.0 } else { 2.0 },
            handovers: match books.charges_barriers() {
                true => cells.iter().map(|cell| cell.handovers).max().unwrap_or(0),
                false => 0,
            },
            edge_round_ends_s,
        }
    }

    /// The energy check, Eq. (15): a UAV that cannot pay another edge round and what it must keep
    /// back has to go.
    pub(super) fn if_low(
        &self,
        uav: &Uav,
        cell: &CellWork,
        worst: &WorstCase,
        books: &mut Books,
    ) -> Option<Leaver> {
        let needed_j = self.needed_j(uav, cell, worst, books);
        if_below(uav, needed_j, books)
    }

    /// The energy check of a UAV that has handed over and would wait for so long: one whose battery does not last for that and
    /// for what it keeps back has to go.
    pub(super) fn if_too_low_to_wait(
        &self,
        uav: &Uav,
        seconds: f64,
        worst: &WorstCase,
        books: &mut Books,
    ) -> Option<Leaver> {
        let waiting_j = books.waiting_j(uav.id, seconds);
        let needed_j = waiting_j + self.reserve_after_handover_j(uav, worst);
        match waiting_j > 0.0 {
            true => if_below(uav, needed_j, books),
            false => None,
        }
    }

    /// Takes a bill out of the battery of whoever is there. A battery that runs empty takes the UAV and what it carries along.
    pub(super) fn charge(
        &mut self,
        uav: UavId,
        cell: &mut CellWork,
        item: EnergyItem,
        bill: Bill,
        books: &mut Books,
    ) {
        let uav = &mut self.world.uavs[uav.index()];
        if uav.is_airborne() && !books.spend(uav, item, bill) {
            let updates_lost = cell.go_down();
            books.tell(EventKind::UavDepleted {
                uav: uav.id,
                during: item,
                updates_lost,
            });
        }
    }
}

/// A UAV whose battery holds less than it needs is low.
pub(super) fn if_below(uav: &Uav, needed_j: f64, books: &mut Books) -> Option<Leaver> {
    if uav.battery_j >= needed_j {
        return None;
    }
    books.tell(EventKind::UavLow {
        uav: uav.id,
        battery_j: uav.battery_j,
        needed_j,
    });
    Some(Leaver {
        uav: uav.id,
        needed_j,
    })
}

/// Bounds on what the rest of a round can ask of a UAV.
pub(super) struct WorstCase {
    /// A model between any two UAVs.
    uav_link_s: f64,
    /// What one UAV hands over to another.
    handover_link_s: f64,
    /// Passing a model on to devices.
    relay_s: f64,
    /// How often a model may have to be handed over.
    tries: f64,
    /// The most models that anybody hands over, while others hover; 0 where waiting is free.
    handovers: usize,
    /// When the last cell is done with its next edge round; 0 where waiting is free.
    edge_round_ends_s: f64,
}

impl WorstCase {
    fn sending_j(&self, uav: &Uav) -> f64 {
        self.uav_link_s * uav.tx_power_w + self.relay_s * uav.broadcast_power_w
    }
}
