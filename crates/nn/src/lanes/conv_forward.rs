//! Convolution, bias, and what follows it, in one pass over the output.
#![allow(unsafe_code)]

use super::rows::{Cut, Visit, each_vector, lay_row};
use super::simd::{self, Simd, Task, first_lanes, store_mask};
use super::spread::Winner;
use super::{ConvShape, MapLayout, SLACK, split, tile_channels, with_size};
use crate::isa::Isa;

/// What happens to the sums before they are stored.
pub(crate) enum Finish<'a> {
    /// Nothing.
    Plain,
    /// `max(x, 0)`; 2 bytes for each block of 16 outputs say which are above 0.
    Relu(&'a mut [u8]),
    /// Maximum of 2x2 windows and `max(x, 0)`; 8 bytes for each block of 16 outputs are its [`Winner`]s.
    PoolRelu(&'a mut [u8]),
}

/// `output = finish(conv(input) + biases)`; `packed` comes from [`ConvShape::pack_forward`], `scratch` has room for
/// some output rows of every filter of a register tile ([`scratch_values`]).
#[allow(clippy::too_many_arguments)] // a kernel's operands are what it is
pub(crate) fn conv_forward(
    isa: Isa,
    samples: usize,
    shape: &ConvShape,
    input: &[f32],
    packed: &[f32],
    biases: &[f32],
    scratch: &mut [f32],
    output: &mut [f32],
    layout: &MapLayout,
    finish: Finish,
) {
    let pooled = matches!(finish, Finish::PoolRelu(_));
    let shrink = if pooled { 2 } else { 1 };
    let cut = Cut::new(layout.width, samples);
    let blocks = layout.channels * layout.height * cut.blocks();
    shape.check();
    assert!(shape.input.parity == pooled);
    assert!(input.len() >= shape.input.positions() * samples + SLACK);
    assert!(output.len() >= layout.positions() * samples);
    assert!(packed.len() >= shape.weights() && biases.len() >= shape.filters);
    assert!(scratch.len() >= scratch_values(cut));
    assert!(layout.channels == shape.filters && shape.out_height == layout.height * shrink);
    assert!(shape.out_width == layout.width * shrink);
    match &finish {
        Finish::Plain => {}
        Finish::Relu(masks) => assert!(masks.len() >= 2 * blocks),
        Finish::PoolRelu(masks) => assert!(masks.len() >= 8 * blocks),
    }
    let task = Forward {
        shape,
        samples,
        cut,
        input,
        packed,
        biases,
        scratch,
        output,
        layout,
        finish,
    };
    simd::run(isa, task);
}

/// Room that [`conv_forward`] needs for rows of its output.
pub(crate) fn scratch_values(cut: Cut) -> usize {
    tile_channels(true) * MOST_ROWS * cut.padded() + SLACK
}

/// Output rows that are found together, at most.
const MOST_ROWS: usize = 4;

/// Output rows that are found together: four where they can share the vector of what is left at their ends.
fn rows_together(cut: Cut, lanes: usize, pooled: bool) -> usize {
    match cut.tail() {
        1..=4 if lanes == 16 && pooled => MOST_ROWS,
        _ => 2,
    }
}

struct Forward<'a> {
    shape: &'a ConvShape,
    samples: usize,
    cut: Cut,
    input: &'a [f32],
    packed: &'a [f32],
    biases: &'a [f32],
    scratch: &'a mut [f32],
    output: &'a mut [f32],
    layout: &'a MapLayout,
    finish: Finish<'a>,
}

impl Task for Forward<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(mut self) {
        let height = self.layout.height;
        let pooled = matches!(self.finish, Finish::PoolRelu(_));
        let together = rows_together(self.cut, S::LANES, pooled);
        for y in (0..height).step_by(together) {
            let mut packed = self.packed.as_ptr();
            for (start, size) in split(self.shape.filters, tile_channels(S::WIDE)) {
                // SAFETY: the caller vouches for the instruction set; `conv_forward` checked every length, and the
                // loops stay inside the shapes those lengths were checked against.
                unsafe {
                    with_size!(size, tile_channels(S::WIDE), [1, 2, 3, 4, 5, 6], R => {
                        self.rows::<S, R>(packed, start, y, (height - y).min(together));
                    });
                    packed = packed.add(size * self.shape.weights() / self.shape.filters);
                }
            }
        }
    }
}

/// Some output rows of `R` filters.
struct Rows<'a, const R: usize> {
    shape: &'a ConvShape,
    samples: usize,
    cut: Cut,
    input: *const f32,
    packed: *const f32,
    biases: *const f32,
    /// `[filter][row]`, room for [`MOST_ROWS`].
    scratch: *mut f32,
    /// Of row `first` of the tile's first filter.
    masks: *mut u8,
    /// Bytes from one filter's masks to the next.
    mask_plane: usize,
    first: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Relu,
    PoolRelu,
}

