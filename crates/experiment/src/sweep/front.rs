//! What is not beaten in everything: the Pareto front of time, energy and accuracy.

/// What something costs, and what it is good for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Simulated time, s: the less the better.
    pub time_s: f64,
    /// Energy, J: the less the better.
    pub energy_j: f64,
    /// Accuracy: the more the better.
    pub accuracy: f64,
}

impl Costs {
    fn is_finite(&self) -> bool {
        self.time_s.is_finite() && self.energy_j.is_finite() && self.accuracy.is_finite()
    }

    /// Whether it is nowhere worse than another, and somewhere better.
    fn beats(&self, other: &Self) -> bool {
        self.time_s <= other.time_s
            && self.energy_j <= other.energy_j
            && self.accuracy >= other.accuracy
            && self != other
    }
}

/// The places of those that no other beats, by rising time; what is not finite is never among them.
///
/// ```
/// use aerofed_experiment::sweep::{Costs, front};
/// let costs = |time_s, energy_j, accuracy| Costs { time_s, energy_j, accuracy };
/// // The second is slower than the first and no better; the third is slower and better.
/// assert_eq!(front(&[costs(1.0, 5.0, 0.8), costs(2.0, 5.0, 0.8), costs(3.0, 9.0, 0.9)]), [0, 2]);
/// ```
#[must_use]
pub fn front(all: &[Costs]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..all.len())
        .filter(|&place| all[place].is_finite())
        .collect();
    // Nobody is beaten by one that stands behind it.
    order.sort_by(|&a, &b| {
        let (a, b) = (&all[a], &all[b]);
        a.time_s
            .total_cmp(&b.time_s)
            .then(a.energy_j.total_cmp(&b.energy_j))
            .then(b.accuracy.total_cmp(&a.accuracy))
    });
    let mut front: Vec<usize> = Vec::new();
    for place in order {
        if !front.iter().any(|&other| all[other].beats(&all[place])) {
            front.push(place);
        }
    }
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some numbers that repeat now and then.
    fn made_up() -> Vec<Costs> {
        let value = |place: u64, step: u64| (place * step % 17) as f64;
        (0..200)
            .map(|place| Costs {
                time_s: value(place, 5) + value(place, 3),
                energy_j: value(place, 7) + (place / 40) as f64,
                accuracy: value(place, 11),
            })
            .collect()
    }

    #[test]
    fn the_front_is_what_asking_every_pair_gives() {
        let all = made_up();
        let beaten = |costs: &Costs| all.iter().any(|other| other.beats(costs));
        let mut expected: Vec<usize> = (0..all.len())
            .filter(|&place| !beaten(&all[place]))
            .collect();
        let mut found = front(&all);
        assert!(found.is_sorted_by(|&a, &b| all[a].time_s <= all[b].time_s));
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert!((2..100).contains(&found.len()), "{found:?}");
    }

    #[test]
    fn what_is_equal_stays_and_what_is_not_finite_goes() {
        let costs = |time_s, accuracy| Costs {
            time_s,
            energy_j: 1.0,
            accuracy,
        };
        let all = [costs(1.0, 0.5), costs(1.0, 0.5), costs(0.5, f64::NAN)];
        assert_eq!(front(&all), [0, 1]);
        assert!(front(&[]).is_empty());
    }
}
