//! Gradient of a convolution with respect to its weights.
#![allow(unsafe_code)]

use super::simd::{self, Group, Simd, Task, add_lane_sums};
use super::{ConvShape, split, with_size};
use crate::isa::Isa;
use std::ops::Range;

/// Adds to `gradient` (`[filter][channel][row][column]`) what the output rows `rows` bring.
///
/// `flow` holds the output's gradient from output row `first` on, `held` rows for each filter. With `windows`
/// the positions are taken in 2x2 windows, the order of [`super::conv_weight_grad_pooled`]; `rows` and the
/// output's width are even then.
#[allow(clippy::too_many_arguments)] // a kernel's operands are what it is
pub(crate) fn conv_weight_grad(
    isa: Isa,
    group: Group,
    shape: &ConvShape,
    input: &[f32],
    flow: &[f32],
    first: usize,
    held: usize,
    rows: Range<usize>,
    windows: bool,
    gradient: &mut [f32],
) {
    let lanes = group.lanes();
    assert!(input.len() >= shape.input.vectors() * lanes);
    assert!(flow.len() >= shape.filters * held * shape.out_width * lanes);
    assert!(gradient.len() >= shape.weights());
    assert!(first <= rows.start && rows.end <= first + held && rows.end <= shape.out_height);
    assert!(!windows || rows.len().is_multiple_of(2) && shape.out_width.is_multiple_of(2));
    assert!(shape.out_height + shape.kernel <= shape.input.height + 2 * shape.input.halo + 1);
    assert!(shape.out_width + shape.kernel <= shape.input.row() + 1);
    let task = WeightGrad {
        shape,
        input,
        flow,
        first,
        held,
        rows,
        windows,
        gradient,
    };
    simd::run(isa, group, task);
}

struct WeightGrad<'a> {
    shape: &'a ConvShape,
    input: &'a [f32],
    flow: &'a [f32],
    first: usize,
    held: usize,
    rows: Range<usize>,
    windows: bool,
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
    unsafe fn run<S: Simd, const G: usize>(mut self) {
        for (tap, taps) in split(self.shape.kernel, 5) {
            // SAFETY: the caller vouches for the instruction set; `conv_weight_grad` checked the lengths.
            unsafe { with_size!(taps, 5, [1, 2, 3, 4, 5], T => self.columns::<S, G, T>(tap)) };
        }
    }
}

impl WeightGrad<'_> {
    /// All weights in the kernel columns `tap..tap + T`.
    #[inline(always)]
    unsafe fn columns<S: Simd, const G: usize, const T: usize>(&mut self, tap: usize) {
        for (start, size) in split(self.shape.filters, tile_filters(S::WIDE, T)) {
            for channel in 0..self.shape.input.channels {
                for ky in 0..self.shape.kernel {
                    // SAFETY: as in `run`.
                    unsafe {
                        with_size!(size, tile_filters(S::WIDE, T), [1, 2, 3, 4, 5, 6, 7, 8], R => {
                            self.tile::<S, G, R, T>(start, channel, ky, tap);
                        });
                    }
                }
            }
        }
    }

    /// `R` filters x `T` taps, summed over all positions of the rows in registers.
    #[inline(always)]
    unsafe fn tile<S: Simd, const G: usize, const R: usize, const T: usize>(
        &mut self,
        start: usize,
        channel: usize,
        ky: usize,
        tap: usize,
    ) {
        let shape = self.shape;
        let width = shape.out_width;
        let flow_plane = self.held * width * G;
        let mut totals = [[0.0f32; T]; R];
        let place = |r: usize| {
            (((start + r) * shape.input.channels + channel) * shape.kernel + ky) * shape.kernel
                + tap
        };
        for (r, totals) in totals.iter_mut().enumerate() {
            totals.copy_from_slice(&self.gradient[place(r)..place(r) + T]);
        }
        for half in 0..G / S::LANES {
            // SAFETY: rows and columns stay inside the shapes that `conv_weight_grad` checked.
            unsafe {
                let input = self
                    .input
                    .as_ptr()
                    .add((channel * shape.input.plane() + tap) * G + half * S::LANES);
                let flow = self.flow.as_ptr().add(start * flow_plane + half * S::LANES);
                let mut sums = [[S::splat(0.0); T]; R];
                // One position at a time, or the four of a window.
                let (below, flow_below) = (shape.input.row() * G, width * G);
                let places = [
                    (0, 0),
                    (G, G),
                    (below, flow_below),
                    (below + G, flow_below + G),
                ];
                let (step, places) = match self.windows {
                    true => (2, &places[..]),
                    false => (1, &places[..1]),
                };
                for y in self.rows.clone().step_by(step) {
                    let mut from = input.add((y + ky) * shape.input.row() * G);
                    let mut flow = flow.add((y - self.first) * width * G);
                    for _ in 0..width / step {
                        for (place, flow_place) in places {
                            let mut flows = [S::splat(0.0); R];
                            for r in 0..R {
                                flows[r] = S::load(flow.add(flow_place + r * flow_plane));
                            }
                            for t in 0..T {
                                let value = S::load(from.add(place + t * G));
                                for r in 0..R {
                                    sums[r][t] = S::fma(flows[r], value, sums[r][t]);
                                }
                            }
                        }
                        from = from.add(step * G);
                        flow = flow.add(step * G);
                    }
                }
                reduce::<S, R, T>(&sums, &mut totals);
            }
        }
        for (r, totals) in totals.iter().enumerate() {
            self.gradient[place(r)..place(r) + T].copy_from_slice(totals);
        }
    }
}

/// Adds the lane sums of a whole tile, 16 vectors at a time.
///
/// # Safety
/// As for [`Simd`].
#[inline(always)]
pub(super) unsafe fn reduce<S: Simd, const R: usize, const T: usize>(
    sums: &[[S::V; T]; R],
    totals: &mut [[f32; T]; R],
) {
    let mut done = 0;
    while done < R * T {
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let mut vectors = [S::splat(0.0); 16];
            let mut parts = [0.0; 16];
            for i in 0..16 {
                if done + i < R * T {
                    vectors[i] = sums[(done + i) / T][(done + i) % T];
                    parts[i] = totals[(done + i) / T][(done + i) % T];
                }
            }
            add_lane_sums::<S>(&vectors, &mut parts);
            for i in 0..16 {
                if done + i < R * T {
                    totals[(done + i) / T][(done + i) % T] = parts[i];
                }
            }
        }
        done += 16;
    }
}
