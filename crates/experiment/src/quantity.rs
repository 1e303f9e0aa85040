//! What is measured: one number of a run, of a run and a target, or of a lost UAV.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::statistics::{AMOUNT, SHARE};
use super::stored::StoredRun;

/// One number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Test accuracy along a curve.
    Accuracy,
    /// Global rounds until the target.
    RoundsToTarget,
    /// Simulated time until the target, s.
    TimeToTargetS,
    /// Energy until the target, J.
    EnergyToTargetJ,
    /// The same as the paper counts it: without flights home and drained batteries, J.
    PaperEnergyToTargetJ,
    /// Global rounds of the run.
    Rounds,
    /// Simulated time of the run, s.
    TotalTimeS,
    /// Energy of the run, J.
    TotalEnergyJ,
    /// Test accuracy after the last round.
    FinalAccuracy,
    /// Best test accuracy of any round.
    BestAccuracy,
    /// Device updates that never reached the global model.
    UpdatesLost,
    /// The same as a share of those computed.
    UpdatesLostShare,
    /// Devices that trained in a round, on average.
    SelectedPerRound,
    /// Coverage before a UAV is lost.
    CoverageBefore,
    /// Coverage when it is lost.
    CoverageAfterLoss,
    /// Coverage when the others are at their new positions.
    CoverageAfter,
    /// That less the coverage before.
    CoverageChange,
    /// What the flights to the new positions cost, J.
    RedeploymentEnergyJ,
}

/// What a quantity belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A run's curve.
    Curve,
    /// A run and an accuracy to reach.
    Target,
    /// A run.
    Run,
    /// A lost UAV.
    Loss,
}

impl Quantity {
    /// What it belongs to.
    #[must_use]
    pub fn about(self) -> About {
        match self {
            Self::Accuracy => About::Curve,
            Self::RoundsToTarget
            | Self::TimeToTargetS
            | Self::EnergyToTargetJ
            | Self::PaperEnergyToTargetJ => About::Target,
            Self::CoverageBefore
            | Self::CoverageAfterLoss
            | Self::CoverageAfter
            | Self::CoverageChange
            | Self::RedeploymentEnergyJ => About::Loss,
            _ => About::Run,
        }
    }

    /// What an axis calls it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Accuracy => "test accuracy",
            Self::RoundsToTarget => "global rounds",
            Self::TimeToTargetS => "time",
            Self::EnergyToTargetJ => "energy",
            Self::PaperEnergyToTargetJ => "energy without flights home",
            Self::Rounds => "global rounds",
            Self::TotalTimeS => "time of the run",
            Self::TotalEnergyJ => "energy of the run",
            Self::FinalAccuracy => "final test accuracy",
            Self::BestAccuracy => "best test accuracy",
            Self::UpdatesLost => "updates lost",
            Self::UpdatesLostShare => "share of updates lost",
            Self::SelectedPerRound => "devices a round",
            Self::CoverageBefore => "coverage before",
            Self::CoverageAfterLoss => "coverage after the loss",
            Self::CoverageAfter => "coverage after redeployment",
            Self::CoverageChange => "change of coverage",
            Self::RedeploymentEnergyJ => "energy of redeployment",
        }
    }

    /// `s`, `J`, ..., or empty for fractions.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::RoundsToTarget | Self::Rounds => "rounds",
            Self::TimeToTargetS | Self::TotalTimeS => "s",
            Self::EnergyToTargetJ
            | Self::PaperEnergyToTargetJ
            | Self::TotalEnergyJ
            | Self::RedeploymentEnergyJ => "J",
            Self::UpdatesLost => "updates",
            Self::SelectedPerRound => "devices",
            _ => "",
        }
    }

    /// What it can be; intervals end there.
    #[must_use]
    pub fn domain(self) -> RangeInclusive<f64> {
        match self {
            Self::CoverageChange => f64::NEG_INFINITY..=f64::INFINITY,
            _ if self.unit().is_empty() => SHARE,
            _ => AMOUNT,
        }
    }

    /// Its value in a run; none when the run never reached the target, or it is not of runs.
    #[must_use]
    pub fn of_run(self, run: &StoredRun, target: Option<f64>) -> Option<f64> {
        let reached = || run.reached(target?);
        let summary = &run.summary;
        match self {
            Self::RoundsToTarget => reached().map(|stand| stand.round as f64),
            Self::TimeToTargetS => reached().map(|stand| stand.clock_s),
            Self::EnergyToTargetJ => reached().map(|stand| stand.energy_j),
            Self::PaperEnergyToTargetJ => reached().map(|stand| stand.paper_energy_j),
            Self::Rounds => Some(summary.rounds as f64),
            Self::TotalTimeS => Some(summary.total_time_s),
            Self::TotalEnergyJ => Some(summary.total_energy_j),
            Self::FinalAccuracy => Some(summary.final_accuracy),
            Self::BestAccuracy => Some(summary.best_accuracy),
            Self::UpdatesLost => Some(summary.updates_lost as f64),
            Self::UpdatesLostShare => Some(run.lost_share()),
            Self::SelectedPerRound => Some(run.selected_per_round()),
            _ => None,
        }
    }
}
