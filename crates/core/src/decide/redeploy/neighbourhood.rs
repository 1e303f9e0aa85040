//! The part of a large fleet that a change touches.

use super::{CoverageCounts, Fleet, FleetUav};
use crate::vocabulary::Point;

/// Fleets of up to so many are looked at as a whole.
const WHOLE: usize = 128;
/// Of larger ones, so many nearest to each place where a UAV left or came.
const NEAREST: usize = 32;

/// Some UAVs, and the devices around them that no other covers.
pub(super) struct Neighbourhood {
    pub(super) uavs: Vec<FleetUav>,
    pub(super) devices: Vec<Point>,
}

impl Neighbourhood {
    /// What changes touched, where that is much less than the fleet. `counts` has the whole fleet.
    pub(super) fn of(fleet: &Fleet, counts: &CoverageCounts) -> Option<Self> {
        if fleet.changed.is_empty() || fleet.uavs.len() <= WHOLE {
            return None;
        }
        let mut chosen = vec![false; fleet.uavs.len()];
        let mut discs = Vec::new();
        for &place in fleet.changed {
            let mut near: Vec<(f64, usize)> = (fleet.uavs.iter().enumerate())
                .map(|(index, uav)| (uav.position.distance_squared(place), index))
                .collect();
            near.select_nth_unstable_by(NEAREST, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near.truncate(NEAREST);
            // All that they cover now is part of it.
            let mut reach_m: f64 = 0.0;
            for (squared, index) in near {
                chosen[index] = true;
                reach_m = reach_m.max(squared.sqrt() + fleet.uavs[index].coverage_radius_m);
            }
            discs.push((place, reach_m));
        }
        let number = chosen.iter().filter(|chosen| **chosen).count();
        if number > fleet.uavs.len() / 2 {
            return None;
        }
        let all = fleet.uavs.iter().zip(chosen);
        let uavs = all.filter(|(_, chosen)| *chosen).map(|(uav, _)| *uav);
        let uavs: Vec<FleetUav> = uavs.collect();
        let mut others = counts.clone();
        for uav in &uavs {
            others.remove(uav.position, uav.coverage_radius_m);
        }
        let mut devices = Vec::new();
        for (place, reach_m) in discs {
            devices.extend(others.uncovered_within(place, reach_m));
            // The next disc is without them.
            others.add(place, reach_m);
        }
        Some(Self { uavs, devices })
    }
}
