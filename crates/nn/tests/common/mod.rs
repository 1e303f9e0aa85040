//! The plain way to compute everything, in f64: what the kernels are measured against.
#![allow(dead_code)] // every test file takes what it needs

use aerofed_nn::{Examples, Inputs, Job, Layer, LayerPlan, Network, Shape};

/// Loss, gradients and logits of one sample.
pub(crate) struct Pass {
    pub(crate) loss: f64,
    pub(crate) logits: Vec<f64>,
    pub(crate) gradient: Vec<f64>,
    pub(crate) input_gradient: Vec<f64>,
}

/// Runs one sample forward and backward.
pub(crate) fn pass(network: &Network, weights: &[f64], input: &[f64], label: usize) -> Pass {
    let mut maps = vec![input.to_vec()];
    for plan in network.layers() {
        let next = forward(plan, weights, &maps[maps.len() - 1]);
        maps.push(next);
    }
    let logits = maps[maps.len() - 1].clone();
    let probabilities = softmax(&logits);
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logits.iter().map(|z| (z - largest).exp()).sum();
    let loss = largest + sum.ln() - logits[label];
    let mut gradient = vec![0.0; weights.len()];
    let mut flow = probabilities;
    flow[label] -= 1.0;
    for (index, plan) in network.layers().iter().enumerate().rev() {
        flow = backward(
            plan,
            weights,
            &maps[index],
            &maps[index + 1],
            &flow,
            &mut gradient,
        );
    }
    Pass {
        loss,
        logits,
        gradient,
        input_gradient: flow,
    }
}

/// Class probabilities.
pub(crate) fn softmax(logits: &[f64]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = logits.iter().map(|z| (z - largest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|p| p / sum).collect()
}

fn forward(plan: &LayerPlan, weights: &[f64], input: &[f64]) -> Vec<f64> {
    let mut output = vec![0.0; plan.output.values()];
    match plan.layer {
        Layer::Conv { .. } => {
            for (channel, map) in output
                .chunks_mut(plan.output.height * plan.output.width)
                .enumerate()
            {
                map.fill(weights[plan.biases.start + channel]);
            }
            each_tap(plan, |weight, from, to, count| {
                let w = weights[weight];
                for (o, i) in output[to..to + count].iter_mut().zip(&input[from..]) {
                    *o += w * i;
                }
            });
        }
        Layer::MaxPool { size } => each_window(plan, size, |to, window| {
            output[to] = input[first_largest(input, window)];
        }),
        Layer::Relu => output
            .iter_mut()
            .zip(input)
            .for_each(|(o, i)| *o = if *i < 0.0 { 0.0 } else { *i }),
        Layer::Dense { .. } => {
            for (unit, o) in output.iter_mut().enumerate() {
                let row = &weights[plan.weights.start + unit * input.len()..][..input.len()];
                *o = weights[plan.biases.start + unit]
                    + row.iter().zip(input).map(|(w, i)| w * i).sum::<f64>();
            }
        }
    }
    output
}

fn backward(
    plan: &LayerPlan,
    weights: &[f64],
    input: &[f64],
    output: &[f64],
    flow: &[f64],
    gradient: &mut [f64],
) -> Vec<f64> {
    let mut back = vec![0.0; plan.input.values()];
    match plan.layer {
        Layer::Conv { .. } => {
            for (channel, map) in flow
                .chunks(plan.output.height * plan.output.width)
                .enumerate()
            {
                gradient[plan.biases.start + channel] += map.iter().sum::<f64>();
            }
            each_tap(plan, |weight, from, to, count| {
                let w = weights[weight];
                let mut sum = 0.0;
                for ((b, i), f) in back[from..]
                    .iter_mut()
                    .zip(&input[from..])
                    .zip(&flow[to..to + count])
                {
                    *b += w * f;
                    sum += i * f;
                }
                gradient[weight] += sum;
            });
        }
        Layer::MaxPool { size } => each_window(plan, size, |to, window| {
            back[first_largest(input, window)] += flow[to];
        }),
        Layer::Relu => {
            for ((b, o), f) in back.iter_mut().zip(output).zip(flow) {
                *b = if *o > 0.0 { *f } else { 0.0 };
            }
        }
        Layer::Dense { .. } => {
            for (unit, f) in flow.iter().enumerate() {
                let start = plan.weights.start + unit * input.len();
                gradient[plan.biases.start + unit] += f;
                for (index, (b, i)) in back.iter_mut().zip(input).enumerate() {
                    *b += weights[start + index] * f;
                    gradient[start + index] += i * f;
                }
            }
        }
    }
    back
}

/// Calls `(weight, first input, first output, count)` for every row that one kernel weight connects.
fn each_tap(plan: &LayerPlan, mut visit: impl FnMut(usize, usize, usize, usize)) {
    let Layer::Conv {
        kernel, padding, ..
    } = plan.layer
    else {
        return;
    };
    let (input, output): (Shape, Shape) = (plan.input, plan.output);
    let mut weight = plan.weights.start;
    for to_channel in 0..output.channels {
        for from_channel in 0..input.channels {
            for ky in 0..kernel {
                for kx in 0..kernel {
                    let first = padding.saturating_sub(kx);
                    let last = output.width.min((input.width + padding).saturating_sub(kx));
                    for y in 0..output.height {
                        let row = y + ky;
                        if row < padding || row - padding >= input.height || first >= last {
                            continue;
                        }
                        let from = (from_channel * input.height + row - padding) * input.width
                            + first
                            + kx
                            - padding;
                        let to = (to_channel * output.height + y) * output.width + first;
                        visit(weight, from, to, last - first);
                    }
                    weight += 1;
                }
            }
        }
    }
}

/// Calls `(output, [first input, row stride, side])` for every pooling window.
fn each_window(plan: &LayerPlan, size: usize, mut visit: impl FnMut(usize, [usize; 3])) {
    let mut to = 0;
    for channel in 0..plan.output.channels {
        for y in 0..plan.output.height {
            for x in 0..plan.output.width {
                let first = (channel * plan.input.height + y * size) * plan.input.width + x * size;
                visit(to, [first, plan.input.width, size]);
                to += 1;
            }
        }
    }
}

fn first_largest(input: &[f64], [first, stride, size]: [usize; 3]) -> usize {
    let mut best = first;
    for y in 0..size {
        for x in 0..size {
            let at = first + y * stride + x;
            if input[at] > input[best] {
                best = at;
            }
        }
    }
    best
}

/// Their values, which these tests give as numbers.
fn numbers<'a>(examples: &Examples<'a>) -> &'a [f32] {
    match examples.inputs {
        Inputs::Numbers(numbers) => numbers,
        // Then indexing fails: pixels are compared with numbers in `same_bits.rs`.
        Inputs::Pixels(_) => &[],
    }
}

