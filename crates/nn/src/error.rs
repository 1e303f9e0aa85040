//! Everything that can be wrong with what a caller gives.

/// Why a network could not be built, trained, evaluated or stored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A layer does not fit the map it is given, or has a field out of range.
    #[error("layer {index} ({kind}): {field} = {value}: {reason}")]
    Layer {
        /// Position in `ModelSpec::layers`, from 0.
        index: usize,
        /// The layer's `kind` as written in a model file.
        kind: &'static str,
        /// The offending field.
        field: &'static str,
        /// Its value.
        value: usize,
        /// What would be allowed.
        reason: String,
    },
    /// The model as a whole is impossible.
    #[error("model: {0}")]
    Model(String),
    /// A slice has the wrong number of elements.
    #[error("{what} has {actual} values, {expected} are needed")]
    Length {
        /// Which slice.
        what: &'static str,
        /// Elements needed.
        expected: usize,
        /// Elements given.
        actual: usize,
    },
    /// A sample index points past the examples.
    #[error("sample index {index} is out of range: there are {samples} samples")]
    Index {
        /// The index given.
        index: u32,
        /// How many samples there are.
        samples: usize,
    },
    /// A label is not a class of the network.
    #[error("sample {sample} has label {label}: the network has {classes} classes (0..={})", .classes - 1)]
    Label {
        /// The sample with the bad label.
        sample: usize,
        /// Its label.
        label: u8,
        /// Classes of the network.
        classes: usize,
    },
    /// A training setting is out of range.
    #[error("{field} = {value}: {allowed}")]
    Setting {
        /// The setting's name.
        field: &'static str,
        /// The value given.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// An instruction set that is unknown or that this machine has not.
    #[error("instruction set {name}: {reason}")]
    Isa {
        /// The name asked for.
        name: String,
        /// Why it cannot be had.
        reason: &'static str,
    },
    /// A weights file cannot be read as this network's weights.
    #[error("weights file: {0}")]
    WeightsFile(String),
}
