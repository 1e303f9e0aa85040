//! What methods consist of. Every kind of part says in one place what it is called, which fields of a scenario it reads,
//! and what it does; `build` makes it.

mod association;
mod others;

pub use association::AssociationPart;
pub use others::{AllocationPart, LocalPart, RedeploymentPart, SchedulePart};

use super::{Method, fields};
use crate::decide::aggregator;
use crate::learn::aggregation::FedAvg;
use crate::scenario::{Aggregator, Scenario, ScenarioError, ValidScenario};

/// What a kind of part says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described {
    /// What a scenario calls it.
    pub name: &'static str,
    /// The fields it reads, or tables of which it reads all.
    pub reads: &'static [&'static str],
    /// What it does, as a clause of a sentence.
    pub does: &'static str,
}

/// A method as the parts it consists of.
///
/// ```
/// use aerofed::method::{Entry, Registry, parts::{AllocationPart, Parts}};
/// use aerofed::Scenario;
/// let mut registry = Registry::builtin();
/// registry.add(Entry::new("rhfed-12", "random devices, H = 12", Parts {
///     allocation: AllocationPart::Equal { local_iterations: 12 },
///     ..Parts::RIVAL
/// }))?;
/// let scenario = Scenario::parse("", &["method=rhfed-12", "selection.share=0.3"])?.check()?;
/// assert_eq!(registry.method(&scenario)?.name, "rhfed-12");
/// # Ok::<(), aerofed::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Which covered devices train.
    pub association: AssociationPart,
    /// How long they train and on which bandwidth.
    pub allocation: AllocationPart,
    /// Where UAVs go when one of them left or came back.
    pub redeployment: RedeploymentPart,
    /// Who waits for whom.
    pub schedule: SchedulePart,
    /// How devices train.
    pub local: LocalPart,
    /// Whether UAVs check their energy, Eq. (15), and leave before it runs out.
    pub checks_energy: bool,
    /// Whether a device that leaves its UAV's coverage may send its update to another UAV.
    pub hands_over: bool,
}

/// H of methods that keep it fixed, and of those that are made to.
pub(super) const FIXED_H: usize = 6;

impl Parts {
    /// Plain hierarchical federated learning with nothing optimised.
    pub const PLAIN: Self = Self {
        association: AssociationPart::All,
        allocation: AllocationPart::Equal {
            local_iterations: 5,
        },
        redeployment: RedeploymentPart::None,
        schedule: SchedulePart::Synchronous,
        local: LocalPart::Sgd,
        checks_energy: true,
        hands_over: false,
    };

    /// What the rivals have in common: a share of the covered devices at random, fixed H, equal bandwidth,
    /// nobody moves.
    pub const RIVAL: Self = Self {
        association: AssociationPart::Random,
        allocation: AllocationPart::Equal {
            local_iterations: FIXED_H,
        },
        ..Self::PLAIN
    };

    /// The same with the parts that a scenario asks for in their place.
    #[must_use]
    pub fn overridden(mut self, scenario: &Scenario) -> Self {
        let Overrides {
            association,
            allocation,
            redeployment,
        } = Overrides::of(scenario);
        self.association = association.unwrap_or(self.association);
        self.redeployment = redeployment.unwrap_or(self.redeployment);
        // A method that shares bandwidth equally anyway keeps its own H.
        self.allocation = match allocation {
            Some(other) if other.describe().name != self.allocation.describe().name => other,
            _ => self.allocation,
        };
        self
    }

    /// Everything that it consists of, and what of the scenario is about that.
    pub(super) fn described(&self) -> [(fields::About, Described); 5] {
        use fields::About;
        [
            (About::Association, self.association.describe()),
            (About::Allocation, self.allocation.describe()),
            (About::Redeployment, self.redeployment.describe()),
            (About::Schedule, self.schedule.describe()),
            (About::Local, self.local.describe()),
        ]
    }

    /// Puts a method together.
    pub(super) fn build(&self, name: String, scenario: &ValidScenario) -> Method {
        Method {
            name,
            association: self.association.build(scenario),
            allocation: self.allocation.build(&scenario.allocation),
            redeployment: self.redeployment.build(&scenario.redeploy),
            aggregator: aggregator::from_config(scenario.aggregator),
            aggregation: Box::new(FedAvg),
            checks_energy: self.checks_energy,
            hands_over: self.hands_over,
            schedule: self.schedule.build(scenario),
            local: self.local.build(scenario),
            failure: None,
        }
    }
}

/// What the choice of the aggregator reads; every method has it.
pub(super) fn aggregator_reads(kind: Aggregator) -> &'static [&'static str] {
    match kind {
        Aggregator::Distance => &[],
        Aggregator::Cost => &["weights"],
    }
}

/// The parts that a scenario puts in the place of a method's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overrides {
    pub(super) association: Option<AssociationPart>,
    pub(super) allocation: Option<AllocationPart>,
    pub(super) redeployment: Option<RedeploymentPart>,
}

impl Overrides {
    pub(super) fn of(scenario: &Scenario) -> Self {
        Self {
            association: AssociationPart::overriding(&scenario.association),
            allocation: AllocationPart::overriding(scenario.allocation.kind),
            redeployment: RedeploymentPart::overriding(scenario.redeploy.method),
        }
    }

    /// Those that differ from what the method has: `[allocation=equal,redeploy=none]`, or nothing.
    pub(super) fn suffix(&self, own: Option<&Parts>) -> String {
        let named = |key: &str, new: Option<Described>, own: Option<Described>| {
            let new = new.filter(|new| own.is_none_or(|own| own.name != new.name))?;
            Some(format!("{key}={}", new.name))
        };
        let parts = [
            named(
                "allocation",
                self.allocation.map(AllocationPart::describe),
                own.map(|own| own.allocation.describe()),
            ),
            named(
                "association",
                self.association.map(AssociationPart::describe),
                own.map(|own| own.association.describe()),
            ),
            named(
                "redeploy",
                self.redeployment.map(RedeploymentPart::describe),
                own.map(|own| own.redeployment.describe()),
            ),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.is_empty() {
            true => String::new(),
            false => format!("[{}]", parts.join(",")),
        }
    }

    /// All of them, and what of the scenario is about that.
    pub(super) fn described(&self) -> Vec<(fields::About, Described)> {
        use fields::About;
        let all = [
            (
                About::Association,
                self.association.map(AssociationPart::describe),
            ),
            (
                About::Allocation,
                self.allocation.map(AllocationPart::describe),
            ),
            (
                About::Redeployment,
                self.redeployment.map(RedeploymentPart::describe),
            ),
        ];
        all.into_iter()
            .filter_map(|(about, part)| Some((about, part?)))
            .collect()
    }

    /// Refuses what a fleet cannot do whose UAVs do not wait for each other.
    pub(super) fn check_asynchronous(&self, method: &str) -> Result<(), ScenarioError> {
        let refuse = |field: &str, part: Described, allowed: &str, why: &str| {
            Err(ScenarioError::Field {
                field: field.into(),
                value: format!("{:?}", part.name),
                allowed: format!(
                    "{allowed}: the UAVs of `{method}` do not wait for each other and {why}"
                ),
            })
        };
        match (self.association, self.redeployment) {
            (Some(part), _) if part.compares_models() => refuse(
                "association.kind",
                part.describe(),
                "auto, all, random, distance, oort",
                "have no moment to compare models in",
            ),
            (_, Some(part)) if part != RedeploymentPart::None => refuse(
                "redeploy.method",
                part.describe(),
                "auto, none",
                "have no moment to move in",
            ),
            _ => Ok(()),
        }
    }
}
