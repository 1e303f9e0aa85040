//! What happens whether the controller likes it or not: movement, radio, computing, flight, and
//! what they cost.

pub mod channel;
pub(crate) mod compute;
pub(crate) mod cost;
pub mod flight;
pub(crate) mod links;
pub mod mobility;

use channel::{Channel, Link, Node, Path};
use flight::Flight;
use mobility::Mobility;

use crate::scenario::ValidScenario;
use crate::solve::bandwidth::LEAST_SNR_HZ;
use crate::vocabulary::{Bill, Point, UavId};

/// The laws of one scenario.
pub struct Nature {
    /// How devices move.
    pub mobility: Box<dyn Mobility>,
    /// How signals fade.
    pub channel: Box<dyn Channel>,
    /// What flying costs.
    pub flight: Box<dyn Flight>,
    /// The run's seed, which the channel's random streams hang on.
    pub seed: u64,
    /// Noise power density, W/Hz.
    pub noise_w_per_hz: f64,
    /// Height of the UAVs, m.
    pub altitude_m: f64,
    /// Bandwidth of each UAV-to-UAV link, Hz.
    pub uav_link_bandwidth_hz: f64,
    /// Flying speed, m/s.
    pub speed_mps: f64,
}

/// One UAV sending to another, each with its place on the map.
#[derive(Clone, Copy, Debug)]
pub struct UavLink {
    /// Power of the sender, W.
    pub tx_power_w: f64,
    /// Who sends.
    pub from: (UavId, Point),
    /// Who receives.
    pub to: (UavId, Point),
    /// The global round.
    pub round: usize,
}

impl Nature {
    /// The laws a scenario asks for.
    #[must_use]
    pub fn new(scenario: &ValidScenario) -> Self {
        Self {
            mobility: mobility::from_config(&scenario.mobility),
            channel: channel::from_config(&scenario.channel),
            flight: Box::new(flight::ConstantPower {
                hover_power_w: scenario.uavs.hover_power_w,
                move_power_w: scenario.uavs.move_power_w,
            }),
            seed: scenario.seed,
            noise_w_per_hz: channel::watts_from_dbm(scenario.radio.noise_dbm_per_hz),
            altitude_m: scenario.uavs.altitude_m,
            uav_link_bandwidth_hz: scenario.radio.uav_link_bandwidth_hz,
            speed_mps: scenario.uavs.speed_mps,
        }
    }

    /// Received power over noise density, p g / N0, Hz.
    #[must_use]
    pub fn snr_hz(&self, path: &Path, tx_power_w: f64) -> f64 {
        tx_power_w * self.channel.gain(path) / self.noise_w_per_hz
    }

    /// Seconds that `bits` take over a link; none when it is too weak to be used.
    #[must_use]
    pub fn uav_link_time_s(&self, bits: f64, link: &UavLink) -> Option<f64> {
        let path = Path {
            link: Link::UavToUav,
            from: Node::Uav(link.from.0),
            to: Node::Uav(link.to.0),
            from_m: link.from.1,
            to_m: link.to.1,
            height_m: 0.0,
            round: link.round,
            seed: self.seed,
        };
        let snr_hz = links::usable(self.snr_hz(&path, link.tx_power_w))?;
        Some(self.uav_time_s(bits, snr_hz))
    }

    /// The most seconds that any two UAVs within a distance need for `bits`, with at least this transmit power; none when
    /// the channel cannot say, or some of these links are out.
    #[must_use]
    pub fn worst_uav_link_time_s(
        &self,
        bits: f64,
        tx_power_w: f64,
        distance_m: f64,
    ) -> Option<f64> {
        let gain = self.channel.least_gain(Link::UavToUav, distance_m, 0.0)?;
        let snr_hz = links::usable(tx_power_w * gain / self.noise_w_per_hz)?;
        Some(self.uav_time_s(bits, snr_hz))
    }

    fn uav_time_s(&self, bits: f64, snr_hz: f64) -> f64 {
        bits / channel::rate_bps(self.uav_link_bandwidth_hz, snr_hz)
    }

    /// Joules of sending `bits` over a link, hovering meanwhile included; over one that is out, as
    /// many as the weakest that can be used would take.
    #[must_use]
    pub fn exchange_j(&self, bits: f64, link: &UavLink) -> f64 {
        let time_s = self.uav_link_time_s(bits, link);
        let time_s = time_s.unwrap_or_else(|| self.uav_time_s(bits, LEAST_SNR_HZ));
        time_s * (link.tx_power_w + self.hover_power_w())
    }

    /// Power while hovering, W.
    #[must_use]
    pub fn hover_power_w(&self) -> f64 {
        self.flight.power_w(0.0)
    }

    /// Hovering for so long.
    #[must_use]
    pub fn hover(&self, seconds: f64) -> Bill {
        Bill::new(seconds, seconds * self.hover_power_w())
    }

    /// A flight over `distance_m`.
    #[must_use]
    pub fn flight(&self, distance_m: f64) -> Bill {
        let seconds = distance_m / self.speed_mps;
        Bill::new(seconds, seconds * self.flight.power_w(self.speed_mps))
    }
}
