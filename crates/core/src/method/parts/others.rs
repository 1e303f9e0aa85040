//! How long devices train and how, where UAVs go, and who waits for whom.

use super::{Described, FIXED_H};
use crate::decide::allocation::{Allocation, Equal, P1};
use crate::decide::redeploy::{JointGreedy, MarginalGains, Redeployment, Stay, TwoStage};
use crate::method::{LocalTraining, Schedule};
use crate::scenario::{self, AllocationKind, RedeployMethod, ValidScenario};

/// How long devices train and on which bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationPart {
    /// The same H for all, the same bandwidth for each device of a cell.
    Equal {
        /// H, unless the scenario says otherwise.
        local_iterations: usize,
    },
    /// Problem P1.
    P1,
}

impl AllocationPart {
    /// The part that a scenario puts in the place of a method's own.
    #[must_use]
    pub(crate) fn overriding(kind: AllocationKind) -> Option<Self> {
        match kind {
            AllocationKind::Auto => None,
            AllocationKind::Equal => Some(Self::Equal {
                local_iterations: FIXED_H,
            }),
            AllocationKind::P1 => Some(Self::P1),
        }
    }

    /// What it says about itself.
    #[must_use]
    pub fn describe(self) -> Described {
        match self {
            Self::Equal { .. } => Described {
                name: "equal",
                reads: &["allocation.local_iterations"],
                does: "its devices share the bandwidth equally and do the same number of steps (allocation.local_iterations)",
            },
            Self::P1 => Described {
                name: "p1",
                reads: &[
                    "allocation.solver",
                    "allocation.objective",
                    "allocation.h_min",
                    "allocation.h_max",
                    "allocation.c0",
                    "allocation.c1",
                    "allocation.estimate",
                    "weights",
                    // What looking at the global model takes.
                    "fitness.uav_cpu_hz",
                    "fitness.uav_cycles_per_bit",
                ],
                does: "its local iterations and bandwidths are those of P1 (allocation.h_min, allocation.h_max)",
            },
        }
    }

    /// Makes it.
    #[must_use]
    pub fn build(self, config: &scenario::Allocation) -> Box<dyn Allocation> {
        match self {
            Self::Equal { local_iterations } => Box::new(Equal {
                local_iterations: config.local_iterations.unwrap_or(local_iterations),
            }),
            Self::P1 => Box::new(P1::new(config)),
        }
    }
}

/// Where UAVs go when one of them left or came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedeploymentPart {
    /// Nobody moves (M-i).
    None,
    /// Rough and precise search, UAV after UAV (Algorithm 4).
    TwoStage,
    /// Greedy on coverage, movement and link energy together (M-ii).
    JointGreedy,
    /// All UAVs together: marginal gains, exchanges, and who flies where.
    MarginalGains,
}

impl RedeploymentPart {
    /// The part that a scenario puts in the place of a method's own.
    #[must_use]
    pub fn overriding(method: RedeployMethod) -> Option<Self> {
        match method {
            RedeployMethod::Auto => None,
            RedeployMethod::None => Some(Self::None),
            RedeployMethod::TwoStage => Some(Self::TwoStage),
            RedeployMethod::JointGreedy => Some(Self::JointGreedy),
            RedeployMethod::MarginalGains => Some(Self::MarginalGains),
        }
    }

    /// What it says about itself.
    #[must_use]
    pub fn describe(self) -> Described {
        let search: &[&str] = &[
            "redeploy.coverage_weight",
            "redeploy.movement_weight",
            // What flights are weighed by.
            "weights",
        ];
        let (name, reads, does) = match self {
            Self::None => ("none", &[][..], "its UAVs stay where they are"),
            Self::TwoStage => ("two_stage", search, "Algorithm 4 finds new positions"),
            Self::JointGreedy => (
                "joint_greedy",
                search,
                "a joint greedy search finds new positions",
            ),
            Self::MarginalGains => (
                "marginal_gains",
                &[
                    "redeploy.when",
                    "redeploy.coverage_weight",
                    "redeploy.movement_weight",
                    "redeploy.margin_m",
                    "redeploy.relay_m",
                ][..],
                "marginal gains and exchanges find new positions",
            ),
        };
        Described { name, reads, does }
    }

