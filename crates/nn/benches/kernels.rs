//! Single layers and whole models, forward and backward: `cargo bench -p aerofed-nn`.
#![allow(clippy::unwrap_used, missing_docs)]

use aerofed_nn::{Engine, Examples, Inputs, Isa, Job, Layer, ModelSpec, Network, Sgd, Shape};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// One network with data and start weights.
struct Case {
    engine: Engine,
    inputs: Vec<f32>,
    labels: Vec<u8>,
    start: Vec<f32>,
}

impl Case {
    fn new(layers: Vec<Layer>, shape: Shape, isa: Isa) -> Case {
        let network = Network::new(&ModelSpec { layers }, shape, 10).unwrap();
        let pattern = |i: usize| (i.wrapping_mul(2_654_435_761) >> 8 & 0xffff) as f32 / 65536.0;
        let values = network.input().values();
        let start = (0..network.parameter_count()).map(|i| 0.1 * (pattern(i) - 0.5));
        Case {
            inputs: (0..64 * values).map(pattern).collect(),
            labels: (0..64).map(|i| (i % 10) as u8).collect(),
            start: start.collect(),
            engine: Engine::with_isa(network, 1, isa).unwrap(),
        }
    }

    /// Benches 4 training steps.
    fn train(&self, bencher: Bencher, batch: usize) {
        self.train_on(bencher, batch, Inputs::Numbers(&self.inputs));
    }

    fn train_on(&self, bencher: Bencher, batch: usize, inputs: Inputs) {
        let examples = Examples::new(self.engine.network(), inputs, &self.labels).unwrap();
        let order: Vec<u32> = (0..4 * batch as u32).map(|i| i % 64).collect();
        let job = Job {
            start: &self.start,
            order: &order,
            batch_size: batch,
            sgd: Sgd::default(),
        };
        let mut updates = Vec::new();
        bencher.counter(ItemsCount::new(4 * batch)).bench_local(|| {
            self.engine
                .train_into(&examples, &[job], &mut updates)
                .unwrap();
        });
    }

    /// Benches a forward pass over 64 samples.
    fn evaluate(&self, bencher: Bencher) {
        let examples = Examples::new(self.engine.network(), &self.inputs, &self.labels).unwrap();
        bencher
            .counter(ItemsCount::new(64usize))
            .bench_local(|| self.engine.evaluate(&examples, &self.start, None).unwrap());
    }
}

const GREY: Shape = Shape {
    channels: 1,
    height: 28,
    width: 28,
};
const COLOUR: Shape = Shape {
    channels: 3,
    height: 64,
    width: 64,
};

fn builtin(name: &str) -> Vec<Layer> {
    ModelSpec::builtin(name, 10).unwrap().layers
}

fn supported() -> impl Iterator<Item = Isa> {
    Isa::ALL.into_iter().filter(|isa| isa.is_supported())
}

#[divan::bench(args = ModelSpec::BUILTIN)]
fn train_batch_32(bencher: Bencher, name: &str) {
    Case::new(builtin(name), GREY, Isa::best()).train(bencher, 32);
}

/// The same on samples that are kept as pixels.
#[divan::bench(args = ModelSpec::BUILTIN)]
fn train_batch_32_pixels(bencher: Bencher, name: &str) {
    let case = Case::new(builtin(name), GREY, Isa::best());
    let pixels: Vec<u8> = case.inputs.iter().map(|v| (256.0 * v) as u8).collect();
    case.train_on(bencher, 32, Inputs::Pixels(&pixels));
}

/// The batch of the paper's experiments, to be held against `train_batch_32`.
#[divan::bench(args = ModelSpec::BUILTIN)]
fn train_batch_10(bencher: Bencher, name: &str) {
    Case::new(builtin(name), GREY, Isa::best()).train(bencher, 10);
}

#[divan::bench(args = [8, 10, 16, 20, 32, 50, 64])]
fn train_cnn_by_batch(bencher: Bencher, batch: usize) {
    Case::new(builtin("cnn"), GREY, Isa::best()).train(bencher, batch);
}

#[divan::bench(args = supported())]
fn train_cnn_by_instruction_set(bencher: Bencher, isa: Isa) {
    Case::new(builtin("cnn"), GREY, isa).train(bencher, 32);
}

#[divan::bench(args = ["cnn", "vgg"])]
fn train_colour_64x64(bencher: Bencher, name: &str) {
    Case::new(builtin(name), COLOUR, Isa::best()).train(bencher, 32);
}

#[divan::bench(args = ModelSpec::BUILTIN)]
fn evaluate(bencher: Bencher, name: &str) {
    Case::new(builtin(name), GREY, Isa::best()).evaluate(bencher);
}

/// A convolution alone, with the smallest head there is: `(filters, kernel, pooled)` on a 16-channel map.
#[divan::bench(args = [(16, 3, true), (16, 3, false), (20, 5, true), (20, 7, false), (13, 4, true)])]
fn train_convolution(bencher: Bencher, (filters, kernel, pooled): (usize, usize, bool)) {
    let shape = Shape {
        channels: 16,
        height: 16,
        width: 16,
    };
    let mut layers = vec![
        Layer::Conv {
            filters,
            kernel,
            padding: kernel / 2,
        },
        Layer::Relu,
    ];
    if pooled {
        layers.push(Layer::MaxPool { size: 2 });
    }
    layers.push(Layer::Dense { units: 10 });
    Case::new(layers, shape, Isa::best()).train(bencher, 32);
}
