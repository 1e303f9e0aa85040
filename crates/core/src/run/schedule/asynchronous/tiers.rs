//! FedAT's bookkeeping at the aggregator (Chai et al., arXiv 2010.05958), with UAV cells as tiers: whose
//! model is how old, and what each weighs in the global model.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::learn::aggregation::Aggregation;
use crate::vocabulary::UavId;

use super::super::super::saved::COUNT_MAX;

/// What the aggregator knows of each cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tiers {
    /// How often the global model was merged.
    version: usize,
    cells: Vec<Tier>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Tier {
    /// Models delivered since the start (T_tier).
    deliveries: usize,
    /// The version of the global model that the cell works on.
    fetched: usize,
    /// The latest model delivered; none before, and when the UAV is gone.
    latest: Option<Vec<f32>>,
    /// Whether the UAV was gone at the end of the last round.
    gone: bool,
}

impl Tiers {
    pub(super) fn new(uavs: usize) -> Self {
        Self {
            version: 0,
            cells: vec![Tier::default(); uavs],
        }
    }

    /// Whether these can be the tiers of so many cells with models of so many numbers.
    pub(super) fn fits(&self, cells: usize, parameters: usize) -> bool {
        let fits = |cell: &Tier| {
            cell.fetched <= self.version
                && cell.deliveries <= COUNT_MAX
                && cell
                    .latest
                    .as_ref()
                    .is_none_or(|model| model.len() == parameters)
        };
        self.version <= COUNT_MAX && self.cells.len() == cells && self.cells.iter().all(fits)
    }

    /// Whether nobody has delivered anything yet.
    pub(super) fn is_new(&self) -> bool {
        self.version == 0
    }

    /// A cell takes the global model as it is now.
    pub(super) fn fetch(&mut self, uav: UavId) {
        self.cells[uav.index()].fetched = self.version;
    }

    /// A cell's model is there. Returns its staleness: how often the global model was merged since
    /// the cell fetched it.
    pub(super) fn deliver(&mut self, uav: UavId, model: Vec<f32>) -> usize {
        let cell = &mut self.cells[uav.index()];
        cell.deliveries += 1;
        cell.latest = Some(model);
        cell.gone = false;
        let staleness = self.version - cell.fetched;
        self.version += 1;
        staleness
    }

    /// At the end of a round: forgets the models of UAVs that were gone a round ago already. The others
    /// have built on them since; kept, they would grow old and, as those of the slowest,
    /// weigh more and more.
    pub(super) fn retire(&mut self, is_gone: impl Fn(UavId) -> bool) {
        for (cell, uav) in self.cells.iter_mut().zip(0..) {
            let gone = is_gone(UavId(uav));
            if gone && cell.gone {
                cell.latest = None;
            }
            cell.gone = gone;
        }
    }

    /// A cell's latest model is lost.
    pub(super) fn forget(&mut self, uav: UavId) {
        self.cells[uav.index()].latest = None;
    }

    /// Whether the aggregator holds a model of the cell.
    pub(super) fn holds(&self, uav: UavId) -> bool {
        self.cells[uav.index()].latest.is_some()
    }

    /// The latest models of all cells in one; none when there is none.
    pub(super) fn merge(&self, aggregation: &dyn Aggregation) -> Option<Vec<f32>> {
        let there: Vec<(&Tier, &[f32])> = self
            .cells
            .iter()
            .filter_map(|cell| Some((cell, cell.latest.as_deref()?)))
            .collect();
        if there.is_empty() {
            return None;
        }
        let deliveries: Vec<usize> = there.iter().map(|(cell, _)| cell.deliveries).collect();
        let models: Vec<(&[f32], f64)> = there
            .iter()
            .zip(weights(&deliveries))
            .map(|((_, model), weight)| (*model, weight))
            .collect();
        aggregation.merge(&models)
    }
}

