//! What a round leaves behind.

use serde::{Deserialize, Deserializer, Serialize};

use crate::vocabulary::Point;
use crate::world::{DeviceId, Status, UavId};

pub mod schema;
mod sightings;
mod summary;
mod target;

pub use crate::vocabulary::{Energy, EnergyItem, Time, TimeItem, UavTime};
pub(crate) use sightings::listed;
pub use sightings::{Part, Sightings};
pub use summary::{Crossing, Reached, StoppedBy, Summary};
pub use target::first_reached;

/// One UAV in one global round. Its battery obeys
/// `battery_before_j + recharged_j + harvested_j = battery_after_j + energy.total_j()`, its time
/// `time.total_s() + away_s` = the round's length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UavRecord {
    /// Which UAV.
    pub uav: UavId,
    /// What it is doing at the end of the round.
    pub status: Status,
    /// Where it hovers; of one in flight, where it will.
    pub position_m: Point,
    /// Devices within its coverage.
    pub covered: usize,
    /// The devices that trained with it; of a fleet of more than 20 000, only those that [`Sightings`] tell of.
    pub devices: Vec<DeviceId>,
    /// How many more trained with it that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted: usize,
    /// Local iterations of its devices per edge round (H); 0 without devices.
    pub local_iterations: usize,
    /// Seconds of all its edge rounds together, T^Edge.
    pub edge_time_s: f64,
    /// Battery when the round began, J.
    pub battery_before_j: f64,
    /// Battery when the round ended, J.
    pub battery_after_j: f64,
    /// What it charged at the base before this round, J.
    pub recharged_j: f64,
    /// What its solar panel gave in this round, J.
    pub harvested_j: f64,
    /// What it spent, by item; device items are 0 here.
    pub energy: Energy,
    /// What it did with the round's time, by item. With `away_s` it adds up to the round's length.
    pub time: UavTime,
    /// Seconds in which it was not above its cell: at the base, on the way there or back, or lost.
    pub away_s: f64,
}

impl UavRecord {
    /// How many devices trained with it.
    #[must_use]
    pub fn selected(&self) -> usize {
        self.devices.len() + self.unlisted
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// One global round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundRecord {
    /// From 1.
    pub round: usize,
    /// Simulated time at its end, s.
    pub clock_s: f64,
    /// Energy spent since the start, devices and UAVs, J. Not what faults took.
    pub cumulative_energy_j: f64,
    /// How long it took, by item; on the path of the slowest UAV, so that the items add up.
    pub time: Time,
    /// What everybody spent, devices included, by item; and what faults took.
    pub energy: Energy,
    /// Edge rounds, K.
    pub edge_rounds: usize,
    /// Devices that some UAV covers.
    pub covered: usize,
    /// Devices that trained.
    pub selected: usize,
    /// Device updates computed over all edge rounds.
    pub updates_computed: usize,
    /// Of those, how many never reached the global model.
    pub updates_lost: usize,
    /// Who merged; nobody when no model was left to merge.
    pub aggregator: Option<UavId>,
    /// ||w_g - w_{g-1}||_2, the left side of (4); NaN when either is no longer finite.
    pub model_change: f64,
    /// Mean loss of the local steps; NaN when nobody trained.
    pub train_loss: f64,
    /// Cross-entropy of the global model on the validation samples, which controllers may see.
    pub validation_loss: f64,
    /// Accuracy of the global model on them, 0 to 1. Whoever tunes looks here, not at the test set.
    pub validation_accuracy: f64,
    /// Cross-entropy of the global model on the test set.
    pub test_loss: f64,
    /// Accuracy of the global model on the test set, 0 to 1.
    pub test_accuracy: f64,
    /// Each UAV.
    pub uavs: Vec<UavRecord>,
    /// The devices, as a map shows them.
    pub devices: Sightings,
    /// What happened.
    pub events: Vec<Event>,
}

impl RoundRecord {
    /// Device updates that reached the global model; the events say what became of the others.
    #[must_use]
    pub fn updates_aggregated(&self) -> usize {
        self.updates_computed - self.updates_lost
    }

    /// Local iterations per edge round (H) of the average device; NaN when nobody trained.
    #[must_use]
    pub fn mean_local_iterations(&self) -> f64 {
        let devices: usize = self.uavs.iter().map(UavRecord::selected).sum();
        let steps = |uav: &UavRecord| uav.selected() * uav.local_iterations;
        self.uavs.iter().map(steps).sum::<usize>() as f64 / devices as f64
    }

