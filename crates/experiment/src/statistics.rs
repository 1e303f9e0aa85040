//! Means with 95 % intervals, savings seed by seed, and how likely they are chance.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// Fewer values than this give no interval: that of two is twelve times as wide as they are apart.
pub const FEWEST: usize = 3;

/// What shares and accuracies can be.
pub const SHARE: RangeInclusive<f64> = 0.0..=1.0;
/// What seconds, joules and counts can be.
pub const AMOUNT: RangeInclusive<f64> = 0.0..=f64::INFINITY;
/// What savings can be: nothing costs less than nothing.
pub const SAVING: RangeInclusive<f64> = f64::NEG_INFINITY..=1.0;

/// A mean with its 95 % interval, Student's t.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Lower end of the interval; none with less than three values, which tell too little about their spread.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// The least value. Older files have neither: they are read, and refused by their schema.
    #[serde(default)]
    pub min: f64,
    /// The largest value.
    #[serde(default)]
    pub max: f64,
    /// How many values.
    pub n: usize,
}

impl Estimate {
    /// The mean of values and its interval; none without values.
    ///
    /// ```
    /// use aerofed_experiment::statistics::Estimate;
    /// let estimate = Estimate::of(&[1.0, 2.0, 3.0]).unwrap();
    /// assert_eq!(estimate.mean, 2.0);
    /// assert!((estimate.half_width().unwrap() - 2.484).abs() < 0.001); // 4.303 / √3
    /// assert!(Estimate::of(&[]).is_none());
    /// ```
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = mean(values);
        let half = (n >= FEWEST).then(|| student_t_975(n - 1) * error_of_mean(values));
        Some(Self {
            mean,
            low: half.map(|half| mean - half),
            high: half.map(|half| mean + half),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            n,
        })
    }

    /// The same for values of a domain, which the interval does not leave: an accuracy is not above 100 %.
    #[must_use]
    pub fn within(values: &[f64], domain: RangeInclusive<f64>) -> Option<Self> {
        let mut estimate = Self::of(values)?;
        estimate.low = estimate.low.map(|low| low.max(*domain.start()));
        estimate.high = estimate.high.map(|high| high.min(*domain.end()));
        Some(estimate)
    }

    /// Half the interval's width; none where there is no interval, or where it was cut off at the end of a domain.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        let (below, above) = (self.mean - self.low?, self.high? - self.mean);
        let off = (above - below).abs();
        (off <= 1e-9 * (above + below) + 1e-12 * self.mean.abs()).then_some(above)
    }

    /// What is shown of the spread: the interval, or from the one to the other of two values.
    #[must_use]
    pub fn ends(&self) -> Option<(f64, f64)> {
        match (self.low, self.high) {
            (Some(low), Some(high)) => Some((low, high)),
            _ if self.n > 1 => Some((self.min, self.max)),
            _ => None,
        }
    }

    /// Whether the interval is known and lies on one side of a value.
    #[must_use]
    pub fn excludes(&self, value: f64) -> bool {
        self.low.is_some_and(|low| low > value) || self.high.is_some_and(|high| high < value)
    }

    /// Whether the interval is known and holds a value.
    #[must_use]
    pub fn includes(&self, value: f64) -> bool {
        self.low.is_some_and(|low| low <= value) && self.high.is_some_and(|high| high >= value)
    }
}

fn mean(values: &[f64]) -> f64 {
    // Adding zero turns -0 into 0.
    values.iter().sum::<f64>() / values.len() as f64 + 0.0
}

/// The standard error of the mean of two or more values.
fn error_of_mean(values: &[f64]) -> f64 {
    let (mean, count) = (mean(values), values.len() as f64);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt()
}

/// The probability of a mean at least so far from zero if there were no effect: Student's t, two-sided. None with less
/// than three values.
///
/// ```
/// use aerofed_experiment::statistics::p_value;
/// let p = p_value(&[1.0, 2.0, 3.0]).unwrap(); // t = 2 √3 with two degrees of freedom
/// assert!((p - 0.0742).abs() < 1e-4);
/// assert_eq!(p_value(&[1.0, 2.0]), None);
/// ```
#[must_use]
pub fn p_value(values: &[f64]) -> Option<f64> {
    if values.len() < FEWEST {
        return None;
    }
    let (mean, error) = (mean(values), error_of_mean(values));
    if error == 0.0 {
        return Some(if mean == 0.0 { 1.0 } else { 0.0 });
    }
    let inside = within(mean.abs() / error, values.len() - 1);
    Some((1.0 - inside).clamp(0.0, 1.0))
}

