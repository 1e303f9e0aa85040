//! Gradient of a convolution with respect to its input.
#![allow(unsafe_code)]

use super::simd::{self, Group, Simd, Task};
use super::{ConvShape, split, tile_channels, with_size};
use crate::isa::Isa;
use std::ops::Range;

/// Positions of a register tile.
const POSITIONS: usize = 4;

/// Fills `rows` of the input's gradient (`[channel][row][column]` without halo).
///
/// `flow` holds the output's gradient from output row `first` on, `held` rows for each filter; it must reach
/// every output row that `rows` of the input touch. `packed` comes from [`ConvShape::pack_backward`].
#[allow(clippy::too_many_arguments)] // a kernel's operands are what it is
pub(crate) fn conv_input_grad(
    isa: Isa,
    group: Group,
    shape: &ConvShape,
    flow: &[f32],
    first: usize,
    held: usize,
    packed: &[f32],
    rows: Range<usize>,
    gradient: &mut [f32],
) {
    let lanes = group.lanes();
    assert!(flow.len() >= shape.filters * held * shape.out_width * lanes);
    assert!(packed.len() >= shape.weights());
    assert!(gradient.len() >= shape.input.bare().vectors() * lanes);
    assert!(rows.end <= shape.input.height);
    if let Some(last) = rows.clone().last() {
        let touched = output_rows(shape, rows.start).start..output_rows(shape, last).end;
        assert!(touched.is_empty() || (first <= touched.start && touched.end <= first + held));
    }
    let task = InputGrad {
        shape,
        flow,
        first,
        held,
        packed,
        rows,
        gradient,
    };
    simd::run(isa, group, task);
}

/// Output rows that see a row of the input.
pub(crate) fn output_rows(shape: &ConvShape, row: usize) -> Range<usize> {
    let end = (row + shape.input.halo + 1).min(shape.out_height);
    (row + shape.input.halo + 1)
        .saturating_sub(shape.kernel)
        .min(end)..end
}

struct InputGrad<'a> {
    shape: &'a ConvShape,
    flow: &'a [f32],
    first: usize,
    held: usize,
    packed: &'a [f32],
    rows: Range<usize>,
    gradient: &'a mut [f32],
}

impl Task for InputGrad<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd, const G: usize>(mut self) {
        let per_channel = self.shape.weights() / self.shape.input.channels;
        let mut packed = self.packed.as_ptr();
        for (start, size) in split(self.shape.input.channels, tile_channels(S::WIDE)) {
            for row in self.rows.clone() {
                for column in (0..self.shape.input.width).step_by(POSITIONS) {
                    for half in 0..G / S::LANES {
                        // SAFETY: the caller vouches for the instruction set; `conv_input_grad` checked the
                        // lengths and that `flow` holds every row used.
                        unsafe {
                            with_size!(size, tile_channels(S::WIDE), [1, 2, 3, 4, 5, 6], R => {
                                self.tile::<S, G, R>(packed, start, row, column, half);
                            });
                        }
                    }
                }
            }
            // SAFETY: `packed` has `per_channel` weights for each input channel.
            packed = unsafe { packed.add(size * per_channel) };
        }
    }
}

impl InputGrad<'_> {
    /// `R` channels at 4 positions of a row. Taps that fall outside the output are left out, not multiplied
    /// by zero: at the rim of a small map they are half of all.
    #[inline(always)]
    unsafe fn tile<S: Simd, const G: usize, const R: usize>(
        &mut self,
        packed: *const f32,
        start: usize,
        row: usize,
        column: usize,
        half: usize,
    ) {
        let shape = self.shape;
        let (kernel, width) = (shape.kernel, shape.out_width);
        let outputs = output_rows(shape, row);
        let positions = POSITIONS.min(shape.input.width - column);
        // The tap kx of position p sees output column `reach - kx + p`.
        let reach = column + shape.input.halo;
        let whole = if positions < POSITIONS {
            0..0
        } else {
            let from = (reach + POSITIONS).saturating_sub(width).min(kernel);
            from..(reach + 1).min(kernel).max(from)
        };
        // SAFETY: as in `run`; columns are inside the output for whole taps by the choice of `whole`, for the
        // others by the test of each.
        unsafe {
            let mut sums = [[S::splat(0.0); POSITIONS]; R];
            for filter in 0..shape.filters {
                for output in outputs.clone().rev() {
                    let ky = row + shape.input.halo - output;
                    let from = self
                        .flow
                        .as_ptr()
                        .add((filter * self.held + output - self.first) * width * G)
                        .add(half * S::LANES);
                    let weights = packed.add((filter * kernel + ky) * kernel * R);
                    for kx in 0..whole.start {
                        partial::<S, G, R>(
                            &mut sums,
                            weights.add(kx * R),
                            from,
                            reach,
                            kx,
                            width,
                            positions,
                        );
                    }
                    for kx in whole.clone() {
                        let at = from.add((reach - kx) * G);
                        let mut values = [S::splat(0.0); POSITIONS];
                        for p in 0..POSITIONS {
                            values[p] = S::load(at.add(p * G));
                        }
                        for r in 0..R {
                            let w = S::splat(*weights.add(kx * R + r));
                            for p in 0..POSITIONS {
                                sums[r][p] = S::fma(w, values[p], sums[r][p]);
                            }
                        }
                    }
                    for kx in whole.end..kernel {
                        partial::<S, G, R>(
                            &mut sums,
                            weights.add(kx * R),
                            from,
                            reach,
                            kx,
                            width,
                            positions,
                        );
                    }
                }
            }
            for r in 0..R {
                let plane = (start + r) * shape.input.height + row;
                let to = self
                    .gradient
                    .as_mut_ptr()
                    .add((plane * shape.input.width + column) * G + half * S::LANES);
                for p in 0..POSITIONS {
                    if p < positions {
                        S::store(to.add(p * G), sums[r][p]);
                    }
                }
            }
        }
    }
}

/// One tap at those positions of a tile where it meets the output.
///
/// # Safety
/// `from` must be an output row of `width` vectors and `weights` hold `R` values.
#[inline(always)]
unsafe fn partial<S: Simd, const G: usize, const R: usize>(
    sums: &mut [[S::V; POSITIONS]; R],
    weights: *const f32,
    from: *const f32,
    reach: usize,
    kx: usize,
    width: usize,
    positions: usize,
) {
    for p in 0..POSITIONS {
        // Both differences wrap below zero to something far above the width.
        let at = (reach + p).wrapping_sub(kx);
        if p < positions && at < width {
            // SAFETY: `at` is a column of the row.
            unsafe {
                let value = S::load(from.add(at * G));
                for r in 0..R {
                    sums[r][p] = S::fma(S::splat(*weights.add(r)), value, sums[r][p]);
                }
            }
        }
    }
}
