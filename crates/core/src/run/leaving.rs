//! Devices that leave a UAV's coverage while a global round lasts. What was planned for a cell stays its cost: the UAV waits for
//! them in vain.

use serde::{Deserialize, Serialize};

use crate::books::Books;
use crate::nature::channel::{End, rate_bps};
use crate::nature::links::usable;
use crate::nature::mobility::{Circle, leaves_at_s};
use crate::record::EventKind;
use crate::vocabulary::{DeviceId, EnergyItem, Point, TimeItem, UavId};
use crate::world::Uav;

use super::cells::CellWork;
use super::fleet::Fleet;
use super::learning::Trained;

/// What becomes of a device's update of the coming edge round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Fate {
    /// It reaches its UAV.
    Stays,
    /// The device leaves before its upload has ended.
    Leaves,
    /// So it does, and sends its update to another UAV, which takes these joules, and so many more of that UAV's edge rounds.
    HandsOver {
        to: UavId,
        upload_j: f64,
        after: usize,
    },
    /// There is none: the device has left.
    Gone,
}

impl Fate {
    /// Why the update does not arrive anywhere; none: it does.
    pub(super) fn failure(self, UavId(uav): UavId) -> Option<String> {
        let leaves = self == Self::Leaves;
        leaves.then(|| format!("left the coverage of UAV {uav} before its upload ended"))
    }
}

/// An update on its way to another UAV than the one that its device trained with.
pub(super) struct HandedOver {
    pub(super) device: DeviceId,
    /// Whom it trained with.
    pub(super) from: UavId,
    pub(super) model: Vec<f32>,
    pub(super) weight: f64,
    /// Edge rounds of the UAV that gets it, besides the coming one, that end before it is there.
    pub(super) after: usize,
}

impl Fleet {
    /// The time at a UAV, s from the start of the run. Where cells do not wait for each other, the clock has it.
    pub(super) fn now_s(&self, uav: UavId, books: &Books) -> f64 {
        match books.has_barriers() {
            true => {
                let waited_s = books.time.get(TimeItem::Wait);
                self.world.clock_s + (books.elapsed_s(uav) - waited_s)
            }
            false => self.world.clock_s,
        }
    }

    /// When a device is first out of a UAV's coverage, from a time on; infinite where it is not until `until_s`.
    pub(super) fn leaves_at_s(
        &self,
        uav: &Uav,
        device: DeviceId,
        from_s: f64,
        until_s: f64,
    ) -> f64 {
        let motion = self.world.devices.motion.get(device.index());
        match (self.nature.mobility.walk(), motion) {
            (Some(walk), Some(motion)) => {
                let circle = self.circle(uav);
                leaves_at_s(walk, device, motion, circle, from_s, until_s)
            }
            _ => f64::INFINITY,
        }
    }

    fn circle(&self, uav: &Uav) -> Circle {
        Circle {
            centre: uav.position,
            radius_m: uav.coverage_radius_m,
        }
    }

    /// Where a device is in the middle of a round.
    fn place_at(&self, device: DeviceId, time_s: f64) -> Point {
        let devices = &self.world.devices;
        match (
            self.nature.mobility.walk(),
            devices.motion.get(device.index()),
        ) {
            (Some(walk), Some(motion)) => {
                let mut motion = *motion;
                walk.advance(device, &mut motion, time_s);
                motion.at(time_s)
            }
            _ => devices.position[device.index()],
        }
    }

    /// Notes when the devices of a cell leave, from now until all its edge rounds are over.
    pub(super) fn look_ahead(
        &self,
        uav: UavId,
        cell: &mut CellWork,
        now_s: f64,
        edge_rounds: usize,
    ) {
        if self.nature.mobility.walk().is_none() {
            return;
        }
        let uav = &self.world.uavs[uav.index()];
        let lasts_s = edge_rounds as f64 * cell.cost.slowest.time_s();
        // A little more, so that a rounding error hides nobody who leaves at the end.
        let until_s = now_s + lasts_s * (1.0 + 1e-9);
        let leaves = |device: &DeviceId| self.leaves_at_s(uav, *device, now_s, until_s);
        cell.leaves_at_s = cell.devices.iter().map(leaves).collect();
        cell.fates = vec![Fate::Stays; cell.devices.len()];
    }
}

/// A new edge round of a cell begins: whose update will reach its UAV.
pub(super) fn foresee(cell: &mut CellWork, start_s: f64) {
    let devices = cell.leaves_at_s.iter().zip(&cell.device_cost);
    for ((leaves_at_s, cost), fate) in devices.zip(&mut cell.fates) {
        if *fate != Fate::Gone {
            *fate = match *leaves_at_s < start_s + cost.time_s() {
                true => Fate::Leaves,
                false => Fate::Stays,
            };
        }
    }
}

