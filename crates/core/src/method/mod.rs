//! Methods: compositions of [`parts`], one file each, one line in the registry each.
//!
//! A scenario may replace parts of any method (`association.kind`, `allocation.kind`, `redeploy.method`); a field that the
//! method so composed does not read is refused when it is changed, see [`Registry::method`].

mod ahfed;
mod cehfed;
mod cfed;
mod direct_drop;
mod fedprox;
mod fields;
mod fixed_threshold;
mod gdhfed;
mod gshfed;
mod hfed;
mod hfedat;
mod hfl;
mod hierfavg;
mod oort;
pub mod parts;
mod registry;
mod rhfed;

pub use fields::is_method_specific;
pub use registry::{Build, Entry, Registry};

use crate::decide::aggregator::AggregatorChoice;
use crate::decide::allocation::Allocation;
use crate::decide::association::Association;
use crate::decide::redeploy::Redeployment;
use crate::learn::aggregation::Aggregation;

pub use crate::learn::LocalTraining;

/// A way of running the fleet: who trains, how long and on which bandwidth, who aggregates, how.
///
/// Put one together from your own parts, or replace parts of a registered one:
///
/// ```
/// use aerofed::{Method, Scenario, decide::allocation::Equal};
/// let scenario = Scenario::default().check()?;
/// let longer = Method {
///     name: "hfl-20".into(),
///     allocation: Box::new(Equal { local_iterations: 20 }),
///     ..Method::named("hfl", &scenario)?
/// };
/// # assert_eq!(longer.name, "hfl-20");
/// # Ok::<(), aerofed::Error>(())
/// ```
pub struct Method {
    /// What records and summaries call it.
    pub name: String,
    /// Which covered devices train.
    pub association: Box<dyn Association>,
    /// How long they train and on which bandwidth.
    pub allocation: Box<dyn Allocation>,
    /// Where UAVs go when one of them left or came back.
    pub redeployment: Box<dyn Redeployment>,
    /// Which UAV merges the edge models.
    pub aggregator: Box<dyn AggregatorChoice>,
    /// How models are merged, at both levels.
    pub aggregation: Box<dyn Aggregation>,
    /// Whether UAVs check their energy, Eq. (15), and leave before it runs out.
    pub checks_energy: bool,
    /// Whether a device that leaves its UAV's coverage may send its update to another UAV, where UAVs wait for each other and
    /// merge; otherwise it is lost.
    pub hands_over: bool,
    /// Who waits for whom.
    pub schedule: Schedule,
    /// How devices train.
    pub local: LocalTraining,
    /// Asked at the end of every round why it does not count: for parts that call code which can fail in the middle of a
    /// decision. None: every round counts.
    pub failure: Option<Failure>,
}

/// Says why a round does not count, if it does not.
pub type Failure = Box<dyn Fn() -> Option<String> + Send>;

/// Who waits for whom between two versions of the global model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Schedule {
    /// Algorithm 1: every UAV merges its devices' models up to `edge_rounds` times, then all of them
    /// hand over and wait for the new global model.
    Synchronous {
        /// K^Max.
        edge_rounds: usize,
    },
    /// No hierarchy: devices train once from the global model, and UAVs only pass their models on.
    Flat,
    /// Every UAV merges its devices' models `edge_rounds` times, hands over, gets the new global
    /// model and goes on, without waiting for the others.
    Asynchronous {
        /// Edge rounds between two hand-overs.
        edge_rounds: usize,
    },
}

impl Schedule {
    /// Edge rounds before a UAV hands over.
    #[must_use]
    pub fn edge_rounds(self) -> usize {
        match self {
            Self::Synchronous { edge_rounds } | Self::Asynchronous { edge_rounds } => edge_rounds,
            Self::Flat => 1,
        }
    }
}

/// The methods that come with the program, in the order they are listed.
const BUILT_IN: [Entry; 14] = [
    cehfed::ENTRY,
    cfed::ENTRY,
    hfed::ENTRY,
    rhfed::ENTRY,
    gdhfed::ENTRY,
    gshfed::ENTRY,
    ahfed::ENTRY,
    hfedat::ENTRY,
    fixed_threshold::ENTRY,
    direct_drop::ENTRY,
    hierfavg::ENTRY,
    fedprox::ENTRY,
    oort::ENTRY,
    hfl::ENTRY,
];
