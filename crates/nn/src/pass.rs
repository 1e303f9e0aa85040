//! One group of samples through the network and back.

use crate::buffers::Buffers;
use crate::isa::Isa;
use crate::lanes::{self, ConvShape, CrossEntropy, Finish, Flow, Value};
use crate::plan::{After, Op, Place, Plan};

/// The weights as the kernels read them.
#[derive(Debug)]
pub(crate) struct Weights<'a> {
    /// In the engine's layout.
    pub(crate) own: &'a [f32],
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
    /// Fills the input map from samples.
    pub(crate) fn load<T: Value>(&self, buffers: &mut Buffers, samples: &[&[T]]) {
        let (layout, map) = (&self.plan.maps[0], &mut buffers.maps[0]);
        lanes::gather_samples(self.isa, buffers.group, samples, layout, map);
    }

    /// Runs the loaded samples up to the logits.
    pub(crate) fn forward(&self, buffers: &mut Buffers, weights: &Weights) {
        let (isa, group) = (self.isa, buffers.group);
        for (index, op) in self.plan.ops.iter().enumerate() {
            let (before, after) = buffers.maps.split_at_mut(index + 1);
            let (input, output) = (&before[index], &mut *after[0]);
            let layout = &self.plan.maps[index + 1];
            match op {
                Op::Conv {
                    shape,
                    after,
                    place,
                    ..
                } => {
                    let finish = match after {
                        After::Plain => Finish::Plain,
                        After::Relu => Finish::Relu,
                        After::PoolRelu => Finish::PoolRelu(&mut buffers.masks[index]),
                    };
                    let packed = &weights.forward[index];
                    let biases = &weights.own[place.biases.clone()];
                    lanes::conv_forward(
                        isa, group, shape, input, packed, biases, output, layout, finish,
                    );
                }
                Op::Dense { shape, relu, place } => {
                    let rows = &weights.own[place.weights.clone()];
                    let biases = &weights.own[place.biases.clone()];
                    lanes::dense_forward(isa, group, *shape, input, rows, biases, *relu, output);
                }
                Op::Pool(pool) => {
                    let winners = &mut buffers.winners[index];
                    lanes::max_pool(isa, group, pool, input, winners, output);
                }
                Op::Relu => lanes::relu(isa, group, input, layout, output),
            }
        }
    }

    /// The logits, `[class][lane]`.
    pub(crate) fn logits<'b>(&self, buffers: &'b Buffers) -> &'b [f32] {
        let last = self.plan.ops.len();
        &buffers.maps[last][..self.plan.maps[last].vectors() * buffers.group.lanes()]
    }

    /// Losses of the lanes with a label, and the gradient of `scale` x their sum as the start of the way back.
    pub(crate) fn cross_entropy(&self, buffers: &mut Buffers, labels: &[u8], scale: f32) {
        let last = self.plan.ops.len();
        let vectors = self.plan.maps[last].vectors() * buffers.group.lanes();
        let task = CrossEntropy {
            logits: &buffers.maps[last][..vectors],
            labels,
            scale,
            gradient: &mut buffers.flows[last],
            losses: &mut buffers.losses,
        };
        lanes::cross_entropy(self.isa, buffers.group, task);
    }

    /// Runs the gradient back through the layers.
    ///
    /// `gradient` is in the engine's layout: weights of dense layers are set, or added to with `add`; all else
    /// is added to. The gradient of the input map is found only if `to_input`.
    pub(crate) fn backward(
        &self,
        buffers: &mut Buffers,
        weights: &Weights,
        gradient: &mut [f32],
        add: bool,
        to_input: bool,
    ) {
        let (isa, group) = (self.isa, buffers.group);
        for (index, op) in self.plan.ops.iter().enumerate().rev() {
            let wanted = index > 0 || to_input;
            match op {
                Op::Conv { .. } => self.conv_backward(index, buffers, weights, gradient, wanted),
                Op::Dense { shape, relu, place } => {
                    let (before, after) = buffers.flows.split_at_mut(index + 1);
                    let flow = &mut after[0];
                    if *relu {
                        let output = &buffers.maps[index + 1];
                        zero_dead(&mut flow[..shape.outputs * group.lanes()], output);
                    }
                    let turned = &mut buffers.turned;
                    let rows = &mut gradient[place.weights.clone()];
                    let input = &buffers.maps[index];
                    lanes::dense_weight_grad(isa, group, *shape, input, flow, turned, add, rows);
                    add_bias_sums(group.lanes(), flow, &mut gradient[place.biases.clone()]);
                    if wanted {
                        let rows = &weights.own[place.weights.clone()];
                        lanes::dense_input_grad(isa, group, *shape, flow, rows, &mut before[index]);
                    }
                }
                Op::Pool(pool) if wanted => {
                    let (before, after) = buffers.flows.split_at_mut(index + 1);
                    let winners = &buffers.winners[index];
                    let to = &mut before[index];
                    lanes::max_pool_grad(isa, group, pool, winners, &after[0], to);
                }
                Op::Relu if wanted => {
                    let (before, after) = buffers.flows.split_at_mut(index + 1);
                    let (output, layout) = (&buffers.maps[index + 1], &self.plan.maps[index + 1]);
                    let to = &mut before[index];
                    lanes::relu_grad(isa, group, output, layout, &after[0], to);
                }
                Op::Pool(_) | Op::Relu => {}
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
        let (isa, group, held) = (self.isa, buffers.group, op.strip_rows());
        let Place {
            weights: kernel_place,
            biases: bias_place,
        } = place.clone();
        let pooled = *after == After::PoolRelu;
        let (before, behind) = buffers.flows.split_at_mut(index + 1);
        let biases = &mut buffers.biases[..shape.filters * group.lanes()];
        biases.fill(0.0);
        // Output row at the start of the strip buffer, and the first row it does not hold yet.
        let (mut first, mut next, mut ready) = (0, 0, 0);
        while next < shape.out_height {
            let rows = next..(next + strip).min(shape.out_height);
            if rows.end - first > held {
                let keep = (shape.kernel - 1).min(next - first);
                move_rows(
                    &mut buffers.strip,
                    shape,
                    group.lanes(),
                    held,
                    next - first - keep,
                    keep,
                );
                first = next - keep;
            }
            let kind = match after {
                After::Plain => Flow::Plain,
                After::Relu => Flow::Relu(&buffers.maps[index + 1], &self.plan.maps[index + 1]),
                After::PoolRelu => Flow::PoolRelu(&buffers.masks[index]),
            };
            let selects = pooled && lanes::selects_winners(isa, shape);
            let flow = &mut *buffers.strip;
            let spread = (wanted || !selects).then_some(&mut *flow);
            let after = &behind[0];
            lanes::spread_gradient(
                isa,
                group,
                shape,
                kind,
                after,
                rows.clone(),
                spread,
                first,
                held,
                biases,
            );
            let input = &buffers.maps[index];
            let to = &mut gradient[kernel_place.clone()];
            let now = rows.clone();
            if selects {
                let masks = &buffers.masks[index];
                lanes::conv_weight_grad_pooled(isa, group, shape, input, after, masks, now, to);
            } else {
                lanes::conv_weight_grad(
                    isa, group, shape, input, flow, first, held, now, pooled, to,
                );
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
                    lanes::conv_input_grad(
                        isa,
                        group,
                        shape,
                        flow,
                        first,
                        held,
                        packed,
                        ready..done,
                        to,
                    );
                    ready = done;
                }
            }
        }
        add_bias_sums(group.lanes(), biases, &mut gradient[bias_place]);
    }
}

/// Keeps rows `from..from + count` of every filter by moving them to the front.
fn move_rows(
    strip: &mut [f32],
    shape: &ConvShape,
    lanes: usize,
    held: usize,
    from: usize,
    count: usize,
) {
    let row = shape.out_width * lanes;
    for plane in strip.chunks_exact_mut(held * row).take(shape.filters) {
        plane.copy_within(from * row..(from + count) * row, 0);
    }
}

/// Stops the gradient where a relu's output is not above 0.
fn zero_dead(flow: &mut [f32], output: &[f32]) {
    for (flow, output) in flow.iter_mut().zip(output) {
        *flow = if *output > 0.0 { *flow } else { 0.0 };
    }
}

/// Adds each vector's lanes to its bias gradient, in the order in which the kernels add lanes.
fn add_bias_sums(lanes: usize, vectors: &[f32], gradient: &mut [f32]) {
    for (total, vector) in gradient.iter_mut().zip(vectors.chunks_exact(lanes)) {
        for a in vector.chunks_exact(8) {
            *total += ((a[0] + a[2]) + (a[1] + a[3])) + ((a[4] + a[6]) + (a[5] + a[7]));
        }
    }
}
