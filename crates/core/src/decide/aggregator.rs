//! Which UAV merges the edge models.

use rayon::prelude::*;

use crate::scenario;
use crate::world::{Uav, UavId};
use crate::{Error, checkpoint};

/// What it would mean if a UAV aggregated. Every answer looks at all UAVs: it is found when it is asked for.
pub trait Prospects: Sync {
    /// Whether its battery covers the broadcast, and everybody hears it.
    fn can_broadcast(&self, uav: &Uav) -> bool;

    /// Weighted energy and time of handing over and broadcasting if it aggregates, Eq. (56).
    fn cost(&self, uav: &Uav) -> f64;
}

/// A UAV that could aggregate.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Candidate<'a> {
    /// The UAV.
    pub uav: &'a Uav,
    pub(crate) prospects: &'a dyn Prospects,
}

impl Candidate<'_> {
    /// Whether its battery covers the broadcast, and everybody hears it. Takes time in proportion to the UAVs.
    #[must_use]
    pub fn can_broadcast(&self) -> bool {
        self.prospects.can_broadcast(self.uav)
    }

    /// Weighted energy and time of handing over and broadcasting if it aggregates, Eq. (56). Takes time in proportion to the
    /// UAVs.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.prospects.cost(self.uav)
    }
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
        least(candidates, |me| me.cost())
    }
}

/// The first that can broadcast, from the least on; the least of all when nobody can.
fn least(candidates: &[Candidate], measure: impl Fn(&Candidate) -> f64 + Sync) -> UavId {
    let ranked = candidates.par_iter();
    let mut ranked: Vec<(f64, &Candidate)> = ranked.map(|me| (measure(me), me)).collect();
    ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.uav.id.cmp(&b.1.uav.id)));
    let mut able = ranked.iter().filter(|(_, me)| me.can_broadcast());
    let chosen = able.next().or(ranked.first());
    chosen.map_or(UavId(0), |(_, me)| me.uav.id)
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
    use std::sync::atomic::{AtomicUsize, Ordering};

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

    /// Who can broadcast; the later, the cheaper.
    struct Able([bool; 3]);

    impl Prospects for Able {
        fn can_broadcast(&self, uav: &Uav) -> bool {
            self.0[uav.id.index()]
        }

        fn cost(&self, uav: &Uav) -> f64 {
            10.0 - f64::from(uav.id.0)
        }
    }

    #[test]
    fn the_middle_one_aggregates_unless_it_lacks_the_energy() {
        let uavs = [uav(0, 0.0), uav(1, 4.0), uav(2, 10.0)];
        let choose = |able: [bool; 3]| {
            let prospects = &Able(able);
            let candidate = |uav| Candidate { uav, prospects };
            let candidates: Vec<Candidate> = uavs.iter().map(candidate).collect();
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

    /// The default rule asks about batteries only until somebody can, and never about costs.
    #[test]
    fn only_what_the_rule_needs_is_found_out() {
        struct Counted(AtomicUsize);
        impl Prospects for Counted {
            fn can_broadcast(&self, uav: &Uav) -> bool {
                self.0.fetch_add(1, Ordering::Relaxed);
                uav.id != UavId(1)
            }
            fn cost(&self, _: &Uav) -> f64 {
                panic!("nobody needs to know");
            }
        }
        let uavs = [0.0, 4.0, 10.0, 11.0, 30.0];
        let uavs: Vec<Uav> = (0..).zip(uavs).map(|(id, x_m)| uav(id, x_m)).collect();
        let prospects = &Counted(AtomicUsize::new(0));
        let candidates: Vec<Candidate> = uavs
            .iter()
            .map(|uav| Candidate { uav, prospects })
            .collect();
        // Sums of distances: 55, 43, 37, 38, 95.
        assert_eq!(LeastDistance.choose(&candidates), UavId(2));
        assert_eq!(prospects.0.load(Ordering::Relaxed), 1);
    }
}
