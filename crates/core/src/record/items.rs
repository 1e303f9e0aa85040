//! The lines of the books: what seconds and joules are spent on.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Declares an enum of items with their column names, and a table with one number for each.
macro_rules! items {
    ($(#[$item_doc:meta])* $item:ident, $(#[$table_doc:meta])* $table:ident, $total:ident,
     { $($(#[$doc:meta])* $variant:ident => $name:literal,)+ }) => {
        $(#[$item_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $item {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)+
        }

        impl $item {
            /// Every item, in the order of columns.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The column's name, with its unit.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
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
        /// UAVs flying to a post, Eq. (19).
        Move => "move_j",
        /// The aggregator sending the global model to UAVs, Eq. (23).
        Broadcast => "broadcast_j",
        /// UAVs passing the global model on to devices, Eq. (23).
        Relay => "relay_j",
        /// UAVs hovering during the broadcast, Eq. (24).
        BroadcastHover => "broadcast_hover_j",
        /// UAVs flying home to recharge.
        ReturnFlight => "return_flight_j",
        /// Batteries drained or leaking, by a fault.
        Leak => "leak_j",
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
        /// The slowest UAV flying to its new post, Eq. (20).
        Move => "move_s",
        /// The slowest UAV handing its model over.
        Offload => "offload_s",
        /// The global model going out, Eq. (22).
        Broadcast => "broadcast_s",
        /// Waiting for a UAV to return, when none is there.
        Wait => "wait_s",
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
