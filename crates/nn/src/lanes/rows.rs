//! What fills the lanes: a row of a map, every column of every sample of the group.
//!
//! A row is `[column][sample]`, so many values side by side that vectors can be cut from it without regard to
//! where a column ends: 10 samples x 24 columns are 15 full vectors. A shift by a column is a shift by `samples`
//! values. Where 8 values or fewer are left at the end of a row, two rows share a vector.
#![allow(unsafe_code)]

use super::MapLayout;
use super::simd::{Simd, store_within};
use std::ops::Range;

/// How a row of so many values is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) values: usize,
}

impl Cut {
    pub(crate) fn new(columns: usize, samples: usize) -> Cut {
        Cut {
            values: columns * samples,
        }
    }

    /// Blocks of 16 values, the last one perhaps not full.
    pub(crate) fn blocks(self) -> usize {
        self.values.div_ceil(16)
    }

    /// Room for whole blocks.
    pub(crate) fn padded(self) -> usize {
        16 * self.blocks()
    }

    /// Blocks that a row has for itself: all that are more than half full.
    #[inline(always)]
    pub(super) fn own(self) -> usize {
        (self.values + 7) / 16
    }

    /// Values left for a block that is shared with the next row: 8 at most.
    #[inline(always)]
    pub(super) fn tail(self) -> usize {
        self.values.saturating_sub(16 * self.own())
    }
}

/// What is done with each vector of several rows.
pub(super) trait Visit<S: Simd> {
    /// What is summed up over them: by value, so that it stays in registers.
    type Sums: Copy;

    /// The vector that begins `offset` values after the start of `row`, or, `JOINED`, 8 values from there and 8
    /// from the same place of the row after it.
    ///
    /// # Safety
    /// Only [`each_vector`] calls it, with vectors of the rows it was given.
    unsafe fn vector<const JOINED: bool>(
        &self,
        sums: Self::Sums,
        row: usize,
        offset: usize,
    ) -> Self::Sums;
}

/// Visits all vectors of `rows` that hold lanes `half * LANES` and up of 16: all of them, where there are 16 lanes.
///
/// Which of 16 lanes a value is in, and which values of a lane come first, is the same for all instruction sets.
///
/// # Safety
/// As for [`Simd`], and what `visit` asks for.
#[inline(always)]
pub(super) unsafe fn each_vector<S: Simd, V: Visit<S>>(
    cut: Cut,
    rows: Range<usize>,
    half: usize,
    visit: &V,
    mut sums: V::Sums,
) -> V::Sums {
    let (own, tail) = (cut.own(), cut.tail());
    let mut row = rows.start;
    while row < rows.end {
        let pair = (rows.end - row).min(2);
        // SAFETY: the vectors begin inside the rows.
        unsafe {
            for row in row..row + pair {
                for block in 0..own {
                    sums = visit.vector::<false>(sums, row, 16 * block + half * S::LANES);
                }
            }
            if tail > 0 && S::LANES == 8 {
                if half < pair {
                    sums = visit.vector::<false>(sums, row + half, 16 * own);
                }
            } else if tail > 0 && pair == 2 {
                sums = visit.vector::<true>(sums, row, 16 * own);
            } else if tail > 0 {
                sums = visit.vector::<false>(sums, row, 16 * own);
            }
        }
        row += 2;
    }
    sums
}

/// Writes a row of `[column][sample]` into a row of a map, whose columns may lie otherwise. `to` is where the map's
/// row begins, halo included.
///
/// # Safety
/// As for [`Simd`]; `from` must hold the row and 16 values more, `to` the map's row.
#[inline(always)]
pub(super) unsafe fn lay_row<S: Simd>(
    from: *const f32,
    layout: &MapLayout,
    samples: usize,
    to: *mut f32,
) {
    // SAFETY: the caller vouches for the pointers; nothing is written outside the columns.
    unsafe {
        if !layout.parity {
            let to = to.add(layout.halo * samples);
            let values = layout.width * samples;
            for at in (0..values).step_by(S::LANES) {
                store_within::<S>(to.add(at), S::load(from.add(at)), values - at);
            }
            return;
        }
        // Two columns on is one place on.
        let mut column = to.add(layout.column(layout.halo) * samples);
        let mut next = to.add(layout.column(layout.halo + 1) * samples);
        let mut from = from;
        let whole = layout.width.saturating_sub(2 * last_columns(samples));
        for x in 0..layout.width {
            match x < whole {
                true => copy_over::<S>(from, samples, column),
                false => copy_column::<S>(from, samples, column),
            }
            (column, next) = (next, column.add(samples));
            from = from.add(samples);
        }
    }
}

/// How many columns at the end of a row [`copy_over`] would write too far for, where a value of each of so many samples is a column.
#[inline(always)]
pub(super) fn last_columns(samples: usize) -> usize {
    15 / samples.max(1)
}

/// Copies whole vectors, of which `samples` values are a column and what is behind them is written later: faster than parts of vectors.
///
/// # Safety
/// As for [`Simd`]; `from` must hold 16 values, `to` have room for them: not one of the [`last_columns`].
#[inline(always)]
pub(super) unsafe fn copy_over<S: Simd>(from: *const f32, samples: usize, to: *mut f32) {
    // No loop: it would become a call of `memcpy`.
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        S::store(to, S::load(from));
        if samples > S::LANES {
            S::store(to.add(S::LANES), S::load(from.add(S::LANES)));
        }
    }
}

/// Copies the values of one column, and nothing else.
///
/// # Safety
/// As for [`Simd`]; `from` must hold 16 values, `to` have room for `samples`.
#[inline(always)]
pub(super) unsafe fn copy_column<S: Simd>(from: *const f32, samples: usize, to: *mut f32) {
    for lane in (0..samples).step_by(S::LANES) {
        // SAFETY: the caller vouches for the pointers.
        unsafe { store_within::<S>(to.add(lane), S::load(from.add(lane)), samples - lane) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_blocks_and_tail_make_the_row() {
        for values in 1..200 {
            let cut = Cut { values };
            assert!(cut.tail() <= 8);
            assert!(16 * cut.own() + cut.tail() >= values);
            assert!(cut.tail() == 0 || 16 * cut.own() + cut.tail() == values);
            assert_eq!(cut.blocks(), cut.own() + usize::from(cut.tail() > 0));
            assert!((values..values + 16).contains(&cut.padded()));
        }
    }
}
