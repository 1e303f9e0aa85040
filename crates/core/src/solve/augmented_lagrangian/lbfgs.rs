//! Limited-memory BFGS with a weak-Wolfe line search: the inner minimiser.

/// Pairs of steps and gradient changes remembered.
const MEMORY: usize = 20;

/// A smooth function; `gradient` is asked only at the point whose `value` was asked last.
pub(super) trait Smooth {
    /// The value at x, and whatever the gradient there will need.
    fn value(&mut self, x: &[f64]) -> f64;
    /// The gradient at x.
    fn gradient(&mut self, x: &[f64], out: &mut [f64]);
}

/// One remembered pair.
#[derive(Clone, Debug)]
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// 1 / (step . change).
    inverse: f64,
}

/// The minimiser's buffers.
#[derive(Clone, Debug)]
pub(super) struct Lbfgs {
    pairs: Vec<Pair>,
    /// Pairs stored since the last reset; the newest is at (stored - 1) % MEMORY.
    stored: usize,
    gradient: Vec<f64>,
    trial: Vec<f64>,
    trial_gradient: Vec<f64>,
    direction: Vec<f64>,
    gradients: usize,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn add(to: &mut [f64], factor: f64, what: &[f64]) {
    for (x, y) in to.iter_mut().zip(what) {
        *x += factor * y;
    }
}

impl Lbfgs {
    pub(super) fn new(dimension: usize) -> Self {
        let zeros = vec![0.0; dimension];
        let pair = Pair {
            step: zeros.clone(),
            change: zeros.clone(),
            inverse: 0.0,
        };
        Self {
            pairs: vec![pair; MEMORY],
            stored: 0,
            gradient: zeros.clone(),
            trial: zeros.clone(),
            trial_gradient: zeros.clone(),
            direction: zeros,
            gradients: 0,
        }
    }

    /// Gradients evaluated so far.
    pub(super) fn gradients(&self) -> usize {
        self.gradients
    }

    /// Minimises from x, in place, until the gradient's norm is at most `tolerance`; returns that norm.
    ///
    /// `function` is left evaluated at the final x.
    pub(super) fn minimise(
        &mut self,
        function: &mut impl Smooth,
        x: &mut [f64],
        tolerance: f64,
        steps_max: usize,
    ) -> f64 {
        self.stored = 0;
        let mut value = function.value(x);
        function.gradient(x, &mut self.gradient);
        self.gradients += 1;
        for _ in 0..steps_max {
            let norm = dot(&self.gradient, &self.gradient).sqrt();
            if norm <= tolerance || norm.is_nan() {
                break;
            }
            self.direct();
            let descent = dot(&self.direction, &self.gradient);
            if descent >= 0.0 {
                if self.stored == 0 {
                    break;
                }
                // The memory has gone bad (a kink of the penalty): forget it and go down the gradient.
                self.stored = 0;
                continue;
            }
            let first = if self.stored == 0 {
                (1.0 / norm).min(1.0)
            } else {
                1.0
            };
            match self.search(function, x, value, descent, first) {
                Some(next) => {
                    value = next;
                    self.remember(x);
                    x.copy_from_slice(&self.trial);
                    self.gradient.copy_from_slice(&self.trial_gradient);
                }
                None if self.stored > 0 => self.stored = 0,
                None => break,
            }
        }
        // The last trial may have been rejected.
        function.value(x);
        dot(&self.gradient, &self.gradient).sqrt()
    }

    /// The two-loop recursion: direction = -H gradient.
    fn direct(&mut self) {
        self.direction.copy_from_slice(&self.gradient);
        let kept = self.stored.min(MEMORY);
        let mut factors = [0.0; MEMORY];
        for (age, factor) in factors.iter_mut().enumerate().take(kept) {
            let pair = &self.pairs[(self.stored - 1 - age) % MEMORY];
            *factor = pair.inverse * dot(&pair.step, &self.direction);
            add(&mut self.direction, -*factor, &pair.change);
        }
        if kept > 0 {
            let newest = &self.pairs[(self.stored - 1) % MEMORY];
            let scale = 1.0 / (newest.inverse * dot(&newest.change, &newest.change));
            self.direction.iter_mut().for_each(|d| *d *= scale);
        }
        for age in (0..kept).rev() {
            let pair = &self.pairs[(self.stored - 1 - age) % MEMORY];
            let factor = pair.inverse * dot(&pair.change, &self.direction);
            add(&mut self.direction, factors[age] - factor, &pair.step);
        }
        self.direction.iter_mut().for_each(|d| *d = -*d);
    }

    /// A step that satisfies the weak Wolfe conditions, by doubling and halving; the point is left in `trial`.
    fn search(
        &mut self,
        function: &mut impl Smooth,
        x: &[f64],
        value: f64,
        descent: f64,
        first: f64,
    ) -> Option<f64> {
        const SUFFICIENT: f64 = 1e-4;
        const CURVATURE: f64 = 0.9;
        let (mut low, mut high, mut length) = (0.0, f64::INFINITY, first);
        for _ in 0..60 {
            self.trial.copy_from_slice(x);
            add(&mut self.trial, length, &self.direction);
            let there = function.value(&self.trial);
            let mut slope = f64::NAN;
            // Near the minimum the decrease drowns in rounding; there the slope decides (Hager and Zhang's approximate condition).
            let drowned = (there - value).abs() <= 1e-13 * (1.0 + value.abs());
            if there <= value + SUFFICIENT * length * descent || drowned {
                function.gradient(&self.trial, &mut self.trial_gradient);
                self.gradients += 1;
                slope = dot(&self.direction, &self.trial_gradient);
            }
            let falls = if drowned {
                slope <= (2.0 * SUFFICIENT - 1.0) * descent
            } else {
                there <= value + SUFFICIENT * length * descent
            };
            if !falls || slope.is_nan() {
                high = length;
            } else if slope < CURVATURE * descent {
                low = length;
            } else {
                return Some(there);
            }
            length = if high.is_finite() {
                (low + high) / 2.0
            } else {
                2.0 * low
            };
        }
        None
    }

    fn remember(&mut self, x: &[f64]) {
        let pair = &mut self.pairs[self.stored % MEMORY];
        for (slot, (new, old)) in pair.step.iter_mut().zip(self.trial.iter().zip(x)) {
            *slot = new - old;
        }
        for (slot, (new, old)) in pair
            .change
            .iter_mut()
            .zip(self.trial_gradient.iter().zip(&self.gradient))
        {
            *slot = new - old;
        }
        let curvature = dot(&pair.step, &pair.change);
        if curvature > 0.0 {
            pair.inverse = 1.0 / curvature;
            self.stored += 1;
        }
    }
}
