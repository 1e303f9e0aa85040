//! Random cells, by class: shared by the validation tests and the benchmarks.

use aerofed::solve::bandwidth::{Cell, CellDevice};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What makes a cell hard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The paper's cell: devices uniform within 5 km, Table II's powers and processors.
    Typical,
    /// A third of the devices below the UAV, the others at the edge and beyond.
    NearFar,
    /// One device computes 100 times slower.
    Straggler,
    /// 200 kHz for everybody.
    Starved,
    /// Gains log-uniform over 100 dB.
    Spread,
    /// Energy costs nothing.
    TimeOnly,
    /// Only the transmitters' and processors' energy counts: no time, no hovering.
    EnergyOnly,
    /// Energy counts, the UAV's hovering included; time has no weight of its own.
    HoverEnergy,
    /// Nobody to share with.
    Single,
    /// All devices alike: every one is critical.
    Twins,
    /// Everything log-uniform over decades.
    Wild,
}

pub(crate) const CLASSES: [Class; 11] = [
    Class::Typical,
    Class::NearFar,
    Class::Straggler,
    Class::Starved,
    Class::Spread,
    Class::TimeOnly,
    Class::EnergyOnly,
    Class::HoverEnergy,
    Class::Single,
    Class::Twins,
    Class::Wild,
];

const NOISE_PSD: f64 = 3.981e-21;

fn between(random: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * random.random::<f64>()
}

fn decades(random: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    10f64.powf(between(random, low.log10(), high.log10()))
}

/// A cell of `count` devices with the paper's parameters (model.md section 1), then bent as `class` says.
pub(crate) fn cell(class: Class, count: usize, seed: u64) -> Cell {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let r = &mut random;
    let broadcast_power_w = between(r, 0.3, 1.2);
    let samples_per_batch = 10.0;
    let mut devices: Vec<CellDevice> = (0..count)
        .map(|_| {
            let ground_m = 5_000.0 * r.random::<f64>().sqrt();
            let gain = (ground_m.powi(2) + 150f64.powi(2)).sqrt().powi(-3);
            let tx_power_w = between(r, 0.2, 0.8);
            let cycles = between(r, 30.0, 100.0) * samples_per_batch * 6_272.0;
            let cpu_hz = between(r, 1e9, 10e9);
            CellDevice {
                snr_up_hz: tx_power_w * gain / NOISE_PSD,
                snr_down_hz: broadcast_power_w * gain / NOISE_PSD,
                tx_power_w,
                iteration_time_s: 1e-3 + cycles / cpu_hz,
                iteration_energy_j: cpu_hz.powi(2) * cycles * 1e-28 / 2.0,
            }
        })
        .collect();
    let mut cell = Cell {
        energy_weight: 0.5,
        time_weight: 0.5,
        hover_power_w: 100.0,
        bandwidth_up_hz: between(r, 20e6, 100e6),
        bandwidth_down_hz: between(r, 20e6, 100e6),
        model_bits_up: 698_880.0,
        model_bits_down: 698_880.0,
        broadcast_power_w,
        local_iterations: None,
        devices: Vec::new(),
    };
    match class {
        Class::Typical | Class::Single => {}
        Class::NearFar => {
            for (index, device) in devices.iter_mut().enumerate() {
                let ground_m: f64 = if index % 3 == 0 {
                    20.0
                } else {
                    between(r, 4_800.0, 30_000.0)
                };
                let gain = (ground_m.powi(2) + 150f64.powi(2)).sqrt().powi(-3);
                device.snr_up_hz = device.tx_power_w * gain / NOISE_PSD;
                device.snr_down_hz = broadcast_power_w * gain / NOISE_PSD;
            }
        }
        Class::Straggler => devices[count / 2].iteration_time_s *= 100.0,
        Class::Starved => {
            cell.bandwidth_up_hz = 200e3;
            cell.bandwidth_down_hz = 200e3;
        }
        Class::Spread => {
            for device in &mut devices {
                let gain = decades(r, 1e-17, 1e-7);
                device.snr_up_hz = device.tx_power_w * gain / NOISE_PSD;
                device.snr_down_hz = broadcast_power_w * gain / NOISE_PSD;
            }
        }
        Class::TimeOnly => cell.energy_weight = 0.0,
        Class::EnergyOnly => {
            cell.time_weight = 0.0;
            cell.hover_power_w = 0.0;
        }
        Class::HoverEnergy => cell.time_weight = 0.0,
        Class::Twins => {
            let first = devices[0];
            devices.fill(first);
        }
        Class::Wild => {
            cell.energy_weight = decades(r, 1e-4, 1e2);
            cell.time_weight = decades(r, 1e-4, 1e2);
            cell.hover_power_w = decades(r, 1e-2, 1e4);
            cell.bandwidth_up_hz = decades(r, 1e5, 1e9);
            cell.bandwidth_down_hz = decades(r, 1e5, 1e9);
            cell.model_bits_up = decades(r, 1e4, 1e8);
            cell.model_bits_down = decades(r, 1e4, 1e8);
            for device in &mut devices {
                device.snr_up_hz = decades(r, 1e5, 1e13);
                device.snr_down_hz = decades(r, 1e5, 1e13);
                device.tx_power_w = decades(r, 1e-2, 1e1);
                device.iteration_time_s = decades(r, 1e-4, 1e1);
                device.iteration_energy_j = decades(r, 1e-5, 1e1);
            }
        }
    }
    cell.devices = devices;
    cell
}
