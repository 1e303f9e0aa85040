//! Log-normal shadowing: what stands around a device takes more or less of the signal, and nearby places are alike.

use std::f64::consts::TAU;

use rand::RngExt;

use super::{Channel, Link, Path, from_db};
use crate::seed::{Random, Stream, stream};
use crate::vocabulary::Point;

/// A random field over the places of devices and UAVs: a pure function of seed and positions, with nothing stored but the waves
/// that it is a sum of.
///
/// Mean 0, variance 1, close to normal. Along the ground its correlation is exp(-d / decorrelation distance) (M. Gudmundson,
/// "Correlation model for shadow fading in mobile radio systems", Electronics Letters 27(23), 1991): the wave numbers are drawn
/// from the spectrum of that correlation in the plane, whose distribution function is 1 - 1 / sqrt(1 + (k d)^2). Half of the variance depends
/// on the device's place alone, the other half on the UAV's as well and falls off in the same way with each. So UAVs far from each other
/// have a correlation of 0.5 at a device, as 3GPP TR 36.814 (Annex A.2.1) has it between sites.
#[derive(Clone, Debug)]
pub struct ShadowField {
    waves: Vec<Wave>,
}

#[derive(Clone, Copy, Debug)]
struct Wave {
    /// Wave vector over the device's place, 1/m.
    ground: [f64; 2],
    /// The same over the UAV's place.
    air: [f64; 2],
    phase: f64,
}

/// Waves of each half. Their sum has a kurtosis of 3 - 0.75 / WAVES.
const WAVES: usize = 16;

/// Beyond the keys that links have.
const FIELD_KEY: u64 = 8 << 60;

impl ShadowField {
    /// The field of a seed, whose correlation falls to 1/e over a distance.
    #[must_use]
    pub fn new(seed: u64, decorrelation_m: f64) -> Self {
        let mut rng = stream(seed, Stream::Links, 0, FIELD_KEY);
        let waves = (0..2 * WAVES).map(|place| {
            // One wave from each part of the spectrum that is as likely as any other: the correlation of a single field is closer to
            // that of all fields.
            let spread = ((place % WAVES) as f64 + 1.0 - rng.random::<f64>()) / WAVES as f64;
            let ground = vector(spread, decorrelation_m, &mut rng);
            let air = match place < WAVES {
                true => [0.0; 2],
                false => vector(1.0 - rng.random::<f64>(), decorrelation_m, &mut rng),
            };
            let phase = TAU * rng.random::<f64>();
            Wave { ground, air, phase }
        });
        Self {
            waves: waves.collect(),
        }
    }

    /// Its value between a device and a UAV.
    #[must_use]
    pub fn at(&self, ground: Point, air: Point) -> f64 {
        let dot = |[x, y]: [f64; 2], at: Point| x * at.x_m + y * at.y_m;
        let heights = self
            .waves
            .iter()
            .map(|wave| libm::cos(dot(wave.ground, ground) + dot(wave.air, air) + wave.phase));
        heights.sum::<f64>() / (WAVES as f64).sqrt()
    }
}

/// A wave vector in any direction; `spread`, in (0, 1], says where in the spectrum.
fn vector(spread: f64, decorrelation_m: f64, rng: &mut Random) -> [f64; 2] {
    let number = (1.0 / (spread * spread) - 1.0).sqrt() / decorrelation_m;
    let (sin, cos) = libm::sincos(TAU * rng.random::<f64>());
    [number * cos, number * sin]
}

/// A law with shadowing over it: in dB, normal with this standard deviation. Links between UAVs, far above what stands on the
/// ground, have none.
#[derive(Clone, Debug)]
pub struct Shadowed<C> {
    /// What distance does.
    pub law: C,
    /// Where it is better or worse.
    pub field: ShadowField,
    /// By how much.
    pub sigma_db: f64,
}

impl<C: Channel> Channel for Shadowed<C> {
    fn gain(&self, path: &Path) -> f64 {
        let gain = self.law.gain(path);
        match path.ground_and_air() {
            Some((ground, air)) => gain * from_db(-self.sigma_db * self.field.at(ground, air)),
            None => gain,
        }
    }

