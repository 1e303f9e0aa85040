//! Training on a GPU beside training on cores. Skipped, and said so, where there is no GPU:
//! `cargo test -p aerofed-gpu --test on_card -- --nocapture`.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::sync::Arc;

use aerofed::learn::Engine;
use aerofed::run::{Builder, Run};
use aerofed::{Method, Scenario, Simulation};
use aerofed_data::{Dataset, Embedded, Values, embedded};
use aerofed_gpu::Card;
use aerofed_nn::{Evaluation, Job, Layer, ModelSpec, Network, Sgd, Shape, Update};
use rand::SeedableRng;

/// The card, or a word about why the test is skipped.
fn card() -> Option<Arc<Card>> {
    Card::open()
        .inspect_err(|error| eprintln!("skipped: {error}"))
        .ok()
}

fn set(shape: Shape, classes: usize, numbers: bool) -> Arc<Dataset> {
    let samples = 400;
    let pixels: Vec<u8> = (0..samples * shape.values())
        .map(|i| ((i * 2_654_435_761) >> 13) as u8)
        .collect();
    Arc::new(Dataset {
        name: "pattern".into(),
        channels: shape.channels,
        height: shape.height,
        width: shape.width,
        class_names: (0..classes).map(|class| class.to_string()).collect(),
        inputs: match numbers {
            true => Values::Numbers(pixels.iter().map(|p| f32::from(*p) / 300.0).collect()),
            false => Values::Pixels(pixels),
        },
        labels: (0..samples).map(|i| (i * 7 % classes) as u8).collect(),
        users: None,
    })
}

const GREY: Shape = Shape {
    channels: 1,
    height: 28,
    width: 28,
};

fn builtin(name: &str) -> Network {
    Network::new(&ModelSpec::builtin(name, 10).unwrap(), GREY, 10).unwrap()
}

/// What several devices train, of different lengths and batches.
struct Work {
    start: Vec<f32>,
    orders: Vec<Vec<u32>>,
    batch: usize,
    sgd: Sgd,
}

impl Work {
    fn new(network: &Network, batch: usize, steps: &[usize], sgd: Sgd) -> Self {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        let order = |(device, steps): (usize, &usize)| {
            let sample = |i: usize| ((device * 31 + i * 7) % 400) as u32;
            (0..steps * batch).map(sample).collect()
        };
        Self {
            start: network.init(&mut rng),
            orders: steps.iter().enumerate().map(order).collect(),
            batch,
            sgd,
        }
    }

    fn jobs(&self) -> Vec<Job<'_>> {
        let job = |order| Job {
            start: &self.start,
            order,
            batch_size: self.batch,
            sgd: self.sgd,
        };
        self.orders.iter().map(|order| job(order)).collect()
    }
}

/// Length of the difference beside the length of what it should be.
fn apart(a: &[f32], b: &[f32]) -> f64 {
    let length = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    let both = a.iter().zip(b).map(|(a, b)| f64::from(*a) - f64::from(*b));
    length(&mut { both }) / length(&mut b.iter().map(|b| f64::from(*b)))
}

const PLAIN: Sgd = Sgd {
    learning_rate: 0.01,
    momentum: 0.0,
    weight_decay: 0.0,
    proximal: 0.0,
    adversarial_epsilon: 0.0,
};

