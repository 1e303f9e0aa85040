//! Gradients behind relu and pool, spread back onto the convolution's output.
#![allow(unsafe_code)]

use super::rows::Cut;
use super::simd::{self, Simd, Task, first_lanes, load_mask, store_within};
use super::{ConvShape, SLACK};
use crate::isa::Isa;
use std::ops::Range;

/// Rows of gradient with respect to a convolution's sums, `[filter][row][column][sample]`, with [`SLACK`] zeros
/// before and behind every row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Strip {
    /// The output row that is the first.
    pub(crate) first: usize,
    /// Rows for each filter.
    pub(crate) held: usize,
}

impl Strip {
    /// Values from one row to the next.
    pub(crate) fn row(shape: &ConvShape, samples: usize) -> usize {
        Cut::new(shape.out_width, samples).padded() + SLACK
    }

    /// Values in all.
    pub(crate) fn values(shape: &ConvShape, samples: usize, held: usize) -> usize {
        shape.filters * held * Strip::row(shape, samples) + SLACK
    }

    /// Where an output row lies.
    #[inline(always)]
    pub(super) fn row_start(
        &self,
        shape: &ConvShape,
        samples: usize,
        filter: usize,
        row: usize,
    ) -> usize {
        (filter * self.held + row - self.first) * Strip::row(shape, samples) + SLACK
    }

    pub(super) fn holds(&self, rows: &Range<usize>) -> bool {
        self.first <= rows.start && rows.end <= self.first + self.held
    }

    pub(super) fn check(&self, shape: &ConvShape, samples: usize, flow: &[f32]) {
        assert!(flow.len() >= Strip::values(shape, samples, self.held));
    }
}

