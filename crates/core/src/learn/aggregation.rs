//! Merging models.

/// Merges models into one.
pub trait Aggregation: Send + Sync {
    /// `models` are weights with their share of the say (positive, any scale); at least one.
    fn merge(&self, models: &[(&[f32], f64)]) -> Vec<f32>;
}

/// The mean weighted by samples. Eqs. (2) and (3).
#[derive(Clone, Copy, Debug)]
pub struct FedAvg;

impl Aggregation for FedAvg {
    fn merge(&self, models: &[(&[f32], f64)]) -> Vec<f32> {
        let total: f64 = models.iter().map(|(_, weight)| weight).sum();
        let length = models.first().map_or(0, |(weights, _)| weights.len());
        // Summed in f64 in the order given: the same bytes however the models were computed.
        let mut sum = vec![0f64; length];
        for (weights, share) in models {
            let share = share / total;
            for (sum, &weight) in sum.iter_mut().zip(*weights) {
                *sum += share * f64::from(weight);
            }
        }
        sum.into_iter().map(|value| value as f32).collect()
    }
}

/// ||a - b||_2, the left side of Eq. (4).
#[must_use]
pub fn distance(a: &[f32], b: &[f32]) -> f64 {
    let squares = a
        .iter()
        .zip(b)
        .map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2));
    squares.sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_by_samples() {
        let merged = FedAvg.merge(&[(&[0.0, 4.0], 30.0), (&[8.0, 0.0], 10.0)]);
        assert_eq!(merged, [2.0, 3.0]);
    }

    #[test]
    fn merging_equal_models_changes_nothing() {
        let model = [0.1f32, -7.25, 1e-8];
        assert_eq!(
            FedAvg.merge(&[(&model, 1.0), (&model, 1.0), (&model, 2.0)]),
            model
        );
    }

    #[test]
    fn distance_is_euclidean() {
        assert_eq!(distance(&[0.0, 3.0], &[4.0, 0.0]), 5.0);
    }
}
