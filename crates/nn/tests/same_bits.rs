//! Equal bits whatever the instruction set, the number of threads and the order of jobs.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod common;

use aerofed_nn::{
    Engine, Error, Examples, Inputs, Isa, Job, Layer, ModelSpec, Network, Sgd, Shape, Update,
};
use common::{lcg_examples, lcg_weights};

fn networks() -> Vec<Network> {
    let conv = |filters, kernel, padding| Layer::Conv {
        filters,
        kernel,
        padding,
    };
    let pool = |size| Layer::MaxPool { size };
    let odd = vec![
        conv(7, 6, 2),
        Layer::Relu,
        pool(2),
        conv(11, 4, 0),
        Layer::Relu,
        conv(3, 1, 1),
        pool(3),
        Layer::Relu,
        Layer::Dense { units: 19 },
        Layer::Relu,
        Layer::Dense { units: 10 },
    ];
    let mut specs: Vec<ModelSpec> = ModelSpec::BUILTIN
        .iter()
        .map(|name| ModelSpec::builtin(name, 10).unwrap())
        .collect();
    specs.push(ModelSpec { layers: odd });
    let shape = |channels, height, width| Shape {
        channels,
        height,
        width,
    };
    let mut all: Vec<Network> = specs
        .iter()
        .map(|spec| Network::new(spec, shape(1, 28, 28), 10).unwrap())
        .collect();
    all.push(Network::new(&specs[5], shape(3, 37, 21), 10).unwrap());
    // So large that gradients go back in strips.
    all.push(Network::new(&specs[4], shape(3, 64, 64), 10).unwrap());
    all
}

fn train(engine: &Engine) -> Vec<Update> {
    let (inputs, labels) = lcg_examples(engine.network(), 9, 60);
    train_on(
        engine,
        Examples::new(engine.network(), &inputs, &labels).unwrap(),
    )
}

/// Jobs of unequal length with full, half and short groups, and every kind of step, on 60 samples.
fn train_on(engine: &Engine, examples: Examples) -> Vec<Update> {
    let network = engine.network();
    let start = lcg_weights(network, 4);
    let orders: Vec<Vec<u32>> = [3, 70, 0, 16, 45]
        .iter()
        .map(|&count| (0..count).map(|i| i * 13 % 60).collect())
        .collect();
    let plain = Sgd::default();
    let full = Sgd {
        momentum: 0.9,
        weight_decay: 0.01,
        proximal: 0.1,
        adversarial_epsilon: 0.05,
        ..plain
    };
    let jobs: Vec<Job> = orders
        .iter()
        .zip([8, 24, 5, 16, 10])
        .zip([plain, plain, plain, full, full])
        .map(|((order, batch_size), sgd)| Job {
            start: &start,
            order,
            batch_size,
            sgd,
        })
        .collect();
    engine.train(&examples, &jobs).unwrap()
}

#[test]
fn instruction_sets_agree_bit_for_bit() {
    for network in networks() {
        let plain = Engine::with_isa(network.clone(), 1, Isa::Portable).unwrap();
        let expected = train(&plain);
        assert!(
            expected
                .iter()
                .all(|u| u.weights.iter().all(|w| w.is_finite()))
        );
        let (inputs, labels) = lcg_examples(&network, 2, 45);
        let examples = Examples::new(&network, &inputs, &labels).unwrap();
        let indices: Vec<u32> = (0..45).rev().collect();
        let weights = &expected[1].weights;
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_supported()) {
            let engine = Engine::with_isa(network.clone(), 1, isa).unwrap();
            assert_eq!(train(&engine), expected, "{isa}");
            assert_eq!(
                engine.evaluate(&examples, weights, None).unwrap(),
                plain.evaluate(&examples, weights, None).unwrap()
            );
            assert_eq!(
                engine.probabilities(&examples, weights, &indices).unwrap(),
                plain.probabilities(&examples, weights, &indices).unwrap()
            );
            assert_eq!(
                engine.input_gradient(&examples, weights, &indices).unwrap(),
                plain.input_gradient(&examples, weights, &indices).unwrap()
            );
        }
    }
}

/// Batches that fill the lanes in every way: by half, to the last one, with a rest that rows share, in two groups.
#[test]
fn instruction_sets_agree_for_every_batch() {
    for network in networks() {
        let (inputs, labels) = lcg_examples(&network, 9, 60);
        let examples = Examples::new(&network, &inputs, &labels).unwrap();
        let start = lcg_weights(&network, 4);
        let order: Vec<u32> = (0..62).map(|i| i * 13 % 60).collect();
        let train = |isa| {
            let engine = Engine::with_isa(network.clone(), 2, isa).unwrap();
            let jobs = [1, 3, 7, 8, 10, 13, 20, 31].map(|batch_size| Job {
                start: &start,
                order: &order[..2 * batch_size],
                batch_size,
                sgd: Sgd::default(),
            });
            engine.train(&examples, &jobs).unwrap()
        };
        let expected = train(Isa::Portable);
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_supported()) {
            assert_eq!(train(isa), expected, "{isa}");
        }
    }
}