/// What the forward pass did after the convolution.
#[derive(Clone, Copy)]
pub(crate) enum Flow<'a> {
    /// Nothing.
    Plain,
    /// Relu: the masks it wrote.
    Relu(&'a [u8]),
    /// 2x2 max-pool and relu: the masks they wrote.
    PoolRelu(&'a [u8]),
}

/// Which of a 2x2 window's values was the largest, and whether it is above 0: 16 bits each for a block of 16 windows.
pub(super) struct Winner;

impl Winner {
    /// In the right column.
    pub(super) const RIGHT: usize = 0;
    /// In the lower row.
    pub(super) const LOWER: usize = 1;
    /// Above 0; where it is not, the others are not set either.
    pub(super) const LIVE: usize = 2;

    /// The lanes in which the winner is in each of the four places, row by row.
    #[inline(always)]
    fn places(part: impl Fn(usize) -> u16) -> [u16; 4] {
        let (right, lower) = (part(Winner::RIGHT), part(Winner::LOWER));
        let upper = part(Winner::LIVE) & !lower;
        [upper & !right, upper & right, lower & !right, lower & right]
    }
}

/// The [`Winner`]s of a row's windows, read a column at a time.
struct Winners {
    /// The next block of them.
    block: *const u8,
    /// Lanes that are read and not yet taken, lowest first.
    held: [u32; 3],
    lanes: usize,
}

impl Winners {
    fn of(row: *const u8) -> Self {
        Self {
            block: row,
            held: [0; 3],
            lanes: 0,
        }
    }

    /// Makes sure that so many lanes are held, 16 at most.
    ///
    /// # Safety
    /// The row must have them.
    #[inline(always)]
    unsafe fn hold(&mut self, lanes: usize) {
        if self.lanes >= lanes {
            return;
        }
        for (part, held) in self.held.iter_mut().enumerate() {
            // SAFETY: the caller vouches for another block.
            let bits = unsafe { self.block.add(2 * part).cast::<[u8; 2]>().read() };
            *held |= u32::from(u16::from_le_bytes(bits)) << self.lanes;
        }
        self.block = self.block.wrapping_add(8);
        self.lanes += 16;
    }

    /// Lets go of lanes that were held.
    #[inline(always)]
    fn release(&mut self, lanes: usize) {
        self.held = self.held.map(|held| held >> lanes);
        self.lanes -= lanes;
    }
}

/// Gradient with respect to the convolution's sums, for the rows `rows` of its output.
///
/// `after` is the gradient behind relu and pool, without halo. `flow` is the strip that gets it, or it is not wanted.
/// Behind a pool `windows` gets it too, if that is wanted: `[filter][row of windows][place of four][column][sample]` with rows padded to
/// whole blocks. `biases` (`[filter][lane]`) collects the sums over positions.
#[allow(clippy::too_many_arguments)] // a kernel's operands are what it is
pub(crate) fn spread_gradient(
    isa: Isa,
    samples: usize,
    shape: &ConvShape,
    kind: Flow,
    after: &[f32],
    rows: Range<usize>,
    flow: Option<&mut [f32]>,
    strip: Strip,
    windows: Option<&mut [f32]>,
    biases: &mut [f32],
) {
    let pooled = matches!(kind, Flow::PoolRelu(_));
    let shrink = if pooled { 2 } else { 1 };
    let cut = Cut::new(shape.out_width / shrink, samples);
    let all = shape.filters * (shape.out_height / shrink);
    assert!(strip.holds(&rows) && rows.end <= shape.out_height);
    if let Some(flow) = &flow {
        strip.check(shape, samples, flow);
    }
    assert!(biases.len() >= shape.filters * 16);
    assert!(after.len() >= all * cut.values + SLACK);
    match kind {
        Flow::Plain => {}
        Flow::Relu(masks) => assert!(masks.len() >= all * cut.blocks() * 2),
        Flow::PoolRelu(masks) => {
            assert!(shape.out_height.is_multiple_of(2) && shape.out_width.is_multiple_of(2));
            assert!(rows.start.is_multiple_of(2) && rows.end.is_multiple_of(2));
            assert!(masks.len() >= all * cut.blocks() * 8);
            if let Some(windows) = &windows {
                let held = shape.filters * rows.len() / 2;
                assert!(windows.len() >= held * 4 * cut.padded() + SLACK);
            }
        }
    }
    let task = Spread {
        shape,
        samples,
        cut,
        kind,
        after,
        rows: rows.start / shrink..rows.end / shrink,
        flow,
        strip,
        windows,
        biases,
    };
    simd::run(isa, task);
}

struct Spread<'a> {
    shape: &'a ConvShape,
    samples: usize,
    cut: Cut,
    kind: Flow<'a>,
    after: &'a [f32],
    /// Rows of windows, behind a pool.
    rows: Range<usize>,
    flow: Option<&'a mut [f32]>,
    strip: Strip,
    windows: Option<&'a mut [f32]>,
    biases: &'a mut [f32],
}

impl Task for Spread<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(mut self) {
        let height = match self.kind {
            Flow::PoolRelu(_) => self.shape.out_height / 2,
            _ => self.shape.out_height,
        };
        for filter in 0..self.shape.filters {
            // SAFETY: the caller vouches for the instruction set; `spread_gradient` checked the lengths.
            unsafe {
                let bias = self.biases.as_mut_ptr().add(filter * 16);
                let mut sums = [S::splat(0.0); 2];
                for half in 0..16 / S::LANES {
                    sums[half] = S::load(bias.add(half * S::LANES));
                }
                for row in self.rows.clone() {
                    let at = filter * height + row;
                    let from = self.after.as_ptr().add(at * self.cut.values);
                    let blocks = at * self.cut.blocks();
                    match self.kind {
                        Flow::Plain => self.row::<S>(filter, row, from, None, &mut sums),
                        Flow::Relu(masks) => {
                            let masks = masks.as_ptr().add(2 * blocks);
                            self.row::<S>(filter, row, from, Some(masks), &mut sums);
                        }
                        Flow::PoolRelu(masks) => {
                            let masks = masks.as_ptr().add(8 * blocks);
                            self.windows::<S>(filter, row, from, masks, &mut sums);
                        }
                    }
                }
                for half in 0..16 / S::LANES {
                    S::store(bias.add(half * S::LANES), sums[half]);
                }
            }
        }
    }
}

