//! What happens whether the controller likes it or not: movement, radio, computing, flight, and
//! what they cost.

pub(crate) mod battery;
pub mod channel;
pub(crate) mod compute;
pub(crate) mod cost;
pub mod flight;
mod interference;
pub(crate) mod links;
pub mod mobility;
pub mod route;
pub(crate) mod transfer;

use battery::Charging;
use channel::{Channel, End, Link, Path};
use flight::{Airframe, Flight};
use mobility::Mobility;
use route::Routes;

use crate::scenario::{NO_LEAST_SNR_DB, ValidScenario};
use crate::solve::bandwidth::LEAST_SNR_HZ;
use crate::vocabulary::{Bill, Point, UavId};
use transfer::Transfer;

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
    /// Noise power density, that of receivers included, W/Hz.
    pub noise_w_per_hz: f64,
    /// Received power over noise below which an attempt at a transfer fails; 0: none does.
    pub least_snr: f64,
    /// Further attempts at a transfer that failed.
    pub retries: u32,
    /// Into how many groups of cells the band is divided, each of which shares it; 0: every cell has its own.
    pub reuse: usize,
    /// Bandwidth of each UAV-to-UAV link, Hz.
    pub uav_link_bandwidth_hz: f64,
    /// Where flights go.
    pub routes: Routes,
}

/// One UAV sending to another.
#[derive(Clone, Copy, Debug)]
pub struct UavLink {
    /// Power of the sender, W.
    pub tx_power_w: f64,
    /// Who sends.
    pub from: End,
    /// Who receives.
    pub to: End,
    /// The global round.
    pub round: usize,
}

impl Nature {
    /// The laws a scenario asks for.
    #[must_use]
    pub fn new(scenario: &ValidScenario) -> Self {
        Self {
            mobility: mobility::from_config(scenario),
            channel: channel::from_config(scenario),
            airframes: airframes(scenario, None),
            charging: Charging::new(&scenario.battery, &scenario.solar),
            seed: scenario.seed,
            noise_w_per_hz: channel::watts_from_dbm(
                scenario.radio.noise_dbm_per_hz + scenario.radio.noise_figure_db,
            ),
            least_snr: match scenario.radio.least_snr_db {
                NO_LEAST_SNR_DB => 0.0,
                least_db => channel::from_db(least_db),
            },
            retries: scenario.radio.retries,
            reuse: scenario.radio.reuse,
            uav_link_bandwidth_hz: scenario.radio.uav_link_bandwidth_hz,
            routes: Routes::new(scenario.places()),
        }
    }

    /// The link from one end to another in a round.
    pub(crate) fn path(&self, from: End, to: End, round: usize) -> Path {
        Path::new(from, to, round, self.seed)
    }

    /// Received power over noise and interference density, p g / (N0 + I), Hz.
    #[must_use]
    pub fn snr_hz(&self, path: &Path, tx_power_w: f64, interference_w_per_hz: f64) -> f64 {
        let noise_w_per_hz = self.noise_w_per_hz + interference_w_per_hz;
        tx_power_w * self.channel.gain(path) / noise_w_per_hz
    }

    /// Seconds that `bits` take over a link, failed attempts included; none when it is too weak to be used, or no attempt
    /// succeeds.
    #[must_use]
    pub fn uav_link_time_s(&self, bits: f64, link: &UavLink) -> Option<f64> {
        let (once_s, transfer) = self.uav_transfer(bits, link)?;
        transfer.arrived.then(|| transfer.attempts() * once_s)
    }

    /// Seconds of one attempt at sending `bits` over a link, and how the attempts end; none when it is too weak to be used.
    pub(crate) fn uav_transfer(&self, bits: f64, link: &UavLink) -> Option<(f64, Transfer)> {
        let path = self.path(link.from, link.to, link.round);
        let snr_hz = links::usable(self.snr_hz(&path, link.tx_power_w, 0.0))?;
        let transfer = self.transfer(&path, snr_hz, self.uav_link_bandwidth_hz);
        Some((self.uav_time_s(bits, snr_hz), transfer))
    }

    /// The most seconds that any two UAVs within a distance and a difference in height need for `bits`, with at least this
    /// transmit power; none when the channel cannot say, or some of these transfers fail.
    #[must_use]
    pub fn worst_uav_link_time_s(
        &self,
        bits: f64,
        tx_power_w: f64,
        distance_m: f64,
        height_m: f64,
    ) -> Option<f64> {
        let gain = self
            .channel
            .least_gain(Link::UavToUav, distance_m, height_m)?;
        let snr_hz = links::usable(tx_power_w * gain / self.noise_w_per_hz)?;
        let succeeds = snr_hz >= self.least_snr * self.uav_link_bandwidth_hz;
        succeeds.then(|| self.uav_time_s(bits, snr_hz))
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

    /// A UAV flies from one place to another, around zones.
    #[must_use]
    pub fn flight(&self, uav: UavId, from: Point, to: Point) -> Bill {
        let Airframe {
            cruise, altitude_m, ..
        } = self.airframe(uav);
        match self.routes.air().at(*altitude_m) {
            Some(_) => cruise.along(&self.routes.legs(from, to, *altitude_m)),
            None => cruise.flight(from, to),
        }
    }

    /// A UAV flies from its place to the base that takes the least energy to reach, and lands.
    #[must_use]
    pub fn flight_home(&self, uav: UavId, from: Point) -> Bill {
        self.home(uav, from).1
    }

    /// A UAV starts from the base that it flew to from its place, and flies back there.
    #[must_use]
    pub fn flight_out(&self, uav: UavId, to: Point) -> Bill {
        let (base, _) = self.home(uav, to);
        self.flight(uav, base, to) + self.airframe(uav).climb
    }

    /// The base that takes the least energy to reach, and the flight there.
    fn home(&self, uav: UavId, from: Point) -> (Point, Bill) {
        let descent = self.airframe(uav).descent;
        let bases = self.routes.bases().iter();
        let flights = bases.map(|&base| (base, self.flight(uav, from, base) + descent));
        let nearest = flights.min_by(|a, b| a.1.joules.total_cmp(&b.1.joules));
        nearest.unwrap_or((from, descent))
    }
}

/// What hovering takes each UAV of a scenario, in watts.
pub(crate) fn hover_powers_w(scenario: &ValidScenario) -> Vec<f64> {
    let airframes = airframes(scenario, None);
    airframes.iter().map(|a| a.hover_power_w).collect()
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