/// Whether nobody will be left for another edge round after the coming one.
pub(super) fn is_last(fleet: &Fleet, cells: &[CellWork], books: &Books) -> bool {
    let all = fleet.world.uavs.iter().zip(cells);
    let mut training = all.filter(|(uav, cell)| uav.is_active() && cell.trains());
    training.all(|(uav, cell)| {
        let end_s = fleet.now_s(uav.id, books) + cell.cost.slowest.time_s();
        !cell.leaves_at_s.is_empty() && cell.leaves_at_s.iter().all(|&at_s| at_s <= end_s)
    })
}

/// Looks for UAVs that take the updates of those who will have left: they must cover the device while it sends, and one of
/// their edge rounds, of which there are so many more, must last until then.
pub(super) fn find_takers(fleet: &Fleet, cells: &mut [CellWork], more: usize, books: &Books) {
    for uav in 0..cells.len() {
        for place in 0..cells[uav].fates.len() {
            if cells[uav].fates[place] == Fate::Leaves {
                let from = UavId(uav as u32);
                if let Some(fate) = taker(fleet, cells, from, place, more, books) {
                    cells[uav].fates[place] = fate;
                }
            }
        }
    }
}

/// The nearest UAV that can take an update, and what sending it there takes.
fn taker(
    fleet: &Fleet,
    cells: &[CellWork],
    from: UavId,
    place: usize,
    more: usize,
    books: &Books,
) -> Option<Fate> {
    let cell = &cells[from.index()];
    let (device, cost) = (cell.devices[place], &cell.device_cost[place]);
    let start_s = fleet.now_s(from, books);
    let leaves_at_s = cell.leaves_at_s[place];
    // Who left before the model was there has nothing to hand over.
    if leaves_at_s < start_s + cost.download_s {
        return None;
    }
    let sends_at_s = leaves_at_s.max(start_s + cost.download_s + cost.compute_s);
    let here = fleet.place_at(device, sends_at_s);
    let covers = |uav: &&Uav| {
        let others = uav.id != from && cells[uav.id.index()].trains();
        others && fleet.circle(uav).holds(here) && fleet.serves(uav)
    };
    let distance = |uav: &Uav| uav.position.distance_squared(here);
    let covering = fleet.world.active().filter(covers);
    let to = covering.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let tx_power_w = fleet.world.devices.tx_power_w[device.index()];
    let air = End::uav(to.id, to.position, to.altitude_m);
    let path = fleet
        .nature
        .path(End::device(device, here), air, fleet.round);
    // It keeps the band that it has: nobody else in the cell that it left sends on it.
    let band_hz = cell.plan.bandwidth_up_hz[place];
    let snr_hz = usable(fleet.nature.snr_hz(&path, tx_power_w, 0.0))?;
    let transfer = fleet.nature.transfer(&path, snr_hz, band_hz);
    if !transfer.arrived {
        return None;
    }
    let upload_s = transfer.attempts() * fleet.update_bits / rate_bps(band_hz, snr_hz);
    let there_s = sends_at_s + upload_s;
    let edge_round_s = cells[to.id.index()].cost.slowest.time_s();
    let rounds = ((there_s - fleet.now_s(to.id, books)) / edge_round_s).ceil();
    let in_time = rounds <= more as f64 && fleet.circle(to).holds(fleet.place_at(device, there_s));
    in_time.then_some(Fate::HandsOver {
        to: to.id,
        upload_j: upload_s * tx_power_w,
        after: (rounds as usize).saturating_sub(1),
    })
}

/// Tells of updates that another UAV got, and what devices spent on sending such.
pub(super) fn tell_handed_over(trained: &Trained, books: &mut Books) {
    if trained.handover_j > 0.0 {
        books
            .devices
            .add(EnergyItem::DeviceUpload, trained.handover_j);
    }
    for &(device, uav, to) in &trained.handed_over {
        books.tell(EventKind::UpdateHandedOver { device, uav, to });
    }
}

/// The edge rounds are over: what is still on its way to a UAV does not get there.
pub(super) fn lose_late_ones(cells: &mut [CellWork], books: &mut Books) {
    for (to, cell) in (0..).zip(cells) {
        for update in std::mem::take(&mut cell.handed_over) {
            books.tell(EventKind::UpdateLost {
                device: update.device,
                uav: update.from,
                reason: format!("left its coverage, and came too late for UAV {to}"),
            });
        }
    }
}

/// An edge round of a cell is over: who has left until now takes no part in the next.
pub(super) fn see_off(cell: &mut CellWork, end_s: f64) {
    let devices = cell.leaves_at_s.iter().zip(&cell.device_cost);
    for ((leaves_at_s, cost), fate) in devices.zip(&mut cell.fates) {
        let leaves = *leaves_at_s <= end_s || *fate != Fate::Stays;
        if leaves && *fate != Fate::Gone {
            *fate = Fate::Gone;
            cell.spared_compute_j += cost.compute_j;
            cell.spared_upload_j += cost.upload_j;
        }
    }
}
