//! The full sets that packages carry.

use crate::cifar::{self, BATCHES};
use crate::known::{self, Part};
use crate::{Embedded, Error};

/// A set whose files are known by their SHA-256, and which a package carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FullSet {
    /// Handwritten digits, 28x28 grey: 60 000 for training, 10 000 for testing.
    Mnist,
    /// Articles of clothing, 28x28 grey: 60 000 for training, 10 000 for testing.
    FashionMnist,
    /// Animals and vehicles, 32x32 in colour: 50 000 for training, 10 000 for testing.
    Cifar10,
}

impl FullSet {
    /// Every set.
    pub const ALL: [Self; 3] = [Self::Mnist, Self::FashionMnist, Self::Cifar10];

    /// Its name in scenarios and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mnist => Embedded::Mnist.name(),
            Self::FashionMnist => Embedded::FashionMnist.name(),
            Self::Cifar10 => "cifar10",
        }
    }

    /// The subset of it that travels inside the binary.
    #[must_use]
    pub fn embedded(self) -> Option<Embedded> {
        match self {
            Self::Mnist => Some(Embedded::Mnist),
            Self::FashionMnist => Some(Embedded::FashionMnist),
            Self::Cifar10 => None,
        }
    }

    /// Its files as [`fetch`](crate::fetch) writes them, each with the SHA-256 of its bytes.
    #[must_use]
    pub fn files(self) -> Vec<(String, &'static str)> {
        match self.embedded() {
            Some(set) => Part::ALL
                .into_iter()
                .map(|part| {
                    let [name, ..] = part.file_names();
                    (name, part.sha256(set))
                })
                .collect(),
            None => BATCHES
                .iter()
                .map(|batch| (batch.name.to_owned(), batch.sha256))
                .collect(),
        }
    }

    /// A name per class, by label.
    #[must_use]
    pub fn class_names(self) -> Vec<String> {
        match self.embedded() {
            Some(set) => known::class_names(set),
            None => cifar::CLASSES.map(str::to_owned).to_vec(),
        }
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
