//! The end of a round, whatever its schedule: the model is tested, the decisions hear how it went, and
//! the round is put on record.

use crate::Error;
use crate::decide::allocation::RoundProgress;
use crate::decide::association::{CellOutcome, DeviceOutcome, Quality, RoundOutcome};
use crate::method::Method;
use crate::record::{EnergyItem, EventKind, RoundRecord, Sightings};
use crate::world::{Coverage, DeviceId, UavId};

use super::Simulation;
use super::books::Books;

/// What a round came to, besides what stands in the books.
pub(super) struct RoundWork {
    pub(super) coverage: Coverage,
    /// Per UAV.
    pub(super) cells: Vec<CellReport>,
    pub(super) edge_rounds: usize,
    /// H of the average device.
    pub(super) local_iterations: f64,
    pub(super) updates_computed: usize,
    pub(super) train_loss: f64,
    pub(super) aggregator: Option<UavId>,
    /// Whether there is a new global model.
    pub(super) merged_anything: bool,
    pub(super) model_change: f64,
    /// Seconds without flights and without waiting for UAVs to return.
    pub(super) time_s: f64,
    pub(super) cell_outcomes: Vec<CellOutcome>,
    pub(super) device_outcomes: Vec<DeviceOutcome>,
}

/// What a UAV's record says of its cell.
#[derive(Clone, Debug, Default)]
pub(super) struct CellReport {
    pub(super) devices: Vec<DeviceId>,
    pub(super) local_iterations: usize,
    pub(super) edge_time_s: f64,
}

/// A round that is over.
pub(crate) struct ClosedRound {
    pub(crate) record: RoundRecord,
    before: Quality,
    after: Quality,
    time_s: f64,
    cells: Vec<CellOutcome>,
    devices: Vec<DeviceOutcome>,
}

impl ClosedRound {
    /// What the round's work took, whoever came and went meanwhile.
    fn work_j(&self) -> f64 {
        let work = |item: &EnergyItem| {
            !matches!(
                item,
                EnergyItem::Move | EnergyItem::ReturnFlight | EnergyItem::Leak
            )
        };
        let items = EnergyItem::ALL.into_iter().filter(work);
        items.map(|item| self.record.energy.get(item)).sum()
    }

    /// What the controller hears of it.
    pub(crate) fn outcome(&self) -> RoundOutcome<'_> {
        RoundOutcome {
            round: self.record.round,
            before: self.before,
            after: self.after,
            covered: self.record.covered,
            energy_j: self.work_j(),
            time_s: self.time_s,
            cells: &self.cells,
            devices: &self.devices,
        }
    }
}

impl Simulation {
    pub(super) fn test_and_record(
        &mut self,
        work: RoundWork,
        mut books: Books,
        method: &mut Method,
    ) -> Result<ClosedRound, Error> {
        let test = self.trainer.test(&self.global_model)?;
        if !(test.loss.is_finite() && self.global_model.iter().all(|weight| weight.is_finite())) {
            books.tell(EventKind::Diverged);
        }
        let before = self.quality;
        self.quality = self
            .trainer
            .evaluate(&self.global_model, &self.probe)?
            .into();
        if work.merged_anything {
            method.allocation.observe(&RoundProgress {
                edge_rounds: work.edge_rounds,
                local_iterations: work.local_iterations,
                loss_before: before.loss,
                loss_after: self.quality.loss,
            });
        }
        let energy = books.total_energy();
        self.cumulative_energy_j += energy.total_j();
        let selected = work.cells.iter().map(|cell| cell.devices.len()).sum();
        let uavs = books.close(&self.world, &work.coverage, work.cells);
        let record = RoundRecord {
            round: self.round,
            clock_s: self.world.clock_s,
            time: books.time,
            cumulative_energy_j: self.cumulative_energy_j,
            energy,
            edge_rounds: work.edge_rounds,
            covered: work.coverage.covered(),
            selected,
            updates_computed: work.updates_computed,
            updates_lost: books.updates_lost(),
            aggregator: work.aggregator,
            model_change: work.model_change,
            train_loss: work.train_loss,
            probe_loss: self.quality.loss,
            test_loss: test.loss,
            test_accuracy: test.accuracy(),
            devices: Sightings::new(&self.world.devices.position, &work.coverage, &uavs),
            uavs,
            events: std::mem::take(&mut books.events),
        };
        Ok(ClosedRound {
            record,
            before,
            after: self.quality,
            time_s: work.time_s,
            cells: work.cell_outcomes,
            devices: work.device_outcomes,
        })
    }
}
