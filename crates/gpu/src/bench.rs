//! How fast a card trains, beside how fast it could multiply and add.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use aerofed::learn::Engine;
use aerofed_data::{Dataset, Values as DataValues};
use aerofed_nn::{Job, Network, Sgd};

use crate::card::Card;
use crate::engine::CardEngine;
use crate::source::Phase;

/// Samples in the synthetic data set.
const SAMPLES: usize = 2000;
/// Devices whose models are averaged together, as under one UAV.
const CELL: usize = 50;

/// What to measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement {
    /// Samples per step.
    pub batch: usize,
    /// Devices that train at once.
    pub devices: usize,
    /// Steps of each.
    pub steps: usize,
    /// How long to go on.
    pub seconds: f64,
}

/// What [`throughput`] measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Throughput {
    /// Samples trained per second: the median of all repetitions. Each is a whole edge round: mini-batches listed and sent to the card, training, averages of
    /// fifty devices each, which come back.
    pub samples_per_s: f64,
    /// Multiplications and additions per second, in 1e9, as the textbook counts them.
    pub gflops: f64,
    /// What the card could do at its highest clock.
    pub peak_gflops: f64,
    /// How often it was repeated.
    pub repetitions: usize,
    /// Where the time goes, where that was asked for.
    pub profile: Vec<PhaseShare>,
}

/// A part of a training step.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseShare {
    /// What is done.
    pub name: String,
    /// Its share of the time.
    pub time: f64,
    /// Multiplications and additions of the textbook, as a share of what a multiprocessor could do in that time; 0 where there are none.
    pub peak: f64,
}

/// Trains a network on synthetic data and reports the median of several rounds; with `profile`, one more time with counted cycles.
///
/// # Errors
/// When the card fails.
pub fn throughput(
    card: &Arc<Card>,
    network: &Network,
    measurement: &Measurement,
    profile: bool,
) -> Result<Throughput, aerofed::Error> {
    let Measurement {
        batch,
        devices,
        steps,
        seconds,
    } = *measurement;
    let set = Arc::new(data(network));
    let start: Vec<f32> = pattern(network.parameter_count())
        .map(|value| 0.1 * (value - 0.5))
        .collect();
    let order = |device: usize| {
        let sample = |i: usize| ((device * 131 + i * 17) % SAMPLES) as u32;
        (0..steps * batch).map(sample).collect::<Vec<u32>>()
    };
    let orders: Vec<Vec<u32>> = (0..devices).map(order).collect();
    let job = |order| Job {
        start: &start,
        order,
        batch_size: batch,
        sgd: Sgd::default(),
    };
    let jobs: Vec<Job> = orders.iter().map(|order| job(order)).collect();
    let cells: Vec<Range<usize>> = (0..devices)
        .step_by(CELL)
        .map(|first| first..(first + CELL).min(devices))
        .collect();
    let shares: Vec<f64> = cells
        .iter()
        .flat_map(|cell| vec![1.0 / cell.len() as f64; cell.len()])
        .collect();
    let asked = vec![&[][..]; devices];
    let engine = CardEngine::new(card.clone(), network.clone());
    let round = || engine.train_and_average(&set, &jobs, &asked, &cells, &shares);
    // Kernels are compiled, and the clock goes up.
    round()?;
    round()?;
    let mut times = Vec::new();
    let begin = Instant::now();
    while times.len() < 5 || begin.elapsed().as_secs_f64() < seconds {
        let round_begin = Instant::now();
        round()?;
        times.push(round_begin.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let samples_per_s = (devices * steps * batch) as f64 / times[times.len() / 2];
    Ok(Throughput {
        samples_per_s,
        gflops: samples_per_s * network.flops_per_sample() / 1e9,
        peak_gflops: card.peak_gflops()?,
        repetitions: times.len(),
        profile: match profile {
            true => shares_of_phases(&engine.profile(&set, &jobs)?, devices * steps * batch),
            false => Vec::new(),
        },
    })
}

fn shares_of_phases(phases: &[(Phase, u64)], samples: usize) -> Vec<PhaseShare> {
    let all: u64 = phases.iter().map(|(_, cycles)| cycles).sum();
    let share = |(phase, cycles): &(Phase, u64)| PhaseShare {
        name: phase.name.clone(),
        time: *cycles as f64 / all.max(1) as f64,
        // A multiprocessor multiplies and adds in 128 lanes.
        peak: (phase.multiplications * samples) as f64 / (128 * cycles.max(&1)) as f64,
    };
    phases.iter().map(share).collect()
}

fn data(network: &Network) -> Dataset {
    let pixels = pattern(SAMPLES * network.input().values());
    let labels = (0..SAMPLES).map(|i| (i * 7 % network.classes()) as u8);
    let shape = network.input();
    Dataset {
        name: "pattern".into(),
        channels: shape.channels,
        height: shape.height,
        width: shape.width,
        class_names: (0..network.classes())
            .map(|class| class.to_string())
            .collect(),
        inputs: DataValues::Pixels(pixels.map(|value| (256.0 * value) as u8).collect()),
        labels: labels.collect(),
        users: None,
    }
}

/// Values in [0, 1) that look random enough, the same everywhere.
fn pattern(count: usize) -> impl Iterator<Item = f32> {
    let mut state = 1u32;
    let next = move |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1u32 << 24) as f32
    };
    (0..count).map(next)
}
