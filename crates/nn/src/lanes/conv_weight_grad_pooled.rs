//! Gradient of a pooled convolution with respect to its weights, without multiplying by the zeros.
//!
//! Behind a 2x2 max-pool three of four output gradients are zero, but not the same ones in every lane. So
//! each lane selects the input that its own winner saw, and one multiply-add does for a whole window. Selects
//! are no multiply-adds: where they have units of their own, this halves the time.
#![allow(unsafe_code)]

use super::conv_weight_grad::reduce;
use super::rows::{Cut, Visit, each_vector};
use super::simd::{self, Simd, Task, load_mask};
use super::spread::Winner;
use super::{ConvShape, SLACK, is_wide, split};
use crate::isa::Isa;
use std::ops::Range;

/// Side of the largest kernel whose weights all fit the registers.
const LARGEST: usize = 5;

/// Whether [`conv_weight_grad_pooled`] is there for this convolution and likely to be the faster one.
pub(crate) fn selects_winners(isa: Isa, shape: &ConvShape) -> bool {
    is_wide(isa) && shape.kernel <= LARGEST
}

/// Room that [`conv_weight_grad_pooled`] needs for so many output rows.
pub(crate) fn joined_values(shape: &ConvShape, rows: usize) -> usize {
    rows / 4 * joined_by_pair(shape.kernel)
}

/// Values of the input that a pair of rows of windows sees in the vector that they share: one for each row and column.
const fn joined_by_pair(kernel: usize) -> usize {
    16 * (kernel + 1) * (kernel + 1)
}

/// Adds to `gradient` (`[filter][channel][row][column]`) what the output rows `rows` bring.
///
/// `after` is the gradient behind the pool, without halo, `masks` what [`super::conv_forward`] left, and `joined` room
/// ([`joined_values`]). The sums are those of [`super::conv_weight_grad`] over windows, in the same order.
#[allow(clippy::too_many_arguments)] // a kernel's operands are what it is
pub(crate) fn conv_weight_grad_pooled(
    isa: Isa,
    samples: usize,
    shape: &ConvShape,
    input: &[f32],
    after: &[f32],
    masks: &[u8],
    rows: Range<usize>,
    joined: &mut [f32],
    gradient: &mut [f32],
) {
    let cut = Cut::new(shape.out_width / 2, samples);
    let windows = shape.filters * (shape.out_height / 2);
    shape.check();
    assert!(selects_winners(isa, shape) && shape.input.parity && rows.end <= shape.out_height);
    assert!(rows.start.is_multiple_of(2) && rows.end.is_multiple_of(2));
    assert!(input.len() >= shape.input.positions() * samples + SLACK);
    assert!(after.len() >= windows * cut.values + SLACK);
    assert!(masks.len() >= windows * cut.blocks() * 8);
    assert!(gradient.len() >= shape.weights());
    assert!(joined.len() >= joined_values(shape, rows.len()));
    let task = PooledWeightGrad {
        shape,
        samples,
        cut,
        input,
        after,
        masks,
        rows: rows.start / 2..rows.end / 2,
        slides: samples == 10
            && shape.kernel > 3
            && input.len() >= shape.input.positions() * samples + 2 * SLACK,
        joined,
        gradient,
    };
    simd::run(isa, task);
}

struct PooledWeightGrad<'a> {
    shape: &'a ConvShape,
    samples: usize,
    cut: Cut,
    input: &'a [f32],
    after: &'a [f32],
    masks: &'a [u8],
    /// Of windows.
    rows: Range<usize>,
    /// Whether vectors that would cross cache lines are put together from two that do not.
    slides: bool,
    /// What pairs of rows of windows see of a channel in the vector they share, `[pair][row][column][16]`: put together
    /// once for all filters.
    joined: &'a mut [f32],
    gradient: &'a mut [f32],
}

/// Filters of a register tile, which share its loads: most of them cross a cache line where samples are not 16. Each
/// filter needs two mask registers of seven, and a register for each of its weights: all of them in a small kernel, a
/// row of them in a large one.
const fn tile_filters(kernel: usize) -> usize {
    if kernel <= 3 { 2 } else { 3 }
}

impl Task for PooledWeightGrad<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(mut self) {
        // Narrow instruction sets never come here; leaving them out keeps the program small.
        if !S::WIDE {
            return;
        }
        for channel in 0..self.shape.input.channels {
            // SAFETY: the caller vouches for the instruction set; `conv_weight_grad_pooled` checked the lengths.
            unsafe {
                self.join::<S>(channel);
                for (filter, count) in split(self.shape.filters, tile_filters(self.shape.kernel)) {
                    match self.slides {
                        true => self.kernel::<S, true>(channel, filter, count),
                        false => self.kernel::<S, false>(channel, filter, count),
                    }
                }
            }
        }
    }
}

