//! How fast this machine trains, beside how fast it could multiply and add.

use crate::engine::Engine;
use crate::error::Error;
use crate::isa::Isa;
use crate::job::{Examples, Job, Sgd};
use crate::lanes;
use crate::network::Network;
use serde::Serialize;
use std::time::Instant;

/// Steps of a job at least: a device that trains copies its weights in and out once for several of them.
const STEPS: usize = 4;

/// Samples in the synthetic data set.
const SAMPLES: usize = 2000;

/// What to measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement {
    /// Instruction set.
    pub isa: Isa,
    /// Samples per step.
    pub batch: usize,
    /// Worker threads.
    pub threads: usize,
    /// Devices that one round trains, a job each. Few make short rounds, of which the best is less likely to
    /// have been interrupted; many show how well the jobs spread over threads.
    pub devices: usize,
    /// How long to go on.
    pub seconds: f64,
}

/// What [`train_throughput`] measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Throughput {
    /// Instruction set used.
    pub isa: String,
    /// Samples per step.
    pub batch: usize,
    /// Worker threads.
    pub threads: usize,
    /// Samples trained per second, the best of the rounds.
    pub samples_per_s: f64,
    /// Multiplications and additions per second, in 1e9.
    pub gflops: f64,
    /// What one core did when it only multiplied and added, in the same run.
    pub peak_gflops: f64,
    /// `gflops / (threads x peak_gflops)`. It can exceed 1: `gflops` counts every operation of the textbook
    /// method, also the multiplications by zero that the kernels leave out.
    pub peak_share: f64,
}

/// Multiply-add peak of the core this runs on, in 1e9 operations per second (a multiply-add counts as two).
///
/// # Errors
/// When this machine does not have the instruction set.
pub fn fma_peak_gflops(isa: Isa) -> Result<f64, Error> {
    let isa = isa.checked()?;
    let mut rounds = 1000;
    let mut best: f64 = 0.0;
    let begin = Instant::now();
    // Short bursts: the best of them is the one nobody interrupted.
    while begin.elapsed().as_secs_f64() < 0.1 {
        let start = Instant::now();
        let count = lanes::multiply_adds(isa, rounds);
        let seconds = start.elapsed().as_secs_f64();
        if seconds < 0.002 {
            rounds *= 2;
            continue;
        }
        best = best.max(2.0 * count / seconds / 1e9);
    }
    Ok(best)
}

/// Trains a network on synthetic data and reports the best round.
///
/// # Errors
/// When this machine does not have the instruction set, or `batch` is 0.
pub fn train_throughput(network: &Network, measurement: &Measurement) -> Result<Throughput, Error> {
    let Measurement {
        isa,
        batch,
        threads,
        devices,
        seconds,
    } = *measurement;
    let engine = Engine::with_isa(network.clone(), threads, isa)?;
    // As images are kept: the way from pixels to numbers is part of training.
    let inputs: Vec<u8> = pattern(SAMPLES * network.input().values())
        .iter()
        .map(|value| (256.0 * value) as u8)
        .collect();
    let labels: Vec<u8> = (0..SAMPLES)
        .map(|i| (i * 7 % network.classes()) as u8)
        .collect();
    let examples = Examples::new(network, &inputs, &labels)?;
    let start: Vec<f32> = pattern(network.parameter_count())
        .iter()
        .map(|v| 0.1 * (v - 0.5))
        .collect();
    let mut peak = fma_peak_gflops(isa)?;
    let mut steps = STEPS;
    let mut updates = Vec::new();
    let mut best: f64 = 0.0;
    let begin = Instant::now();
    loop {
        let orders: Vec<Vec<u32>> = (0..devices)
            .map(|device| order(device, steps * batch))
            .collect();
        let jobs: Vec<Job> = orders
            .iter()
            .map(|order| Job {
                start: &start,
                order,
                batch_size: batch,
                sgd: Sgd::default(),
            })
            .collect();
        let round = Instant::now();
        engine.train_into(&examples, &jobs, &mut updates)?;
        let elapsed = round.elapsed().as_secs_f64();
        best = best.max((devices * steps * batch) as f64 / elapsed);
        if begin.elapsed().as_secs_f64() >= seconds {
            break;
        }
        // Long enough that starting threads does not count, short enough to have several rounds.
        if elapsed < 0.01 {
            steps *= 2;
        }
    }
    peak = peak.max(fma_peak_gflops(isa)?);
    let gflops = best * network.flops_per_sample() / 1e9;
    Ok(Throughput {
        isa: isa.name().into(),
        batch,
        threads: engine.threads(),
        samples_per_s: best,
        gflops,
        peak_gflops: peak,
        peak_share: gflops / (peak * engine.threads() as f64),
    })
}

/// Values in [0, 1) that look random enough, the same everywhere.
fn pattern(count: usize) -> Vec<f32> {
    let mut state = 1u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1u32 << 24) as f32
    };
    (0..count).map(next).collect()
}

/// Sample indices of one device.
fn order(device: usize, count: usize) -> Vec<u32> {
    (0..count)
        .map(|i| ((device * 131 + i * 17) % SAMPLES) as u32)
        .collect()
}
