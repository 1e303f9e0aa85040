//! Gradient of a pooled convolution with respect to its weights, without multiplying by the zeros.
//!
//! Behind a 2x2 max-pool three of four output gradients are zero, but not the same ones in every lane. So
//! each lane selects the input that its own winner saw, and one multiply-add does for a whole window. Selects
//! are no multiply-adds: where they have units of their own, this halves the time.
#![allow(unsafe_code)]

use super::conv_weight_grad::reduce;
use super::simd::{self, Group, Simd, Task};
use super::{ConvShape, is_wide, with_size};
use crate::isa::Isa;
use std::ops::Range;

/// Side of the largest kernel whose weights all fit the registers.
const LARGEST: usize = 5;

/// Whether [`conv_weight_grad_pooled`] is there for this convolution and likely to be the faster one.
pub(crate) fn selects_winners(isa: Isa, shape: &ConvShape) -> bool {
    is_wide(isa) && shape.kernel <= LARGEST
}

/// Adds to `gradient` (`[filter][channel][row][column]`) what the output rows `rows` bring.
///
/// `after` is the gradient behind the pool, without halo, and `masks` what [`super::conv_forward`] left. The
/// sums are those of [`super::conv_weight_grad`] over windows, in the same order.
#[allow(clippy::too_many_arguments)] // a kernel's operands are what it is
pub(crate) fn conv_weight_grad_pooled(
    isa: Isa,
    group: Group,
    shape: &ConvShape,
    input: &[f32],
    after: &[f32],
    masks: &[u8],
    rows: Range<usize>,
    gradient: &mut [f32],
) {
    let lanes = group.lanes();
    let windows = shape.filters * (shape.out_height / 2) * (shape.out_width / 2);
    assert!(selects_winners(isa, shape) && rows.end <= shape.out_height);
    assert!(rows.start.is_multiple_of(2) && rows.end.is_multiple_of(2));
    assert!(input.len() >= shape.input.vectors() * lanes);
    assert!(after.len() >= windows * lanes && masks.len() >= windows * 8);
    assert!(gradient.len() >= shape.weights());
    assert!(shape.out_height + shape.kernel <= shape.input.height + 2 * shape.input.halo + 1);
    assert!(shape.out_width + shape.kernel <= shape.input.row() + 1);
    let task = PooledWeightGrad {
        shape,
        input,
        after,
        masks,
        rows,
        gradient,
    };
    simd::run(isa, group, task);
}

struct PooledWeightGrad<'a> {
    shape: &'a ConvShape,
    input: &'a [f32],
    after: &'a [f32],
    masks: &'a [u8],
    rows: Range<usize>,
    gradient: &'a mut [f32],
}

impl Task for PooledWeightGrad<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd, const G: usize>(mut self) {
        // Narrow instruction sets never come here; leaving them out keeps the program small.
        if !S::WIDE {
            return;
        }
        for channel in 0..self.shape.input.channels {
            for filter in 0..self.shape.filters {
                // SAFETY: the caller vouches for the instruction set; `conv_weight_grad_pooled` checked the lengths.
                unsafe {
                    with_size!(self.shape.kernel, if S::WIDE { LARGEST } else { 0 }, [1, 2, 3, 4, 5], K => self.tile::<S, G, K>(filter, channel));
                }
            }
        }
    }
}

impl PooledWeightGrad<'_> {
    /// All `K` x `K` weights between a filter and a channel.
    #[inline(always)]
    unsafe fn tile<S: Simd, const G: usize, const K: usize>(
        &mut self,
        filter: usize,
        channel: usize,
    ) {
        let shape = self.shape;
        let (width, row) = (shape.out_width / 2, shape.input.row() * G);
        // SAFETY: as in `run`; a window at an even place reaches `K + 1` rows and columns of the input.
        unsafe {
            let mut sums = [[S::splat(0.0); K]; K];
            let plane = self.input.as_ptr().add(channel * shape.input.plane() * G);
            for y in self.rows.start / 2..self.rows.end / 2 {
                let first = (filter * (shape.out_height / 2) + y) * width;
                let mut mask = self.masks.as_ptr().add(first * 8).cast::<[u8; 8]>();
                let mut after = self.after.as_ptr().add(first * G);
                let mut from = plane.add(2 * y * row);
                for _ in 0..width {
                    let bits = u64::from_le_bytes(mask.read());
                    let (second, third, fourth) = (bits >> 16, bits >> 32, bits >> 48);
                    let right = (second | fourth) as u16;
                    let lower = (third | fourth) as u16;
                    let live = (bits | second | third | fourth) as u16;
                    let value = S::keep(live, S::load(after));
                    let mut above = columns::<S, G, K>(from, right);
                    for ky in 0..K {
                        let below = columns::<S, G, K>(from.add((ky + 1) * row), right);
                        for kx in 0..K {
                            let seen = S::select(lower, below[kx], above[kx]);
                            sums[ky][kx] = S::fma(value, seen, sums[ky][kx]);
                        }
                        above = below;
                    }
                    mask = mask.add(1);
                    after = after.add(G);
                    from = from.add(2 * G);
                }
            }
            let at = (filter * shape.input.channels + channel) * K * K;
            let mut totals = [[0.0; K]; K];
            for (ky, totals) in totals.iter_mut().enumerate() {
                totals.copy_from_slice(&self.gradient[at + ky * K..at + (ky + 1) * K]);
            }
            reduce::<S, K, K>(&sums, &mut totals);
            for (ky, totals) in totals.iter().enumerate() {
                self.gradient[at + ky * K..at + (ky + 1) * K].copy_from_slice(totals);
            }
        }
    }
}

/// `K` inputs of a row, each lane's from its own column of the window.
///
/// # Safety
/// `from` must be the first of `K + 1` vectors.
#[inline(always)]
unsafe fn columns<S: Simd, const G: usize, const K: usize>(
    from: *const f32,
    right: u16,
) -> [S::V; K] {
    // SAFETY: the caller vouches for the pointer.
    unsafe {
        let mut columns = [S::splat(0.0); K];
        for kx in 0..K {
            columns[kx] = S::select(
                right,
                S::load(from.add((kx + 1) * G)),
                S::load(from.add(kx * G)),
            );
        }
        columns
    }
}
