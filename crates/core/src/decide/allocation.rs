//! How many local iterations, and how a cell's bandwidth is shared.

use crate::scenario;

/// A UAV and the devices it selected, as far as time and energy go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Power of hovering, W.
    pub hover_power_w: f64,
    /// Power of the UAV's downlink, W.
    pub broadcast_power_w: f64,
    /// Uplink bandwidth to share, Hz.
    pub bandwidth_up_hz: f64,
    /// Downlink bandwidth to share, Hz.
    pub bandwidth_down_hz: f64,
    /// Size of a device's model on the air, bit.
    pub model_bits_up: f64,
    /// Size of the edge model on the air, bit.
    pub model_bits_down: f64,
    /// The selected devices.
    pub devices: Vec<CellDevice>,
}

/// One selected device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellDevice {
    /// Received power over noise density on the way up, Hz.
    pub snr_up_hz: f64,
    /// The same on the way down, Hz.
    pub snr_down_hz: f64,
    /// Transmit power, W.
    pub tx_power_w: f64,
    /// Seconds of one local iteration.
    pub iteration_time_s: f64,
    /// Joules of one local iteration.
    pub iteration_energy_j: f64,
}

/// The decision for a cell; bandwidths are in the order of the cell's devices.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// The plan for one cell, which has at least one device.
    fn allocate(&mut self, cell: &Cell) -> CellPlan;
}

/// Fixed H, equal parts.
#[derive(Clone, Copy, Debug)]
pub struct Equal {
    /// H.
    pub local_iterations: usize,
}

impl Allocation for Equal {
    fn allocate(&mut self, cell: &Cell) -> CellPlan {
        let count = cell.devices.len();
        CellPlan {
            local_iterations: self.local_iterations,
            bandwidth_up_hz: vec![cell.bandwidth_up_hz / count as f64; count],
            bandwidth_down_hz: vec![cell.bandwidth_down_hz / count as f64; count],
        }
    }
}

/// The allocation a scenario asks for.
#[must_use]
pub fn from_config(config: &scenario::Allocation) -> Box<dyn Allocation> {
    match *config {
        scenario::Allocation::Equal { local_iterations } => Box::new(Equal { local_iterations }),
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
            bandwidth_up_hz: 3e7,
            bandwidth_down_hz: 7e7,
            devices: vec![device; count],
            ..Cell::default()
        }
    }

    #[test]
    fn equal_parts_use_the_whole_budget() {
        let cell = cell(7);
        let plan = Equal {
            local_iterations: 5,
        }
        .allocate(&cell);
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
        .allocate(&cell);
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
