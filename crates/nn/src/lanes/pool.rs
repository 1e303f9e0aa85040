//! Max-pooling and relu on their own, where no convolution could take them along.
#![allow(unsafe_code)]

use super::MapLayout;
use super::simd::{self, Group, Simd, Task};
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
        assert!(self.input.halo == 0 && self.input.channels == self.output.channels);
        assert!(self.output.height * self.size <= self.input.height);
        assert!(self.output.width * self.size <= self.input.width);
    }

    /// Places in the window of output `(channel, y, x)` begin at this input vector.
    #[inline(always)]
    fn window(&self, channel: usize, y: usize, x: usize) -> usize {
        (channel * self.input.height + y * self.size) * self.input.width + x * self.size
    }

    /// The output vector of `(channel, y, x)` in a map without halo.
    #[inline(always)]
    fn place(&self, channel: usize, y: usize, x: usize) -> usize {
        (channel * self.output.height + y) * self.output.width + x
    }
}

/// Largest value of every window; `winners` keeps which place of the window it was, as a f32 per lane.
pub(crate) fn max_pool(
    isa: Isa,
    group: Group,
    pool: &Pool,
    input: &[f32],
    winners: &mut [f32],
    output: &mut [f32],
) {
    pool.check();
    assert!(input.len() >= pool.input.vectors() * group.lanes());
    assert!(winners.len() >= pool.output.bare().vectors() * group.lanes());
    assert!(output.len() >= pool.output.vectors() * group.lanes());
    let task = MaxPool {
        pool,
        input,
        winners,
        output,
    };
    simd::run(isa, group, task);
}

struct MaxPool<'a> {
    pool: &'a Pool,
    input: &'a [f32],
    winners: &'a mut [f32],
    output: &'a mut [f32],
}

