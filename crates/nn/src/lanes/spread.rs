//! Pooled gradients, spread back onto the convolution's output.
#![allow(unsafe_code)]

use super::simd::{self, Group, Simd, Task, load_mask};
use super::{ConvShape, MapLayout};
use crate::isa::Isa;
use std::ops::Range;

/// What the forward pass did after the convolution.
pub(crate) enum Flow<'a> {
    /// Nothing.
    Plain,
    /// Relu: the output it wrote, with its layout.
    Relu(&'a [f32], &'a MapLayout),
    /// 2x2 max-pool and relu: the masks it wrote.
    PoolRelu(&'a [u8]),
}

/// Gradient with respect to the convolution's sums, for the rows `rows` of its output.
///
/// `after` is the gradient behind relu and pool, without halo. `flow` gets `held` rows for each filter, of
/// which the first is output row `first`, or is not wanted. `biases` (`[filter][lane]`) collects the sums over
/// positions.
#[allow(clippy::too_many_arguments)] // a kernel's operands are what it is
pub(crate) fn spread_gradient(
    isa: Isa,
    group: Group,
    shape: &ConvShape,
    kind: Flow,
    after: &[f32],
    rows: Range<usize>,
    flow: Option<&mut [f32]>,
    first: usize,
    held: usize,
    biases: &mut [f32],
) {
    let lanes = group.lanes();
    let outputs = shape.filters * shape.out_height * shape.out_width;
    assert!(first <= rows.start && rows.end <= first + held && rows.end <= shape.out_height);
    let needed = shape.filters * held * shape.out_width * lanes;
    assert!(flow.as_ref().is_none_or(|flow| flow.len() >= needed));
    assert!(biases.len() >= shape.filters * lanes);
    match &kind {
        Flow::Plain => assert!(after.len() >= outputs * lanes),
        Flow::Relu(output, layout) => {
            assert!(after.len() >= outputs * lanes && output.len() >= layout.vectors() * lanes);
            assert!(layout.bare().vectors() == outputs && layout.width == shape.out_width);
            assert!(layout.height == shape.out_height);
        }
        Flow::PoolRelu(masks) => {
            assert!(shape.out_height.is_multiple_of(2) && shape.out_width.is_multiple_of(2));
            assert!(rows.start.is_multiple_of(2) && rows.end.is_multiple_of(2));
            assert!(after.len() >= outputs / 4 * lanes && masks.len() >= outputs / 4 * 8);
        }
    }
    let task = Spread {
        shape,
        kind,
        after,
        rows,
        flow,
        first,
        held,
        biases,
    };
    simd::run(isa, group, task);
}

struct Spread<'a> {
    shape: &'a ConvShape,
    kind: Flow<'a>,
    after: &'a [f32],
    rows: Range<usize>,
    flow: Option<&'a mut [f32]>,
    first: usize,
    held: usize,
    biases: &'a mut [f32],
}

impl Task for Spread<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd, const G: usize>(mut self) {
        for filter in 0..self.shape.filters {
            for lane in (0..G).step_by(S::LANES) {
                // SAFETY: the caller vouches for the instruction set; `spread_gradient` checked the lengths.
                unsafe {
                    let bias = self.biases.as_mut_ptr().add(filter * G + lane);
                    let mut sum = S::load(bias);
                    match self.kind {
                        Flow::Plain => self.rows::<S, G>(filter, lane, &mut sum, None),
                        Flow::Relu(output, layout) => {
                            self.rows::<S, G>(filter, lane, &mut sum, Some((output, layout)));
                        }
                        Flow::PoolRelu(masks) => {
                            self.windows::<S, G>(filter, lane, &mut sum, masks)
                        }
                    }
                    S::store(bias, sum);
                }
            }
        }
    }
}

impl Spread<'_> {
    /// Where a row of the flow starts, if it is wanted.
    #[inline(always)]
    fn flow_row<const G: usize>(
        &mut self,
        filter: usize,
        row: usize,
        lane: usize,
    ) -> Option<*mut f32> {
        let at = (filter * self.held + row - self.first) * self.shape.out_width * G + lane;
        Some(self.flow.as_mut()?[at..].as_mut_ptr())
    }

    #[inline(always)]
    unsafe fn rows<S: Simd, const G: usize>(
        &mut self,
        filter: usize,
        lane: usize,
        sum: &mut S::V,
        relu: Option<(&[f32], &MapLayout)>,
    ) {
        let width = self.shape.out_width;
        for row in self.rows.clone() {
            // SAFETY: as in `run`.
            unsafe {
                let from = (filter * self.shape.out_height + row) * width;
                let from = self.after.as_ptr().add(from * G + lane);
                let to = self.flow_row::<G>(filter, row, lane);
                for x in 0..width {
                    let mut value = S::load(from.add(x * G));
                    if let Some((output, layout)) = relu {
                        let at = layout.origin() + filter * layout.plane() + row * layout.row() + x;
                        let output = S::load(output.as_ptr().add(at * G + lane));
                        value = S::keep(S::greater(output, S::splat(0.0)), value);
                    }
                    *sum = S::add(*sum, value);
                    if let Some(to) = to {
                        S::store(to.add(x * G), value);
                    }
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn windows<S: Simd, const G: usize>(
        &mut self,
        filter: usize,
        lane: usize,
        sum: &mut S::V,
        masks: &[u8],
    ) {
        let width = self.shape.out_width / 2;
        for row in self.rows.start / 2..self.rows.end / 2 {
            // SAFETY: as in `run`.
            unsafe {
                let first = (filter * (self.shape.out_height / 2) + row) * width;
                let upper = self.flow_row::<G>(filter, 2 * row, lane);
                for x in 0..width {
                    let value = S::load(self.after.as_ptr().add((first + x) * G + lane));
                    let mask = masks.as_ptr().add((first + x) * 8 + lane / 8);
                    let a = load_mask::<S>(mask);
                    let b = load_mask::<S>(mask.add(2));
                    let c = load_mask::<S>(mask.add(4));
                    let d = load_mask::<S>(mask.add(6));
                    *sum = S::add(*sum, S::keep(a | b | c | d, value));
                    if let Some(upper) = upper {
                        let lower = upper.add(2 * width * G);
                        S::store(upper.add(2 * x * G), S::keep(a, value));
                        S::store(upper.add((2 * x + 1) * G), S::keep(b, value));
                        S::store(lower.add(2 * x * G), S::keep(c, value));
                        S::store(lower.add((2 * x + 1) * G), S::keep(d, value));
                    }
                }
            }
        }
    }
}
