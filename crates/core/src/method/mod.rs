//! Methods: compositions of decisions, one file each, one line in the registry each.

mod cehfed;
mod direct_drop;
mod fixed_threshold;
mod gdhfed;
mod gshfed;
mod hfed;
mod hfl;
mod rhfed;

use crate::decide::aggregator::AggregatorChoice;
use crate::decide::allocation::{Allocation, Equal, P1};
use crate::decide::association::Association;
use crate::decide::redeploy::{self, Redeployment};
use crate::learn::aggregation::Aggregation;
use crate::scenario::{self, RedeployMethod, ValidScenario};

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
    hfed::ENTRY,
    rhfed::ENTRY,
    gdhfed::ENTRY,
    gshfed::ENTRY,
    fixed_threshold::ENTRY,
    direct_drop::ENTRY,
    hfl::ENTRY,
];

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

/// Fixed H and equal bandwidth as the scenario sets it, or with the default H.
fn equal(scenario: &ValidScenario) -> Box<dyn Allocation> {
    let local_iterations = match scenario.allocation {
        scenario::Allocation::Equal { local_iterations } => local_iterations,
        scenario::Allocation::P1(_) => scenario::DEFAULT_LOCAL_ITERATIONS,
    };
    Box::new(Equal { local_iterations })
}

/// The search for posts that the scenario names, or Algorithm 4 where it names none.
fn p3(scenario: &ValidScenario) -> Box<dyn Redeployment> {
    let mut config = scenario.redeploy.clone();
    if config.method == RedeployMethod::None {
        config.method = RedeployMethod::TwoStage;
    }
    redeploy::from_config(&config)
}
