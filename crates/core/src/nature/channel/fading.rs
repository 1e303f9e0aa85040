//! Block fading: a link's power goes up and down with its echoes, and stays for a round.

use std::f64::consts::TAU;

use rand::RngExt;

use super::{Channel, Link, Path};
use crate::seed::Random;

/// How a link's power varies around its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fading {
    /// Echoes alone: exponential power.
    Rayleigh,
    /// A direct ray and echoes: |sqrt(k / (k + 1)) + z / sqrt(k + 1)|^2 with a complex normal z of variance 1.
    Rician {
        /// Power of the direct ray over that of the echoes, as a factor.
        k: f64,
    },
}

impl Fading {
    /// A power of mean 1.
    #[must_use]
    pub fn draw(self, rng: &mut Random) -> f64 {
        // In (0, 1], so that its logarithm is finite.
        let first = 1.0 - rng.random::<f64>();
        let power = -libm::log(first);
        match self {
            Self::Rayleigh => power,
            Self::Rician { k } => {
                // Box and Muller: a radius and an angle are two normal variates, of variance 1/2 each here.
                let (sin, cos) = libm::sincos(TAU * rng.random::<f64>());
                let (direct, echoes) = ((k / (k + 1.0)).sqrt(), (power / (k + 1.0)).sqrt());
                let (real, imaginary) = (direct + echoes * cos, echoes * sin);
                real * real + imaginary * imaginary
            }
        }
    }
}

/// A law with block fading over it: one draw for each pair, round and attempt. Links are reciprocal: both directions fade alike.
#[derive(Clone, Copy, Debug)]
pub struct Faded<C> {
    /// The mean.
    pub law: C,
    /// What varies around it.
    pub fading: Fading,
}

impl<C: Channel> Channel for Faded<C> {
    fn gain(&self, path: &Path) -> f64 {
        self.law.gain(path) * self.fading.draw(&mut path.pair_rng())
    }

    /// A fade has no bottom.
    fn least_gain(&self, _: Link, _: f64, _: f64) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::free_space::tests::PLAIN;
    use super::super::tests::{aloft, reversed, upwards};
    use super::super::{FreeSpace, from_db};
    use super::*;
    use crate::seed::{Stream, stream};

    /// First and second moment over many draws.
    fn moments(fading: Fading) -> (f64, f64) {
        let mut rng = stream(5, Stream::Links, 0, 0);
        let draws = 200_000;
        let (mut first, mut second) = (0.0, 0.0);
        for _ in 0..draws {
            let power = fading.draw(&mut rng);
            first += power;
            second += power * power;
        }
        (first / f64::from(draws), second / f64::from(draws))
    }

    /// M. K. Simon, M.-S. Alouini, "Digital Communication over Fading Channels", 2nd edition, Section 2.2.1: power of mean 1 and
    /// variance (1 + 2 K) / (1 + K)^2, from which K comes back (Greenstein, Michelson, Erceg 1999); K = 0 is Rayleigh, variance 1.
    #[test]
    fn val_power_has_mean_1_and_the_variance_of_its_k() {
        for k_db in [0.0, 6.0, 15.0] {
            let k = from_db(k_db);
            let (mean, second) = moments(Fading::Rician { k });
            assert!((mean - 1.0).abs() < 0.01, "{k_db} dB: {mean}");
            let variance = second - mean * mean;
            let direct = (1.0 - variance).sqrt();
            let found_db = 10.0 * (direct / (1.0 - direct)).log10();
            assert!((found_db - k_db).abs() < 0.2, "{k_db} dB: {found_db}");
        }
        for fading in [Fading::Rayleigh, Fading::Rician { k: 0.0 }] {
            let (mean, second) = moments(fading);
            assert!((mean - 1.0).abs() < 0.01 && (second - 2.0).abs() < 0.05);
        }
    }

    /// Exponential power: below a tenth of its mean for 1 - exp(-0.1) of the time (Simon, Alouini, Section 2.2.1).
    #[test]
    fn val_rayleigh_fades_are_as_deep_as_an_exponential_says() {
        let mut rng = stream(6, Stream::Links, 0, 0);
        let deep = (0..100_000).filter(|_| Fading::Rayleigh.draw(&mut rng) < 0.1);
        let share = deep.count() as f64 / 1e5;
        assert!((share - 0.09516).abs() < 0.004, "{share}");
    }

    #[test]
    fn links_are_reciprocal_and_rounds_and_attempts_differ() {
        let channel = Faded {
            law: FreeSpace(PLAIN),
            fading: Fading::Rician { k: 2.0 },
        };
        for path in [upwards(500.0, 100.0), aloft(500.0)] {
            let gain = channel.gain(&path);
            assert_eq!(gain, channel.gain(&reversed(&path)));
            for other in [Path { round: 4, ..path }, Path { attempt: 1, ..path }] {
                assert_ne!(gain, channel.gain(&other));
            }
        }
        assert_eq!(channel.least_gain(Link::UavToUav, 1.0, 0.0), None);
    }
}
