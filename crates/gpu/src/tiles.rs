//! How large a warp's tasks are: of all tiles that fit into registers, those whose instructions take a multiprocessor the least time.

use std::collections::BTreeSet;

use crate::plan::{Conv, Dense};

/// What a block has to work with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Team {
    /// Samples of a group, at most 32.
    pub(crate) samples: usize,
    /// Warps of a block.
    pub(crate) warps: usize,
}

impl Team {
    /// Tiles that a warp works on at a time: samples that do not fill its lanes leave room for others.
    pub(crate) fn parts(&self) -> usize {
        32 / self.samples
    }

    /// Warps that have something to do in the time of `tasks`, the idle ones counted: what it takes is that of the busiest.
    fn slots(&self, tasks: usize) -> usize {
        tasks.div_ceil(self.warps) * self.warps
    }
}

/// Outputs or inputs of a convolution that a task covers, besides two rows of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    pub(crate) columns: usize,
    pub(crate) channels: usize,
}

impl Tile {
    /// Values of weights packed for such tiles.
    pub(crate) fn packed(&self, outer: usize, places: usize, channels: usize) -> usize {
        let padded = match self.channels {
            few @ ..4 => few,
            many => many.next_multiple_of(4),
        };
        outer * places * channels.div_ceil(self.channels) * padded
    }
}

/// Weights that a task of the weight gradient covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WeightTile {
    /// Parts into which the outputs are divided.
    pub(crate) splits: usize,
    pub(crate) weights: Weights,
}

/// Which weights those are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weights {
    /// A part of the kernel for some filters and one input channel; all outputs of a block of 2 x 2 are multiplied.
    OfBlocks {
        filters: usize,
        rows: usize,
        columns: usize,
        /// Whether there are registers to load the next window of the input ahead of time.
        ahead: bool,
    },
    /// The kernel for one filter and some input channels; only the winner of a block is multiplied.
    OfWinners {
        channels: usize,
        /// The input is read as bytes.
        pixels: bool,
    },
}

/// Where the input of a weight gradient is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// In the card's memory, from which loads take longer.
    Far,
    /// In shared memory.
    Near,
    /// In shared memory, as bytes.
    Pixels,
}

/// Cycles that a load takes at most where each lane reads the value that its own winner points to: different words of one bank that lanes may ask for. Rows
/// begin every `pitch` values of so many bytes.
fn cycles_of_load(team: Team, pitch: usize, bytes: usize) -> usize {
    const BANKS: usize = 32;
    let mut asked = vec![(BTreeSet::new(), BTreeSet::new()); BANKS];
    for part in 0..team.parts() {
        for sample in 0..team.samples {
            for place in [0, 1, pitch, pitch + 1] {
                let word = ((2 * part + place) * team.samples + sample) * bytes / size_of::<f32>();
                let (words, lanes) = &mut asked[word % BANKS];
                words.insert(word);
                lanes.insert((part, sample));
            }
        }
    }
    let most = asked
        .iter()
        .map(|(words, lanes)| words.len().min(lanes.len()));
    most.max().unwrap_or(1)
}

/// From one row of pixels to the next, such that loads take as few cycles as they can.
pub(crate) fn pixel_pitch(conv: &Conv, team: Team) -> usize {
    let pitches = conv.width..conv.width + 8;
    let best = pitches.min_by_key(|pitch| cycles_of_load(team, *pitch, 1));
    best.unwrap_or(conv.width)
}

/// Accumulators of a task; a thread has 128 registers.
const MOST_SUMS: usize = 80;
/// Those of a weight gradient, which holds a window of the input as well.
const MOST_WEIGHTS: usize = 56;

/// Instructions of an inner loop that only find addresses and count.
const LOOP: usize = 40;

/// Cycles of a multiprocessor, whose four schedulers share one unit that loads a number for each lane in a cycle. Multiply-adds keep a scheduler
/// for longer than others, because the registers that they read are often in one bank: 2/3 of their peak is what was measured at best.
fn cycles(multiply_adds: usize, others: usize, loaded: usize) -> usize {
    (multiply_adds * 3 / 2 + others + loaded / 2)
        .div_ceil(4)
        .max(loaded)
}

fn best<T: Copy>(candidates: impl Iterator<Item = (usize, T)>, fallback: T) -> T {
    let least = candidates.min_by_key(|(cost, _)| *cost);
    least.map_or(fallback, |(_, tile)| tile)
}

