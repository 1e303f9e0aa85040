//! Samples that devices share: each draws its own from one pool, whenever it is asked for them.

use rand::Rng;

use super::deal::apportion;
use super::draw::{dirichlet, index_below, mixed, shuffle, spread, weighted};
use super::{PartitionKind, PartitionPlan, Pools, by_class, take_balanced};
use crate::{Dataset, Error, Users};

/// A training set that any number of devices draw their samples from.
///
/// Which samples a device holds follows from the plan and the device's own random stream alone: nothing is stored for it. A
/// device's samples differ from each other as long as there are enough of their classes; other devices may have the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    plan: PartitionPlan,
    classes: Groups,
    /// The same samples by user, where each device is one.
    users: Option<Groups>,
    /// The probe set, which nobody draws from.
    probe: Vec<u32>,
}

/// Samples that are sorted by something.
#[derive(Debug, Clone, PartialEq)]
struct Groups {
    sorted: Vec<u32>,
    /// Where each group begins, and where the last one ends.
    starts: Vec<usize>,
    sizes: Vec<u64>,
}

impl Groups {
    fn new(groups: &[Vec<u32>]) -> Self {
        let mut starts = vec![0];
        for group in groups {
            starts.push(starts[starts.len() - 1] + group.len());
        }
        Self {
            sorted: groups.concat(),
            starts,
            sizes: groups.iter().map(|group| group.len() as u64).collect(),
        }
    }

    fn len(&self) -> usize {
        self.sizes.len()
    }

    fn get(&self, group: usize) -> &[u32] {
        &self.sorted[self.starts[group]..self.starts[group + 1]]
    }
}

impl Pool {
    /// Takes the probe set out of a training set; the rest is the pool.
    ///
    /// # Errors
    /// When a number of the plan is out of range, too little is left, or the set does not say whose samples are.
    pub fn new(dataset: &Dataset, plan: &PartitionPlan, rng: &mut impl Rng) -> Result<Self, Error> {
        dataset.check()?;
        plan.check_numbers()?;
        let mut classes = by_class(dataset, rng);
        let probe = take_balanced(&mut classes, plan.probe_samples, rng);
        let left = classes.iter().filter(|class| !class.is_empty()).count();
        let least = match plan.kind {
            PartitionKind::NoniidA | PartitionKind::NoniidB => 2,
            _ => 1,
        };
        if left < least || probe.len() < plan.probe_samples {
            return Err(plan.not_enough(dataset));
        }
        let users = match (plan.kind, &dataset.users) {
            (PartitionKind::User, None) => {
                let name = dataset.name.clone();
                return Err(Error::NoUsers { name });
            }
            (PartitionKind::User, Some(users)) => Some(by_user(&classes, users)),
            _ => None,
        };
        Ok(Self {
            plan: plan.clone(),
            classes: Groups::new(&classes),
            users: users.as_deref().map(Groups::new),
            probe,
        })
    }

    /// The probe set.
    #[must_use]
    pub fn probe(&self) -> &[u32] {
        &self.probe
    }

    /// A UAV's own samples, of all classes equally many; devices may hold them as well. `rng` is the UAV's own stream.
    #[must_use]
    pub fn personal(&self, rng: &mut impl Rng) -> Vec<u32> {
        let sizes = self.classes.sizes.iter();
        let there: Vec<f64> = sizes.map(|size| (*size as f64).min(1.0)).collect();
        let counts = apportion(&there, self.plan.personal_samples);
        self.draw(&counts, rng)
    }

    /// A device's samples, in random order. `rng` is the device's own stream, from its beginning.
    #[must_use]
    pub fn samples(&self, device: usize, rng: &mut impl Rng) -> Vec<u32> {
        let size = spread(self.plan.data_volume, device, self.plan.devices);
        if let Some(users) = &self.users {
            let own = users.get(index_below(users.len(), rng));
            let places = places(own.len(), size.min(own.len()), rng);
            return places.into_iter().map(|place| own[place]).collect();
        }
        match self.plan.kind {
            PartitionKind::Shards { per_device } => self.shards(size, per_device, rng),
            kind => self.draw(&self.counts(kind, size, rng), rng),
        }
    }

