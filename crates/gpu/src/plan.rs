//! What a network does, layer after layer, as the kernels take it.

use aerofed_nn::{Layer, LayerPlan, Network};

/// A convolution with what follows it on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conv {
    /// Input channels, rows and columns.
    pub(crate) channels: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) filters: usize,
    pub(crate) kernel: usize,
    pub(crate) padding: usize,
    /// The maximum of 2 x 2 outputs is taken.
    pub(crate) pool: bool,
    pub(crate) relu: bool,
}

impl Conv {
    /// Rows and columns before the pool.
    pub(crate) fn output(&self) -> (usize, usize) {
        let side = |length: usize| length + 2 * self.padding + 1 - self.kernel;
        (side(self.height), side(self.width))
    }

    /// Outputs of one filter, after the pool.
    pub(crate) fn units(&self) -> usize {
        let (height, width) = self.output();
        match self.pool {
            true => (height / 2) * (width / 2),
            false => height * width,
        }
    }

    pub(crate) fn weights(&self) -> usize {
        self.filters * self.channels * self.kernel * self.kernel
    }
}

/// A fully connected layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dense {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) relu: bool,
}

impl Dense {
    /// From one row of weights to the next: loads take eight at a time.
    pub(crate) fn stride(&self) -> usize {
        self.inputs.next_multiple_of(8)
    }
}

/// One kernel's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Conv(Conv),
    Dense(Dense),
    Pool {
        channels: usize,
        height: usize,
        width: usize,
        size: usize,
    },
    Relu {
        units: usize,
    },
}

impl Op {
    /// Whether what comes out of it went through a relu on the way.
    pub(crate) fn ends_in_relu(&self) -> bool {
        match self {
            Op::Conv(conv) => conv.relu,
            Op::Dense(dense) => dense.relu,
            Op::Pool { .. } | Op::Relu { .. } => false,
        }
    }

    /// Multiplications of a forward pass.
    pub(crate) fn multiplications(&self) -> usize {
        match self {
            Op::Conv(conv) => {
                let (height, width) = conv.output();
                conv.weights() * height * width
            }
            Op::Dense(dense) => dense.inputs * dense.outputs,
            Op::Pool { .. } | Op::Relu { .. } => 0,
        }
    }
}

/// Where a layer's weights, or its biases, lie in a user's flat vector and in the kernels' own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) flat: usize,
    pub(crate) own: usize,
    pub(crate) rows: usize,
    pub(crate) row: usize,
    pub(crate) stride: usize,
}

impl Segment {
    /// Values that it takes in the kernels' layout: a multiple of 4, what is left over being zeros.
    pub(crate) fn len(&self) -> usize {
        (self.rows * self.stride).next_multiple_of(4)
    }
}

/// A network as a list of operations on maps: operation `i` reads map `i` and writes map `i + 1`.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) ops: Vec<Op>,
    /// Values of each map for one sample.
    pub(crate) maps: Vec<usize>,
    /// Weights and biases of each operation that has them.
    pub(crate) places: Vec<Option<(Segment, Segment)>>,
    /// Length of the kernels' vector of parameters.
    pub(crate) parameters: usize,
    pub(crate) classes: usize,
}

impl Plan {
    pub(crate) fn new(network: &Network) -> Plan {
        let mut plan = Plan {
            ops: Vec::new(),
            maps: vec![network.input().values()],
            places: Vec::new(),
            parameters: 0,
            classes: network.classes(),
        };
        let mut rest = network.layers();
        while let Some((layer, later)) = rest.split_first() {
            let (op, taken) = fuse(layer, later);
            let last = &rest[taken - 1];
            plan.places.push(plan.place(&op, layer));
            if let Some((_, biases)) = plan.places.last().copied().flatten() {
                plan.parameters = (biases.own + biases.len()).next_multiple_of(8);
            }
            plan.ops.push(op);
            plan.maps.push(last.output.values());
            rest = &rest[taken..];
        }
        plan
    }

    fn place(&self, op: &Op, layer: &LayerPlan) -> Option<(Segment, Segment)> {
        let (rows, row, stride) = match op {
            Op::Conv(conv) => (1, conv.weights(), conv.weights()),
            Op::Dense(dense) => (dense.outputs, dense.inputs, dense.stride()),
            Op::Pool { .. } | Op::Relu { .. } => return None,
        };
        let weights = Segment {
            flat: layer.weights.start,
            own: self.parameters,
            rows,
            row,
            stride,
        };
        let biases = Segment {
            flat: layer.biases.start,
            own: (weights.own + weights.len()).next_multiple_of(8),
            rows: 1,
            row: layer.biases.len(),
            stride: layer.biases.len(),
        };
        Some((weights, biases))
    }
}

/// The operation that begins with `layer`, and how many layers it takes.
fn fuse(layer: &LayerPlan, later: &[LayerPlan]) -> (Op, usize) {
    let kind = |at: usize| later.get(at).map(|plan| plan.layer);
    let is_pool = |at| matches!(kind(at), Some(Layer::MaxPool { size: 2 }));
    let is_relu = |at| kind(at) == Some(Layer::Relu);
    match layer.layer {
        Layer::Conv {
            filters,
            kernel,
            padding,
        } => {
            // A maximum and a relu give the same in either order.
            let (pool, relu) = match (is_pool(0), is_relu(0)) {
                (true, _) => (true, is_relu(1)),
                (_, true) => (is_pool(1), true),
                _ => (false, false),
            };
            let op = Op::Conv(Conv {
                channels: layer.input.channels,
                height: layer.input.height,
                width: layer.input.width,
                filters,
                kernel,
                padding,
                pool,
                relu,
            });
            (op, 1 + usize::from(pool) + usize::from(relu))
        }
        Layer::Dense { units } => {
            let op = Op::Dense(Dense {
                inputs: layer.input.values(),
                outputs: units,
                relu: is_relu(0),
            });
            (op, 1 + usize::from(is_relu(0)))
        }
        Layer::MaxPool { size } => {
            let op = Op::Pool {
                channels: layer.input.channels,
                height: layer.input.height,
                width: layer.input.width,
                size,
            };
            (op, 1)
        }
        Layer::Relu => {
            let op = Op::Relu {
                units: layer.input.values(),
            };
            (op, 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::network;

    #[test]
    fn built_in_models_run_fused() {
        for (name, ops) in [
            ("cnn", 4),
            ("lenet5", 5),
            ("vgg", 4),
            ("mlp", 2),
            ("logistic", 1),
        ] {
            let plan = Plan::new(&network(name));
            assert_eq!(plan.ops.len(), ops, "{name}");
            assert_eq!(plan.maps.last(), Some(&10), "{name}");
            let alone = |op: &Op| matches!(op, Op::Pool { .. } | Op::Relu { .. });
            assert!(!plan.ops.iter().any(alone), "{name}");
        }
    }

    #[test]
    fn segments_hold_all_parameters_and_do_not_overlap() {
        let network = network("lenet5");
        let plan = Plan::new(&network);
        let segments = plan.places.iter().flatten().flat_map(|(w, b)| [w, b]);
        let (mut values, mut end) = (0, 0);
        for segment in segments {
            assert_eq!(segment.flat, values);
            assert!(segment.own >= end && segment.own.is_multiple_of(8));
            values += segment.rows * segment.row;
            end = segment.own + segment.len();
        }
        assert_eq!(values, network.parameter_count());
        assert!(plan.parameters >= end);
    }
}
