//! Where the maps, weights and gradients of a block lie: in shared memory, or in the card's.

use crate::plan::{Op, Plan};
use crate::source::{Values, Variant};
use crate::tiles::{self, Tile, WeightTile, pixel_pitch};

/// Inputs of a dense layer whose weight gradients are found at a time.
pub(crate) const CHUNK: usize = 128;
/// Packed weights of a convolution that take more floats than this lie in the card's memory.
const MOST_PACKED: usize = 16 << 10;

/// How the passes through a convolution are divided into tasks.
#[derive(Clone, Copy)]
pub(crate) struct ConvTiles {
    pub(crate) forward: Tile,
    pub(crate) input: Tile,
}

/// What only one operation at a time needs: packed weights of a convolution, inputs of a dense layer.
pub(crate) struct Work {
    /// By operation.
    pub(crate) tiles: Vec<Option<ConvTiles>>,
    /// Samples are there once more as bytes, for the weight gradient of the first operation.
    pub(crate) pixels: bool,
    pub(crate) floats: usize,
}

impl Work {
    pub(crate) fn new(plan: &Plan, variant: Variant) -> Self {
        let team = variant.team;
        let tiles = plan.ops.iter().map(|op| match op {
            Op::Conv(conv) => Some(ConvTiles {
                forward: tiles::forward(conv, team),
                input: tiles::input_gradient(conv, team),
            }),
            _ => None,
        });
        let tiles: Vec<Option<ConvTiles>> = tiles.collect();
        let needs = plan
            .ops
            .iter()
            .zip(&tiles)
            .map(|(op, tiles)| match (op, tiles) {
                (Op::Conv(conv), Some(tiles)) => {
                    let places = conv.kernel * conv.kernel;
                    let forward = tiles.forward.packed(conv.channels, places, conv.filters);
                    let back = tiles.input.packed(conv.filters, places, conv.channels);
                    forward.max(back)
                }
                (Op::Dense(_), _) => CHUNK * team.samples,
                _ => 0,
            });
        let needed = needs.max().unwrap_or(0);
        let pixels = match plan.ops.first() {
            // Attacked samples are no bytes any more.
            Some(Op::Conv(conv)) if conv.pool && !variant.adversarial => {
                let units = conv.channels * conv.height * pixel_pitch(conv, team);
                let floats = (units * team.samples).div_ceil(size_of::<f32>());
                Some(floats.max(needed)).filter(|floats| *floats <= MOST_PACKED)
            }
            _ => None,
        };
        let pixels = pixels.filter(|_| variant.values == Values::Pixels);
        Self {
            tiles,
            pixels: pixels.is_some(),
            floats: pixels.unwrap_or(needed),
        }
    }

    /// Floats of shared memory; none where it would take too much of it.
    pub(crate) fn shared(&self) -> usize {
        if self.floats <= MOST_PACKED {
            self.floats
        } else {
            0
        }
    }
}

/// Which maps lie in shared memory. Those that are read most often come first: by the layer behind them three times, as its input and where
/// gradients are found, and by the one before them twice, as gradients.
pub(crate) fn place_maps(plan: &Plan, samples: usize, mut floats: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..plan.maps.len()).collect();
    let reads = |map: &usize| {
        let behind = plan.ops.get(*map).map_or(0, Op::multiplications);
        let before = map
            .checked_sub(1)
            .map_or(0, |op| plan.ops[op].multiplications());
        std::cmp::Reverse(3 * behind + 2 * before)
    };
    order.sort_by_key(reads);
    let mut placed = vec![false; plan.maps.len()];
    for map in order {
        // Every piece begins at a multiple of 16 bytes.
        let needed = (plan.maps[map] * samples).next_multiple_of(4);
        placed[map] = needed <= floats;
        if placed[map] {
            floats -= needed;
        }
    }
    placed
}

/// Where things lie: an expression for each.
pub(crate) struct Memory {
    /// By map.
    pub(crate) maps: Vec<String>,
    /// By operation; for pooled convolutions.
    pub(crate) winners: Vec<String>,
    /// What [`Work`] is about.
    pub(crate) work: String,
    /// Sums of dense layers before they are added up.
    pub(crate) partial: String,
    /// A zero.
    pub(crate) zero: String,
    /// The number of the job.
    pub(crate) told: String,
    /// Tasks that were taken.
    pub(crate) counter: String,
    pub(crate) weights: String,
    /// By operation: gradients of weights and of biases.
    pub(crate) gradients: Vec<Option<(String, String)>>,
    pub(crate) velocity: Option<String>,
    pub(crate) anchor: Option<String>,
    pub(crate) shared: usize,
    pub(crate) scratch: usize,
}

impl Memory {
    pub(crate) fn new(
        plan: &Plan,
        work: &Work,
        of_weights: &[Option<WeightTile>],
        in_shared: &[bool],
        variant: Variant,
    ) -> Self {
        let samples = variant.team.samples;
        let mut taken = Taken::default();
        let zero = taken.shared(1);
        let told = taken.shared(1);
        let counter = format!("reinterpret_cast<u32*>({})", taken.shared(1));
        let weights = taken.scratch(plan.parameters);
        let mut gradients = Vec::new();
        for (place, tile) in plan.places.iter().zip(of_weights) {
            gradients.push(place.map(|(weights, biases)| {
                let splits = tile.map_or(1, |tile| tile.splits);
                (
                    taken.scratch(splits * weights.len()),
                    taken.scratch(biases.len()),
                )
            }));
        }
        let velocity = variant.momentum.then(|| taken.scratch(plan.parameters));
        let anchor = variant.proximal.then(|| taken.scratch(plan.parameters));
        let winners = plan
            .ops
            .iter()
            .zip(&plan.maps[1..])
            .map(|(op, units)| match op {
                Op::Conv(conv) if conv.pool => {
                    let floats = (units * samples).div_ceil(4);
                    format!("reinterpret_cast<u8*>({})", taken.scratch(floats))
                }
                _ => "nullptr".into(),
            });
        let winners = winners.collect();
        let partial = plan.ops.iter().map(|op| match op {
            Op::Dense(dense) => tiles::slices(dense, variant.team) * dense.outputs * samples,
            _ => 0,
        });
        let partial = taken.scratch(partial.max().unwrap_or(0));
        let work = match work.shared() {
            0 => taken.scratch(work.floats),
            floats => taken.shared(floats),
        };
        let maps = plan
            .maps
            .iter()
            .zip(in_shared)
            .map(|(units, near)| match near {
                true => taken.shared(units * samples),
                false => taken.scratch(units * samples),
            });
        let maps = maps.collect();
        Self {
            maps,
            winners,
            work,
            partial,
            zero,
            told,
            counter,
            weights,
            gradients,
            velocity,
            anchor,
            shared: taken.shared,
            scratch: taken.scratch,
        }
    }
}

/// Memory handed out so far, in floats; every piece begins at a multiple of 16 bytes.
#[derive(Default)]
struct Taken {
    shared: usize,
    scratch: usize,
}

impl Taken {
    fn shared(&mut self, floats: usize) -> String {
        let at = self.shared;
        self.shared += floats.next_multiple_of(4);
        format!("(shared + {at})")
    }

    fn scratch(&mut self, floats: usize) -> String {
        let at = self.scratch;
        // Whole lines of the cache.
        self.scratch += floats.next_multiple_of(32);
        format!("(scratch + {at})")
    }
}
