//! Which UAV merges the edge models.

use crate::scenario;
use crate::world::{Uav, UavId};
use crate::{Error, checkpoint};

/// A UAV that could aggregate.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Candidate<'a> {
    /// The UAV.
    pub uav: &'a Uav,
    /// Whether its battery covers the broadcast, and everybody hears it.
    pub can_broadcast: bool,
    /// Weighted energy and time of handing over and broadcasting if it aggregates, Eq. (56).
    pub cost: f64,
}

/// Chooses the global aggregator.
pub trait AggregatorChoice: Send {
    /// One of the candidates, of which there is at least one.
    fn choose(&mut self, candidates: &[Candidate]) -> UavId;

    /// What it carries from round to round, see [`checkpoint`].
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes up what [`save`](Self::save) gave.
    ///
    /// # Errors
    /// When that is not the state of such a part.
    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        checkpoint::expect_nothing("choice of the aggregator", saved)
    }
}

/// The UAV with the least sum of distances to the others, Eq. (85), among those with the energy to
/// broadcast (among all, when nobody has it). Ties: the lower id.
#[derive(Clone, Copy, Debug)]
pub struct LeastDistance;

impl AggregatorChoice for LeastDistance {
    fn choose(&mut self, candidates: &[Candidate]) -> UavId {
        least(candidates, |me| {
            let distances = candidates
                .iter()
                .map(|other| me.uav.position.distance(other.uav.position));
            distances.sum()
        })
    }
}

/// The UAV with the least cost of hand-over and broadcast, Eq. (56), among those with the energy to
/// broadcast (among all, when nobody has it). Ties: the lower id.
#[derive(Clone, Copy, Debug)]
pub struct LeastCost;

impl AggregatorChoice for LeastCost {
    fn choose(&mut self, candidates: &[Candidate]) -> UavId {
        least(candidates, |me| me.cost)
    }
}

fn least(candidates: &[Candidate], measure: impl Fn(&Candidate) -> f64) -> UavId {
    let best = |able: bool| {
        let eligible = candidates
            .iter()
            .filter(|candidate| candidate.can_broadcast || !able);
        let ranked = eligible.map(|candidate| (measure(candidate), candidate.uav.id));
        ranked
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .map(|(_, id)| id)
    };
    best(true).or_else(|| best(false)).unwrap_or(UavId(0))
}

/// The choice a scenario asks for.
#[must_use]
pub fn from_config(config: scenario::Aggregator) -> Box<dyn AggregatorChoice> {
    match config {
        scenario::Aggregator::Distance => Box::new(LeastDistance),
        scenario::Aggregator::Cost => Box::new(LeastCost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Point;
    use crate::world::Status;

    fn uav(id: u32, x_m: f64) -> Uav {
        Uav {
            id: UavId(id),
            position: Point::new(x_m, 0.0),
            altitude_m: 150.0,
            coverage_radius_m: 1.0,
            battery_j: 1.0,
            full_j: 1.0,
            recharge_w: 0.0,
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
                .map(|(uav, can_broadcast)| Candidate {
                    uav,
                    can_broadcast,
                    cost: 10.0 - f64::from(uav.id.0),
                })
                .collect();
            (
                LeastDistance.choose(&candidates).0,
                LeastCost.choose(&candidates).0,
            )
        };
        // Sums of distances: 14, 10, 16.
        assert_eq!(choose([true, true, true]), (1, 2));
        assert_eq!(choose([true, false, true]), (0, 2));
        assert_eq!(choose([false, false, true]), (2, 2));
        assert_eq!(choose([true, true, false]), (1, 1));
        assert_eq!(choose([false, false, false]), (1, 2));
    }
}
