//! Random draws that give the same on every platform and with every version of `rand`: they
//! stand on the generator's 64-bit words alone, and on `libm` instead of the system's functions.

use rand::Rng;

/// A number below `bound` (which is at least 1), each equally likely: the high half of a 128-bit
/// product, with the few words that would make it uneven drawn again.
pub(super) fn below(bound: u64, rng: &mut impl Rng) -> u64 {
    let bound = bound.max(1);
    let uneven = bound.wrapping_neg() % bound;
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(bound);
        if product as u64 >= uneven {
            return (product >> 64) as u64;
        }
    }
}

/// The same for an index.
pub(super) fn index_below(bound: usize, rng: &mut impl Rng) -> usize {
    below(bound as u64, rng) as usize
}

/// Puts items in random order (Fisher and Yates).
pub(super) fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, index_below(last + 1, rng));
    }
}

/// An index with probability proportional to its weight; `None` when all weights are zero.
pub(super) fn weighted(weights: &[u64], rng: &mut impl Rng) -> Option<usize> {
    let total: u64 = weights.iter().sum();
    if total == 0 {
        return None;
    }
    let mut at = below(total, rng);
    weights.iter().position(|&weight| {
        let here = at < weight;
        at = at.saturating_sub(weight);
        here
    })
}

/// An index with the probability of its share; the shares need not add up to 1. `None` when all are zero.
pub(super) fn mixed(shares: &[f64], rng: &mut impl Rng) -> Option<usize> {
    let total: f64 = shares.iter().sum();
    let mut at = open_unit(rng) * total;
    let found = shares.iter().position(|&share| {
        let here = at < share;
        at -= share;
        here
    });
    // Rounding may carry the point past the end, to where the last share ends.
    found.or_else(|| shares.iter().rposition(|&share| share > 0.0))
}

/// Share `index` of `parts` near-equal shares of `total`.
pub(super) fn spread(total: usize, index: usize, parts: usize) -> usize {
    let upto = |i: usize| (total as u128 * i as u128 / parts.max(1) as u128) as usize;
    upto(index + 1) - upto(index)
}

/// A point of the symmetric Dirichlet distribution. Gamma variates are kept as logarithms, so
/// that a small `alpha` cannot make all of them underflow to zero.
pub(super) fn dirichlet(alpha: f64, classes: usize, rng: &mut impl Rng) -> Vec<f64> {
    let logs: Vec<f64> = (0..classes)
        .map(|_| log_gamma_variate(alpha, rng))
        .collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = logs.iter().map(|log| libm::exp(log - largest)).collect();
    let total: f64 = parts.iter().sum();
    parts.into_iter().map(|part| part / total).collect()
}

/// Logarithm of a Gamma(shape, 1) variate, by the method of Marsaglia and Tsang; a shape below 1
/// is raised by 1 and brought back with a uniform variate.
fn log_gamma_variate(shape: f64, rng: &mut impl Rng) -> f64 {
    if shape < 1.0 {
        return log_gamma_variate(shape + 1.0, rng) + libm::log(open_unit(rng)) / shape;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(rng);
        let v = 1.0 + c * x;
        if v <= 0.0 {
            continue;
        }
        let log_v = 3.0 * libm::log(v);
        if libm::log(open_unit(rng)) < 0.5 * x * x + d - d * v * v * v + d * log_v {
            return libm::log(d) + log_v;
        }
    }
}

/// A standard normal variate, by the polar method.
fn normal(rng: &mut impl Rng) -> f64 {
    loop {
        let x = 2.0 * open_unit(rng) - 1.0;
        let y = 2.0 * open_unit(rng) - 1.0;
        let s = x * x + y * y;
        if s > 0.0 && s < 1.0 {
            return x * libm::sqrt(-2.0 * libm::log(s) / s);
        }
    }
}

/// Uniform in (0, 1), never 0 or 1.
fn open_unit(rng: &mut impl Rng) -> f64 {
    ((rng.next_u64() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn gamma_variates_have_the_right_mean_and_variance() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for shape in [0.3, 1.0, 4.5] {
            let count = 100_000;
            let draws: Vec<f64> = (0..count)
                .map(|_| libm::exp(log_gamma_variate(shape, &mut rng)))
                .collect();
            let mean = draws.iter().sum::<f64>() / f64::from(count);
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(count);
            // Mean and variance of Gamma(shape, 1) are both the shape.
            assert!((mean / shape - 1.0).abs() < 0.03, "{shape}: mean {mean}");
            assert!((variance / shape - 1.0).abs() < 0.08, "{shape}: {variance}");
        }
    }

    #[test]
    fn dirichlet_survives_extreme_alphas() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        for alpha in [1e-3, 0.1, 1.0, 1e6] {
            for _ in 0..200 {
                let shares = dirichlet(alpha, 10, &mut rng);
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
            }
        }
        assert!(
            dirichlet(1e6, 4, &mut rng)
                .iter()
                .all(|s| (s - 0.25).abs() < 0.01)
        );
    }

    #[test]
    fn draws_are_even() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut counts = [0_u32; 7];
        let mut weighed = [0_u32; 3];
        for _ in 0..70_000 {
            counts[index_below(7, &mut rng)] += 1;
            weighed[weighted(&[1, 0, 3], &mut rng).unwrap()] += 1;
        }
        assert!(
            counts.iter().all(|&c| (9_500..10_500).contains(&c)),
            "{counts:?}"
        );
        assert_eq!(weighed[1], 0);
        assert!((17_000..18_000).contains(&weighed[0]), "{weighed:?}");
        assert_eq!(weighted(&[0, 0], &mut rng), None);
    }

    #[test]
    fn shares_differ_by_one_and_add_up() {
        for (total, parts) in [(10, 3), (2_000, 150), (7, 7), (5, 8)] {
            let shares: Vec<usize> = (0..parts).map(|i| spread(total, i, parts)).collect();
            assert_eq!(shares.iter().sum::<usize>(), total);
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }
    }
}
