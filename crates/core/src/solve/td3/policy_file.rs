//! An agent's networks as a safetensors file: what it has learnt, without what it remembers.

use std::collections::HashMap;

use aerofed_nn::Mlp;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use super::{Learner, Settings, Td3, Td3Error, Td3State, shapes};
use crate::solve::replay::{Replay, check_values};

/// The file's only key of metadata: with one key its bytes do not depend on the order of a hash map.
const KEY: &str = "td3";

/// What the metadata says of the networks, as JSON.
#[derive(Serialize, Deserialize)]
struct About {
    state_dim: usize,
    action_dim: usize,
    hidden: Vec<usize>,
    action_low: f64,
    action_high: f64,
}

impl About {
    fn new(settings: &Settings, state_dim: usize, action_dim: usize) -> Self {
        Self {
            state_dim,
            action_dim,
            hidden: settings.hidden.clone(),
            action_low: settings.action_low,
            action_high: settings.action_high,
        }
    }

    fn fields(&self) -> [(&'static str, String); 5] {
        [
            ("state_dim", self.state_dim.to_string()),
            ("action_dim", self.action_dim.to_string()),
            ("hidden", format!("{:?}", self.hidden)),
            ("action_low", self.action_low.to_string()),
            ("action_high", self.action_high.to_string()),
        ]
    }
}

/// A network's tensors: `actor.layer0.weight` and so on, with shapes and places in the flat weights.
fn tensors(network: &str, shape: &Mlp) -> Vec<(String, Vec<usize>, std::ops::Range<usize>)> {
    let mut all = Vec::new();
    for (index, ([outputs, inputs], weights, biases)) in shape.layers().enumerate() {
        all.push((
            format!("{network}.layer{index}.weight"),
            vec![outputs, inputs],
            weights,
        ));
        all.push((
            format!("{network}.layer{index}.bias"),
            vec![outputs],
            biases,
        ));
    }
    all
}

fn unusable(error: impl std::fmt::Display) -> Td3Error {
    Td3Error::PolicyFile(error.to_string())
}

impl Td3 {
    /// The actor, the critics and their targets as a safetensors file; equal networks give equal bytes.
    ///
    /// # Errors
    /// None that a checked agent could give.
    pub fn to_safetensors(&self) -> Result<Vec<u8>, Td3Error> {
        let Td3State {
            settings,
            state_dim,
            action_dim,
            actor,
            critics: [first, second],
            ..
        } = &self.state;
        let networks = [
            ("actor", &self.actor, actor),
            ("critic1", &self.critic, first),
            ("critic2", &self.critic, second),
        ];
        let mut blocks = Vec::new();
        for (name, shape, learner) in networks {
            for (name, weights) in [
                (name.to_owned(), &learner.weights),
                (format!("{name}_target"), &learner.target),
            ] {
                for (name, shape, range) in tensors(&name, shape) {
                    let bytes: Vec<u8> = weights[range]
                        .iter()
                        .flat_map(|weight| weight.to_le_bytes())
                        .collect();
                    blocks.push((name, shape, bytes));
                }
            }
        }
        let mut views = Vec::new();
        for (name, shape, bytes) in &blocks {
            views.push((
                name,
                TensorView::new(Dtype::F32, shape.clone(), bytes).map_err(unusable)?,
            ));
        }
        let about = About::new(settings, *state_dim, *action_dim);
        let about = serde_json::to_string(&about).map_err(unusable)?;
        safetensors::serialize(views, Some(HashMap::from([(KEY.to_owned(), about)])))
            .map_err(unusable)
    }

    /// An agent with the networks of a file that [`Td3::to_safetensors`] wrote; its optimisers are new and it
    /// remembers nothing.
    ///
    /// # Errors
    /// When the settings are out of range, the bytes are not such a file, or its networks are of another shape.
    pub fn from_safetensors(
        settings: Settings,
        state_dim: usize,
        action_dim: usize,
        bytes: &[u8],
    ) -> Result<Self, Td3Error> {
        let (actor, critic) = shapes(&settings, state_dim, action_dim)?;
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(unusable)?;
        let file = SafeTensors::deserialize(bytes).map_err(unusable)?;
        let about = header
            .metadata()
            .as_ref()
            .and_then(|metadata| metadata.get(KEY));
        let about =
            about.ok_or_else(|| unusable("it has no metadata `td3`: some other program's file"))?;
        let found: About = serde_json::from_str(about).map_err(unusable)?;
        let expected = About::new(&settings, state_dim, action_dim);
        for ((field, found), (_, expected)) in found.fields().into_iter().zip(expected.fields()) {
            if found != expected {
                let text = format!("its networks are for {field} = {found}, needed: {expected}");
                return Err(unusable(text));
            }
        }
        let learner = |name: &str, shape: &Mlp| {
            let mut learner = Learner::new(read(&file, name, shape)?);
            learner.target = read(&file, &format!("{name}_target"), shape)?;
            Ok::<_, Td3Error>(learner)
        };
        let replay = Replay::new(state_dim, action_dim, settings.replay_capacity);
        Self::restore(Td3State {
            actor: learner("actor", &actor)?.into(),
            critics: [
                learner("critic1", &critic)?.into(),
                learner("critic2", &critic)?.into(),
            ],
            settings,
            state_dim,
            action_dim,
            replay,
            updates: 0,
        })
    }
}

/// The flat weights of one network.
fn read(file: &SafeTensors, network: &str, shape: &Mlp) -> Result<Vec<f32>, Td3Error> {
    let mut weights = Vec::with_capacity(shape.parameter_count());
    for (name, shape, range) in tensors(network, shape) {
        let tensor = file
            .tensor(&name)
            .map_err(|_| unusable(format!("tensor {name} is missing")))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
            let (dtype, found) = (tensor.dtype(), tensor.shape());
            return Err(unusable(format!(
                "tensor {name} is {dtype:?} {found:?}, needed: F32 {shape:?}"
            )));
        }
        let values = tensor.data().chunks_exact(4);
        weights.extend(values.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        check_values(
            "weights of the policy file",
            &weights[range.clone()],
            range.len(),
        )?;
    }
    Ok(weights)
}
