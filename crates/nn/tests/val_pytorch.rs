//! Against PyTorch. `scripts/torch_reference.py` makes the stored values.
#![allow(clippy::unwrap_used)]

mod common;

use aerofed_nn::{Engine, Examples, Job, ModelSpec, Network, Sgd, Shape};
use common::{lcg, lcg_weights};
use serde_json::Value;

const SAMPLES: usize = 320;
const BATCH: usize = 32;

fn network(name: &str) -> Network {
    let shape = Shape {
        channels: 1,
        height: 28,
        width: 28,
    };
    Network::new(&ModelSpec::builtin(name, 10).unwrap(), shape, 10).unwrap()
}

/// Noise with a bright band of rows that tells the class, as in the script.
fn data() -> (Vec<f32>, Vec<u8>) {
    let mut inputs = lcg(11, SAMPLES * 784);
    let labels: Vec<u8> = (0..SAMPLES).map(|i| (i * 7 % 10) as u8).collect();
    for (sample, label) in inputs.chunks_mut(784).zip(&labels) {
        let row = 2 * usize::from(*label) + 4;
        for value in &mut sample[row * 28..(row + 2) * 28] {
            *value += 1.0;
        }
    }
    (inputs, labels)
}

fn batch(step: usize) -> Vec<u32> {
    (0..BATCH)
        .map(|i| ((step * BATCH + i) * 13 % SAMPLES) as u32)
        .collect()
}

fn number(value: &Value) -> f32 {
    value.as_f64().unwrap() as f32
}

fn norm(values: impl Iterator<Item = f32>) -> f64 {
    values.map(|v| f64::from(v).powi(2)).sum::<f64>().sqrt()
}

fn reference(text: &str) -> Vec<(String, Value)> {
    let file: Value = serde_json::from_str(text).unwrap();
    let models = file["models"].as_object().unwrap();
    models
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[test]
fn one_step_of_each_model_is_pytorchs() {
    let (inputs, labels) = data();
    let models = reference(include_str!("reference/one_step.json"));
    assert_eq!(models.len(), ModelSpec::BUILTIN.len());
    for (name, expected) in models {
        let network = network(&name);
        let examples = Examples::new(&network, &inputs, &labels).unwrap();
        let start = lcg_weights(&network, 3);
        let job = Job {
            start: &start,
            order: &batch(0),
            batch_size: BATCH,
            sgd: Sgd {
                learning_rate: number(&expected["learning_rate"]),
                momentum: number(&expected["momentum"]),
                weight_decay: number(&expected["weight_decay"]),
                ..Sgd::default()
            },
        };
        let engine = Engine::new(network, 1);
        let update = engine.train(&examples, &[job]).unwrap().remove(0);
        assert!(
            (update.mean_loss - number(&expected["loss"])).abs() < 1e-5,
            "{name}"
        );
        let stride = expected["stride"].as_u64().unwrap() as usize;
        let weights = expected["weights"].as_array().unwrap();
        assert!(weights.len() >= 150);
        for (ours, theirs) in update.weights.iter().step_by(stride).zip(weights) {
            assert!(
                (ours - number(theirs)).abs() < 1e-5,
                "{name}: {ours} {theirs}"
            );
        }
        let moved = norm(update.weights.iter().zip(&start).map(|(w, s)| w - s));
        let norms = [
            (moved, &expected["step_norm"]),
            (
                norm(update.weights.iter().copied()),
                &expected["weights_norm"],
            ),
        ];
        for (ours, theirs) in norms {
            let theirs = theirs.as_f64().unwrap();
            assert!(
                (ours - theirs).abs() < 1e-5 * theirs,
                "{name}: {ours} {theirs}"
            );
        }
    }
}

#[test]
fn loss_curves_over_200_steps_are_pytorchs() {
    let (inputs, labels) = data();
    for (name, expected) in reference(include_str!("reference/loss_curves.json")) {
        let network = network(&name);
        let examples = Examples::new(&network, &inputs, &labels).unwrap();
        let mut weights = lcg_weights(&network, 3);
        let engine = Engine::new(network, 1);
        let losses = expected["losses"].as_array().unwrap();
        assert_eq!(losses.len(), 200);
        for (step, theirs) in losses.iter().enumerate() {
            let sgd = Sgd {
                learning_rate: number(&expected["learning_rate"]),
                ..Sgd::default()
            };
            let order = batch(step);
            let job = Job {
                start: &weights,
                order: &order,
                batch_size: BATCH,
                sgd,
            };
            let update = engine.train(&examples, &[job]).unwrap().remove(0);
            let apart = (update.mean_loss - number(theirs)).abs();
            assert!(
                apart < 1e-4,
                "{name}, step {step}: {} {theirs}",
                update.mean_loss
            );
            weights = update.weights;
        }
        assert!(
            number(&losses[199]) < 0.5 * number(&losses[0]),
            "{name}: something is learnt"
        );
    }
}
