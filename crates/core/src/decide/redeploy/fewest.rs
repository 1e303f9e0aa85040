//! As few UAVs as cover a share of the devices.

use super::{Fleet, FleetUav, Move, Redeployment};
use crate::seed::Random;

/// Some UAVs of a fleet, and where they go. The others are not needed.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// Their places in the fleet, ascending.
    pub uavs: Vec<usize>,
    /// The moves of those who move.
    pub moves: Vec<Move>,
    /// Share of the devices that they cover then.
    pub covered: f64,
}

/// In fleets of more, not every UAV is tried as the one that is not needed.
const MOST_TRIED: usize = 12;

/// As few UAVs of a fleet as are found to cover `goal` of the devices; all of them where these do not.
///
/// Who covers least alone is left out, and the others are placed anew, as long as they cover enough; many at a time at first. Every
/// search starts from `rng` as it is.
pub fn fewest(fleet: &Fleet, goal: f64, method: &mut dyn Redeployment, rng: &Random) -> Selection {
    let mut place = |uavs: Vec<usize>| {
        let some: Vec<FleetUav> = uavs.iter().map(|&uav| fleet.uavs[uav]).collect();
        let part = Fleet {
            uavs: &some,
            ..*fleet
        };
        let moves = method.redeploy(&part, &mut rng.clone());
        let mut counts = part.coverage();
        for flight in &moves {
            if let Some(uav) = some.iter().find(|uav| uav.id == flight.uav) {
                counts.shift(flight.from, flight.to, uav.coverage_radius_m);
            }
        }
        let alone = |uav: &FleetUav| {
            let moved = moves.iter().find(|flight| flight.uav == uav.id);
            let at = moved.map_or(uav.position, |flight| flight.to);
            counts.only_by(at, uav.coverage_radius_m)
        };
        let alone: Vec<usize> = some.iter().map(alone).collect();
        let mut least_first: Vec<usize> = (0..uavs.len()).collect();
        least_first.sort_by_key(|&place| (alone[place], place));
        let least_first = least_first.into_iter().map(|place| uavs[place]).collect();
        let covered = counts.share();
        let found = Selection {
            uavs,
            moves,
            covered,
        };
        (found, least_first)
    };
    let (mut best, mut order): (Selection, Vec<usize>) = place((0..fleet.uavs.len()).collect());
    if best.covered < goal {
        return best;
    }
    let mut without = best.uavs.len() / 2;
    while best.uavs.len() > 1 {
        let tries = if without > 1 {
            1
        } else {
            order.len().min(MOST_TRIED)
        };
        let left_out = |first: usize| {
            let gone = &order[first..first + without.max(1)];
            let left = best.uavs.iter().filter(|uav| !gone.contains(uav));
            left.copied().collect::<Vec<usize>>()
        };
        let found = (0..tries)
            .map(|first| place(left_out(first)))
            .find(|(found, _)| found.covered >= goal);
        match found {
            Some(found) => {
                (best, order) = found;
                without = without.min(best.uavs.len() / 2);
            }
            None if without > 1 => without /= 2,
            None => break,
        }
    }
    best
}
