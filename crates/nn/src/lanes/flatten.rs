//! From maps to rows of values, one for each sample, and back.
#![allow(unsafe_code)]

use super::rows::{copy_column, copy_over, last_columns};
use super::simd::{self, Simd, Task};
use super::{GROUP, SLACK};
use crate::isa::Isa;

/// `[value][sample]` into `[sample][value]`, rows `stride` values apart and filled with zeros.
pub(crate) fn flatten(
    isa: Isa,
    samples: usize,
    values: usize,
    map: &[f32],
    stride: usize,
    rows: &mut [f32],
) {
    assert!(map.len() >= values * samples + SLACK && samples <= GROUP);
    assert!(values <= stride && stride.is_multiple_of(16) && rows.len() >= GROUP * stride);
    let task = Flatten {
        samples,
        values,
        map,
        stride,
        rows,
    };
    simd::run(isa, task);
}

struct Flatten<'a> {
    samples: usize,
    values: usize,
    map: &'a [f32],
    stride: usize,
    rows: &'a mut [f32],
}

impl Task for Flatten<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let zeros = [0.0f32; 16];
        for first in (0..self.stride).step_by(S::LANES) {
            for lane in (0..self.samples).step_by(S::LANES) {
                let mut from = [zeros.as_ptr(); 16];
                for (value, from) in (first..self.values).zip(&mut from).take(S::LANES) {
                    *from = self.map[value * self.samples + lane..].as_ptr();
                }
                // SAFETY: the caller vouches for the instruction set; `flatten` checked that there is `SLACK` behind
                // the map and room for `GROUP` rows.
                unsafe {
                    let to = self.rows.as_mut_ptr().add(lane * self.stride + first);
                    S::transpose(&from, to, self.stride);
                }
            }
        }
    }
}

/// The way back, of gradients.
pub(crate) fn flatten_grad(
    isa: Isa,
    samples: usize,
    values: usize,
    rows: &[f32],
    stride: usize,
    map: &mut [f32],
) {
    assert!(map.len() >= values * samples && samples <= GROUP);
    assert!(values <= stride && stride.is_multiple_of(16) && rows.len() >= GROUP * stride);
    let task = FlattenGrad {
        samples,
        values,
        rows,
        stride,
        map,
    };
    simd::run(isa, task);
}

struct FlattenGrad<'a> {
    samples: usize,
    values: usize,
    rows: &'a [f32],
    stride: usize,
    map: &'a mut [f32],
}

impl Task for FlattenGrad<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let mut columns = [[0.0f32; 16]; 16];
        let whole = self.values.saturating_sub(last_columns(self.samples));
        for first in (0..self.values).step_by(S::LANES) {
            // SAFETY: the caller vouches for the instruction set; `flatten_grad` checked that there are `GROUP` rows,
            // and only values that are there are copied.
            unsafe {
                for lane in (0..self.samples).step_by(S::LANES) {
                    let start = self.rows.as_ptr().add(lane * self.stride + first);
                    let mut from = [start; 16];
                    for (row, from) in from.iter_mut().enumerate().take(S::LANES) {
                        *from = start.add(row * self.stride);
                    }
                    let to = columns.as_mut_ptr().cast::<f32>().add(lane);
                    S::transpose(&from, to, 16);
                }
                for (value, from) in (first..self.values).zip(&columns).take(S::LANES) {
                    let to = self.map.as_mut_ptr().add(value * self.samples);
                    match value < whole {
                        true => copy_over::<S>(from.as_ptr(), self.samples, to),
                        false => copy_column::<S>(from.as_ptr(), self.samples, to),
                    }
                }
            }
        }
    }
}
