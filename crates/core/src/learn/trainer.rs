//! Who computes: the seam behind which a CPU, a GPU or a network of real devices trains.

use std::sync::Arc;

use aerofed_data::Dataset;
pub use aerofed_nn::Update;
use aerofed_nn::{Engine, Evaluation, Examples, Network, Sgd};

use crate::Error;
use crate::world::DeviceId;

/// One device's work in an edge round.
pub struct Job<'a> {
    /// Whose work it is.
    pub device: DeviceId,
    /// The edge model it starts from.
    pub start: &'a [f32],
    /// The training samples of its mini-batches, one batch after another.
    pub order: Vec<u32>,
    /// Samples in a mini-batch.
    pub batch_size: usize,
    /// How it steps.
    pub sgd: Sgd,
}

/// Trains local models.
pub trait Trainer: Send {
    /// Does all jobs of an edge round; updates come in the order of the jobs.
    ///
    /// # Errors
    /// When a job cannot be done at all; a diverging loss is an update like any other.
    fn train(&self, jobs: &[Job]) -> Result<Vec<Update>, Error>;

    /// Loss and accuracy of a model on the test set.
    ///
    /// # Errors
    /// When the weights do not fit the network.
    fn test(&self, weights: &[f32]) -> Result<Evaluation, Error>;

    /// Loss and accuracy of a model on training samples of the caller's choice.
    ///
    /// # Errors
    /// When the weights do not fit the network.
    fn evaluate(&self, weights: &[f32], samples: &[u32]) -> Result<Evaluation, Error>;

    /// Softmax outputs of several models, each on training samples of its own, class by class.
    ///
    /// # Errors
    /// When some weights do not fit the network.
    fn outputs(&self, models: &[(&[f32], &[u32])]) -> Result<Vec<Vec<f32>>, Error>;
}

/// Trains on this machine's cores.
pub struct CpuTrainer {
    engine: Engine,
    train: Arc<Dataset>,
    test: Arc<Dataset>,
}

impl CpuTrainer {
    /// A trainer over a data set with `threads` workers.
    #[must_use]
    pub fn new(network: Network, train: Arc<Dataset>, test: Arc<Dataset>, threads: usize) -> Self {
        Self {
            engine: Engine::new(network, threads),
            train,
            test,
        }
    }
}

fn examples(set: &Dataset) -> Examples<'_> {
    Examples {
        inputs: &set.inputs,
        labels: &set.labels,
    }
}

impl Trainer for CpuTrainer {
    fn train(&self, jobs: &[Job]) -> Result<Vec<Update>, Error> {
        let jobs: Vec<aerofed_nn::Job> = jobs
            .iter()
            .map(|job| aerofed_nn::Job {
                start: job.start,
                order: &job.order,
                batch_size: job.batch_size,
                sgd: job.sgd,
            })
            .collect();
        Ok(self.engine.train(&examples(&self.train), &jobs)?)
    }

    fn test(&self, weights: &[f32]) -> Result<Evaluation, Error> {
        Ok(self.engine.evaluate(&examples(&self.test), weights, None)?)
    }

    fn evaluate(&self, weights: &[f32], samples: &[u32]) -> Result<Evaluation, Error> {
        Ok(self
            .engine
            .evaluate(&examples(&self.train), weights, Some(samples))?)
    }

    fn outputs(&self, models: &[(&[f32], &[u32])]) -> Result<Vec<Vec<f32>>, Error> {
        Ok(self.engine.outputs(&examples(&self.train), models)?)
    }
}