impl Forward<'_> {
    #[inline(always)]
    unsafe fn rows<S: Simd, const R: usize>(
        &mut self,
        packed: *const f32,
        start: usize,
        first: usize,
        count: usize,
    ) {
        let (layout, samples, cut) = (self.layout, self.samples, self.cut);
        let (kind, masks, bytes) = match &mut self.finish {
            Finish::Plain => (Kind::Plain, std::ptr::null_mut(), 0),
            Finish::Relu(masks) => (Kind::Relu, masks.as_mut_ptr(), 2 * cut.blocks()),
            Finish::PoolRelu(masks) => (Kind::PoolRelu, masks.as_mut_ptr(), 8 * cut.blocks()),
        };
        // SAFETY: as in `run`.
        unsafe {
            let rows: Rows<'_, R> = Rows {
                shape: self.shape,
                samples,
                cut,
                input: self.input.as_ptr(),
                packed,
                biases: self.biases.as_ptr().add(start),
                scratch: self.scratch.as_mut_ptr(),
                masks: masks.wrapping_add((start * layout.height + first) * bytes),
                mask_plane: layout.height * bytes,
                first,
                kind,
            };
            if kind == Kind::PoolRelu {
                if count == MOST_ROWS {
                    rows.share_ends::<S>();
                } else {
                    for half in 0..16 / S::LANES {
                        each_vector::<S, _>(cut, first..first + count, half, &rows, ());
                    }
                }
            } else {
                for row in first..first + count {
                    rows.row::<S>(row);
                }
            }
            for r in 0..R {
                for row in 0..count {
                    let from = self
                        .scratch
                        .as_ptr()
                        .add((MOST_ROWS * r + row) * cut.padded());
                    let to = layout.row_start(start + r, first + row) * samples;
                    lay_row::<S>(from, layout, samples, self.output.as_mut_ptr().add(to));
                }
            }
        }
    }
}

impl<S: Simd, const R: usize> Visit<S> for Rows<'_, R> {
    type Sums = ();

    #[inline(always)]
    unsafe fn vector<const JOINED: bool>(&self, _: (), row: usize, offset: usize) {
        // SAFETY: the caller keeps the contract.
        unsafe {
            match JOINED {
                true => self.pool::<S, 2>(row, offset),
                false => self.pool::<S, 1>(row, offset),
            }
        }
    }
}

