//! Nothing between the antennas but air (Friis 1946).

use std::f64::consts::PI;

use super::{Channel, Link, NEAREST_M, Path, from_db};

/// Metres that light goes in a second.
const LIGHT_MPS: f64 = 299_792_458.0;

/// The carrier and the antennas at both ends of links.
#[derive(Clone, Copy, Debug)]
pub struct Antennas {
    /// Carrier frequency, Hz.
    pub carrier_hz: f64,
    /// Gain of a device's antenna, dBi.
    pub device_gain_dbi: f64,
    /// Gain of a UAV's antenna, dBi.
    pub uav_gain_dbi: f64,
}

impl Antennas {
    /// Loss in free space between isotropic antennas: 20 log10(4 π d f / c), dB.
    #[must_use]
    pub fn free_space_db(&self, distance_m: f64) -> f64 {
        20.0 * libm::log10(4.0 * PI * distance_m * self.carrier_hz / LIGHT_MPS)
    }

    /// What arrives of what was sent over a link that loses so much between isotropic antennas; never more than all of it.
    #[must_use]
    pub fn gain(&self, link: Link, loss_db: f64) -> f64 {
        let antennas_dbi = match link {
            Link::DeviceToUav | Link::UavToDevice => self.device_gain_dbi + self.uav_gain_dbi,
            Link::UavToUav => 2.0 * self.uav_gain_dbi,
        };
        from_db(antennas_dbi - loss_db.max(0.0)).min(1.0)
    }

    pub(super) fn carrier_ghz(&self) -> f64 {
        self.carrier_hz / 1e9
    }

    /// The least gain in free space up to a distance. Between UAVs that is what all laws with a carrier have.
    pub(super) fn least_gain(
        &self,
        link: Link,
        ground_distance_m: f64,
        height_m: f64,
    ) -> Option<f64> {
        let distance_m = libm::hypot(ground_distance_m, height_m).max(NEAREST_M);
        (link == Link::UavToUav).then(|| self.gain(link, self.free_space_db(distance_m)))
    }
}

/// Loss 20 log10(4 π d f / c) over the 3-D distance d, less the gains of both antennas. All three kinds of link.
#[derive(Clone, Copy, Debug)]
pub struct FreeSpace(pub Antennas);

impl Channel for FreeSpace {
    fn gain(&self, path: &Path) -> f64 {
        let Self(antennas) = self;
        antennas.gain(path.link, antennas.free_space_db(path.distance_m()))
    }

    fn least_gain(&self, link: Link, ground_distance_m: f64, height_m: f64) -> Option<f64> {
        self.0.least_gain(link, ground_distance_m, height_m)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::{aloft, reversed, upwards};
    use super::*;

    /// Isotropic antennas at 2 GHz.
    pub(in super::super) const PLAIN: Antennas = Antennas {
        carrier_hz: 2e9,
        device_gain_dbi: 0.0,
        uav_gain_dbi: 0.0,
    };

    /// ITU-R P.525: 32.4 + 20 log10(f in MHz) + 20 log10(d in km), in dB, rounded to a tenth.
    #[test]
    fn val_free_space_loss_is_that_of_itu_r_p_525() {
        for (carrier_hz, distance_m) in [(2e9, 1_000.0), (5.8e9, 250.0), (9e8, 12_345.0)] {
            let antennas = Antennas {
                carrier_hz,
                ..PLAIN
            };
            let expected_db =
                32.4 + 20.0 * (carrier_hz / 1e6).log10() + 20.0 * (distance_m / 1e3f64).log10();
            let loss_db = antennas.free_space_db(distance_m);
            assert!((loss_db - expected_db).abs() < 0.06, "{loss_db}");
        }
    }

    /// By hand: 3-4-5 triangle of 1 km at 2 GHz, 98.468 dB; antennas of 2 and 5 dBi give 7 dB of it back.
    #[test]
    fn antennas_of_both_ends_count_and_directions_are_alike() {
        let antennas = Antennas {
            device_gain_dbi: 2.0,
            uav_gain_dbi: 5.0,
            ..PLAIN
        };
        let path = upwards(600.0, 800.0);
        let gain_db = |path: &Path| 10.0 * FreeSpace(antennas).gain(path).log10();
        assert!((gain_db(&path) + 98.468 - 7.0).abs() < 1e-3);
        assert_eq!(gain_db(&path), gain_db(&reversed(&path)));
        assert!((gain_db(&aloft(1_000.0)) + 98.468 - 10.0).abs() < 1e-3);
    }

    #[test]
    fn the_least_gain_is_that_of_the_farthest() {
        let law = FreeSpace(PLAIN);
        let least = law.least_gain(Link::UavToUav, 900.0, 0.0).unwrap();
        assert_eq!(least, law.gain(&aloft(900.0)));
        for ground_m in [0.0, 1.0, 450.0, 899.9] {
            assert!(law.gain(&aloft(ground_m)) >= least);
        }
    }

    /// A carrier in the wrong unit has a wavelength in which Friis' formula would amplify.
    #[test]
    fn no_more_arrives_than_was_sent() {
        let antennas = Antennas {
            carrier_hz: 2.4,
            uav_gain_dbi: 30.0,
            ..PLAIN
        };
        assert_eq!(FreeSpace(antennas).gain(&upwards(10.0, 10.0)), 1.0);
    }
}
