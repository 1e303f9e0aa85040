//! The kernels, run on a CPU by an emulator (`emulator.h`) and compared with the CPU engine. Needs a C++ compiler; where there is none, the tests say so
//! and pass.

use std::path::Path;
use std::process::Command;

use aerofed_nn::{Engine, Examples, Inputs, Job, Layer, ModelSpec, Network, Sgd, Shape};
use rand::SeedableRng;

use crate::source::{Source, Values, Variant, source};
use crate::testing::network;
use crate::work::{self, Jobs, Looks};

const EMULATOR: &str = include_str!("emulator.h");

/// Reads what `input` holds, trains, looks at the trained models with the jobs' first samples, and writes what came of it.
fn program(source: &Source, variant: Variant, parameters: usize, classes: usize) -> String {
    let threads = variant.threads();
    let (text, scratch) = (&source.text, source.scratch);
    format!(
        r#"{EMULATOR}
{text}
int main(int, char** names) {{
  FILE* in = fopen(names[1], "rb");
  auto inputs = read_array<Input>(in);
  auto labels = read_array<u8>(in);
  auto orders = read_array<u32>(in);
  auto jobs = read_array<Job>(in);
  auto looks = read_array<Look>(in);
  auto starts = read_array<float>(in);
  auto shares = read_array<double>(in);
  const u32 count = jobs.size();
  std::vector<float> models(count * {parameters}, NAN), losses(count, NAN), scratch({scratch}), means({parameters}, NAN);
  u32 next = 0;
  run_block({threads}, [&] {{ train(inputs.data(), labels.data(), orders.data(), jobs.data(), starts.data(), models.data(), losses.data(), nullptr, count, &next, scratch.data()); }});
  std::vector<float> outputs(orders.size() * {classes}, NAN), lost(orders.size(), NAN);
  std::vector<u8> correct(orders.size(), 9);
  next = 0;
  run_block({threads}, [&] {{ look(inputs.data(), labels.data(), orders.data(), looks.data(), models.data(), outputs.data(), lost.data(), correct.data(), looks.size(), &next, scratch.data()); }});
  Cell cell = {{0, count}};
  blockDim = {{32, 1}};
  gridDim = {{1, 1}};
  run_block(32, [&] {{ average(models.data(), shares.data(), &cell, {parameters}, means.data()); }});
  FILE* out = fopen(names[2], "wb");
  write_array(out, models);
  write_array(out, losses);
  write_array(out, outputs);
  write_array(out, lost);
  write_array(out, means);
  write_array(out, std::vector<float>(correct.begin(), correct.end()));
  fclose(out);
}}
"#
    )
}

/// What a world of test jobs is.
struct Case {
    network: Network,
    /// Bytes of shared memory: little of it moves maps elsewhere.
    shared_bytes: usize,
    batch: usize,
    /// Mini-batches of each device.
    steps: Vec<usize>,
    numbers: bool,
    sgd: Sgd,
}

fn compiled(folder: &Path, text: &str) -> bool {
    let (code, to) = (folder.join("kernels.cpp"), folder.join("kernels"));
    std::fs::write(&code, text).unwrap();
    if let Some(kept) = std::env::var_os("AEROFED_KEEP_KERNELS") {
        std::fs::write(kept, text).unwrap();
    }
    let mut compiler = Command::new("c++");
    let compiler = compiler.args(["-O2", "-std=c++17", "-w", "-ffp-contract=off", "-o"]);
    match compiler.arg(&to).arg(&code).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}");
            true
        }
        Err(error) => {
            eprintln!("skipped: the emulator needs a C++ compiler named c++ ({error})");
            false
        }
    }
}

fn array<T>(to: &mut Vec<u8>, values: &[T], bytes: impl Fn(&T) -> Vec<u8>) {
    to.extend((values.len() as u64).to_le_bytes());
    values.iter().for_each(|value| to.extend(bytes(value)));
}

/// As the card has it in its memory: numbers one after the other, and a gap at the end.
fn job_bytes(job: &work::Job) -> Vec<u8> {
    let mut bytes = job.start.to_le_bytes().to_vec();
    for number in [job.order, job.length, job.batch, job.slot] {
        bytes.extend(number.to_le_bytes());
    }
    for number in [
        job.learning_rate,
        job.momentum,
        job.weight_decay,
        job.proximal,
        job.epsilon,
    ] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.resize(size_of::<work::Job>(), 0);
    bytes
}

