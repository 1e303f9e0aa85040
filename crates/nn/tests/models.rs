//! Built-in models, model files and weights files.
#![allow(clippy::unwrap_used)]

use aerofed_nn::{
    Engine, Error, Examples, Job, Layer, ModelSpec, Network, Sgd, Shape, from_safetensors,
    to_safetensors,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;

const MNIST: Shape = Shape {
    channels: 1,
    height: 28,
    width: 28,
};

fn network(name: &str) -> Network {
    Network::new(&ModelSpec::builtin(name, 10).unwrap(), MNIST, 10).unwrap()
}

#[test]
fn parameter_counts_are_the_papers() {
    let counts = ModelSpec::BUILTIN.map(|name| network(name).parameter_count());
    assert_eq!(
        counts,
        [7850, 784 * 200 + 200 + 2010, 21_840, 60_074, 206_922]
    );
}

#[test]
fn models_follow_a_colour_input() {
    let shape = Shape {
        channels: 3,
        height: 64,
        width: 64,
    };
    for name in ModelSpec::BUILTIN {
        let network = Network::new(&ModelSpec::builtin(name, 10).unwrap(), shape, 10).unwrap();
        assert!(network.parameter_count() > 10);
    }
    assert!(ModelSpec::builtin("resnet", 10).is_none());
}

#[test]
fn flops_leave_out_the_first_input_gradient() {
    let forward = [24 * 24 * 10 * 25, 8 * 8 * 20 * 250, 320 * 50, 500];
    let expected = 2 * (3 * forward.iter().sum::<usize>() - forward[0]);
    assert_eq!(network("cnn").flops_per_sample(), expected as f64);
}

#[test]
fn init_stays_within_the_fan_in_bound_and_fills_it() {
    let network = network("cnn");
    let weights = network.init(&mut ChaCha8Rng::seed_from_u64(3));
    assert_eq!(weights.len(), network.parameter_count());
    for plan in network.layers().iter().filter(|p| p.has_parameters()) {
        let bound = 1.0 / (plan.fan_in() as f32).sqrt();
        let part = &weights[plan.weights.start..plan.biases.end];
        assert!(part.iter().all(|w| w.abs() <= bound));
        assert!(part.iter().any(|w| *w > 0.8 * bound) && part.iter().any(|w| *w < -0.8 * bound));
    }
}

#[test]
fn a_model_file_is_read_and_unknown_keys_are_refused() {
    let text = "[[layers]]\nkind = \"conv\"\nfilters = 4\nkernel = 3\n[[layers]]\nkind = \"relu\"\n[[layers]]\nkind = \"dense\"\nunits = 10\n";
    let spec: ModelSpec = toml::from_str(text).unwrap();
    assert_eq!(spec.layers[1], Layer::Relu);
    assert!(toml::from_str::<ModelSpec>(&text.replace("kernel", "kernal")).is_err());
}

#[test]
fn bad_layers_are_named() {
    let check = |layers: Vec<Layer>| {
        Network::new(&ModelSpec { layers }, MNIST, 10)
            .unwrap_err()
            .to_string()
    };
    let dense = Layer::Dense { units: 10 };
    let conv = |filters, kernel, padding| Layer::Conv {
        filters,
        kernel,
        padding,
    };
    assert!(check(vec![conv(4, 31, 1), dense]).contains("layer 0 (conv): kernel = 31"));
    assert!(check(vec![conv(0, 3, 0), dense]).contains("filters = 0"));
    assert!(check(vec![conv(4, 0, 0), dense]).contains("kernel = 0"));
    assert!(check(vec![conv(4, 3, usize::MAX), dense]).contains("padding"));
    assert!(check(vec![conv(usize::MAX, 3, 0), dense]).contains("layer 0"));
    assert!(check(vec![Layer::MaxPool { size: 29 }, dense]).contains("size = 29"));
    assert!(check(vec![Layer::MaxPool { size: 0 }, dense]).contains("size = 0"));
    assert!(check(vec![Layer::Dense { units: usize::MAX }, dense]).contains("layer 0"));
    assert!(check(vec![Layer::Dense { units: 9 }]).contains("units = 9"));
    assert!(check(vec![Layer::Relu]).contains("last layer is relu"));
    assert!(check(vec![]).contains("empty"));
    assert!(check(vec![dense, conv(2, 1, 0), dense]).contains("layer 1 is conv"));
}

#[test]
fn weights_files_are_deterministic_and_come_back() {
    let network = network("lenet5");
    let weights = network.init(&mut ChaCha8Rng::seed_from_u64(1));
    let extra = BTreeMap::from([
        ("seed".to_string(), "7".to_string()),
        ("a".into(), "b".into()),
    ]);
    let bytes = to_safetensors(&network, &weights, &extra).unwrap();
    assert_eq!(bytes, to_safetensors(&network, &weights, &extra).unwrap());
    assert_eq!(from_safetensors(&network, &bytes).unwrap(), weights);
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let about = header.metadata().clone().unwrap();
    assert_eq!(about["classes"], "10");
    assert_eq!(about["seed"], "7");
    assert_eq!(
        serde_json::from_str::<ModelSpec>(&about["spec"]).unwrap(),
        *network.spec()
    );
    for cut in [0, 4, 8, 100, bytes.len() - 1] {
        assert!(matches!(
            from_safetensors(&network, &bytes[..cut]),
            Err(Error::WeightsFile(_))
        ));
    }
    let other = Network::new(&ModelSpec::builtin("vgg", 10).unwrap(), MNIST, 10).unwrap();
    assert!(
        from_safetensors(&other, &bytes)
            .unwrap_err()
            .to_string()
            .contains("layer0.weight")
    );
    assert!(to_safetensors(&network, &weights[1..], &extra).is_err());
}

#[test]
fn training_lowers_the_loss_and_wrong_input_is_refused() {
    let network = network("logistic");
    let start = network.init(&mut ChaCha8Rng::seed_from_u64(1));
    let inputs: Vec<f32> = (0..20 * 784)
        .map(|i| ((i * 7919) % 256) as f32 / 255.0)
        .collect();
    let labels: Vec<u8> = (0..20).map(|i| (i % 10) as u8).collect();
    let examples = Examples::new(&network, &inputs, &labels).unwrap();
    let order: Vec<u32> = (0..200).map(|i| i % 20).collect();
    let job = Job {
        start: &start,
        order: &order,
        batch_size: 10,
        sgd: Sgd::default(),
    };
    let engine = Engine::new(network.clone(), 2);
    let update = engine.train(&examples, &[job]).unwrap().remove(0);
    let before = engine.evaluate(&examples, &start, None).unwrap();
    let after = engine.evaluate(&examples, &update.weights, None).unwrap();
    assert!(after.loss < before.loss);
    assert!(after.loss < f64::from(update.mean_loss) && f64::from(update.mean_loss) < before.loss);

    assert!(Examples::new(&network, &inputs[1..], &labels).is_err());
    let train = |job: Job| engine.train(&examples, &[job]).unwrap_err();
    assert!(matches!(
        train(Job {
            order: &[20],
            ..job
        }),
        Error::Index {
            index: 20,
            samples: 20
        }
    ));
    assert!(matches!(
        train(Job {
            start: &start[1..],
            ..job
        }),
        Error::Length { .. }
    ));
    assert!(matches!(
        train(Job {
            batch_size: 0,
            ..job
        }),
        Error::Setting {
            field: "batch_size",
            ..
        }
    ));
    let sgd = Sgd {
        learning_rate: f32::NAN,
        ..Sgd::default()
    };
    assert!(matches!(
        train(Job { sgd, ..job }),
        Error::Setting {
            field: "learning_rate",
            ..
        }
    ));
    let bad = [10u8; 20];
    let mislabelled = Examples {
        inputs: (&inputs).into(),
        labels: &bad,
    };
    assert!(matches!(
        engine.evaluate(&mislabelled, &start, None),
        Err(Error::Label {
            sample: 0,
            label: 10,
            ..
        })
    ));
    let idle = engine
        .train(&examples, &[Job { order: &[], ..job }])
        .unwrap();
    assert_eq!(
        (idle[0].weights.as_slice(), idle[0].mean_loss),
        (start.as_slice(), 0.0)
    );
}
