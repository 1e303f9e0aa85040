//! A cell: the devices that train with one UAV, and what they are given.

use serde::{Deserialize, Serialize};

/// One UAV's cell in one edge round: who shares the bandwidth and what time and energy are worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// lambda_4, the price of a joule.
    pub energy_weight: f64,
    /// lambda_5, the price of a second.
    pub time_weight: f64,
    /// What the UAV draws while it waits for the slowest device.
    pub hover_power_w: f64,
    /// Uplink bandwidth to be shared.
    pub bandwidth_up_hz: f64,
    /// Downlink bandwidth to be shared.
    pub bandwidth_down_hz: f64,
    /// Size of the model a device sends.
    pub model_bits_up: f64,
    /// Size of the model a device receives.
    pub model_bits_down: f64,
    /// What the UAV radiates towards one device.
    pub broadcast_power_w: f64,
    /// Local steps H of the round; `None`: to be chosen.
    #[serde(default)]
    pub local_iterations: Option<u32>,
    /// The devices selected.
    pub devices: Vec<CellDevice>,
}

/// One device of a [`Cell`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellDevice {
    /// Received power over noise density of the uplink, p g / N0.
    pub snr_up_hz: f64,
    /// Received power over noise density of the downlink.
    pub snr_down_hz: f64,
    /// What the device radiates while it sends.
    pub tx_power_w: f64,
    /// Time of one local step.
    pub iteration_time_s: f64,
    /// Energy of one local step.
    pub iteration_energy_j: f64,
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
