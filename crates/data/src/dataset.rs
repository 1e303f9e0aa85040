//! Samples in memory.

use std::ops::Range;

use crate::Error;

/// Labelled samples of one shape, ready for training.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// What the set is called in reports.
    pub name: String,
    /// Values per pixel: 1 for grey, 3 for colour.
    pub channels: usize,
    /// Rows of a sample.
    pub height: usize,
    /// Columns of a sample.
    pub width: usize,
    /// A name per class; a label is an index into it.
    pub class_names: Vec<String>,
    /// Values in [0, 1], sample after sample, each as channel, row, column; none where only labels were asked for.
    pub inputs: Values,
    /// The class of each sample.
    pub labels: Vec<u8>,
    /// Whose the samples are, where that is known.
    pub users: Option<Users>,
}

/// The values of samples, as small as their source has them.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Pixels from 0 to 255, which stand for [`pixel_value`] of them: a quarter of the memory of the same numbers.
    Pixels(Vec<u8>),
    /// Numbers as they are.
    Numbers(Vec<f32>),
}

/// What a pixel stands for: 0 to 1.
#[must_use]
pub fn pixel_value(pixel: u8) -> f32 {
    f32::from(pixel) / 255.0
}

impl Values {
    /// No value at all.
    pub const NONE: Self = Self::Pixels(Vec::new());

    /// How many values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Pixels(pixels) => pixels.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What some of them stand for, or `None` past the end.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Option<Vec<f32>> {
        Some(match self {
            Self::Pixels(pixels) => {
                let part = pixels.get(range)?.iter();
                part.map(|&pixel| pixel_value(pixel)).collect()
            }
            Self::Numbers(numbers) => numbers.get(range)?.to_vec(),
        })
    }

    /// What all of them stand for.
    #[must_use]
    pub fn to_vec(&self) -> Vec<f32> {
        self.part(0..self.len()).unwrap_or_default()
    }
}

/// Whose the samples of a set are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Users {
    /// A name per user.
    pub names: Vec<String>,
    /// The user of each sample, an index into the names.
    pub of_sample: Vec<u32>,
}

impl Dataset {
    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no sample at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Number of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.class_names.len()
    }

    /// Values of one sample.
    #[must_use]
    pub fn input_len(&self) -> usize {
        self.channels * self.height * self.width
    }

    /// The values of sample `index`, or `None` past the end.
    #[must_use]
    pub fn input(&self, index: usize) -> Option<Vec<f32>> {
        let size = self.input_len();
        let start = index.checked_mul(size)?;
        self.inputs.part(start..start.checked_add(size)?)
    }

    /// Samples of each class.
    #[must_use]
    pub fn label_counts(&self) -> Vec<usize> {
        count_labels(self.classes(), self.labels.iter().copied())
    }

    /// Refuses a set whose parts do not fit together. The loaders of this crate give only sets
    /// that pass; [`partition`](crate::partition) asks again because the fields are public.
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |problem: String| {
            Err(Error::Dataset {
                name: self.name.clone(),
                problem,
            })
        };
        let due = self.len().checked_mul(self.input_len());
        if !self.inputs.is_empty() && Some(self.inputs.len()) != due {
            return refuse(format!(
                "{} values for {} samples of {}",
                self.inputs.len(),
                self.len(),
                self.input_len()
            ));
        }
        if u32::try_from(self.len()).is_err() {
            return refuse(format!("{} samples, at most {}", self.len(), u32::MAX));
        }
        if let Some(users) = &self.users {
            if users.of_sample.len() != self.len() {
                return refuse(format!(
                    "users of {} samples, the set has {}",
                    users.of_sample.len(),
                    self.len()
                ));
            }
            let unknown = |&&user: &&u32| user as usize >= users.names.len();
            if let Some(user) = users.of_sample.iter().find(unknown) {
                return refuse(format!("user {user} in a set of {}", users.names.len()));
            }
        }
        match self
            .labels
            .iter()
            .find(|&&label| usize::from(label) >= self.classes())
        {
            Some(label) => refuse(format!(
                "label {label} in a set of {} classes",
                self.classes()
            )),
            None => Ok(()),
        }
    }
}

/// A training and a test set with the same shape and classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// What devices, UAVs and the probe set draw from.
    pub train: Dataset,
    /// What accuracy is measured on; never trained on.
    pub test: Dataset,
}

/// Counts labels; those outside the classes are not counted.
pub(crate) fn count_labels(classes: usize, labels: impl Iterator<Item = u8>) -> Vec<usize> {
    let mut counts = vec![0; classes];
    for label in labels {
        if let Some(count) = counts.get_mut(usize::from(label)) {
            *count += 1;
        }
    }
    counts
}
