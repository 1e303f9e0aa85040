//! What computes: the seam behind which this machine's cores, or a card, train and run networks.

use std::ops::Range;
use std::sync::Arc;

use aerofed_data::{Dataset, Values};
use aerofed_nn::{Evaluation, Examples, Inputs, Network, Update};

use crate::Error;

/// Jobs in one go for each worker: enough that nobody waits long for the last.
const JOBS_A_WORKER: usize = 64;
/// Models that are under way at the same time need no more than this.
const MODELS_BYTES: usize = 64 << 20;

/// Trains and runs one network with many sets of weights.
///
/// Implementations must answer the same for the same calls, to the bit. A data set is the same one as long as it is behind the same `Arc`: what is
/// uploaded may be kept.
pub trait Engine: Send + Sync {
    /// What it is, in a word or a few. Engines that do not answer the same to the bit have other names: a run goes on only on
    /// one of the same name.
    fn name(&self) -> &str;

    /// The network.
    fn network(&self) -> &Network;

    /// How many jobs it takes well in one go.
    fn jobs_at_once(&self) -> usize;

    /// Trains every job from its own start; updates come back in the order of the jobs.
    ///
    /// # Errors
    /// When something does not fit the network, or the machine fails. Nothing is trained then.
    fn train(&self, set: &Arc<Dataset>, jobs: &[aerofed_nn::Job]) -> Result<Vec<Update>, Error>;

    /// Softmax outputs of several models, each on samples of its own: a row of classes for each sample.
    ///
    /// # Errors
    /// As [`train`](Self::train).
    fn outputs(
        &self,
        set: &Arc<Dataset>,
        models: &[(&[f32], &[u32])],
    ) -> Result<Vec<Vec<f32>>, Error>;

    /// Loss and accuracy over some samples, or over all.
    ///
    /// # Errors
    /// As [`train`](Self::train).
    fn evaluate(
        &self,
        set: &Arc<Dataset>,
        model: &[f32],
        samples: Option<&[u32]>,
    ) -> Result<Evaluation, Error>;

    /// Whether [`train_and_average`](Self::train_and_average) is worth asking for.
    fn averages(&self) -> bool {
        false
    }

    /// Trains jobs and averages their models where they are, by cells of jobs that follow each other; `shares` says what each job weighs in its
    /// cell, 1 in all. Of the trained models `asked` has the samples whose softmax outputs are wanted, by job. None where that cannot be
    /// done: then [`train`](Self::train) is called instead.
    ///
    /// # Errors
    /// As [`train`](Self::train).
    fn train_and_average(
        &self,
        set: &Arc<Dataset>,
        jobs: &[aerofed_nn::Job],
        asked: &[&[u32]],
        cells: &[Range<usize>],
        shares: &[f64],
    ) -> Result<Option<Averages>, Error> {
        let _ = (set, jobs, asked, cells, shares);
        Ok(None)
    }
}

/// What is left of local models that were averaged where they were trained.
#[derive(Clone, Debug, PartialEq)]
pub struct Averages {
    /// The weighted mean of each cell's models.
    pub models: Vec<Vec<f32>>,
    /// Mean loss of each job over its local steps.
    pub losses: Vec<f32>,
    /// Softmax outputs of each job's model, a row of classes for each sample it was asked about.
    pub outputs: Vec<Vec<f32>>,
}

/// This machine's cores.
impl Engine for aerofed_nn::Engine {
    fn name(&self) -> &str {
        "cores"
    }

    fn network(&self) -> &Network {
        self.network()
    }

    fn jobs_at_once(&self) -> usize {
        let workers = self.threads();
        let model_bytes = size_of::<f32>() * self.network().parameter_count();
        let affordable = MODELS_BYTES / model_bytes.max(1);
        affordable.clamp(4 * workers, JOBS_A_WORKER * workers)
    }

    fn train(&self, set: &Arc<Dataset>, jobs: &[aerofed_nn::Job]) -> Result<Vec<Update>, Error> {
        Ok(self.train(&examples(set), jobs)?)
    }

    fn outputs(
        &self,
        set: &Arc<Dataset>,
        models: &[(&[f32], &[u32])],
    ) -> Result<Vec<Vec<f32>>, Error> {
        Ok(self.outputs(&examples(set), models)?)
    }

    fn evaluate(
        &self,
        set: &Arc<Dataset>,
        model: &[f32],
        samples: Option<&[u32]>,
    ) -> Result<Evaluation, Error> {
        Ok(self.evaluate(&examples(set), model, samples)?)
    }
}

/// A data set as networks see it.
#[must_use]
pub fn examples(set: &Dataset) -> Examples<'_> {
    let inputs = match &set.inputs {
        Values::Pixels(pixels) => Inputs::Pixels(pixels),
        Values::Numbers(numbers) => Inputs::Numbers(numbers),
    };
    Examples {
        inputs,
        labels: &set.labels,
    }
}
