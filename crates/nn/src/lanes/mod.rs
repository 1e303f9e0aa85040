//! Kernels that fill vector lanes with columns and samples at once.
//!
//! A feature map is `[channel][row][column][sample]`, so a convolution is nothing but multiply-adds of whole
//! vectors with one weight, without rearranging anything ([`rows`] says how rows are cut into vectors). Dense layers
//! keep a row of values for each sample, and fill the lanes with those. Each kernel is written once over
//! [`simd::Simd`] and checks its slices before it starts; `unsafe` code lives only in this folder.

// Register tiles: indices over constant bounds read as the mathematics, and are unrolled.
#![allow(clippy::needless_range_loop)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod conv_forward;
mod conv_input_grad;
mod conv_weight_grad;
mod conv_weight_grad_pooled;
mod dense;
mod flatten;
mod gather;
#[cfg(target_arch = "aarch64")]
mod neon;
mod peak;
mod pool;
mod portable;
mod rows;
mod simd;
mod softmax;
mod spread;
mod update;

pub(crate) use conv_forward::{Finish, conv_forward, scratch_values};
pub(crate) use conv_input_grad::conv_input_grad;
pub(crate) use conv_weight_grad::{Spreads, conv_weight_grad};
pub(crate) use conv_weight_grad_pooled::{conv_weight_grad_pooled, joined_values, selects_winners};
pub(crate) use dense::{DenseShape, Slopes, dense_forward, dense_input_grad, dense_weight_grad};
pub(crate) use flatten::{flatten, flatten_grad};
pub(crate) use gather::{Value, gather_rows, gather_samples};
pub(crate) use peak::multiply_adds;
pub(crate) use pool::{Pool, max_pool, max_pool_grad, relu};
pub(crate) use rows::Cut;
pub(crate) use softmax::{CrossEntropy, cross_entropy};
pub(crate) use spread::{Flow, Strip, spread_gradient};
pub(crate) use update::{Step, descend};

use crate::isa::Isa;

/// Calls a kernel with its tile size as a constant: `with_size!(size, most, [1, 2, 3], N => kernel::<N>())`.
/// Sizes above `most`, a constant, are not compiled: few of them fit an instruction set with few registers.
macro_rules! with_size {
    ($size:expr, $most:expr, [$($value:literal),+], $name:ident => $call:expr) => {
        match $size {
            $($value if const { $value <= $most } => {
                const $name: usize = $value;
                if const { $value <= $most } { $call }
            })+
            _ => unreachable!("split() gives no other size"),
        }
    };
}
use with_size;

/// Samples that go through the network together, at most.
pub(crate) const GROUP: usize = 16;

/// Values after the end of a buffer that a vector which begins inside may reach.
pub(crate) const SLACK: usize = 16;

/// Where the values of a feature map lie, counted in positions: a position has a value for each sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MapLayout {
    pub(crate) channels: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
    /// Rows and columns of zeros around every channel: the padding of the convolution that reads the map.
    pub(crate) halo: usize,
    /// Whether a row has its even columns first and then the odd ones: a 2x2 max-pool follows the convolution that
    /// reads the map, and with columns apart the four values of its windows are four vectors.
    pub(crate) parity: bool,
}

impl MapLayout {
    /// Positions from one row to the next. Columns apart by parity begin at multiples of 8: with an even number of samples on cache lines.
    pub(crate) fn row(&self) -> usize {
        let columns = self.width + 2 * self.halo;
        match self.parity {
            true => columns.next_multiple_of(16),
            false => columns,
        }
    }

    /// Where a column of a row is; the halo's count.
    pub(crate) fn column(&self, x: usize) -> usize {
        match self.parity {
            true => x % 2 * (self.row() / 2) + x / 2,
            false => x,
        }
    }

    /// Positions from one channel to the next.
    pub(crate) fn plane(&self) -> usize {
        self.row() * (self.height + 2 * self.halo)
    }

    /// Positions before a row that is not halo.
    pub(crate) fn row_start(&self, channel: usize, y: usize) -> usize {
        channel * self.plane() + (self.halo + y) * self.row()
    }

