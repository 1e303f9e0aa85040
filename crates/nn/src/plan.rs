//! A network as the kernels run it: layers fused where one kernel does several, maps and parameters laid out.

use crate::lanes::{ConvShape, DenseShape, GROUP, MapLayout, Pool, SLACK};
use crate::network::{LayerPlan, Network};
use crate::spec::{Layer, Shape};
use std::ops::Range;

/// What a convolution's kernel does with its sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    Plain,
    Relu,
    /// 2x2 max-pool and relu, in either order: both give the same.
    PoolRelu,
}

/// Where an operation's parameters lie in the engine's own layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) weights: Range<usize>,
    pub(crate) biases: Range<usize>,
}

/// One kernel call of the forward pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    Conv {
        shape: ConvShape,
        after: After,
        place: Place,
        /// Output rows that go through the backward pass together.
        strip: usize,
    },
    Dense {
        shape: DenseShape,
        relu: bool,
        place: Place,
    },
    Pool(Pool),
    Relu,
    /// From a map to rows, which dense layers read.
    Flatten,
}

/// How the values between two operations lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Map {
    /// `[channel][row][column][sample]`.
    Map(MapLayout),
    /// A row of so many values for each sample, filled with zeros up to whole blocks of 16.
    Rows(usize),
}

impl Map {
    /// Values of one sample.
    pub(crate) fn values(&self) -> usize {
        match self {
            Map::Map(layout) => layout.values(),
            Map::Rows(values) => *values,
        }
    }

    /// From one row to the next.
    pub(crate) fn stride(&self) -> usize {
        self.values().next_multiple_of(16)
    }

    /// Room for a full group.
    pub(crate) fn room(&self) -> usize {
        match self {
            Map::Map(layout) => layout.positions() * GROUP + SLACK,
            Map::Rows(_) => self.stride() * GROUP,
        }
    }

    /// Room for its gradient, which has no halo and its columns in their order.
    pub(crate) fn flow_room(&self) -> usize {
        match self {
            Map::Map(layout) => layout.values() * GROUP + SLACK,
            Map::Rows(_) => self.room(),
        }
    }
}

/// Rows of the user's flat weights and of the engine's padded ones.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    flat: Range<usize>,
    own: usize,
    row: usize,
    stride: usize,
}

/// All operations with the maps between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) ops: Vec<Op>,
    /// `maps[k]` is the input of `ops[k]`; the last one holds the logits.
    pub(crate) maps: Vec<Map>,
    /// Length of a parameter vector in the engine's layout.
    pub(crate) parameters: usize,
    segments: Vec<Segment>,
}

/// Bytes of gradient (16 lanes) that a strip of rows may take: it shares the second-level cache with the
/// input and the weights.
const STRIP_BYTES: usize = 256 * 1024;

impl Plan {
    pub(crate) fn new(network: &Network) -> Plan {
        let mut plan = Plan {
            ops: Vec::new(),
            maps: Vec::new(),
            parameters: 0,
            segments: Vec::new(),
        };
        let mut rest = network.layers();
        while let Some(first) = rest.first() {
            let used = plan.push(first, &rest[1..]);
            rest = &rest[used..];
        }
        // The last layer is dense.
        plan.maps.push(Map::Rows(network.classes()));
        // A pool's output lies as the next operation wants it.
        for index in 0..plan.ops.len() {
            if let (Op::Pool(pool), Map::Map(output)) = (&mut plan.ops[index], plan.maps[index + 1])
            {
                pool.output = output;
            }
        }
        plan
    }

    /// Adds the operation that starts with `layer` and returns how many layers it does.
    fn push(&mut self, layer: &LayerPlan, next: &[LayerPlan]) -> usize {
        let kinds = [
            next.first().map(|plan| plan.layer),
            next.get(1).map(|plan| plan.layer),
        ];
        match layer.layer {
            Layer::Conv {
                kernel, padding, ..
            } => {
                let (after, used) = match kinds {
                    [Some(Layer::Relu), Some(Layer::MaxPool { size: 2 })]
                    | [Some(Layer::MaxPool { size: 2 }), Some(Layer::Relu)] => (After::PoolRelu, 3),
                    [Some(Layer::Relu), _] => (After::Relu, 2),
                    _ => (After::Plain, 1),
                };
                let multiple = if after == After::PoolRelu { 2 } else { 1 };
                let input = MapLayout {
                    parity: after == After::PoolRelu,
                    ..layout(layer.input, padding)
                };
                let shape = ConvShape {
                    input,
                    kernel,
                    filters: layer.output.channels,
                    out_height: layer.output.height / multiple * multiple,
                    out_width: layer.output.width / multiple * multiple,
                };
                let row_bytes = shape.filters * shape.out_width * 64;
                let most = (STRIP_BYTES / row_bytes).max(1);
                let strips = shape.out_height.div_ceil(most).max(1);
                let strip = shape.out_height.div_ceil(strips).next_multiple_of(multiple);
                let place = self.place(layer, shape.weights(), shape.weights());
                self.maps.push(Map::Map(input));
                self.ops.push(Op::Conv {
                    shape,
                    after,
                    place,
                    strip: strip.max(multiple),
                });
                used
            }
            Layer::Dense { units } => {
                let shape = DenseShape {
                    inputs: layer.input.values(),
                    outputs: units,
                };
                let relu = kinds[0] == Some(Layer::Relu);
                let place = self.place(layer, shape.inputs, shape.stride());
                if !self.is_flat(layer) {
                    self.maps.push(Map::Map(layout(layer.input, 0)));
                    self.ops.push(Op::Flatten);
                }
                self.maps.push(Map::Rows(shape.inputs));
                self.ops.push(Op::Dense { shape, relu, place });
                1 + usize::from(relu)
            }
            Layer::MaxPool { size } => {
                let input = layout(layer.input, 0);
                self.maps.push(Map::Map(input));
                let output = layout(layer.output, 0);
                self.ops.push(Op::Pool(Pool {
                    input,
                    output,
                    size,
                }));
                1
            }
            Layer::Relu => {
                self.maps.push(match self.is_flat(layer) {
                    true => Map::Rows(layer.input.values()),
                    false => Map::Map(layout(layer.input, 0)),
                });
                self.ops.push(Op::Relu);
                1
            }
        }
    }