impl Task for MaxPool<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd, const G: usize>(self) {
        let Pool {
            input,
            output,
            size,
        } = *self.pool;
        for channel in 0..output.channels {
            for y in 0..output.height {
                for x in 0..output.width {
                    for lane in (0..G).step_by(S::LANES) {
                        // SAFETY: the caller vouches for the instruction set; `max_pool` checked the lengths and
                        // that all windows lie inside the input.
                        unsafe {
                            let first = self.pool.window(channel, y, x);
                            let from = self.input.as_ptr().add(first * G + lane);
                            let (mut largest, mut winner) = (S::load(from), S::splat(0.0));
                            for place in 1..size * size {
                                let at = place / size * input.width + place % size;
                                let value = S::load(from.add(at * G));
                                let better = S::greater(value, largest);
                                largest = S::max(value, largest);
                                winner = S::select(better, S::splat(place as f32), winner);
                            }
                            let to = self.pool.place(channel, y, x) * G + lane;
                            S::store(self.winners.as_mut_ptr().add(to), winner);
                            let to =
                                output.origin() + channel * output.plane() + y * output.row() + x;
                            S::store(self.output.as_mut_ptr().add(to * G + lane), largest);
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
    group: Group,
    pool: &Pool,
    winners: &[f32],
    flow: &[f32],
    gradient: &mut [f32],
) {
    pool.check();
    let lanes = group.lanes();
    assert!(winners.len() >= pool.output.bare().vectors() * lanes);
    assert!(flow.len() >= pool.output.bare().vectors() * lanes);
    // Rows and columns that no window reaches would keep an old gradient.
    gradient[..pool.input.vectors() * lanes].fill(0.0);
    let task = MaxPoolGrad {
        pool,
        winners,
        flow,
        gradient,
    };
    simd::run(isa, group, task);
}

struct MaxPoolGrad<'a> {
    pool: &'a Pool,
    winners: &'a [f32],
    flow: &'a [f32],
    gradient: &'a mut [f32],
}

impl Task for MaxPoolGrad<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd, const G: usize>(self) {
        let Pool {
            input,
            output,
            size,
        } = *self.pool;
        for channel in 0..output.channels {
            for y in 0..output.height {
                for x in 0..output.width {
                    for lane in (0..G).step_by(S::LANES) {
                        // SAFETY: as in `MaxPool::run`, with `max_pool_grad` as the checker.
                        unsafe {
                            let at = self.pool.place(channel, y, x) * G + lane;
                            let winner = S::load(self.winners.as_ptr().add(at));
                            let value = S::load(self.flow.as_ptr().add(at));
                            let first = self.pool.window(channel, y, x);
                            let to = self.gradient.as_mut_ptr().add(first * G + lane);
                            for place in 0..size * size {
                                let won = S::equal(winner, S::splat(place as f32));
                                let at = place / size * input.width + place % size;
                                S::store(to.add(at * G), S::keep(won, value));
                            }
                        }
                    }
                }
            }
        }
    }
}

/// `output = max(input, 0)`; the input has no halo.
pub(crate) fn relu(isa: Isa, group: Group, input: &[f32], layout: &MapLayout, output: &mut [f32]) {
    assert!(input.len() >= layout.bare().vectors() * group.lanes());
    assert!(output.len() >= layout.vectors() * group.lanes());
    simd::run(
        isa,
        group,
        Relu {
            input,
            layout,
            output,
        },
    );
}

struct Relu<'a> {
    input: &'a [f32],
    layout: &'a MapLayout,
    output: &'a mut [f32],
}

impl Task for Relu<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd, const G: usize>(self) {
        each_row(self.layout, |bare, with_halo| {
            for at in (0..self.layout.width * G).step_by(S::LANES) {
                // SAFETY: the caller vouches for the instruction set; `relu` checked the lengths.
                unsafe {
                    let value = S::load(self.input.as_ptr().add(bare * G + at));
                    let to = self.output.as_mut_ptr().add(with_halo * G + at);
                    S::store(to, S::max(S::splat(0.0), value));
                }
            }
        });
    }
}

/// `gradient = flow` where the relu's output is above 0, else 0. Neither gradient has a halo.
pub(crate) fn relu_grad(
    isa: Isa,
    group: Group,
    output: &[f32],
    layout: &MapLayout,
    flow: &[f32],
    gradient: &mut [f32],
) {
    assert!(output.len() >= layout.vectors() * group.lanes());
    assert!(flow.len() >= layout.bare().vectors() * group.lanes());
    assert!(gradient.len() >= layout.bare().vectors() * group.lanes());
    let task = ReluGrad {
        output,
        layout,
        flow,
        gradient,
    };
    simd::run(isa, group, task);
}

struct ReluGrad<'a> {
    output: &'a [f32],
    layout: &'a MapLayout,
    flow: &'a [f32],
    gradient: &'a mut [f32],
}

impl Task for ReluGrad<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd, const G: usize>(self) {
        each_row(self.layout, |bare, with_halo| {
            for at in (0..self.layout.width * G).step_by(S::LANES) {
                // SAFETY: the caller vouches for the instruction set; `relu_grad` checked the lengths.
                unsafe {
                    let value = S::load(self.output.as_ptr().add(with_halo * G + at));
                    let live = S::greater(value, S::splat(0.0));
                    let flow = S::load(self.flow.as_ptr().add(bare * G + at));
                    let to = self.gradient.as_mut_ptr().add(bare * G + at);
                    S::store(to, S::keep(live, flow));
                }
            }
        });
    }
}

/// Calls with the first vector of every row, without and with the map's halo.
#[inline(always)]
fn each_row(layout: &MapLayout, mut visit: impl FnMut(usize, usize)) {
    for channel in 0..layout.channels {
        for y in 0..layout.height {
            let bare = (channel * layout.height + y) * layout.width;
            let with_halo = layout.origin() + channel * layout.plane() + y * layout.row();
            visit(bare, with_halo);
        }
    }
}