    /// The greatest H of a cell; 0 when nobody trained.
    #[must_use]
    pub fn most_local_iterations(&self) -> usize {
        let cells = self.uavs.iter().map(|uav| uav.local_iterations);
        cells.max().unwrap_or(0)
    }
}

/// Something worth telling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The global round.
    pub round: usize,
    /// The edge round after which it happened; 0: before the first.
    pub edge_round: usize,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// A UAV's battery no longer covers another edge round and what it must keep back. Eq. (15).
    UavLow {
        /// Which UAV.
        uav: UavId,
        /// What it has, J.
        #[serde(deserialize_with = "number")]
        battery_j: f64,
        /// What it would need, J.
        #[serde(deserialize_with = "number")]
        needed_j: f64,
    },
    /// A UAV left for the base.
    UavLeft {
        /// Which UAV.
        uav: UavId,
        /// When it will be back, s; none: never.
        returns_at_s: Option<f64>,
    },
    /// A UAV is back above its position with a full battery less the flight.
    UavReturned {
        /// Which UAV.
        uav: UavId,
    },
    /// A UAV's battery ran empty: it is lost, and its edge model with it.
    UavDepleted {
        /// Which UAV.
        uav: UavId,
        /// What it was doing.
        during: EnergyItem,
        /// Device updates of this global round that went down with it.
        updates_lost: usize,
    },
    /// A UAV flew to a new position, or set off for it.
    UavMoved {
        /// Which UAV.
        uav: UavId,
        /// Where it was.
        from_m: Point,
        /// Where it hovers from now on.
        to_m: Point,
        /// What the flight costs, J.
        #[serde(deserialize_with = "number")]
        energy_j: f64,
        /// When it is there, s; none where everybody waited for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arrives_at_s: Option<f64>,
    },
    /// A UAV that flew while the others went on is at its new position.
    UavArrived {
        /// Which UAV.
        uav: UavId,
    },
    /// Flights to new positions were weighed against what they would bring until the target is reached.
    FlightsWeighed {
        /// Whether they are worth it: then they follow.
        worthwhile: bool,
        /// How many UAVs would fly.
        flights: usize,
        /// The longest of the flights, s.
        #[serde(deserialize_with = "number")]
        flight_s: f64,
        /// What they take together, J.
        #[serde(deserialize_with = "number")]
        flight_j: f64,
        /// By how much sooner the target would be reached, s; negative: later.
        #[serde(deserialize_with = "number")]
        saved_s: f64,
        /// By how much less the rounds until then would take, without the flights, J.
        #[serde(deserialize_with = "number")]
        saved_j: f64,
        /// How many rounds it is to the target if everybody stays, by estimate.
        #[serde(deserialize_with = "number")]
        rounds_left: f64,
    },
    /// A UAV was lost without warning, by a fault.
    UavLost {
        /// Which UAV.
        uav: UavId,
        /// Device updates of this global round that went down with it.
        updates_lost: usize,
    },
    /// A UAV's battery was drained, by a fault.
    UavDrained {
        /// Which UAV.
        uav: UavId,
        /// What is left, J; in flight, what is left on arrival.
        #[serde(deserialize_with = "number")]
        battery_j: f64,
        /// When it arrives, s, if it is in flight.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arrives_at_s: Option<f64>,
    },
    /// A UAV could not hand over its edge model: neither the aggregator nor a UAV between hears it.
    ModelStranded {
        /// Which UAV.
        uav: UavId,
        /// Device updates of this global round that stayed behind.
        updates_lost: usize,
    },
    /// A device's update never came.
    UpdateLost {
        /// Which device.
        device: DeviceId,
        /// The UAV it trained with.
        uav: UavId,
        /// Why.
        reason: String,
    },
    /// A device left its UAV's coverage before its upload ended, and another UAV got its update.
    UpdateHandedOver {
        /// Which device.
        device: DeviceId,
        /// The UAV it trained with.
        uav: UavId,
        /// The UAV that got it.
        to: UavId,
    },
    /// Links between a UAV and devices within its radius are too weak to be used in this round: it does not cover them.
    DevicesOutOfReach {
        /// Which UAV.
        uav: UavId,
        /// How many devices.
        devices: usize,
    },
    /// The link between two UAVs is too weak to be used in this round.
    UavLinkOutage {
        /// Which two.
        uavs: [UavId; 2],
    },
    /// Transfers between a UAV and its devices had an SNR below `radio.least_snr_db` in an edge round and were tried again.
    TransfersRepeated {
        /// Which UAV.
        uav: UavId,
        /// Attempts after the first ones, of all its devices together.
        attempts: usize,
    },
    /// Every transfer between two UAVs has to be tried more than once in this round.
    UavLinkRepeated {
        /// Which two.
        uavs: [UavId; 2],
        /// Attempts after the first, in the worse direction.
        attempts: usize,
    },
    /// An asynchronous cell's model reached the aggregator and was merged.
    ModelArrived {
        /// Whose.
        uav: UavId,
        /// When, s.
        time_s: f64,
        /// How often the global model was merged since the cell fetched it.
        staleness: usize,
    },
    /// No device was selected by any UAV.
    NobodyTrained,
    /// Every UAV was away; the fleet waited for the first to return.
    Waited {
        /// Until when, s.
        until_s: f64,
    },
    /// The global model, or its loss, is no longer finite.
    Diverged,
}

/// A number of a JSON file, which has neither NaN nor infinity: both are written as null and read as
/// NaN.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let number = Option::deserialize(deserializer)?;
    Ok(number.unwrap_or(f64::NAN))
}