    /// Positions in all.
    pub(crate) fn positions(&self) -> usize {
        self.channels * self.plane()
    }

    /// Values of one sample.
    pub(crate) fn values(&self) -> usize {
        self.channels * self.height * self.width
    }
}

/// A convolution. Output rows and columns that pooling drops are not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConvShape {
    /// The input, whose halo is the padding.
    pub(crate) input: MapLayout,
    pub(crate) kernel: usize,
    pub(crate) filters: usize,
    pub(crate) out_height: usize,
    pub(crate) out_width: usize,
}

impl ConvShape {
    /// That no tap leaves the input.
    fn check(&self) {
        assert!(self.out_height + self.kernel <= self.input.height + 2 * self.input.halo + 1);
        assert!(self.out_width + self.kernel <= self.input.width + 2 * self.input.halo + 1);
    }

    /// Number of weights.
    pub(crate) fn weights(&self) -> usize {
        self.filters * self.input.channels * self.kernel * self.kernel
    }

    /// Packs weights for [`conv_forward`]: the filters of a register tile side by side.
    pub(crate) fn pack_forward(&self, isa: Isa, weights: &[f32], packed: &mut [f32]) {
        let taps = self.input.channels * self.kernel * self.kernel;
        let mut rest = packed;
        for (start, size) in split(self.filters, tile_channels(is_wide(isa))) {
            let (block, next) = rest.split_at_mut(size * taps);
            side_by_side(&weights[start * taps..], taps, size, block);
            rest = next;
        }
    }

    /// Packs weights for [`conv_input_grad`]: the input channels of a register tile side by side.
    pub(crate) fn pack_backward(&self, isa: Isa, weights: &[f32], packed: &mut [f32]) {
        let taps = self.kernel * self.kernel;
        let mut rest = packed;
        for (start, size) in split(self.input.channels, back_channels(is_wide(isa))) {
            let (block, next) = rest.split_at_mut(size * taps * self.filters);
            for (filter, block) in block.chunks_exact_mut(size * taps).enumerate() {
                let first = (filter * self.input.channels + start) * taps;
                side_by_side(&weights[first..], taps, size, block);
            }
            rest = next;
        }
    }
}

/// Turns `count` rows of `length` values: `to` is `[value][row]`.
fn side_by_side(rows: &[f32], length: usize, count: usize, to: &mut [f32]) {
    with_size!(count, 10, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], N => {
        // The count as a constant, and rows of known length: this is done in every step.
        let mut from = [&rows[..length]; N];
        for (row, from) in from.iter_mut().enumerate() {
            *from = &rows[row * length..][..length];
        }
        for (at, to) in to.as_chunks_mut::<N>().0.iter_mut().enumerate().take(length) {
            *to = from.map(|row| row[at]);
        }
    });
}

/// Whether the instruction set has registers for the larger tiles ([`simd::Simd::WIDE`]).
fn is_wide(isa: Isa) -> bool {
    isa == Isa::Avx512
}

/// Filters of a convolution's register tile, which has 4 vectors for each.
const fn tile_channels(wide: bool) -> usize {
    if wide { 6 } else { 2 }
}

/// The same on the way back, where a register tile has two vectors for each channel.
const fn back_channels(wide: bool) -> usize {
    if wide { 10 } else { 6 }
}

/// Cuts `0..count` into the fewest blocks of at most `most`, as equal as can be: `(start, size)`.
fn split(count: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    let blocks = count.div_ceil(most).max(1);
    let (size, longer) = (count / blocks, count % blocks);
    (0..blocks).map(move |block| {
        let start = block * size + block.min(longer);
        (start, size + usize::from(block < longer))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_covers_everything_in_near_equal_blocks() {
        for count in 1..70 {
            for most in 1..9 {
                let blocks: Vec<_> = split(count, most).collect();
                let mut next = 0;
                for &(start, size) in &blocks {
                    assert_eq!(start, next);
                    assert!((1..=most).contains(&size));
                    next += size;
                }
                assert_eq!(next, count);
                assert_eq!(blocks.len(), count.div_ceil(most));
            }
        }
    }
}
