//! Multilayer perceptrons for any loss: outputs forward, the gradient of whatever is made of them back.

use crate::buffers::{Aligned, Buffers};
use crate::error::Error;
use crate::isa::Isa;
use crate::job::check_weights;
use crate::lanes::GROUP;
use crate::network::Network;
use crate::pass::{Pass, Weights};
use crate::plan::Plan;
use crate::spec::{Layer, ModelSpec, Shape};
use rand::Rng;

/// What the last layer does with its sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// Nothing.
    Linear,
    /// `1 / (1 + exp(-x))`: outputs in 0..=1.
    Sigmoid,
    /// Outputs in -1..=1.
    Tanh,
}

impl Activation {
    /// In f64 and through `libm`: the same bits on every platform.
    fn value(self, sum: f32) -> f32 {
        match self {
            Activation::Linear => sum,
            Activation::Sigmoid => (1.0 / (1.0 + libm::exp(-f64::from(sum)))) as f32,
            Activation::Tanh => libm::tanh(f64::from(sum)) as f32,
        }
    }

    /// The derivative where the value is `value`.
    fn slope(self, value: f32) -> f32 {
        match self {
            Activation::Linear => 1.0,
            Activation::Sigmoid => value * (1.0 - value),
            Activation::Tanh => 1.0 - value * value,
        }
    }
}

/// Dense layers with relu between them: the shape, and the memory that a batch needs on its way.
///
/// Weights are the caller's, one flat vector (per layer: `[output][input]`, then biases), so that one `Mlp` serves all
/// networks of its shape. Memory is allocated when a batch is larger than all before it, and never else.
///
/// ```
/// use aerofed_nn::{Activation, Adam, Mlp};
/// # use rand::SeedableRng;
/// # fn main() -> Result<(), aerofed_nn::Error> {
/// # let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// // Fit y = x1 - x2 at four points.
/// let mut mlp = Mlp::new(&[2, 16, 1], Activation::Linear)?;
/// let mut weights = mlp.init(&mut rng);
/// let mut adam = Adam::new(weights.len());
/// let (inputs, wanted) = ([0., 0., 0., 1., 1., 0., 1., 1.], [0., -1., 1., 0.]);
/// let mut gradient = vec![0.0; weights.len()];
/// for _ in 0..300 {
///     let outputs = mlp.forward(&weights, &inputs)?;
///     let slopes: Vec<f32> = outputs.iter().zip(wanted).map(|(y, w)| (y - w) / 2.0).collect();
///     mlp.backward(&slopes, &mut gradient)?;
///     adam.step(0.01, &mut weights, &gradient)?;
/// }
/// assert!((mlp.forward(&weights, &[1., 0.])?[0] - 1.0).abs() < 0.05);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Mlp {
    network: Network,
    output: Activation,
    plan: Plan,
    isa: Isa,
    /// Of the last forward pass, as the kernels read them.
    weights: Aligned,
    gradient: Aligned,
    /// The batch 16 samples at a time.
    groups: Vec<Buffers>,
    /// Of the last forward pass, a row for each sample.
    outputs: Vec<f32>,
    input_gradient: Vec<f32>,
}

impl Mlp {
    /// `sizes` are the numbers of inputs, of units of each hidden layer, and of outputs.
    ///
    /// # Errors
    /// When `sizes` has fewer than two numbers or one that is impossible, or [`Isa::from_environment`] fails.
    pub fn new(sizes: &[usize], output: Activation) -> Result<Mlp, Error> {
        Mlp::with_isa(sizes, output, Isa::from_environment()?)
    }

    /// The same with a given instruction set.
    ///
    /// # Errors
    /// As [`Mlp::new`], and where this machine does not have the instruction set.
    pub fn with_isa(sizes: &[usize], output: Activation, isa: Isa) -> Result<Mlp, Error> {
        let [inputs, units @ ..] = sizes else {
            return Err(Error::Model("sizes is empty".into()));
        };
        if units.is_empty() {
            return Err(Error::Model(format!(
                "sizes = {sizes:?}: inputs and outputs at least"
            )));
        }
        let mut layers = Vec::new();
        for &units in units {
            layers.extend([Layer::Dense { units }, Layer::Relu]);
        }
        layers.pop();
        let input = Shape {
            channels: *inputs,
            height: 1,
            width: 1,
        };
        let network = Network::with_any_output(&ModelSpec { layers }, input)?;
        let plan = Plan::new(&network);
        Ok(Mlp {
            isa: isa.checked()?,
            output,
            weights: Aligned::new(plan.parameters),
            gradient: Aligned::new(plan.parameters),
            groups: Vec::new(),
            outputs: Vec::new(),
            input_gradient: Vec::new(),
            network,
            plan,
        })
    }

    /// Inputs of one sample.
    pub fn inputs(&self) -> usize {
        self.network.input().values()
    }

    /// Outputs of one sample.
    pub fn outputs(&self) -> usize {
        self.network.classes()
    }

    /// Length of the flat weight vector.
    pub fn parameter_count(&self) -> usize {
        self.network.parameter_count()
    }

