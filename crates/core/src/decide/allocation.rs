//! How many local iterations, and how a cell's bandwidth is shared.

use serde::{Deserialize, Serialize};

use crate::world::UavId;
use crate::{Error, checkpoint};

mod convergence;
mod p1;

pub use crate::solve::bandwidth::{Cell, CellDevice, CellError};
pub use convergence::RoundsEstimate;
pub use p1::P1;

/// What a global round did to the model, as far as the controller can see.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundProgress {
    /// Edge rounds done (K).
    pub edge_rounds: usize,
    /// Mean local iterations over the devices that trained (H).
    pub local_iterations: f64,
    /// Loss of the global model on the probe samples before the round.
    pub loss_before: f64,
    /// The same after the round.
    pub loss_after: f64,
}

/// The decision for a cell; bandwidths are in the order of the cell's devices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellPlan {
    /// SGD steps per edge round (H).
    pub local_iterations: usize,
    /// Each device's uplink share, Hz.
    pub bandwidth_up_hz: Vec<f64>,
    /// Each device's downlink share, Hz.
    pub bandwidth_down_hz: Vec<f64>,
}

impl CellPlan {
    /// Says what is wrong with the plan, if anything: positive shares within the budgets.
    pub(crate) fn flaw(&self, cell: &Cell) -> Option<String> {
        if self.local_iterations == 0 {
            return Some("0 local iterations".into());
        }
        let bands = [
            ("uplink", &self.bandwidth_up_hz, cell.bandwidth_up_hz),
            ("downlink", &self.bandwidth_down_hz, cell.bandwidth_down_hz),
        ];
        for (name, shares, budget_hz) in bands {
            if shares.len() != cell.devices.len() {
                return Some(format!(
                    "{} {name} shares for {} devices",
                    shares.len(),
                    cell.devices.len()
                ));
            }
            if let Some(share) = shares.iter().find(|share| share.is_nan() || **share <= 0.0) {
                return Some(format!("a {name} share of {share} Hz"));
            }
            let sum: f64 = shares.iter().sum();
            // Equal parts of a budget may sum to a rounding error more than it.
            if sum > budget_hz * (1.0 + 1e-9) {
                return Some(format!(
                    "{name} shares sum to {sum} Hz, the cell has {budget_hz} Hz"
                ));
            }
        }
        None
    }
}

/// Chooses H and the bandwidth of each device.
pub trait Allocation: Send {
    /// The plan for one UAV's cell, which has at least one device.
    ///
    /// # Errors
    /// When the cell holds a number that no cell can have.
    fn allocate(&mut self, uav: UavId, cell: &Cell) -> Result<CellPlan, CellError>;

    /// Told after each global round how it went.
    fn observe(&mut self, _progress: &RoundProgress) {}

    /// What it carries from round to round, see [`checkpoint`].
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes up what [`save`](Self::save) gave.
    ///
    /// # Errors
    /// When that is not the state of such a part.
    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        checkpoint::expect_nothing("allocation", saved)
    }
}

/// Fixed H, equal parts.
#[derive(Clone, Copy, Debug)]
pub struct Equal {
    /// H.
    pub local_iterations: usize,
}

impl Allocation for Equal {
    fn allocate(&mut self, _: UavId, cell: &Cell) -> Result<CellPlan, CellError> {
        let count = cell.devices.len();
        Ok(CellPlan {
            local_iterations: self.local_iterations,
            bandwidth_up_hz: vec![cell.bandwidth_up_hz / count as f64; count],
            bandwidth_down_hz: vec![cell.bandwidth_down_hz / count as f64; count],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(count: usize) -> Cell {
        let device = CellDevice {
            snr_up_hz: 1e9,
            snr_down_hz: 1e9,
            tx_power_w: 0.5,
            iteration_time_s: 0.01,
            iteration_energy_j: 0.1,
        };
        Cell {
            energy_weight: 0.5,
            time_weight: 0.5,
            hover_power_w: 100.0,
            broadcast_power_w: 0.8,
            bandwidth_up_hz: 3e7,
            bandwidth_down_hz: 7e7,
            model_bits_up: 698_880.0,
            model_bits_down: 698_880.0,
            local_iterations: None,
            devices: vec![device; count],
        }
    }

    #[test]
    fn equal_parts_use_the_whole_budget() {
        let cell = cell(7);
        let plan = Equal {
            local_iterations: 5,
        }
        .allocate(UavId(0), &cell)
        .unwrap();
        assert_eq!(plan.flaw(&cell), None);
        assert_eq!(plan.local_iterations, 5);
        assert!((plan.bandwidth_up_hz.iter().sum::<f64>() / 3e7 - 1.0).abs() < 1e-12);
        assert!((plan.bandwidth_down_hz.iter().sum::<f64>() / 7e7 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn flaws_are_found() {
        let cell = cell(2);
        let good = Equal {
            local_iterations: 1,
        }
        .allocate(UavId(0), &cell)
        .unwrap();
        for bad in [
            CellPlan {
                local_iterations: 0,
                ..good.clone()
            },
            CellPlan {
                bandwidth_up_hz: vec![1.0],
                ..good.clone()
            },
            CellPlan {
                bandwidth_down_hz: vec![1.0, 0.0],
                ..good.clone()
            },
            CellPlan {
                bandwidth_down_hz: vec![1.0, f64::NAN],
                ..good.clone()
            },
            CellPlan {
                bandwidth_up_hz: vec![2e7, 2e7],
                ..good.clone()
            },
        ] {
            assert!(bad.flaw(&cell).is_some(), "{bad:?}");
        }
    }
}
