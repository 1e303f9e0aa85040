//! What goes wrong on purpose, at the moment it does.

use std::collections::HashSet;

use crate::books::Books;
use crate::record::EventKind;
use crate::scenario::{Fault, Moment};
use crate::vocabulary::{Bill, DeviceId, EnergyItem, UavId};
use crate::world::{Status, Uav};

use super::cells::{CellWork, Leaver};
use super::fleet::Fleet;
use super::schedule::Scheduler;
use super::uav_links::pair;

impl Fleet {
    /// Losses of this round at a moment, as (UAV, edge round, warned).
    fn losses(&self, wanted: Moment) -> impl Iterator<Item = (UavId, usize, bool)> {
        let round = self.round;
        self.scenario
            .faults
            .iter()
            .filter_map(move |fault| match *fault {
                Fault::Loss {
                    uav,
                    round: at,
                    moment,
                    edge_round,
                    warned,
                } if at == round && moment == wanted => Some((UavId(uav), edge_round, warned)),
                _ => None,
            })
    }

    /// What faults with a span, as (what, from, until), strike in this round.
    fn struck<T>(
        &self,
        is: impl Fn(&Fault) -> Option<(T, usize, usize)>,
    ) -> impl Iterator<Item = T> {
        let round = self.round;
        let all = self.scenario.faults.iter().filter_map(is);
        let now = all.filter(move |(_, from, until)| (*from..=*until).contains(&round));
        now.map(|(what, ..)| what)
    }

    /// UAVs that are lost before anybody trains. Those that were warned fly home, after their next hand-over when they are
    /// in the middle of something.
    pub(super) fn lose_before_round(&mut self, scheduler: &mut dyn Scheduler, books: &mut Books) {
        let struck: Vec<_> = self.losses(Moment::Before).collect();
        for (id, _, warned) in struck {
            if !warned {
                self.lose_suddenly(id, scheduler.cell_of(id), books);
            } else if !scheduler.leaves_after_handover(Leaver::for_good(id)) {
                self.send_home(&[Leaver::for_good(id)], books);
            }
        }
    }

    /// Whether a loss of this round may strike after a given edge round.
    pub(super) fn may_lose_after(&self, edge_round: usize, last: usize) -> bool {
        let mut due = self.losses(Moment::Edge).map(|(_, due, _)| due);
        due.any(|due| due.min(last) == edge_round)
    }

    /// UAVs that are lost between edge rounds, where `now` tells whether a UAV whose loss is due after
    /// an edge round has come to it. Those that were warned are to be sent home.
    pub(super) fn lose_between_edge_rounds(
        &mut self,
        cells: &mut [CellWork],
        now: impl Fn(UavId, usize) -> bool,
        books: &mut Books,
    ) -> Vec<Leaver> {
        let struck: Vec<_> = self.losses(Moment::Edge).collect();
        let mut leaving = Vec::new();
        for (id, at, warned) in struck {
            let uav = &self.world.uavs[id.index()];
            if !now(id, at) || !uav.is_airborne() {
                continue;
            }
            if warned && uav.is_active() {
                leaving.push(Leaver::for_good(id));
            } else if warned {
                // It carries nothing and keeps nobody waiting.
                self.send_home(&[Leaver::for_good(id)], books);
            } else {
                self.lose_suddenly(id, Some(&mut cells[id.index()]), books);
            }
        }
        leaving
    }

    /// UAVs that would be lost if they aggregated, and know it: they hand over and leave instead.
    pub(super) fn warned_aggregators(&self) -> Vec<Leaver> {
        let warned = self
            .losses(Moment::Aggregating)
            .filter(|(_, _, warned)| *warned);
        let active = warned.filter(|(id, ..)| self.world.uavs[id.index()].is_active());
        active.map(|(id, ..)| Leaver::for_good(id)).collect()
    }

    /// Whether a UAV is lost without warning when it aggregates in this round.
    pub(super) fn falls_aggregating(&self, uav: UavId) -> bool {
        self.losses(Moment::Aggregating)
            .any(|(id, _, warned)| id == uav && !warned)
    }

