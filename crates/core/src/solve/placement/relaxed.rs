//! At most how much a group can be worth, and which columns cannot be part of anything better than what is known.
//!
//! A point counts once, however many cover it. The relaxation lets go of that: each point has a price between 0 and its worth, a column
//! earns the prices of what it covers, and what a point is worth beyond its price is counted for free. Whatever the prices, the best columns of
//! all facilities, each for itself, are then worth at least as much as the best ones together (Lagrange). Prices fall where several
//! cover a point and rise where nobody does (subgradients), so that the bound falls.

use super::exchange::{Chosen, Group};

/// How often prices are changed at most.
const STEPS: usize = 300;
/// After so many that did not lower the bound, steps become shorter.
const PATIENCE: usize = 10;
/// Where the bound is as near as this to what is known, in points, nothing better is left.
const NEAR: f64 = 1e-6;

/// The bound at the best prices found, and what follows from it.
pub(super) struct Relaxed {
    pub(super) bound: f64,
    /// What each column of each facility earns.
    earned: Vec<Vec<f64>>,
    /// The most of them.
    most: Vec<f64>,
    /// Of each point, what is counted for free.
    free: Vec<f64>,
    /// The best columns that were met on the way.
    pub(super) chosen: Chosen,
}

impl Relaxed {
    /// `work` is how many points of columns may be looked at.
    pub(super) fn new(group: &Group, known: &Chosen, work: usize) -> Self {
        let sets = Sets::of(group);
        let all = sets.covered.len();
        let mut prices = vec![group.worth; all];
        let mut best = sets.at(group, &prices, known.clone());
        let mut chosen = best.chosen.clone();
        let (mut stride, mut failed) = (1.0, 0);
        for _ in 0..STEPS.min(work / sets.points.len().max(1)) {
            let now = sets.at(group, &prices, chosen);
            chosen = now.chosen.clone();
            let gap = now.bound - chosen.value;
            let squares: f64 = now.excess.iter().map(|excess| excess * excess).sum();
            failed += 1;
            if now.bound < best.bound {
                (best, failed) = (now.clone(), 0);
            }
            if squares == 0.0 || best.bound <= chosen.value + NEAR * group.worth {
                break;
            }
            if failed > PATIENCE {
                (stride, failed) = (0.7 * stride, 0);
            }
            for (price, excess) in prices.iter_mut().zip(&now.excess) {
                *price = (*price - stride * gap / squares * excess).clamp(0.0, group.worth);
            }
        }
        Self {
            bound: best.bound,
            earned: best.earned,
            most: best.most,
            free: best.free,
            chosen,
        }
    }

    /// The columns of each facility that may be part of something worth more than this.
    pub(super) fn columns(&self, value: f64) -> Vec<Vec<usize>> {
        let kept = |(earned, most): (&Vec<f64>, &f64)| {
            let least = value - self.bound + most;
            let kept = earned.iter().enumerate();
            kept.filter(|(_, earned)| **earned > least)
                .map(|(column, _)| column)
                .collect()
        };
        self.earned.iter().zip(&self.most).map(kept).collect()
    }

    /// At most what some facilities add to a set.
    pub(super) fn beyond(&self, covered: &[u64], facilities: &[usize]) -> f64 {
        let most: f64 = facilities.iter().map(|&who| self.most[who]).sum();
        let open = self.free.iter().enumerate();
        let open = open.filter(|(point, _)| covered[point / 64] >> (point % 64) & 1 == 0);
        most + open.map(|(_, free)| free).sum::<f64>()
    }
}

/// The relaxation at some prices.
#[derive(Clone)]
struct AtPrices {
    bound: f64,
    earned: Vec<Vec<f64>>,
    most: Vec<f64>,
    free: Vec<f64>,
    /// How many cover each point beyond one, of those who earn most; where its price can change.
    excess: Vec<f64>,
    chosen: Chosen,
}

/// The points of all columns as lists: prices are summed over few of them.
struct Sets {
    points: Vec<u32>,
    /// Of each facility, where its columns begin, and where the last ends.
    starts: Vec<Vec<usize>>,
    /// Whether anybody can cover a point.
    covered: Vec<bool>,
}

impl Sets {
    fn of(group: &Group) -> Self {
        let mut sets = Self {
            points: Vec::new(),
            starts: Vec::new(),
            covered: vec![false; 64 * group.words],
        };
        for columns in &group.columns {
            let mut starts = vec![sets.points.len()];
            for column in 0..columns.len() {
                for (word, &bits) in columns.set(column).iter().enumerate() {
                    let mut bits = bits;
                    while bits != 0 {
                        let point = 64 * word + bits.trailing_zeros() as usize;
                        sets.points.push(point as u32);
                        sets.covered[point] = true;
                        bits &= bits - 1;
                    }
                }
                starts.push(sets.points.len());
            }
            sets.starts.push(starts);
        }
        sets
    }

    fn at(&self, group: &Group, prices: &[f64], known: Chosen) -> AtPrices {
        let earned = |(columns, starts): (&super::columns::Columns, &Vec<usize>)| -> Vec<f64> {
            let own = starts.windows(2).map(|ends| &self.points[ends[0]..ends[1]]);
            own.zip(&columns.prices)
                .map(|(own, flight)| {
                    own.iter().map(|&point| prices[point as usize]).sum::<f64>() - flight
                })
                .collect()
        };
        let earned: Vec<Vec<f64>> = (group.columns.iter().zip(&self.starts))
            .map(earned)
            .collect();
        let best = |earned: &Vec<f64>| {
            let first = (f64::NEG_INFINITY, 0);
            let all = earned.iter().zip(0..);
            all.fold(first, |best, (&earned, column)| match earned > best.0 {
                true => (earned, column),
                false => best,
            })
        };
        let (most, columns): (Vec<f64>, Vec<usize>) = earned.iter().map(best).unzip();
        let mut excess: Vec<f64> = self
            .covered
            .iter()
            .map(|covered| if *covered { -1.0 } else { 0.0 })
            .collect();
        for (starts, &column) in self.starts.iter().zip(&columns) {
            for &point in &self.points[starts[column]..starts[column + 1]] {
                excess[point as usize] += 1.0;
            }
        }
        let free: Vec<f64> = (self.covered.iter().zip(prices))
            .map(|(covered, price)| if *covered { group.worth - price } else { 0.0 })
            .collect();
        // A price at its end that would go farther stays, and does not make the others' steps shorter.
        for (excess, price) in excess.iter_mut().zip(prices) {
            if (*excess > 0.0 && *price <= 0.0) || (*excess < 0.0 && *price >= group.worth) {
                *excess = 0.0;
            }
        }
        let chosen = group.valued(columns);
        AtPrices {
            bound: most.iter().sum::<f64>() + free.iter().sum::<f64>(),
            earned,
            most,
            free,
            excess,
            chosen: match chosen.value > known.value {
                true => chosen,
                false => known,
            },
        }
    }
}
