//! The perceptron against plain f64 arithmetic and finite differences, and its bits against themselves.
#![allow(clippy::unwrap_used, reason = "tests")]

use aerofed_nn::{Activation, Adam, Error, Isa, Mlp};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SHAPES: [&[usize]; 6] = [
    &[3, 64, 64, 1],
    &[2, 64, 64, 1],
    &[17, 40, 3],
    &[1, 1, 1],
    &[5, 2],
    &[33, 20, 7, 300],
];
const ACTIVATIONS: [Activation; 3] = [Activation::Linear, Activation::Sigmoid, Activation::Tanh];

fn draw(count: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// One sample forward, in f64 and without any cleverness.
fn plain(sizes: &[usize], output: Activation, weights: &[f64], input: &[f64]) -> Vec<f64> {
    let (mut values, mut rest) = (input.to_vec(), weights);
    for layer in 1..sizes.len() {
        let (rows, next) = rest.split_at(sizes[layer] * sizes[layer - 1]);
        let (biases, next) = next.split_at(sizes[layer]);
        rest = next;
        let sum = |(row, bias): (&[f64], &f64)| {
            bias + row.iter().zip(&values).map(|(w, v)| w * v).sum::<f64>()
        };
        let sums: Vec<f64> = rows.chunks(sizes[layer - 1]).zip(biases).map(sum).collect();
        let act = |x: &f64| match output {
            _ if layer + 1 < sizes.len() => x.max(0.0),
            Activation::Linear => *x,
            Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Activation::Tanh => x.tanh(),
        };
        values = sums.iter().map(act).collect();
    }
    assert!(rest.is_empty());
    values
}

/// A loss of the outputs whose slope by output `i` is `slopes[i]`.
fn plain_loss(
    sizes: &[usize],
    output: Activation,
    weights: &[f64],
    inputs: &[f64],
    slopes: &[f32],
) -> f64 {
    let outputs = inputs
        .chunks(sizes[0])
        .flat_map(|input| plain(sizes, output, weights, input));
    outputs
        .zip(slopes)
        .map(|(value, slope)| value * f64::from(*slope))
        .sum()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

#[test]
fn outputs_are_those_of_plain_arithmetic() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for sizes in SHAPES {
        for output in ACTIVATIONS {
            let mut mlp = Mlp::new(sizes, output).unwrap();
            assert_eq!(
                [mlp.inputs(), mlp.outputs()],
                [sizes[0], *sizes.last().unwrap()]
            );
            let weights = mlp.init(&mut rng);
            assert_eq!(weights.len(), mlp.parameter_count());
            // Large after small: memory grows; small after large: the rest of it is not used.
            for batch in [1, 20, 7, 16, 129, 0, 3] {
                let inputs = draw(batch * sizes[0], &mut rng);
                let outputs = mlp.forward(&weights, &inputs).unwrap();
                let expected = inputs
                    .chunks(sizes[0])
                    .flat_map(|input| plain(sizes, output, &wide(&weights), &wide(input)));
                let expected: Vec<f64> = expected.collect();
                assert_eq!(outputs.len(), expected.len());
                for (value, expected) in outputs.iter().zip(expected) {
                    assert!(
                        (f64::from(*value) - expected).abs() < 2e-6,
                        "{sizes:?} {output:?} {batch}: {value} {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn gradients_are_finite_differences() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for sizes in &SHAPES[1..5] {
        for (output, batch) in ACTIVATIONS.into_iter().zip([19, 3, 9]) {
            let mut mlp = Mlp::new(sizes, output).unwrap();
            let weights = mlp.init(&mut rng);
            let inputs = draw(batch * sizes[0], &mut rng);
            let slopes = draw(batch * mlp.outputs(), &mut rng);
            mlp.forward(&weights, &inputs).unwrap();
            let mut gradient = vec![f32::NAN; weights.len()];
            let input_gradient = mlp.backward(&slopes, &mut gradient).unwrap();

            let (weights, inputs) = (wide(&weights), wide(&inputs));
            let loss = |weights: &[f64], inputs: &[f64]| {
                plain_loss(sizes, output, weights, inputs, &slopes)
            };
            let by_weight = differences(&weights, |weights| loss(weights, &inputs));
            let by_input = differences(&inputs, |inputs| loss(&weights, inputs));
            assert_close(&gradient, &by_weight);
            assert_close(input_gradient, &by_input);
        }
    }
}

/// Central differences of `loss` by each of `values`.
fn differences(values: &[f64], loss: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    const STEP: f64 = 1e-6;
    let (count, mut values) = (values.len(), values.to_vec());
    let slope = |at: usize| {
        let here = values[at];
        let [above, below] = [here + STEP, here - STEP].map(|value| {
            values[at] = value;
            loss(&values)
        });
        values[at] = here;
        (above - below) / (2.0 * STEP)
    };
    (0..count).map(slope).collect()
}

fn assert_close(gradient: &[f32], expected: &[f64]) {
    assert_eq!(gradient.len(), expected.len());
    let largest = expected
        .iter()
        .fold(0.0_f64, |most, slope| most.max(slope.abs()));
    assert!(largest > 1e-3);
    for (slope, expected) in gradient.iter().zip(expected) {
        assert!(
            (f64::from(*slope) - expected).abs() < 1e-5 * largest.max(1.0),
            "{slope} {expected}"
        );
    }
}

#[test]
fn instruction_sets_agree_bit_for_bit() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for sizes in SHAPES {
        for output in ACTIVATIONS {
            let mut all: Vec<Mlp> = Isa::ALL
                .into_iter()
                .filter_map(|isa| Mlp::with_isa(sizes, output, isa).ok())
                .collect();
            let weights = all[0].init(&mut rng);
            for batch in [1, 8, 9, 16, 17, 25, 64] {
                let inputs = draw(batch * sizes[0], &mut rng);
                let slopes = draw(batch * all[0].outputs(), &mut rng);
                let mut run = |mlp: &mut Mlp| {
                    let outputs = mlp.forward(&weights, &inputs).unwrap().to_vec();
                    let mut gradient = vec![0.0; weights.len()];
                    let input_gradient = mlp.backward(&slopes, &mut gradient).unwrap().to_vec();
                    [outputs, gradient, input_gradient]
                        .map(|part| part.iter().map(|v| v.to_bits()).collect::<Vec<_>>())
                };
                let results: Vec<_> = all.iter_mut().map(&mut run).collect();
                assert!(results.iter().all(|result| *result == results[0]));
            }
        }
    }
}

#[test]
fn a_sample_does_not_see_its_batch() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut mlp = Mlp::new(&[3, 64, 64, 2], Activation::Tanh).unwrap();
    let weights = mlp.init(&mut rng);
    let (inputs, slopes) = (draw(41 * 3, &mut rng), draw(41 * 2, &mut rng));
    let mut gradient = vec![0.0; weights.len()];
    let together = mlp.forward(&weights, &inputs).unwrap().to_vec();
    let back = mlp.backward(&slopes, &mut gradient).unwrap().to_vec();
    for sample in 0..41 {
        let alone = mlp.forward(&weights, &inputs[3 * sample..][..3]).unwrap();
        assert_eq!(alone, &together[2 * sample..][..2]);
        let alone = mlp
            .backward(&slopes[2 * sample..][..2], &mut gradient)
            .unwrap();
        assert_eq!(alone, &back[3 * sample..][..3]);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for sizes in [
        &[][..],
        &[3],
        &[3, 0, 1],
        &[0, 1],
        &[3, usize::MAX],
        &[1 << 20, 1 << 20],
    ] {
        let error = Mlp::new(sizes, Activation::Linear).unwrap_err();
        assert!(
            matches!(error, Error::Model(_) | Error::Layer { .. }),
            "{sizes:?}: {error}"
        );
    }
    let mut mlp = Mlp::new(&[2, 3, 1], Activation::Linear).unwrap();
    let weights = vec![0.1; 13];
    let what = |error: Error| match error {
        Error::Length {
            what,
            expected,
            actual,
        } => (what, expected, actual),
        other => unreachable!("{other}"),
    };
    assert_eq!(
        what(mlp.forward(&weights[1..], &[]).unwrap_err()),
        ("weights", 13, 12)
    );
    assert_eq!(
        what(mlp.forward(&weights, &[0.0; 5]).unwrap_err()),
        ("inputs", 6, 5)
    );
    mlp.forward(&weights, &[0.0; 6]).unwrap();
    assert_eq!(
        what(mlp.backward(&[1.0; 2], &mut [0.0; 13]).unwrap_err()),
        ("output_gradient", 3, 2)
    );
    assert_eq!(
        what(mlp.backward(&[1.0; 3], &mut [0.0; 14]).unwrap_err()),
        ("weight_gradient", 13, 14)
    );
    let mut adam = Adam::new(3);
    assert_eq!(
        what(adam.step(0.1, &mut [0.0; 3], &[0.0; 2]).unwrap_err()),
        ("gradient", 3, 2)
    );
    assert_eq!(
        what(adam.step(0.1, &mut [0.0; 2], &[0.0; 2]).unwrap_err()).1,
        2
    );
}

/// The formula in f64, with its powers taken each time.
#[test]
fn adam_is_its_formula() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut weights = draw(50, &mut rng);
    let (mut plain, mut mean, mut square) = (wide(&weights), [0.0; 50], [0.0; 50]);
    let mut adam = Adam::new(50);
    for step in 1..=200 {
        let gradient: Vec<f32> = draw(50, &mut rng)
            .iter()
            .enumerate()
            .map(|(i, g)| g * 10f32.powi(i as i32 / 10 - 3))
            .collect();
        adam.step(0.01, &mut weights, &gradient).unwrap();
        for (i, slope) in wide(&gradient).into_iter().enumerate() {
            mean[i] = 0.9 * mean[i] + 0.1 * slope;
            square[i] = 0.999 * square[i] + 0.001 * slope * slope;
            let (m, v) = (
                mean[i] / (1.0 - 0.9f64.powi(step)),
                square[i] / (1.0 - 0.999f64.powi(step)),
            );
            plain[i] -= 0.01 * m / (v.sqrt() + 1e-8);
        }
    }
    for (weight, plain) in weights.iter().zip(plain) {
        assert!(
            (f64::from(*weight) - plain).abs() < 2e-5,
            "{weight} {plain}"
        );
    }
}
