//! Trains aerofed's devices on an NVIDIA GPU.
//!
//! The whole local training of a device stays on the card: one block of threads a device, over all its steps, a sample of the mini-batch in each lane of a warp. Kernels are
//! generated from the model, and compiled when they are first needed; nothing of CUDA is needed to build.
//!
//! ```no_run
//! use aerofed::{Method, Scenario, Simulation};
//! use aerofed_gpu::Card;
//!
//! let card = Card::open()?;
//! let scenario = Scenario::parse("", &["devices.count=1000"])?.check()?;
//! let mut simulation = Simulation::builder(&scenario).engine(|network| card.engine(network)).build()?;
//! simulation.step(&mut Method::of(&scenario)?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bench;
mod card;
#[cfg(test)]
mod emulated;
mod engine;
mod error;
mod memory;
mod plan;
mod source;
#[cfg(test)]
mod testing;
mod tiles;
mod work;

pub use bench::{Measurement, PhaseShare, Throughput, throughput};
pub use card::Card;
pub use error::Error;
