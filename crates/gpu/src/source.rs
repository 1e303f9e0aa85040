//! The kernels of a network, as CUDA C++: the functions of `kernels.cu`, and two kernels that call them in the order of the layers.

use std::fmt::{self, Write};

use aerofed_nn::Network;

use crate::memory::{CHUNK, ConvTiles, Memory, Work, place_maps};
use crate::plan::{Conv, Dense, Op, Plan};
use crate::tiles::{self, Input, Team, Tile, WeightTile, Weights, pixel_pitch};

const FUNCTIONS: &str = include_str!("kernels.cu");

/// What the values of a data set are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Values {
    Pixels,
    Numbers,
}

/// What the kernels are made for, besides the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Variant {
    pub(crate) team: Team,
    /// Blocks that share a multiprocessor.
    pub(crate) blocks: usize,
    pub(crate) values: Values,
    pub(crate) adversarial: bool,
    pub(crate) momentum: bool,
    pub(crate) proximal: bool,
    /// Whether blocks count the cycles that each phase takes.
    pub(crate) profile: bool,
}

impl Variant {
    /// For mini-batches of so many samples: as many groups of equal size as it takes.
    pub(crate) fn for_batch(batch: usize, values: Values) -> Self {
        let samples = batch.div_ceil(batch.div_ceil(32).max(1)).max(1);
        // Small maps leave room for a second device on a multiprocessor.
        let (warps, blocks) = if samples > 16 { (16, 1) } else { (8, 2) };
        Self {
            team: Team { samples, warps },
            blocks,
            values,
            adversarial: false,
            momentum: false,
            proximal: false,
            profile: false,
        }
    }

    pub(crate) fn threads(&self) -> usize {
        32 * self.team.warps
    }
}

/// Kernels to be compiled, and the memory that they need.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) text: String,
    /// What a training step consists of, in the order of `profile` in the kernel.
    pub(crate) phases: Vec<Phase>,
    /// Bytes of shared memory for a block.
    pub(crate) shared_bytes: usize,
    /// Floats of the card's memory for a block.
    pub(crate) scratch: usize,
}

/// A part of a training step, between two barriers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Phase {
    pub(crate) name: String,
    /// Multiplications for one sample, as in the textbook.
    pub(crate) multiplications: usize,
}

/// Code as it is written, and the phases that it has so far.
#[derive(Default)]
struct Text {
    code: String,
    phases: Vec<Phase>,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.code.write_str(text)
    }
}

/// The kernels `train`, `look` and `average` for a network, within so many bytes of shared memory a multiprocessor.
pub(crate) fn source(network: &Network, variant: Variant, shared_bytes: usize) -> Source {
    let plan = Plan::new(network);
    // A block's share, less what the card keeps for itself.
    let floats = (shared_bytes / variant.blocks).saturating_sub(1280) / size_of::<f32>();
    let work = Work::new(&plan, variant);
    let in_shared = place_maps(
        &plan,
        variant.team.samples,
        floats.saturating_sub(work.shared()),
    );
    let of_weights = plan.ops.iter().enumerate().map(|(index, op)| match op {
        Op::Conv(conv) => {
            let input = match (work.pixels && index == 0, in_shared[index]) {
                (true, _) => Input::Pixels,
                (false, true) => Input::Near,
                (false, false) => Input::Far,
            };
            Some(tiles::weight_gradient(conv, variant.team, input))
        }
        _ => None,
    });
    let of_weights: Vec<Option<WeightTile>> = of_weights.collect();
    let memory = Memory::new(&plan, &work, &of_weights, &in_shared, variant);
    let kernels = Kernels {
        plan: &plan,
        tiles: &work.tiles,
        of_weights: &of_weights,
        memory: &memory,
        variant,
    };
    let mut text = Text::default();
    // Writing to a string does not fail.
    let _ = kernels.write(&mut text);
    Source {
        text: text.code,
        phases: text.phases,
        shared_bytes: memory.shared * size_of::<f32>(),
        scratch: memory.scratch,
    }
}

struct Kernels<'a> {
    plan: &'a Plan,
    tiles: &'a [Option<ConvTiles>],
    of_weights: &'a [Option<WeightTile>],
    memory: &'a Memory,
    variant: Variant,
}

