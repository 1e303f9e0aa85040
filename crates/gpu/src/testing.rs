//! What tests share.

use aerofed_nn::{ModelSpec, Network, Shape};

/// A built-in model on images of 28 x 28.
pub(crate) fn network(name: &str) -> Network {
    let shape = Shape {
        channels: 1,
        height: 28,
        width: 28,
    };
    Network::new(&ModelSpec::builtin(name, 10).unwrap(), shape, 10).unwrap()
}