fn check(card: &Arc<Card>, network: &Network, work: &Work, set: &Arc<Dataset>) {
    let there = card.engine(network.clone()).unwrap();
    let here = aerofed_nn::Engine::new(network.clone(), 2);
    let here: &dyn Engine = &here;
    let jobs = work.jobs();
    let came = there.train(set, &jobs).unwrap();
    let due = here.train(set, &jobs).unwrap();
    for (index, (came, due)) in came.iter().zip(&due).enumerate() {
        let off = apart(&came.weights, &due.weights);
        assert!(off < 1e-4, "device {index}: {off}");
        assert!((came.mean_loss - due.mean_loss).abs() < 1e-4 * due.mean_loss.abs().max(1.0));
    }
    // To the bit, every time.
    assert_eq!(there.train(set, &jobs).unwrap(), came);

    let model = &due[0].weights[..];
    let samples: Vec<u32> = (0..47).collect();
    let asked = [(model, &samples[..]), (model, &samples[..5])];
    let said = there.outputs(set, &asked).unwrap();
    for (said, due) in said.iter().zip(here.outputs(set, &asked).unwrap()) {
        assert!(apart(said, &due) < 1e-5);
    }
    let (said, due) = (
        there.evaluate(set, model, None).unwrap(),
        here.evaluate(set, model, None).unwrap(),
    );
    assert!((said.loss - due.loss).abs() < 1e-5 * due.loss);
    assert!(said.correct.abs_diff(due.correct) <= 1 && said.samples == due.samples);

    let cells = [0..1, 1..jobs.len()];
    let others = jobs.len() - 1;
    let shares: Vec<f64> = (0..jobs.len())
        .map(|i| if i == 0 { 1.0 } else { 1.0 / others as f64 })
        .collect();
    let asked = vec![&samples[..3]; jobs.len()];
    let averaged = there.train_and_average(set, &jobs, &asked, &cells, &shares);
    let averaged = averaged.unwrap().unwrap();
    assert_eq!(averaged.models[0], came[0].weights);
    let mean = |i: usize| {
        let of = came[1..].iter().map(|update| f64::from(update.weights[i]));
        of.sum::<f64>() / others as f64
    };
    let means: Vec<f32> = (0..model.len()).map(|i| mean(i) as f32).collect();
    assert!(apart(&averaged.models[1], &means) < 1e-7);
    let models: Vec<(&[f32], &[u32])> = came
        .iter()
        .map(|u| (&u.weights[..], &samples[..3]))
        .collect();
    assert_eq!(averaged.outputs, there.outputs(set, &models).unwrap());
}

#[test]
fn two_hundred_steps_of_every_model_are_those_of_the_cores() {
    let Some(card) = card() else { return };
    let digits = Arc::new(embedded(Embedded::Mnist).unwrap().train);
    for model in ModelSpec::BUILTIN {
        let network = builtin(model);
        for batch in [32, 10] {
            check(
                &card,
                &network,
                &Work::new(&network, batch, &[200, 3, 7], PLAIN),
                &digits,
            );
        }
    }
}

#[test]
fn batches_of_any_size() {
    let Some(card) = card() else { return };
    for batch in [1, 3, 7, 13, 16, 17, 20, 31, 33, 64, 100] {
        let network = builtin("cnn");
        let set = set(GREY, 10, batch == 13);
        check(
            &card,
            &network,
            &Work::new(&network, batch, &[3, 2], PLAIN),
            &set,
        );
    }
}

#[test]
fn all_terms_of_sgd_and_attacked_samples() {
    let Some(card) = card() else { return };
    let all = Sgd {
        momentum: 0.9,
        weight_decay: 0.01,
        proximal: 0.5,
        adversarial_epsilon: 0.1,
        ..PLAIN
    };
    for (model, sgd) in [
        (
            "cnn",
            Sgd {
                adversarial_epsilon: 0.0,
                ..all
            },
        ),
        (
            "lenet5",
            Sgd {
                adversarial_epsilon: 0.0,
                ..all
            },
        ),
        // An attack follows the sign of a slope, which the last bit may turn.
        (
            "cnn",
            Sgd {
                proximal: 0.0,
                momentum: 0.0,
                ..all
            },
        ),
        ("mlp", all),
    ] {
        let network = builtin(model);
        check(
            &card,
            &network,
            &Work::new(&network, 10, &[4, 3], sgd),
            &set(GREY, 10, false),
        );
    }
}

#[test]
fn layers_in_any_order() {
    let Some(card) = card() else { return };
    let conv = |filters, kernel, padding| Layer::Conv {
        filters,
        kernel,
        padding,
    };
    let pool = |size| Layer::MaxPool { size };
    let (relu, dense) = (Layer::Relu, |units| Layer::Dense { units });
    let colour = Shape {
        channels: 3,
        height: 32,
        width: 32,
    };
    for layers in [
        vec![
            conv(5, 3, 2),
            relu,
            pool(3),
            relu,
            conv(7, 2, 0),
            pool(2),
            dense(4),
        ],
        vec![
            relu,
            conv(3, 4, 1),
            conv(9, 1, 0),
            relu,
            pool(2),
            conv(2, 2, 1),
            dense(6),
            relu,
            dense(4),
        ],
        vec![pool(2), conv(4, 5, 4), pool(2), relu, relu, dense(4)],
        vec![
            conv(64, 3, 1),
            relu,
            pool(2),
            conv(64, 3, 1),
            relu,
            pool(2),
            dense(1000),
            relu,
            dense(4),
        ],
    ] {
        let network = Network::new(&ModelSpec { layers }, colour, 4).unwrap();
        check(
            &card,
            &network,
            &Work::new(&network, 20, &[3, 2], PLAIN),
            &set(colour, 4, false),
        );
    }
}

