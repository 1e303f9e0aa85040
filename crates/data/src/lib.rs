//! Datasets and how they are divided among devices.
//!
//! Four sources give a [`Split`] of training and test samples:
//! [`embedded`] (MNIST and Fashion-MNIST subsets that live in the binary), [`idx_folder`]
//! (the full sets, or any other set in idx files), [`cifar10_folder`] and [`image_folder`] (a folder per class
//! with jpg and png files). [`fetch`] gets the full sets. [`partition`] then deals the training samples to devices, to the
//! UAVs' personal sets and to the probe set; where there are more devices than samples, they draw from a shared [`Pool`].
//!
//! ```
//! use aerofed_data::{Embedded, PartitionKind, PartitionPlan, embedded, partition};
//! use rand::SeedableRng;
//!
//! let split = embedded(Embedded::Mnist)?;
//! let plan = PartitionPlan {
//!     kind: PartitionKind::NoniidA,
//!     devices: 150,
//!     data_volume: 4_000,
//!     probe_samples: 500,
//!     uavs: 5,
//!     personal_samples: 200,
//! };
//! let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
//! let parts = partition(&split.train, &plan, &mut rng)?;
//! assert_eq!(parts.devices.iter().map(Vec::len).sum::<usize>(), 4_000);
//! for counts in parts.label_counts(&split.train) {
//!     assert_eq!(counts.iter().filter(|&&count| count > 0).count(), 2);
//! }
//! # Ok::<(), aerofed_data::Error>(())
//! ```

mod check;
mod cifar;
mod columns;
mod dataset;
mod embedded;
mod error;
mod fetch;
mod full;
mod idx;
mod idx_folder;
mod image_folder;
mod known;
mod partition;
mod table;
mod users;

pub use check::{ClassReport, FileReport, FolderKind, FolderReport, check_folder};
pub use cifar::{cifar10_files, cifar10_folder};
#[cfg(feature = "parquet")]
pub use columns::parquet;
pub use columns::{ColumnValues, NamedColumn};
pub use dataset::{Dataset, Split, Users, Values, pixel_value};
pub use embedded::{Embedded, embedded, embedded_labels};
pub use error::{BadFile, Error, IdxProblem};
pub use fetch::{Fetched, fetch};
pub use full::FullSet;
pub use idx_folder::{idx_files, idx_folder};
pub use image_folder::{ImageFolder, image_files, image_folder};
pub use partition::{Partition, PartitionKind, PartitionPlan, Pool, partition};
pub use table::Table;

/// The README's example, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
