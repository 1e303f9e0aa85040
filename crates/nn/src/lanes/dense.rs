//! Fully connected layers: forward, weight gradient, input gradient.
//!
//! Inputs, outputs and their gradients are rows of values, one for each sample; weights are a row for each output. All
//! rows are filled with zeros up to whole blocks of 16 and lie in the lanes, however many samples there are.
#![allow(unsafe_code)]

use super::conv_weight_grad::reduce;
use super::simd::{self, Simd, Task};
use super::{split, with_size};
use crate::isa::Isa;

/// Size of a dense layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DenseShape {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

impl DenseShape {
    /// Values from one row of inputs or weights to the next.
    pub(crate) fn stride(&self) -> usize {
        self.inputs.next_multiple_of(16)
    }

    /// Values from one row of outputs to the next.
    pub(crate) fn out_stride(&self) -> usize {
        self.outputs.next_multiple_of(16)
    }
}

/// `output = input x weights + biases`, with `max(x, 0)` on top if `relu`.
#[allow(clippy::too_many_arguments)] // a kernel's operands are what it is
pub(crate) fn dense_forward(
    isa: Isa,
    samples: usize,
    shape: DenseShape,
    input: &[f32],
    weights: &[f32],
    biases: &[f32],
    relu: bool,
    output: &mut [f32],
) {
    assert!(input.len() >= samples * shape.stride());
    assert!(output.len() >= samples * shape.out_stride());
    assert!(weights.len() >= shape.outputs * shape.stride() && biases.len() >= shape.outputs);
    let task = Forward {
        samples,
        shape,
        input,
        weights,
        biases,
        relu,
        output,
    };
    simd::run(isa, task);
}

struct Forward<'a> {
    samples: usize,
    shape: DenseShape,
    input: &'a [f32],
    weights: &'a [f32],
    biases: &'a [f32],
    relu: bool,
    output: &'a mut [f32],
}

/// Outputs of a register tile; the last one reaches back over what is already done.
const fn tile_outputs(wide: bool) -> usize {
    if wide { 4 } else { 2 }
}

/// Samples of a register tile.
const fn tile_samples(wide: bool) -> usize {
    if wide { 6 } else { 4 }
}

impl Task for Forward<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(mut self) {
        let outputs = self.shape.outputs;
        for (first, count) in split(self.samples, tile_samples(S::WIDE)) {
            // SAFETY: the caller vouches for the instruction set; `dense_forward` checked the lengths.
            unsafe {
                with_size!(count, tile_samples(S::WIDE), [1, 2, 3, 4, 5, 6], C => {
                    let most = tile_outputs(S::WIDE);
                    let few = outputs < most;
                    for start in (0..outputs).step_by(if few { 1 } else { most }) {
                        if few {
                            self.tile::<S, 1, C>(start, first);
                        } else if S::WIDE {
                            self.tile::<S, 4, C>(start.min(outputs - 4), first);
                        } else {
                            self.tile::<S, 2, C>(start.min(outputs - 2), first);
                        }
                    }
                });
            }
        }
    }
}

impl Forward<'_> {
    /// `R` outputs of `C` samples.
    #[inline(always)]
    unsafe fn tile<S: Simd, const R: usize, const C: usize>(&mut self, start: usize, first: usize) {
        let stride = self.shape.stride();
        let mut totals = [[0.0f32; C]; R];
        for (r, totals) in totals.iter_mut().enumerate() {
            *totals = [self.biases[start + r]; C];
        }
        for half in 0..16 / S::LANES {
            // SAFETY: as in `run`; rows are whole blocks of 16.
            unsafe {
                let mut sums = [[S::splat(0.0); C]; R];
                let mut weights = self.weights.as_ptr().add(start * stride + half * S::LANES);
                let mut input = self.input.as_ptr().add(first * stride + half * S::LANES);
                for _ in 0..stride / 16 {
                    let mut values = [S::splat(0.0); C];
                    for c in 0..C {
                        values[c] = S::load(input.add(c * stride));
                    }
                    for r in 0..R {
                        let w = S::load(weights.add(r * stride));
                        for c in 0..C {
                            sums[r][c] = S::fma(w, values[c], sums[r][c]);
                        }
                    }
                    weights = weights.add(16);
                    input = input.add(16);
                }
                reduce::<S, R, C>(sums, &mut totals);
            }
        }
        let out_stride = self.shape.out_stride();
        for (r, totals) in totals.iter().enumerate() {
            for (c, total) in totals.iter().enumerate() {
                // As the relu of a vector does: a NaN stays.
                let dead = self.relu && *total < 0.0;
                let value = if dead { 0.0 } else { *total };
                self.output[(first + c) * out_stride + start + r] = value;
            }
        }
    }
}

/// What becomes of a gradient.
pub(crate) enum Slopes<'a> {
    /// It is kept here: set, or added to where `add` says that there is a sum so far.
    Keep { gradient: &'a mut [f32], add: bool },
    /// The weights are moved by it at once, so that it never goes through memory: `weights -= learning_rate x (so far + flow x input)`.
    Descend {
        weights: &'a mut [f32],
        so_far: Option<&'a [f32]>,
        learning_rate: f32,
    },
}