fn look_bytes(look: &work::Look) -> Vec<u8> {
    let mut bytes = look.model.to_le_bytes().to_vec();
    bytes.extend(look.order.to_le_bytes());
    bytes.extend(look.length.to_le_bytes());
    bytes
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let number = |four: &[u8]| f32::from_le_bytes(four.try_into().unwrap());
    bytes.chunks_exact(4).map(number).collect()
}

/// Largest difference beside the largest value.
fn apart(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().chain(b).all(|value| value.is_finite()));
    let difference = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    let worst = difference.fold(0.0, f32::max);
    worst / b.iter().fold(1e-30, |most: f32, v| most.max(v.abs()))
}

fn check(case: &Case) {
    let network = &case.network;
    let (samples, size) = (64, network.input().values());
    let pixels: Vec<u8> = (0..samples * size)
        .map(|i| ((i * 2_654_435_761) >> 13) as u8)
        .collect();
    let numbers: Vec<f32> = pixels.iter().map(|p| f32::from(*p) / 300.0).collect();
    let labels: Vec<u8> = (0..samples)
        .map(|i| (i * 7 % network.classes()) as u8)
        .collect();
    let inputs = match case.numbers {
        true => Inputs::Numbers(&numbers),
        false => Inputs::Pixels(&pixels),
    };
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    let starts: Vec<Vec<f32>> = case.steps.iter().map(|_| network.init(&mut rng)).collect();
    // The last batch of the first device is not full.
    let order = |(device, steps): (usize, &usize)| {
        let length = steps * case.batch - usize::from(device == 0 && case.batch > 1);
        let sample = |i: usize| ((device * 13 + i * 5) % samples) as u32;
        (0..length).map(sample).collect::<Vec<u32>>()
    };
    let orders: Vec<Vec<u32>> = case.steps.iter().enumerate().map(order).collect();
    let jobs: Vec<Job> = orders
        .iter()
        .zip(&starts)
        .map(|(order, start)| Job {
            start,
            order,
            batch_size: case.batch,
            sgd: case.sgd,
        })
        .collect();

    let values = if case.numbers {
        Values::Numbers
    } else {
        Values::Pixels
    };
    let variant = Variant {
        adversarial: case.sgd.adversarial_epsilon > 0.0,
        momentum: case.sgd.momentum > 0.0,
        proximal: case.sgd.proximal > 0.0,
        ..Variant::for_batch(case.batch, values)
    };
    let made = source(network, variant, case.shared_bytes);
    assert!(made.shared_bytes <= case.shared_bytes / variant.blocks);
    let (parameters, classes) = (network.parameter_count(), network.classes());
    let folder = tempfile::tempdir().unwrap();
    if !compiled(folder.path(), &program(&made, variant, parameters, classes)) {
        return;
    }
    let shares: Vec<f64> = jobs.iter().map(|_| 1.0 / jobs.len() as f64).collect();
    let mut file = Vec::new();
    match inputs {
        Inputs::Pixels(pixels) => array(&mut file, pixels, |v| vec![*v]),
        Inputs::Numbers(numbers) => array(&mut file, numbers, |v| v.to_le_bytes().into()),
    }
    array(&mut file, &labels, |v| vec![*v]);
    let listed = Jobs::new(&jobs, parameters);
    array(&mut file, &listed.orders, |v| v.to_le_bytes().into());
    array(&mut file, &listed.jobs, job_bytes);
    let looks = Looks::new(
        orders.iter().map(|order| &order[..]).enumerate(),
        parameters,
        32,
    );
    assert_eq!(looks.orders, listed.orders);
    array(&mut file, &looks.looks, look_bytes);
    array(&mut file, &starts.concat(), |v| v.to_le_bytes().into());
    array(&mut file, &shares, |v| v.to_le_bytes().into());
    let (from, to) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&from, file).unwrap();
    let ran = Command::new(folder.path().join("kernels"))
        .arg(&from)
        .arg(&to)
        .status();
    assert!(ran.unwrap().success());
    let said = floats(&std::fs::read(&to).unwrap());

    let engine = Engine::new(network.clone(), 1);
    let examples = Examples {
        inputs,
        labels: &labels,
    };
    let updates = engine.train(&examples, &jobs).unwrap();
    let (models, said) = said.split_at(jobs.len() * parameters);
    let (losses, said) = said.split_at(jobs.len());
    let total = listed.orders.len();
    let (outputs, said) = said.split_at(total * classes);
    let (lost, said) = said.split_at(total);
    let (means, correct) = said.split_at(parameters);
    let mut mean = vec![0.0f64; parameters];
    let mut first = 0;
    for (index, update) in updates.iter().enumerate() {
        let model = &models[index * parameters..][..parameters];
        let moved: Vec<f32> = model
            .iter()
            .zip(&starts[index])
            .map(|(a, b)| a - b)
            .collect();
        let due: Vec<f32> = update
            .weights
            .iter()
            .zip(&starts[index])
            .map(|(a, b)| a - b)
            .collect();
        assert!(
            apart(&moved, &due) < 2e-4,
            "device {index}: {} of what it moved",
            apart(&moved, &due)
        );
        assert!((losses[index] - update.mean_loss).abs() < 1e-4 * update.mean_loss);
        let seen = &orders[index];
        let due = engine.probabilities(&examples, model, seen).unwrap();
        assert!(apart(&outputs[first * classes..][..due.len()], &due) < 1e-4);
        let quality = engine.evaluate(&examples, model, Some(seen)).unwrap();
        let loss: f64 = lost[first..][..seen.len()]
            .iter()
            .map(|l| f64::from(*l))
            .sum();
        assert!((loss / seen.len() as f64 - quality.loss).abs() < 1e-4 * quality.loss);
        let right: f32 = correct[first..][..seen.len()].iter().sum();
        assert_eq!(right as usize, quality.correct);
        first += seen.len();
        mean.iter_mut()
            .zip(model)
            .for_each(|(sum, v)| *sum += shares[index] * f64::from(*v));
    }
    let mean: Vec<f32> = mean.into_iter().map(|v| v as f32).collect();
    assert_eq!(means, mean);
}

