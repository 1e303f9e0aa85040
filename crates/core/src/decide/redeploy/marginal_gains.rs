//! Our own: the whole fleet climbs one objective, best move first.

use super::neighbourhood::Neighbourhood;
use super::{CoverageCounts, Fleet, FleetUav, Move, Redeployment};
use crate::seed::Random;
use crate::solve::placement::{
    EFFORT, Facility, MARGIN_SHARE, Problem, THRESHOLD, Travel, Worth, place,
};
use crate::vocabulary::Point;

/// Marginal gains with exchanges: see [`placement`](crate::solve::placement).
///
/// The objective is λ_8 · covered devices / (mean number of devices per UAV) − λ_9 · kilojoules, so that weights mean about
/// what they mean to Algorithm 4, and one sum over the fleet, so that it only rises and coverage never falls. UAVs fly
/// straight to their last position: what they tried in between costs nothing. There is nothing random about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarginalGains {
    /// λ_8, weight of coverage.
    pub coverage_weight: f64,
    /// λ_9, weight of a kilojoule of movement. 0: coverage first, energy only between plans that cover the same.
    pub movement_weight: f64,
    /// A device counts as covered if it is so far inside the radius, m, so that it may drift; none:
    /// [`MARGIN_SHARE`] of the radius.
    pub margin_m: Option<f64>,
    /// All UAVs reach each other in hops up to so long, m; 0: they need not.
    pub relay_m: f64,
    /// Devices that a UAV looks at in one choice, all candidates together.
    pub effort: usize,
    /// What a move's gain must exceed.
    pub threshold: f64,
}

impl Default for MarginalGains {
    fn default() -> Self {
        Self {
            coverage_weight: 1.0,
            movement_weight: 0.005,
            margin_m: None,
            relay_m: 0.0,
            effort: EFFORT,
            threshold: THRESHOLD,
        }
    }
}

impl Redeployment for MarginalGains {
    fn redeploy(&mut self, fleet: &Fleet, _: &mut Random) -> Vec<Move> {
        let before = fleet.coverage();
        let per_uav = before.covered() as f64 / fleet.uavs.len().max(1) as f64;
        // A network is one whole.
        let touched = match self.relay_m > 0.0 {
            true => None,
            false => Neighbourhood::of(fleet, &before),
        };
        let part = touched.as_ref().map_or(*fleet, |touched| Fleet {
            uavs: &touched.uavs,
            devices: &touched.devices,
            ..*fleet
        });
        let mut moves = self.moves(&part, per_uav, self.margin_m);
        // Who keeps a margin may give up devices at the edge of the radius. Not more than it finds, though.
        if covered(fleet.uavs, &before, &moves) < before.covered() {
            moves = self.moves(&part, per_uav, Some(0.0));
        }
        moves
    }
}

impl MarginalGains {
    fn moves(&self, fleet: &Fleet, per_uav: f64, margin_m: Option<f64>) -> Vec<Move> {
        let facility = |uav: &FleetUav| {
            let margin_m = margin_m.unwrap_or(MARGIN_SHARE * uav.coverage_radius_m);
            Facility {
                home: uav.position,
                radius_m: (uav.coverage_radius_m - margin_m).max(0.0),
                reach_m: uav.cruise.reach_m(uav.spare_j),
                altitude_m: uav.altitude_m,
            }
        };
        let facilities: Vec<Facility> = fleet.uavs.iter().map(facility).collect();
        let posts = place(&Problem {
            size_m: [fleet.area.width_m, fleet.area.height_m],
            air: fleet.air,
            points: fleet.devices,
            facilities: &facilities,
            travel: fleet,
            worth: Worth {
                point: self.coverage_weight / per_uav.max(1.0),
                kilojoule: self.movement_weight,
            },
            relay_m: self.relay_m,
            effort: self.effort,
            threshold: self.threshold,
        });
        let moved = fleet.uavs.iter().zip(posts);
        moved
            .filter_map(|(uav, to)| Move::of(fleet, uav, to))
            .collect()
    }
}

/// Devices that are covered after moves, margin or not.
fn covered(uavs: &[FleetUav], before: &CoverageCounts, moves: &[Move]) -> usize {
    let mut counts = before.clone();
    let mut moves = moves.iter().peekable();
    for uav in uavs {
        if let Some(flight) = moves.next_if(|flight| flight.uav == uav.id) {
            counts.shift(flight.from, flight.to, uav.coverage_radius_m);
        }
    }
    counts.covered()
}

impl Travel for Fleet<'_> {
    fn joules(&self, who: usize, to: Point) -> f64 {
        self.flight(&self.uavs[who], to).joules
    }

    fn straight_joules(&self, who: usize, to: Point) -> f64 {
        let uav = &self.uavs[who];
        uav.cruise.flight(uav.position, to).joules
    }

    fn alike(&self, one: usize, other: usize) -> bool {
        self.uavs[one].cruise == self.uavs[other].cruise
    }
}
