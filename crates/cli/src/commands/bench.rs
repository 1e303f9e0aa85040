//! `aerofed bench`

use aerofed_nn::bench::{Measurement, train_throughput};
use aerofed_nn::{Isa, ModelSpec, Network, Shape};
use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use super::bench_scale::{self, ScaleArgs};
use crate::console::{self, BadInput};
use crate::numbers::{number, whole};

#[derive(Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Subcommand)]
enum BenchCommand {
    /// Measure how fast local models train on this machine
    #[command(
        allow_negative_numbers = true,
        after_help = "Examples:\n  \
        aerofed bench train\n  \
        aerofed bench train --model vgg --batch 10 --threads 2 --json\n  \
        AEROFED_ISA=avx2 aerofed bench train   (avx512, avx2, neon or portable; default: the best)"
    )]
    Train(TrainArgs),
    /// Measure what a global round takes in time and memory, over numbers of devices and UAVs
    #[command(after_help = "Examples:\n  \
        aerofed bench scale\n  \
        aerofed bench scale --devices 1000,1000000 --uavs 1000 --methods cehfed --out scale")]
    Scale(ScaleArgs),
}

#[derive(Args)]
struct TrainArgs {
    /// A built-in model
    #[arg(long, default_value = "cnn", value_parser = PossibleValuesParser::new(ModelSpec::BUILTIN))]
    model: String,
    /// Samples in a mini-batch
    #[arg(long, default_value_t = 32, value_parser = whole::<u32>(1..=4096))]
    batch: u32,
    /// Worker threads
    #[arg(long, default_value_t = 1, value_parser = whole::<u16>(1..=1024))]
    threads: u16,
    /// Devices that train side by side
    #[arg(long, default_value_t = 8, value_parser = whole::<u32>(1..=10_000))]
    devices: u32,
    /// Side of the square images
    #[arg(long, default_value_t = 28, value_parser = whole::<u32>(1..=512))]
    side: u32,
    /// Colours of the images
    #[arg(long, default_value_t = 1, value_parser = whole::<u32>(1..=16))]
    channels: u32,
    /// How long to measure; the best repetition counts
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, value_parser = number(0.01..=600.0))]
    seconds: f64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: BenchArgs) -> Result<()> {
    match args.command {
        BenchCommand::Train(args) => train(args),
        BenchCommand::Scale(args) => bench_scale::run(&args),
    }
}

fn train(args: TrainArgs) -> Result<()> {
    let TrainArgs {
        model,
        batch,
        threads,
        devices,
        side,
        channels,
        seconds,
        json,
    } = args;
    const CLASSES: usize = 10;
    let shape = Shape {
        channels: channels as usize,
        height: side as usize,
        width: side as usize,
    };
    let spec = ModelSpec::builtin(&model, CLASSES)
        .ok_or_else(|| BadInput(format!("`--model` is {model}")))?;
    let network = Network::new(&spec, shape, CLASSES)?;
    let measurement = Measurement {
        isa: Isa::from_environment()?,
        batch: batch as usize,
        threads: usize::from(threads),
        devices: devices as usize,
        seconds,
    };
    let result = train_throughput(&network, &measurement)?;
    if json {
        let mut object = serde_json::to_value(&result)?;
        object["model"] = model.into();
        return console::result(&object.to_string());
    }
    console::result(&format!(
        "{model}, {} parameters, batch {batch}, {threads} thread(s), {}\n  \
         {:.0} samples/s\n  \
         {:.1} GFLOP/s, {:.1} % of the measured FMA peak of {:.1} GFLOP/s a core",
        network.parameter_count(),
        result.isa,
        result.samples_per_s,
        result.gflops,
        100.0 * result.peak_share,
        result.peak_gflops,
    ))
}