/// Runs one of the examples.
pub(crate) fn pass_example(
    network: &Network,
    weights: &[f64],
    examples: &Examples,
    index: u32,
) -> Pass {
    let values = network.input().values();
    let input = &numbers(examples)[index as usize * values..][..values];
    let label = usize::from(examples.labels[index as usize]);
    pass(network, weights, &widen(input), label)
}

/// f32 to f64.
pub(crate) fn widen(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

/// Trains a job step by step; returns the weights and the loss of every step.
pub(crate) fn train(network: &Network, examples: &Examples, job: &Job) -> (Vec<f64>, Vec<f64>) {
    let sgd = job.sgd;
    let start = widen(job.start);
    let mut weights = start.clone();
    let mut velocity = vec![0.0; start.len()];
    let mut losses = Vec::new();
    for batch in job.order.chunks(job.batch_size) {
        let mut gradient = vec![0.0; start.len()];
        let mut loss = 0.0;
        for &index in batch {
            let mut passes = vec![pass_example(network, &weights, examples, index)];
            if sgd.adversarial_epsilon > 0.0 {
                let values = network.input().values();
                let input = &numbers(examples)[index as usize * values..][..values];
                let moved: Vec<f64> = input
                    .iter()
                    .zip(&passes[0].input_gradient)
                    .map(|(&x, &g)| {
                        let sign = f64::from(i8::from(g > 0.0) - i8::from(g < 0.0));
                        (f64::from(x) + f64::from(sgd.adversarial_epsilon) * sign).clamp(0.0, 1.0)
                    })
                    .collect();
                let label = usize::from(examples.labels[index as usize]);
                passes.push(pass(network, &weights, &moved, label));
            }
            let share = 1.0 / (passes.len() * batch.len()) as f64;
            for pass in passes {
                loss += pass.loss * share;
                for (g, p) in gradient.iter_mut().zip(pass.gradient) {
                    *g += p * share;
                }
            }
        }
        losses.push(loss);
        for (at, weight) in weights.iter_mut().enumerate() {
            let pull = f64::from(sgd.proximal) * (*weight - start[at]);
            let slope = gradient[at] + f64::from(sgd.weight_decay) * *weight + pull;
            velocity[at] = f64::from(sgd.momentum) * velocity[at] + slope;
            *weight -= f64::from(sgd.learning_rate) * velocity[at];
        }
    }
    (weights, losses)
}

/// Values in [0, 1) from a linear congruential generator, the same in Rust and Python.
pub(crate) fn lcg(seed: u32, count: usize) -> Vec<f32> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1u32 << 24) as f32
        })
        .collect()
}

/// Start weights uniform in plus or minus 1 / sqrt(fan in), from the same generator.
pub(crate) fn lcg_weights(network: &Network, seed: u32) -> Vec<f32> {
    let mut weights = lcg(seed, network.parameter_count());
    for plan in network.layers().iter().filter(|plan| plan.has_parameters()) {
        let bound = (1.0 / (plan.fan_in() as f64).sqrt()) as f32;
        for weight in &mut weights[plan.weights.start..plan.biases.end] {
            *weight = (2.0 * *weight - 1.0) * bound;
        }
    }
    weights
}

/// Inputs and labels for `samples` samples.
pub(crate) fn lcg_examples(network: &Network, seed: u32, samples: usize) -> (Vec<f32>, Vec<u8>) {
    let inputs = lcg(seed, samples * network.input().values());
    let labels = (0..samples)
        .map(|i| (i * 7 % network.classes()) as u8)
        .collect();
    (inputs, labels)
}
