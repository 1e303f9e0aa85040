//! How many local iterations, and how a cell's bandwidth is shared.

use crate::world::UavId;
use crate::{Error, checkpoint};

mod convergence;
mod file;
mod p1;

pub use crate::solve::bandwidth::CellError;
pub use crate::vocabulary::{Cell, CellDevice, CellPlan};
pub use convergence::RoundsEstimate;
pub use file::read_cell;
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

/// Chooses H and the bandwidth of each device.
pub trait Allocation: Send {
    /// The plan for one UAV's cell, which has at least one device.
    ///
    /// # Errors
    /// When the cell holds a number that no cell can have.
    fn allocate(&mut self, uav: UavId, cell: &Cell) -> Result<CellPlan, CellError>;

    /// The plans of several cells, in their order; no UAV has two. Cells do not know each other: whoever can, plans them side by
    /// side.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate), of the first cell that has no plan.
    fn allocate_all(&mut self, cells: &[(UavId, Cell)]) -> Result<Vec<CellPlan>, CellError> {
        let plans = cells.iter().map(|(uav, cell)| self.allocate(*uav, cell));
        plans.collect()
    }

    /// Whether it wants to hear how global rounds went. Finding out takes the aggregator a pass over the validation samples.
    fn watches_progress(&self) -> bool {
        false
    }

    /// Told after each global round how it went, if it watches.
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
