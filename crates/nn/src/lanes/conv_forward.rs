//! Convolution, bias, and what follows it, in one pass over the output.
#![allow(unsafe_code)]

use super::simd::{self, Group, Simd, Task, store_mask};
use super::{ConvShape, MapLayout, split, tile_channels, with_size};
use crate::isa::Isa;

/// What happens to the sums before they are stored.
pub(crate) enum Finish<'a> {
    /// Nothing.
    Plain,
    /// `max(x, 0)`.
    Relu,
    /// Maximum of 2x2 windows and `max(x, 0)`; 8 bytes per output say which value each lane took:
    /// 16 bits for each of the window's four, no bit where the output is 0.
    PoolRelu(&'a mut [u8]),
}

/// `output = finish(conv(input) + biases)`; `packed` comes from [`ConvShape::pack_forward`].
#[allow(clippy::too_many_arguments)] // a kernel's operands are what it is
pub(crate) fn conv_forward(
    isa: Isa,
    group: Group,
    shape: &ConvShape,
    input: &[f32],
    packed: &[f32],
    biases: &[f32],
    output: &mut [f32],
    layout: &MapLayout,
    finish: Finish,
) {
    let lanes = group.lanes();
    let pooled = matches!(finish, Finish::PoolRelu(_));
    let shrink = if pooled { 2 } else { 1 };
    assert!(input.len() >= shape.input.vectors() * lanes);
    assert!(output.len() >= layout.vectors() * lanes);
    assert!(packed.len() >= shape.weights() && biases.len() >= shape.filters);
    assert!(shape.out_height + shape.kernel <= shape.input.height + 2 * shape.input.halo + 1);
    assert!(shape.out_width + shape.kernel <= shape.input.row() + 1);
    assert!(layout.channels == shape.filters && shape.out_height == layout.height * shrink);
    assert!(shape.out_width == layout.width * shrink);
    if let Finish::PoolRelu(masks) = &finish {
        assert!(masks.len() >= layout.channels * layout.height * layout.width * 8);
    }
    let task = Forward {
        shape,
        input,
        packed,
        biases,
        output,
        layout,
        finish,
    };
    simd::run(isa, group, task);
}

struct Forward<'a> {
    shape: &'a ConvShape,
    input: &'a [f32],
    packed: &'a [f32],
    biases: &'a [f32],
    output: &'a mut [f32],
    layout: &'a MapLayout,
    finish: Finish<'a>,
}

impl Task for Forward<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd, const G: usize>(mut self) {
        // SAFETY: the caller vouches for the instruction set; `conv_forward` checked every length, and the
        // loops stay inside the shapes those lengths were checked against.
        unsafe {
            match self.finish {
                Finish::Plain => self.rows::<S, G>(false),
                Finish::Relu => self.rows::<S, G>(true),
                Finish::PoolRelu(ref mut masks) => {
                    let masks = masks.as_mut_ptr();
                    self.windows::<S, G>(masks);
                }
            }
        }
    }
}

