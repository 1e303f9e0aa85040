//! Merging models as they come, so that none of them has to be kept.

use std::any::Any;

use crate::{Error, checkpoint};

/// How models are merged, at both levels.
pub trait Aggregation: Send + Sync {
    /// Begins a merge of models with so many parameters, which weigh `expected` together if all of them arrive.
    fn begin(&self, parameters: usize, expected: f64) -> Box<dyn Fold>;

    /// Whether a merge is the mean weighted by weights, so that means of some models may go in instead of the models.
    fn is_weighted_mean(&self) -> bool {
        false
    }

    /// One model from several merges that this aggregation began and nobody finished; none when no model went into them. Unless
    /// overridden, each is finished and weighs what went into it.
    fn join(&self, folds: Vec<Box<dyn Fold>>) -> Option<Vec<f32>> {
        let expected = folds.iter().map(|fold| fold.weight()).sum();
        let finished = |fold: Box<dyn Fold>| {
            let weight = fold.weight();
            fold.finish().map(|model| (model, weight))
        };
        let models: Vec<(Vec<f32>, f64)> = folds.into_iter().filter_map(finished).collect();
        let mut whole = self.begin(models.first()?.0.len(), expected);
        models
            .iter()
            .for_each(|(model, weight)| whole.add(model, *weight));
        whole.finish()
    }

    /// Merges models that are all there, each with its weight (positive, any scale); none of none.
    fn merge(&self, models: &[(&[f32], f64)]) -> Option<Vec<f32>> {
        let expected = models.iter().map(|(_, weight)| weight).sum();
        let mut fold = self.begin(models.first()?.0.len(), expected);
        models
            .iter()
            .for_each(|(model, weight)| fold.add(model, *weight));
        fold.finish()
    }

    /// What it carries from merge to merge, see [`checkpoint`]. Merges are finished in an order that does not depend on threads.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes up what [`save`](Self::save) gave.
    ///
    /// # Errors
    /// When that is not the state of such an aggregation.
    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        checkpoint::expect_nothing("aggregation", saved)
    }
}

/// A merge in progress. Models come in an order that does not depend on threads.
pub trait Fold: Any + Send + Sync {
    /// Takes in a model with its weight, which is positive.
    fn add(&mut self, model: &[f32], weight: f64);

    /// What went into it so far weighs this.
    fn weight(&self) -> f64;

    /// The merged model; none when nothing went into it.
    fn finish(self: Box<Self>) -> Option<Vec<f32>>;
}

/// The mean weighted by samples. Eqs. (2) and (3).
#[derive(Clone, Copy, Debug)]
pub struct FedAvg;

/// Summed in f64 in the order given: the same bytes however the models were computed.
struct WeightedSum {
    sum: Vec<f64>,
    /// What everything was divided by already.
    expected: f64,
    weight: f64,
}

impl Aggregation for FedAvg {
    fn begin(&self, parameters: usize, expected: f64) -> Box<dyn Fold> {
        Box::new(WeightedSum {
            sum: vec![0.0; parameters],
            expected,
            weight: 0.0,
        })
    }

    fn is_weighted_mean(&self) -> bool {
        true
    }

    fn join(&self, folds: Vec<Box<dyn Fold>>) -> Option<Vec<f32>> {
        let own = |fold: Box<dyn Fold>| (fold as Box<dyn Any>).downcast::<WeightedSum>().ok();
        let mut sums = folds.into_iter().filter_map(own);
        let mut whole = sums.next()?;
        for part in sums {
            let scale = part.expected / whole.expected;
            for (sum, part) in whole.sum.iter_mut().zip(part.sum) {
                *sum += scale * part;
            }
            whole.weight += part.weight;
        }
        whole.finish()
    }
}

impl Fold for WeightedSum {
    fn add(&mut self, model: &[f32], weight: f64) {
        let share = weight / self.expected;
        for (sum, &value) in self.sum.iter_mut().zip(model) {
            *sum += share * f64::from(value);
        }
        self.weight += weight;
    }

    fn weight(&self) -> f64 {
        self.weight
    }

    fn finish(self: Box<Self>) -> Option<Vec<f32>> {
        if self.weight <= 0.0 {
            return None;
        }
        // 1 when all of them arrived.
        let missing = self.expected / self.weight;
        let whole = |value: f64| {
            (if missing == 1.0 {
                value
            } else {
                value * missing
            }) as f32
        };
        Some(self.sum.into_iter().map(whole).collect())
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
        assert_eq!(merged.unwrap(), [2.0, 3.0]);
        assert_eq!(FedAvg.merge(&[]), None);
    }

    #[test]
    fn merging_equal_models_changes_nothing() {
        let model = [0.1f32, -7.25, 1e-8];
        let merged = FedAvg.merge(&[(&model, 1.0), (&model, 1.0), (&model, 2.0)]);
        assert_eq!(merged.unwrap(), model);
    }

    #[test]
    fn models_that_never_came_leave_the_mean_of_the_others() {
        let mut fold = FedAvg.begin(1, 100.0);
        fold.add(&[1.0], 30.0);
        fold.add(&[4.0], 10.0);
        assert_eq!(fold.weight(), 40.0);
        assert_eq!(fold.finish().unwrap(), [1.75]);
        assert_eq!(FedAvg.begin(1, 100.0).finish(), None);
    }

    /// FedAvg joins sums, other aggregations what their folds came to: for a mean that is the same.
    #[test]
    fn parts_of_a_mean_make_the_whole_mean() {
        struct Plain;
        impl Aggregation for Plain {
            fn begin(&self, parameters: usize, expected: f64) -> Box<dyn Fold> {
                FedAvg.begin(parameters, expected)
            }
        }
        for aggregation in [&FedAvg as &dyn Aggregation, &Plain] {
            let fold = |models: &[(f32, f64)], expected| {
                let mut fold = aggregation.begin(1, expected);
                models.iter().for_each(|(m, w)| fold.add(&[*m], *w));
                fold
            };
            let folds = vec![
                fold(&[(1.0, 10.0), (2.0, 10.0)], 40.0),
                fold(&[], 40.0),
                fold(&[(8.0, 20.0)], 50.0),
            ];
            assert_eq!(aggregation.join(folds).unwrap(), [4.75]);
            assert_eq!(aggregation.join(vec![fold(&[], 1.0)]), None);
            assert_eq!(aggregation.join(Vec::new()), None);
        }
    }

    #[test]
    fn distance_is_euclidean() {
        assert_eq!(distance(&[0.0, 3.0], &[4.0, 0.0]), 5.0);
    }
}
