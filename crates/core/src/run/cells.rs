//! The cells of a round: who trains under each UAV, on what terms, at what cost.

use serde::{Deserialize, Serialize};

use crate::books::Books;
use crate::learn::aggregation::Fold;
use crate::nature::cost::{DeviceCost, EdgeCost};
use crate::nature::transfer::Transfers;
use crate::solve::bandwidth::LOCAL_ITERATIONS_MAX;
use crate::vocabulary::{CellPlan, DeviceId, UavId};

use super::fleet::Fleet;
use super::leaving::{Fate, HandedOver};
use super::saved::COUNT_MAX;

/// One UAV's work between two versions of the global model; without devices it only hovers.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct CellWork {
    pub(super) devices: Vec<DeviceId>,
    pub(super) plan: CellPlan,
    /// What each edge round costs.
    pub(super) cost: EdgeCost,
    /// What an edge round costs each device.
    pub(super) device_cost: Vec<DeviceCost>,
    /// How each device's transfers end in every edge round.
    pub(super) transfers: Vec<Transfers>,
    /// When each device leaves the UAV's coverage, s from the start of the run; empty where nobody moves inside a round.
    pub(super) leaves_at_s: Vec<f64>,
    /// What becomes of their updates; empty as well.
    pub(super) fates: Vec<Fate>,
    /// What those who have left no longer spend on computing in an edge round, J ...
    pub(super) spared_compute_j: f64,
    /// ... and on sending.
    pub(super) spared_upload_j: f64,
    /// Models that will cross the link to the aggregator.
    pub(super) handovers: usize,
    /// Seconds of passing the global model on to its devices, Eq. (22).
    pub(super) relay_s: f64,
    /// By how much the slowest selected device would have missed its deadline, relative to it.
    pub(super) overrun: f64,
    /// Edge rounds done.
    pub(super) edge_rounds: usize,
    /// Each device's training loss, summed over the updates that came, and how many these were.
    pub(super) device_loss: Vec<(f64, usize)>,
    /// Device updates that went into what the UAV carries.
    pub(super) updates: usize,
    /// The edge model, with the training samples behind it; none before training, and when it is lost.
    pub(super) model: Option<(Vec<f32>, f64)>,
    /// The global model that the edge model began from; none where the aggregator can tell, and where edge models are handed
    /// over as they are.
    pub(super) began_from: Option<Vec<f32>>,
    /// Device models that the UAV only relays, on their way into the global model; none in a hierarchy, nor between rounds.
    #[serde(skip)]
    pub(super) relayed: Option<Box<dyn Fold>>,
    /// Updates of other cells' devices that the UAV gets in later edge rounds; none between rounds.
    #[serde(skip)]
    pub(super) handed_over: Vec<HandedOver>,
    /// Whether the UAV went down while its devices trained.
    pub(super) lost: bool,
}

impl CellWork {
    /// Whether this can be the work of a cell among so many devices, on a model of so many numbers.
    pub(super) fn fits(&self, devices: usize, parameters: usize) -> bool {
        let plan = &self.plan;
        let rows = [
            plan.bandwidth_up_hz.len(),
            plan.bandwidth_down_hz.len(),
            self.device_cost.len(),
            self.transfers.len(),
            self.device_loss.len(),
        ];
        let ways = [self.leaves_at_s.len(), self.fates.len()];
        rows == [self.devices.len(); 5]
            && (ways == [0; 2] || ways == [self.devices.len(); 2])
            && self.devices.iter().all(|device| device.index() < devices)
            && plan.local_iterations <= LOCAL_ITERATIONS_MAX as usize
            && [self.updates, self.handovers, self.edge_rounds]
                .iter()
                .all(|&count| count <= COUNT_MAX)
            && self
                .device_loss
                .iter()
                .all(|(_, count)| *count <= COUNT_MAX)
            && self
                .model
                .iter()
                .all(|(model, _)| model.len() == parameters)
            && self
                .began_from
                .iter()
                .all(|model| model.len() == parameters)
    }

    /// T^Edge, Eq. (17).
    pub(super) fn edge_time_s(&self) -> f64 {
        self.edge_rounds as f64 * self.cost.slowest.time_s()
    }

    /// Attempts at transfers besides the first ones, in every edge round.
    pub(super) fn repeats(&self) -> usize {
        self.transfers.iter().map(|both| both.repeats()).sum()
    }

    /// Whether devices trained with it and it is still there.
    pub(super) fn has_devices(&self) -> bool {
        !self.lost && !self.devices.is_empty()
    }

    /// Whether any of its devices train in the coming edge round.
    pub(super) fn trains(&self) -> bool {
        self.has_devices()
            && (self.fates.is_empty() || self.fates.iter().any(|fate| *fate != Fate::Gone))
    }