/// What the first saves against the other, 1 - first / other; none when the other costs nothing.
#[must_use]
pub fn saving(first: f64, other: f64) -> Option<f64> {
    (other > 0.0).then(|| 1.0 - first / other)
}

/// The value that Student's t with so many degrees of freedom stays below with probability 0.975.
#[must_use]
pub fn student_t_975(degrees: usize) -> f64 {
    /// The normal distribution's, the limit.
    const NORMAL: f64 = 1.959_963_984_540_054;
    let nu = degrees.max(1) as f64;
    if degrees > 400 {
        // Cornish-Fisher around the normal distribution: exact to 1e-9 from here on.
        let z2 = NORMAL * NORMAL;
        let first = (z2 + 1.0) / 4.0;
        let second = (5.0 * z2 * z2 + 16.0 * z2 + 3.0) / 96.0;
        return NORMAL * (1.0 + first / nu + second / (nu * nu));
    }
    // The distribution function rises, so halving finds its inverse to the last bit or so.
    let (mut low, mut high) = (NORMAL, 12.75);
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if within(middle, degrees.max(1)) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The probability that |T| <= t, by the finite sums for whole degrees of freedom
/// (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn within(t: f64, degrees: usize) -> f64 {
    let nu = degrees as f64;
    let cos2 = nu / (nu + t * t);
    let sin = t / (nu + t * t).sqrt();
    let odd = degrees % 2 == 1;
    // Each term is the last one times cos² and a ratio of neighbours: 1/2, 3/4, ... or 2/3, 4/5, ...
    let (mut term, terms) = if odd {
        (cos2.sqrt(), (degrees - 1) / 2)
    } else {
        (1.0, degrees / 2)
    };
    let mut sum = 0.0;
    for k in 0..terms {
        sum += term;
        let ratio = if odd {
            (2 * k + 2) as f64 / (2 * k + 3) as f64
        } else {
            (2 * k + 1) as f64 / (2 * k + 2) as f64
        };
        term *= ratio * cos2;
    }
    if odd {
        let theta = (t / nu.sqrt()).atan();
        2.0 / std::f64::consts::PI * (theta + sin * sum)
    } else {
        sin * sum
    }
}