/// What is kept as pixels trains and is looked at as the same numbers do.
#[test]
fn pixels_are_as_good_as_their_quotients() {
    for network in networks() {
        let (inputs, labels) = lcg_examples(&network, 9, 60);
        let pixels: Vec<u8> = inputs.iter().map(|v| (v.abs() * 510.0) as u8).collect();
        assert!((0..16).all(|step| pixels.contains(&(17 * step))));
        let numbers: Vec<f32> = pixels.iter().map(|&p| f32::from(p) / 255.0).collect();
        let kept = Examples::new(&network, &pixels, &labels).unwrap();
        let plain = Examples::new(&network, &numbers, &labels).unwrap();
        let indices: Vec<u32> = (0..60).rev().collect();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_supported()) {
            let engine = Engine::with_isa(network.clone(), 1, isa).unwrap();
            let updates = train_on(&engine, kept);
            assert_eq!(updates, train_on(&engine, plain), "{isa}");
            let weights = &updates[1].weights;
            assert_eq!(
                engine.evaluate(&kept, weights, None).unwrap(),
                engine.evaluate(&plain, weights, None).unwrap()
            );
            assert_eq!(
                engine.input_gradient(&kept, weights, &indices).unwrap(),
                engine.input_gradient(&plain, weights, &indices).unwrap()
            );
        }
    }
}

#[test]
fn threads_and_reuse_change_nothing() {
    for network in networks() {
        let alone = Engine::new(network.clone(), 1);
        let expected = train(&alone);
        assert_eq!(
            train(&alone),
            expected,
            "a used workspace is as good as a fresh one"
        );
        let (inputs, labels) = lcg_examples(&network, 2, 700);
        let examples = Examples::new(&network, &inputs, &labels).unwrap();
        let evaluation = alone
            .evaluate(&examples, &expected[0].weights, None)
            .unwrap();
        for threads in [2, 8] {
            let engine = Engine::new(network.clone(), threads);
            assert_eq!(train(&engine), expected);
            assert_eq!(
                engine
                    .evaluate(&examples, &expected[0].weights, None)
                    .unwrap(),
                evaluation
            );
        }
    }
}

/// Pooling before or after relu is the same function.
#[test]
fn pool_and_relu_commute() {
    let spec = |first, second| ModelSpec {
        layers: vec![
            Layer::Conv {
                filters: 5,
                kernel: 3,
                padding: 1,
            },
            first,
            second,
            Layer::Dense { units: 10 },
        ],
    };
    let pool = Layer::MaxPool { size: 2 };
    let shape = Shape {
        channels: 2,
        height: 9,
        width: 11,
    };
    let run = |spec: ModelSpec| train(&Engine::new(Network::new(&spec, shape, 10).unwrap(), 1));
    assert_eq!(run(spec(pool, Layer::Relu)), run(spec(Layer::Relu, pool)));
}

#[test]
fn unknown_or_missing_instruction_sets_are_refused() {
    assert!(
        "sse9"
            .parse::<Isa>()
            .unwrap_err()
            .to_string()
            .contains("sse9")
    );
    for isa in Isa::ALL {
        assert_eq!(isa.name().parse::<Isa>().unwrap(), isa);
        let result = Engine::with_isa(networks().remove(0), 1, isa);
        assert_eq!(result.is_ok(), isa.is_supported());
        if let Err(error) = result {
            assert!(matches!(error, Error::Isa { .. }));
        }
    }
}

/// The environment variable is read once per engine; another process can have another value of it.
#[test]
fn the_environment_forces_an_instruction_set() {
    let run = |name: &str| {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "says_its_instruction_set",
                "--ignored",
                "--nocapture",
            ])
            .env(Isa::VARIABLE, name)
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(run("portable").contains("engine: portable."));
    assert!(run("sse9").contains("engine: instruction set sse9: known are"));
}

#[test]
#[ignore = "run in another environment by: cargo test --workspace --test same_bits the_environment_forces"]
fn says_its_instruction_set() {
    let engine = Engine::new(networks().remove(0), 1);
    let weights = vec![0.0; engine.network().parameter_count()];
    let nothing = Examples::new(engine.network(), Inputs::Pixels(&[]), &[]).unwrap();
    match (engine.isa(), engine.evaluate(&nothing, &weights, None)) {
        (Ok(isa), Ok(_)) => println!("engine: {isa}."),
        (Err(error), Err(same)) if error == same => println!("engine: {error}"),
        _ => panic!("the engine must refuse to work exactly if it has no instruction set"),
    }
}

/// Values that are no numbers come out as no numbers, without a panic and without spoiling the next job.
#[test]
fn nan_and_infinity_are_reported_as_they_are() {
    for network in networks() {
        let engine = Engine::new(network.clone(), 1);
        let expected = train(&engine);
        let values = network.input().values();
        for bad in [f32::NAN, f32::INFINITY, f32::MAX] {
            let inputs = vec![bad; 20 * values];
            let examples = Examples::new(&network, &inputs, &[1; 20]).unwrap();
            let start = vec![f32::MAX; network.parameter_count()];
            let order: Vec<u32> = (0..20).collect();
            let job = Job {
                start: &start,
                order: &order,
                batch_size: 10,
                sgd: Sgd::default(),
            };
            let update = engine.train(&examples, &[job]).unwrap().remove(0);
            assert!(!update.mean_loss.is_finite());
            let evaluation = engine.evaluate(&examples, &start, None).unwrap();
            assert!(!evaluation.loss.is_finite() && evaluation.correct == 0);
            engine.probabilities(&examples, &start, &order).unwrap();
        }
        assert_eq!(train(&engine), expected);
    }
}
