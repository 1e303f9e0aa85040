//! A model checked against its input: layer shapes, parameter layout, initial weights.

use crate::error::Error;
use crate::spec::{Layer, ModelSpec, Shape};
use rand::Rng;
use std::ops::Range;

/// Most parameters a network may have (1 GiB of weights).
pub const MAX_PARAMETERS: usize = 1 << 28;
/// Most values one sample may have between two layers.
pub const MAX_MAP_VALUES: usize = 1 << 24;

/// One layer of a checked network: what goes in, what comes out, where its parameters lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerPlan {
    /// The layer as the model describes it.
    pub layer: Layer,
    /// Shape of its input.
    pub input: Shape,
    /// Shape of its output.
    pub output: Shape,
    /// Its weights in the flat parameter vector, `[out][in][row][column]`; empty without parameters.
    pub weights: Range<usize>,
    /// Its biases in the flat parameter vector.
    pub biases: Range<usize>,
}

impl LayerPlan {
    /// Inputs that one output sees: 0 for layers without parameters.
    pub fn fan_in(&self) -> usize {
        match self.layer {
            Layer::Conv { kernel, .. } => self.input.channels * kernel * kernel,
            Layer::Dense { .. } => self.input.values(),
            Layer::MaxPool { .. } | Layer::Relu => 0,
        }
    }

    /// Whether the layer has weights to learn.
    pub fn has_parameters(&self) -> bool {
        !self.biases.is_empty()
    }
}

/// A model spec checked against an input shape and a number of classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    spec: ModelSpec,
    input: Shape,
    classes: usize,
    layers: Vec<LayerPlan>,
    parameters: usize,
}

impl Network {
    /// Checks every layer of `spec` against the map it will see.
    ///
    /// # Errors
    /// The first layer that does not fit, by index, field and value; an input without values; a number of
    /// classes outside 2..=256; a last layer that is not `Dense` with `classes` units.
    pub fn new(spec: &ModelSpec, input: Shape, classes: usize) -> Result<Network, Error> {
        if !(2..=256).contains(&classes) {
            return Err(Error::Model(format!(
                "classes = {classes}: 2 to 256 are possible"
            )));
        }
        match spec.layers.last() {
            Some(Layer::Dense { units }) if *units == classes => {}
            Some(Layer::Dense { units }) => {
                return Err(Error::Layer {
                    index: spec.layers.len() - 1,
                    kind: "dense",
                    field: "units",
                    value: *units,
                    reason: format!("the last layer needs one unit for each of {classes} classes"),
                });
            }
            Some(last) => {
                return Err(Error::Model(format!(
                    "the last layer is {}: it must be dense with {classes} units",
                    last.kind()
                )));
            }
            None => return Err(Error::Model("layers is empty".into())),
        }
        Network::with_any_output(spec, input)
    }

    /// The same without a word about the last layer: not every network tells classes apart.
    pub(crate) fn with_any_output(spec: &ModelSpec, input: Shape) -> Result<Network, Error> {
        if input.values() == 0 || input.values() > MAX_MAP_VALUES {
            return Err(Error::Model(format!(
                "input {}x{}x{} (channels x rows x columns) must hold 1 to {MAX_MAP_VALUES} values",
                input.channels, input.height, input.width
            )));
        }
        let mut layers = Vec::with_capacity(spec.layers.len());
        let (mut shape, mut parameters, mut flat) = (input, 0usize, false);
        for (index, &layer) in spec.layers.iter().enumerate() {
            if flat && matches!(layer, Layer::Conv { .. } | Layer::MaxPool { .. }) {
                return Err(Error::Model(format!(
                    "layer {index} is {}: it cannot follow a dense layer, whose output has no rows and columns",
                    layer.kind()
                )));
            }
            flat |= matches!(layer, Layer::Dense { .. });
            let plan = plan_layer(index, layer, shape, parameters)?;
            shape = plan.output;
            parameters = plan.biases.end;
            layers.push(plan);
        }
        Ok(Network {
            spec: spec.clone(),
            input,
            classes: shape.values(),
            layers,
            parameters,
        })
    }

    /// Length of the flat weight vector.
    pub fn parameter_count(&self) -> usize {
        self.parameters
    }

    /// Shape of one sample.
    pub fn input(&self) -> Shape {
        self.input
    }

