//! Which covered devices train.

use super::Described;
use crate::decide::association::{
    Adaptive, All, Association, FixedThreshold, Oort, Preference, Quota, Share,
};
use crate::scenario::{self, ValidScenario};

/// Which covered devices train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssociationPart {
    /// Every covered device, each with the nearest UAV.
    All,
    /// A share of them, at random.
    Random,
    /// The share that is nearest.
    Distance,
    /// The share that scores highest for its data.
    Difference,
    /// The fittest, as many as a round needs and a cell has time for.
    Quota,
    /// Those whose fitness reaches a fixed threshold.
    FixedThreshold,
    /// Those whose fitness reaches a threshold that agents learn.
    Td3,
    /// The share with the highest utility, after Oort.
    Oort,
}

impl AssociationPart {
    /// The part that a scenario puts in the place of a method's own.
    #[must_use]
    pub(crate) fn overriding(kind: &scenario::Association) -> Option<Self> {
        use scenario::Association as Kind;
        match kind {
            Kind::Auto {} => None,
            Kind::All {} => Some(Self::All),
            Kind::Random {} => Some(Self::Random),
            Kind::Distance {} => Some(Self::Distance),
            Kind::Difference {} => Some(Self::Difference),
            Kind::Quota {} => Some(Self::Quota),
            Kind::FixedThreshold {} => Some(Self::FixedThreshold),
            Kind::Td3 {} => Some(Self::Td3),
            Kind::Oort {} => Some(Self::Oort),
        }
    }

    /// What it says about itself.
    #[must_use]
    pub fn describe(self) -> Described {
        let (name, reads, does): (_, &[&str], _) = match self {
            Self::All => ("all", &[], "all covered devices train"),
            Self::Random => (
                "random",
                &["selection.share"],
                "its devices are drawn at random (selection.share)",
            ),
            // Distances are in the scene: no weight and no model is asked for.
            Self::Distance => (
                "distance",
                &["selection.share"],
                "its devices are the nearest ones (selection.share)",
            ),
            // The weights of the fitness are its own.
            Self::Difference => (
                "difference",
                &[
                    "selection.share",
                    "fitness.diversity",
                    "fitness.small_batch",
                    "fitness.personal_epochs",
                    "fitness.refresh_epochs",
                    "fitness.uav_cpu_hz",
                    "fitness.uav_cycles_per_bit",
                ],
                "its devices are those that score highest for their data alone (selection.share)",
            ),
            Self::Quota => (
                "quota",
                &[
                    "selection.share",
                    "selection.noise_weight",
                    "selection.ask_every_rounds",
                    "selection.pace",
                    "fitness",
                    "weights",
                ],
                "its devices are the fittest, as many as a round needs and a cell has time for (selection.noise_weight)",
            ),
            Self::FixedThreshold => (
                "fixed_threshold",
                &["selection.threshold", "fitness"],
                "its devices are chosen by a fixed fitness threshold (selection.threshold)",
            ),
            Self::Td3 => (
                "td3",
                &["selection.pace", "fitness", "td3", "weights"],
                "its devices are chosen by learned fitness thresholds ([td3])",
            ),
            Self::Oort => (
                "oort",
                &["selection.share", "methods.oort"],
                "its devices are chosen by loss and speed ([methods.oort])",
            ),
        };
        Described { name, reads, does }
    }

    /// Whether devices are asked how their models differ from a UAV's.
    #[must_use]
    pub fn compares_models(self) -> bool {
        matches!(
            self,
            Self::Difference | Self::Quota | Self::FixedThreshold | Self::Td3
        )
    }

    /// Makes it.
    #[must_use]
    pub fn build(self, scenario: &ValidScenario) -> Box<dyn Association> {
        let share = scenario.selection.share;
        let by = |preference| Box::new(Share { preference, share });
        match self {
            Self::All => Box::new(All),
            Self::Random => by(Preference::Random),
            Self::Distance => by(Preference::Fitness(scenario.fitness.distance_alone())),
            Self::Difference => by(Preference::Fitness(scenario.fitness.difference_alone())),
            Self::Quota => Box::new(Quota::new(scenario)),
            Self::FixedThreshold => Box::new(FixedThreshold {
                threshold: scenario.selection.threshold,
                fitness: scenario.fitness,
            }),
            Self::Td3 => Box::new(Adaptive::new(scenario)),
            Self::Oort => Box::new(Oort::new(share, &scenario.methods.oort)),
        }
    }
}
