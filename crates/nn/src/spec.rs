//! Models as a user describes them: a list of layers, or a built-in name.

use serde::{Deserialize, Serialize};

/// Size of one sample or feature map, stored as channel, row, column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Feature channels: 1 for grey images, 3 for colour.
    pub channels: usize,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl Shape {
    /// Values in one map of this size; saturates instead of overflowing.
    pub fn values(&self) -> usize {
        self.channels
            .saturating_mul(self.height)
            .saturating_mul(self.width)
    }
}

/// One layer of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", from = "LayerFields")]
pub enum Layer {
    /// Convolution with stride 1 and zero padding on all sides.
    Conv {
        /// Output channels.
        filters: usize,
        /// Side of the square kernel.
        kernel: usize,
        /// Zero rows and columns added on every side.
        padding: usize,
    },
    /// Maximum over `size` x `size` windows that do not overlap; rows and columns left over are dropped.
    MaxPool {
        /// Window side.
        size: usize,
    },
    /// `max(x, 0)`.
    Relu,
    /// Fully connected; a feature map before it is flattened in channel, row, column order.
    Dense {
        /// Outputs.
        units: usize,
    },
}

/// What is read: the same with every variant a struct, because serde lets unknown keys pass beside
/// the tag of a unit variant.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum LayerFields {
    Conv {
        filters: usize,
        kernel: usize,
        #[serde(default)]
        padding: usize,
    },
    MaxPool {
        size: usize,
    },
    Relu {},
    Dense {
        units: usize,
    },
}

impl From<LayerFields> for Layer {
    fn from(fields: LayerFields) -> Self {
        match fields {
            LayerFields::Conv {
                filters,
                kernel,
                padding,
            } => Self::Conv {
                filters,
                kernel,
                padding,
            },
            LayerFields::MaxPool { size } => Self::MaxPool { size },
            LayerFields::Relu {} => Self::Relu,
            LayerFields::Dense { units } => Self::Dense { units },
        }
    }
}

impl Layer {
    /// The layer's `kind` as a model file writes it.
    pub fn kind(&self) -> &'static str {
        match self {
            Layer::Conv { .. } => "conv",
            Layer::MaxPool { .. } => "max_pool",
            Layer::Relu => "relu",
            Layer::Dense { .. } => "dense",
        }
    }
}

/// A model: layers from input to logits. The last one is a `Dense` with one unit per class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// The layers in the order data passes them.
    pub layers: Vec<Layer>,
}

impl ModelSpec {
    /// Names that [`ModelSpec::builtin`] knows.
    pub const BUILTIN: [&str; 5] = ["logistic", "mlp", "cnn", "lenet5", "vgg"];

    /// A built-in model, or `None` for an unknown name.
    ///
    /// On 28x28x1 and 10 classes, `cnn`, `lenet5` and `vgg` have 21 840, 60 074 and 206 922 parameters.
    pub fn builtin(name: &str, classes: usize) -> Option<ModelSpec> {
        let conv = |filters, kernel, padding| Layer::Conv {
            filters,
            kernel,
            padding,
        };
        let dense = |units| Layer::Dense { units };
        let pool = Layer::MaxPool { size: 2 };
        let relu = Layer::Relu;
        let layers = match name {
            "logistic" => vec![dense(classes)],
            "mlp" => vec![dense(200), relu, dense(classes)],
            "cnn" => vec![
                conv(10, 5, 0),
                pool,
                relu,
                conv(20, 5, 0),
                pool,
                relu,
                dense(50),
                relu,
                dense(classes),
            ],
            "lenet5" => vec![
                conv(6, 3, 0),
                relu,
                pool,
                conv(16, 3, 0),
                relu,
                pool,
                dense(120),
                relu,
                dense(84),
                relu,
                dense(classes),
            ],
            "vgg" => vec![
                conv(16, 3, 1),
                relu,
                pool,
                conv(32, 3, 1),
                relu,
                pool,
                dense(128),
                relu,
                dense(classes),
            ],
            _ => return None,
        };
        Some(ModelSpec { layers })
    }
}