impl PooledWeightGrad<'_> {
    /// Fills `joined`.
    #[inline(always)]
    unsafe fn join<S: Simd>(&mut self, channel: usize) {
        if self.cut.tail() == 0 {
            return;
        }
        let (input, side) = (&self.shape.input, self.shape.kernel + 1);
        let row = input.row() * self.samples;
        let below = 2 * row;
        let first = channel * input.plane() * self.samples + 16 * self.cut.own();
        // SAFETY: a window at an even place reaches `kernel + 1` rows and columns of the input, and both rows of windows are
        // there; `conv_weight_grad_pooled` checked the length of `joined`.
        unsafe {
            let mut to = self.joined.as_mut_ptr();
            for pair in 0..self.rows.len() / 2 {
                let upper = first + (self.rows.start + 2 * pair) * below;
                for y in 0..side {
                    let mut at = self.input.as_ptr().add(upper + y * row);
                    let mut next = at.add(input.column(1) * self.samples);
                    for _ in 0..side {
                        S::store(to, S::load_two(at, at.add(below)));
                        to = to.wrapping_add(16);
                        // Two columns on is one place on.
                        (at, next) = (next, at.wrapping_add(self.samples));
                    }
                }
            }
        }
    }

    /// Filters of a register tile. Small kernels have fewer loads that cross, and nothing to gain from `SLIDES`.
    #[inline(always)]
    unsafe fn kernel<S: Simd, const SLIDES: bool>(
        &mut self,
        channel: usize,
        filter: usize,
        count: usize,
    ) {
        // SAFETY: as in `run`.
        unsafe {
            match (self.shape.kernel, count) {
                (1, 1) => self.filters::<S, false, 1, 1, 1>(channel, filter),
                (1, _) => self.filters::<S, false, 1, 2, 2>(channel, filter),
                (2, 1) => self.filters::<S, false, 2, 1, 2>(channel, filter),
                (2, _) => self.filters::<S, false, 2, 2, 4>(channel, filter),
                (3, 1) => self.filters::<S, false, 3, 1, 3>(channel, filter),
                (3, _) => self.filters::<S, false, 3, 2, 6>(channel, filter),
                (4, 1) => self.filters::<S, SLIDES, 4, 1, 1>(channel, filter),
                (4, 2) => self.filters::<S, SLIDES, 4, 2, 2>(channel, filter),
                (4, _) => self.filters::<S, SLIDES, 4, 3, 3>(channel, filter),
                (_, 1) => self.filters::<S, SLIDES, 5, 1, 1>(channel, filter),
                (_, 2) => self.filters::<S, SLIDES, 5, 2, 2>(channel, filter),
                (_, _) => self.filters::<S, SLIDES, 5, 3, 3>(channel, filter),
            }
        }
    }

    /// The weights of `F` filters of side `K` for a channel, `N / F` rows at a time.
    #[inline(always)]
    unsafe fn filters<
        S: Simd,
        const SLIDES: bool,
        const K: usize,
        const F: usize,
        const N: usize,
    >(
        &mut self,
        channel: usize,
        filter: usize,
    ) {
        let (shape, samples, cut) = (self.shape, self.samples, self.cut);
        let plane = shape.out_height / 2;
        let rows = const { N / F };
        for ky in (0..K).step_by(rows) {
            let first = channel * shape.input.plane() + ky * shape.input.row();
            // SAFETY: as in `run`; a window at an even place reaches `K + 1` rows and columns of the input.
            let sums = unsafe {
                let operands: Operands<SLIDES, K, F, N> = Operands {
                    input: self.input.as_ptr().add(first * samples),
                    row: shape.input.row() * samples,
                    right: shape.input.column(1) * samples,
                    samples,
                    joined: self.joined.as_ptr().wrapping_add(16 * ky * (K + 1)),
                    first: self.rows.start,
                    after: self.after.as_ptr().add(filter * plane * cut.values),
                    after_plane: plane * cut.values,
                    cut,
                    masks: self.masks.as_ptr().add(filter * plane * cut.blocks() * 8),
                    mask_plane: plane * cut.blocks() * 8,
                };
                let sums = [[S::splat(0.0); K]; N];
                each_vector::<S, _>(cut, self.rows.clone(), 0, &operands, sums)
            };
            let place = |n: usize| {
                let (filter, ky) = (filter + n / rows, ky + n % rows);
                ((filter * shape.input.channels + channel) * K + ky) * K
            };
            let mut totals = [[0.0; K]; N];
            for (n, totals) in totals.iter_mut().enumerate() {
                totals.copy_from_slice(&self.gradient[place(n)..place(n) + K]);
            }
            // SAFETY: as above.
            unsafe { reduce::<S, N, K>(sums, &mut totals) };
            for (n, totals) in totals.iter().enumerate() {
                self.gradient[place(n)..place(n) + K].copy_from_slice(totals);
            }
        }
    }
}

