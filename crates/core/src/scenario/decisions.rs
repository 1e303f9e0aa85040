//! Decisions that every method makes in its own way: `auto`. Any other value replaces that part of whatever method runs.

use serde::{Deserialize, Serialize};

use super::Scenario;
use super::check::{Checked, within};
pub use crate::solve::bandwidth::Method as BandwidthSolver;

/// Which covered devices train.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Association {
    /// What the method does.
    Auto {},
    /// Every covered device, each with the nearest UAV.
    All {},
    /// A share of them, at random.
    Random {},
    /// The share that is nearest.
    Distance {},
    /// The share that scores highest for its data (see `fitness`).
    Difference {},
    /// The fittest, a share of as many as a cell has time for.
    Quota {},
    /// Those whose fitness reaches a fixed threshold.
    FixedThreshold {},
    /// Those whose fitness reaches a threshold that agents learn.
    Td3 {},
    /// The share of them with the highest utility, after Oort (see `methods.oort`).
    Oort {},
}

/// Local iterations and bandwidth. Whoever shares bandwidth equally reads H, P1 reads the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Allocation {
    /// How both are chosen.
    pub kind: AllocationKind,
    /// SGD steps per edge round (H) with equal bandwidth; none: as many as the method does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_iterations: Option<usize>,
    /// Who finds P1's bandwidths.
    pub solver: BandwidthSolver,
    /// What P1 chooses H for.
    pub objective: P1Objective,
    /// Least H of P1.
    pub h_min: u32,
    /// Greatest H of P1.
    pub h_max: u32,
    /// First guess of c0 in rounds(H) = 1 + c0 / H + c1 H.
    pub c0: f64,
    /// First guess of c1.
    pub c1: f64,
    /// Whether c0 and c1 are estimated anew from the run's own loss curve.
    pub estimate: bool,
}

/// How local iterations and bandwidth are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AllocationKind {
    /// What the method does.
    Auto,
    /// The same H for all, the same bandwidth for each device of a cell.
    Equal,
    /// Problem P1: H and bandwidth that minimise the weighted sum of energy and time.
    P1,
}

/// What P1 chooses the number of local iterations for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum P1Objective {
    /// The cost of a round times the rounds still to come.
    Convergence,
    /// The cost of one round, as printed: always the least H.
    Paper,
}

/// Where UAVs go when one of them left or came back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Redeploy {
    /// Who finds the new positions.
    pub method: RedeployMethod,
    /// When it is asked.
    pub when: RedeployWhen,
    /// Worth of coverage (λ_8).
    pub coverage_weight: f64,
    /// Price of a kilojoule of flight (λ_9).
    pub movement_weight: f64,
}

/// Who finds new positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RedeployMethod {
    /// What the method does.
    Auto,
    /// Nobody moves (M-i).
    None,
    /// Rough and precise search, UAV after UAV (Algorithm 4).
    TwoStage,
    /// Greedy on coverage, movement and link energy together (M-ii).
    JointGreedy,
    /// Best responses of all UAVs together, with straight flights.
    MarginalGains,
}

/// When new positions are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RedeployWhen {
    /// After a UAV left, was lost or came back.
    OnChange,
    /// In every global round.
    EveryRound,
}

impl Default for Redeploy {
    fn default() -> Self {
        Self {
            method: RedeployMethod::Auto,
            when: RedeployWhen::OnChange,
            coverage_weight: 1.0,
            movement_weight: 0.005,
        }
    }
}

impl Default for Allocation {
    fn default() -> Self {
        Self {
            kind: AllocationKind::Auto,
            local_iterations: None,
            solver: BandwidthSolver::Exact,
            objective: P1Objective::Convergence,
            h_min: 1,
            h_max: 50,
            c0: 4.0,
            c1: 0.01,
            estimate: true,
        }
    }
}

impl Scenario {
    pub(super) fn check_decisions(&self) -> Checked {
        let redeploy = &self.redeploy;
        let (coverage, movement) = (redeploy.coverage_weight, redeploy.movement_weight);
        within("redeploy.coverage_weight", coverage, 0.0..=1e6)?;
        within("redeploy.movement_weight", movement, 0.0..=1e6)?;
        let allocation = &self.allocation;
        if let Some(steps) = allocation.local_iterations {
            within("allocation.local_iterations", steps, 1..=100_000)?;
        }
        within("allocation.h_max", allocation.h_max, 1..=100_000)?;
        within("allocation.h_min", allocation.h_min, 1..=allocation.h_max)?;
        within("allocation.c0", allocation.c0, 1e-6..=1e6)?;
        within("allocation.c1", allocation.c1, 1e-6..=1e6)
    }
}
