//! One radio link seen through its signal-to-noise ratio: what bandwidth costs and what it buys.
//!
//! A link with received power over noise density `a` (Hz) that holds the band `b` has the SNR s = a / b and sends I bits in
//!
//! ```text
//! tau = I / (b log2(1 + s)) = floor * s / u,    u = ln(1 + s),  floor = I ln 2 / a
//! ```
//!
//! `floor` is the time that remains with unlimited bandwidth. The marginal value of bandwidth is
//!
//! ```text
//! -dtau/db = (floor / a) m(s),    m(s) = (u - s / (1 + s)) s^2 / u^2
//! ```
//!
//! so that 'minimise k tau(b) + mu b' has the solution m(s) = mu a / (k floor): one increasing function of one variable serves all
//! links. ln m is almost a straight line of slope 2 in ln s (slope between 1.7 and 2.1 for every s), hence Newton's method in
//! logarithms needs two or three steps from anywhere.

/// Multiplied by, never divided by 3: these polynomials are the innermost loop.
const THIRD: f64 = 1.0 / 3.0;

/// What a link does at one SNR, relative to its floor and its `a`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// The SNR s; the band is a / s.
    pub(super) snr: f64,
    /// s / u - 1: the time above the floor, in floors.
    pub(super) excess: f64,
    /// d(s / u) / d ln m: how the time grows with the price of bandwidth.
    pub(super) growth: f64,
    /// m(s): the marginal value of bandwidth in units of floor / a.
    pub(super) marginal: f64,
    /// d ln s / d ln m, about one half.
    pub(super) response: f64,
    /// s / (1 + s) = du / d ln s.
    saturation: f64,
    /// u = ln(1 + s).
    pub(super) log: f64,
}

/// (e^x - 1 - x) / x^2 near 0, where the closed form cancels.
fn phi(x: f64) -> f64 {
    const INVERSE_FACTORIALS: [f64; 9] = [
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5_040.0,
        1.0 / 40_320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
    ];
    INVERSE_FACTORIALS
        .iter()
        .rev()
        .fold(0.0, |sum, c| sum * x + c)
}

impl Point {
    /// The link at SNR `snr`, whose `log` = ln(1 + snr) the caller has at hand.
    #[inline]
    pub(super) fn with_log(snr: f64, log: f64) -> Self {
        let (curvature, excess, slope, saturation);
        if log < 0.1 {
            // The differences below lose all digits for small u; the series do not.
            saturation = snr / (1.0 + snr);
            curvature = phi(-log);
            excess = log * phi(log);
            slope = 2.0 + saturation * (saturation / (curvature * log) - 2.0) / log;
        } else {
            // Two divisions, independent of each other, instead of five in a row.
            let drop = log * (1.0 + snr) - snr;
            let inverse = 1.0 / ((1.0 + snr) * drop * log);
            let inverse_log = 1.0 / log;
            saturation = snr * drop * log * inverse;
            curvature = drop * drop * inverse * inverse_log;
            excess = snr * inverse_log - 1.0;
            slope = 2.0 + snr * (snr * log - 2.0 * drop) * inverse;
        }
        let response = 1.0 / slope;
        Self {
            snr,
            excess,
            growth: curvature * snr * response,
            marginal: curvature * snr * snr,
            response,
            saturation,
            log,
        }
    }

    /// The link at SNR `snr`.
    #[cfg(test)]
    fn at(snr: f64) -> Self {
        Self::with_log(snr, snr.ln_1p())
    }

    /// SNR and ln(1 + SNR) at e^`step` times this SNR.
    #[inline]
    pub(super) fn position(&self, step: f64) -> (f64, f64) {
        if step.abs() > 0.01 {
            let snr = self.snr * step.clamp(-30.0, 30.0).exp();
            return (snr, snr.ln_1p());
        }
        // Taylor in ln s, exact to 1e-12: a pass that moves little evaluates nothing transcendental.
        let s = self.saturation;
        let rest = 1.0 - s;
        // du/dx = s, ds/dx = s (1 - s): the derivatives of u are polynomials in s.
        let log = s
            * (1.0
                + step
                    * 0.5
                    * rest
                    * (1.0
                        + step * THIRD * (1.0 - 2.0 * s + step * 0.25 * (1.0 - 6.0 * s * rest))));
        (
            self.snr * (1.0 + small_exponential(step)),
            self.log + step * log,
        )
    }

    /// The link where m(s) = `price`, found from this one.
    #[inline]
    pub(super) fn at_price(mut self, price: f64) -> Self {
        for _ in 0..40 {
            let step = log_ratio(price, self.marginal) * self.response;
            let (snr, log) = self.position(step);
            self = Self::with_log(snr, log);
            // What is left is of the order of step^2 times a curvature below 0.1.
            if step.abs() < 1e-5 {
                break;
            }
        }
        self
    }
}

/// e^x - 1 for |x| up to 0.01.
#[inline]
fn small_exponential(x: f64) -> f64 {
    x * (1.0 + x * 0.5 * (1.0 + x * THIRD * (1.0 + x * 0.25 * (1.0 + x * 0.2))))
}

/// e^x, cheap where x is small.
#[inline]
pub(super) fn exponential(x: f64) -> f64 {
    if x.abs() < 0.01 {
        1.0 + small_exponential(x)
    } else {
        x.exp()
    }
}

/// ln(a / b) without a logarithm where the two are close.
#[inline]
pub(super) fn log_ratio(a: f64, b: f64) -> f64 {
    let x = (a - b) / (a + b);
    if x.abs() < 0.05 {
        let y = x * x;
        2.0 * x * (1.0 + y * (THIRD + y * (0.2 + y * (1.0 / 7.0 + y * (1.0 / 9.0)))))
    } else {
        (a / b).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn price_is_inverted_over_forty_decades() {
        for exponent in -20..=20 {
            let snr = 10f64.powi(exponent);
            let price = Point::at(snr).marginal;
            for guess in [1e-12, 1.0, 1e12, snr * 1.0001] {
                let found = Point::at(guess).at_price(price);
                assert!(
                    (found.snr / snr - 1.0).abs() < 1e-7,
                    "snr {snr:e} from {guess:e}: {:e}",
                    found.snr
                );
                assert!(
                    (found.log / found.snr.ln_1p() - 1.0).abs() < 1e-11,
                    "log at {snr:e}"
                );
            }
        }
    }

    #[test]
    fn derivatives_agree_with_differences() {
        for snr in [1e-6, 1e-2, 0.1, 0.106, 1.0, 30.0, 1e4, 1e9] {
            let step = 1e-5;
            let (low, high) = (Point::at(snr * (1.0 - step)), Point::at(snr * (1.0 + step)));
            let here = Point::at(snr);
            let log_marginal = (high.marginal / low.marginal).ln();
            let slope = log_marginal / ((1.0 + step) / (1.0 - step)).ln();
            assert!(
                (slope * here.response - 1.0).abs() < 1e-6,
                "slope at {snr}: {slope} {}",
                1.0 / here.response
            );
            assert!((1.7..2.1).contains(&slope), "slope at {snr}: {slope}");
            let growth = (high.excess - low.excess) / log_marginal;
            assert!(
                (growth / here.growth - 1.0).abs() < 1e-5,
                "growth at {snr}: {growth} {}",
                here.growth
            );
            // m is minus the derivative of s / u in the band 1 / s.
            let marginal = (high.excess - low.excess) / (1.0 / low.snr - 1.0 / high.snr);
            assert!(
                (marginal / here.marginal - 1.0).abs() < 1e-5,
                "marginal at {snr}"
            );
        }
    }
}