    /// Number of classes, which is the number of logits.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The model this network was built from.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    /// The layers with their shapes and parameter ranges.
    pub fn layers(&self) -> &[LayerPlan] {
        &self.layers
    }

    /// Fresh weights: weights and biases uniform in ±1/sqrt(fan in), PyTorch's default.
    pub fn init(&self, rng: &mut impl Rng) -> Vec<f32> {
        let mut weights = Vec::with_capacity(self.parameters);
        for plan in self.layers.iter().filter(|plan| plan.has_parameters()) {
            let bound = 1.0 / (plan.fan_in() as f32).sqrt();
            weights.extend((plan.weights.start..plan.biases.end).map(|_| {
                // 24 random bits are all that a f32 in [0, 1) can hold.
                let unit = (rng.next_u32() >> 8) as f32 / (1u32 << 24) as f32;
                (2.0 * unit - 1.0) * bound
            }));
        }
        weights
    }

    /// Multiplications and additions of one training sample, forward and backward.
    ///
    /// The gradient with respect to the input of the first layer is not counted: nobody needs it.
    pub fn flops_per_sample(&self) -> f64 {
        let mut first = true;
        let mut flops = 0.0;
        for plan in self.layers.iter().filter(|plan| plan.has_parameters()) {
            let passes = if std::mem::take(&mut first) { 2.0 } else { 3.0 };
            flops += passes * 2.0 * plan.fan_in() as f64 * plan.output.values() as f64;
        }
        flops
    }
}

/// Checks one layer and finds its output shape and parameter ranges.
fn plan_layer(index: usize, layer: Layer, input: Shape, start: usize) -> Result<LayerPlan, Error> {
    let bad = |field, value, reason: String| Error::Layer {
        index,
        kind: layer.kind(),
        field,
        value,
        reason,
    };
    let at_least_one = |field, value: usize| match value {
        0 => Err(bad(field, value, "must be at least 1".into())),
        _ => Ok(()),
    };
    let side = input.height.min(input.width);
    let (output, fan_in, outputs) = match layer {
        Layer::Conv {
            filters,
            kernel,
            padding,
        } => {
            at_least_one("filters", filters)?;
            at_least_one("kernel", kernel)?;
            if padding > MAX_MAP_VALUES {
                return Err(bad("padding", padding, format!("at most {MAX_MAP_VALUES}")));
            }
            let padded = side + 2 * padding;
            if kernel > padded {
                let reason = format!(
                    "larger than the {}x{} map with padding {padding}",
                    input.height, input.width
                );
                return Err(bad("kernel", kernel, reason));
            }
            let output = Shape {
                channels: filters,
                height: input.height + 2 * padding + 1 - kernel,
                width: input.width + 2 * padding + 1 - kernel,
            };
            let fan_in = input.channels.saturating_mul(kernel).saturating_mul(kernel);
            (output, fan_in, filters)
        }
        Layer::MaxPool { size } => {
            at_least_one("size", size)?;
            if size > side {
                let reason = format!("larger than the {}x{} map", input.height, input.width);
                return Err(bad("size", size, reason));
            }
            let output = Shape {
                channels: input.channels,
                height: input.height / size,
                width: input.width / size,
            };
            (output, 0, 0)
        }
        Layer::Relu => (input, 0, 0),
        Layer::Dense { units } => {
            at_least_one("units", units)?;
            let output = Shape {
                channels: units,
                height: 1,
                width: 1,
            };
            (output, input.values(), units)
        }
    };
    let padded = match layer {
        Layer::Conv { padding, .. } => Shape {
            channels: input.channels,
            height: input.height + 2 * padding,
            width: input.width + 2 * padding,
        },
        _ => input,
    };
    if output.values().max(padded.values()) > MAX_MAP_VALUES {
        return Err(Error::Model(format!(
            "layer {index} ({}): a sample would need {} values, at most {MAX_MAP_VALUES} are possible",
            layer.kind(),
            output.values().max(padded.values())
        )));
    }
    let weights_end = start.saturating_add(fan_in.saturating_mul(outputs));
    let end = weights_end.saturating_add(outputs);
    if end > MAX_PARAMETERS {
        return Err(Error::Model(format!(
            "layer {index} ({}) brings the model to {end} parameters: at most {MAX_PARAMETERS} are possible",
            layer.kind()
        )));
    }
    Ok(LayerPlan {
        layer,
        input,
        output,
        weights: start..weights_end,
        biases: weights_end..end,
    })
}
