//! Weights as named tensors in a safetensors file: `layer0.weight`, `layer0.bias`, ...
//!
//! The number is the layer's position in the model. The writer is our own: the same weights always give
//! the same bytes, which a header built from a hash map would not.

use crate::error::Error;
use crate::job::check_weights;
use crate::network::{LayerPlan, Network};
use crate::spec::Layer;
use safetensors::{Dtype, SafeTensors};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ops::Range;

/// The tensors of a network in file order: name, shape, place in the flat weights.
fn tensors(network: &Network) -> Vec<(String, Vec<usize>, Range<usize>)> {
    let with_parameters = |plan: &&LayerPlan| plan.has_parameters();
    let mut all = Vec::new();
    for (index, plan) in network.layers().iter().enumerate() {
        if !with_parameters(&plan) {
            continue;
        }
        let outputs = plan.biases.len();
        let shape = match plan.layer {
            Layer::Conv { kernel, .. } => vec![outputs, plan.input.channels, kernel, kernel],
            _ => vec![outputs, plan.input.values()],
        };
        all.push((format!("layer{index}.weight"), shape, plan.weights.clone()));
        all.push((
            format!("layer{index}.bias"),
            vec![outputs],
            plan.biases.clone(),
        ));
    }
    all
}

/// Writes `weights` as a safetensors file with the model, its input and its classes as metadata.
///
/// Keys of `metadata` are added to it; `spec`, `input` and `classes` are ours and win.
///
/// # Errors
/// When `weights` is not as long as the network has parameters.
pub fn to_safetensors(
    network: &Network,
    weights: &[f32],
    metadata: &BTreeMap<String, String>,
) -> Result<Vec<u8>, Error> {
    check_weights(network, weights, "weights")?;
    let unreadable = |error: serde_json::Error| Error::WeightsFile(error.to_string());
    let mut about = metadata.clone();
    about.insert(
        "spec".into(),
        serde_json::to_string(network.spec()).map_err(unreadable)?,
    );
    about.insert(
        "input".into(),
        serde_json::to_string(&network.input()).map_err(unreadable)?,
    );
    about.insert("classes".into(), network.classes().to_string());
    // BTreeMap keeps the keys sorted whatever features serde_json is built with.
    let mut header: BTreeMap<String, Value> = BTreeMap::new();
    let about: Map<String, Value> = about
        .into_iter()
        .map(|(key, value)| (key, value.into()))
        .collect();
    header.insert("__metadata__".into(), about.into());
    for (name, shape, range) in tensors(network) {
        let offsets = [range.start * 4, range.end * 4];
        header.insert(
            name,
            json!({"data_offsets": offsets, "dtype": "F32", "shape": shape}),
        );
    }
    let mut text = serde_json::to_vec(&header).map_err(unreadable)?;
    text.resize(text.len().next_multiple_of(8), b' ');
    let mut bytes = Vec::with_capacity(8 + text.len() + 4 * weights.len());
    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&text);
    bytes.extend(weights.iter().flat_map(|weight| weight.to_le_bytes()));
    Ok(bytes)
}

/// Reads the weights of `network` from a safetensors file; other tensors in it are ignored.
///
/// # Errors
/// When the bytes are no safetensors file, or a tensor is missing, not f32 or of another shape.
pub fn from_safetensors(network: &Network, bytes: &[u8]) -> Result<Vec<f32>, Error> {
    let file =
        SafeTensors::deserialize(bytes).map_err(|error| Error::WeightsFile(error.to_string()))?;
    let mut weights = Vec::with_capacity(network.parameter_count());
    for (name, shape, _) in tensors(network) {
        let tensor = file
            .tensor(&name)
            .map_err(|_| Error::WeightsFile(format!("tensor {name} is missing")))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
            return Err(Error::WeightsFile(format!(
                "tensor {name} is {:?} {:?}: the network needs F32 {shape:?}",
                tensor.dtype(),
                tensor.shape()
            )));
        }
        let values = tensor.data().chunks_exact(4);
        weights.extend(values.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
    }
    Ok(weights)
}
