//! Where devices were, for maps.

use serde::{Deserialize, Serialize};

use super::UavRecord;
use crate::vocabulary::Point;
use crate::world::{Coverage, DeviceId, UavId};

/// Most devices that a round remembers the places of; of a larger fleet, every so-and-so-many-th.
const MOST_SIGHTED: usize = 2_000;

/// Records of a larger fleet list only devices that are seen: runs and checkpoints would grow by all of them in every round.
const MOST_LISTED: usize = 20_000;

/// Every so-many-th device is seen of a fleet.
fn every(devices: usize) -> usize {
    devices.div_ceil(MOST_SIGHTED).max(1)
}

/// Those of a cell's devices that a record lists, of a fleet of so many, and how many others there are.
pub(crate) fn listed(cell: Vec<DeviceId>, fleet: usize) -> (Vec<DeviceId>, usize) {
    if fleet <= MOST_LISTED {
        return (cell, 0);
    }
    let every = every(fleet);
    let all = cell.len();
    let seen = cell
        .into_iter()
        .filter(|id| id.index().is_multiple_of(every));
    let seen: Vec<DeviceId> = seen.collect();
    let others = all - seen.len();
    (seen, others)
}

/// Where devices stood in a round and whom they trained with, rounded to metres: a map needs no
/// more, and the file stays small.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sightings {
    /// Entry `i` of each list is device `i * every`; 1 for fleets of up to 2 000 devices.
    pub every: usize,
    /// Metres east of the area's corner.
    pub x_m: Vec<i32>,
    /// Metres north of the area's corner.
    pub y_m: Vec<i32>,
    /// What each did.
    pub uav: Vec<Part>,
}

/// What a device did in a round. In files one number: the UAV it trained with, -1, or -2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub enum Part {
    /// It trained with this UAV.
    Trained(UavId),
    /// A UAV covered it, and it was not selected (-1).
    Idle,
    /// No UAV covered it (-2).
    Uncovered,
}

impl TryFrom<i64> for Part {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        match number {
            -1 => Ok(Self::Idle),
            -2 => Ok(Self::Uncovered),
            uav => u32::try_from(uav)
                .map(|uav| Self::Trained(UavId(uav)))
                .map_err(|_| format!("`uav` is {uav}, allowed: -2, -1, or the number of a UAV")),
        }
    }
}

impl From<Part> for i64 {
    fn from(part: Part) -> Self {
        match part {
            Part::Trained(uav) => uav.0.into(),
            Part::Idle => -1,
            Part::Uncovered => -2,
        }
    }
}

impl Sightings {
    /// What is seen of devices at `positions`.
    pub(crate) fn new(positions: &[Point], coverage: &Coverage, uavs: &[UavRecord]) -> Self {
        let every = every(positions.len());
        let covered = |index: usize| coverage.nearest[index].is_some();
        let mut seen = Self {
            every,
            ..Self::default()
        };
        for (index, position) in positions.iter().enumerate().step_by(every) {
            // Saturating casts: areas end at 10 000 km.
            seen.x_m.push(position.x_m.round() as i32);
            seen.y_m.push(position.y_m.round() as i32);
            seen.uav.push(if covered(index) {
                Part::Idle
            } else {
                Part::Uncovered
            });
        }
        for uav in uavs {
            let devices = uav.devices.iter().map(|device| device.index());
            for index in devices.filter(|index| index.is_multiple_of(every)) {
                seen.uav[index / every] = Part::Trained(uav.uav);
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Energy, UavTime};
    use crate::world::Status;

    fn uav(id: u32, devices: &[u32]) -> UavRecord {
        UavRecord {
            uav: UavId(id),
            status: Status::Active,
            position_m: Point::default(),
            covered: 0,
            devices: devices.iter().map(|&device| DeviceId(device)).collect(),
            unlisted: 0,
            local_iterations: 1,
            edge_time_s: 0.0,
            battery_before_j: 0.0,
            battery_after_j: 0.0,
            recharged_j: 0.0,
            harvested_j: 0.0,
            energy: Energy::default(),
            time: UavTime::default(),
            away_s: 0.0,
        }
    }

    #[test]
    fn a_small_fleet_is_seen_whole() {
        let positions = [(0.4, 0.6), (1_499.5, 20.0), (7.0, 8.0)].map(|(x, y)| Point::new(x, y));
        let coverage = Coverage {
            cells: Vec::new(),
            nearest: vec![Some(UavId(0)), None, Some(UavId(3))],
        };
        let seen = Sightings::new(&positions, &coverage, &[uav(0, &[]), uav(3, &[2])]);
        let json = serde_json::to_string(&seen).unwrap();
        assert_eq!(
            json,
            r#"{"every":1,"x_m":[0,1500,7],"y_m":[1,20,8],"uav":[-1,-2,3]}"#
        );
        assert_eq!(serde_json::from_str::<Sightings>(&json).unwrap(), seen);
    }

    #[test]
    fn of_a_large_fleet_every_third_is_seen() {
        let positions: Vec<Point> = (0..5_000).map(|i| Point::new(f64::from(i), 0.0)).collect();
        let coverage = Coverage {
            cells: Vec::new(),
            nearest: vec![None; 5_000],
        };
        let seen = Sightings::new(&positions, &coverage, &[uav(1, &[6, 7])]);
        assert_eq!((seen.every, seen.x_m.len()), (3, 1_667));
        assert_eq!(seen.x_m[..4], [0, 3, 6, 9]);
        assert_eq!(seen.uav[2], Part::Trained(UavId(1)));
        let trained = |part: &&Part| **part != Part::Uncovered;
        assert_eq!(seen.uav.iter().filter(trained).count(), 1);
    }

    #[test]
    fn records_of_huge_fleets_list_only_who_is_seen() {
        let cell = || (0..50).map(DeviceId).collect::<Vec<_>>();
        assert_eq!(listed(cell(), MOST_LISTED), (cell(), 0));
        // Of 40 000, every 20th.
        let seen = [0, 20, 40].map(DeviceId).to_vec();
        assert_eq!(listed(cell(), 40_000), (seen, 47));
    }
}