    /// The UAV is gone at once, with whatever model it carried.
    pub(super) fn lose_suddenly(
        &mut self,
        id: UavId,
        cell: Option<&mut CellWork>,
        books: &mut Books,
    ) {
        let uav = &mut self.world.uavs[id.index()];
        if uav.is_airborne() {
            uav.status = Status::Lost;
            let updates_lost = cell.map_or(0, CellWork::go_down);
            books.tell(EventKind::UavLost {
                uav: id,
                updates_lost,
            });
        }
    }

    /// Drains batteries that are to be drained in this round, to just above what their next edge
    /// round and the reserve need. Who is in flight has paid for it, and arrives with the reserve: it leaves from there.
    pub(super) fn drain(&mut self, cells: &[CellWork], books: &mut Books) {
        let worst = self.worst_case(cells, books);
        for fault in &self.scenario.faults {
            let Fault::Drain { uav, round } = *fault else {
                continue;
            };
            let index = uav as usize;
            if round != self.round || !self.world.uavs[index].is_airborne() {
                continue;
            }
            let uav = &self.world.uavs[index];
            let needed_j = self.needed_j(uav, &cells[index], &worst, books);
            let uav = &mut self.world.uavs[index];
            let excess_j = uav.battery_j - needed_j * (1.0 + 1e-9);
            if excess_j > 0.0 {
                let _enough = books.spend(uav, EnergyItem::Drained, Bill::beside(excess_j));
                books.tell(EventKind::UavDrained {
                    uav: uav.id,
                    battery_j: uav.battery_j,
                    arrives_at_s: match uav.status {
                        Status::Flying { arrives_at_s } => Some(arrives_at_s),
                        _ => None,
                    },
                });
            }
        }
    }

    /// Leaking batteries lose what a round's time lets out. What was merged by then is safe.
    pub(super) fn leak(&mut self, round_s: f64, cells: &mut [CellWork], books: &mut Books) {
        let leaks: Vec<(UavId, f64)> = self
            .struck(|fault| match *fault {
                Fault::Leak {
                    uav,
                    from,
                    until,
                    power_w,
                } => Some(((UavId(uav), power_w), from, until)),
                _ => None,
            })
            .collect();
        for (uav, power_w) in leaks {
            let bill = Bill::beside(power_w * round_s);
            self.charge(
                uav,
                &mut cells[uav.index()],
                EnergyItem::Leaked,
                bill,
                books,
            );
        }
    }

    /// Whether a UAV can serve devices: its cell's radio works, and it has a link to some other UAV.
    pub(super) fn serves(&self, uav: &Uav) -> bool {
        let mut others = self
            .world
            .active()
            .filter(|other| other.id != uav.id)
            .peekable();
        let alone = others.peek().is_none();
        !self.cut_off(uav.id)
            && (alone || others.any(|other| self.link_s(uav, other, self.model_bits).is_some()))
    }

    /// Whether a UAV's radio to its devices is out.
    pub(super) fn cut_off(&self, uav: UavId) -> bool {
        let mut out = self.struck(|fault| match *fault {
            Fault::CellOutage { uav, from, until } => Some((UavId(uav), from, until)),
            _ => None,
        });
        out.any(|id| id == uav)
    }

    /// Devices that are down in this round.
    pub(super) fn crashed(&self) -> HashSet<DeviceId> {
        let down = self.struck(|fault| match *fault {
            Fault::DeviceCrash {
                device,
                from,
                until,
            } => Some((DeviceId(device), from, until)),
            _ => None,
        });
        down.collect()
    }

    /// Links between UAVs that are out in this round.
    pub(super) fn links_cut_by_faults(&self) -> impl Iterator<Item = [u32; 2]> {
        self.struck(|fault| match *fault {
            Fault::LinkOutage {
                uavs: [a, b],
                from,
                until,
            } => Some((pair(a, b), from, until)),
            _ => None,
        })
    }
}
