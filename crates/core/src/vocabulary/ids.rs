//! Who is who.

use serde::{Deserialize, Serialize};

/// A device's number, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeviceId(pub u32);

/// A UAV's number, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UavId(pub u32);

impl DeviceId {
    /// The place in the device arrays.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl UavId {
    /// The place in the UAV list.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
