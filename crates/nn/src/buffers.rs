//! The memory one group of samples needs on its way through the network and back.

use crate::isa::Isa;
use crate::lanes::{self, Cut, GROUP, SLACK, Strip};
use crate::plan::{After, Op, Plan};
use std::ops::{Deref, DerefMut};

/// Zeroed values that start on a cache line.
#[derive(Debug)]
pub(crate) struct Aligned {
    values: Vec<f32>,
    start: usize,
    length: usize,
}

impl Aligned {
    pub(crate) fn new(length: usize) -> Aligned {
        let values = vec![0.0f32; length + 16];
        let start = values.as_ptr().align_offset(64).min(16);
        Aligned {
            values,
            start,
            length,
        }
    }
}

impl Deref for Aligned {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        &self.values[self.start..self.start + self.length]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.values[self.start..self.start + self.length]
    }
}

/// Buffers for groups of up to 16 samples, which lie closely however many they are.
#[derive(Debug)]
pub(crate) struct Buffers {
    /// Samples in the group.
    pub(crate) samples: usize,
    /// The maps of the plan; halos stay zero.
    pub(crate) maps: Vec<Aligned>,
    /// Gradients with respect to the maps, without halo.
    pub(crate) flows: Vec<Aligned>,
    /// What each convolution must remember: which outputs are above 0, and which value of a 2x2 window was the largest.
    pub(crate) masks: Vec<Vec<u8>>,
    /// The same for windows of other sizes.
    pub(crate) winners: Vec<Aligned>,
    /// A strip of gradient with respect to a convolution's sums.
    pub(crate) strip: Aligned,
    /// The same by places of 2x2 windows.
    pub(crate) windows: Aligned,
    /// The input that pairs of rows of windows see in the vector they share.
    pub(crate) joined: Aligned,
    /// Rows of output on their way to where the next operation wants them.
    pub(crate) scratch: Aligned,
    /// Bias gradients, a vector each.
    pub(crate) biases: Aligned,
    pub(crate) losses: [f32; GROUP],
}

impl Buffers {
    pub(crate) fn new(plan: &Plan, isa: Isa) -> Buffers {
        let (mut strip, mut windows, mut joined, mut scratch, mut biases) = (0, 0, 0, 0, 0);
        let mut masks = Vec::with_capacity(plan.ops.len());
        let mut winners = Vec::with_capacity(plan.ops.len());
        for (index, op) in plan.ops.iter().enumerate() {
            let outputs = plan.maps[index + 1].values();
            let (mut mask, mut winner) = (0, 0);
            match op {
                Op::Conv {
                    shape,
                    after,
                    strip: rows,
                    ..
                } => {
                    strip = strip.max(Strip::values(shape, GROUP, op.strip_rows()));
                    biases = biases.max(shape.filters);
                    let pooled = *after == After::PoolRelu;
                    let cut = Cut::new(shape.out_width / if pooled { 2 } else { 1 }, GROUP);
                    scratch = scratch.max(lanes::scratch_values(cut));
                    mask = match after {
                        After::Plain => 0,
                        After::Relu => 2 * outputs,
                        After::PoolRelu => 8 * outputs,
                    };
                    if pooled && lanes::selects_winners(isa, shape) {
                        joined = joined.max(lanes::joined_values(shape, *rows));
                    } else if pooled {
                        let held = shape.filters * rows / 2;
                        windows = windows.max(held * 4 * cut.padded() + SLACK);
                    }
                }
                Op::Pool(_) => winner = outputs * GROUP + SLACK,
                Op::Relu => scratch = scratch.max(outputs * GROUP + SLACK),
                Op::Dense { .. } | Op::Flatten => {}
            }
            masks.push(vec![0; mask]);
            winners.push(Aligned::new(winner));
        }
        let flow = |map: &crate::plan::Map| Aligned::new(map.flow_room());
        Buffers {
            samples: GROUP,
            maps: plan
                .maps
                .iter()
                .map(|map| Aligned::new(map.room()))
                .collect(),
            flows: plan.maps.iter().map(flow).collect(),
            masks,
            winners,
            strip: Aligned::new(strip),
            windows: Aligned::new(windows),
            joined: Aligned::new(joined),
            scratch: Aligned::new(scratch),
            biases: Aligned::new(biases * 16),
            losses: [0.0; GROUP],
        }
    }

    /// Makes them ready for a group of `samples`. With another number of them everything lies elsewhere, halos too.
    pub(crate) fn hold(&mut self, samples: usize) {
        if samples == self.samples {
            return;
        }
        self.samples = samples;
        self.maps.iter_mut().for_each(|map| map.fill(0.0));
        self.masks.iter_mut().for_each(|mask| mask.fill(0));
    }
}

impl Op {
    /// Rows of gradient that a convolution's backward pass holds at once: a strip and what the kernel reaches
    /// back over.
    pub(crate) fn strip_rows(&self) -> usize {
        match self {
            Op::Conv { shape, strip, .. } => shape.out_height.min(strip + shape.kernel - 1),
            _ => 0,
        }
    }
}
