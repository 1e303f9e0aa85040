//! One thread's memory and what it does with it: train a job, evaluate a few samples.

use crate::buffers::{Aligned, Buffers};
use crate::isa::Isa;
use crate::job::{Examples, Inputs, Job, Sgd, Update};
use crate::lanes::{self, GROUP, Step, Value};
use crate::pass::{Pass, Weights};
use crate::plan::{Map, Op, Plan};
use std::ops::Range;

/// Everything a thread needs, allocated once.
#[derive(Debug)]
pub(crate) struct Worker {
    isa: Isa,
    weights: Aligned,
    gradient: Aligned,
    /// Empty until a job has momentum.
    velocity: Vec<f32>,
    /// The start weights; empty until a job has a proximal pull.
    start: Vec<f32>,
    forward: Vec<Vec<f32>>,
    backward: Vec<Vec<f32>>,
    /// For groups of 16 samples.
    full: Buffers,
    /// For all others: the rest of a batch.
    rest: Buffers,
}

/// Logits, or gradients of the input, of a group of samples: what [`Worker::each_group`] hands out.
pub(crate) struct Outcome<'a> {
    /// Position of the first sample among the indices.
    pub(crate) first: usize,
    /// Samples in use.
    pub(crate) count: usize,
    /// A row for each sample, `stride` values apart.
    pub(crate) logits: &'a [f32],
    /// Softmax x 1 in rows as those, or what is left of it after the way back.
    pub(crate) softmax: &'a [f32],
    pub(crate) stride: usize,
    /// Loss of each sample.
    pub(crate) losses: &'a [f32; GROUP],
    /// Where asked for, with the steps from one sample to the next and from one value to the next.
    pub(crate) input_gradient: (&'a [f32], usize, usize),
}

/// What to compute for [`Worker::each_group`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Losses,
    Softmax,
    InputGradient,
}

impl Worker {
    pub(crate) fn new(plan: &Plan, isa: Isa) -> Worker {
        let packed = |op: &Op| match op {
            Op::Conv { shape, .. } => vec![0.0; shape.weights()],
            _ => Vec::new(),
        };
        Worker {
            isa,
            weights: Aligned::new(plan.parameters),
            gradient: Aligned::new(plan.parameters),
            velocity: Vec::new(),
            start: Vec::new(),
            forward: plan.ops.iter().map(packed).collect(),
            backward: plan.ops.iter().map(packed).collect(),
            full: Buffers::new(plan, isa),
            rest: Buffers::new(plan, isa),
        }
    }

    /// Trains one job and returns its weights in a vector that is given: it allocates if that has no room for them, and
    /// nothing else.
    pub(crate) fn train(
        &mut self,
        plan: &Plan,
        examples: &Examples,
        job: &Job,
        mut weights: Vec<f32>,
    ) -> Update {
        plan.import(job.start, &mut self.weights);
        if job.sgd.momentum > 0.0 {
            self.velocity.resize(plan.parameters, 0.0);
            self.velocity.fill(0.0);
        }
        if job.sgd.proximal > 0.0 {
            self.start.resize(plan.parameters, 0.0);
            self.start.copy_from_slice(&self.weights);
        }
        let (mut losses, mut steps) = (0.0, 0u32);
        for batch in job.order.chunks(job.batch_size) {
            losses += self.gradient(plan, examples, batch, &job.sgd);
            steps += 1;
            self.descend(plan, job.sgd);
        }
        weights.resize(job.start.len(), 0.0);
        plan.export(&self.weights, &mut weights);
        Update {
            weights,
            mean_loss: (losses / f64::from(steps.max(1))) as f32,
        }
    }

    /// Moves the weights by the gradient, but those that [`gradient`](Self::gradient) has moved.
    fn descend(&mut self, plan: &Plan, sgd: Sgd) {
        let mut step = |range: Range<usize>| {
            let step = Step {
                sgd,
                weights: &mut self.weights[range.clone()],
                gradient: &self.gradient[range.clone()],
                velocity: &mut self.velocity,
                start: &self.start,
            };
            lanes::descend(self.isa, step);
        };
        if !sgd.is_plain() {
            return step(0..plan.parameters);
        }
        for op in &plan.ops {
            match op {
                Op::Conv { place, .. } => step(place.weights.start..place.biases.end),
                Op::Dense { place, .. } => step(place.biases.clone()),
                Op::Pool(_) | Op::Relu | Op::Flatten => {}
            }
        }
    }

