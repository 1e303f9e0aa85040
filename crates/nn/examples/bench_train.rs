//! Training speed of one model on this machine.
//!
//! `cargo run --release -p aerofed-nn --example bench_train -- --model cnn --batch 32 --threads 1 --json`
#![allow(clippy::print_stdout)]

use aerofed_nn::{Isa, ModelSpec, Network, Shape, bench};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut model, mut batch, mut threads, mut json) = ("cnn".to_string(), 32, 1, false);
    let (mut side, mut channels, mut devices) = (28, 1, 8);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        if name == "--json" {
            json = true;
            continue;
        }
        let value = arguments.next().ok_or(format!("{name} needs a value"))?;
        match name.as_str() {
            "--model" => model = value,
            "--batch" => batch = value.parse()?,
            "--threads" => threads = value.parse()?,
            "--devices" => devices = value.parse()?,
            "--side" => side = value.parse()?,
            "--channels" => channels = value.parse()?,
            _ => return Err(format!("unknown option {name}").into()),
        }
    }
    let spec = ModelSpec::builtin(&model, 10).ok_or(format!("no model {model}"))?;
    let shape = Shape {
        channels,
        height: side,
        width: side,
    };
    let network = Network::new(&spec, shape, 10)?;
    let isa = Isa::from_environment()?;
    let measurement = bench::Measurement {
        isa,
        batch,
        threads,
        devices,
        seconds: 2.0,
    };
    let result = bench::train_throughput(&network, &measurement)?;
    if json {
        let mut object = serde_json::to_value(&result)?;
        object["model"] = model.into();
        println!("{object}");
    } else {
        println!(
            "{model}: {:.0} samples/s, {:.1} GFLOP/s, {:.1} % of {:.1} GFLOP/s x {} ({}, batch {})",
            result.samples_per_s,
            result.gflops,
            100.0 * result.peak_share,
            result.peak_gflops,
            result.threads,
            result.isa,
            result.batch
        );
    }
    Ok(())
}
