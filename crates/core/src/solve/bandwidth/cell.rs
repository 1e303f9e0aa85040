//! The problem and the answer: a cell with its devices, and what each of them is given.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::solve::Status;
use crate::vocabulary::Cell;

/// Why a cell, or the way it is to be solved, makes no sense.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CellError {
    /// A number is not finite or lies outside its range.
    #[error("{field} is {value}; it must be {allowed}")]
    OutOfRange {
        /// The field, with the device's index where it belongs to one.
        field: String,
        /// What was given.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Nothing is to be minimised.
    #[error("energy_weight and time_weight are both 0; at least one must be above 0")]
    NoObjective,
    /// There is nobody to share the bandwidth.
    #[error("devices is empty; a cell needs at least one device")]
    NoDevices,
    /// The range of local iterations holds no number.
    #[error(
        "h_min is {h_min} and h_max is {h_max}; it must hold that 1 <= h_min <= h_max <= {LOCAL_ITERATIONS_MAX}"
    )]
    EmptyIterationRange {
        /// Least number of local steps.
        h_min: u32,
        /// Greatest number of local steps.
        h_max: u32,
    },
}

/// The most local steps that a cell may ask for.
pub const LOCAL_ITERATIONS_MAX: u32 = 1_000_000;

/// A range of allowed values: wide enough for any radio, narrow enough that no square or product of them overflows.
struct Range {
    least: f64,
    most: f64,
    zero: bool,
    text: &'static str,
}

const WEIGHT: Range = Range {
    least: 1e-9,
    most: 1e9,
    zero: true,
    text: "0 or between 1e-9 and 1e9",
};
const POWER_OR_ZERO: Range = Range {
    least: 1e-12,
    most: 1e9,
    zero: true,
    text: "0 or between 1e-12 and 1e9",
};
const POWER: Range = Range {
    least: 1e-12,
    most: 1e9,
    zero: false,
    text: "between 1e-12 and 1e9",
};
const BANDWIDTH: Range = Range {
    least: 1e-3,
    most: 1e15,
    zero: false,
    text: "between 1e-3 and 1e15",
};
const BITS: Range = Range {
    least: 1e-3,
    most: 1e18,
    zero: false,
    text: "between 1e-3 and 1e18",
};
/// The least received power over noise density of a link that can be used at all.
pub const LEAST_SNR_HZ: f64 = 1e-6;
/// More than any radio has.
pub const MOST_SNR_HZ: f64 = 1e24;
const SNR: Range = Range {
    least: LEAST_SNR_HZ,
    most: MOST_SNR_HZ,
    zero: false,
    text: "between 1e-6 and 1e24",
};
const STEP: Range = Range {
    least: 1e-30,
    most: 1e12,
    zero: true,
    text: "0 or between 1e-30 and 1e12",
};
const ITERATIONS: Range = Range {
    least: 1.0,
    most: LOCAL_ITERATIONS_MAX as f64,
    zero: false,
    text: "between 1 and 1000000, or absent to have it chosen",
};

impl Range {
    fn check(&self, value: f64, field: impl FnOnce() -> String) -> Result<(), CellError> {
        if (self.least..=self.most).contains(&value) || (self.zero && value == 0.0) {
            return Ok(());
        }
        Err(CellError::OutOfRange {
            field: field(),
            value,
            allowed: self.text,
        })
    }
}

/// Says whether a round can have so many local steps.
pub(super) fn check_iterations(local_iterations: u32) -> Result<(), CellError> {
    ITERATIONS.check(f64::from(local_iterations), || {
        "local_iterations".to_owned()
    })
}

impl Cell {
    /// Says which field, if any, holds a value that no cell can have.
    ///
    /// # Errors
    /// The first field that is not finite or out of range, two zero weights, or an empty list of devices.
    pub fn check(&self) -> Result<(), CellError> {
        for (range, value, name) in [
            (&WEIGHT, self.energy_weight, "energy_weight"),
            (&WEIGHT, self.time_weight, "time_weight"),
            (&POWER_OR_ZERO, self.hover_power_w, "hover_power_w"),
            (&BANDWIDTH, self.bandwidth_up_hz, "bandwidth_up_hz"),
            (&BANDWIDTH, self.bandwidth_down_hz, "bandwidth_down_hz"),
            (&BITS, self.model_bits_up, "model_bits_up"),
            (&BITS, self.model_bits_down, "model_bits_down"),
            (&POWER, self.broadcast_power_w, "broadcast_power_w"),
        ] {
            range.check(value, || name.to_owned())?;
        }
        self.local_iterations.map_or(Ok(()), check_iterations)?;
        if self.energy_weight == 0.0 && self.time_weight == 0.0 {
            return Err(CellError::NoObjective);
        }
        if self.devices.is_empty() {
            return Err(CellError::NoDevices);
        }
        for (index, device) in self.devices.iter().enumerate() {
            for (range, value, name) in [
                (&SNR, device.snr_up_hz, "snr_up_hz"),
                (&SNR, device.snr_down_hz, "snr_down_hz"),
                (&POWER, device.tx_power_w, "tx_power_w"),
                (&STEP, device.iteration_time_s, "iteration_time_s"),
                (&STEP, device.iteration_energy_j, "iteration_energy_j"),
            ] {
                range.check(value, || format!("devices[{index}].{name}"))?;
            }
        }
        Ok(())
    }

