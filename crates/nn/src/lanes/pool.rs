//! Max-pooling and relu on their own, where no convolution could take them along.
#![allow(unsafe_code)]

use super::rows::lay_row;
use super::simd::{self, Simd, Task, store_within};
use super::{MapLayout, SLACK};
use crate::isa::Isa;

/// Max-pooling of any window side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pool {
    /// The input, without halo.
    pub(crate) input: MapLayout,
    pub(crate) output: MapLayout,
    pub(crate) size: usize,
}

impl Pool {
    fn check(&self) {
        assert!(self.input.halo == 0 && !self.input.parity);
        assert!(self.input.channels == self.output.channels);
        assert!(self.output.height * self.size <= self.input.height);
        assert!(self.output.width * self.size <= self.input.width);
    }

    /// Places in the window of output `(channel, y, x)` begin at this input position.
    #[inline(always)]
    fn window(&self, channel: usize, y: usize, x: usize) -> usize {
        (channel * self.input.height + y * self.size) * self.input.width + x * self.size
    }

    /// The output position of `(channel, y, x)` in a map without halo.
    #[inline(always)]
    fn place(&self, channel: usize, y: usize, x: usize) -> usize {
        (channel * self.output.height + y) * self.output.width + x
    }
}

/// Largest value of every window; `winners` keeps which place of the window it was, as a f32 per lane.
pub(crate) fn max_pool(
    isa: Isa,
    samples: usize,
    pool: &Pool,
    input: &[f32],
    winners: &mut [f32],
    output: &mut [f32],
) {
    pool.check();
    assert!(input.len() >= pool.input.positions() * samples + SLACK);
    assert!(winners.len() >= pool.output.values() * samples + SLACK);
    assert!(output.len() >= pool.output.positions() * samples);
    let task = MaxPool {
        pool,
        samples,
        input,
        winners,
        output,
    };
    simd::run(isa, task);
}

struct MaxPool<'a> {
    pool: &'a Pool,
    samples: usize,
    input: &'a [f32],
    winners: &'a mut [f32],
    output: &'a mut [f32],
}

impl Task for MaxPool<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let Pool {
            input,
            output,
            size,
        } = *self.pool;
        let samples = self.samples;
        for channel in 0..output.channels {
            for y in 0..output.height {
                for x in 0..output.width {
                    for lane in (0..samples).step_by(S::LANES) {
                        // SAFETY: the caller vouches for the instruction set; `max_pool` checked the lengths and
                        // that all windows lie inside the input.
                        unsafe {
                            let first = self.pool.window(channel, y, x);
                            let from = self.input.as_ptr().add(first * samples + lane);
                            let (mut largest, mut winner) = (S::load(from), S::splat(0.0));
                            for place in 1..size * size {
                                let at = place / size * input.width + place % size;
                                let value = S::load(from.add(at * samples));
                                let better = S::greater(value, largest);
                                largest = S::max(value, largest);
                                winner = S::select(better, S::splat(place as f32), winner);
                            }
                            let to = self.pool.place(channel, y, x) * samples + lane;
                            let room = samples - lane;
                            store_within::<S>(self.winners.as_mut_ptr().add(to), winner, room);
                            let to = output.row_start(channel, y) + output.column(output.halo + x);
                            let to = self.output.as_mut_ptr().add(to * samples + lane);
                            store_within::<S>(to, largest, room);
                        }
                    }
                }
            }
        }
    }
}

/// Hands each output's gradient to the place that won; all others get 0. Neither gradient has a halo.
pub(crate) fn max_pool_grad(
    isa: Isa,
    samples: usize,
    pool: &Pool,
    winners: &[f32],
    flow: &[f32],
    gradient: &mut [f32],
) {
    pool.check();
    assert!(winners.len() >= pool.output.values() * samples + SLACK);
    assert!(flow.len() >= pool.output.values() * samples + SLACK);
    // Rows and columns that no window reaches would keep an old gradient.
    gradient[..pool.input.positions() * samples].fill(0.0);
    let task = MaxPoolGrad {
        pool,
        samples,
        winners,
        flow,
        gradient,
    };
    simd::run(isa, task);
}

struct MaxPoolGrad<'a> {
    pool: &'a Pool,
    samples: usize,
    winners: &'a [f32],
    flow: &'a [f32],
    gradient: &'a mut [f32],
}

impl Task for MaxPoolGrad<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let Pool {
            input,
            output,
            size,
        } = *self.pool;
        let samples = self.samples;
        for channel in 0..output.channels {
            for y in 0..output.height {
                for x in 0..output.width {
                    for lane in (0..samples).step_by(S::LANES) {
                        // SAFETY: as in `MaxPool::run`, with `max_pool_grad` as the checker.
                        unsafe {
                            let at = self.pool.place(channel, y, x) * samples + lane;
                            let winner = S::load(self.winners.as_ptr().add(at));
                            let value = S::load(self.flow.as_ptr().add(at));
                            let first = self.pool.window(channel, y, x);
                            let to = self.gradient.as_mut_ptr().add(first * samples + lane);
                            for place in 0..size * size {
                                let won = S::equal(winner, S::splat(place as f32));
                                let at = place / size * input.width + place % size;
                                let value = S::keep(won, value);
                                store_within::<S>(to.add(at * samples), value, samples - lane);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// `output = max(input, 0)`; the input has no halo and its columns in their order. `scratch` has room for an output row
/// and [`SLACK`].
pub(crate) fn relu(
    isa: Isa,
    samples: usize,
    input: &[f32],
    layout: &MapLayout,
    scratch: &mut [f32],
    output: &mut [f32],
) {
    assert!(input.len() >= layout.values() * samples + SLACK);
    assert!(scratch.len() >= layout.width * samples + SLACK);
    assert!(output.len() >= layout.positions() * samples);
    let task = Relu {
        samples,
        input,
        layout,
        scratch,
        output,
    };
    simd::run(isa, task);
}

struct Relu<'a> {
    samples: usize,
    input: &'a [f32],
    layout: &'a MapLayout,
    scratch: &'a mut [f32],
    output: &'a mut [f32],
}

impl Task for Relu<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let (layout, values) = (self.layout, self.layout.width * self.samples);
        for row in 0..layout.channels * layout.height {
            // SAFETY: the caller vouches for the instruction set; `relu` checked the lengths.
            unsafe {
                for at in (0..values).step_by(S::LANES) {
                    let value = S::load(self.input.as_ptr().add(row * values + at));
                    let to = self.scratch.as_mut_ptr().add(at);
                    S::store(to, S::max(S::splat(0.0), value));
                }
                let to = layout.row_start(row / layout.height, row % layout.height);
                let to = self.output.as_mut_ptr().add(to * self.samples);
                lay_row::<S>(self.scratch.as_ptr(), layout, self.samples, to);
            }
        }
    }
}
