//! The oracle against finite differences, the engine against the oracle.
#![allow(clippy::unwrap_used)]

mod common;

use aerofed_nn::{Engine, Examples, Job, Layer, ModelSpec, Network, Sgd, Shape};
use common::{lcg, lcg_examples, lcg_weights, pass_example, widen};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn conv(filters: usize, kernel: usize, padding: usize) -> Layer {
    Layer::Conv {
        filters,
        kernel,
        padding,
    }
}

fn network(layers: Vec<Layer>, channels: usize, height: usize, width: usize) -> Network {
    let classes = match layers.last() {
        Some(Layer::Dense { units }) => *units,
        _ => 0,
    };
    let shape = Shape {
        channels,
        height,
        width,
    };
    Network::new(&ModelSpec { layers }, shape, classes).unwrap()
}

/// Central differences of the oracle's loss, for weights and inputs.
#[test]
fn every_layer_has_the_gradient_of_its_loss() {
    let dense = Layer::Dense { units: 3 };
    let pool = |size| Layer::MaxPool { size };
    let cases = [
        vec![dense],
        vec![Layer::Relu, dense],
        vec![Layer::Dense { units: 5 }, Layer::Relu, dense],
        vec![conv(2, 3, 0), dense],
        vec![conv(2, 2, 1), dense],
        vec![conv(2, 1, 0), Layer::Relu, conv(3, 3, 2), dense],
        vec![pool(2), dense],
        vec![pool(3), dense],
        vec![conv(3, 3, 1), pool(2), Layer::Relu, dense],
        vec![conv(3, 4, 3), Layer::Relu, pool(2), conv(2, 3, 1), dense],
    ];
    for (case, layers) in cases.into_iter().enumerate() {
        let network = network(layers, 2, 7, 5);
        let weights = widen(&lcg_weights(&network, 5 + case as u32));
        let input: Vec<f64> = lcg(77, 70).iter().map(|&v| f64::from(v) - 0.5).collect();
        let pass = common::pass(&network, &weights, &input, 1);
        let step = 1e-5;
        let slope = |values: &[f64], at: usize, loss: &dyn Fn(&[f64]) -> f64| {
            let mut moved = values.to_vec();
            moved[at] = values[at] + step;
            let up = loss(&moved);
            moved[at] = values[at] - step;
            (up - loss(&moved)) / (2.0 * step)
        };
        for at in 0..weights.len() {
            let slope = slope(&weights, at, &|w| common::pass(&network, w, &input, 1).loss);
            assert!(
                (slope - pass.gradient[at]).abs() < 1e-8,
                "case {case}, weight {at}"
            );
        }
        for at in 0..input.len() {
            let slope = slope(&input, at, &|x| common::pass(&network, &weights, x, 1).loss);
            assert!(
                (slope - pass.input_gradient[at]).abs() < 1e-8,
                "case {case}, input {at}"
            );
        }
    }
}

/// Compares one training step and every batch operation of the engine with the oracle.
fn compare(network: &Network, batch: usize, sgd: Sgd) {
    let engine = Engine::new(network.clone(), 1);
    let (inputs, labels) = lcg_examples(network, 11, batch + 3);
    let examples = Examples::new(network, &inputs, &labels).unwrap();
    let start = lcg_weights(network, 3);
    let order: Vec<u32> = (0..batch as u32).map(|i| i + 3).rev().collect();
    let job = Job {
        start: &start,
        order: &order,
        batch_size: batch,
        sgd,
    };
    let update = engine.train(&examples, &[job]).unwrap().remove(0);
    let (weights, losses) = common::train(network, &examples, &job);
    assert!((f64::from(update.mean_loss) - losses[0]).abs() < 1e-5);
    close("weights", &update.weights, &weights);

    let wide = widen(&start);
    let passes: Vec<_> = order
        .iter()
        .map(|&index| pass_example(network, &wide, &examples, index))
        .collect();
    let gradients: Vec<f64> = passes
        .iter()
        .flat_map(|p| p.input_gradient.clone())
        .collect();
    close(
        "input gradient",
        &engine.input_gradient(&examples, &start, &order).unwrap(),
        &gradients,
    );
    let softmax: Vec<f64> = passes
        .iter()
        .flat_map(|p| common::softmax(&p.logits))
        .collect();
    close(
        "softmax",
        &engine.probabilities(&examples, &start, &order).unwrap(),
        &softmax,
    );
    let evaluation = engine.evaluate(&examples, &start, Some(&order)).unwrap();
    let loss = passes.iter().map(|p| p.loss).sum::<f64>() / batch as f64;
    assert!((evaluation.loss - loss).abs() < 1e-5);
    let hits = passes.iter().zip(&order).filter(|(pass, index)| {
        let label = usize::from(labels[**index as usize]);
        (0..network.classes()).all(|c| c == label || pass.logits[c] < pass.logits[label])
    });
    assert_eq!(evaluation.correct, hits.count());
}

fn close(what: &str, fast: &[f32], exact: &[f64]) {
    assert_eq!(fast.len(), exact.len());
    let scale = exact.iter().fold(1e-3f64, |m, v| m.max(v.abs()));
    for (at, (f, e)) in fast.iter().zip(exact).enumerate() {
        assert!(
            (f64::from(*f) - e).abs() < 1e-5 * scale,
            "{what} {at}: {f} is not {e}"
        );
    }
}

