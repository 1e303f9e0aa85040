//! Small neural networks, fast.
//!
//! A [`ModelSpec`] says which layers there are, a [`Network`] is that model checked against an input
//! shape, and an [`Engine`] trains many copies of it at once, one [`Job`] per device.

pub mod bench;
mod buffers;
mod engine;
mod error;
mod isa;
mod job;
mod lanes;
mod network;
mod pass;
mod plan;
mod spec;
mod weights_file;
mod worker;

pub use engine::Engine;
pub use error::Error;
pub use isa::Isa;
pub use job::{Evaluation, Examples, Job, Sgd, Update};
pub use network::{LayerPlan, MAX_MAP_VALUES, MAX_PARAMETERS, Network};
pub use spec::{Layer, ModelSpec, Shape};
pub use weights_file::{from_safetensors, to_safetensors};