    /// Fresh weights, as [`Network::init`] draws them.
    pub fn init(&self, rng: &mut impl Rng) -> Vec<f32> {
        self.network.init(rng)
    }

    /// Where each layer's weights and biases lie in the flat vector: `([outputs, inputs], weights, biases)`.
    pub fn layers(
        &self,
    ) -> impl Iterator<Item = ([usize; 2], std::ops::Range<usize>, std::ops::Range<usize>)> {
        let dense = self
            .network
            .layers()
            .iter()
            .filter(|plan| plan.has_parameters());
        dense.map(|plan| {
            let shape = [plan.output.values(), plan.input.values()];
            (shape, plan.weights.clone(), plan.biases.clone())
        })
    }

    /// The outputs, a row for each row of `inputs`.
    ///
    /// # Errors
    /// When `weights` is not as long as [`Mlp::parameter_count`] or `inputs` is not whole rows.
    pub fn forward(&mut self, weights: &[f32], inputs: &[f32]) -> Result<&[f32], Error> {
        check_weights(&self.network, weights, "weights")?;
        let (row, width) = (self.inputs(), self.outputs());
        if !inputs.len().is_multiple_of(row) {
            return Err(Error::Length {
                what: "inputs",
                expected: inputs.len().next_multiple_of(row),
                actual: inputs.len(),
            });
        }
        let batch = inputs.len() / row;
        self.plan.import(weights, &mut self.weights);
        self.outputs.resize(batch * width, 0.0);
        while self.groups.len() < batch.div_ceil(GROUP) {
            self.groups.push(Buffers::new(&self.plan, self.isa));
        }
        let pass = Pass {
            plan: &self.plan,
            isa: self.isa,
        };
        let weights = layout(&mut self.weights);
        let stride = width.next_multiple_of(16);
        let rows = inputs
            .chunks(GROUP * row)
            .zip(self.outputs.chunks_mut(GROUP * width));
        for (buffers, (inputs, outputs)) in self.groups.iter_mut().zip(rows) {
            let mut samples: [&[f32]; GROUP] = [&[]; GROUP];
            let mut count = 0;
            for (sample, row) in samples.iter_mut().zip(inputs.chunks_exact(row)) {
                *sample = row;
                count += 1;
            }
            pass.load(buffers, &samples[..count]);
            pass.forward(buffers, &weights);
            copy_rows(pass.logits(buffers), stride, width, outputs);
            for value in outputs {
                *value = self.output.value(*value);
            }
        }
        Ok(&self.outputs)
    }

    /// Takes the gradient of a loss with respect to the outputs of the last [`Mlp::forward`] back: `weight_gradient` is
    /// overwritten with its gradient with respect to the weights given there, and the one with respect to the inputs
    /// is returned, a row for each sample.
    ///
    /// # Errors
    /// When `output_gradient` is not as long as those outputs or `weight_gradient` not as the weights.
    pub fn backward(
        &mut self,
        output_gradient: &[f32],
        weight_gradient: &mut [f32],
    ) -> Result<&[f32], Error> {
        check_weights(&self.network, weight_gradient, "weight_gradient")?;
        if output_gradient.len() != self.outputs.len() {
            return Err(Error::Length {
                what: "output_gradient",
                expected: self.outputs.len(),
                actual: output_gradient.len(),
            });
        }
        let (row, width) = (self.inputs(), self.outputs());
        let batch = self.outputs.len() / width;
        self.input_gradient.resize(batch * row, 0.0);
        self.gradient.fill(0.0);
        let pass = Pass {
            plan: &self.plan,
            isa: self.isa,
        };
        let mut weights = layout(&mut self.weights);
        let stride = width.next_multiple_of(16);
        let rows = output_gradient
            .chunks(GROUP * width)
            .zip(self.outputs.chunks(GROUP * width));
        let to = self.input_gradient.chunks_mut(GROUP * row);
        for (buffers, ((slopes, values), to)) in self.groups.iter_mut().zip(rows.zip(to)) {
            let flow = &mut buffers.flows[self.plan.ops.len()];
            for (at, (slope, value)) in slopes.iter().zip(values).enumerate() {
                flow[at / width * stride + at % width] = slope * self.output.slope(*value);
            }
            pass.backward(buffers, &mut weights, &mut self.gradient, true, None, true);
            copy_rows(&buffers.flows[0], row.next_multiple_of(16), row, to);
        }
        self.plan.export(&self.gradient, weight_gradient);
        Ok(&self.input_gradient)
    }
}

/// No convolutions, so nothing repacked.
fn layout(own: &mut [f32]) -> Weights<'_> {
    Weights {
        own,
        forward: &[],
        backward: &[],
    }
}

/// Copies rows of `width` values that are `stride` apart.
fn copy_rows(from: &[f32], stride: usize, width: usize, rows: &mut [f32]) {
    for (row, from) in rows.chunks_exact_mut(width).zip(from.chunks_exact(stride)) {
        row.copy_from_slice(&from[..width]);
    }
}