    /// Leaves the gradient of the mean loss over a batch in `self.gradient` and returns that loss. With plain steps the weights of dense layers have
    /// moved instead.
    fn gradient(&mut self, plan: &Plan, examples: &Examples, batch: &[u32], sgd: &Sgd) -> f64 {
        let epsilon = sgd.adversarial_epsilon;
        let adversarial = epsilon > 0.0;
        self.pack(plan, true, adversarial);
        for op in &plan.ops {
            match op {
                Op::Conv { place, .. } => {
                    self.gradient[place.weights.start..place.biases.end].fill(0.0);
                }
                Op::Dense { place, .. } => self.gradient[place.biases.clone()].fill(0.0),
                Op::Pool(_) | Op::Relu | Op::Flatten => {}
            }
        }
        let pass = Pass {
            plan,
            isa: self.isa,
        };
        let mut weights = Weights {
            own: &mut self.weights,
            forward: &self.forward,
            backward: &self.backward,
        };
        let gradient = &mut self.gradient;
        let variants = if adversarial { 2.0 } else { 1.0 };
        let scale = 1.0 / (variants * batch.len() as f32);
        let mut loss = 0.0;
        let mut add = false;
        let mut rest = batch;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(GROUP));
            rest = later;
            let buffers = match now.len() {
                GROUP => &mut self.full,
                _ => &mut self.rest,
            };
            let labels = load(&pass, buffers, examples, now);
            let labels = &labels[..now.len()];
            let mut attack = adversarial;
            loop {
                pass.forward(buffers, &weights);
                pass.cross_entropy(buffers, labels, scale);
                loss += buffers.losses[..now.len()]
                    .iter()
                    .map(|l| f64::from(*l))
                    .sum::<f64>();
                let last = rest.is_empty() && !attack && sgd.is_plain();
                let descend = last.then_some(sgd.learning_rate);
                pass.backward(buffers, &mut weights, gradient, add, descend, attack);
                add = true;
                if !attack {
                    break;
                }
                move_along_gradient(plan, buffers, epsilon);
                attack = false;
            }
        }
        loss * f64::from(scale)
    }

    /// Runs samples with the given weights and hands out each group's results.
    pub(crate) fn each_group(
        &mut self,
        plan: &Plan,
        examples: &Examples,
        weights: &[f32],
        indices: &[u32],
        wanted: Wanted,
        mut visit: impl FnMut(Outcome),
    ) {
        plan.import(weights, &mut self.weights);
        self.pack(plan, wanted == Wanted::InputGradient, true);
        let pass = Pass {
            plan,
            isa: self.isa,
        };
        let mut weights = Weights {
            own: &mut self.weights,
            forward: &self.forward,
            backward: &self.backward,
        };
        let mut first = 0;
        while first < indices.len() {
            let count = GROUP.min(indices.len() - first);
            let buffers = match count {
                GROUP => &mut self.full,
                _ => &mut self.rest,
            };
            let labels = load(&pass, buffers, examples, &indices[first..first + count]);
            pass.forward(buffers, &weights);
            let labels = match wanted {
                Wanted::Softmax => &labels[..0],
                _ => &labels[..count],
            };
            pass.cross_entropy(buffers, labels, 1.0);
            if wanted == Wanted::InputGradient {
                pass.backward(buffers, &mut weights, &mut self.gradient, true, None, true);
            }
            visit(Outcome {
                first,
                count,
                logits: pass.logits(buffers),
                softmax: &buffers.flows[plan.ops.len()],
                stride: plan.maps[plan.ops.len()].stride(),
                losses: &buffers.losses,
                input_gradient: match &plan.maps[0] {
                    Map::Map(_) => (&buffers.flows[0], 1, count),
                    rows => (&buffers.flows[0], rows.stride(), 1),
                },
            });
            first += count;
        }
    }

    /// Repacks convolution weights; the first layer's only go backward where its input gradient is wanted.
    fn pack(&mut self, plan: &Plan, backward: bool, to_input: bool) {
        for (index, op) in plan.ops.iter().enumerate() {
            if let Op::Conv { shape, place, .. } = op {
                let weights = &self.weights[place.weights.clone()];
                shape.pack_forward(self.isa, weights, &mut self.forward[index]);
                if backward && (index > 0 || to_input) {
                    shape.pack_backward(self.isa, weights, &mut self.backward[index]);
                }
            }
        }
    }
}

/// Loads samples into the lanes and returns their labels.
fn load(pass: &Pass, buffers: &mut Buffers, examples: &Examples, indices: &[u32]) -> [u8; 16] {
    let mut labels = [0; 16];
    for (label, &index) in labels.iter_mut().zip(indices) {
        *label = examples.labels[index as usize];
    }
    match examples.inputs {
        Inputs::Pixels(pixels) => load_values(pass, buffers, pixels, indices),
        Inputs::Numbers(numbers) => load_values(pass, buffers, numbers, indices),
    }
    labels
}

fn load_values<T: Value>(pass: &Pass, buffers: &mut Buffers, values: &[T], indices: &[u32]) {
    let size = pass.plan.maps[0].values();
    let mut samples: [&[T]; 16] = [&[]; 16];
    for (sample, &index) in samples.iter_mut().zip(indices) {
        *sample = &values[index as usize * size..][..size];
    }
    pass.load(buffers, &samples[..indices.len()]);
}

/// FGSM: moves the loaded samples by `epsilon` along the sign of their gradient, within [0, 1].
fn move_along_gradient(plan: &Plan, buffers: &mut Buffers, epsilon: f32) {
    let (map, slopes) = (&mut buffers.maps[0], &buffers.flows[0]);
    let mut shift = |at: usize, slopes: &[f32]| {
        for (value, slope) in map[at..].iter_mut().zip(slopes) {
            let sign = f32::from(i8::from(*slope > 0.0) - i8::from(*slope < 0.0));
            *value = (*value + epsilon * sign).clamp(0.0, 1.0);
        }
    };
    match &plan.maps[0] {
        Map::Map(layout) => {
            let columns = slopes.chunks_exact(buffers.samples).take(layout.values());
            for (place, slopes) in columns.enumerate() {
                let (row, x) = (place / layout.width, place % layout.width);
                let start = layout.row_start(row / layout.height, row % layout.height);
                let at = start + layout.column(layout.halo + x);
                shift(at * buffers.samples, slopes);
            }
        }
        rows => {
            let samples = slopes.chunks_exact(rows.stride()).take(buffers.samples);
            for (sample, slopes) in samples.enumerate() {
                shift(sample * rows.stride(), &slopes[..rows.values()]);
            }
        }
    }
}
