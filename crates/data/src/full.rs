//! The full sets that packages carry.

use crate::cifar::{BATCHES, Batch};
use crate::known::{self, Part};
use crate::{Embedded, Error, users};

/// SHA-256 of the file that says whose the recordings are.
const WATCH_USERS: &str = "a64141b251c77bd1d41924720f9e54e4cbc2e92e0e8beb64058737665e142aca";

/// A set whose files are known by their SHA-256, and which a package carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FullSet {
    /// Handwritten digits, 28x28 grey: 60 000 for training, 10 000 for testing.
    Mnist,
    /// Articles of clothing, 28x28 grey: 60 000 for training, 10 000 for testing.
    FashionMnist,
    /// Animals and vehicles, 32x32 in colour: 50 000 for training, 10 000 for testing.
    Cifar10,
    /// Shoulder exercises of ten persons as a smartwatch felt them, windows of 100 x 6: 3 691 for training, 770
    /// for testing.
    Watch,
}

impl FullSet {
    /// Every set.
    pub const ALL: [Self; 4] = [Self::Mnist, Self::FashionMnist, Self::Cifar10, Self::Watch];

    /// Its name in scenarios and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mnist => Embedded::Mnist.name(),
            Self::FashionMnist => Embedded::FashionMnist.name(),
            Self::Cifar10 => "cifar10",
            Self::Watch => "watch",
        }
    }

    /// The subset of it that travels inside the binary.
    #[must_use]
    pub fn embedded(self) -> Option<Embedded> {
        match self {
            Self::Mnist => Some(Embedded::Mnist),
            Self::FashionMnist => Some(Embedded::FashionMnist),
            Self::Cifar10 | Self::Watch => None,
        }
    }

    /// Its files as [`fetch`](crate::fetch) writes them, each with the SHA-256 of its bytes.
    #[must_use]
    pub fn files(self) -> Vec<(String, &'static str)> {
        let batch = |batch: &Batch| (batch.name.to_owned(), batch.sha256);
        let idx = Part::ALL.into_iter().filter_map(|part| {
            let [name, ..] = part.file_names();
            Some((name, part.sha256(self)?))
        });
        match self {
            Self::Cifar10 => BATCHES.iter().map(batch).collect(),
            Self::Watch => idx.chain([(users::FILE.to_owned(), WATCH_USERS)]).collect(),
            Self::Mnist | Self::FashionMnist => idx.collect(),
        }
    }

    /// A name per class, by label.
    #[must_use]
    pub fn class_names(self) -> Vec<String> {
        known::class_names(self)
    }

    /// The licence of the set, in a few words.
    #[must_use]
    pub fn licence(self) -> &'static str {
        match self {
            Self::Mnist => "CC BY-SA 3.0, Yann LeCun and Corinna Cortes",
            Self::FashionMnist => "MIT, Copyright 2017 Zalando SE",
            Self::Cifar10 => {
                "none stated; cite Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009"
            }
            Self::Watch => "BSD 3-clause, Copyright 2018 David Burns",
        }
    }
}

impl From<Embedded> for FullSet {
    fn from(set: Embedded) -> Self {
        match set {
            Embedded::Mnist => Self::Mnist,
            Embedded::FashionMnist => Self::FashionMnist,
        }
    }
}

impl std::fmt::Display for FullSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for FullSet {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|set| set.name() == name)
            .ok_or_else(|| Error::field("data set", name, Self::ALL.map(Self::name).join(", ")))
    }
}
