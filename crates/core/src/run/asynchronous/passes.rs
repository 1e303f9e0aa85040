//! What cells are in the middle of.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::world::{DeviceId, Uav, UavId};

use super::super::cells::{CellWork, Leaver};
use super::event_queue::EventQueue;
use super::tiers::Tiers;

/// More than any run counts up to.
const MOST: usize = u32::MAX as usize;

/// What cells are in the middle of: all that the next round needs to know.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(in super::super) struct Passes {
    pub(super) queue: EventQueue<Activity>,
    /// Per UAV, as the rest; empty before the first round.
    pub(super) cells: Vec<CellWork>,
    /// Edge rounds done.
    pub(super) edge_rounds: Vec<usize>,
    /// UAVs that go home after their next hand-over.
    pub(super) leaving: Vec<Option<Leaver>>,
    pub(super) tiers: Tiers,
    pub(super) aggregator: Option<UavId>,
    /// Passes begun so far, which keeps their random streams apart.
    pub(super) begun: usize,
}

/// What a cell is doing until its event.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Activity {
    pub(super) began_s: f64,
    /// Of that, fetching the global model.
    pub(super) fetch_s: f64,
    pub(super) step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Step {
    /// An edge round.
    Train,
    /// The edge model is on its way.
    HandOver {
        /// To this UAV.
        to: UavId,
    },
}

impl Passes {
    pub(super) fn new(uavs: usize) -> Self {
        Self {
            cells: (0..uavs).map(|_| CellWork::default()).collect(),
            edge_rounds: vec![0; uavs],
            leaving: vec![None; uavs],
            tiers: Tiers::new(uavs),
            ..Self::default()
        }
    }

    /// Whether these can be the passes of a fleet: what was read from a file may be anything.
    pub(in super::super) fn fit(&self, uavs: usize, devices: usize, parameters: usize) -> bool {
        let there = |uav: UavId| uav.index() < uavs;
        let empty = self.cells.is_empty() && self.queue.len() == 0;
        let lengths = [self.cells.len(), self.edge_rounds.len(), self.leaving.len()];
        let activities = self.queue.iter().all(|(uav, activity)| {
            let to = match activity.step {
                Step::HandOver { to } => to,
                Step::Train => uav,
            };
            there(uav) && there(to) && self.cells.get(uav.index()).is_some_and(CellWork::trains)
        });
        let leavers = self.leaving.iter().flatten().map(|leaver| leaver.uav);
        let known = leavers.chain(self.aggregator).all(there);
        (empty || lengths == [uavs; 3])
            && activities
            && known
            && self.begun <= MOST
            && self.edge_rounds.iter().all(|done| *done <= MOST)
            && self.tiers.fit(self.cells.len(), parameters, MOST)
            && self
                .cells
                .iter()
                .all(|cell| cell.fits(devices, parameters, MOST))
    }

    /// The work of a UAV's cell, if there can be any.
    pub(in super::super) fn cell_mut(&mut self, uav: UavId) -> Option<&mut CellWork> {
        self.cells.get_mut(uav.index())
    }

    /// A UAV goes home after its next hand-over; false when it has nothing to hand over.
    pub(in super::super) fn bid_leave(&mut self, leaver: Leaver) -> bool {
        let under_way = self.queue.get(leaver.uav).is_some();
        if under_way {
            self.leaving[leaver.uav.index()] = Some(leaver);
            self.aggregator = self.aggregator.filter(|id| *id != leaver.uav);
        }
        under_way
    }

    /// Devices that are training.
    pub(super) fn busy(&self) -> HashSet<DeviceId> {
        let trains = |uav| matches!(self.queue.get(uav), Some(now) if now.step == Step::Train);
        let cells = self
            .cells
            .iter()
            .zip(0..)
            .filter(|(_, id)| trains(UavId(*id)));
        cells
            .flat_map(|(cell, _)| cell.devices.iter().copied())
            .collect()
    }

    /// Drops what UAVs were doing that are gone. Returns how many passes ended by that.
    pub(super) fn drop_gone(&mut self, uavs: &[Uav]) -> usize {
        let mut ended = 0;
        for uav in uavs.iter().filter(|uav| !uav.is_active()) {
            ended += usize::from(self.queue.get(uav.id).is_some());
            self.queue.cancel(uav.id);
            self.cells[uav.id.index()].dismiss();
            self.leaving[uav.id.index()] = None;
            if self.aggregator == Some(uav.id) {
                self.aggregator = None;
                self.tiers.forget(uav.id);
            }
        }
        ended
    }
}
