//! The kinds of partition, as a scenario names them.

use serde::{Deserialize, Serialize};

use crate::Error;

/// How labels are spread over devices. In a scenario: `{ kind = "dirichlet", alpha = 0.5 }`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", from = "Fields")]
pub enum PartitionKind {
    /// Two labels a device, half of its samples each.
    #[default]
    NoniidA,
    /// Two to ten labels a device, the number drawn anew for each.
    NoniidB,
    /// Samples drawn without regard to labels.
    Iid,
    /// Samples drawn from a label mix of the device, itself drawn from a symmetric Dirichlet distribution.
    Dirichlet {
        /// Concentration: small for few labels a device, large for all alike.
        alpha: f64,
    },
    /// Samples sorted by label, cut into equal shards, dealt at random.
    Shards {
        /// Shards a device gets.
        per_device: usize,
    },
    /// Each device is a user of the data, with samples of that user alone.
    User,
}

/// What is read: the same with every variant a struct, because serde lets unknown keys pass
/// beside the tag of a unit variant.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Fields {
    NoniidA {},
    NoniidB {},
    Iid {},
    Dirichlet {
        #[serde(default = "default_alpha")]
        alpha: f64,
    },
    Shards {
        #[serde(default = "default_per_device")]
        per_device: usize,
    },
    User {},
}

fn default_alpha() -> f64 {
    0.5
}

fn default_per_device() -> usize {
    2
}

impl From<Fields> for PartitionKind {
    fn from(fields: Fields) -> Self {
        match fields {
            Fields::NoniidA {} => Self::NoniidA,
            Fields::NoniidB {} => Self::NoniidB,
            Fields::Iid {} => Self::Iid,
            Fields::Dirichlet { alpha } => Self::Dirichlet { alpha },
            Fields::Shards { per_device } => Self::Shards { per_device },
            Fields::User {} => Self::User,
        }
    }
}

impl PartitionKind {
    /// Every kind, with the defaults of its fields.
    pub const ALL: [Self; 6] = [
        Self::NoniidA,
        Self::NoniidB,
        Self::Iid,
        Self::Dirichlet { alpha: 0.5 },
        Self::Shards { per_device: 2 },
        Self::User,
    ];

    /// Its name in scenarios and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoniidA => "noniid_a",
            Self::NoniidB => "noniid_b",
            Self::Iid => "iid",
            Self::Dirichlet { .. } => "dirichlet",
            Self::Shards { .. } => "shards",
            Self::User => "user",
        }
    }

    /// Refuses values out of range, by name.
    pub fn check(self) -> Result<(), Error> {
        match self {
            Self::Dirichlet { alpha } if !(1e-3..=1e6).contains(&alpha) => {
                Err(Error::field("alpha", alpha, "0.001 to 1000000"))
            }
            Self::Shards { per_device } if !(1..=1_000).contains(&per_device) => {
                Err(Error::field("per_device", per_device, "1 to 1000"))
            }
            _ => Ok(()),
        }
    }
}

/// A kind by its name, with the defaults of its fields.
impl std::str::FromStr for PartitionKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::field("partition kind", name, names)
        })
    }
}
