//! Many savings at once: which of them are more than chance.

use serde::{Deserialize, Serialize};

use super::statistics::{Estimate, SAVING, p_value};

/// The error that is put up with over all savings together.
pub const LEVEL: f64 = 0.05;

/// What the first method saves against another, seed by seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saving {
    /// Its mean and interval.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// How likely a mean at least so far from zero is without any effect; none with less than three seeds.
    pub p: Option<f64>,
    /// The same after Holm's correction for all savings that are shown together.
    pub p_holm: Option<f64>,
    /// Whether that is at most 5 %.
    pub holds: bool,
}

impl Saving {
    /// The saving over some seeds; none without any.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        Some(Self {
            estimate: Estimate::within(values, SAVING)?,
            p: p_value(values),
            p_holm: None,
            holds: false,
        })
    }
}

/// Holm's step-down correction: of m probabilities the least counts m times, the next m - 1 times, and none for less than
/// one before it. At most 5 % of such families have an effect that is none among those that hold.
pub fn correct(savings: &mut [&mut Saving]) {
    let mut tested: Vec<(f64, &mut &mut Saving)> = savings
        .iter_mut()
        .filter_map(|saving| Some((saving.p?, saving)))
        .collect();
    tested.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (all, mut least) = (tested.len(), 0.0f64);
    for (place, (p, saving)) in tested.into_iter().enumerate() {
        least = least.max((all - place) as f64 * p).min(1.0);
        saving.p_holm = Some(least);
        saving.holds = least <= LEVEL;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_p(p: Option<f64>) -> Saving {
        Saving {
            p,
            ..Saving::of(&[0.1, 0.2]).unwrap()
        }
    }

    #[test]
    fn val_adjusted_as_in_r() {
        // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm"): 0.03 0.06 0.06 0.02
        let mut all = [Some(0.01), Some(0.04), None, Some(0.03), Some(0.005)].map(with_p);
        correct(&mut all.iter_mut().collect::<Vec<_>>());
        let adjusted = all.map(|saving| saving.p_holm);
        let expected = [Some(0.03), Some(0.06), None, Some(0.06), Some(0.02)];
        for (found, expected) in adjusted.iter().zip(expected) {
            assert_eq!(found.is_some(), expected.is_some());
            assert!((found.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-12);
        }
        assert_eq!(all.map(|s| s.holds), [true, false, false, false, true]);
    }

    #[test]
    fn one_saving_needs_no_correction_and_none_is_above_one() {
        let mut one = with_p(Some(0.04));
        correct(&mut [&mut one]);
        assert_eq!((one.p_holm, one.holds), (Some(0.04), true));
        let mut both = [Some(0.9), Some(0.8)].map(with_p);
        correct(&mut both.iter_mut().collect::<Vec<_>>());
        assert_eq!(both.map(|saving| saving.p_holm), [Some(1.0); 2]);
    }

    #[test]
    fn two_seeds_are_not_tested() {
        let saving = Saving::of(&[0.3, 0.4]).unwrap();
        assert_eq!((saving.p, saving.estimate.low), (None, None));
        assert!(Saving::of(&[0.3, 0.4, 0.35]).unwrap().p.unwrap() < 0.05);
    }
}