/// Where the operands of a register tile lie.
struct Operands<const SLIDES: bool, const K: usize, const F: usize, const N: usize> {
    input: *const f32,
    /// From one row to the next.
    row: usize,
    /// From the even columns to the odd ones.
    right: usize,
    samples: usize,
    /// Of [`PooledWeightGrad::joined`], from the row that the first weight meets.
    joined: *const f32,
    /// The row of windows with which `joined` begins.
    first: usize,
    after: *const f32,
    after_plane: usize,
    cut: Cut,
    masks: *const u8,
    mask_plane: usize,
}

impl<const SLIDES: bool, const K: usize, const F: usize, const N: usize> Operands<SLIDES, K, F, N> {
    /// A column of the input, so many rows below `upper`: a vector of it, or (`JOINED`) what was put together.
    ///
    /// # Safety
    /// As for [`Visit::vector`].
    #[inline(always)]
    unsafe fn input<S: Simd, const JOINED: bool>(
        &self,
        upper: *const f32,
        column: usize,
        down: usize,
    ) -> S::V {
        // SAFETY: the caller vouches for the place; `PooledWeightGrad` slides only where there are values behind the last row.
        unsafe {
            if JOINED {
                return S::load(upper.add(16 * (down * (K + 1) + column)));
            }
            let start = upper.add(column % 2 * self.right + down * self.row);
            match (SLIDES, column / 2) {
                (false, columns) => S::load(start.add(columns * self.samples)),
                (true, 0) => S::load(start),
                (true, 1) => S::slide::<10>(S::load(start), S::load(start.add(16))),
                (true, _) => S::slide::<4>(S::load(start.add(16)), S::load(start.add(32))),
            }
        }
    }
}

impl<S: Simd, const SLIDES: bool, const K: usize, const F: usize, const N: usize> Visit<S>
    for Operands<SLIDES, K, F, N>
{
    type Sums = [[S::V; K]; N];

    #[inline(always)]
    unsafe fn vector<const JOINED: bool>(
        &self,
        mut sums: Self::Sums,
        row: usize,
        offset: usize,
    ) -> Self::Sums {
        let (rows, blocks) = (const { N / F }, self.cut.blocks());
        // SAFETY: as in `filters`; `JOINED` reads the row of windows after this one, which is there.
        unsafe {
            let mut values = [S::splat(0.0); F];
            let (mut right, mut lower) = ([0; F], [0; F]);
            for f in 0..F {
                let mask = self
                    .masks
                    .add(f * self.mask_plane + 8 * (row * blocks + offset / 16));
                let part = |part: usize| {
                    let bits = load_mask::<S>(mask.add(2 * part));
                    match JOINED {
                        true => bits | load_mask::<S>(mask.add(8 * blocks + 2 * part)) << 8,
                        false => bits,
                    }
                };
                right[f] = part(Winner::RIGHT);
                lower[f] = part(Winner::LOWER);
                let after = f * self.after_plane + row * self.cut.values + offset;
                let after = self.after.add(after);
                let value = match JOINED {
                    true => S::load_two(after, after.add(self.cut.values)),
                    false => S::load(after),
                };
                values[f] = S::keep(part(Winner::LIVE), value);
            }
            let upper = match JOINED {
                true => self.joined.add((row - self.first) / 2 * joined_by_pair(K)),
                false => self.input.add(2 * row * self.row + offset),
            };
            // Pointers that follow from one another are all kept where the compiler sees it: too many.
            let upper = S::opaque(upper);
            let mut left = [S::splat(0.0); N];
            for column in 0..K + 1 {
                let mut above = self.input::<S, JOINED>(upper, column, 0);
                for ky in 0..rows {
                    let below = self.input::<S, JOINED>(upper, column, ky + 1);
                    for f in 0..F {
                        let n = f * rows + ky;
                        let seen = S::select(lower[f], below, above);
                        if column > 0 {
                            let seen = S::select(right[f], seen, left[n]);
                            sums[n][column - 1] = S::fma(values[f], seen, sums[n][column - 1]);
                        }
                        left[n] = seen;
                    }
                    above = below;
                }
            }
        }
        sums
    }
}
