//! Gradient of a convolution with respect to its input.
#![allow(unsafe_code)]

use super::simd::{self, Simd, Task, store_within};
use super::{ConvShape, Strip, back_channels, split, with_size};
use crate::isa::Isa;
use std::ops::Range;

/// Fills `rows` of the input's gradient (`[channel][row][column][sample]` without halo).
///
/// `flow` is a strip of the output's gradient that reaches every output row which `rows` of the input touch. `packed`
/// comes from [`ConvShape::pack_backward`].
#[allow(clippy::too_many_arguments)] // a kernel's operands are what it is
pub(crate) fn conv_input_grad(
    isa: Isa,
    samples: usize,
    shape: &ConvShape,
    flow: &[f32],
    strip: Strip,
    packed: &[f32],
    rows: Range<usize>,
    gradient: &mut [f32],
) {
    strip.check(shape, samples, flow);
    assert!(packed.len() >= shape.weights());
    assert!(gradient.len() >= shape.input.values() * samples);
    assert!(rows.end <= shape.input.height);
    if let Some(last) = rows.clone().last() {
        let touched = output_rows(shape, rows.start).start..output_rows(shape, last).end;
        assert!(touched.is_empty() || strip.holds(&touched));
    }
    let task = InputGrad {
        shape,
        samples,
        flow,
        strip,
        packed,
        rows,
        gradient,
    };
    simd::run(isa, task);
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
    samples: usize,
    flow: &'a [f32],
    strip: Strip,
    packed: &'a [f32],
    rows: Range<usize>,
    gradient: &'a mut [f32],
}

impl Task for InputGrad<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(mut self) {
        let per_channel = self.shape.weights() / self.shape.input.channels;
        let mut packed = self.packed.as_ptr();
        for (start, size) in split(self.shape.input.channels, back_channels(S::WIDE)) {
            // SAFETY: the caller vouches for the instruction set; `conv_input_grad` checked the lengths and that
            // `flow` holds every row used. `packed` has `per_channel` weights for each input channel.
            unsafe {
                with_size!(size, back_channels(S::WIDE), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], R => {
                    self.channels::<S, R>(packed, start);
                });
                packed = packed.add(size * per_channel);
            }
        }
    }
}

/// What two vectors of a row have in common for all filters and rows of the kernel.
struct Pair {
    /// Where the first vector meets the output's rows with the first column of the kernel.
    reach: usize,
    /// Columns of the kernel that meet the output with the first vector only, with both, with the second only. All
    /// others are left out, not multiplied by zero: at the rim of a small map they are half of all. Where a vector is
    /// partly outside, it meets the zeros around a strip's rows.
    taps: [Range<usize>; 3],
}

impl InputGrad<'_> {
    /// `R` channels, two vectors at a time.
    #[inline(always)]
    unsafe fn channels<S: Simd, const R: usize>(&mut self, packed: *const f32, start: usize) {
        let (shape, samples) = (self.shape, self.samples);
        let values = shape.input.width * samples;
        for offset in (0..values).step_by(2 * S::LANES) {
            let reach = offset + shape.input.halo * samples;
            let one = self.taps(reach, S::LANES);
            let other = match offset + S::LANES < values {
                true => self.taps(reach + S::LANES, S::LANES),
                false => one.end..one.end,
            };
            let taps = [
                one.start..other.start.min(one.end),
                other.start..one.end,
                other.start.max(one.end)..other.end,
            ];
            let pair = Pair { reach, taps };
            for row in self.rows.clone() {
                // SAFETY: as in `run`.
                unsafe {
                    let sums = self.tile::<S, R>(packed, &pair, row);
                    for r in 0..R {
                        let to = ((start + r) * shape.input.height + row) * values + offset;
                        let to = self.gradient.as_mut_ptr().add(to);
                        store_within::<S>(to, sums[r][0], values - offset);
                        if offset + S::LANES < values {
                            let room = values - offset - S::LANES;
                            store_within::<S>(to.add(S::LANES), sums[r][1], room);
                        }
                    }
                }
            }
        }
    }

    /// The columns of the kernel with which a vector at `reach` meets the output.
    #[inline(always)]
    fn taps(&self, reach: usize, lanes: usize) -> Range<usize> {
        let (samples, kernel) = (self.samples, self.shape.kernel);
        let width = self.shape.out_width * samples;
        let first = match reach >= width {
            true => (reach - width) / samples + 1,
            false => 0,
        };
        let end = (reach + lanes).div_ceil(samples).min(kernel);
        first.min(end)..end
    }

    /// `R` channels at the two vectors of a row.
    #[inline(always)]
    unsafe fn tile<S: Simd, const R: usize>(
        &self,
        packed: *const f32,
        pair: &Pair,
        row: usize,
    ) -> [[S::V; 2]; R] {
        let (shape, samples, kernel) = (self.shape, self.samples, self.shape.kernel);
        let flow_row = Strip::row(shape, samples);
        let outputs = output_rows(shape, row);
        // SAFETY: as in `run`; a strip has `SLACK` zeros before and behind every row, and no vector that is used
        // lies wholly outside.
        unsafe {
            let mut sums = [[S::splat(0.0); 2]; R];
            if outputs.is_empty() || pair.taps.iter().all(Range::is_empty) {
                return sums;
            }
            // Where a filter's last row and the weights that meet it begin: multiplications for each filter took longer.
            let last = self.strip.row_start(shape, samples, 0, outputs.end - 1);
            let mut last_row = self.flow.as_ptr().add(last + pair.reach);
            let ky = row + shape.input.halo + 1 - outputs.end;
            let mut its_weights = packed.add(ky * kernel * R);
            for _ in 0..shape.filters {
                let (mut from, mut weights) = (last_row, its_weights);
                for _ in outputs.clone() {
                    for kx in pair.taps[0].clone() {
                        let value = S::load(from.sub(kx * samples));
                        for r in 0..R {
                            let w = S::splat(*weights.add(kx * R + r));
                            sums[r][0] = S::fma(w, value, sums[r][0]);
                        }
                    }
                    for kx in pair.taps[1].clone() {
                        let at = from.sub(kx * samples);
                        let values = [S::load(at), S::load(at.add(S::LANES))];
                        for r in 0..R {
                            let w = S::splat(*weights.add(kx * R + r));
                            sums[r][0] = S::fma(w, values[0], sums[r][0]);
                            sums[r][1] = S::fma(w, values[1], sums[r][1]);
                        }
                    }
                    for kx in pair.taps[2].clone() {
                        let value = S::load(from.add(S::LANES).sub(kx * samples));
                        for r in 0..R {
                            let w = S::splat(*weights.add(kx * R + r));
                            sums[r][1] = S::fma(w, value, sums[r][1]);
                        }
                    }
                    // The row above meets the next row of the kernel.
                    from = from.wrapping_sub(flow_row);
                    weights = weights.wrapping_add(kernel * R);
                }
                last_row = last_row.wrapping_add(self.strip.held * flow_row);
                its_weights = its_weights.wrapping_add(kernel * kernel * R);
            }
            sums
        }
    }
}
