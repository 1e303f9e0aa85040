//! The official sets: check sums and class names.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::idx::Kind;
use crate::{Embedded, Error, FullSet};

/// One of the four files of a set in idx format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    TrainImages,
    TrainLabels,
    TestImages,
    TestLabels,
}

impl Part {
    pub(crate) const ALL: [Self; 4] = [
        Self::TrainImages,
        Self::TrainLabels,
        Self::TestImages,
        Self::TestLabels,
    ];

    /// The names under which the file is found, best known first.
    pub(crate) fn file_names(self) -> [String; 4] {
        let (stem, kind) = match self {
            Self::TrainImages => ("train-images", "idx3-ubyte"),
            Self::TrainLabels => ("train-labels", "idx1-ubyte"),
            Self::TestImages => ("t10k-images", "idx3-ubyte"),
            Self::TestLabels => ("t10k-labels", "idx1-ubyte"),
        };
        [
            format!("{stem}-{kind}"),
            format!("{stem}.{kind}"),
            format!("{stem}-{kind}.gz"),
            format!("{stem}.{kind}.gz"),
        ]
    }

    /// SHA-256 of the decompressed file in an official set.
    pub(crate) fn sha256(self, set: Embedded) -> &'static str {
        match (set, self) {
            (Embedded::Mnist, Self::TrainImages) => {
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
            }
            (Embedded::Mnist, Self::TrainLabels) => {
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"
            }
            (Embedded::Mnist, Self::TestImages) => {
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
            }
            (Embedded::Mnist, Self::TestLabels) => {
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"
            }
            (Embedded::FashionMnist, Self::TrainImages) => {
                "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"
            }
            (Embedded::FashionMnist, Self::TrainLabels) => {
                "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"
            }
            (Embedded::FashionMnist, Self::TestImages) => {
                "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"
            }
            (Embedded::FashionMnist, Self::TestLabels) => {
                "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"
            }
        }
    }

    /// What the file holds.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::TrainImages | Self::TestImages => Kind::Images,
            Self::TrainLabels | Self::TestLabels => Kind::Labels,
        }
    }

    /// Refuses a sum that is not that of the official set's file.
    pub(crate) fn require_official(
        self,
        path: &Path,
        set: Embedded,
        sha256: &str,
    ) -> Result<(), Error> {
        let expected = self.sha256(set);
        if sha256 == expected {
            return Ok(());
        }
        Err(Error::Checksum {
            path: path.to_path_buf(),
            set: set.into(),
            expected,
            found: sha256.to_owned(),
        })
    }

    /// The official set that has this file with this sum.
    pub(crate) fn owner(self, sha256: &str) -> Option<FullSet> {
        let mut sets = Embedded::ALL.into_iter();
        sets.find(|&set| self.sha256(set) == sha256)
            .map(FullSet::from)
    }
}

/// Class names of an official set, by label.
pub(crate) fn class_names(set: Embedded) -> Vec<String> {
    let names = match set {
        Embedded::Mnist => ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"],
        Embedded::FashionMnist => [
            "T-shirt/top",
            "Trouser",
            "Pullover",
            "Dress",
            "Coat",
            "Sandal",
            "Shirt",
            "Sneaker",
            "Bag",
            "Ankle boot",
        ],
    };
    names.map(str::to_owned).to_vec()
}

/// SHA-256 in lower-case hexadecimal digits.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('?');
    Sha256::digest(bytes)
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}
