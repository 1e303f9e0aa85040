//! Fully connected layers: forward, weight gradient, input gradient.
//!
//! Weights are rows of `stride` values, one row per output, the rows' ends filled with zeros.
#![allow(unsafe_code)]

use super::simd::{self, Group, Simd, Task};
use super::{split, with_size};
use crate::isa::Isa;

/// Size of a dense layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DenseShape {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

impl DenseShape {
    /// Values from one weight row to the next: whole vectors of 16.
    pub(crate) fn stride(&self) -> usize {
        self.inputs.next_multiple_of(16)
    }
}

/// `output = input x weights + biases`, with `max(x, 0)` on top if `relu`.
#[allow(clippy::too_many_arguments)] // a kernel's operands are what it is
pub(crate) fn dense_forward(
    isa: Isa,
    group: Group,
    shape: DenseShape,
    input: &[f32],
    weights: &[f32],
    biases: &[f32],
    relu: bool,
    output: &mut [f32],
) {
    assert!(input.len() >= shape.inputs * group.lanes());
    assert!(output.len() >= shape.outputs * group.lanes());
    assert!(weights.len() >= shape.outputs * shape.stride() && biases.len() >= shape.outputs);
    let task = Forward {
        shape,
        input,
        weights,
        biases,
        relu,
        output,
    };
    simd::run(isa, group, task);
}

struct Forward<'a> {
    shape: DenseShape,
    input: &'a [f32],
    weights: &'a [f32],
    biases: &'a [f32],
    relu: bool,
    output: &'a mut [f32],
}

/// Outputs of a register tile, of one vector each or two.
const fn tile_outputs(two_vectors: bool) -> usize {
    if two_vectors { 6 } else { 8 }
}

impl Task for Forward<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd, const G: usize>(mut self) {
        for (start, size) in split(self.shape.outputs, tile_outputs(G > S::LANES)) {
            // SAFETY: the caller vouches for the instruction set; `dense_forward` checked the lengths.
            unsafe {
                with_size!(size, tile_outputs(G > S::LANES), [1, 2, 3, 4, 5, 6, 7, 8], R => {
                    self.tile::<S, G, R>(start);
                });
            }
        }
    }
}

impl Forward<'_> {
    /// `R` outputs of the whole group.
    #[inline(always)]
    unsafe fn tile<S: Simd, const G: usize, const R: usize>(&mut self, start: usize) {
        let (stride, halves) = (self.shape.stride(), G / S::LANES);
        // SAFETY: as in `run`.
        unsafe {
            let mut sums = [[S::splat(0.0); 2]; R];
            for (r, sums) in sums.iter_mut().enumerate() {
                *sums = [S::splat(*self.biases.as_ptr().add(start + r)); 2];
            }
            let weights = self.weights.as_ptr().add(start * stride);
            let mut from = self.input.as_ptr();
            for i in 0..self.shape.inputs {
                let mut values = [S::splat(0.0); 2];
                for half in 0..halves {
                    values[half] = S::load(from.add(half * S::LANES));
                }
                for r in 0..R {
                    let w = S::splat(*weights.add(r * stride + i));
                    for half in 0..halves {
                        sums[r][half] = S::fma(w, values[half], sums[r][half]);
                    }
                }
                from = from.add(G);
            }
            for r in 0..R {
                for half in 0..halves {
                    let sum = sums[r][half];
                    let value = if self.relu {
                        S::max(S::splat(0.0), sum)
                    } else {
                        sum
                    };
                    let to = self.output.as_mut_ptr().add((start + r) * G);
                    S::store(to.add(half * S::LANES), value);
                }
            }
        }
    }
}

/// `gradient (+)= flow x input`; `add` says whether there is a sum so far. `turned` is scratch for the
/// input with samples in rows: lanes x stride values.
#[allow(clippy::too_many_arguments)] // a kernel's operands are what it is
pub(crate) fn dense_weight_grad(
    isa: Isa,
    group: Group,
    shape: DenseShape,
    input: &[f32],
    flow: &[f32],
    turned: &mut [f32],
    add: bool,
    gradient: &mut [f32],
) {
    assert!(input.len() >= shape.stride() * group.lanes());
    assert!(turned.len() >= shape.stride() * group.lanes());
    assert!(flow.len() >= shape.outputs * group.lanes());
    assert!(gradient.len() >= shape.outputs * shape.stride());
    let task = WeightGrad {
        shape,
        input,
        flow,
        turned,
        add,
        gradient,
    };
    simd::run(isa, group, task);
}

struct WeightGrad<'a> {
    shape: DenseShape,
    input: &'a [f32],
    flow: &'a [f32],
    turned: &'a mut [f32],
    add: bool,
    gradient: &'a mut [f32],
}

