//! Gradient of a convolution with respect to its weights.
#![allow(unsafe_code)]

use super::rows::{Cut, Visit, each_vector};
use super::simd::{self, Simd, Task, add_lane_sums};
use super::{ConvShape, SLACK, Strip, split, with_size};
use crate::isa::Isa;
use std::ops::Range;

/// The output's gradient as [`super::spread_gradient`] leaves it.
#[derive(Clone, Copy)]
pub(crate) enum Spreads<'a> {
    Strip(&'a [f32], Strip),
    /// The four places of 2x2 windows: the order of [`super::conv_weight_grad_pooled`].
    Windows(&'a [f32]),
}

/// Adds to `gradient` (`[filter][channel][row][column]`) what the output rows `rows` bring.
pub(crate) fn conv_weight_grad(
    isa: Isa,
    samples: usize,
    shape: &ConvShape,
    input: &[f32],
    flow: Spreads,
    rows: Range<usize>,
    gradient: &mut [f32],
) {
    shape.check();
    assert!(input.len() >= shape.input.positions() * samples + SLACK);
    assert!(gradient.len() >= shape.weights() && rows.end <= shape.out_height);
    let row = shape.input.row() * samples;
    let task = match flow {
        Spreads::Strip(flow, strip) => {
            strip.check(shape, samples, flow);
            assert!(strip.holds(&rows) && !shape.input.parity);
            let flow_row = Strip::row(shape, samples);
            WeightGrad {
                shape,
                samples,
                cut: Cut::new(shape.out_width, samples),
                input: &input[rows.start * row..],
                input_row: row,
                flow: &flow[strip.row_start(shape, samples, 0, rows.start)..],
                flow_row,
                flow_plane: strip.held * flow_row,
                places: 1,
                rows: rows.len(),
                gradient,
            }
        }
        Spreads::Windows(flow) => {
            assert!(rows.start.is_multiple_of(2) && rows.end.is_multiple_of(2));
            assert!(shape.out_width.is_multiple_of(2) && shape.input.parity);
            let cut = Cut::new(shape.out_width / 2, samples);
            let flow_row = 4 * cut.padded();
            let flow_plane = rows.len() / 2 * flow_row;
            assert!(flow.len() >= shape.filters * flow_plane + SLACK);
            WeightGrad {
                shape,
                samples,
                cut,
                input: &input[rows.start * row..],
                input_row: 2 * row,
                flow,
                flow_row,
                flow_plane,
                places: 4,
                rows: rows.len() / 2,
                gradient,
            }
        }
    };
    simd::run(isa, task);
}

struct WeightGrad<'a> {
    shape: &'a ConvShape,
    samples: usize,
    cut: Cut,
    /// From the first of `rows` on, and so is `flow`.
    input: &'a [f32],
    /// Values from one row, or row of windows, to the next.
    input_row: usize,
    flow: &'a [f32],
    flow_row: usize,
    /// Values from one filter to the next.
    flow_plane: usize,
    /// 1, or the 4 of a window.
    places: usize,
    rows: usize,
    gradient: &'a mut [f32],
}

/// Filters of a register tile with `taps` kernel columns.
const fn tile_filters(wide: bool, taps: usize) -> usize {
    match (wide, taps) {
        (true, 5) => 5,
        (true, 4) => 6,
        (true, _) => 8,
        (false, 5 | 4) => 2,
        (false, 3) => 3,
        (false, 2) => 4,
        (false, _) => 6,
    }
}

impl Task for WeightGrad<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(mut self) {
        for (tap, taps) in split(self.shape.kernel, 5) {
            // SAFETY: the caller vouches for the instruction set; `conv_weight_grad` checked the lengths.
            unsafe { with_size!(taps, 5, [1, 2, 3, 4, 5], T => self.columns::<S, T>(tap)) };
        }
    }
}

