//! From a plan to the number of samples of each class on each device, and to the samples.

use rand::Rng;

use super::draw::{dirichlet, index_below, mixed, shuffle, weighted};
use super::repair::fit_to_pools;
use super::{PartitionKind, PartitionPlan, Pools, by_user, shares};
use crate::{Dataset, Error};

/// Fresh choices of labels before a partition of limited labels is called infeasible.
const TRIES: usize = 50;

/// Samples of each class (inner) on each device (outer).
pub(super) type Counts = Vec<Vec<usize>>;

/// Takes the devices' samples out of the pools.
pub(super) fn deal(
    pools: &mut Pools,
    dataset: &Dataset,
    plan: &PartitionPlan,
    rng: &mut impl Rng,
) -> Result<Vec<Vec<u32>>, Error> {
    match plan.kind {
        PartitionKind::User => by_user::deal(pools, dataset, plan, rng),
        PartitionKind::NoniidA => {
            let counts = limited_labels(pools, plan, rng, |_, _| 2)?;
            Ok(take_counts(pools, &counts))
        }
        PartitionKind::NoniidB => {
            let counts = limited_labels(pools, plan, rng, |most, rng| {
                2 + index_below(most.min(10) - 1, rng)
            })?;
            Ok(take_counts(pools, &counts))
        }
        PartitionKind::Dirichlet { alpha } => {
            let counts = dirichlet_counts(pools, plan, alpha, rng);
            Ok(take_counts(pools, &counts))
        }
        PartitionKind::Iid => {
            let mut all = pools.concat();
            shuffle(&mut all, rng);
            all.truncate(plan.data_volume);
            Ok(cut(&all, &shares(plan.data_volume, plan.devices)))
        }
        PartitionKind::Shards { per_device } => Ok(shards(pools, plan, per_device, rng)),
    }
}

/// Each device gets equal numbers of a few labels. Labels come from an urn that holds each class
/// in proportion to its samples and empties as devices draw, so that all labels are in use about
/// equally; where a class is overdrawn nevertheless, samples move between the labels that a
/// device already has.
fn limited_labels<R: Rng>(
    pools: &Pools,
    plan: &PartitionPlan,
    rng: &mut R,
    label_count: impl Fn(usize, &mut R) -> usize,
) -> Result<Counts, Error> {
    let available: Vec<usize> = pools.iter().map(Vec::len).collect();
    let usable = available.iter().filter(|&&samples| samples > 0).count();
    let infeasible = || Error::Infeasible {
        kind: plan.kind.name(),
        data_volume: plan.data_volume,
        devices: plan.devices,
        available: available.clone(),
    };
    if usable < 2 {
        return Err(infeasible());
    }
    let sizes = shares(plan.data_volume, plan.devices);
    for _ in 0..TRIES {
        let mut urn = apportion(&as_weights(&available), plan.data_volume);
        let mut counts = vec![vec![0; available.len()]; plan.devices];
        let mut order: Vec<usize> = (0..plan.devices).collect();
        shuffle(&mut order, rng);
        for device in order {
            let size = sizes[device];
            let labels = label_count(usable.min(size), rng);
            let chosen = draw_labels(&urn, &available, labels, size / labels, rng);
            for (class, samples) in chosen.iter().zip(shares(size, chosen.len())) {
                counts[device][*class] = samples;
                urn[*class] = urn[*class].saturating_sub(samples);
            }
        }
        if fit_to_pools(&mut counts, &available) {
            return Ok(counts);
        }
    }
    Err(infeasible())
}

/// Different labels: of classes with room for (most of) one more portion in the urn, then of
/// those with anything left in it, then of those with any sample.
fn draw_labels(
    urn: &[usize],
    available: &[usize],
    labels: usize,
    portion: usize,
    rng: &mut impl Rng,
) -> Vec<usize> {
    let roomy: Vec<usize> = urn
        .iter()
        .map(|left| left.saturating_sub(portion / 2))
        .collect();
    let mut choices = [
        as_integers(&roomy),
        as_integers(urn),
        as_integers(available),
    ];
    let mut chosen = Vec::with_capacity(labels);
    while chosen.len() < labels {
        let Some(class) = choices.iter().find_map(|weights| weighted(weights, rng)) else {
            break;
        };
        for weights in &mut choices {
            weights[class] = 0;
        }
        chosen.push(class);
    }
    chosen
}

