//! Small neural networks, fast.
//!
//! A [`ModelSpec`] says which layers there are, a [`Network`] is that model checked against an input
//! shape, and an [`Engine`] trains many copies of it at once, one [`Job`] per device.
//! For losses other than the classifier's there is the [`Mlp`], with [`Adam`].
//!
//! ```
//! use aerofed_nn::{Engine, Examples, Job, ModelSpec, Network, Sgd, Shape};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let spec = ModelSpec::builtin("cnn", 10).ok_or("no such model")?;
//! let network = Network::new(&spec, Shape { channels: 1, height: 28, width: 28 }, 10)?;
//! let (inputs, labels) = (vec![0.5; 20 * 784], vec![3; 20]);
//! let examples = Examples::new(&network, &inputs, &labels)?;
//! let start = vec![0.01; network.parameter_count()];
//! let engine = Engine::new(network, 2);
//! // Two devices, two local steps of 10 samples each.
//! let order: Vec<u32> = (0..20).collect();
//! let job = Job { start: &start, order: &order, batch_size: 10, sgd: Sgd::default() };
//! let updates = engine.train(&examples, &[job, job])?;
//! assert_eq!(updates[0], updates[1]);
//! let evaluation = engine.evaluate(&examples, &updates[0].weights, None)?;
//! assert!(evaluation.loss < f64::from(updates[0].mean_loss));
//! # Ok(())
//! # }
//! ```
//!
//! # How it is fast
//! Up to 16 samples go through the network together. The values of a row of a map, every column of every sample, lie
//! side by side, and vectors are cut from that: every operation is a multiply-add of whole vectors, however many
//! samples there are. Dense layers fill vectors with the values of a sample. Convolution, bias, pool and relu are one pass, a group of samples goes forward
//! and back before the next one comes, and gradients of large maps go back in strips of rows: what is in use
//! stays in the cache. Behind a max-pool only the winners' gradients are multiplied where that pays. The first
//! layer's input gradient is not computed unless somebody asks.
//!
//! # Equal bits
//! AVX-512, AVX2, NEON and plain Rust do the same roundings in the same order. For finite values, results have
//! the same bits on all of them and at any number of threads. (Infinities and NaN stay what they are, but may
//! spread differently.) `AEROFED_ISA` forces an instruction set.

mod adam;
pub mod bench;
mod buffers;
mod engine;
mod error;
mod isa;
mod job;
mod lanes;
mod mlp;
mod network;
mod pass;
mod plan;
mod spec;
mod weights_file;
mod worker;

pub use adam::Adam;
pub use engine::Engine;
pub use error::Error;
pub use isa::Isa;
pub use job::{Evaluation, Examples, Inputs, Job, Sgd, Update};
pub use mlp::{Activation, Mlp};
pub use network::{LayerPlan, MAX_MAP_VALUES, MAX_PARAMETERS, Network};
pub use spec::{Layer, ModelSpec, Shape};
pub use weights_file::{from_safetensors, to_safetensors};

/// The README's example, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
