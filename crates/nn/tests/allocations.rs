//! Training allocates per job and for larger batches, never per step.
#![allow(clippy::unwrap_used, unsafe_code)]

mod common;

use aerofed_nn::{Activation, Adam, Engine, Examples, Job, Mlp, ModelSpec, Network, Sgd, Shape};
use common::{lcg_examples, lcg_weights};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Allocations of this thread: those of other tests and of the harness do not count.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn allocations() -> usize {
    COUNT.with(Cell::get)
}

struct Counting;

// SAFETY: everything is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn steps_do_not_allocate() {
    let shape = Shape {
        channels: 1,
        height: 28,
        width: 28,
    };
    for name in ModelSpec::BUILTIN {
        let network = Network::new(&ModelSpec::builtin(name, 10).unwrap(), shape, 10).unwrap();
        let (inputs, labels) = lcg_examples(&network, 1, 50);
        let pixels: Vec<u8> = inputs.iter().map(|value| (255.0 * value) as u8).collect();
        let numbers = Examples::new(&network, &inputs, &labels).unwrap();
        let pixels = Examples::new(&network, &pixels, &labels).unwrap();
        let start = lcg_weights(&network, 1);
        let engine = Engine::new(network, 1);
        let sgd = Sgd {
            momentum: 0.5,
            proximal: 0.1,
            adversarial_epsilon: 0.1,
            ..Sgd::default()
        };
        let count_of = |examples: &Examples, steps: usize| {
            let order: Vec<u32> = (0..steps as u32 * 20).map(|i| i % 50).collect();
            let job = Job {
                start: &start,
                order: &order,
                batch_size: 20,
                sgd,
            };
            let before = allocations();
            engine.train(examples, &[job]).unwrap();
            allocations() - before
        };
        let first = count_of(&numbers, 10);
        for examples in [numbers, pixels] {
            let count = |steps: usize| count_of(&examples, steps);
            assert!(first > count(10), "the first call makes the workspace");
            assert_eq!(count(10), count(100), "{name}");
            assert!(
                count(100) < 12,
                "{name}: a few for the answer, none for the steps"
            );
        }
    }
}

#[test]
fn a_perceptron_allocates_for_its_largest_batch_only() {
    let mut mlp = Mlp::new(&[3, 64, 64, 1], Activation::Linear).unwrap();
    let mut weights = vec![0.01; mlp.parameter_count()];
    let mut gradient = weights.clone();
    let mut adam = Adam::new(weights.len());
    let inputs = vec![0.5; 100 * 3];
    let slopes = [0.1; 100];
    let mut count = |batch: usize| {
        let before = allocations();
        mlp.forward(&weights, &inputs[..batch * 3]).unwrap();
        mlp.backward(&slopes[..batch], &mut gradient).unwrap();
        adam.step(0.001, &mut weights, &gradient).unwrap();
        allocations() - before
    };
    assert!(count(100) > 0);
    assert_eq!([1, 100, 17, 8, 99].map(&mut count), [0; 5]);
}
