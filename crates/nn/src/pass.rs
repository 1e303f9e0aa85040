//! One group of samples through the network and back.

use crate::buffers::Buffers;
use crate::isa::Isa;
use crate::lanes::{self, ConvShape, CrossEntropy, Finish, Flow, Slopes, Spreads, Strip, Value};
use crate::plan::{After, Map, Op, Place, Plan};

/// The weights as the kernels read them.
#[derive(Debug)]
pub(crate) struct Weights<'a> {
    /// In the engine's layout.
    pub(crate) own: &'a mut [f32],
    /// Convolution weights repacked for the forward pass, one vector per operation.
    pub(crate) forward: &'a [Vec<f32>],
    /// The same for the backward pass.
    pub(crate) backward: &'a [Vec<f32>],
}

/// A plan run with one instruction set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) isa: Isa,
}

impl Pass<'_> {
    /// Fills the input from samples.
    pub(crate) fn load<T: Value>(&self, buffers: &mut Buffers, samples: &[&[T]]) {
        buffers.hold(samples.len());
        let (first, map) = (&self.plan.maps[0], &mut buffers.maps[0]);
        match first {
            Map::Map(layout) => lanes::gather_samples(self.isa, samples, layout, map),
            Map::Rows(_) => lanes::gather_rows(self.isa, samples, first.stride(), map),
        }
    }

    /// Runs the loaded samples up to the logits.
    pub(crate) fn forward(&self, buffers: &mut Buffers, weights: &Weights) {
        let (isa, samples) = (self.isa, buffers.samples);
        for (index, op) in self.plan.ops.iter().enumerate() {
            let (before, after) = buffers.maps.split_at_mut(index + 1);
            let (input, output) = (&before[index], &mut *after[0]);
            let scratch = &mut buffers.scratch;
            match (op, &self.plan.maps[index + 1]) {
                (
                    Op::Conv {
                        shape,
                        after,
                        place,
                        ..
                    },
                    Map::Map(layout),
                ) => {
                    let masks = &mut buffers.masks[index];
                    let finish = match after {
                        After::Plain => Finish::Plain,
                        After::Relu => Finish::Relu(masks),
                        After::PoolRelu => Finish::PoolRelu(masks),
                    };
                    let packed = &weights.forward[index];
                    let biases = &weights.own[place.biases.clone()];
                    lanes::conv_forward(
                        isa, samples, shape, input, packed, biases, scratch, output, layout, finish,
                    );
                }
                (Op::Dense { shape, relu, place }, _) => {
                    let rows = &weights.own[place.weights.clone()];
                    let biases = &weights.own[place.biases.clone()];
                    lanes::dense_forward(isa, samples, *shape, input, rows, biases, *relu, output);
                }
                (Op::Pool(pool), _) => {
                    let winners = &mut buffers.winners[index];
                    lanes::max_pool(isa, samples, pool, input, winners, output);
                }
                (Op::Relu, Map::Map(layout)) => {
                    lanes::relu(isa, samples, input, layout, scratch, output);
                }
                (Op::Relu, Map::Rows(_)) => {
                    for (output, input) in output.iter_mut().zip(input.iter()) {
                        *output = if *input < 0.0 { 0.0 } else { *input };
                    }
                }
                (Op::Flatten, rows) => {
                    let (values, stride) = (rows.values(), rows.stride());
                    lanes::flatten(isa, samples, values, input, stride, output);
                }
                // A convolution's output is a map.
                (Op::Conv { .. }, Map::Rows(_)) => {}
            }
        }
    }

    /// The logits, a row for each sample.
    pub(crate) fn logits<'b>(&self, buffers: &'b Buffers) -> &'b [f32] {
        &buffers.maps[self.plan.ops.len()]
    }

    /// Losses of the samples with a label, and the gradient of `scale` x their sum as the start of the way back.
    pub(crate) fn cross_entropy(&self, buffers: &mut Buffers, labels: &[u8], scale: f32) {
        let last = self.plan.ops.len();
        let task = CrossEntropy {
            logits: &buffers.maps[last],
            samples: buffers.samples,
            classes: self.plan.maps[last].values(),
            stride: self.plan.maps[last].stride(),
            labels,
            scale,
            gradient: &mut buffers.flows[last],
            losses: &mut buffers.losses,
        };
        lanes::cross_entropy(self.isa, task);
    }

    /// Runs the gradient back through the layers.
    ///
    /// `gradient` is in the engine's layout: weights of dense layers are set, or added to with `add`; all else
    /// is added to. With `descend`, a learning rate, weights of dense layers move at once, and have no gradient afterwards.
    /// The gradient of the input map is found only if `to_input`.
    pub(crate) fn backward(
        &self,
        buffers: &mut Buffers,
        weights: &mut Weights,
        gradient: &mut [f32],
        add: bool,
        descend: Option<f32>,
        to_input: bool,
    ) {
        let (isa, samples) = (self.isa, buffers.samples);
        for (index, op) in self.plan.ops.iter().enumerate().rev() {
            let wanted = index > 0 || to_input;
            match op {
                Op::Conv { .. } => self.conv_backward(index, buffers, weights, gradient, wanted),
                Op::Dense { shape, relu, place } => {
                    let (before, after) = buffers.flows.split_at_mut(index + 1);
                    let flow = &mut after[0];
                    let stride = shape.out_stride();
                    if *relu {
                        stop_dead(&mut flow[..samples * stride], &buffers.maps[index + 1]);
                    }
                    let rows = &mut weights.own[place.weights.clone()];
                    if wanted {
                        let to = &mut before[index];
                        lanes::dense_input_grad(isa, samples, *shape, flow, rows, to);
                    }
                    let input = &buffers.maps[index];
                    let kept = &mut gradient[place.weights.clone()];
                    let slopes = match descend {
                        Some(learning_rate) => Slopes::Descend {
                            weights: rows,
                            so_far: add.then_some(kept),
                            learning_rate,
                        },
                        None => Slopes::Keep {
                            gradient: kept,
                            add,
                        },
                    };
                    lanes::dense_weight_grad(isa, samples, *shape, input, flow, slopes);
                    let biases = &mut gradient[place.biases.clone()];
                    for row in flow.chunks_exact(stride).take(samples) {
                        biases
                            .iter_mut()
                            .zip(row)
                            .for_each(|(sum, flow)| *sum += flow);
                    }
                }
                Op::Pool(pool) if wanted => {
                    let (before, after) = buffers.flows.split_at_mut(index + 1);
                    let winners = &buffers.winners[index];
                    let to = &mut before[index];
                    lanes::max_pool_grad(isa, samples, pool, winners, &after[0], to);
                }
                Op::Relu if wanted => {
                    let (before, after) = buffers.flows.split_at_mut(index + 1);
                    let to = &mut before[index];
                    to.copy_from_slice(&after[0]);
                    stop_dead(to, &buffers.maps[index]);
                }
                Op::Flatten if wanted => {
                    let (before, after) = buffers.flows.split_at_mut(index + 1);
                    let rows = &self.plan.maps[index + 1];
                    let (values, stride) = (rows.values(), rows.stride());
                    lanes::flatten_grad(
                        isa,
                        samples,
                        values,
                        &after[0],
                        stride,
                        &mut before[index],
                    );
                }
                Op::Pool(_) | Op::Relu | Op::Flatten => {}
            }
        }
    }

    /// A convolution's way back, a strip of rows at a time: the strip stays in the cache between the three
    /// kernels, however large the map.
    fn conv_backward(
        &self,
        index: usize,
        buffers: &mut Buffers,
        weights: &Weights,
        gradient: &mut [f32],
        wanted: bool,
    ) {
        let op = &self.plan.ops[index];
        let Op::Conv {
            shape,
            after,
            place,
            strip,
        } = op
        else {
            return;
        };
        let (isa, samples, held) = (self.isa, buffers.samples, op.strip_rows());
        let Place {
            weights: kernel_place,
            biases: bias_place,
        } = place.clone();
        let pooled = *after == After::PoolRelu;
        let (before, behind) = buffers.flows.split_at_mut(index + 1);
        let selects = pooled && lanes::selects_winners(isa, shape);
        let biases = &mut buffers.biases[..shape.filters * 16];
        biases.fill(0.0);
        // Output row at the start of the strip buffer, and the first row it does not hold yet.
        let (mut first, mut next, mut ready) = (0, 0, 0);
        let row = Strip::row(shape, samples);
        while next < shape.out_height {
            let rows = next..(next + strip).min(shape.out_height);
            if rows.end - first > held {
                let keep = (shape.kernel - 1).min(next - first);
                let from = next - first - keep;
                move_rows(&mut buffers.strip, shape, row, held, from, keep);
                first = next - keep;
            }
            let strip = Strip { first, held };
            let masks = &buffers.masks[index];
            let kind = match after {
                After::Plain => Flow::Plain,
                After::Relu => Flow::Relu(masks),
                After::PoolRelu => Flow::PoolRelu(masks),
            };
            let flow = &mut *buffers.strip;
            let windows = &mut *buffers.windows;
            let kept = (pooled && !selects).then_some(&mut *windows);
            let spread = (wanted || !pooled).then_some(&mut *flow);
            let after = &behind[0];
            lanes::spread_gradient(
                isa,
                samples,
                shape,
                kind,
                after,
                rows.clone(),
                spread,
                strip,
                kept,
                biases,
            );
            let input = &buffers.maps[index];
            let to = &mut gradient[kernel_place.clone()];
            let now = rows.clone();
            if selects {
                let joined = &mut buffers.joined;
                lanes::conv_weight_grad_pooled(
                    isa, samples, shape, input, after, masks, now, joined, to,
                );
            } else {
                let spreads = match pooled {
                    true => Spreads::Windows(windows),
                    false => Spreads::Strip(flow, strip),
                };
                lanes::conv_weight_grad(isa, samples, shape, input, spreads, now, to);
            }
            next = rows.end;
            if wanted {
                // Input rows whose last output row is now known.
                let done = if next == shape.out_height {
                    shape.input.height
                } else {
                    next.saturating_sub(shape.input.halo)
                        .min(shape.input.height)
                };
                let packed = &weights.backward[index];
                let to = &mut before[index];
                if ready < done {
                    let rows = ready..done;
                    lanes::conv_input_grad(isa, samples, shape, flow, strip, packed, rows, to);
                    ready = done;
                }
            }
        }
        add_bias_sums(biases, &mut gradient[bias_place]);
    }
}

/// Keeps rows `from..from + count` of every filter by moving them to the front.
fn move_rows(
    strip: &mut [f32],
    shape: &ConvShape,
    row: usize,
    held: usize,
    from: usize,
    count: usize,
) {
    for plane in strip.chunks_exact_mut(held * row).take(shape.filters) {
        plane.copy_within(from * row..(from + count) * row, 0);
    }
}

/// Stops the gradient where what a relu saw, or gave, is not above 0.
fn stop_dead(flow: &mut [f32], values: &[f32]) {
    for (flow, value) in flow.iter_mut().zip(values) {
        *flow = if *value > 0.0 { *flow } else { 0.0 };
    }
}

/// Adds each vector's lanes to its bias gradient, in the order in which the kernels add lanes.
fn add_bias_sums(vectors: &[f32], gradient: &mut [f32]) {
    for (total, vector) in gradient.iter_mut().zip(vectors.chunks_exact(16)) {
        for a in vector.chunks_exact(8) {
            *total += ((a[0] + a[2]) + (a[1] + a[3])) + ((a[4] + a[6]) + (a[5] + a[7]));
        }
    }
}
