//! A cell as a file: what `aerofed allocate` reads.

use serde::Deserialize;

use super::{Cell, CellDevice};
use crate::nature::channel::{Channel, End, Path, PowerLaw, watts_from_dbm};
use crate::reading::from_json;
use crate::vocabulary::{DeviceId, Point, UavId};

/// A cell whose devices say how well they are heard, or where they are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CellFile {
    energy_weight: f64,
    time_weight: f64,
    hover_power_w: f64,
    bandwidth_up_hz: f64,
    bandwidth_down_hz: f64,
    model_bits_up: f64,
    model_bits_down: f64,
    broadcast_power_w: f64,
    #[serde(default)]
    local_iterations: Option<u32>,
    #[serde(default)]
    uav_position_m: Option<Point>,
    #[serde(default)]
    altitude_m: Option<f64>,
    #[serde(default)]
    noise_dbm_per_hz: Option<f64>,
    #[serde(default)]
    exponent_up: Option<f64>,
    #[serde(default)]
    exponent_down: Option<f64>,
    devices: Vec<DeviceEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeviceEntry {
    #[serde(default)]
    snr_up_hz: Option<f64>,
    #[serde(default)]
    snr_down_hz: Option<f64>,
    #[serde(default)]
    position_m: Option<Point>,
    tx_power_w: f64,
    iteration_time_s: f64,
    iteration_energy_j: f64,
}

/// What scenarios have unless they say otherwise.
const ALTITUDE_M: f64 = 150.0;
const NOISE_DBM_PER_HZ: f64 = -174.0;
const EXPONENT: f64 = 3.0;

/// Reads a cell. Where devices have positions, their links are those of the power law.
///
/// # Errors
/// When the text is no such cell: the field, its value and what is allowed.
pub fn read_cell(json: &str) -> Result<Cell, String> {
    let file: CellFile = from_json(json)?;
    let radio = RadioNumbers::new(&file)?;
    let device = |(index, entry): (usize, &DeviceEntry)| {
        let field = |name: &str| format!("devices[{index}].{name}");
        let (snr_up_hz, snr_down_hz) = match (entry.snr_up_hz, entry.snr_down_hz, entry.position_m)
        {
            (Some(up), Some(down), None) => (up, down),
            (None, None, Some(at)) => radio.snr_hz(&file, entry, at, &field("position_m"))?,
            (None, None, None) => {
                return Err(format!(
                    "{}: is missing, allowed is a number, with snr_down_hz, or position_m instead of both",
                    field("snr_up_hz")
                ));
            }
            (_, _, Some(_)) => {
                return Err(format!(
                    "{}: stands beside snr_up_hz or snr_down_hz, allowed is one or the other",
                    field("position_m")
                ));
            }
            (up, ..) => {
                let missing = if up.is_some() {
                    "snr_down_hz"
                } else {
                    "snr_up_hz"
                };
                return Err(format!("{}: is missing", field(missing)));
            }
        };
        Ok(CellDevice {
            snr_up_hz,
            snr_down_hz,
            tx_power_w: entry.tx_power_w,
            iteration_time_s: entry.iteration_time_s,
            iteration_energy_j: entry.iteration_energy_j,
        })
    };
    let devices: Result<Vec<CellDevice>, String> =
        file.devices.iter().enumerate().map(device).collect();
    Ok(Cell {
        energy_weight: file.energy_weight,
        time_weight: file.time_weight,
        hover_power_w: file.hover_power_w,
        bandwidth_up_hz: file.bandwidth_up_hz,
        bandwidth_down_hz: file.bandwidth_down_hz,
        model_bits_up: file.model_bits_up,
        model_bits_down: file.model_bits_down,
        broadcast_power_w: file.broadcast_power_w,
        local_iterations: file.local_iterations,
        devices: devices?,
    })
}

/// What links go by.
struct RadioNumbers {
    altitude_m: f64,
    noise_w_per_hz: f64,
    law: PowerLaw,
}

impl RadioNumbers {
    fn new(file: &CellFile) -> Result<Self, String> {
        let number = |name: &str, value: Option<f64>, usual: f64, least: f64, most: f64| {
            let value = value.unwrap_or(usual);
            match (least..=most).contains(&value) {
                true => Ok(value),
                false => Err(format!(
                    "{name}: {value} is out of range, allowed is {least} to {most}"
                )),
            }
        };
        let noise = file.noise_dbm_per_hz;
        let noise = number("noise_dbm_per_hz", noise, NOISE_DBM_PER_HZ, -250.0, 0.0)?;
        Ok(Self {
            altitude_m: number("altitude_m", file.altitude_m, ALTITUDE_M, 0.0, 1e5)?,
            noise_w_per_hz: watts_from_dbm(noise),
            law: PowerLaw {
                exponent_up: number("exponent_up", file.exponent_up, EXPONENT, 1.0, 6.0)?,
                exponent_down: number("exponent_down", file.exponent_down, EXPONENT, 1.0, 6.0)?,
                exponent_uav: EXPONENT,
            },
        })
    }

    /// Received power over noise density, up and down.
    fn snr_hz(
        &self,
        file: &CellFile,
        entry: &DeviceEntry,
        at: Point,
        field: &str,
    ) -> Result<(f64, f64), String> {
        let uav = file.uav_position_m.ok_or_else(|| {
            format!("uav_position_m: is missing, allowed is [x, y], because {field} is given")
        })?;
        for (name, place) in [("uav_position_m", uav), (field, at)] {
            if !(place.x_m.abs() <= 1e7 && place.y_m.abs() <= 1e7) {
                return Err(format!(
                    "{name}: [{}, {}] is out of range, allowed is -1e7 to 1e7",
                    place.x_m, place.y_m
                ));
            }
        }
        let (device, uav) = (
            End::device(DeviceId(0), at),
            End::uav(UavId(0), uav, self.altitude_m),
        );
        let snr_hz = |from: End, to: End, power_w: f64| {
            power_w * self.law.gain(&Path::new(from, to, 1, 0)) / self.noise_w_per_hz
        };
        Ok((
            snr_hz(device, uav, entry.tx_power_w),
            snr_hz(uav, device, file.broadcast_power_w),
        ))
    }
}