#[test]
fn built_in_models_agree_with_the_oracle() {
    for name in ModelSpec::BUILTIN {
        let spec = ModelSpec::builtin(name, 10).unwrap();
        for (channels, side, batch) in [(1, 28, 20), (3, 33, 10)] {
            let network = network(spec.layers.clone(), channels, side, side);
            let sgd = Sgd {
                learning_rate: 0.5,
                ..Sgd::default()
            };
            compare(&network, batch, sgd);
        }
    }
}

/// Every number of samples that a group can have, in maps whose rows end in every place of a vector.
#[test]
fn any_batch_agrees_with_the_oracle() {
    let pool = Layer::MaxPool { size: 2 };
    let layers = |kernel| {
        vec![
            conv(5, kernel, 1),
            Layer::Relu,
            pool,
            conv(4, kernel, 0),
            Layer::Relu,
            Layer::Dense { units: 5 },
        ]
    };
    for batch in (1..=16).chain([17, 20, 24, 31]) {
        for (kernel, width) in [(3, 9 + batch % 5), (5, 12)] {
            let network = network(layers(kernel), 2, 13, width);
            let sgd = Sgd {
                learning_rate: 0.5,
                ..Sgd::default()
            };
            compare(&network, batch, sgd);
        }
    }
}

/// A convolution whose gradient does not fit one strip, with and without pooling.
#[test]
fn large_maps_agree_with_the_oracle() {
    let dense = Layer::Dense { units: 4 };
    let pool = Layer::MaxPool { size: 2 };
    let cases = [
        vec![
            conv(16, 3, 1),
            Layer::Relu,
            pool,
            conv(20, 5, 0),
            pool,
            Layer::Relu,
            dense,
        ],
        vec![
            conv(24, 5, 2),
            Layer::Relu,
            conv(30, 3, 1),
            Layer::Relu,
            pool,
            dense,
        ],
        vec![conv(24, 2, 0), conv(30, 7, 1), pool, dense],
    ];
    for layers in cases {
        let network = network(layers, 3, 45, 64);
        compare(
            &network,
            3,
            Sgd {
                learning_rate: 0.5,
                ..Sgd::default()
            },
        );
    }
}

fn layers() -> impl Strategy<Value = Vec<Layer>> {
    let layer = prop_oneof![
        4 => (1usize..22, 1usize..8, 0usize..4).prop_map(|(f, k, p)| conv(f, k, p)),
        2 => Just(Layer::MaxPool { size: 2 }),
        1 => (1usize..4).prop_map(|size| Layer::MaxPool { size }),
        4 => Just(Layer::Relu),
    ];
    let dense = (1usize..40).prop_map(|units| Layer::Dense { units });
    let head = prop_oneof![
        2 => Just(vec![]),
        1 => dense.clone().prop_map(|d| vec![d]),
        1 => dense.prop_map(|d| vec![d, Layer::Relu]),
    ];
    (prop::collection::vec(layer, 0..6), head).prop_map(|(layers, head)| [layers, head].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, rng_seed: RngSeed::Fixed(2024), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_network_agrees_with_the_oracle(
        mut layers in layers(),
        channels in 1usize..4, height in 3usize..14, width in 3usize..14, classes in 2usize..12,
        batch in 1usize..41,
        momentum in prop_oneof![Just(0.0f32), Just(0.9)],
        weight_decay in prop_oneof![Just(0.0f32), Just(0.1)],
        proximal in prop_oneof![Just(0.0f32), Just(0.5)],
    ) {
        layers.push(Layer::Dense { units: classes });
        let shape = Shape { channels, height, width };
        // Layers that do not fit are no case; the error paths have tests of their own.
        if let Ok(network) = Network::new(&ModelSpec { layers }, shape, classes) {
            let sgd = Sgd { learning_rate: 0.3, momentum, weight_decay, proximal, adversarial_epsilon: 0.0 };
            compare(&network, batch, sgd);
        }
    }
}

/// Several steps with everything on, a short last batch, and adversarial samples.
#[test]
fn a_whole_job_agrees_with_the_oracle() {
    let layers = vec![
        conv(3, 3, 1),
        Layer::Relu,
        Layer::MaxPool { size: 2 },
        Layer::Dense { units: 4 },
    ];
    let network = network(layers, 1, 9, 8);
    let (inputs, labels) = lcg_examples(&network, 1, 30);
    let examples = Examples::new(&network, &inputs, &labels).unwrap();
    let start = lcg_weights(&network, 2);
    let order: Vec<u32> = (0..47).map(|i| i * 11 % 30).collect();
    for adversarial_epsilon in [0.0, 0.1] {
        let sgd = Sgd {
            learning_rate: 0.1,
            momentum: 0.9,
            weight_decay: 0.01,
            proximal: 0.1,
            adversarial_epsilon,
        };
        let job = Job {
            start: &start,
            order: &order,
            batch_size: 10,
            sgd,
        };
        let update = Engine::new(network.clone(), 1)
            .train(&examples, &[job])
            .unwrap()
            .remove(0);
        let (weights, losses) = common::train(&network, &examples, &job);
        assert_eq!(losses.len(), 5);
        close("weights", &update.weights, &weights);
        let mean = losses.iter().sum::<f64>() / 5.0;
        assert!((f64::from(update.mean_loss) - mean).abs() < 1e-5);
    }
}