impl Task for WeightGrad<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd, const G: usize>(mut self) {
        let stride = self.shape.stride();
        for i in (0..stride).step_by(S::LANES) {
            for half in 0..G / S::LANES {
                // SAFETY: the caller vouches for the instruction set; `dense_weight_grad` checked that there are
                // `stride` vectors of input and `G` rows of `stride` values in `turned`.
                unsafe {
                    let from = self.input.as_ptr().add(i * G + half * S::LANES);
                    let mut rows = [from; 16];
                    for (l, row) in rows.iter_mut().enumerate().take(S::LANES) {
                        *row = from.add(l * G);
                    }
                    let to = self.turned.as_mut_ptr().add(half * S::LANES * stride + i);
                    S::transpose(&rows, to, stride);
                }
            }
        }
        for (start, size) in split(self.shape.outputs, 6) {
            // SAFETY: as above; 2 x 8 lanes divide the stride, of 2 x 16 the last one may be alone.
            unsafe {
                with_size!(size, 6, [1, 2, 3, 4, 5, 6], R => {
                    let mut column = 0;
                    while column + 2 * S::LANES <= stride {
                        self.tile::<S, G, R, 2>(start, column);
                        column += 2 * S::LANES;
                    }
                    if column < stride {
                        self.tile::<S, G, R, 1>(start, column);
                    }
                });
            }
        }
    }
}

impl WeightGrad<'_> {
    /// `R` rows x `C` vectors of the gradient, summed over the samples in order.
    #[inline(always)]
    unsafe fn tile<S: Simd, const G: usize, const R: usize, const C: usize>(
        &mut self,
        start: usize,
        column: usize,
    ) {
        let stride = self.shape.stride();
        // SAFETY: as in `run`.
        unsafe {
            let gradient = self.gradient.as_mut_ptr().add(start * stride + column);
            let mut sums = [[S::splat(0.0); C]; R];
            if self.add {
                for r in 0..R {
                    for c in 0..C {
                        sums[r][c] = S::load(gradient.add(r * stride + c * S::LANES));
                    }
                }
            }
            let flow = self.flow.as_ptr().add(start * G);
            let turned = self.turned.as_ptr().add(column);
            for sample in 0..G {
                let mut values = [S::splat(0.0); C];
                for c in 0..C {
                    values[c] = S::load(turned.add(sample * stride + c * S::LANES));
                }
                for r in 0..R {
                    let f = S::splat(*flow.add(r * G + sample));
                    for c in 0..C {
                        sums[r][c] = S::fma(f, values[c], sums[r][c]);
                    }
                }
            }
            for r in 0..R {
                for c in 0..C {
                    S::store(gradient.add(r * stride + c * S::LANES), sums[r][c]);
                }
            }
        }
    }
}

/// `gradient = flow x weights`, for `stride` inputs.
pub(crate) fn dense_input_grad(
    isa: Isa,
    group: Group,
    shape: DenseShape,
    flow: &[f32],
    weights: &[f32],
    gradient: &mut [f32],
) {
    assert!(flow.len() >= shape.outputs * group.lanes());
    assert!(weights.len() >= shape.outputs * shape.stride());
    assert!(gradient.len() >= shape.stride() * group.lanes());
    let task = InputGrad {
        shape,
        flow,
        weights,
        gradient,
    };
    simd::run(isa, group, task);
}

struct InputGrad<'a> {
    shape: DenseShape,
    flow: &'a [f32],
    weights: &'a [f32],
    gradient: &'a mut [f32],
}

impl Task for InputGrad<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd, const G: usize>(mut self) {
        // SAFETY: the caller vouches for the instruction set; `dense_input_grad` checked the lengths, and each
        // tile size divides the stride.
        unsafe {
            if G > S::LANES {
                self.tiles::<S, G, 4>();
            } else if S::WIDE {
                self.tiles::<S, G, 16>();
            } else {
                self.tiles::<S, G, 8>();
            }
        }
    }
}

impl InputGrad<'_> {
    /// `I` inputs at a time.
    #[inline(always)]
    unsafe fn tiles<S: Simd, const G: usize, const I: usize>(&mut self) {
        let (stride, halves) = (self.shape.stride(), G / S::LANES);
        for start in (0..stride).step_by(I) {
            // SAFETY: as in `run`.
            unsafe {
                let mut sums = [[S::splat(0.0); 2]; I];
                let mut weights = self.weights.as_ptr().add(start);
                let mut flow = self.flow.as_ptr();
                for _ in 0..self.shape.outputs {
                    let mut values = [S::splat(0.0); 2];
                    for half in 0..halves {
                        values[half] = S::load(flow.add(half * S::LANES));
                    }
                    for i in 0..I {
                        let w = S::splat(*weights.add(i));
                        for half in 0..halves {
                            sums[i][half] = S::fma(w, values[half], sums[i][half]);
                        }
                    }
                    weights = weights.add(stride);
                    flow = flow.add(G);
                }
                for i in 0..I {
                    for half in 0..halves {
                        let to = self.gradient.as_mut_ptr().add((start + i) * G);
                        S::store(to.add(half * S::LANES), sums[i][half]);
                    }
                }
            }
        }
    }
}