    /// How many samples a device has; `rng` as for [`samples`](Self::samples).
    #[must_use]
    pub fn count(&self, device: usize, rng: &mut impl Rng) -> usize {
        match self.plan.kind {
            PartitionKind::User | PartitionKind::Shards { .. } => self.samples(device, rng).len(),
            _ => spread(self.plan.data_volume, device, self.plan.devices),
        }
    }

    /// So many samples of each class, in random order.
    fn draw(&self, counts: &[usize], rng: &mut impl Rng) -> Vec<u32> {
        let mut taken = Vec::with_capacity(counts.iter().sum());
        for (class, &count) in counts.iter().enumerate() {
            let group = self.classes.get(class);
            let places = places(group.len(), count, rng);
            taken.extend(places.into_iter().map(|place| group[place]));
        }
        // A trainer that goes through the samples in order must not meet them class by class.
        shuffle(&mut taken, rng);
        taken
    }

    /// How many samples of each class a device draws.
    fn counts(&self, kind: PartitionKind, size: usize, rng: &mut impl Rng) -> Vec<usize> {
        let mut sizes = self.classes.sizes.clone();
        let mut counts = vec![0; sizes.len()];
        let there = sizes.iter().filter(|&&left| left > 0).count();
        let labels = match kind {
            PartitionKind::NoniidA => 2,
            PartitionKind::NoniidB => 2 + index_below(there.min(size).min(10) - 1, rng),
            PartitionKind::Dirichlet { alpha } => {
                let mut mix = dirichlet(alpha, sizes.len(), rng);
                for (share, &left) in mix.iter_mut().zip(&sizes) {
                    *share = if left > 0 { *share } else { 0.0 };
                }
                for _ in 0..size {
                    // A small alpha may leave nothing for the classes that there are.
                    let class = mixed(&mix, rng).or_else(|| weighted(&sizes, rng));
                    counts[class.unwrap_or(0)] += 1;
                }
                return counts;
            }
            _ => {
                for _ in 0..size {
                    counts[weighted(&sizes, rng).unwrap_or(0)] += 1;
                }
                return counts;
            }
        };
        for nth in 0..labels {
            if let Some(class) = weighted(&sizes, rng) {
                counts[class] = spread(size, nth, labels);
                sizes[class] = 0;
            }
        }
        counts
    }

    /// Pieces of the samples sorted by label.
    fn shards(&self, size: usize, per_device: usize, rng: &mut impl Rng) -> Vec<u32> {
        let sorted = &self.classes.sorted;
        let length = size.div_ceil(per_device).clamp(1, sorted.len());
        let chosen = places(sorted.len() / length, per_device, rng);
        let mut taken = Vec::with_capacity(size);
        for (nth, shard) in chosen.into_iter().enumerate() {
            let wanted = spread(size, nth, per_device).min(length);
            taken.extend_from_slice(&sorted[shard * length..][..wanted]);
        }
        shuffle(&mut taken, rng);
        taken
    }
}

/// The samples of each user who has any.
fn by_user(classes: &Pools, users: &Users) -> Pools {
    let mut held: Pools = vec![Vec::new(); users.names.len()];
    for &sample in classes.iter().flatten() {
        held[users.of_sample[sample as usize] as usize].push(sample);
    }
    held.retain(|own| !own.is_empty());
    held
}

/// So many different places of those that there are, in any order; where there are fewer, each of them as often as it takes.
fn places(all: usize, count: usize, rng: &mut impl Rng) -> Vec<usize> {
    if all == 0 {
        return Vec::new();
    }
    let mut taken: Vec<usize> = (0..count / all).flat_map(|_| 0..all).collect();
    let (from, left) = (taken.len(), count % all);
    if left > MOST_COMPARED {
        let mut deck: Vec<usize> = (0..all).collect();
        for place in 0..left {
            let other = place + index_below(all - place, rng);
            deck.swap(place, other);
        }
        taken.extend_from_slice(&deck[..left]);
        return taken;
    }
    // Floyd's method: it takes no longer where there are many.
    for last in all - left..all {
        let drawn = index_below(last + 1, rng);
        let is_new = !taken[from..].contains(&drawn);
        taken.push(if is_new { drawn } else { last });
    }
    taken
}

/// Beyond this, looking whether a place was drawn before takes longer than a deck of all places.
const MOST_COMPARED: usize = 128;