impl Spread<'_> {
    /// Where a row of the strip begins, if it is wanted; the values around it are zero from here on.
    #[inline(always)]
    unsafe fn flow_row<S: Simd>(&mut self, filter: usize, row: usize) -> Option<*mut f32> {
        let at = self.strip.row_start(self.shape, self.samples, filter, row);
        let padded = Cut::new(self.shape.out_width, self.samples).padded();
        let to = self.flow.as_mut()?[at..].as_mut_ptr();
        for lane in (0..SLACK).step_by(S::LANES) {
            // SAFETY: there is `SLACK` before and behind every row.
            unsafe {
                S::store(to.sub(SLACK).add(lane), S::splat(0.0));
                S::store(to.add(padded + lane), S::splat(0.0));
                // What of the last block is not zero is written after this.
                S::store(to.add(padded - SLACK + lane), S::splat(0.0));
            }
        }
        Some(to)
    }

    #[inline(always)]
    unsafe fn row<S: Simd>(
        &mut self,
        filter: usize,
        row: usize,
        from: *const f32,
        masks: Option<*const u8>,
        sums: &mut [S::V; 2],
    ) {
        // SAFETY: as in `run`.
        unsafe {
            let to = self.flow_row::<S>(filter, row);
            for block in 0..self.cut.blocks() {
                for half in 0..16 / S::LANES {
                    let at = 16 * block + half * S::LANES;
                    let live = match masks {
                        Some(masks) => load_mask::<S>(masks.add(at / 8)),
                        None => first_lanes(self.cut.values.saturating_sub(at)),
                    };
                    // Nothing is loaded where a row has no second half of its last block.
                    let value = match at < self.cut.values {
                        true => S::keep(live, S::load(from.add(at))),
                        false => S::splat(0.0),
                    };
                    sums[half] = S::add(sums[half], value);
                    if let Some(to) = to {
                        S::store(to.add(at), value);
                    }
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn windows<S: Simd>(
        &mut self,
        filter: usize,
        row: usize,
        from: *const f32,
        masks: *const u8,
        sums: &mut [S::V; 2],
    ) {
        let (padded, blocks) = (self.cut.padded(), self.cut.blocks());
        let kept = (filter * self.rows.len() + row - self.rows.start) * 4 * padded;
        // SAFETY: as in `run`.
        unsafe {
            for block in 0..blocks {
                for half in 0..16 / S::LANES {
                    let at = 16 * block + half * S::LANES;
                    if at >= self.cut.values {
                        continue;
                    }
                    let mask = |part: usize| load_mask::<S>(masks.add(8 * block + 2 * part + half));
                    let value = S::load(from.add(at));
                    sums[half] = S::add(sums[half], S::keep(mask(Winner::LIVE), value));
                    if let Some(windows) = &mut self.windows {
                        let to = windows.as_mut_ptr().add(kept + at);
                        for (place, mask) in Winner::places(mask).into_iter().enumerate() {
                            S::store(to.add(place * padded), S::keep(mask, value));
                        }
                    }
                }
            }
            let upper = self.flow_row::<S>(filter, 2 * row);
            let lower = self.flow_row::<S>(filter, 2 * row + 1);
            let (Some(upper), Some(lower)) = (upper, lower) else {
                return;
            };
            let mut winners = Winners::of(masks);
            for x in 0..self.shape.out_width / 2 {
                winners.hold(self.samples);
                for half in 0..16 / S::LANES {
                    let lane = half * S::LANES;
                    if lane >= self.samples {
                        continue;
                    }
                    let left = self.samples - lane;
                    // A vector with room for all samples is stored as a whole: zeros behind a column are written over, or behind the row.
                    let room = if S::LANES == 16 { 16 } else { left };
                    let value = S::load(from.add(x * self.samples + lane));
                    let value = S::keep(first_lanes(left), value);
                    let places = Winner::places(|part| (winners.held[part] >> lane) as u16);
                    for (place, mask) in places.into_iter().enumerate() {
                        let to = [upper, lower][place / 2];
                        let to = to.add((2 * x + place % 2) * self.samples + lane);
                        store_within::<S>(to, S::keep(mask, value), room);
                    }
                }
                winners.release(self.samples);
            }
        }
    }
}
