//! What the phases of a round are given, and what they leave.

use crate::Error;
use crate::books::{Books, CellReport};
use crate::decide::Answers;
use crate::decide::aggregator::AggregatorChoice;
use crate::decide::allocation::Allocation;
use crate::decide::association::{Association, CellOutcome, DeviceOutcome, Needs, Scene, flaw};
use crate::decide::redeploy::Redeployment;
use crate::learn::LocalTraining;
use crate::learn::aggregation::Aggregation;
use crate::method::Method;
use crate::nature::links::RoundLinks;
use crate::seed::{Stream, stream};
use crate::vocabulary::{DeviceId, UavId};
use crate::world::Coverage;

use super::fleet::Fleet;
use super::learning::Learning;

/// The parts of a method that a schedule calls on.
pub(super) struct Decisions<'a> {
    pub(super) name: &'a str,
    pub(super) association: &'a mut dyn Association,
    pub(super) allocation: &'a mut dyn Allocation,
    pub(super) redeployment: &'a mut dyn Redeployment,
    pub(super) aggregator: &'a mut dyn AggregatorChoice,
    pub(super) aggregation: &'a dyn Aggregation,
    pub(super) checks_energy: bool,
    pub(super) hands_over: bool,
    pub(super) local: LocalTraining,
}

impl<'a> Decisions<'a> {
    pub(super) fn of(method: &'a mut Method) -> Self {
        Self {
            name: &method.name,
            association: &mut *method.association,
            allocation: &mut *method.allocation,
            redeployment: &mut *method.redeployment,
            aggregator: &mut *method.aggregator,
            aggregation: &*method.aggregation,
            checks_energy: method.checks_energy,
            hands_over: method.hands_over,
            local: method.local,
        }
    }

    /// A decision that the world cannot carry out.
    pub(super) fn impossible(&self, reason: String) -> Error {
        Error::Decision {
            method: self.name.into(),
            reason,
        }
    }

    /// Asks who trains. `key` tells its random draws from those of other times.
    pub(super) fn select(
        &mut self,
        scene: &Scene,
        seed: u64,
        key: usize,
    ) -> Result<Vec<Vec<DeviceId>>, Error> {
        let mut rng = stream(seed, Stream::Association, key as u64, 0);
        let selection = self.association.select(scene, &mut rng);
        match flaw(&selection, scene.coverage) {
            Some(reason) => Err(self.impossible(reason)),
            None => Ok(selection),
        }
    }
}

/// What a schedule asks of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    /// Edge rounds before a UAV hands over, K^Max.
    pub(super) edge_rounds: usize,
    /// Whether UAVs merge the models of their devices; otherwise they relay each of them.
    pub(super) merges_at_uavs: bool,
}

/// A round whose devices are still to be chosen.
pub(crate) struct Opening {
    pub(super) needs: Needs,
    pub(super) books: Books,
    pub(super) coverage: Coverage,
    pub(super) links: RoundLinks,
    pub(super) answers: Vec<Answers>,
}

impl Opening {
    /// What the controller sees when it chooses devices.
    pub(super) fn scene<'a>(&'a self, fleet: &'a Fleet, learning: &'a Learning) -> Scene<'a> {
        Scene {
            round: fleet.round,
            world: &fleet.world,
            coverage: &self.coverage,
            answers: &self.answers,
            quality: learning.quality,
        }
    }
}

/// A round under way, as a schedule gets it.
pub(super) struct Stage<'a> {
    pub(super) fleet: &'a mut Fleet,
    pub(super) learning: &'a mut Learning,
    pub(super) decisions: Decisions<'a>,
    pub(super) opening: Opening,
}

/// What a round came to.
pub(super) struct RoundWork {
    pub(super) books: Books,
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
