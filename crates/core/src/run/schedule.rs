//! Who waits for whom: one file per schedule, and one line here.

mod asynchronous;
mod flat;
mod synchronous;

use crate::Error;
use crate::decide::association::Needs;
use crate::method::Schedule;
use crate::vocabulary::UavId;

use super::cells::{CellWork, Leaver};
use super::stage::{RoundWork, Stage};

/// Runs rounds: from the choice of devices to the new global model.
pub(super) trait Scheduler: Send {
    /// One round: the fleet, the learning and the decisions are in `stage`. Books and clock are left at the end of the
    /// round; testing and recording come after it.
    fn round(&mut self, stage: Stage) -> Result<RoundWork, Error>;

    /// Why it cannot serve an association with such needs, if it cannot.
    fn refuses(&self, _needs: Needs) -> Option<&'static str> {
        None
    }

    /// What a UAV's cell is in the middle of between rounds, if anything.
    fn cell_of(&mut self, _uav: UavId) -> Option<&mut CellWork> {
        None
    }

    /// Lets a UAV go home after its next hand-over; false when it has nothing to hand over.
    fn leaves_after_handover(&mut self, _leaver: Leaver) -> bool {
        false
    }

    /// What the next round depends on.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes up what [`save`](Self::save) gave, in a fleet of so many UAVs and devices and a model of so many numbers.
    fn restore(
        &mut self,
        saved: &[u8],
        _uavs: usize,
        _devices: usize,
        _parameters: usize,
    ) -> Result<(), Error> {
        crate::checkpoint::expect_nothing("schedule", saved)
    }
}

/// What runs a method's schedule in a fleet of so many UAVs.
pub(super) fn scheduler(schedule: Schedule, uavs: usize) -> Box<dyn Scheduler> {
    match schedule {
        Schedule::Synchronous { edge_rounds } => Box::new(synchronous::Synchronous { edge_rounds }),
        Schedule::Flat => Box::new(flat::Flat),
        Schedule::Asynchronous { edge_rounds } => {
            Box::new(asynchronous::Asynchronous::new(edge_rounds, uavs))
        }
    }
}