/// Cores whose every update is off by as much as rounding in another order makes it.
struct Rounded {
    cores: aerofed_nn::Engine,
    draw: u32,
}

impl Engine for Rounded {
    fn name(&self) -> &str {
        "rounded"
    }

    fn network(&self) -> &Network {
        self.cores.network()
    }

    fn jobs_at_once(&self) -> usize {
        Engine::jobs_at_once(&self.cores)
    }

    fn train(&self, set: &Arc<Dataset>, jobs: &[Job]) -> Result<Vec<Update>, aerofed::Error> {
        let mut updates = Engine::train(&self.cores, set, jobs)?;
        for update in &mut updates {
            for (place, weight) in (self.draw..).zip(&mut update.weights) {
                let part = (place.wrapping_mul(2_654_435_761) >> 16) as f32 / 65536.0;
                *weight *= 1.0 + 3e-7 * (part - 0.5);
            }
        }
        Ok(updates)
    }

    fn outputs(
        &self,
        set: &Arc<Dataset>,
        models: &[(&[f32], &[u32])],
    ) -> Result<Vec<Vec<f32>>, aerofed::Error> {
        Engine::outputs(&self.cores, set, models)
    }

    fn evaluate(
        &self,
        set: &Arc<Dataset>,
        model: &[f32],
        samples: Option<&[u32]>,
    ) -> Result<Evaluation, aerofed::Error> {
        Engine::evaluate(&self.cores, set, model, samples)
    }
}

/// The same curve as on cores, but for rounding, which forty devices carry on from round to round: cores whose updates are off in the last bits differ
/// by up to 2 points in a steep round, and by nothing in others. Seconds and joules do not depend on who computes, where no decision depends on models.
#[test]
fn a_run_is_the_same_but_for_rounding() {
    let Some(card) = card() else { return };
    let settings = [
        "devices.count=40",
        "data.data_volume=1200",
        "stop.max_rounds=6",
        "uavs.count=3",
    ];
    for method in ["hfl", "ahfed", "cfed", "hfedat"] {
        let named = format!("method={method}");
        let settings = [&settings[..], &[&named]].concat();
        let scenario = Scenario::parse("", &settings).unwrap().check().unwrap();
        let run = |builder: Builder| {
            let mut method = Method::of(&scenario).unwrap();
            let mut run = Run::new(builder.build().unwrap());
            while run.step(&mut method).unwrap().is_some() {}
            run.finish(&method)
        };
        let builder = || Simulation::builder(&scenario).threads(2);
        let here = run(builder());
        let there = run(builder().engine(|network| card.engine(network)));
        let rounded: Vec<_> = (1..=3)
            .map(|draw| {
                run(builder().engine(move |network| {
                    let cores = aerofed_nn::Engine::new(network, 2);
                    Ok(Arc::new(Rounded { cores, draw }))
                }))
            })
            .collect();
        assert_eq!(there.records.len(), here.records.len());
        let mut rounding = 0.0;
        for (round, (there, here)) in there.records.iter().zip(&here.records).enumerate() {
            assert_eq!(there.clock_s, here.clock_s, "{method}");
            assert_eq!(
                there.cumulative_energy_j, here.cumulative_energy_j,
                "{method}"
            );
            let off = |accuracy: f64| (accuracy - here.test_accuracy).abs();
            // What a round is off by, later ones start from.
            for run in &rounded {
                rounding = f64::max(rounding, off(run.records[round].test_accuracy));
            }
            let off = off(there.test_accuracy);
            assert!(
                off < 0.005 + 2.0 * rounding,
                "{method}, round {}: {off} where rounding makes {rounding}",
                there.round
            );
        }
    }
}
