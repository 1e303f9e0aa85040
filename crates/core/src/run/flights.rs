//! UAVs that fly to new positions while the others go on.
//!
//! A UAV hands over its edge model, as one that leaves does, sets off, and serves again in the first round that begins at or after
//! its arrival; what it missed of the global model it takes up then, as one that returns from its base. Its battery pays for the whole flight when
//! it sets off, so that what the battery holds is what it will hold on arrival. Its seconds stand in the rounds in which they pass. On arrival
//! it hovers until the round is over, and leaves for the base if its battery does not last for that.

use crate::books::Books;
use crate::decide::redeploy::Move;
use crate::record::EventKind;
use crate::vocabulary::{Bill, EnergyItem, TimeItem};
use crate::world::Status;

use super::cells::{CellWork, Leaver};
use super::fleet::Fleet;

impl Fleet {
    /// Whoever has handed over and moves sets off.
    pub(super) fn set_off(&mut self, flights: &[Move], books: &mut Books) {
        for flight in flights {
            if !self.world.uavs[flight.uav.index()].is_active() {
                continue;
            }
            let arrives_at_s = self.now_s(flight.uav, books) + flight.seconds;
            let uav = &mut self.world.uavs[flight.uav.index()];
            let bill = Bill::beside(flight.energy_j);
            if !books.spend_or_fall(uav, EnergyItem::Move, bill) {
                continue;
            }
            uav.position = flight.to;
            uav.status = Status::Flying { arrives_at_s };
            books.tell(EventKind::UavMoved {
                uav: flight.uav,
                from_m: flight.from,
                to_m: flight.to,
                energy_j: flight.energy_j,
                arrives_at_s: Some(arrives_at_s),
            });
        }
    }

    /// Lets the time of UAVs in flight run until the end of a round that began at `began_s` and takes `round_s`. Returns those who
    /// have arrived and cannot afford to hover until then.
    pub(super) fn fly_on(
        &mut self,
        (began_s, round_s): (f64, f64),
        cells: &[CellWork],
        checks_energy: bool,
        books: &mut Books,
    ) -> Vec<Leaver> {
        let mut unable = Vec::new();
        for index in 0..self.world.uavs.len() {
            let uav = &self.world.uavs[index];
            let Status::Flying { arrives_at_s } = uav.status else {
                continue;
            };
            let until_s = (arrives_at_s - began_s).min(round_s);
            let flown_s = until_s - books.elapsed_s(uav.id);
            if flown_s > 0.0 {
                books.pass_time(uav.id, EnergyItem::Move, flown_s);
            }
            let wait_s = round_s - books.elapsed_s(uav.id);
            if wait_s <= 0.0 {
                continue;
            }
            if checks_energy {
                let worst = self.worst_case(cells, books);
                if let Some(leaver) = self.if_too_low_to_wait(uav, wait_s, &worst, books) {
                    unable.push(leaver);
                    continue;
                }
            }
            let bill = Bill::new(wait_s, books.waiting_j(uav.id, wait_s));
            let uav = &mut self.world.uavs[index];
            let _bore_it = books.spend_or_fall(uav, EnergyItem::Waiting, bill);
        }
        unable
    }

    /// When a round began, s from the start of the run, by a clock that has not been advanced to its end.
    pub(super) fn began_s(&self, books: &Books) -> f64 {
        self.world.clock_s - books.time.get(TimeItem::Wait)
    }
}
