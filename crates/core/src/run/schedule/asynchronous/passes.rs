//! What cells are in the middle of.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::vocabulary::{DeviceId, UavId};
use crate::world::Uav;

use super::super::super::cells::{CellWork, Leaver};
use super::super::super::saved::COUNT_MAX;
use super::event_queue::EventQueue;
use super::tiers::Tiers;

/// What cells are in the middle of: all that the next round needs to know.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Passes {
    pub(super) queue: EventQueue<Activity>,
    /// Per UAV, as the rest.
    pub(super) cells: Vec<CellWork>,
    /// The pass that each cell is in, which keeps their random streams apart.
    pub(super) pass: Vec<usize>,
    /// UAVs that go home after their next hand-over.
    pub(super) leaving: Vec<Option<Leaver>>,
    pub(super) tiers: Tiers,
    pub(super) aggregator: Option<UavId>,
    /// Passes begun so far.
    pub(super) begun: usize,
}

/// What a cell is doing until its event.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Activity {
    pub(super) began_s: f64,
    pub(super) until_s: f64,
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
            pass: vec![0; uavs],
            leaving: vec![None; uavs],
            tiers: Tiers::new(uavs),
            ..Self::default()
        }
    }

    /// Whether this can be about a fleet of so many UAVs and devices and a model of so many numbers.
    pub(super) fn fits(&self, uavs: usize, devices: usize, parameters: usize) -> bool {
        let Self {
            queue,
            cells,
            pass,
            leaving,
            tiers,
            aggregator,
            begun,
        } = self;
        let known = |id: UavId| id.index() < uavs;
        let queued = queue.iter().all(|(time_s, uav, now)| {
            let to = match now.step {
                Step::Train => uav,
                Step::HandOver { to } => to,
            };
            known(uav)
                && known(to)
                && [time_s, now.began_s, now.until_s, now.fetch_s]
                    .iter()
                    .all(|s| s.is_finite())
        });
        let leavers = leaving
            .iter()
            .zip(0..)
            .all(|(leaver, id)| leaver.is_none_or(|leaver| leaver.uav == UavId(id)));
        queued
            && leavers
            && *begun <= COUNT_MAX
            && aggregator.is_none_or(known)
            && pass.iter().all(|pass| *pass <= COUNT_MAX)
            && [cells.len(), leaving.len(), pass.len()] == [uavs; 3]
            && cells.iter().all(|cell| cell.fits(devices, parameters))
            && tiers.fits(uavs, parameters)
    }

    /// A UAV goes home after its next hand-over; false when it has nothing to hand over.
    pub(super) fn leaves_after_handover(&mut self, leaver: Leaver) -> bool {
        let under_way = self.queue.get(leaver.uav).is_some();
        if under_way {
            let leaving = &mut self.leaving[leaver.uav.index()];
            *leaving = Some(leaver.or(*leaving));
            self.aggregator = self.aggregator.filter(|id| *id != leaver.uav);
        }
        under_way
    }

    /// Devices that are training.
    pub(super) fn busy(&self) -> HashSet<DeviceId> {
        let training = self
            .queue
            .iter()
            .filter(|(_, _, now)| now.step == Step::Train);
        training
            .flat_map(|(_, uav, _)| self.cells[uav.index()].training())
            .map(|(_, device, _)| device)
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
