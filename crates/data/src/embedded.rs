//! The subsets that travel inside the binary. `scripts/make_embedded_data.py` makes them;
//! `embedded/LICENSES.md` says whose they are.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::idx::{self, Images};
use crate::{Dataset, Error, Split, Values, known};

/// A set that is compiled in as a subset, and whose full files are known by their sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Embedded {
    /// Handwritten digits, 28x28 grey.
    #[serde(rename = "mnist")]
    Mnist,
    /// Articles of clothing, 28x28 grey.
    #[serde(rename = "fashion-mnist")]
    FashionMnist,
}

impl Embedded {
    /// Every set.
    pub const ALL: [Self; 2] = [Self::Mnist, Self::FashionMnist];

    /// Its name in scenarios and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mnist => "mnist",
            Self::FashionMnist => "fashion-mnist",
        }
    }
}

impl std::fmt::Display for Embedded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// The four packed files of a set.
struct Packed {
    train_images: &'static [u8],
    train_labels: &'static [u8],
    test_images: &'static [u8],
    test_labels: &'static [u8],
}

const MNIST: Packed = Packed {
    train_images: include_bytes!("../embedded/mnist-train-images.idx.gz"),
    train_labels: include_bytes!("../embedded/mnist-train-labels.idx.gz"),
    test_images: include_bytes!("../embedded/mnist-test-images.idx.gz"),
    test_labels: include_bytes!("../embedded/mnist-test-labels.idx.gz"),
};

const FASHION_MNIST: Packed = Packed {
    train_images: include_bytes!("../embedded/fashion-mnist-train-images.idx.gz"),
    train_labels: include_bytes!("../embedded/fashion-mnist-train-labels.idx.gz"),
    test_images: include_bytes!("../embedded/fashion-mnist-test-images.idx.gz"),
    test_labels: include_bytes!("../embedded/fashion-mnist-test-labels.idx.gz"),
};

fn packed(set: Embedded) -> &'static Packed {
    match set {
        Embedded::Mnist => &MNIST,
        Embedded::FashionMnist => &FASHION_MNIST,
    }
}

/// Rows and columns of their images.
const SIDE: usize = 28;

/// The embedded subset: 8 000 training and 2 000 test samples, equally many of each class.
///
/// They are the first 800 and 200 of each class in the original files, in the original order.
///
/// ```
/// use aerofed_data::{Embedded, embedded};
///
/// let split = embedded(Embedded::FashionMnist)?;
/// assert_eq!(split.train.label_counts(), [800; 10]);
/// assert_eq!((split.test.len(), split.test.input_len()), (2_000, 28 * 28));
/// # Ok::<(), aerofed_data::Error>(())
/// ```
pub fn embedded(set: Embedded) -> Result<Split, Error> {
    let packed = packed(set);
    let load = |images: &[u8], labels: &[u8]| -> Result<Dataset, Error> {
        let path = Path::new(set.name());
        let images = Images::parse(idx::unpack(images, path, idx::Kind::Images)?, path)?;
        let labels = idx::parse_labels(&idx::unpack(labels, path, idx::Kind::Labels)?, path)?;
        let dataset = images.into_dataset(
            set.name().to_owned(),
            known::class_names(set.into()),
            labels,
        );
        dataset.check()?;
        Ok(dataset)
    };
    Ok(Split {
        train: load(packed.train_images, packed.train_labels)?,
        test: load(packed.test_images, packed.test_labels)?,
    })
}

/// The training samples of the embedded subset without their values: all that dividing them takes, at a hundredth of the cost.
pub fn embedded_labels(set: Embedded) -> Result<Dataset, Error> {
    let packed = packed(set);
    let path = Path::new(set.name());
    let labels = idx::unpack(packed.train_labels, path, idx::Kind::Labels)?;
    let dataset = Dataset {
        name: set.name().to_owned(),
        channels: 1,
        height: SIDE,
        width: SIDE,
        class_names: known::class_names(set.into()),
        inputs: Values::NONE,
        labels: idx::parse_labels(&labels, path)?,
        users: None,
    };
    dataset.check()?;
    Ok(dataset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_alone_are_those_of_the_set() {
        for set in Embedded::ALL {
            let whole = embedded(set).unwrap().train;
            let labels = embedded_labels(set).unwrap();
            let without_values = Dataset {
                inputs: Values::NONE,
                ..whole
            };
            assert_eq!(labels, without_values);
        }
    }
}
