//! The memory one group of samples needs on its way through the network and back.

use crate::lanes::Group;
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

/// Buffers for groups of one size.
#[derive(Debug)]
pub(crate) struct Buffers {
    pub(crate) group: Group,
    /// The maps of the plan; halos stay zero.
    pub(crate) maps: Vec<Aligned>,
    /// Gradients with respect to the maps, without halo.
    pub(crate) flows: Vec<Aligned>,
    /// What each operation must remember: which value of a 2x2 window was the largest.
    pub(crate) masks: Vec<Vec<u8>>,
    /// The same for windows of other sizes.
    pub(crate) winners: Vec<Aligned>,
    /// A strip of gradient with respect to a convolution's sums.
    pub(crate) strip: Aligned,
    /// Bias gradients, a vector each.
    pub(crate) biases: Aligned,
    /// A dense layer's input with samples in rows.
    pub(crate) turned: Aligned,
    pub(crate) losses: [f32; 16],
}

impl Buffers {
    pub(crate) fn new(plan: &Plan, group: Group) -> Buffers {
        let lanes = group.lanes();
        let (mut strip, mut biases, mut turned) = (0, 0, 0);
        let mut masks = Vec::with_capacity(plan.ops.len());
        let mut winners = Vec::with_capacity(plan.ops.len());
        for (index, op) in plan.ops.iter().enumerate() {
            let outputs = plan.maps[index + 1].bare().vectors();
            let (mut mask, mut winner) = (0, 0);
            match op {
                Op::Conv { shape, after, .. } => {
                    strip = strip.max(shape.filters * op.strip_rows() * shape.out_width);
                    biases = biases.max(shape.filters);
                    if *after == After::PoolRelu {
                        mask = outputs * 8;
                    }
                }
                Op::Dense { shape, .. } => turned = turned.max(shape.stride()),
                Op::Pool(_) => winner = outputs * lanes,
                Op::Relu => {}
            }
            masks.push(vec![0; mask]);
            winners.push(Aligned::new(winner));
        }
        // Dense kernels read and write whole blocks of 16 inputs.
        let whole = |vectors: usize| Aligned::new(vectors.next_multiple_of(16) * lanes);
        Buffers {
            group,
            maps: plan.maps.iter().map(|map| whole(map.vectors())).collect(),
            flows: plan
                .maps
                .iter()
                .map(|map| whole(map.bare().vectors()))
                .collect(),
            masks,
            winners,
            strip: Aligned::new(strip * lanes),
            biases: Aligned::new(biases * lanes),
            turned: Aligned::new(turned * lanes),
            losses: [0.0; 16],
        }
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