impl WeightGrad<'_> {
    /// All weights in the kernel columns `tap..tap + T`.
    #[inline(always)]
    unsafe fn columns<S: Simd, const T: usize>(&mut self, tap: usize) {
        for (start, size) in split(self.shape.filters, tile_filters(S::WIDE, T)) {
            for channel in 0..self.shape.input.channels {
                for ky in 0..self.shape.kernel {
                    // SAFETY: as in `run`.
                    unsafe {
                        with_size!(size, tile_filters(S::WIDE, T), [1, 2, 3, 4, 5, 6, 7, 8], R => {
                            self.tile::<S, R, T>(start, channel, ky, tap);
                        });
                    }
                }
            }
        }
    }

    /// `R` filters x `T` taps, summed over all positions of the rows in registers.
    #[inline(always)]
    unsafe fn tile<S: Simd, const R: usize, const T: usize>(
        &mut self,
        start: usize,
        channel: usize,
        ky: usize,
        tap: usize,
    ) {
        let (shape, samples) = (self.shape, self.samples);
        let mut totals = [[0.0f32; T]; R];
        let place = |r: usize| {
            (((start + r) * shape.input.channels + channel) * shape.kernel + ky) * shape.kernel
                + tap
        };
        for (r, totals) in totals.iter_mut().enumerate() {
            totals.copy_from_slice(&self.gradient[place(r)..place(r) + T]);
        }
        let first = (channel * shape.input.plane() + ky * shape.input.row()) * samples;
        // In a window the taps of its right column are those of the left one, a column on.
        let mut columns = [[0; T]; 2];
        for right in 0..2 {
            for t in 0..T {
                columns[right][t] = shape.input.column(tap + t + right) * samples;
            }
        }
        for half in 0..16 / S::LANES {
            // SAFETY: rows and columns stay inside the shapes that `conv_weight_grad` checked.
            unsafe {
                let operands: Operands<R, T> = Operands {
                    input: self.input.as_ptr().add(first),
                    input_row: self.input_row,
                    lower: shape.input.row() * samples,
                    columns,
                    flow: self.flow.as_ptr().add(start * self.flow_plane),
                    flow_row: self.flow_row,
                    flow_plane: self.flow_plane,
                    flow_place: self.cut.padded(),
                    places: self.places,
                };
                let sums = [[S::splat(0.0); T]; R];
                let sums = each_vector::<S, _>(self.cut, 0..self.rows, half, &operands, sums);
                reduce::<S, R, T>(sums, &mut totals);
            }
        }
        for (r, totals) in totals.iter().enumerate() {
            self.gradient[place(r)..place(r) + T].copy_from_slice(totals);
        }
    }
}

/// Where the operands of a register tile lie.
struct Operands<const R: usize, const T: usize> {
    input: *const f32,
    input_row: usize,
    /// From the upper row of a window to the lower.
    lower: usize,
    /// Of the taps, left and right in a window.
    columns: [[usize; T]; 2],
    flow: *const f32,
    flow_row: usize,
    flow_plane: usize,
    flow_place: usize,
    places: usize,
}

impl<S: Simd, const R: usize, const T: usize> Visit<S> for Operands<R, T> {
    type Sums = [[S::V; T]; R];

    #[inline(always)]
    unsafe fn vector<const JOINED: bool>(
        &self,
        mut sums: Self::Sums,
        row: usize,
        offset: usize,
    ) -> Self::Sums {
        // SAFETY: as in `tile`; `JOINED` reads the row after this one, which is there.
        unsafe {
            let load = |from: *const f32, row: usize| match JOINED {
                true => S::load_two(from, from.add(row)),
                false => S::load(from),
            };
            let input = self.input.add(row * self.input_row + offset);
            let flow = self.flow.add(row * self.flow_row + offset);
            for place in 0..self.places {
                let from = input.add(place / 2 * self.lower);
                let flow = flow.add(place * self.flow_place);
                let mut flows = [S::splat(0.0); R];
                for r in 0..R {
                    flows[r] = load(flow.add(r * self.flow_plane), self.flow_row);
                }
                for t in 0..T {
                    let value = load(from.add(self.columns[place % 2][t]), self.input_row);
                    for r in 0..R {
                        sums[r][t] = S::fma(flows[r], value, sums[r][t]);
                    }
                }
            }
        }
        sums
    }
}

/// Adds the lane sums of a whole tile, 16 vectors at a time.
///
/// # Safety
/// As for [`Simd`].
#[inline(always)]
pub(super) unsafe fn reduce<S: Simd, const R: usize, const T: usize>(
    sums: [[S::V; T]; R],
    totals: &mut [[f32; T]; R],
) {
    const { assert!(R * T <= 48) };
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        reduce_from::<S, R, T, 0>(&sums, totals);
        if R * T > 16 {
            reduce_from::<S, R, T, 16>(&sums, totals);
        }
        if R * T > 32 {
            reduce_from::<S, R, T, 32>(&sums, totals);
        }
    }
}

/// The 16 vectors from `FIRST` on: a constant, so that none of them has to be in memory.
///
/// # Safety
/// As for [`Simd`].
#[inline(always)]
unsafe fn reduce_from<S: Simd, const R: usize, const T: usize, const FIRST: usize>(
    sums: &[[S::V; T]; R],
    totals: &mut [[f32; T]; R],
) {
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let mut vectors = [S::splat(0.0); 16];
        let mut parts = [0.0; 16];
        for r in 0..R {
            for t in 0..T {
                let at = r * T + t;
                if at >= FIRST && at < FIRST + 16 {
                    vectors[at - FIRST] = sums[r][t];
                    parts[at - FIRST] = totals[r][t];
                }
            }
        }
        add_lane_sums::<S>(&vectors, &mut parts);
        for r in 0..R {
            for t in 0..T {
                let at = r * T + t;
                if at >= FIRST && at < FIRST + 16 {
                    totals[r][t] = parts[at - FIRST];
                }
            }
        }
    }
}
