//! What goes into training and what comes out.

use crate::error::Error;
use crate::network::Network;

/// Values of samples, borrowed from whoever holds the data.
#[derive(Debug, Clone, Copy)]
pub enum Inputs<'a> {
    /// Pixels from 0 to 255, of which a network sees pixel / 255.
    Pixels(&'a [u8]),
    /// Numbers, which it sees as they are.
    Numbers(&'a [f32]),
}

impl Inputs<'_> {
    /// How many values.
    pub fn len(&self) -> usize {
        match self {
            Inputs::Pixels(pixels) => pixels.len(),
            Inputs::Numbers(numbers) => numbers.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> From<&'a Vec<u8>> for Inputs<'a> {
    fn from(pixels: &'a Vec<u8>) -> Self {
        Inputs::Pixels(pixels)
    }
}

impl<'a> From<&'a Vec<f32>> for Inputs<'a> {
    fn from(numbers: &'a Vec<f32>) -> Self {
        Inputs::Numbers(numbers)
    }
}

impl<'a> From<&'a [u8]> for Inputs<'a> {
    fn from(pixels: &'a [u8]) -> Self {
        Inputs::Pixels(pixels)
    }
}

impl<'a> From<&'a [f32]> for Inputs<'a> {
    fn from(numbers: &'a [f32]) -> Self {
        Inputs::Numbers(numbers)
    }
}

/// Samples and their labels, borrowed from whoever holds the data.
#[derive(Debug, Clone, Copy)]
pub struct Examples<'a> {
    /// Sample after sample, each in channel, row, column order.
    pub inputs: Inputs<'a>,
    /// One class per sample.
    pub labels: &'a [u8],
}

impl<'a> Examples<'a> {
    /// Joins inputs and labels for `network`.
    ///
    /// # Errors
    /// When the lengths do not belong together or a label is not a class.
    pub fn new(
        network: &Network,
        inputs: impl Into<Inputs<'a>>,
        labels: &'a [u8],
    ) -> Result<Examples<'a>, Error> {
        let examples = Examples {
            inputs: inputs.into(),
            labels,
        };
        examples.check(network)?;
        Ok(examples)
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Checks that there are as many values as samples of the network's input have.
    ///
    /// # Errors
    /// When there are not.
    pub fn check(&self, network: &Network) -> Result<(), Error> {
        let expected = self.labels.len() * network.input().values();
        if self.inputs.len() != expected {
            return Err(Error::Length {
                what: "examples.inputs",
                expected,
                actual: self.inputs.len(),
            });
        }
        Ok(())
    }

    /// Checks that every index is a sample with a label the network knows.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check_indices(&self, network: &Network, indices: &[u32]) -> Result<(), Error> {
        for &index in indices {
            let Some(&label) = self.labels.get(index as usize) else {
                return Err(Error::Index {
                    index,
                    samples: self.len(),
                });
            };
            self.check_label(network, index as usize, label)?;
        }
        Ok(())
    }

    pub(crate) fn check_label(
        &self,
        network: &Network,
        sample: usize,
        label: u8,
    ) -> Result<(), Error> {
        if usize::from(label) < network.classes() {
            return Ok(());
        }
        Err(Error::Label {
            sample,
            label,
            classes: network.classes(),
        })
    }
}

/// Stochastic gradient descent and its variants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sgd {
    /// Step size.
    pub learning_rate: f32,
    /// Share of the last step kept, 0 = plain SGD (PyTorch's rule, no dampening).
    pub momentum: f32,
    /// L2 penalty added to the gradient.
    pub weight_decay: f32,
    /// FedProx: pull towards the job's start weights, 0 = off.
    pub proximal: f32,
    /// 0 = off; otherwise each step trains on the mean of the clean loss and the loss on inputs moved by
    /// this much along the sign of their gradient (FGSM), kept within [0, 1].
    pub adversarial_epsilon: f32,
}

impl Sgd {
    /// Whether a step is the gradient times the step size, and nothing else.
    pub(crate) fn is_plain(&self) -> bool {
        self.momentum == 0.0 && self.weight_decay == 0.0 && self.proximal == 0.0
    }
}

impl Default for Sgd {
    fn default() -> Self {
        Sgd {
            learning_rate: 0.01,
            momentum: 0.0,
            weight_decay: 0.0,
            proximal: 0.0,
            adversarial_epsilon: 0.0,
        }
    }
}

impl Sgd {
    fn check(&self) -> Result<(), Error> {
        let fields = [
            ("learning_rate", self.learning_rate),
            ("momentum", self.momentum),
            ("weight_decay", self.weight_decay),
            ("proximal", self.proximal),
            ("adversarial_epsilon", self.adversarial_epsilon),
        ];
        for (field, value) in fields {
            if !value.is_finite() || value < 0.0 {
                return Err(Error::Setting {
                    field,
                    value: f64::from(value),
                    allowed: "must be finite and at least 0",
                });
            }
        }
        Ok(())
    }
}

/// One device's local training.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// Weights to start from.
    pub start: &'a [f32],
    /// Sample indices, one batch after the other; the last batch may be short.
    pub order: &'a [u32],
    /// Samples per step.
    pub batch_size: usize,
    /// How to step.
    pub sgd: Sgd,
}

impl Job<'_> {
    /// Checks weights, settings and indices.
    ///
    /// # Errors
    /// The first that does not fit.
    pub fn check(&self, network: &Network, examples: &Examples) -> Result<(), Error> {
        check_weights(network, self.start, "job.start")?;
        if self.batch_size == 0 {
            return Err(Error::Setting {
                field: "batch_size",
                value: 0.0,
                allowed: "must be at least 1",
            });
        }
        self.sgd.check()?;
        examples.check_indices(network, self.order)
    }
}

/// Checks that there is a weight for each parameter.
pub(crate) fn check_weights(
    network: &Network,
    weights: &[f32],
    what: &'static str,
) -> Result<(), Error> {
    if weights.len() == network.parameter_count() {
        return Ok(());
    }
    Err(Error::Length {
        what,
        expected: network.parameter_count(),
        actual: weights.len(),
    })
}

/// What a job leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The trained weights.
    pub weights: Vec<f32>,
    /// Mean over the steps of the batch loss before each step; 0 for a job without samples.
    /// A loss that is NaN or infinite is reported as it is.
    pub mean_loss: f32,
}

/// Loss and hits over a set of samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// Mean cross-entropy; 0 over no samples.
    pub loss: f64,
    /// Samples whose largest logit is their label.
    pub correct: usize,
    /// Samples looked at.
    pub samples: usize,
}

impl Evaluation {
    /// Share of samples classified correctly; 0 over no samples.
    pub fn accuracy(&self) -> f64 {
        if self.samples == 0 {
            return 0.0;
        }
        self.correct as f64 / self.samples as f64
    }
}
