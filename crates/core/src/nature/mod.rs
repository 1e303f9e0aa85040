//! What happens whether the controller likes it or not: movement, radio, computing, flight, and
//! what they cost.

pub(crate) mod battery;
pub mod channel;
pub(crate) mod compute;
pub(crate) mod cost;
pub mod flight;
pub(crate) mod links;
pub mod mobility;

use battery::Charging;
use channel::{Channel, Link, Node, Path};
use flight::{Airframe, Flight};
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
    /// What flying costs, by UAV.
    airframes: Vec<Airframe>,
    /// How batteries charge.
    pub(crate) charging: Charging,
    /// The run's seed, which the channel's random streams hang on.
    pub seed: u64,
    /// Noise power density, W/Hz.
    pub noise_w_per_hz: f64,
    /// Bandwidth of each UAV-to-UAV link, Hz.
    pub uav_link_bandwidth_hz: f64,
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
            airframes: airframes(scenario, None),
            charging: Charging::new(&scenario.battery, &scenario.solar),
            seed: scenario.seed,
            noise_w_per_hz: channel::watts_from_dbm(scenario.radio.noise_dbm_per_hz),
            uav_link_bandwidth_hz: scenario.radio.uav_link_bandwidth_hz,
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
    pub fn exchange_j(&self, bits: f64, link: &UavLink, hover_power_w: f64) -> f64 {
        let time_s = self.uav_link_time_s(bits, link);
        let time_s = time_s.unwrap_or_else(|| self.uav_time_s(bits, LEAST_SNR_HZ));
        time_s * (link.tx_power_w + hover_power_w)
    }

    /// All UAVs fly under this law instead.
    pub(crate) fn fly_by(&mut self, scenario: &ValidScenario, flight: &dyn Flight) {
        self.airframes = airframes(scenario, Some(flight));
    }

    /// What a UAV's flights take.
    #[must_use]
    pub fn airframe(&self, uav: UavId) -> &Airframe {
        &self.airframes[uav.index()]
    }

    /// A UAV hovers for so long.
    #[must_use]
    pub fn hover(&self, uav: UavId, seconds: f64) -> Bill {
        Bill::new(seconds, seconds * self.airframe(uav).hover_power_w)
    }

    /// A UAV flies from one place to another.
    #[must_use]
    pub fn flight(&self, uav: UavId, from: Point, to: Point) -> Bill {
        self.airframe(uav).cruise.flight(from, to)
    }

    /// A UAV flies from its place to a base, and lands.
    #[must_use]
    pub fn flight_home(&self, uav: UavId, from: Point, base: Point) -> Bill {
        self.flight(uav, from, base) + self.airframe(uav).descent
    }

    /// A UAV starts from a base and flies to its place.
    #[must_use]
    pub fn flight_out(&self, uav: UavId, base: Point, to: Point) -> Bill {
        self.flight(uav, base, to) + self.airframe(uav).climb
    }
}

/// What each UAV's flights take: under the scenario's law, or under one for all.
fn airframes(scenario: &ValidScenario, flight: Option<&dyn Flight>) -> Vec<Airframe> {
    let airframe = |uav| {
        let numbers = scenario.uav(uav);
        match flight {
            Some(flight) => Airframe::new(scenario, &numbers, flight),
            None => Airframe::new(scenario, &numbers, &*Airframe::law(scenario, &numbers)),
        }
    };
    (0..scenario.uavs.count).map(airframe).collect()
}