    /// Makes it.
    #[must_use]
    pub fn build(self, config: &scenario::Redeploy) -> Box<dyn Redeployment> {
        let (coverage_weight, movement_weight) = (config.coverage_weight, config.movement_weight);
        match self {
            Self::None => Box::new(Stay),
            Self::TwoStage => Box::new(TwoStage {
                coverage_weight,
                movement_weight,
                ..TwoStage::default()
            }),
            Self::JointGreedy => Box::new(JointGreedy {
                coverage_weight,
                energy_weight: movement_weight,
                ..JointGreedy::default()
            }),
            Self::MarginalGains => Box::new(MarginalGains {
                coverage_weight,
                movement_weight,
                margin_m: config.margin_m,
                relay_m: config.relay_m,
                ..MarginalGains::default()
            }),
        }
    }
}

/// Who waits for whom; see [`Schedule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulePart {
    /// All UAVs wait for the new global model.
    Synchronous,
    /// No hierarchy.
    Flat,
    /// No UAV waits for another.
    Asynchronous,
}

impl SchedulePart {
    /// What it says about itself.
    #[must_use]
    pub fn describe(self) -> Described {
        let edge_rounds: &[&str] = &["training.max_edge_rounds"];
        let (name, reads, does) = match self {
            Self::Synchronous => (
                "synchronous",
                edge_rounds,
                "its UAVs hand over together (training.max_edge_rounds)",
            ),
            Self::Flat => (
                "flat",
                &[][..],
                "its UAVs only pass models on, after a single edge round",
            ),
            Self::Asynchronous => (
                "asynchronous",
                edge_rounds,
                "its UAVs hand over one by one (training.max_edge_rounds)",
            ),
        };
        Described { name, reads, does }
    }

    pub(super) fn build(self, scenario: &ValidScenario) -> Schedule {
        let edge_rounds = scenario.training.max_edge_rounds;
        match self {
            Self::Synchronous => Schedule::Synchronous { edge_rounds },
            Self::Flat => Schedule::Flat,
            Self::Asynchronous => Schedule::Asynchronous { edge_rounds },
        }
    }
}

/// How devices train; see [`LocalTraining`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalPart {
    /// Plain SGD.
    Sgd,
    /// Also on inputs moved along the sign of their gradient.
    Adversarial,
    /// With a pull towards the model that the device was sent.
    Proximal,
}

impl LocalPart {
    /// What it says about itself.
    #[must_use]
    pub fn describe(self) -> Described {
        let (name, reads, does): (_, &[&str], _) = match self {
            Self::Sgd => ("sgd", &[], "its devices do plain SGD"),
            Self::Adversarial => (
                "adversarial",
                &["methods.ahfed"],
                "its devices train on moved inputs as well ([methods.ahfed])",
            ),
            Self::Proximal => (
                "proximal",
                &["methods.fedprox"],
                "its devices are pulled towards the edge model ([methods.fedprox])",
            ),
        };
        Described { name, reads, does }
    }

    pub(super) fn build(self, scenario: &ValidScenario) -> LocalTraining {
        let plain = LocalTraining::default();
        match self {
            Self::Sgd => plain,
            // One pass gives the clean gradient, of weights and inputs together, the other that on the moved inputs.
            Self::Adversarial => LocalTraining {
                adversarial_epsilon: scenario.methods.ahfed.epsilon,
                compute_factor: 2.0,
                ..plain
            },
            Self::Proximal => LocalTraining {
                proximal: scenario.methods.fedprox.proximal,
                ..plain
            },
        }
    }
}
