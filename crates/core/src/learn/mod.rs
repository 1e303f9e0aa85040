//! Learning: who trains, who evaluates, how models are merged, and what is learned from.

pub mod aggregation;
pub(crate) mod batches;
pub mod codec;
pub mod data;
pub mod devices;
pub mod engine;
pub mod evaluator;
mod holdings;
mod label_mix;
pub(crate) mod local;
pub(crate) mod sampled;
pub(crate) mod surrogate;
mod task;

pub use codec::Codec;
pub use data::{Data, DataStore};
pub use devices::{
    Devices, Job, LocalTraining, LocalUpdate, StatelessDevices, UpdateLost, UpdateView,
};
pub use engine::{Averages, Engine};
pub use evaluator::Evaluator;
pub use task::Task;