    /// Whether the values that come to the next operation are rows: those behind a dense layer, and those of a sample
    /// that only dense layers see.
    fn is_flat(&self, next: &LayerPlan) -> bool {
        match self.ops.last() {
            None => matches!(next.layer, Layer::Dense { .. }),
            Some(Op::Dense { .. }) => true,
            Some(Op::Relu) => matches!(self.maps.last(), Some(Map::Rows(_))),
            Some(_) => false,
        }
    }

    /// Reserves room for a layer's parameters: weight rows of `row` values every `stride`, then biases.
    fn place(&mut self, layer: &LayerPlan, row: usize, stride: usize) -> Place {
        let weights = self.segment(layer.weights.clone(), row, stride);
        let biases = self.segment(layer.biases.clone(), layer.biases.len(), layer.biases.len());
        Place { weights, biases }
    }

    fn segment(&mut self, flat: Range<usize>, row: usize, stride: usize) -> Range<usize> {
        let own = self.parameters;
        let length = flat.len() / row.max(1) * stride;
        self.segments.push(Segment {
            flat,
            own,
            row,
            stride,
        });
        self.parameters = (own + length).next_multiple_of(16);
        own..own + length
    }

    /// Copies a user's weights into the engine's layout.
    pub(crate) fn import(&self, flat: &[f32], own: &mut [f32]) {
        for segment in &self.segments {
            let rows = flat[segment.flat.clone()].chunks_exact(segment.row);
            for (row, to) in rows.zip(own[segment.own..].chunks_mut(segment.stride)) {
                let (to, filling) = to.split_at_mut(segment.row);
                to.copy_from_slice(row);
                // A job that ended with NaN has left it there, too.
                filling.fill(0.0);
            }
        }
    }

    /// Copies weights in the engine's layout back into a user's.
    pub(crate) fn export(&self, own: &[f32], flat: &mut [f32]) {
        for segment in &self.segments {
            let rows = flat[segment.flat.clone()].chunks_exact_mut(segment.row);
            for (row, from) in rows.zip(own[segment.own..].chunks(segment.stride)) {
                row.copy_from_slice(&from[..segment.row]);
            }
        }
    }
}

fn layout(shape: Shape, halo: usize) -> MapLayout {
    MapLayout {
        channels: shape.channels,
        height: shape.height,
        width: shape.width,
        halo,
        parity: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::ModelSpec;

    fn plan(name: &str) -> Plan {
        let shape = Shape {
            channels: 1,
            height: 28,
            width: 28,
        };
        Plan::new(&Network::new(&ModelSpec::builtin(name, 10).unwrap(), shape, 10).unwrap())
    }

    #[test]
    fn built_in_models_run_fused() {
        for (name, ops) in [
            ("cnn", 5),
            ("lenet5", 6),
            ("vgg", 5),
            ("mlp", 2),
            ("logistic", 1),
        ] {
            let plan = plan(name);
            assert_eq!(plan.ops.len(), ops, "{name}");
            assert!(
                !plan
                    .ops
                    .iter()
                    .any(|op| matches!(op, Op::Pool(_) | Op::Relu))
            );
        }
    }

    #[test]
    fn import_and_export_are_inverse() {
        let plan = plan("lenet5");
        let flat: Vec<f32> = (0..60_074).map(|i| i as f32).collect();
        let mut own = vec![0.0; plan.parameters];
        let mut back = vec![0.0; flat.len()];
        plan.import(&flat, &mut own);
        plan.export(&own, &mut back);
        assert_eq!(flat, back);
    }
}
