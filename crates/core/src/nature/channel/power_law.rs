//! The paper's channel, Appendix A.B: neither carrier nor antennas.

use super::{Channel, Link, NEAREST_M, Path};

/// Gain d^-α over the 3-D distance d.
#[derive(Clone, Copy, Debug)]
pub struct PowerLaw {
    /// α of device-to-UAV links.
    pub exponent_up: f64,
    /// α of UAV-to-device links.
    pub exponent_down: f64,
    /// α of UAV-to-UAV links.
    pub exponent_uav: f64,
}

impl PowerLaw {
    fn gain_at(&self, link: Link, ground_distance_m: f64, height_m: f64) -> f64 {
        let exponent = match link {
            Link::DeviceToUav => self.exponent_up,
            Link::UavToDevice => self.exponent_down,
            Link::UavToUav => self.exponent_uav,
        };
        ground_distance_m
            .hypot(height_m)
            .max(NEAREST_M)
            .powf(-exponent)
    }
}

impl Channel for PowerLaw {
    fn gain(&self, path: &Path) -> f64 {
        self.gain_at(path.link, path.ground_distance_m(), path.height_m())
    }

    fn least_gain(&self, link: Link, ground_distance_m: f64, height_m: f64) -> Option<f64> {
        Some(self.gain_at(link, ground_distance_m, height_m))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{rate_bps, watts_from_dbm};
    use super::*;

    const CUBIC: PowerLaw = PowerLaw {
        exponent_up: 3.0,
        exponent_down: 3.0,
        exponent_uav: 3.0,
    };

    /// By hand: 0.5 W over 5 km at height 150 m, α = 3, 2 MHz, -174 dBm/Hz.
    /// d = 5002.2495 m, g = 7.98921e-12, N0 = 3.98107e-21, S/B = 501.70, log2(502.70) = 8.97354.
    #[test]
    fn a_link_worked_by_hand() {
        let gain = CUBIC.gain_at(Link::DeviceToUav, 5_000.0, 150.0);
        assert!((gain / 7.98921e-12 - 1.0).abs() < 1e-5);
        let noise = watts_from_dbm(-174.0);
        assert!((noise / 3.98107e-21 - 1.0).abs() < 1e-5);
        let rate = rate_bps(2e6, 0.5 * gain / noise);
        assert!((rate / (2e6 * 8.97354) - 1.0).abs() < 1e-4, "{rate}");
    }

    #[test]
    fn uavs_on_one_spot_have_a_finite_rate() {
        assert_eq!(CUBIC.gain_at(Link::UavToUav, 0.0, 0.0), 1.0);
    }

    #[test]
    fn exponents_belong_to_their_links() {
        let law = PowerLaw {
            exponent_up: 1.0,
            exponent_down: 2.0,
            exponent_uav: 3.0,
        };
        let gain = |link| law.gain_at(link, 10.0, 0.0);
        assert!((gain(Link::DeviceToUav) - 1e-1).abs() < 1e-12);
        assert!((gain(Link::UavToDevice) - 1e-2).abs() < 1e-12);
        assert!((gain(Link::UavToUav) - 1e-3).abs() < 1e-12);
    }
}
