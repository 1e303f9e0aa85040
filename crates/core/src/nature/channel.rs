//! Radio: how much of a signal arrives, and how many bits a second that makes. Appendix A.B.

use crate::scenario;
use crate::seed::{Random, Stream, stream};
use crate::vocabulary::{DeviceId, Point, UavId};

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

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// On the ground.
    Device(DeviceId),
    /// In the air.
    Uav(UavId),
}

/// A link in one global round: who sends to whom, from where to where.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Path {
    /// Which kind of link.
    pub link: Link,
    /// Who sends.
    pub from: Node,
    /// Who receives.
    pub to: Node,
    /// Where the sender is, on the map.
    pub from_m: Point,
    /// Where the receiver is, on the map.
    pub to_m: Point,
    /// How much higher one end is than the other, m.
    pub height_m: f64,
    /// The global round, from 1.
    pub round: usize,
    /// The run's seed, for whatever must be the same in every round.
    pub seed: u64,
}

impl Path {
    /// Distance along the ground, m.
    #[must_use]
    pub fn ground_distance_m(&self) -> f64 {
        self.from_m.distance(self.to_m)
    }

    /// The random stream of this link in this round, the same whoever asks and however often. The two directions between
    /// a device and a UAV have one each.
    #[must_use]
    pub fn rng(&self) -> Random {
        stream(self.seed, Stream::Links, self.round as u64, self.key())
    }

    /// The random stream of this link in all rounds.
    #[must_use]
    pub fn lasting_rng(&self) -> Random {
        stream(self.seed, Stream::Links, 0, self.key())
    }

    fn key(&self) -> u64 {
        const BITS: u32 = 30;
        let number = |node: Node| match node {
            Node::Device(id) => u64::from(id.0),
            Node::Uav(id) => u64::from(id.0),
        };
        (self.link as u64) << (2 * BITS) | number(self.from) << BITS | number(self.to)
    }
}

/// How much of the transmitted power arrives.
///
/// Asked once a round for every link between a UAV and a device that it covers, and whenever UAVs exchange models. The answer
/// must depend on the path alone (its ends, its round and its random streams), so that everybody who asks hears the same. A
/// gain need not fall with distance; 0 is a link that is out.
pub trait Channel: Send + Sync {
    /// Received over transmitted power.
    fn gain(&self, path: &Path) -> f64;

    /// The least gain of any link of a kind up to a ground distance, where the channel can say: it saves looking at every
    /// pair of UAVs when energy is kept back for the worst of them.
    fn least_gain(&self, _link: Link, _ground_distance_m: f64, _height_m: f64) -> Option<f64> {
        None
    }
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
        self.gain_at(path.link, path.ground_distance_m(), path.height_m)
    }

    fn least_gain(&self, link: Link, ground_distance_m: f64, height_m: f64) -> Option<f64> {
        Some(self.gain_at(link, ground_distance_m, height_m))
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
        let gain = law.gain_at(Link::DeviceToUav, 5_000.0, 150.0);
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
        assert_eq!(law.gain_at(Link::UavToUav, 0.0, 0.0), 1.0);
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