/// The m-th most frequent cell weighs as much as the m-th least frequent delivered: slow cells weigh
/// more. Cells that delivered equally often share what their places weigh together.
fn weights(deliveries: &[usize]) -> Vec<f64> {
    let mut most_first = deliveries.to_vec();
    most_first.sort_unstable_by(|a, b| b.cmp(a));
    let total: usize = deliveries.iter().sum();
    // By deliveries: what the places of such cells weigh together, and how many they are.
    let mut places: HashMap<usize, (usize, usize)> = HashMap::new();
    for (&own, &mirror) in most_first.iter().zip(most_first.iter().rev()) {
        let (sum, cells) = places.entry(own).or_default();
        *sum += mirror;
        *cells += 1;
    }
    let weight = |own: &usize| {
        let (sum, cells) = places[own];
        sum as f64 / (cells * total) as f64
    };
    deliveries.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::super::event_queue::EventQueue;
    use super::*;
    use crate::learn::aggregation::FedAvg;

    #[test]
    fn slow_cells_weigh_more_and_equal_cells_the_same() {
        assert_eq!(weights(&[4]), [1.0]);
        assert_eq!(weights(&[4, 2, 1]), [1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0]);
        assert_eq!(weights(&[1, 3]), [0.75, 0.25]);
        assert_eq!(weights(&[1, 3, 1]), [0.4, 0.2, 0.4]);
        assert_eq!(weights(&[2, 2, 2, 2]), [0.25; 4]);
    }

    /// Delivers `arrivals` models of cells that take 2, 3 and 5 s each time, fetching included, and
    /// tells when whose came, how stale, and what everybody weighed then.
    fn timeline(durations_s: &[f64], arrivals: usize) -> Vec<(f64, u32, usize, Vec<f64>)> {
        let mut tiers = Tiers::new(durations_s.len());
        let mut queue = EventQueue::default();
        for (uav, &duration_s) in durations_s.iter().enumerate() {
            queue.schedule(duration_s, UavId(uav as u32), ());
        }
        let mut told = Vec::new();
        while told.len() < arrivals {
            let (time_s, uav, ()) = queue.pop().unwrap();
            let staleness = tiers.deliver(uav, vec![0.0]);
            tiers.fetch(uav);
            let there = tiers.cells.iter().filter(|cell| cell.latest.is_some());
            let deliveries: Vec<usize> = there.map(|cell| cell.deliveries).collect();
            told.push((time_s, uav.0, staleness, weights(&deliveries)));
            queue.schedule(time_s + durations_s[uav.index()], uav, ());
        }
        told
    }

    /// By hand:
    /// ```text
    /// s     1 2 3 4 5 6 7 8 9 10
    /// A       a   a   a   a   a
    /// B         b     b     b
    /// C             c         c
    /// ```
    #[test]
    fn three_cells_worked_by_hand() {
        let thirds = |a: f64, b: f64, c: f64| vec![a, b, c];
        let expected = [
            (2.0, 0, 0, vec![1.0]),
            // B and C set out with version 0; A has merged once.
            (3.0, 1, 1, vec![0.5, 0.5]),
            // A fetched version 1, B merged once since.
            (4.0, 0, 1, vec![1.0 / 3.0, 2.0 / 3.0]),
            // C missed A, B, A.
            (5.0, 2, 3, thirds(0.25, 0.375, 0.375)),
            // At 6 s A and B arrive: A first. A fetched version 3 and missed C.
            (6.0, 0, 1, thirds(0.2, 0.4, 0.4)),
            // B fetched version 2 and missed A, C, A.
            (6.0, 1, 3, thirds(1.0 / 6.0, 2.0 / 6.0, 3.0 / 6.0)),
            (8.0, 0, 1, thirds(1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0)),
            (9.0, 1, 1, thirds(1.0 / 8.0, 3.0 / 8.0, 4.0 / 8.0)),
            // At 10 s A (missed B) and C (fetched version 4, missed A, B, A, B, A).
            (10.0, 0, 1, thirds(1.0 / 9.0, 3.0 / 9.0, 5.0 / 9.0)),
            (10.0, 2, 5, thirds(2.0 / 10.0, 3.0 / 10.0, 5.0 / 10.0)),
        ];
        let told = timeline(&[2.0, 3.0, 5.0], expected.len());
        for ((time_s, uav, staleness, shares), wanted) in told.iter().zip(&expected) {
            assert_eq!((*time_s, *uav, *staleness), (wanted.0, wanted.1, wanted.2));
            let same = shares
                .iter()
                .zip(&wanted.3)
                .all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(
                same && shares.len() == wanted.3.len(),
                "{shares:?} {wanted:?}"
            );
        }
    }

    #[test]
    fn cells_of_one_speed_are_a_round_robin_with_equal_weights() {
        let told = timeline(&[4.0, 4.0], 6);
        let order: Vec<(f64, u32, usize)> = told.iter().map(|t| (t.0, t.1, t.2)).collect();
        assert_eq!(
            order,
            [
                (4.0, 0, 0),
                (4.0, 1, 1),
                (8.0, 0, 1),
                (8.0, 1, 1),
                (12.0, 0, 1),
                (12.0, 1, 1)
            ]
        );
        assert_eq!(told[5].3, [0.5, 0.5]);
    }

    #[test]
    fn the_global_model_is_the_weighted_mean_of_who_is_there() {
        let mut tiers = Tiers::new(3);
        assert_eq!(tiers.merge(&FedAvg), None);
        for uav in [0, 0, 1] {
            tiers.deliver(UavId(uav), vec![uav as f32 * 3.0]);
        }
        // A delivered twice and weighs 1/3, B once and weighs 2/3.
        assert_eq!(tiers.merge(&FedAvg), Some(vec![2.0]));
        tiers.retire(|uav| uav == UavId(1));
        assert!(tiers.holds(UavId(1)), "one more round");
        tiers.retire(|uav| uav == UavId(1));
        assert!(tiers.holds(UavId(0)) && !tiers.holds(UavId(1)));
        assert_eq!(tiers.merge(&FedAvg), Some(vec![0.0]));
    }
}
