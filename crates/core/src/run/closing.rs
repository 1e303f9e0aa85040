//! The end of a round, whatever its schedule: the model is tested, the decisions hear how it went, and
//! the round is put on record.

use crate::Error;
use crate::decide::allocation::RoundProgress;
use crate::decide::association::{CellOutcome, DeviceOutcome, RoundOutcome};
use crate::method::Method;
use crate::record::{EventKind, RoundRecord, Sightings};
use crate::vocabulary::{Energy, EnergyItem, Quality};

use super::Simulation;
use super::outlook::RoundCost;
use super::stage::RoundWork;

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
    /// What the controller hears of it.
    pub(crate) fn outcome(&self) -> RoundOutcome<'_> {
        RoundOutcome {
            round: self.record.round,
            before: self.before,
            after: self.after,
            covered: self.record.covered,
            energy_j: work_j(&self.record.energy),
            time_s: self.time_s,
            model_change: self.record.model_change,
            cells: &self.cells,
            devices: &self.devices,
        }
    }
}

/// What a round's work took, whoever came and went meanwhile.
fn work_j(energy: &Energy) -> f64 {
    let flight = |item: &EnergyItem| matches!(item, EnergyItem::Move | EnergyItem::ReturnFlight);
    let work = EnergyItem::spent().filter(|item| !flight(item));
    work.map(|item| energy.get(item)).sum()
}

impl Simulation {
    pub(super) fn test_and_record(
        &mut self,
        work: RoundWork,
        method: &mut Method,
    ) -> Result<ClosedRound, Error> {
        let (fleet, learning) = (&mut self.fleet, &mut self.learning);
        let mut books = work.books;
        let test = learning.evaluator.test(&learning.global_model)?;
        let finite = |model: &[f32]| model.iter().all(|weight| weight.is_finite());
        if !(test.loss.is_finite() && finite(&learning.global_model)) {
            books.tell(EventKind::Diverged);
        }
        let before = learning.quality;
        let after = learning.evaluator.probe(&learning.global_model)?;
        learning.quality = after;
        if work.merged_anything && method.allocation.watches_progress() {
            method.allocation.observe(&RoundProgress {
                edge_rounds: work.edge_rounds,
                local_iterations: work.local_iterations,
                loss_before: before.loss,
                loss_after: after.loss,
            });
        }
        let energy = books.total_energy();
        let cost = work.merged_anything.then(|| RoundCost {
            seconds: work.time_s,
            joules: work_j(&energy),
            uavs: work
                .coverage
                .cells
                .iter()
                .filter(|cell| !cell.is_empty())
                .count() as f64,
        });
        self.cumulative_energy_j += energy.spent_j();
        let selected = work.cells.iter().map(|cell| cell.devices.len()).sum();
        let uavs = books.close(&fleet.world, &work.coverage, work.cells);
        let record = RoundRecord {
            round: fleet.round,
            clock_s: fleet.world.clock_s,
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
            validation_loss: after.loss,
            validation_accuracy: after.accuracy,
            test_loss: test.loss,
            test_accuracy: test.accuracy,
            devices: Sightings::new(&fleet.world.devices.position, &work.coverage, &uavs),
            uavs,
            events: std::mem::take(&mut books.events),
        };
        if fleet.weighs_flights(method) {
            // As far as the run is from its end, by what ends it.
            let accuracy = fleet.scenario.stop.target_on.accuracy(&record);
            let target = fleet.scenario.stop.aim();
            fleet.outlook.note(accuracy, target, cost);
        }
        Ok(ClosedRound {
            record,
            before,
            after,
            time_s: work.time_s,
            cells: work.cell_outcomes,
            devices: work.device_outcomes,
        })
    }
}
