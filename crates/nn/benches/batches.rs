//! Samples per second at batches that do not fill groups of 16, as a share of those at batch 32 in the same run:
//! `cargo bench -p aerofed-nn --bench batches`. Batches take turns, and the best round of each counts.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use aerofed_nn::bench::{Measurement, Throughput, train_throughput};
use aerofed_nn::{Isa, ModelSpec, Network, Shape};

const BATCHES: [usize; 5] = [32, 8, 10, 20, 24];
const ROUNDS: usize = 5;

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
        let mut best: [Option<Throughput>; BATCHES.len()] = Default::default();
        for _ in 0..ROUNDS {
            for (best, batch) in best.iter_mut().zip(BATCHES) {
                let measurement = Measurement {
                    isa,
                    batch,
                    threads: 1,
                    devices: 1,
                    seconds: 0.2,
                };
                let now = train_throughput(&network, &measurement).unwrap();
                let slower = |best: &Throughput| best.samples_per_s < now.samples_per_s;
                if best.as_ref().is_none_or(slower) {
                    *best = Some(now);
                }
            }
        }
        let best = best.map(Option::unwrap);
        print!("{name:9}");
        for now in &best[1..] {
            let ratio = now.samples_per_s / best[0].samples_per_s;
            let share = 100.0 * now.peak_share;
            print!("  {:2}: {ratio:.2} ({share:3.0} %)", now.batch);
        }
        println!("  32: 1 ({:.0} %)", 100.0 * best[0].peak_share);
    }
}
