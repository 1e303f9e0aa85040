//! Who trains: the seam behind which cores, a GPU, a formula or a network of real devices do.

use std::ops::Range;

use super::engine::Averages;
use crate::vocabulary::{DeviceId, UavId};
use crate::{Error, checkpoint};

/// How devices train, besides what the scenario says about SGD.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalTraining {
    /// Pull towards the model that the device was sent (μ of FedProx); 0: none.
    pub proximal: f64,
    /// Also train on inputs moved by this much along the sign of their gradient (FGSM); 0: no.
    pub adversarial_epsilon: f64,
    /// Passes over a mini-batch that a local iteration takes: it multiplies the arithmetic's time and energy.
    pub compute_factor: f64,
}

impl Default for LocalTraining {
    /// Plain SGD.
    fn default() -> Self {
        Self {
            proximal: 0.0,
            adversarial_epsilon: 0.0,
            compute_factor: 1.0,
        }
    }
}

/// One device's work in an edge round.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Job<'a> {
    /// Whose work it is.
    pub device: DeviceId,
    /// The UAV that it trains with.
    pub uav: UavId,
    /// The model it starts from.
    pub start: &'a [f32],
    /// SGD steps (H), Eq. (1).
    pub local_iterations: usize,
    /// Tells the random draws of this edge round from those of all others.
    pub key: u64,
    /// How it steps.
    pub local: LocalTraining,
    /// Whether the softmax outputs of the trained model are wanted as well.
    pub wants_outputs: bool,
}

impl Job<'_> {
    /// Whether another device that holds the same would come to the same, but for its random draws.
    pub(crate) fn does_the_same_as(&self, other: &Self) -> bool {
        std::ptr::eq(self.start, other.start)
            && (self.local_iterations, self.local, self.wants_outputs)
                == (other.local_iterations, other.local, other.wants_outputs)
    }
}

/// What a device sends back.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalUpdate {
    /// The trained model.
    pub weights: Vec<f32>,
    /// Mean loss over its local steps.
    pub mean_loss: f32,
    /// Softmax outputs of the trained model on the device's small batch, class by class; empty unless the job asks for them.
    pub outputs: Vec<f32>,
}

impl LocalUpdate {
    /// The same, to be looked at.
    #[must_use]
    pub fn view(&self) -> UpdateView<'_> {
        UpdateView {
            weights: &self.weights,
            mean_loss: self.mean_loss,
            outputs: &self.outputs,
        }
    }
}

/// Why an update never came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateLost {
    /// In a few words, for the events of the run.
    pub reason: String,
}

/// All devices, as the controller can reach them.
///
/// Implementations must answer the same for the same calls in the same order, however many cores, cards or machines they use: a run is
/// repeated to the byte.
pub trait Devices: Send {
    /// Does the jobs of an edge round. Hands over the result of every job, once each and in the order of `jobs`, as soon as it
    /// and all before it are there: what was handed over need not be kept. A device that fails is a result, too.
    ///
    /// # Errors
    /// Only when nothing can be trained at all, such as a model that does not fit.
    fn train(
        &mut self,
        jobs: &[Job],
        deliver: &mut dyn FnMut(usize, Result<LocalUpdate, UpdateLost>),
    ) -> Result<(), Error>;

    /// Whether [`train_and_average`](Self::train_and_average) is worth asking for.
    fn averages(&self) -> bool {
        false
    }

    /// Does jobs, and averages the models of cells of jobs that follow each other where they were trained, so that one model a cell comes back;
    /// `shares` says what each job weighs in its cell, 1 in all. None where that cannot be done: then [`train`](Self::train) is called instead.
    ///
    /// # Errors
    /// As [`train`](Self::train).
    fn train_and_average(
        &mut self,
        jobs: &[Job],
        cells: &[Range<usize>],
        shares: &[f64],
    ) -> Result<Option<Averages>, Error> {
        let _ = (jobs, cells, shares);
        Ok(None)
    }

    /// Softmax outputs of models on the small batches of devices, class by class: for each model, one row for each of its
    /// devices; an empty row where a device does not answer.
    ///
    /// # Errors
    /// When a model does not fit.
    fn softmax_outputs(
        &mut self,
        asked: &[(&[f32], &[DeviceId])],
    ) -> Result<Vec<Vec<Vec<f32>>>, Error>;

    /// What they carry from round to round, see [`checkpoint`].
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes up what [`save`](Self::save) gave.
    ///
    /// # Errors
    /// When that is not the state of such devices.
    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        checkpoint::expect_nothing("devices", saved)
    }

    /// The same devices, if what they answer depends on what they are asked alone: then cells are asked side by side, and nothing
    /// is kept for each device. They must answer to the bit as through the other functions.
    fn stateless(&self) -> Option<&dyn StatelessDevices> {
        None
    }
}

/// What a device sends back, as its learner has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpdateView<'a> {
    /// The trained model.
    pub weights: &'a [f32],
    /// Mean loss over its local steps.
    pub mean_loss: f32,
    /// Softmax outputs of the trained model on the device's small batch; empty unless the job asks for them.
    pub outputs: &'a [f32],
}

impl UpdateView<'_> {
    /// The same, to be kept.
    #[must_use]
    pub fn to_update(&self) -> LocalUpdate {
        LocalUpdate {
            weights: self.weights.to_vec(),
            mean_loss: self.mean_loss,
            outputs: self.outputs.to_vec(),
        }
    }
}

/// Devices that any thread may ask.
pub trait StatelessDevices: Sync {
    /// Does jobs of one cell and hands over every result, once each and in the order of `jobs`.
    fn train_cell(&self, jobs: &[Job], deliver: &mut dyn FnMut(usize, UpdateView));

    /// Softmax outputs of a model on the small batches of devices, in their order.
    fn cell_outputs(
        &self,
        model: &[f32],
        devices: &[DeviceId],
        deliver: &mut dyn FnMut(usize, &[f32]),
    );
}