/// `flow x input`.
pub(crate) fn dense_weight_grad(
    isa: Isa,
    samples: usize,
    shape: DenseShape,
    input: &[f32],
    flow: &[f32],
    slopes: Slopes,
) {
    let (product, add, descend) = match slopes {
        Slopes::Keep { gradient, add } => (gradient, add, None),
        Slopes::Descend {
            weights,
            so_far,
            learning_rate,
        } => (weights, false, Some((learning_rate, so_far))),
    };
    let task = Product {
        left: flow,
        left_row: 1,
        left_step: shape.out_stride(),
        right: input,
        terms: samples,
        rows: shape.outputs,
        stride: shape.stride(),
        add,
        descend,
        product,
    };
    task.check();
    simd::run(isa, task);
}

/// `gradient = flow x weights`.
pub(crate) fn dense_input_grad(
    isa: Isa,
    samples: usize,
    shape: DenseShape,
    flow: &[f32],
    weights: &[f32],
    gradient: &mut [f32],
) {
    let task = Product {
        left: flow,
        left_row: shape.out_stride(),
        left_step: 1,
        right: weights,
        terms: shape.outputs,
        rows: samples,
        stride: shape.stride(),
        add: false,
        descend: None,
        product: gradient,
    };
    task.check();
    simd::run(isa, task);
}

/// `product[row] (+)= sum over terms of left[row, term] x right[term]`, rows of `stride` values.
struct Product<'a> {
    left: &'a [f32],
    left_row: usize,
    left_step: usize,
    right: &'a [f32],
    terms: usize,
    rows: usize,
    stride: usize,
    add: bool,
    /// The product is taken from what is there, times a learning rate; with it what is added to the product before.
    descend: Option<(f32, Option<&'a [f32]>)>,
    product: &'a mut [f32],
}

/// Rows of a register tile, of two vectors each.
const fn tile_rows(wide: bool) -> usize {
    if wide { 10 } else { 6 }
}

impl Task for Product<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(mut self) {
        for (start, size) in split(self.rows, tile_rows(S::WIDE)) {
            // SAFETY: the caller vouches for the instruction set and `check` for the lengths; 2 x 8 lanes divide the
            // stride, of 2 x 16 the last one may be alone.
            unsafe {
                with_size!(size, tile_rows(S::WIDE), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], R => {
                    let mut column = 0;
                    while column + 2 * S::LANES <= self.stride {
                        self.tile::<S, R, 2>(start, column);
                        column += 2 * S::LANES;
                    }
                    if column < self.stride {
                        self.tile::<S, R, 1>(start, column);
                    }
                });
            }
        }
    }
}

impl Product<'_> {
    fn check(&self) {
        let last = self.rows.saturating_sub(1) * self.left_row
            + self.terms.saturating_sub(1) * self.left_step;
        assert!(self.stride.is_multiple_of(16) && self.left.len() > last);
        assert!(self.right.len() >= self.terms * self.stride);
        assert!(self.product.len() >= self.rows * self.stride);
        if let Some((_, Some(so_far))) = self.descend {
            assert!(so_far.len() >= self.rows * self.stride);
        }
    }

    /// `R` rows x `C` vectors, summed over the terms in order.
    #[inline(always)]
    unsafe fn tile<S: Simd, const R: usize, const C: usize>(
        &mut self,
        start: usize,
        column: usize,
    ) {
        let stride = self.stride;
        // SAFETY: as in `run`.
        unsafe {
            let product = self.product.as_mut_ptr().add(start * stride + column);
            let mut sums = [[S::splat(0.0); C]; R];
            let so_far = match self.descend {
                Some((_, so_far)) => {
                    so_far.map(|so_far| so_far.as_ptr().add(start * stride + column))
                }
                None => self.add.then_some(product.cast_const()),
            };
            if let Some(so_far) = so_far {
                for r in 0..R {
                    for c in 0..C {
                        sums[r][c] = S::load(so_far.add(r * stride + c * S::LANES));
                    }
                }
            }
            let mut left = self.left.as_ptr().add(start * self.left_row);
            let mut right = self.right.as_ptr().add(column);
            for _ in 0..self.terms {
                let mut values = [S::splat(0.0); C];
                for c in 0..C {
                    values[c] = S::load(right.add(c * S::LANES));
                }
                for r in 0..R {
                    let factor = S::splat(*left.add(r * self.left_row));
                    for c in 0..C {
                        sums[r][c] = S::fma(factor, values[c], sums[r][c]);
                    }
                }
                // The last step may lead out of the slice.
                left = left.wrapping_add(self.left_step);
                right = right.wrapping_add(stride);
            }
            for r in 0..R {
                for c in 0..C {
                    let at = product.add(r * stride + c * S::LANES);
                    let value = match self.descend {
                        Some((rate, _)) => S::sub(S::load(at), S::mul(S::splat(rate), sums[r][c])),
                        None => sums[r][c],
                    };
                    S::store(at, value);
                }
            }
        }
    }
}