/// Kendall's tau-b: how much two orders of the same things agree, from -1 (one is the other backwards) to 1 (they are the same).
/// Things that are alike in one of the two count less; NaN where all are alike in one.
///
/// ```
/// use aerofed_experiment::statistics::kendall;
/// assert_eq!(kendall(&[(1.0, 10.0), (2.0, 20.0), (3.0, 30.0)]), 1.0);
/// // Two of three pairs agree: (2 - 1) / 3.
/// assert!((kendall(&[(1.0, 10.0), (2.0, 30.0), (3.0, 20.0)]) - 1.0 / 3.0).abs() < 1e-12);
/// ```
#[must_use]
pub fn kendall(pairs: &[(f64, f64)]) -> f64 {
    let order = |a: f64, b: f64| f64::from(a.total_cmp(&b) as i8);
    let (mut agreeing, mut first, mut second) = (0.0, 0.0, 0.0);
    for (place, a) in pairs.iter().enumerate() {
        for b in &pairs[..place] {
            let (x, y) = (order(a.0, b.0), order(a.1, b.1));
            agreeing += x * y;
            first += x * x;
            second += y * y;
        }
    }
    agreeing / f64::sqrt(first * second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn val_quantiles_are_those_of_the_tables() {
        for (degrees, tabulated) in [
            (1, 12.706_205),
            (2, 4.302_653),
            (3, 3.182_446),
            (4, 2.776_445),
            (5, 2.570_582),
            (9, 2.262_157),
            (10, 2.228_139),
            (19, 2.093_024),
            (29, 2.045_230),
            (30, 2.042_272),
            (60, 2.000_298),
            (120, 1.979_930),
            (1_000, 1.962_339),
            (1_000_000, 1.959_966),
        ] {
            let found = student_t_975(degrees);
            assert!((found - tabulated).abs() < 1e-6, "{degrees}: {found}");
        }
    }

    #[test]
    fn quantiles_fall_without_a_step_where_the_formula_changes() {
        let all: Vec<f64> = (1..=1_000).map(student_t_975).collect();
        assert!(all.windows(2).all(|pair| pair[0] > pair[1]));
        let step = |at: usize| all[at] - all[at + 1];
        assert!((step(399) / step(398) - 1.0).abs() < 0.01);
    }

    #[test]
    fn intervals_worked_by_hand() {
        // mean 5, deviations 3 1 1 1 sum of squares 12, s² = 4, s/√4 = 1, t(3) = 3.182446
        let estimate = Estimate::of(&[2.0, 6.0, 6.0, 6.0]).unwrap();
        assert_eq!((estimate.mean, estimate.n), (5.0, 4));
        assert!((estimate.low.unwrap() - 1.817_554).abs() < 1e-6);
        assert!((estimate.high.unwrap() - 8.182_446).abs() < 1e-6);
        assert!(estimate.includes(5.5) && !estimate.excludes(5.5));
        assert!(estimate.excludes(1.5) && estimate.excludes(8.5) && !estimate.includes(8.5));
    }

    #[test]
    fn one_value_has_no_interval_and_says_nothing_about_others() {
        let estimate = Estimate::of(&[7.0]).unwrap();
        assert_eq!(
            (estimate.mean, estimate.low, estimate.high),
            (7.0, None, None)
        );
        assert!(!estimate.includes(7.0) && !estimate.excludes(0.0));
        let two = Estimate::of(&[3.0, 5.0]).unwrap();
        assert_eq!((two.low, two.half_width()), (None, None));
        assert_eq!((two.ends(), estimate.ends()), (Some((3.0, 5.0)), None));
        assert_eq!(Estimate::of(&[3.0; 3]).unwrap().half_width(), Some(0.0));
    }

    #[test]
    fn an_interval_does_not_leave_its_domain() {
        let values = [0.99, 0.9, 0.99];
        let cut = Estimate::within(&values, SHARE).unwrap();
        assert_eq!((cut.high, cut.half_width()), (Some(1.0), None));
        assert_eq!(cut.low, Estimate::of(&values).unwrap().low);
        assert_eq!(cut.ends().unwrap().1, 1.0);
        let free = Estimate::within(&[0.5, 0.52, 0.48], SHARE).unwrap();
        assert!(free.half_width().is_some());
        assert_eq!(
            Estimate::within(&[0.0, 9.0, 0.0], AMOUNT).unwrap().low,
            Some(0.0)
        );
    }

    #[test]
    fn val_probabilities_are_those_of_the_tables() {
        // Values with mean 1 whose standard error is 1/t.
        let with_t = |t: f64, n: usize| {
            let (half, count) = (n / 2, n as f64);
            let step = ((count - 1.0) * count / (2 * half) as f64).sqrt() / t;
            let mut values = vec![1.0; n];
            for (place, value) in values.iter_mut().enumerate().take(2 * half) {
                *value += if place % 2 == 0 { step } else { -step };
            }
            p_value(&values).unwrap()
        };
        for (t, n, tabulated) in [
            (4.302_653, 3, 0.05),
            (2.776_445, 5, 0.05),
            (4.604_095, 5, 0.01),
            (3.249_836, 10, 0.01),
            (2.093_024, 20, 0.05),
        ] {
            let p = with_t(t, n);
            assert!((p - tabulated).abs() < 1e-6, "{t}, {n}: {p}");
        }
        assert_eq!(p_value(&[0.2; 3]), Some(0.0));
        assert_eq!(p_value(&[0.0; 3]), Some(1.0));
    }

    #[test]
    fn savings_are_shares_of_the_other() {
        assert_eq!(saving(3.0, 4.0), Some(0.25));
        assert_eq!(saving(6.0, 4.0), Some(-0.5));
        assert_eq!(saving(0.0, 0.0), None);
    }
}
