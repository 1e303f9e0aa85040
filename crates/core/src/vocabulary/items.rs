//! The lines of the books: what seconds and joules are spent on.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Declares an enum of items with their column names, and a table with one number for each.
macro_rules! items {
    ($(#[$item_doc:meta])* $item:ident, $(#[$table_doc:meta])* $table:ident, $total:ident,
     { $($(#[doc = $doc:literal])+ $variant:ident => $name:literal,)+ }) => {
        $(#[$item_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $item {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)+
        }

        impl $item {
            /// Every item, in the order of columns.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The column's name, with its unit.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// What it is, in a sentence.
            #[must_use]
            pub fn description(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim(),)+ }
            }

            /// The words of the name: `edge_hover_j` is "edge hover".
            #[must_use]
            pub fn label(self) -> String {
                let name = self.name();
                let words = name.rsplit_once('_').map_or(name, |(words, _unit)| words);
                words.replace('_', " ")
            }
        }

        $(#[$table_doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $table([f64; $item::ALL.len()]);

        impl $table {
            /// What one item came to.
            #[must_use]
            pub fn get(&self, item: $item) -> f64 {
                self.0[item as usize]
            }

            /// Adds to an item.
            pub fn add(&mut self, item: $item, amount: f64) {
                self.0[item as usize] += amount;
            }

            /// Adds every item of another table.
            pub fn add_all(&mut self, other: &Self) {
                for (mine, theirs) in self.0.iter_mut().zip(other.0) {
                    *mine += theirs;
                }
            }

            /// Item by item the mean of several tables; nothing of none.
            pub fn mean<'a>(tables: impl ExactSizeIterator<Item = &'a Self>) -> Self {
                let count = tables.len().max(1) as f64;
                let mut mean = Self::default();
                for table in tables {
                    mean.add_all(table);
                }
                for amount in &mut mean.0 {
                    *amount /= count;
                }
                mean
            }

            /// The sum of all items.
            #[must_use]
            pub fn $total(&self) -> f64 {
                self.0.iter().sum()
            }
        }

        impl Serialize for $table {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(Some(self.0.len()))?;
                for item in $item::ALL {
                    map.serialize_entry(item.name(), &self.get(item))?;
                }
                map.end()
            }
        }

        impl<'de> Deserialize<'de> for $table {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                // JSON has neither NaN nor infinity: both are null.
                let mut amounts = BTreeMap::<String, Option<f64>>::deserialize(deserializer)?;
                let mut table = Self::default();
                for item in $item::ALL {
                    let amount = amounts.remove(item.name());
                    let amount = amount.ok_or_else(|| D::Error::missing_field(item.name()))?;
                    table.0[item as usize] = amount.unwrap_or(f64::NAN);
                }
                match amounts.keys().next() {
                    None => Ok(table),
                    Some(other) => Err(D::Error::custom(format_args!("unknown item {other}"))),
                }
            }
        }
    };
}

items! {
    /// What energy is spent on.
    EnergyItem,
    /// Joules by item.
    Energy, total_j,
    {
        /// Personal models of UAVs: training, sending and comparing them.
        Scoring => "scoring_j",
        /// Devices computing, Eq. (9).
        DeviceCompute => "device_compute_j",
        /// Devices sending their models, Eq. (12).
        DeviceUpload => "device_upload_j",
        /// UAVs hovering while their devices work, Eq. (14).
        EdgeHover => "edge_hover_j",
        /// UAVs sending edge models to devices, Eq. (14).
        Downlink => "downlink_j",
        /// UAVs hovering while they hand their model to the aggregator, Eq. (19).
        OffloadHover => "offload_hover_j",
        /// UAVs flying to a position, Eq. (19).
        Move => "move_j",
        /// The aggregator sending the global model to UAVs, Eq. (23).
        Broadcast => "broadcast_j",
        /// UAVs passing the global model on to devices, Eq. (23).
        Relay => "relay_j",
        /// UAVs hovering during the broadcast, Eq. (24).
        BroadcastHover => "broadcast_hover_j",
        /// UAVs flying home to recharge.
        ReturnFlight => "return_flight_j",
        /// What was drained from batteries, by a fault.
        Drained => "drained_j",
        /// What leaked from batteries, by a fault.
        Leaked => "leaked_j",
        /// UAVs hovering until the others are ready, where that is charged.
        Waiting => "waiting_j",
    }
}

