//! The life of a UAV between rounds: running low, flying home, charging, returning.

use crate::geometry::Point;
use crate::record::{EnergyItem, EventKind, TimeItem};
use crate::scenario::Reserve;
use crate::world::{Status, Uav};

use super::Simulation;
use super::books::Books;
use super::cells::{CellWork, Leaver};

impl Simulation {
    /// Lets UAVs back in that are due. When nobody is there, waits for the first to return; false
    /// when none ever will.
    pub(super) fn welcome_back(&mut self, books: &mut Books) -> bool {
        if self.world.active().next().is_none() {
            let due = |uav: &Uav| match uav.status {
                Status::Away { returns_at_s } => Some(returns_at_s),
                _ => None,
            };
            let Some(first_s) = self
                .world
                .uavs
                .iter()
                .filter_map(due)
                .min_by(f64::total_cmp)
            else {
                return false;
            };
            if first_s > self.world.clock_s {
                books.time.add(TimeItem::Wait, first_s - self.world.clock_s);
                self.world.clock_s = first_s;
                books.tell(EventKind::Waited { until_s: first_s });
            }
        }
        let clock_s = self.world.clock_s;
        for index in 0..self.world.uavs.len() {
            let Status::Away { returns_at_s } = self.world.uavs[index].status else {
                continue;
            };
            if returns_at_s <= clock_s {
                let flight_j = self.flight_home_j(&self.world.uavs[index]);
                let uav = &mut self.world.uavs[index];
                uav.status = Status::Active;
                self.behind.remove(&uav.id);
                books.recharge(uav, self.scenario.uavs.battery_j);
                // Who could not pay the flight out was grounded, see `send_home`.
                let _paid = books.pay(uav, EnergyItem::Move, flight_j);
                books.tell(EventKind::UavReturned { uav: uav.id });
            }
        }
        true
    }

    /// Sends UAVs to the base: from there they return charged, unless the scenario has no charger
    /// or a full battery would not do for the way and one edge round.
    pub(super) fn send_home(&mut self, leavers: &[Leaver], books: &mut Books) {
        let config = &self.scenario.uavs;
        for leaver in leavers {
            let uav = &self.world.uavs[leaver.uav.index()];
            if !uav.is_active() {
                continue;
            }
            let (flight_s, flight_j) = self
                .nature
                .flight_cost(uav.position.distance(config.base_m));
            let worthwhile = config.battery_j - flight_j >= leaver.needed_j.max(flight_j);
            let uav = &mut self.world.uavs[leaver.uav.index()];
            if !books.pay(uav, EnergyItem::ReturnFlight, flight_j) {
                books.tell(EventKind::UavDepleted {
                    uav: uav.id,
                    during: EnergyItem::ReturnFlight,
                    updates_lost: 0,
                });
                continue;
            }
            let returns_at_s = (config.recharge_w > 0.0 && worthwhile).then(|| {
                let charge_s = (config.battery_j - uav.battery_j) / config.recharge_w;
                self.world.clock_s + flight_s + charge_s + flight_s
            });
            uav.status = returns_at_s.map_or(Status::Grounded, |returns_at_s| Status::Away {
                returns_at_s,
            });
            books.tell(EventKind::UavLeft {
                uav: uav.id,
                returns_at_s,
            });
        }
    }

    /// Energy of the flight between a UAV's post and the base, J.
    pub(super) fn flight_home_j(&self, uav: &Uav) -> f64 {
        self.nature
            .flight_cost(uav.position.distance(self.scenario.uavs.base_m))
            .1
    }

    /// What a UAV's battery must hold for it to go on: another edge round and what it keeps back.
    pub(super) fn needed_j(&self, uav: &Uav, cell: &CellWork, worst: &WorstLinks) -> f64 {
        cell.cost.uav_j() + self.reserve_j(uav, cell, worst)
    }

    /// What the energy check keeps back besides the next edge round: the flight home, and before it
    /// the hand-over and a broadcast, over links as bad as they can be this round.
    fn reserve_j(&self, uav: &Uav, cell: &CellWork, worst: &WorstLinks) -> f64 {
        if self.scenario.uavs.reserve == Reserve::None {
            return 0.0;
        }
        let handover_s = cell.handovers.max(1) as f64 * worst.uav_link_s;
        let hover_s = handover_s + (worst.uav_link_s + worst.relay_s);
        let sending_j = worst.uav_link_s * uav.tx_power_w + worst.relay_s * uav.broadcast_power_w;
        self.flight_home_j(uav) + hover_s * self.nature.hover_power_w() + sending_j
    }

    /// No link between two active UAVs is worse than the weakest radio across the box they hover in.
    pub(super) fn worst_links(&self, cells: &[CellWork]) -> WorstLinks {
        let mut corners = [
            Point::new(f64::MAX, f64::MAX),
            Point::new(f64::MIN, f64::MIN),
        ];
        let mut weakest_w = f64::MAX;
        for uav in self.world.active() {
            let Point { x_m, y_m } = uav.position;
            corners[0] = Point::new(corners[0].x_m.min(x_m), corners[0].y_m.min(y_m));
            corners[1] = Point::new(corners[1].x_m.max(x_m), corners[1].y_m.max(y_m));
            weakest_w = weakest_w.min(uav.tx_power_w);
        }
        // Where a link is out, models may go by way of a third UAV.
        let hops = if self.silent.is_empty() { 1.0 } else { 2.0 };
        WorstLinks {
            uav_link_s: hops
                * self
                    .nature
                    .uav_link_time_s(self.model_bits(), weakest_w, corners[0], corners[1]),
            relay_s: cells.iter().map(|cell| cell.relay_s).fold(0.0, f64::max),
        }
    }
}

/// Bounds on the radio times of a global aggregation.
pub(super) struct WorstLinks {
    uav_link_s: f64,
    relay_s: f64,
}
