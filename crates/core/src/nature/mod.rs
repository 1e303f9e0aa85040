//! What happens whether the controller likes it or not: movement, radio, computing, flight, and
//! what they cost.

pub mod channel;
pub mod compute;
pub mod cost;
pub mod flight;
pub mod mobility;

use channel::{Channel, Link};
use flight::Flight;
use mobility::Mobility;

use crate::geometry::Point;
use crate::scenario::ValidScenario;

/// The laws of one scenario.
pub struct Nature {
    /// How devices move.
    pub mobility: Box<dyn Mobility>,
    /// How signals fade.
    pub channel: Box<dyn Channel>,
    /// What flying costs.
    pub flight: Box<dyn Flight>,
    /// Noise power density, W/Hz.
    pub noise_w_per_hz: f64,
    /// Height of the UAVs, m.
    pub altitude_m: f64,
    /// Bandwidth of each UAV-to-UAV link, Hz.
    pub uav_link_bandwidth_hz: f64,
    /// Flying speed, m/s.
    pub speed_mps: f64,
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
            noise_w_per_hz: channel::watts_from_dbm(scenario.radio.noise_dbm_per_hz),
            altitude_m: scenario.uavs.altitude_m,
            uav_link_bandwidth_hz: scenario.radio.uav_link_bandwidth_hz,
            speed_mps: scenario.uavs.speed_mps,
        }
    }

    /// Received power over noise density, p g / N0, of a link between the ground and a UAV, Hz.
    #[must_use]
    pub fn ground_snr_hz(&self, link: Link, tx_power_w: f64, device: Point, uav: Point) -> f64 {
        let gain = self
            .channel
            .gain(link, device.distance(uav), self.altitude_m);
        tx_power_w * gain / self.noise_w_per_hz
    }

    /// Seconds that one UAV needs to send `bits` to another.
    #[must_use]
    pub fn uav_link_time_s(&self, bits: f64, tx_power_w: f64, from: Point, to: Point) -> f64 {
        let gain = self.channel.gain(Link::UavToUav, from.distance(to), 0.0);
        bits / channel::rate_bps(
            self.uav_link_bandwidth_hz,
            tx_power_w * gain / self.noise_w_per_hz,
        )
    }

    /// Power while hovering, W.
    #[must_use]
    pub fn hover_power_w(&self) -> f64 {
        self.flight.power_w(0.0)
    }

    /// Seconds and joules of a flight over `distance_m`.
    #[must_use]
    pub fn flight_cost(&self, distance_m: f64) -> (f64, f64) {
        let time_s = distance_m / self.speed_mps;
        (time_s, time_s * self.flight.power_w(self.speed_mps))
    }
}
