//! Methods: compositions of decisions, one file each, one line in the registry each.

mod ahfed;
mod cehfed;
mod cfed;
mod direct_drop;
mod fedprox;
mod fixed_threshold;
mod gdhfed;
mod gshfed;
mod hfed;
mod hfedat;
mod hfl;
mod hierfavg;
mod oort;
mod rhfed;

use crate::decide::aggregator::AggregatorChoice;
use crate::decide::allocation::{Allocation, Equal, P1};
use crate::decide::association::{Association, Preference, Share};
use crate::decide::redeploy::{self, Redeployment, Stay};
use crate::learn::aggregation::Aggregation;
use crate::scenario::{self, RedeployMethod, ValidScenario};

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
///     ..Method::named("hfl", &scenario).expect("registered")
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
    /// Who waits for whom.
    pub schedule: Schedule,
    /// How devices train.
    pub local: LocalTraining,
}

/// Who waits for whom between two versions of the global model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A registered method.
pub struct Entry {
    /// What `--method` takes.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Puts it together for a scenario.
    pub build: fn(&ValidScenario) -> Method,
}

/// Every method, in the order they are listed.
pub const REGISTRY: &[Entry] = &[
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

/// What the rivals have in common: a share of the covered devices at random, fixed H, equal bandwidth,
/// nobody moves.
fn random_hfl(scenario: &ValidScenario) -> Method {
    Method {
        association: Box::new(Share {
            preference: Preference::Random,
            share: scenario.selection.share,
        }),
        allocation: fixed_h(scenario),
        redeployment: Box::new(Stay),
        ..(hfl::ENTRY.build)(scenario)
    }
}

impl Method {
    /// The registered method of that name.
    #[must_use]
    pub fn named(name: &str, scenario: &ValidScenario) -> Option<Self> {
        REGISTRY
            .iter()
            .find(|entry| entry.name == name)
            .map(|entry| (entry.build)(scenario))
    }

    /// The method that the scenario names.
    #[must_use]
    pub fn of(scenario: &ValidScenario) -> Self {
        // A valid scenario names a registered method.
        Self::named(&scenario.method, scenario).unwrap_or_else(|| (hfl::ENTRY.build)(scenario))
    }
}

/// P1 as the scenario sets it, or with its defaults where the scenario has another allocation.
fn p1(scenario: &ValidScenario) -> Box<dyn Allocation> {
    match &scenario.allocation {
        scenario::Allocation::P1(config) => Box::new(P1::new(config)),
        scenario::Allocation::Equal { .. } => Box::new(P1::new(&scenario::P1::default())),
    }
}

/// The rivals' H, and equal bandwidth.
fn fixed_h(scenario: &ValidScenario) -> Box<dyn Allocation> {
    Box::new(Equal {
        local_iterations: scenario.methods.local_iterations,
    })
}

/// The search for posts that the scenario names, or Algorithm 4 where it names none.
fn p3(scenario: &ValidScenario) -> Box<dyn Redeployment> {
    let mut config = scenario.redeploy.clone();
    if config.method == RedeployMethod::None {
        config.method = RedeployMethod::TwoStage;
    }
    redeploy::from_config(&config)
}