impl Forward<'_> {
    /// Tiles of 2x2 positions, which pooling makes one.
    #[inline(always)]
    unsafe fn windows<S: Simd, const G: usize>(&mut self, masks: *mut u8) {
        let (height, width) = (self.layout.height, self.layout.width);
        for y in 0..height {
            let mut packed = self.packed.as_ptr();
            for (start, size) in split(self.shape.filters, tile_channels(S::WIDE)) {
                // SAFETY: as in `run`.
                unsafe {
                    with_size!(size, tile_channels(S::WIDE), [1, 2, 3, 4, 5, 6], R => {
                        for x in 0..width {
                            self.window::<S, G, R>(packed, start, y, x, masks);
                        }
                    });
                    packed = packed.add(size * self.shape.weights() / self.shape.filters);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn window<S: Simd, const G: usize, const R: usize>(
        &mut self,
        packed: *const f32,
        start: usize,
        y: usize,
        x: usize,
        masks: *mut u8,
    ) {
        let (shape, layout) = (self.shape, self.layout);
        let row = shape.input.row() * G;
        for half in 0..G / S::LANES {
            // SAFETY: as in `run`; half the lanes start `LANES` values later.
            unsafe {
                let from = self
                    .input
                    .as_ptr()
                    .add((2 * y * shape.input.row() + 2 * x) * G + half * S::LANES);
                let offsets = [0, G, row, row + G];
                let sums = tile::<S, G, R, 4>(
                    shape,
                    from,
                    offsets,
                    packed,
                    self.biases.as_ptr().add(start),
                );
                for (r, sums) in sums.iter().enumerate() {
                    let [a, b, c, d] = *sums;
                    let zero = S::splat(0.0);
                    let largest = S::max(S::max(a, b), S::max(c, d));
                    let live = S::greater(largest, zero);
                    let first = S::equal(a, largest) & live;
                    let second = S::equal(b, largest) & live & !first;
                    let third = S::equal(c, largest) & live & !first & !second;
                    let fourth = live & !first & !second & !third;
                    let to = layout.origin() + (start + r) * layout.plane() + y * layout.row() + x;
                    S::store(
                        self.output.as_mut_ptr().add(to * G + half * S::LANES),
                        S::max(zero, largest),
                    );
                    let at = ((start + r) * layout.height + y) * layout.width + x;
                    let mask = masks.add(at * 8 + half);
                    store_mask::<S>(mask, first);
                    store_mask::<S>(mask.add(2), second);
                    store_mask::<S>(mask.add(4), third);
                    store_mask::<S>(mask.add(6), fourth);
                }
            }
        }
    }

    /// Tiles of 4 positions in a row; the last one reaches back over what is already done.
    #[inline(always)]
    unsafe fn rows<S: Simd, const G: usize>(&mut self, relu: bool) {
        let width = self.layout.width;
        for y in 0..self.layout.height {
            let mut packed = self.packed.as_ptr();
            for (start, size) in split(self.shape.filters, tile_channels(S::WIDE)) {
                // SAFETY: as in `run`.
                unsafe {
                    with_size!(size, tile_channels(S::WIDE), [1, 2, 3, 4, 5, 6], R => {
                        if width < 4 {
                            for x in 0..width {
                                self.stretch::<S, G, R, 1>(packed, start, y, x, relu);
                            }
                        } else {
                            for x in (0..width).step_by(4) {
                                self.stretch::<S, G, R, 4>(packed, start, y, x.min(width - 4), relu);
                            }
                        }
                    });
                    packed = packed.add(size * self.shape.weights() / self.shape.filters);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn stretch<S: Simd, const G: usize, const R: usize, const P: usize>(
        &mut self,
        packed: *const f32,
        start: usize,
        y: usize,
        x: usize,
        relu: bool,
    ) {
        let (shape, layout) = (self.shape, self.layout);
        for half in 0..G / S::LANES {
            // SAFETY: as in `window`.
            unsafe {
                let from = self
                    .input
                    .as_ptr()
                    .add((y * shape.input.row() + x) * G + half * S::LANES);
                let mut offsets = [0; P];
                for (p, offset) in offsets.iter_mut().enumerate() {
                    *offset = p * G;
                }
                let sums = tile::<S, G, R, P>(
                    shape,
                    from,
                    offsets,
                    packed,
                    self.biases.as_ptr().add(start),
                );
                for (r, sums) in sums.iter().enumerate() {
                    for (p, sum) in sums.iter().enumerate() {
                        let value = if relu {
                            S::max(S::splat(0.0), *sum)
                        } else {
                            *sum
                        };
                        let to = layout.origin()
                            + (start + r) * layout.plane()
                            + y * layout.row()
                            + x
                            + p;
                        S::store(
                            self.output.as_mut_ptr().add(to * G + half * S::LANES),
                            value,
                        );
                    }
                }
            }
        }
    }
}

/// `R` filters at `P` positions, all sums in registers: bias first, then channel, row and column of the kernel.
///
/// # Safety
/// `from` plus each offset must be the first of `kernel` x `kernel` vectors in every channel.
#[inline(always)]
unsafe fn tile<S: Simd, const G: usize, const R: usize, const P: usize>(
    shape: &ConvShape,
    from: *const f32,
    offsets: [usize; P],
    packed: *const f32,
    biases: *const f32,
) -> [[S::V; P]; R] {
    let (plane, row) = (shape.input.plane() * G, shape.input.row() * G);
    // SAFETY: the caller vouches for the positions; `packed` holds `R` weights for each step of the loops.
    unsafe {
        let mut sums = [[S::splat(0.0); P]; R];
        for (r, sums) in sums.iter_mut().enumerate() {
            *sums = [S::splat(*biases.add(r)); P];
        }
        let mut weight = packed;
        for channel in 0..shape.input.channels {
            for ky in 0..shape.kernel {
                let mut at = from.add(channel * plane + ky * row);
                for _ in 0..shape.kernel {
                    let mut values = [S::splat(0.0); P];
                    for p in 0..P {
                        values[p] = S::load(at.add(offsets[p]));
                    }
                    for r in 0..R {
                        let w = S::splat(*weight.add(r));
                        for p in 0..P {
                            sums[r][p] = S::fma(w, values[p], sums[r][p]);
                        }
                    }
                    weight = weight.add(R);
                    at = at.add(G);
                }
            }
        }
        sums
    }
}
