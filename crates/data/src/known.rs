//! The official sets: check sums and class names.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::idx::Kind;
use crate::{Error, FullSet};

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

    /// SHA-256 of the decompressed file in an official set; none for a set that is not in idx files.
    pub(crate) fn sha256(self, set: FullSet) -> Option<&'static str> {
        let [train_images, train_labels, test_images, test_labels] = match set {
            FullSet::Mnist => [
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            ],
            FullSet::FashionMnist => [
                "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
                "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
                "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
                "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
            ],
            FullSet::Watch => [
                "52e33080ea95265f13b92be18dbf601f4136ca1d16f9ead734e509924848053e",
                "2edbbc3f08e8a54c452bfca2be3dd5f5c3ea4fe9061ed77bb35f391623ec23aa",
                "5baf3873e594733fb5ebf85f12951c65bf1003193be72b3e66d2882f80620a65",
                "56efc1c1de2a2f83871f0fc018e5293f3576da51545a60cfc33d715a6e347e08",
            ],
            FullSet::Cifar10 => return None,
        };
        Some(match self {
            Self::TrainImages => train_images,
            Self::TrainLabels => train_labels,
            Self::TestImages => test_images,
            Self::TestLabels => test_labels,
        })
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
        set: FullSet,
        sha256: &str,
    ) -> Result<(), Error> {
        require_sum(path, set, self.sha256(set).unwrap_or_default(), sha256)
    }

    /// The official set that has this file with this sum.
    pub(crate) fn owner(self, sha256: &str) -> Option<FullSet> {
        let mut sets = FullSet::ALL.into_iter();
        sets.find(|&set| self.sha256(set) == Some(sha256))
    }
}

/// Refuses a sum that is not the published one.
pub(crate) fn require_sum(
    path: &Path,
    set: FullSet,
    expected: &'static str,
    found: &str,
) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Checksum {
        path: path.to_path_buf(),
        set,
        expected,
        found: found.to_owned(),
    })
}

/// Class names of an official set, by label.
pub(crate) fn class_names(set: FullSet) -> Vec<String> {
    let names = match set {
        FullSet::Mnist => "0 1 2 3 4 5 6 7 8 9",
        FullSet::FashionMnist => {
            "T-shirt/top Trouser Pullover Dress Coat Sandal Shirt Sneaker Bag Ankle_boot"
        }
        FullSet::Cifar10 => "airplane automobile bird cat deer dog frog horse ship truck",
        FullSet::Watch => "PEN ABD FEL IR ER TRAP ROW",
    };
    names
        .split(' ')
        .map(|name| name.replace('_', " "))
        .collect()
}

/// SHA-256 in lower-case hexadecimal digits.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('?');
    Sha256::digest(bytes)
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}