/// Each device's samples are drawn one by one from a label mix of its own, which comes from the
/// Dirichlet distribution. A class that has none left is drawn no more.
fn dirichlet_counts(pools: &Pools, plan: &PartitionPlan, alpha: f64, rng: &mut impl Rng) -> Counts {
    let mut left: Vec<usize> = pools.iter().map(Vec::len).collect();
    let mut counts = vec![vec![0; left.len()]; plan.devices];
    let sizes = shares(plan.data_volume, plan.devices);
    // Whoever comes late finds classes used up: that must not always be the same devices.
    let mut order: Vec<usize> = (0..plan.devices).collect();
    shuffle(&mut order, rng);
    for device in order {
        let mut mix = dirichlet(alpha, left.len(), rng);
        for _ in 0..sizes[device] {
            let drawn = loop {
                match mixed(&mix, rng) {
                    Some(class) if left[class] == 0 => mix[class] = 0.0,
                    Some(class) => break Some(class),
                    // A small alpha may leave nothing for the classes that are not used up.
                    None => break weighted(&as_integers(&left), rng),
                }
            };
            let Some(class) = drawn else {
                break; // the plan's check rules this out
            };
            left[class] -= 1;
            counts[device][class] += 1;
        }
    }
    counts
}

/// Shards of a draw that keeps the classes' proportions.
fn shards(
    pools: &mut Pools,
    plan: &PartitionPlan,
    per_device: usize,
    rng: &mut impl Rng,
) -> Vec<Vec<u32>> {
    let weights: Vec<f64> = as_weights(&pools.iter().map(Vec::len).collect::<Vec<_>>());
    let wanted = apportion(&weights, plan.data_volume);
    let sorted = take_counts(pools, &vec![wanted]).concat();
    let count = plan.devices * per_device;
    let mut shards = cut(&sorted, &shares(plan.data_volume, count));
    shuffle(&mut shards, rng);
    shards.chunks(per_device).map(<[_]>::concat).collect()
}

/// Whole numbers in proportion to the weights that add up to `total`: rounded down, then one
/// more for the largest remainders (ties: the lower index).
pub(super) fn apportion(weights: &[f64], total: usize) -> Vec<usize> {
    let sum: f64 = weights.iter().sum();
    let exact: Vec<f64> = weights.iter().map(|w| w / sum * total as f64).collect();
    let mut counts: Vec<usize> = exact.iter().map(|share| *share as usize).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    let remainder = |i: usize| exact[i] - exact[i].floor();
    order.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)).then(a.cmp(&b)));
    let missing = total.saturating_sub(counts.iter().sum());
    for &index in order.iter().cycle().take(missing) {
        counts[index] += 1;
    }
    counts
}

fn as_weights(counts: &[usize]) -> Vec<f64> {
    counts.iter().map(|&count| count as f64).collect()
}

fn as_integers(counts: &[usize]) -> Vec<u64> {
    counts.iter().map(|&count| count as u64).collect()
}

fn take_counts(pools: &mut Pools, counts: &Counts) -> Vec<Vec<u32>> {
    let take = |wanted: &Vec<usize>| {
        let mut samples = Vec::new();
        for (pool, &count) in pools.iter_mut().zip(wanted) {
            samples.extend(pool.split_off(pool.len().saturating_sub(count)));
        }
        samples
    };
    counts.iter().map(take).collect()
}

fn cut(samples: &[u32], sizes: &[usize]) -> Vec<Vec<u32>> {
    let mut rest = samples;
    let mut pieces = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let (piece, behind) = rest.split_at(size.min(rest.len()));
        pieces.push(piece.to_vec());
        rest = behind;
    }
    pieces
}
