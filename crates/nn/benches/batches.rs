//! Samples per second at batches that do not fill groups of 16, as a share of those at batch 32 in the same run:
//! `cargo bench -p aerofed-nn --bench batches`. Batches take turns, and a batch is held against the 32 of its round: medians over
//! the rounds, so that a machine which is slower for a while is so for both.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use aerofed_nn::bench::{Measurement, train_throughput};
use aerofed_nn::{Isa, ModelSpec, Network, Shape};

/// The first is what the others are held against.
const BATCHES: [usize; 5] = [32, 8, 10, 20, 24];
const ROUNDS: usize = 31;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let isa = Isa::from_environment().unwrap();
    println!(
        "{isa}, one thread: samples/s by batch, as a share of batch 32 (and of the multiply-add peak)"
    );
    for name in ModelSpec::BUILTIN {
        let spec = ModelSpec::builtin(name, 10).unwrap();
        let shape = Shape {
            channels: 1,
            height: 28,
            width: 28,
        };
        let network = Network::new(&spec, shape, 10).unwrap();
        let rounds: Vec<_> = (0..ROUNDS)
            .map(|_| {
                BATCHES.map(|batch| {
                    let measurement = Measurement {
                        isa,
                        batch,
                        threads: 1,
                        devices: 1,
                        seconds: 0.1,
                    };
                    train_throughput(&network, &measurement).unwrap()
                })
            })
            .collect();
        let share = |at: usize| 100.0 * median(rounds.iter().map(|r| r[at].peak_share).collect());
        print!("{name:9}");
        for (at, batch) in BATCHES.iter().enumerate().skip(1) {
            let ratios = rounds
                .iter()
                .map(|round| round[at].samples_per_s / round[0].samples_per_s);
            let ratio = median(ratios.collect());
            print!("  {batch:2}: {ratio:.2} ({:3.0} %)", share(at));
        }
        println!("  32: 1 ({:.0} %)", share(0));
    }
}