/// Narrow tiles, or one that is as wide as the map, whose borders the compiler then knows.
fn tiles(whole: Option<usize>, channels: usize) -> impl Iterator<Item = Tile> {
    let fits = |tile: &Tile| 2 * tile.columns * tile.channels <= MOST_SUMS;
    let with = move |columns| (1..=channels).map(move |channels| Tile { columns, channels });
    let whole = whole.filter(|columns| columns % 2 == 0 && (6..=16).contains(columns));
    let widths = [2, 4].into_iter().chain(whole);
    widths.flat_map(with).filter(fits)
}

/// One column pair and one channel always fit.
const SMALLEST: Tile = Tile {
    columns: 2,
    channels: 1,
};

pub(crate) fn forward(conv: &Conv, team: Team) -> Tile {
    let (height, width) = conv.output();
    let kernel = conv.kernel;
    let cost = |tile: Tile| {
        let (rows, used) = match conv.pool {
            true => (height / 2, width / 2 * 2),
            false => (height.div_ceil(2), width),
        };
        let places = rows * used.div_ceil(tile.columns);
        let tasks = places.div_ceil(team.parts()) * conv.filters.div_ceil(tile.channels);
        let weights = kernel * kernel * tile.channels;
        let loaded = (kernel + 1) * (tile.columns + kernel - 1) + weights;
        let multiply_adds = 2 * tile.columns * weights;
        let finish = 10 * tile.columns * tile.channels;
        let checks = if conv.padding > 0 {
            loaded - weights
        } else {
            0
        };
        let others = LOOP + checks;
        let all = conv.channels * cycles(multiply_adds, others, loaded) + finish.div_ceil(4);
        (team.slots(tasks) * all, tile)
    };
    best(tiles(None, conv.filters).map(cost), SMALLEST)
}

pub(crate) fn input_gradient(conv: &Conv, team: Team) -> Tile {
    let kernel = conv.kernel;
    let (output_rows, output_columns) = conv.output();
    // Columns of outputs that a tile went into, and pairs of them.
    let reach = |tile: &Tile| match tile.columns == conv.width {
        true => (output_columns, output_columns.div_ceil(2)),
        false => {
            let long = tile.columns + kernel - 1;
            (long, long / 2 + 1)
        }
    };
    let pairs_of_rows = kernel / 2 + 1;
    let cost = |tile: Tile| {
        let places = conv.height.div_ceil(2) * conv.width.div_ceil(tile.columns);
        let tasks = places.div_ceil(team.parts()) * conv.channels.div_ceil(tile.channels);
        let (long, pairs) = reach(&tile);
        let (reads, choices) = match conv.pool {
            true => (2 * pairs * pairs_of_rows, 2 * (kernel + 1) * long),
            false => ((kernel + 1) * long, 4 * (kernel + 1) * long),
        };
        let weights = kernel * kernel * tile.channels;
        // What lies outside the outputs is left out: by tiles as wide as the map in each column, by others where all of their columns do.
        let share = |used: usize, side: usize| (used as f64 / (side * kernel) as f64).min(1.0);
        let by_rows = share(output_rows * kernel + conv.height, conv.height);
        let spilled = match tile.columns == conv.width {
            true => 0,
            false => conv.width * tile.columns / 2,
        };
        let by_columns = share(output_columns * kernel + spilled, conv.width);
        let multiply_adds = (2 * tile.columns * weights) as f64 * by_rows * by_columns;
        let others = LOOP + choices + 2 * reads;
        let each = cycles(multiply_adds as usize, others, reads + weights);
        let finish = 10 * tile.columns * tile.channels;
        let all = conv.filters * each + finish.div_ceil(4);
        (team.slots(tasks) * all, tile)
    };
    let fits = |tile: &Tile| {
        // Sums, two rows, and blocks of gradients: those in use and those to come, each a number and a place.
        let (long, pairs) = reach(tile);
        let blocks = if conv.pool { pairs * pairs_of_rows } else { 0 };
        2 * tile.columns * tile.channels + 2 * long + 4 * blocks + tile.channels <= 116
    };
    let candidates = tiles(Some(conv.width), conv.channels);
    best(candidates.filter(fits).map(cost), SMALLEST)
}