    /// The devices that train in the coming edge round, each with its place among all and what becomes of its update.
    pub(super) fn training(&self) -> impl Iterator<Item = (usize, DeviceId, Fate)> {
        let devices = self.devices.iter().enumerate();
        let all = devices.map(|(place, device)| (place, *device, self.fate(place)));
        all.filter(|(_, _, fate)| *fate != Fate::Gone)
    }

    /// What becomes of the update of the device at this place.
    pub(super) fn fate(&self, place: usize) -> Fate {
        self.fates.get(place).copied().unwrap_or(Fate::Stays)
    }

    /// Why no update of the device at this place can arrive, however it trains; none: it can.
    pub(super) fn failure(&self, place: usize) -> Option<&'static str> {
        let transfers = self.transfers.get(place);
        transfers.and_then(|both| both.failure())
    }

    /// Whether there is anything to hand over.
    pub(super) fn carries(&self) -> bool {
        self.model.is_some() || self.relayed.is_some()
    }

    /// What the UAV carries is gone; returns the updates that went with it.
    pub(super) fn go_down(&mut self) -> usize {
        self.model = None;
        self.relayed = None;
        self.lost = true;
        std::mem::take(&mut self.updates)
    }

    /// Takes devices out that do not stay. What was planned for them lies idle.
    pub(super) fn keep_devices(&mut self, stays: impl Fn(DeviceId) -> bool) {
        let flags: Vec<bool> = self.devices.iter().map(|device| stays(*device)).collect();
        if !flags.contains(&false) {
            return;
        }
        for values in [
            &mut self.plan.bandwidth_up_hz,
            &mut self.plan.bandwidth_down_hz,
            &mut self.leaves_at_s,
        ] {
            *values = kept(values, &flags);
        }
        self.transfers = kept(&self.transfers, &flags);
        self.fates = kept(&self.fates, &flags);
        self.device_cost = kept(&self.device_cost, &flags);
        self.device_loss = kept(&self.device_loss, &flags);
        self.devices = kept(&self.devices, &flags);
    }

    /// Updates of other cells' devices that the UAV got in this edge round. The others come one closer.
    pub(super) fn take_handed_over(&mut self) -> Vec<HandedOver> {
        let (now, mut later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.handed_over)
            .into_iter()
            .partition(|update| update.after == 0);
        later.iter_mut().for_each(|update| update.after -= 1);
        self.handed_over = later;
        now
    }

    /// Takes everybody out: nobody trains here.
    pub(super) fn dismiss(&mut self) {
        *self = Self::default();
    }
}

/// UAVs that cannot pay even one edge round and what they must keep back do not start it: their
/// devices sit this round out, and nothing is lost. Returns who they are.
pub(super) fn refuse_to_start(
    fleet: &Fleet,
    cells: &mut [CellWork],
    books: &mut Books,
) -> Vec<Leaver> {
    let mut unable = Vec::new();
    let worst = fleet.worst_case(cells, books);
    for uav in fleet.world.active() {
        let cell = &mut cells[uav.id.index()];
        if let Some(leaver) = fleet.if_low(uav, cell, &worst, books) {
            unable.push(leaver);
            cell.dismiss();
        }
    }
    unable
}

/// The items whose flag is set.
pub(super) fn kept<T: Copy>(items: &[T], flags: &[bool]) -> Vec<T> {
    items
        .iter()
        .zip(flags)
        .filter(|(_, flag)| **flag)
        .map(|(&item, _)| item)
        .collect()
}

/// A UAV that must go home, and what it would have needed to stay.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Leaver {
    pub(super) uav: UavId,
    /// Infinite: it does not come back.
    pub(super) needed_j: f64,
}

impl Leaver {
    /// A UAV that goes home and stays there.
    pub(super) fn for_good(uav: UavId) -> Self {
        Self {
            uav,
            needed_j: f64::INFINITY,
        }
    }

    /// Of two reasons for the same UAV to leave, the one that keeps it away longer.
    pub(super) fn or(self, other: Option<Self>) -> Self {
        other
            .filter(|other| other.needed_j > self.needed_j)
            .unwrap_or(self)
    }

    /// Puts it on a list that has each UAV once.
    pub(super) fn join(self, list: &mut Vec<Self>) {
        match list.iter_mut().find(|other| other.uav == self.uav) {
            Some(known) => *known = self.or(Some(*known)),
            None => list.push(self),
        }
    }
}

/// Per UAV of so many, whether it is on a list of those who leave.
pub(super) fn who_leaves(list: &[Leaver], uavs: usize) -> Vec<bool> {
    let mut leaves = vec![false; uavs];
    for leaver in list {
        leaves[leaver.uav.index()] = true;
    }
    leaves
}