items! {
    /// What time is spent on.
    TimeItem,
    /// Seconds by item.
    Time, total_s,
    {
        /// Training the personal models of UAVs, sending and comparing them.
        Scoring => "scoring_s",
        /// The slowest device of the slowest cell computing.
        Compute => "compute_s",
        /// That device sending.
        Upload => "upload_s",
        /// That device receiving.
        Download => "download_s",
        /// The slowest UAV flying to its new position, Eq. (20).
        Move => "move_s",
        /// The slowest UAV handing its model over.
        Offload => "offload_s",
        /// The global model going out, Eq. (22).
        Broadcast => "broadcast_s",
        /// Waiting for a UAV to return, when none is there.
        Wait => "wait_s",
    }
}

/// Seconds of one UAV by what it did, under the names of the energy items: where the joules of an item are spent beside
/// another, its seconds are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UavTime([f64; EnergyItem::ALL.len()]);

impl UavTime {
    /// How long one item took, s.
    #[must_use]
    pub fn get(&self, item: EnergyItem) -> f64 {
        self.0[item as usize]
    }

    /// Adds to an item.
    pub fn add(&mut self, item: EnergyItem, seconds: f64) {
        self.0[item as usize] += seconds;
    }

    /// The sum of all items.
    #[must_use]
    pub fn total_s(&self) -> f64 {
        self.0.iter().sum()
    }

    /// The items that can last, each with its column's name.
    pub fn columns() -> impl Iterator<Item = (EnergyItem, String)> {
        let lasting = EnergyItem::ALL.into_iter().filter(|item| item.lasts());
        lasting.map(|item| {
            let name = item.name();
            (
                item,
                format!("{}_s", name.strip_suffix("_j").unwrap_or(name)),
            )
        })
    }
}

impl Energy {
    /// What was spent on purpose: the sum of all items but those of faults.
    #[must_use]
    pub fn spent_j(&self) -> f64 {
        EnergyItem::spent().map(|item| self.get(item)).sum()
    }

    /// What faults took from batteries.
    #[must_use]
    pub fn taken_by_faults_j(&self) -> f64 {
        let faults = EnergyItem::ALL.into_iter().filter(|item| item.is_fault());
        faults.map(|item| self.get(item)).sum()
    }
}

impl EnergyItem {
    /// The items that are spent on purpose, in the order of columns.
    pub fn spent() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|item| !item.is_fault())
    }

    /// Whether a fault took it, not the work.
    #[must_use]
    pub fn is_fault(self) -> bool {
        matches!(self, Self::Drained | Self::Leaked)
    }

    /// Whether a UAV's seconds go by with it; the other items are spent beside one of these.
    #[must_use]
    pub fn lasts(self) -> bool {
        match self {
            Self::Scoring
            | Self::EdgeHover
            | Self::OffloadHover
            | Self::Move
            | Self::BroadcastHover
            | Self::Waiting => true,
            Self::DeviceCompute
            | Self::DeviceUpload
            | Self::Downlink
            | Self::Broadcast
            | Self::Relay
            | Self::ReturnFlight
            | Self::Drained
            | Self::Leaked => false,
        }
    }
}

impl Serialize for UavTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Self::columns().map(|(item, name)| (name, self.get(item))))
    }
}

impl<'de> Deserialize<'de> for UavTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut seconds = BTreeMap::<String, Option<f64>>::deserialize(deserializer)?;
        let mut time = Self::default();
        for (item, name) in Self::columns() {
            let amount = seconds.remove(&name);
            let amount = amount.ok_or_else(|| D::Error::custom(format_args!("no {name}")))?;
            time.0[item as usize] = amount.unwrap_or(f64::NAN);
        }
        match seconds.keys().next() {
            None => Ok(time),
            Some(other) => Err(D::Error::custom(format_args!("unknown item {other}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_add_up_by_name() {
        let mut energy = Energy::default();
        energy.add(EnergyItem::Relay, 2.0);
        energy.add(EnergyItem::Relay, 0.5);
        let mut sum = energy;
        sum.add(EnergyItem::Move, 4.0);
        sum.add_all(&energy);
        assert_eq!((sum.get(EnergyItem::Relay), sum.total_j()), (5.0, 9.0));
        let json = serde_json::to_value(sum).unwrap();
        assert_eq!(
            (json["relay_j"].as_f64(), json["move_j"].as_f64()),
            (Some(5.0), Some(4.0))
        );
        assert_eq!(serde_json::from_value::<Energy>(json.clone()).unwrap(), sum);
        for (odd, value) in [("relay_j", "x".into()), ("colour", 1.0.into())] {
            let mut json = json.clone();
            json[odd] = value;
            assert!(serde_json::from_value::<Energy>(json).is_err());
        }
    }
}