    /// W = lambda_4 p_hover + lambda_5: the price of a second of the whole cell's time.
    pub fn wait_weight(&self) -> f64 {
        self.energy_weight * self.hover_power_w + self.time_weight
    }

    /// Prices the bands that `answer` gives its devices: times, energies and the objective for `local_iterations`.
    pub(super) fn price(&self, local_iterations: u32, answer: &mut Solution) {
        let steps = f64::from(local_iterations);
        let (mut energy_j, mut round_time_s) = (0.0, 0.0_f64);
        for (device, share) in self.devices.iter().zip(&mut answer.devices) {
            let up = transfer_time_s(self.model_bits_up, device.snr_up_hz, share.bandwidth_up_hz);
            let down = transfer_time_s(
                self.model_bits_down,
                device.snr_down_hz,
                share.bandwidth_down_hz,
            );
            share.time_s = up + down + steps * device.iteration_time_s;
            share.energy_j = up * device.tx_power_w + steps * device.iteration_energy_j;
            energy_j += share.energy_j + down * self.broadcast_power_w;
            round_time_s = round_time_s.max(share.time_s);
        }
        answer.local_iterations = local_iterations;
        answer.round_time_s = round_time_s;
        answer.energy_j = energy_j + round_time_s * self.hover_power_w;
        answer.objective = self.energy_weight * answer.energy_j + self.time_weight * round_time_s;
    }

    /// The allocation that gives every device the same bandwidth: the baseline `equal`.
    ///
    /// Its status is [`Status::Solved`] (there is nothing to iterate) and its `kkt_residual` is infinite: it claims no optimality.
    ///
    /// # Errors
    /// What [`Cell::check`] finds, or a `local_iterations` out of range.
    pub fn equal_split(&self, local_iterations: u32) -> Result<Solution, CellError> {
        self.check()?;
        check_iterations(local_iterations)?;
        // Half a rounding error a device below the exact share: the sum cannot exceed the budget.
        let share = (1.0 - self.devices.len() as f64 * f64::EPSILON) / self.devices.len() as f64;
        let share = if self.devices.len() == 1 { 1.0 } else { share };
        let mut answer = Solution::default();
        answer
            .devices
            .resize(self.devices.len(), DeviceShare::default());
        for given in &mut answer.devices {
            given.bandwidth_up_hz = self.bandwidth_up_hz * share;
            given.bandwidth_down_hz = self.bandwidth_down_hz * share;
        }
        self.price(local_iterations, &mut answer);
        answer.status = Status::Solved;
        Ok(answer)
    }
}

/// tau(b) = I / (b log2(1 + a / b)): the time to send `bits` over a link that holds `bandwidth_hz`.
pub fn transfer_time_s(bits: f64, snr_hz: f64, bandwidth_hz: f64) -> f64 {
    bits * std::f64::consts::LN_2 / (bandwidth_hz * (snr_hz / bandwidth_hz).ln_1p())
}

/// An allocation and how good it is known to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solution {
    /// Whether the tolerance was met.
    pub status: Status,
    /// lambda_4 energy + lambda_5 time of the round for `local_iterations`.
    pub objective: f64,
    /// When the slowest device is done.
    pub round_time_s: f64,
    /// Everybody's joules: the devices', the UAV's hovering and its broadcasts.
    pub energy_j: f64,
    /// Local steps H.
    pub local_iterations: u32,
    /// Relative duality gap: the optimum is not below `objective * (1 - kkt_residual)`; 0 at a KKT point.
    pub kkt_residual: f64,
    /// What each device gets, in the order of the cell's devices.
    pub devices: Vec<DeviceShare>,
}

/// One device's part of a [`Solution`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceShare {
    /// Uplink band.
    pub bandwidth_up_hz: f64,
    /// Downlink band.
    pub bandwidth_down_hz: f64,
    /// Download, local steps and upload together.
    pub time_s: f64,
    /// The device's own energy: local steps and upload.
    pub energy_j: f64,
}

impl Default for Solution {
    /// An answer that nobody has computed yet.
    fn default() -> Self {
        Self {
            status: Status::IterationLimit,
            objective: f64::INFINITY,
            round_time_s: 0.0,
            energy_j: 0.0,
            local_iterations: 0,
            kkt_residual: f64::INFINITY,
            devices: Vec::new(),
        }
    }
}
