//! How much of what runs came to depends on an axis.

/// Spearman's rank correlation: 1 where one always rises with the other, -1 where it falls, near 0 without a trend; equal values share
/// their mean rank. None where one of them never changes.
///
/// ```
/// use aerofed_experiment::sweep::rank_correlation;
/// assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[10.0, 100.0, 1000.0]), Some(1.0));
/// assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]), None);
/// ```
#[must_use]
pub fn rank_correlation(of: &[f64], with: &[f64]) -> Option<f64> {
    let known: Vec<(f64, f64)> = of
        .iter()
        .zip(with)
        .filter(|(a, b)| a.is_finite() && b.is_finite())
        .map(|(&a, &b)| (a, b))
        .collect();
    let (a, b): (Vec<f64>, Vec<f64>) = known.into_iter().unzip();
    let (a, b) = (ranks(&a), ranks(&b));
    let (mean_a, mean_b) = (mean(&a), mean(&b));
    let products = a.iter().zip(&b).map(|(a, b)| (a - mean_a) * (b - mean_b));
    let (spread_a, spread_b) = (squares(&a, mean_a), squares(&b, mean_b));
    let spread = (spread_a * spread_b).sqrt();
    (spread > 0.0).then(|| (products.sum::<f64>() / spread).clamp(-1.0, 1.0))
}

/// The share of the variance of values that lies between groups rather than within them, 0 to 1: the main effect of what makes the
/// groups. `groups` has the group of each value, from 0. None where the values never change.
///
/// ```
/// use aerofed_experiment::sweep::variance_share;
/// assert_eq!(variance_share(&[0, 0, 1, 1], &[1.0, 1.0, 3.0, 3.0]), Some(1.0));
/// assert_eq!(variance_share(&[0, 1, 0, 1], &[1.0, 1.0, 3.0, 3.0]), Some(0.0));
/// ```
#[must_use]
pub fn variance_share(groups: &[usize], values: &[f64]) -> Option<f64> {
    let known: Vec<(usize, f64)> = groups
        .iter()
        .zip(values)
        .filter(|(_, value)| value.is_finite())
        .map(|(&group, &value)| (group, value))
        .collect();
    let all: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
    let middle = mean(&all);
    let total = squares(&all, middle);
    // What a thousand roundings leave of equal values is no spread.
    if total <= 1e-20 * middle * middle * all.len() as f64 {
        return None;
    }
    let mut sums = vec![(0.0, 0usize); known.iter().map(|(group, _)| group + 1).max()?];
    for (group, value) in &known {
        sums[*group].0 += value;
        sums[*group].1 += 1;
    }
    let seen = sums.iter().filter(|(_, count)| *count > 0);
    let between: f64 = seen
        .map(|(sum, count)| *count as f64 * (sum / *count as f64 - middle).powi(2))
        .sum();
    Some((between / total).clamp(0.0, 1.0))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn squares(values: &[f64], middle: f64) -> f64 {
    values.iter().map(|value| (value - middle).powi(2)).sum()
}

/// From 1 on; equal values have the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (mut ranks, mut before) = (vec![0.0; values.len()], 0);
    for same in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = before as f64 + 0.5 * (same.len() + 1) as f64;
        same.iter().for_each(|&place| ranks[place] = rank);
        before += same.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_ties_worked_by_hand() {
        assert_eq!(ranks(&[30.0, 10.0, 20.0, 20.0]), [4.0, 1.0, 2.5, 2.5]);
        // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5).
        let found = rank_correlation(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!(
            (found - 4.5 / (4.5f64 * 5.0).sqrt()).abs() < 1e-12,
            "{found}"
        );
        let falls = rank_correlation(&[1.0, 2.0, 3.0, f64::NAN], &[9.0, 4.0, 1.0, 7.0]);
        assert_eq!(falls, Some(-1.0), "what is not a number is left out");
        assert_eq!(rank_correlation(&[], &[]), None);
    }

    #[test]
    fn shares_of_a_two_by_two_grid_worked_by_hand() {
        // 10 a + 2 b: variances 25 and 1.
        let values = [0.0, 2.0, 10.0, 12.0];
        let first = variance_share(&[0, 0, 1, 1], &values).unwrap();
        let second = variance_share(&[0, 1, 0, 1], &values).unwrap();
        assert!((first - 25.0 / 26.0).abs() < 1e-12 && (second - 1.0 / 26.0).abs() < 1e-12);
        assert_eq!(variance_share(&[0, 1], &[3.0, 3.0]), None);
        assert_eq!(variance_share(&[], &[]), None);
        assert_eq!(variance_share(&[0, 1], &[f64::NAN, 1.0]), None);
    }
}
