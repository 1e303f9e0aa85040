//! What goes wrong on purpose.

use serde::{Deserialize, Serialize};

use super::Scenario;
use super::check::{Checked, bad, within};

/// Something that goes wrong. Rounds are global rounds, from 1; `until` is the last one affected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// A UAV is lost for good.
    Loss {
        /// Which UAV.
        uav: u32,
        /// In which round.
        round: usize,
        /// At which moment of it.
        #[serde(default)]
        moment: Moment,
        /// After which edge round, for `moment = "edge"`.
        #[serde(default = "first")]
        edge_round: usize,
        /// Whether it knows in time to hand over its model and fly home.
        #[serde(default)]
        warned: bool,
    },
    /// A UAV's battery is drained to just above what the energy check keeps back.
    Drain {
        /// Which UAV.
        uav: u32,
        /// In which round.
        round: usize,
    },
    /// A UAV's battery loses energy besides what it spends.
    Leak {
        /// Which UAV.
        uav: u32,
        /// First round.
        from: usize,
        /// Last round.
        until: usize,
        /// How fast.
        power_w: f64,
    },
    /// Two UAVs cannot hear each other.
    LinkOutage {
        /// Which two.
        uavs: [u32; 2],
        /// First round.
        from: usize,
        /// Last round.
        until: usize,
    },
    /// A UAV cannot reach its devices.
    CellOutage {
        /// Which UAV.
        uav: u32,
        /// First round.
        from: usize,
        /// Last round.
        until: usize,
    },
    /// A device is down.
    DeviceCrash {
        /// Which device.
        device: u32,
        /// First round.
        from: usize,
        /// Last round.
        until: usize,
    },
}

/// When in a round a UAV is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Before anybody trains.
    #[default]
    Before,
    /// After an edge round's training, before the next.
    Edge,
    /// While it aggregates; nothing happens when another UAV does.
    Aggregating,
}

fn first() -> usize {
    1
}

const LAST_ROUND: usize = 10_000_000;

impl Scenario {
    pub(super) fn check_faults(&self) -> Checked {
        within("faults", self.faults.len(), 0..=10_000)?;
        let uav = |id: u32| within("faults.uav", id, 0..=self.uavs.count as u32 - 1);
        let span = |from: usize, until: usize| {
            within("faults.from", from, 1..=LAST_ROUND)?;
            within("faults.until", until, from..=LAST_ROUND)
        };
        self.faults.iter().try_for_each(|fault| match *fault {
            Fault::Loss {
                uav: id,
                round,
                edge_round,
                ..
            } => {
                uav(id)?;
                within("faults.round", round, 1..=LAST_ROUND)?;
                within(
                    "faults.edge_round",
                    edge_round,
                    1..=self.training.max_edge_rounds,
                )
            }
            Fault::Drain { uav: id, round } => {
                uav(id)?;
                within("faults.round", round, 1..=LAST_ROUND)
            }
            Fault::Leak {
                uav: id,
                from,
                until,
                power_w,
            } => {
                uav(id)?;
                span(from, until)?;
                within("faults.power_w", power_w, 0.0..=1e9)
            }
            Fault::LinkOutage {
                uavs: [a, b],
                from,
                until,
            } => {
                uav(a)?;
                uav(b)?;
                if a == b {
                    return Err(bad(
                        "faults.uavs",
                        format_args!("[{a}, {b}]"),
                        "two different UAVs",
                    ));
                }
                span(from, until)
            }
            Fault::CellOutage {
                uav: id,
                from,
                until,
            } => {
                uav(id)?;
                span(from, until)
            }
            Fault::DeviceCrash {
                device,
                from,
                until,
            } => {
                within("faults.device", device, 0..=self.devices.count as u32 - 1)?;
                span(from, until)
            }
        })
    }
}
