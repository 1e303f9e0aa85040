//! `aerofed bench`

use aerofed_nn::bench::{Measurement, train_throughput};
use aerofed_nn::{Isa, ModelSpec, Network, Shape};
use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use super::bench_scale::{self, ScaleArgs};
use super::device::{Device, DeviceArgs};
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
        aerofed bench train --device cuda --devices 1000 --profile   (programs built with --features cuda)\n  \
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
    #[command(flatten)]
    device: DeviceArgs,
    /// Steps of each device in a repetition (GPU)
    #[arg(long, default_value_t = 13, value_parser = whole::<u32>(1..=10_000))]
    steps: u32,
    /// Where the time goes (GPU)
    #[arg(long)]
    profile: bool,
    /// How long to measure; the best repetition counts, on a GPU the median
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
    const CLASSES: usize = 10;
    let shape = Shape {
        channels: args.channels as usize,
        height: args.side as usize,
        width: args.side as usize,
    };
    let spec = ModelSpec::builtin(&args.model, CLASSES)
        .ok_or_else(|| BadInput(format!("`--model` is {}", args.model)))?;
    let network = Network::new(&spec, shape, CLASSES)?;
    match args.device.open(false)? {
        Device::Cores => on_cores(&network, args),
        #[cfg(feature = "cuda")]
        Device::Card(card) => on_card(&card, &network, &args),
    }
}

/// Samples and operations a second on a GPU.
#[cfg(feature = "cuda")]
fn on_card(
    card: &std::sync::Arc<aerofed_gpu::Card>,
    network: &Network,
    args: &TrainArgs,
) -> Result<()> {
    let measurement = aerofed_gpu::Measurement {
        batch: args.batch as usize,
        devices: args.devices as usize,
        steps: args.steps as usize,
        seconds: args.seconds,
    };
    let result = aerofed_gpu::throughput(card, network, &measurement, args.profile)?;
    let (model, batch, devices) = (&args.model, args.batch, args.devices);
    let share = result.gflops / result.peak_gflops;
    if args.json {
        let phase = |phase: &aerofed_gpu::PhaseShare| serde_json::json!({ "name": phase.name, "time": phase.time, "peak_share": phase.peak });
        let object = serde_json::json!({
            "model": model, "device": card.name(), "batch": batch, "devices": devices,
            "samples_per_s": result.samples_per_s, "gflops": result.gflops,
            "peak_gflops": result.peak_gflops, "peak_share": share,
            "profile": result.profile.iter().map(phase).collect::<Vec<_>>(),
        });
        return console::result(&object.to_string());
    }
    let mut lines = format!(
        "{model}, {} parameters, batch {batch}, {devices} device(s) x {} steps, {}\n  \
         {:.0} samples/s (median of {})\n  \
         {:.1} TFLOP/s, {:.1} % of {:.1} TFLOP/s",
        network.parameter_count(),
        args.steps,
        card.name(),
        result.samples_per_s,
        result.repetitions,
        result.gflops / 1e3,
        100.0 * share,
        result.peak_gflops / 1e3,
    );
    for phase in &result.profile {
        let (time, peak) = (100.0 * phase.time, 100.0 * phase.peak);
        lines += &format!(
            "\n  {time:5.1} % of the time, at {peak:4.1} % of the peak: {}",
            phase.name
        );
    }
    console::result(&lines)
}

/// The same on this machine's cores.
fn on_cores(network: &Network, args: TrainArgs) -> Result<()> {
    let TrainArgs {
        model,
        batch,
        threads,
        devices,
        seconds,
        json,
        ..
    } = args;
    let measurement = Measurement {
        isa: Isa::from_environment()?,
        batch: batch as usize,
        threads: usize::from(threads),
        devices: devices as usize,
        seconds,
    };
    let result = train_throughput(network, &measurement)?;
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