impl<const R: usize> Rows<'_, R> {
    /// Four rows of windows, which share a vector for the values at their ends.
    #[inline(always)]
    unsafe fn share_ends<S: Simd>(&self) {
        // SAFETY: as in `Forward::run`.
        unsafe {
            for row in self.first..self.first + MOST_ROWS {
                for block in 0..self.cut.own() {
                    self.pool::<S, 1>(row, 16 * block);
                }
            }
            self.pool::<S, 4>(self.first, 16 * self.cut.own());
        }
    }

    /// Pools four sums of a vector, or of one that `JOINED` rows share.
    #[inline(always)]
    unsafe fn pool<S: Simd, const JOINED: usize>(&self, row: usize, offset: usize) {
        let below = self.shape.input.row() * self.samples;
        // SAFETY: as in `Forward::run`; a vector reaches `SLACK` beyond its row at most.
        unsafe {
            let from = self.input.add(2 * row * below + offset);
            let sums = self.tile::<S, 4, true, JOINED>(from);
            let own = match JOINED {
                1 => first_lanes(self.cut.values - offset),
                2 => first_lanes(self.cut.tail()) * 0x101,
                _ => first_lanes(self.cut.tail()) * 0x1111,
            };
            let zero = S::splat(0.0);
            for (r, sums) in sums.iter().enumerate() {
                let [a, b, c, d] = *sums;
                let largest = S::max(S::max(a, b), S::max(c, d));
                let live = S::greater(largest, zero) & own;
                // The first of equals.
                let (a, b, c) = (
                    S::equal(a, largest),
                    S::equal(b, largest),
                    S::equal(c, largest),
                );
                let lower = !(a | b) & live;
                let right = (!a & b | lower & !c) & live;
                let mut masks = [0; 4];
                masks[Winner::RIGHT] = right;
                masks[Winner::LOWER] = lower;
                masks[Winner::LIVE] = live;
                self.store::<S, 4, JOINED>(r, row, offset, S::max(zero, largest), masks);
            }
        }
    }

    /// A row without pooling: 4 vectors at a time, the last four reaching back over what is already done.
    #[inline(always)]
    unsafe fn row<S: Simd>(&self, row: usize) {
        let vectors = self.cut.values.div_ceil(S::LANES);
        // SAFETY: as in `Forward::run`.
        unsafe {
            if vectors < 4 {
                for vector in 0..vectors {
                    self.stretch::<S, 1>(row, vector * S::LANES);
                }
            } else {
                for vector in (0..vectors).step_by(4) {
                    self.stretch::<S, 4>(row, vector.min(vectors - 4) * S::LANES);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn stretch<S: Simd, const P: usize>(&self, row: usize, offset: usize) {
        // SAFETY: as in `vector`.
        unsafe {
            let from = self.input.add(row * self.shape.input.row() * self.samples);
            let sums = self.tile::<S, P, false, 1>(from.add(offset));
            for (r, sums) in sums.iter().enumerate() {
                for (p, sum) in sums.iter().enumerate() {
                    let at = offset + p * S::LANES;
                    let value = match self.kind {
                        Kind::Plain => *sum,
                        _ => S::max(S::splat(0.0), *sum),
                    };
                    let live = S::greater(value, S::splat(0.0)) & first_lanes(self.cut.values - at);
                    self.store::<S, 1, 1>(r, row, at, value, [live]);
                }
            }
        }
    }

    /// A vector of outputs and its masks.
    #[inline(always)]
    unsafe fn store<S: Simd, const M: usize, const JOINED: usize>(
        &self,
        r: usize,
        row: usize,
        offset: usize,
        value: S::V,
        masks: [u16; M],
    ) {
        let (row, padded) = (row - self.first, self.cut.padded());
        // SAFETY: as in `Forward::run`.
        unsafe {
            let to = self.scratch.add((MOST_ROWS * r + row) * padded + offset);
            match JOINED {
                1 => S::store(to, value),
                2 => S::store_two(to, to.add(padded), value),
                _ => S::store_four(to, padded, value),
            }
            if self.kind == Kind::Plain {
                return;
            }
            let blocks = 2 * M * self.cut.blocks();
            let to = self.masks.add(r * self.mask_plane + row * blocks);
            let to = to.add(2 * M * (offset / 16) + offset % 16 / 8);
            for (m, mask) in masks.iter().enumerate() {
                let to = to.add(2 * m);
                if JOINED == 1 {
                    store_mask::<S>(to, *mask);
                    continue;
                }
                let lanes = 16 / JOINED;
                for row in 0..JOINED {
                    let part = mask >> (row * lanes) & first_lanes(lanes);
                    store_mask::<S>(to.add(row * blocks), part);
                }
            }
        }
    }

    /// `R` filters at `P` vectors, all sums in registers: bias first, then channel, row and column of the kernel. The
    /// vectors are neighbours, or (`POOLED`) the four places of windows.
    ///
    /// # Safety
    /// `from` must be where the first tap of the first vector lies in the first channel.
    #[inline(always)]
    unsafe fn tile<S: Simd, const P: usize, const POOLED: bool, const JOINED: usize>(
        &self,
        from: *const f32,
    ) -> [[S::V; P]; R] {
        let (shape, samples) = (self.shape, self.samples);
        let (plane, row) = (shape.input.plane() * samples, shape.input.row() * samples);
        // From one row of windows to the next.
        let joined = 2 * row;
        let second = shape.input.column(1) * samples;
        // SAFETY: the caller vouches for the positions; `packed` holds `R` weights for each step of the loops.
        unsafe {
            let mut sums = [[S::splat(0.0); P]; R];
            for (r, sums) in sums.iter_mut().enumerate() {
                *sums = [S::splat(*self.biases.add(r)); P];
            }
            let mut weight = self.packed;
            for channel in 0..shape.input.channels {
                for ky in 0..shape.kernel {
                    let mut at = from.add(channel * plane + ky * row);
                    let mut next = at.add(second);
                    for _ in 0..shape.kernel {
                        let mut values = [S::splat(0.0); P];
                        for p in 0..P {
                            let place = match (POOLED, p % 2) {
                                (false, _) => at.add(p * S::LANES),
                                (true, 0) => at.add(p / 2 * row),
                                (true, _) => next.add(p / 2 * row),
                            };
                            values[p] = match JOINED {
                                1 => S::load(place),
                                2 => S::load_two(place, place.add(joined)),
                                _ => S::load_four(place, joined),
                            };
                        }
                        for r in 0..R {
                            let w = S::splat(*weight.add(r));
                            for p in 0..P {
                                sums[r][p] = S::fma(w, values[p], sums[r][p]);
                            }
                        }
                        weight = weight.add(R);
                        // With columns apart by parity, two columns on is one place on.
                        if POOLED {
                            (at, next) = (next, at.add(samples));
                        } else {
                            at = at.add(samples);
                        }
                    }
                }
            }
            sums
        }
    }
}
