//! Radio: how much of a signal arrives, and how many bits a second that makes. Appendix A.B.

use crate::scenario;

/// The three kinds of link. They never interfere: their phases are separate, their bands orthogonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// D2U.
    DeviceToUav,
    /// U2D.
    UavToDevice,
    /// U2U.
    UavToUav,
}

/// How much of the transmitted power arrives.
pub trait Channel: Send + Sync {
    /// Received over transmitted power for a ground distance and a difference in height.
    fn gain(&self, link: Link, ground_distance_m: f64, height_m: f64) -> f64;
}

/// Nearer than this the power law would amplify; it is taken as the reference distance.
const NEAREST_M: f64 = 1.0;

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

impl Channel for PowerLaw {
    fn gain(&self, link: Link, ground_distance_m: f64, height_m: f64) -> f64 {
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

pub(super) fn from_config(config: &scenario::Channel) -> Box<dyn Channel> {
    match *config {
        scenario::Channel::PowerLaw {
            exponent_up,
            exponent_down,
            exponent_uav,
        } => Box::new(PowerLaw {
            exponent_up,
            exponent_down,
            exponent_uav,
        }),
    }
}

/// Shannon rate r = B log2(1 + S / B), with S = p g / N0 in Hz.
#[must_use]
pub fn rate_bps(bandwidth_hz: f64, snr_hz: f64) -> f64 {
    bandwidth_hz * (snr_hz / bandwidth_hz).ln_1p() / std::f64::consts::LN_2
}

/// dBm (or dBm/Hz) in watts (or W/Hz).
#[must_use]
pub fn watts_from_dbm(dbm: f64) -> f64 {
    10f64.powf((dbm - 30.0) / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 0.5 W over 5 km at height 150 m, α = 3, 2 MHz, -174 dBm/Hz.
    /// d = 5002.2495 m, g = 7.98921e-12, N0 = 3.98107e-21, S/B = 501.70, log2(502.70) = 8.97354.
    #[test]
    fn a_link_worked_by_hand() {
        let law = PowerLaw {
            exponent_up: 3.0,
            exponent_down: 3.0,
            exponent_uav: 3.0,
        };
        let gain = law.gain(Link::DeviceToUav, 5_000.0, 150.0);
        assert!((gain / 7.98921e-12 - 1.0).abs() < 1e-5);
        let noise = watts_from_dbm(-174.0);
        assert!((noise / 3.98107e-21 - 1.0).abs() < 1e-5);
        let rate = rate_bps(2e6, 0.5 * gain / noise);
        assert!((rate / (2e6 * 8.97354) - 1.0).abs() < 1e-4, "{rate}");
    }

    #[test]
    fn uavs_on_one_spot_have_a_finite_rate() {
        let law = PowerLaw {
            exponent_up: 3.0,
            exponent_down: 3.0,
            exponent_uav: 3.0,
        };
        assert_eq!(law.gain(Link::UavToUav, 0.0, 0.0), 1.0);
    }

    #[test]
    fn exponents_belong_to_their_links() {
        let law = PowerLaw {
            exponent_up: 1.0,
            exponent_down: 2.0,
            exponent_uav: 3.0,
        };
        let gain = |link| law.gain(link, 10.0, 0.0);
        assert!((gain(Link::DeviceToUav) - 1e-1).abs() < 1e-12);
        assert!((gain(Link::UavToDevice) - 1e-2).abs() < 1e-12);
        assert!((gain(Link::UavToUav) - 1e-3).abs() < 1e-12);
    }
}