const PLAIN: Sgd = Sgd {
    learning_rate: 0.05,
    momentum: 0.0,
    weight_decay: 0.0,
    proximal: 0.0,
    adversarial_epsilon: 0.0,
};
/// What a multiprocessor of a large card has.
const ROOMY: usize = 227 << 10;

fn case(name: &str, batch: usize, steps: &[usize]) -> Case {
    Case {
        network: network(name),
        shared_bytes: ROOMY,
        batch,
        steps: steps.into(),
        numbers: false,
        sgd: PLAIN,
    }
}

#[test]
fn cnn_in_full_batches() {
    check(&case("cnn", 32, &[3, 1]));
}

#[test]
fn cnn_in_batches_of_ten() {
    check(&case("cnn", 10, &[3, 2]));
}

#[test]
fn lenet5() {
    check(&case("lenet5", 20, &[2, 1]));
}

#[test]
fn vgg() {
    check(&case("vgg", 10, &[2]));
}

#[test]
fn networks_without_convolutions() {
    check(&case("mlp", 7, &[3, 1]));
    check(&case("logistic", 1, &[4, 2]));
}

#[test]
fn batches_of_several_groups_with_all_terms_of_sgd_and_attacked_samples() {
    let sgd = Sgd {
        learning_rate: 0.02,
        momentum: 0.9,
        weight_decay: 0.01,
        proximal: 0.5,
        adversarial_epsilon: 0.1,
    };
    check(&Case {
        sgd,
        ..case("cnn", 40, &[2])
    });
    let momentum = Sgd {
        adversarial_epsilon: 0.0,
        proximal: 0.0,
        ..sgd
    };
    check(&Case {
        sgd: momentum,
        ..case("mlp", 5, &[4])
    });
    check(&Case {
        sgd,
        ..case("mlp", 5, &[3])
    });
}

#[test]
fn layers_in_any_order_with_little_shared_memory() {
    let conv = |filters, kernel, padding| Layer::Conv {
        filters,
        kernel,
        padding,
    };
    let pool = |size| Layer::MaxPool { size };
    let (relu, dense) = (Layer::Relu, |units| Layer::Dense { units });
    let colour = Shape {
        channels: 3,
        height: 11,
        width: 9,
    };
    let plain = Sgd {
        learning_rate: 0.02,
        ..PLAIN
    };
    let specs = [
        vec![
            conv(5, 3, 2),
            relu,
            pool(3),
            relu,
            conv(7, 2, 0),
            pool(2),
            dense(3),
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
            dense(3),
        ],
        vec![pool(2), conv(4, 5, 4), pool(2), relu, relu, dense(3)],
    ];
    for (index, layers) in specs.into_iter().enumerate() {
        let attacked = Sgd {
            adversarial_epsilon: 0.05,
            ..plain
        };
        check(&Case {
            network: Network::new(&ModelSpec { layers }, colour, 3).unwrap(),
            shared_bytes: [ROOMY, 12 << 10, 48 << 10][index],
            batch: [10, 6, 33][index],
            steps: vec![2, 1],
            numbers: index == 1,
            sgd: if index == 2 { attacked } else { plain },
        });
    }
}