    fn least_gain(&self, link: Link, ground_distance_m: f64, height_m: f64) -> Option<f64> {
        match link {
            Link::UavToUav => self.law.least_gain(link, ground_distance_m, height_m),
            Link::DeviceToUav | Link::UavToDevice => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::PowerLaw;
    use super::super::tests::{aloft, reversed, upwards};
    use super::*;

    const DECORRELATION_M: f64 = 50.0;
    const UAV: Point = Point {
        x_m: 3_000.0,
        y_m: 4_000.0,
    };

    /// The mean of a product of two values, over fields and places.
    fn mean(of: impl Fn(&ShadowField, Point) -> f64) -> f64 {
        let (seeds, side) = (60, 12);
        let mut sum = 0.0;
        for seed in 0..seeds {
            let field = ShadowField::new(seed, DECORRELATION_M);
            for place in 0..side * side {
                let (x, y) = (f64::from(place % side), f64::from(place / side));
                sum += of(&field, Point::new(431.0 * x, 517.0 * y));
            }
        }
        sum / (seeds as f64 * f64::from(side * side))
    }

    /// Gudmundson 1991: mean 0, variance 1, correlation exp(-d / d0); normal, so that 68.3 % lie within one deviation and 95.4 %
    /// within two.
    #[test]
    fn val_shadowing_is_normal_with_an_exponential_correlation() {
        assert!(mean(|field, at| field.at(at, UAV)).abs() < 0.03);
        let variance = mean(|field, at| field.at(at, UAV).powi(2));
        assert!((variance - 1.0).abs() < 0.03, "{variance}");
        for (deviations, expected) in [(1.0, 0.683), (2.0, 0.954)] {
            let within = mean(|field, at| f64::from(field.at(at, UAV).abs() < deviations));
            assert!((within - expected).abs() < 0.02, "{within}");
        }
        for distance_m in [5.0, 25.0, 50.0, 100.0, 200.0] {
            let expected = (-distance_m / DECORRELATION_M).exp();
            let (sin, cos) = 1f64.sin_cos();
            let beside =
                |at: Point| Point::new(at.x_m + distance_m * cos, at.y_m + distance_m * sin);
            let found = mean(|field, at| field.at(at, UAV) * field.at(beside(at), UAV));
            assert!((found - expected).abs() < 0.04, "{distance_m} m: {found}");
        }
    }

    /// Sites far apart have a correlation of 0.5 (3GPP TR 36.814, Annex A.2.1); a UAV that moves a little sees little change.
    #[test]
    fn val_two_uavs_see_shadowing_that_is_half_correlated() {
        for (away_m, expected) in [(5_000.0, 0.5), (25.0, 0.5 + 0.5 * (-0.5f64).exp())] {
            let other = Point::new(UAV.x_m - away_m, UAV.y_m);
            let found = mean(|field, at| field.at(at, UAV) * field.at(at, other));
            assert!((found - expected).abs() < 0.04, "{away_m} m: {found}");
        }
    }

    #[test]
    fn it_is_a_function_of_seed_and_places() {
        let at = Point::new(123.0, 456.0);
        let value = |seed| ShadowField::new(seed, 50.0).at(at, UAV);
        assert_eq!(value(1).to_bits(), value(1).to_bits());
        assert_ne!(value(1), value(2));
        assert!(
            ShadowField::new(1, 0.1)
                .at(Point::new(1e7, 1e7), UAV)
                .is_finite()
        );
    }

    #[test]
    fn both_directions_are_shadowed_alike_and_uavs_not_at_all() {
        let law = PowerLaw {
            exponent_up: 2.0,
            exponent_down: 2.0,
            exponent_uav: 2.0,
        };
        let shadowed = Shadowed {
            law,
            field: ShadowField::new(7, 50.0),
            sigma_db: 6.0,
        };
        let path = upwards(300.0, 100.0);
        assert_ne!(shadowed.gain(&path), law.gain(&path));
        assert_eq!(shadowed.gain(&path), shadowed.gain(&reversed(&path)));
        assert_eq!(shadowed.gain(&aloft(300.0)), law.gain(&aloft(300.0)));
        assert_eq!(shadowed.least_gain(Link::DeviceToUav, 9.0, 0.0), None);
    }
}
