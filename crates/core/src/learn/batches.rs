//! Which samples a device's mini-batches hold.

use rand::RngExt;

use crate::seed::Random;

/// `steps` mini-batches one after another, each drawn without replacement from `held`.
#[must_use]
pub(crate) fn draw(held: &[u32], batch_size: usize, steps: usize, rng: &mut Random) -> Vec<u32> {
    let size = batch_size.min(held.len());
    let mut deck = held.to_vec();
    let mut order = Vec::with_capacity(size * steps);
    for _ in 0..steps {
        for i in 0..size {
            let j = rng.random_range(i..deck.len());
            deck.swap(i, j);
        }
        order.extend_from_slice(&deck[..size]);
    }
    order
}

/// How many mini-batches go over `samples` so many times.
#[must_use]
pub(crate) fn steps(samples: usize, batch_size: usize, epochs: usize) -> usize {
    epochs * samples.div_ceil(batch_size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Stream, stream};

    #[test]
    fn batches_hold_distinct_samples_and_use_all_of_them_evenly() {
        let held: Vec<u32> = (100..126).collect();
        let order = draw(&held, 10, 2_600, &mut stream(1, Stream::Batches, 1, 1));
        assert_eq!(order.len(), 26_000);
        let mut uses = [0usize; 26];
        for batch in order.chunks(10) {
            let mut sorted = batch.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), 10);
            batch.iter().for_each(|&s| uses[s as usize - 100] += 1);
        }
        assert!(uses.iter().all(|&n| (850..1_150).contains(&n)), "{uses:?}");
    }

    #[test]
    fn a_device_with_few_samples_uses_all_it_has() {
        assert_eq!(
            draw(&[7], 10, 3, &mut stream(1, Stream::Batches, 1, 1)),
            [7, 7, 7]
        );
    }
}