pub(crate) fn weight_gradient(conv: &Conv, team: Team, input: Input) -> WeightTile {
    let pixels = input == Input::Pixels;
    let winners = weights_of_winners(conv, pixels).filter(|_| conv.pool && input != Input::Far);
    let divided = weights_of_blocks(conv)
        .chain(winners)
        .flat_map(|weights| (1..=16).map(move |splits| WeightTile { splits, weights }));
    let cost = |tile: WeightTile| (weight_gradient_cost(conv, team, input, tile), tile);
    let smallest = WeightTile {
        splits: 1,
        weights: Weights::OfBlocks {
            filters: 1,
            rows: 1,
            columns: 1,
            ahead: false,
        },
    };
    best(divided.map(cost), smallest)
}

fn weights_of_blocks(conv: &Conv) -> impl Iterator<Item = Weights> {
    let columns = conv.kernel.min(8);
    let filters = conv.filters;
    let sizes =
        (1..=conv.kernel).flat_map(move |rows| (1..=filters).map(move |filters| (rows, filters)));
    sizes.filter_map(move |(rows, filters)| {
        let weights = filters * rows * columns;
        let window = (rows + 1) * (columns + 1);
        let fits = weights <= MOST_WEIGHTS && weights + window <= 100;
        fits.then_some(Weights::OfBlocks {
            filters,
            rows,
            columns,
            ahead: weights + 2 * window + 4 * filters <= 116,
        })
    })
}

fn weights_of_winners(conv: &Conv, pixels: bool) -> impl Iterator<Item = Weights> {
    let (all, places) = (conv.channels, conv.kernel * conv.kernel);
    let fits =
        move |channels: &usize| all.is_multiple_of(*channels) && channels * places <= MOST_SUMS;
    (1..=all)
        .filter(fits)
        .map(move |channels| Weights::OfWinners { channels, pixels })
}

/// Cycles that all tasks take.
fn weight_gradient_cost(conv: &Conv, team: Team, input: Input, tile: WeightTile) -> usize {
    let (height, width) = conv.output();
    let blocks = match conv.pool {
        true => (height / 2) * (width / 2),
        false => height.div_ceil(2) * width.div_ceil(2),
    };
    // Tasks that the weights are divided into, weights of each, and what a block of outputs takes.
    let (tasks, weights, block) = match tile.weights {
        Weights::OfBlocks {
            filters,
            rows,
            columns,
            ..
        } => {
            let weights = filters * rows * columns;
            let kernels = conv.kernel.div_ceil(rows) * conv.kernel.div_ceil(columns);
            let reads = (rows + 1) * (columns + 1);
            let gradients = filters * if conv.pool { 2 } else { 4 };
            let choices = filters * if conv.pool { 8 } else { 16 };
            let checks = if conv.padding > 0 { reads } else { 0 };
            let loaded = gradients
                + if input == Input::Near {
                    reads
                } else {
                    3 * reads
                };
            let block = cycles(4 * weights, LOOP + choices + checks, loaded);
            let tasks = kernels * conv.channels * conv.filters.div_ceil(filters);
            (tasks, weights, block)
        }
        Weights::OfWinners { channels, pixels } => {
            let weights = channels * conv.kernel * conv.kernel;
            let checks = if conv.padding > 0 { weights } else { 0 };
            let numbers = if pixels { 2 * weights } else { 0 };
            let (pitch, bytes) = match pixels {
                true => (pixel_pitch(conv, team), size_of::<u8>()),
                false => (conv.width, size_of::<f32>()),
            };
            let loaded = weights * cycles_of_load(team, pitch, bytes) + 2;
            let block = cycles(weights, LOOP + checks + numbers, loaded);
            (conv.channels / channels * conv.filters, weights, block)
        }
    };
    let reduction = 60 * weights.div_ceil(32);
    let all = blocks.div_ceil(tile.splits * team.parts()) * block + reduction;
    team.slots(tile.splits * tasks) * all
}

/// Parts into which the inputs of a dense layer are divided, so that all warps have something to do.
pub(crate) fn slices(dense: &Dense, team: Team) -> usize {
    // As in `kernels.cu`.
    let across = match team.samples {
        17.. => 4,
        9.. => 2,
        _ => 1,
    };
    let tiles = dense.outputs.div_ceil(4 * 32 / across);
    let most = dense.stride() / 8;
    (team.warps / tiles).clamp(1, most)
}

/// Outputs that a task of a dense layer's weight gradient covers.
pub(crate) fn dense_weights(outputs: usize, team: Team) -> usize {
    outputs.div_ceil(team.warps).clamp(1, 8)
}
