//! Which UAV merges the edge models.

use crate::world::{Uav, UavId};

/// A UAV that could aggregate.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The UAV.
    pub uav: &'a Uav,
    /// Whether its battery covers the broadcast.
    pub can_broadcast: bool,
}

/// Chooses the global aggregator.
pub trait AggregatorChoice: Send {
    /// One of the candidates, of which there is at least one.
    fn choose(&mut self, candidates: &[Candidate]) -> UavId;
}

/// The UAV with the least sum of distances to the others, Eq. (85), among those with the energy to
/// broadcast (among all, when nobody has it). Ties: the lower id.
#[derive(Clone, Copy, Debug)]
pub struct LeastDistance;

impl AggregatorChoice for LeastDistance {
    fn choose(&mut self, candidates: &[Candidate]) -> UavId {
        let sum_m = |me: &Candidate| -> f64 {
            candidates
                .iter()
                .map(|other| me.uav.position.distance(other.uav.position))
                .sum()
        };
        let best = |able: bool| {
            let eligible = candidates.iter().filter(|c| c.can_broadcast || !able);
            let ranked = eligible.map(|c| (sum_m(c), c.uav.id));
            ranked
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
                .map(|(_, id)| id)
        };
        best(true).or_else(|| best(false)).unwrap_or(UavId(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Point;
    use crate::world::Status;

    fn uav(id: u32, x_m: f64) -> Uav {
        Uav {
            id: UavId(id),
            position: Point::new(x_m, 0.0),
            battery_j: 1.0,
            status: Status::Active,
            tx_power_w: 1.0,
            broadcast_power_w: 1.0,
            bandwidth_up_hz: 1.0,
            bandwidth_down_hz: 1.0,
        }
    }

    #[test]
    fn the_middle_one_aggregates_unless_it_lacks_the_energy() {
        let uavs = [uav(0, 0.0), uav(1, 4.0), uav(2, 10.0)];
        let choose = |able: [bool; 3]| {
            let candidates: Vec<Candidate> = uavs
                .iter()
                .zip(able)
                .map(|(uav, can_broadcast)| Candidate { uav, can_broadcast })
                .collect();
            LeastDistance.choose(&candidates).0
        };
        // Sums of distances: 14, 10, 16.
        assert_eq!(choose([true, true, true]), 1);
        assert_eq!(choose([true, false, true]), 0);
        assert_eq!(choose([false, false, true]), 2);
        assert_eq!(choose([false, false, false]), 1);
    }
}