impl Kernels<'_> {
    fn write(&self, to: &mut Text) -> fmt::Result {
        let Team { samples, warps } = self.variant.team;
        let input = match self.variant.values {
            Values::Pixels => "unsigned char",
            Values::Numbers => "float",
        };
        writeln!(to, "constexpr int SAMPLES = {samples};")?;
        writeln!(to, "constexpr int WARPS = {warps};")?;
        writeln!(to, "typedef {input} Input;")?;
        to.write_str(FUNCTIONS)?;
        self.train(to)?;
        self.look(to)
    }

    /// The head of a kernel, which does jobs until none is left.
    fn begin(&self, to: &mut Text, name: &str, arguments: &str) -> fmt::Result {
        let zero = &self.memory.zero;
        writeln!(
            to,
            "\nextern \"C\" __global__ void __launch_bounds__(THREADS, {})\n\
             {name}(const Input* inputs, const u8* labels, const u32* orders, {arguments}, u32 count, u32* next, float* scratches) {{\n\
             extern __shared__ __align__(16) float shared[];\n\
             float* const scratch = scratches + static_cast<size_t>(blockIdx.x) * {};\n\
             if (threadIdx.x == 0) *{zero} = 0.f;\n\
             for (;;) {{\n\
             const u32 index = take(next, {});\n\
             if (index >= count) return;\n\
             Lane me = who({zero});",
            self.variant.blocks, self.memory.scratch, self.memory.told
        )
    }

    fn train(&self, to: &mut Text) -> fmt::Result {
        let (memory, plan) = (self.memory, self.plan);
        self.begin(
            to,
            "train",
            "const Job* jobs, const float* starts, float* models, float* losses, u64* profile",
        )?;
        writeln!(to, "const Job job = jobs[index];")?;
        if self.variant.profile {
            writeln!(to, "u64 since = clock64();")?;
        }
        self.import(to, "starts + job.start")?;
        if let Some(velocity) = &memory.velocity {
            writeln!(to, "clear<{}>({velocity}, me);", plan.parameters)?;
        }
        writeln!(to, "__syncthreads();")?;
        if let Some(anchor) = &memory.anchor {
            writeln!(
                to,
                "copy_all<{}>({}, {anchor}, me);",
                plan.parameters, memory.weights
            )?;
        }
        writeln!(
            to,
            "double lost = 0.;\n\
             u32 steps = 0;\n\
             for (u32 first = 0; first < job.length; first += job.batch, ++steps) {{\n\
             const u32 size = min(job.batch, job.length - first);\n\
             const float scale = 1.f / ((job.epsilon > 0.f ? 2.f : 1.f) * static_cast<float>(size));\n\
             bool add = false;\n\
             for (u32 group = 0; group < size; group += SAMPLES) {{\n\
             const u32 used = min(static_cast<u32>(SAMPLES), size - group);\n\
             const u32* const order = orders + job.order + first + group;"
        )?;
        self.gather(to)?;
        self.end_phase(to, "gathering of samples".into(), 0)?;
        let passes = match self.variant.adversarial {
            true => "bool attack = job.epsilon > 0.f;\nfor (;;) {",
            false => "{",
        };
        writeln!(to, "{passes}")?;
        self.forward(to, true)?;
        let last = plan.ops.len();
        writeln!(
            to,
            "lost += static_cast<double>(scale * cross_entropy<{}>({}, labels, order, used, scale, me));",
            plan.classes, memory.maps[last]
        )?;
        self.end_phase(to, "softmax and loss".into(), 0)?;
        for index in (0..last).rev() {
            self.backward(to, index)?;
        }
        writeln!(to, "add = true;")?;
        if self.variant.adversarial {
            writeln!(to, "if (!attack) break;\nattack = false;")?;
        }
        writeln!(to, "}}\n}}")?;
        self.descend(to)?;
        self.end_phase(to, "step of gradient descent".into(), 0)?;
        writeln!(to, "}}")?;
        self.export(to, "models + static_cast<size_t>(job.slot)")?;
        writeln!(
            to,
            "const float loss = mean_loss(lost, steps, me);\n\
             if (threadIdx.x == 0) losses[job.slot] = loss;\n}}\n}}"
        )
    }

    fn look(&self, to: &mut Text) -> fmt::Result {
        self.begin(
            to,
            "look",
            "const Look* looks, const float* models, float* outputs, float* losses, u8* correct",
        )?;
        writeln!(to, "const Look job = looks[index];")?;
        self.import(to, "models + job.model")?;
        writeln!(
            to,
            "for (u32 first = 0; first < job.length; first += SAMPLES) {{\n\
             const u32 used = min(static_cast<u32>(SAMPLES), job.length - first);\n\
             const u32* const order = orders + job.order + first;"
        )?;
        self.gather(to)?;
        self.next_phase(to)?;
        self.forward(to, false)?;
        writeln!(
            to,
            "tell<{}>({}, labels, order, used, job.order + first, outputs, losses, correct, me);\n__syncthreads();\n}}\n}}\n}}",
            self.plan.classes,
            self.memory.maps[self.plan.ops.len()]
        )
    }

    fn import(&self, to: &mut Text, from: &str) -> fmt::Result {
        for segment in self.plan.places.iter().flatten().flat_map(|(w, b)| [w, b]) {
            writeln!(
                to,
                "import_rows<{}, {}, {}>({from} + {}, {} + {}, me);",
                segment.rows,
                segment.row,
                segment.stride,
                segment.flat,
                self.memory.weights,
                segment.own
            )?;
        }
        Ok(())
    }

    fn export(&self, to: &mut Text, model: &str) -> fmt::Result {
        let segments = || self.plan.places.iter().flatten().flat_map(|(w, b)| [w, b]);
        let flat: usize = segments().map(|segment| segment.rows * segment.row).sum();
        for segment in segments() {
            writeln!(
                to,
                "export_rows<{}, {}, {}>({} + {}, {model} * {flat} + {}, me);",
                segment.rows,
                segment.row,
                segment.stride,
                self.memory.weights,
                segment.own,
                segment.flat
            )?;
        }
        Ok(())
    }

    fn next_phase(&self, to: &mut Text) -> fmt::Result {
        writeln!(to, "__syncthreads();\nme = who({});", self.memory.zero)
    }

    /// Ends a phase of a training step.
    fn end_phase(&self, to: &mut Text, name: String, multiplications: usize) -> fmt::Result {
        self.next_phase(to)?;
        if self.variant.profile {
            writeln!(
                to,
                "since = count_cycles(profile + {}, since);",
                to.phases.len()
            )?;
        }
        to.phases.push(Phase {
            name,
            multiplications,
        });
        Ok(())
    }

    /// Values of a sample, and how many of them are read at a time.
    fn values(&self) -> (usize, usize) {
        let values = self.plan.maps[0];
        let widths: &[usize] = match self.variant.values {
            Values::Pixels => &[16, 8, 4, 2],
            Values::Numbers => &[4, 2],
        };
        let fits = |wide: &&usize| values.is_multiple_of(**wide);
        (values, *widths.iter().find(fits).unwrap_or(&1))
    }

    fn gather(&self, to: &mut Text) -> fmt::Result {
        let (values, wide) = self.values();
        let map = &self.memory.maps[0];
        writeln!(
            to,
            "gather<{values}, {wide}>(inputs, order, used, {map}, me);"
        )
    }

    /// Gathers samples as the bytes that they are; returns where.
    fn gather_pixels(&self, to: &mut Text, conv: &Conv) -> Result<String, fmt::Error> {
        let (values, wide) = self.values();
        let pixels = format!("reinterpret_cast<u8*>({})", self.memory.work);
        writeln!(
            to,
            "gather_pixels<{values}, {wide}, {}, {}>(inputs, order, used, {pixels}, me);\n__syncthreads();",
            conv.width,
            pixel_pitch(conv, self.variant.team)
        )?;
        Ok(pixels)
    }

    /// Where an operation's weights and biases begin.
    fn weights(&self, index: usize) -> (String, String) {
        let at = |own: usize| format!("{} + {own}", self.memory.weights);
        match self.plan.places[index] {
            Some((weights, biases)) => (at(weights.own), at(biases.own)),
            None => (String::new(), String::new()),
        }
    }

    fn forward(&self, to: &mut Text, keep: bool) -> fmt::Result {
        for (index, op) in self.plan.ops.iter().enumerate() {
            let (x, out) = (&self.memory.maps[index], &self.memory.maps[index + 1]);
            let (weights, biases) = self.weights(index);
            let (work, winners) = (&self.memory.work, &self.memory.winners[index]);
            match (op, self.tiles[index]) {
                (Op::Conv(conv), Some(tiles)) => {
                    let Tile { columns, channels } = tiles.forward;
                    writeln!(
                        to,
                        "pack<{}, {}, {}, {channels}, false>({weights}, {work}, me);\n__syncthreads();\n\
                         conv_forward<{}, {}, {}, {keep}, {columns}, {channels}>({x}, {work}, {biases}, {out}, {winners}, me);",
                        conv.filters,
                        conv.channels,
                        conv.kernel * conv.kernel,
                        shape(conv),
                        conv.pool,
                        conv.relu
                    )?;
                }
                (Op::Dense(dense), _) => {
                    let Dense {
                        inputs,
                        outputs,
                        relu,
                    } = dense;
                    let (stride, slices) =
                        (dense.stride(), tiles::slices(dense, self.variant.team));
                    let partial = &self.memory.partial;
                    writeln!(
                        to,
                        "dense_forward<{inputs}, {outputs}, {stride}, {relu}, {slices}>({x}, {weights}, {biases}, {partial}, {out}, me);"
                    )?;
                }
                (
                    Op::Pool {
                        channels,
                        height,
                        width,
                        size,
                    },
                    _,
                ) => {
                    writeln!(
                        to,
                        "pool_forward<{channels}, {height}, {width}, {size}>({x}, {out}, me);"
                    )?;
                }
                (Op::Relu { units }, _) => writeln!(to, "relu_forward<{units}>({x}, {out}, me);")?,
                (Op::Conv(_), None) => {}
            }
            match keep {
                true => self.end_phase(
                    to,
                    format!("{}, forward", label(index, op)),
                    op.multiplications(),
                )?,
                false => self.next_phase(to)?,
            }
        }
        Ok(())
    }

    fn backward(&self, to: &mut Text, index: usize) -> fmt::Result {
        let (x, flow) = (&self.memory.maps[index], &self.memory.maps[index + 1]);
        let (work, winners) = (&self.memory.work, &self.memory.winners[index]);
        let (weights, _) = self.weights(index);
        let op = &self.plan.ops[index];
        if let Some((slopes, bias_slopes)) = &self.memory.gradients[index] {
            match (op, self.of_weights[index]) {
                (Op::Conv(conv), Some(tile)) => {
                    let (shape, splits) = (shape(conv), tile.splits);
                    let with = format!("{flow}, {winners}, {slopes}, add, me);");
                    match tile.weights {
                        Weights::OfBlocks {
                            filters,
                            rows,
                            columns,
                            ahead,
                        } => writeln!(
                            to,
                            "conv_weight_gradient<{shape}, {}, {filters}, {rows}, {columns}, {splits}, {ahead}>({x}, {with}",
                            conv.pool
                        )?,
                        Weights::OfWinners { channels, pixels } => {
                            let (input, pitch) = match pixels {
                                true => (
                                    &self.gather_pixels(to, conv)?,
                                    pixel_pitch(conv, self.variant.team),
                                ),
                                false => (x, conv.width),
                            };
                            writeln!(
                                to,
                                "conv_weight_gradient_of_winners<{shape}, {pitch}, {channels}, {splits}>({input}, {with}"
                            )?;
                        }
                    }
                    writeln!(
                        to,
                        "conv_bias_gradient<{}, {}>({flow}, {bias_slopes}, add, me);",
                        conv.filters,
                        conv.units()
                    )?;
                }
                (Op::Dense(dense), _) => {
                    let Dense {
                        inputs, outputs, ..
                    } = dense;
                    let (stride, tile) = (
                        dense.stride(),
                        tiles::dense_weights(*outputs, self.variant.team),
                    );
                    writeln!(
                        to,
                        "dense_weight_gradient<{inputs}, {outputs}, {stride}, {CHUNK}, {tile}>({x}, {flow}, {work}, {slopes}, add, me);\n\
                         dense_bias_gradient<{outputs}>({flow}, {bias_slopes}, add, me);"
                    )?;
                }
                _ => {}
            }
            self.end_phase(
                to,
                format!("{}, weight gradient", label(index, op)),
                op.multiplications(),
            )?;
        }
        // Nobody needs the gradient with respect to the samples, unless they are attacked.
        let attack = index == 0;
        if attack && !self.variant.adversarial {
            return Ok(());
        }
        let condition = if attack { "if (attack) " } else { "" };
        let mask = index > 0 && self.plan.ops[index - 1].ends_in_relu();
        writeln!(to, "{condition}{{")?;
        match (op, self.tiles[index]) {
            (Op::Conv(conv), Some(tiles)) => {
                let Tile { columns, channels } = tiles.input;
                let counter = &self.memory.counter;
                writeln!(
                    to,
                    "if (threadIdx.x == 0) *{counter} = 0;\n\
                     pack<{}, {}, {}, {channels}, true>({weights}, {work}, me);\n__syncthreads();\n\
                     conv_input_gradient<{}, {}, {mask}, {attack}, {columns}, {channels}>({x}, {work}, {flow}, {winners}, job.epsilon, {counter}, me);",
                    conv.filters,
                    conv.channels,
                    conv.kernel * conv.kernel,
                    shape(conv),
                    conv.pool
                )?;
            }
            (Op::Dense(dense), _) => {
                let Dense {
                    inputs, outputs, ..
                } = dense;
                let stride = dense.stride();
                writeln!(
                    to,
                    "dense_input_gradient<{inputs}, {outputs}, {stride}, {mask}, {attack}>({x}, {weights}, {flow}, job.epsilon, me);"
                )?;
            }
            (
                Op::Pool {
                    channels,
                    height,
                    width,
                    size,
                },
                _,
            ) => writeln!(
                to,
                "pool_gradient<{channels}, {height}, {width}, {size}, {mask}, {attack}>({x}, {flow}, job.epsilon, me);"
            )?,
            (Op::Relu { units }, _) => {
                writeln!(
                    to,
                    "relu_gradient<{units}, {mask}, {attack}>({x}, {flow}, job.epsilon, me);"
                )?;
            }
            (Op::Conv(_), None) => {}
        }
        writeln!(to, "}}")?;
        self.end_phase(
            to,
            format!("{}, input gradient", label(index, op)),
            op.multiplications(),
        )
    }

    fn descend(&self, to: &mut Text) -> fmt::Result {
        let beside = |base: &Option<String>, own: usize| match base {
            Some(base) => format!("{base} + {own}"),
            None => "nullptr".into(),
        };
        let places = self.plan.places.iter().zip(&self.memory.gradients);
        for ((place, slopes), tile) in places.zip(self.of_weights) {
            let (Some((weights, biases)), Some((of_weights, of_biases))) = (place, slopes) else {
                continue;
            };
            let splits = tile.map_or(1, |tile| tile.splits);
            for (segment, slopes, splits) in [(weights, of_weights, splits), (biases, of_biases, 1)]
            {
                let own = segment.own;
                writeln!(
                    to,
                    "descend<{}, {splits}>(job, {} + {own}, {slopes}, {}, {}, me);",
                    segment.len(),
                    self.memory.weights,
                    beside(&self.memory.velocity, own),
                    beside(&self.memory.anchor, own)
                )?;
            }
        }
        Ok(())
    }
}

/// An operation in words.
fn label(index: usize, op: &Op) -> String {
    let kind = match op {
        Op::Conv(conv) if conv.pool => "convolution and pool",
        Op::Conv(_) => "convolution",
        Op::Dense(_) => "dense layer",
        Op::Pool { .. } => "pool",
        Op::Relu { .. } => "relu",
    };
    format!("{} {kind}", index + 1)
}

/// The template arguments that all functions of a convolution begin with.
fn shape(conv: &Conv) -> String {
    format!(
        "{}, {}, {}, {}, {}, {}",
        conv.channels, conv.height, conv.width, conv.filters, conv.kernel, conv.padding
    )
}
