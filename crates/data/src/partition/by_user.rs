//! A device for each of some users.

use rand::Rng;

use super::deal::apportion;
use super::draw::shuffle;
use super::{PartitionPlan, Pools};
use crate::{Dataset, Error};

/// Draws who takes part, and gives each device samples of its user: as many as the user has, or all in
/// the same proportion fewer.
pub(super) fn deal(
    pools: &Pools,
    dataset: &Dataset,
    plan: &PartitionPlan,
    rng: &mut impl Rng,
) -> Result<Vec<Vec<u32>>, Error> {
    let Some(users) = &dataset.users else {
        let name = dataset.name.clone();
        return Err(Error::NoUsers { name });
    };
    let mut held: Vec<Vec<u32>> = vec![Vec::new(); users.names.len()];
    for &sample in pools.iter().flatten() {
        held[users.of_sample[sample as usize] as usize].push(sample);
    }
    held.retain(|own| !own.is_empty());
    if held.len() < plan.devices {
        return Err(Error::TooFewUsers {
            devices: plan.devices,
            users: held.len(),
        });
    }
    shuffle(&mut held, rng);
    held.truncate(plan.devices);
    let most: usize = held.iter().map(Vec::len).sum();
    if plan.data_volume > most {
        let allowed = format!(
            "at most {most} (what the {} users drawn for devices have, partition user)",
            plan.devices
        );
        return Err(Error::field("data_volume", plan.data_volume, allowed));
    }
    // One for each, so that nobody is left without, and of the rest in proportion.
    let weights: Vec<f64> = held.iter().map(|own| own.len() as f64 - 1.0).collect();
    let more = apportion(&weights, plan.data_volume - plan.devices);
    for (own, more) in held.iter_mut().zip(more) {
        shuffle(own, rng);
        own.truncate(1 + more);
    }
    Ok(held)
}
