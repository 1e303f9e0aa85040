//! The fittest devices of each UAV, as many as its cell has time for.
//!
//! A round lasts as long as its slowest cell, Eq. (25): cells that took longer than the others get a smaller quota of devices in the next
//! round, quick ones a larger, until all end together. Of its quota every UAV takes the same share, its fittest devices first. The share follows from
//! how many devices should train ([`Participation`]), or is constant.
//!
//! Departs from the paper in two ways beside that. Devices are asked about their data in some rounds only, because asking costs time and energy, and what
//! they said holds for longer than a round. And a processor scores by what a local iteration costs on it, in the weights of P1, instead of by its clock: the
//! fastest processors take the most energy, and a clock does not tell how much work a device has.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::participation::Participation;
use super::threshold::above;
use super::{Association, CellOutcome, Needs, RoundOutcome, Scene};
use crate::Error;
use crate::checkpoint::{decode, encode};
use crate::nature;
use crate::scenario::{self, ValidScenario};
use crate::seed::Random;
use crate::vocabulary::Bill;
use crate::world::{DeviceId, UavId};

/// No factor leaves this range.
const LEAST: f64 = 0.2;
const MOST: f64 = 5.0;

/// The same share of every UAV's quota.
pub struct Quota {
    fitness: scenario::Fitness,
    prices: Prices,
    /// Rounds after a question to devices in which nobody asks.
    spared_rounds: usize,
    participation: Participation,
    quotas: Quotas,
}

impl Quota {
    /// The rule that a scenario asks for.
    #[must_use]
    pub fn new(scenario: &ValidScenario) -> Self {
        Self {
            fitness: scenario.fitness,
            prices: Prices::new(scenario),
            spared_rounds: scenario.selection.ask_every_rounds - 1,
            participation: Participation::new(scenario),
            quotas: Quotas::new(scenario),
        }
    }
}

impl Association for Quota {
    fn needs(&self) -> Needs {
        Needs {
            answers: self.fitness.counts_data(),
            spared_rounds: self.spared_rounds,
            moves: self.participation.is_measured(),
            ..Needs::default()
        }
    }

    fn select(&mut self, scene: &Scene, _: &mut Random) -> Vec<Vec<DeviceId>> {
        let devices = &scene.world.devices;
        let worth = |uav: UavId, device: DeviceId| {
            let seconds = devices.iteration_time_s[device.index()];
            let joules = devices.iteration_energy_j[device.index()];
            1.0 / self.prices.of(uav, Bill::new(seconds, joules))
        };
        let fitness = scene.fitness_by(&self.fitness, worth);
        let share = self.participation.share(&fitness);
        let thresholds = self.quotas.thresholds(&fitness, |_| Some(share));
        above(scene, &fitness, |uav| thresholds[uav])
    }

    fn observe(&mut self, outcome: &RoundOutcome) {
        self.quotas.observe(outcome.cells);
        self.participation.observe(outcome);
    }

    fn save(&self) -> Vec<u8> {
        encode(&(&self.quotas, &self.participation))
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        let part = "association";
        let (quotas, participation): (Quotas, Participation) = decode(part, saved)?;
        if quotas.uavs() != self.quotas.uavs() {
            let reason = "quotas of other UAVs".into();
            return Err(Error::State { part, reason });
        }
        (self.quotas, self.participation) = (quotas, participation);
        Ok(())
    }
}

/// What seconds and joules count, as in P1.
struct Prices {
    /// λ_4.
    joule: f64,
    /// λ_4 p^Hover + λ_5, by UAV.
    second: Vec<f64>,
}

impl Prices {
    fn new(scenario: &ValidScenario) -> Self {
        let weights = &scenario.weights;
        let second = |hover_w: f64| weights.energy * hover_w + weights.time;
        let hover_w = nature::hover_powers_w(scenario);
        Self {
            joule: weights.energy,
            second: hover_w.into_iter().map(second).collect(),
        }
    }

    /// What a device does while a UAV hovers.
    fn of(&self, uav: UavId, bill: Bill) -> f64 {
        self.joule * bill.joules + self.second[uav.index()] * bill.seconds
    }
}

/// How many devices UAVs take beside each other: one factor per UAV.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Quotas {
    factors: Vec<f64>,
    /// The exponent with which factors follow times. Times grow less than in proportion to devices, so that 1 would swing.
    pace: f64,
}

impl Quotas {
    pub(super) fn new(scenario: &ValidScenario) -> Self {
        Self {
            factors: vec![1.0; scenario.uavs.count],
            pace: scenario.selection.pace,
        }
    }

    /// UAVs it has a factor for.
    pub(super) fn uavs(&self) -> usize {
        self.factors.len()
    }

    /// Least fitness of the devices that each UAV takes when it takes a share of its quota; `fitness` is that of its covered devices. Infinite
    /// for UAVs that cover nobody or have no share. A UAV takes one device at least.
    pub(super) fn thresholds(
        &self,
        fitness: &[Vec<f64>],
        share: impl Fn(usize) -> Option<f64> + Sync,
    ) -> Vec<f64> {
        let covered: Vec<usize> = fitness.iter().map(Vec::len).collect();
        let quotas = self.quotas(&covered);
        let threshold = |uav: usize| match share(uav) {
            Some(share) if covered[uav] > 0 => {
                let taken = (share * quotas[uav]).round() as usize;
                nth_best(&ascending(&fitness[uav]), taken)
            }
            _ => f64::INFINITY,
        };
        (0..fitness.len()).into_par_iter().map(threshold).collect()
    }

    /// Devices that each UAV would take if all of them were shared out by pace, for the numbers they cover.
    fn quotas(&self, covered: &[usize]) -> Vec<f64> {
        let paced = |(factor, &covered): (&f64, &usize)| factor * covered as f64;
        let all: usize = covered.iter().sum();
        let sum: f64 = self.factors.iter().zip(covered).map(paced).sum();
        let scale = if sum > 0.0 { all as f64 / sum } else { 0.0 };
        let cells = self.factors.iter().zip(covered);
        cells.map(|cell| scale * paced(cell)).collect()
    }

    /// Learns from the times that cells took. Cells in which nobody trained say nothing.
    pub(super) fn observe(&mut self, cells: &[CellOutcome]) {
        let busy = || cells.iter().filter(|cell| cell.time_s > 0.0);
        let mean_s = busy().map(|cell| cell.time_s).sum::<f64>() / busy().count().max(1) as f64;
        for cell in busy() {
            let factor = &mut self.factors[cell.uav.index()];
            *factor = (*factor * (mean_s / cell.time_s).powf(self.pace)).clamp(LEAST, MOST);
        }
    }
}

pub(super) fn ascending(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The least of the `count` largest of the sorted values, of which there is at least one.
pub(super) fn nth_best(sorted: &[f64], count: usize) -> f64 {
    sorted[sorted.len() - count.clamp(1, sorted.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use crate::world::UavId;

    fn quotas(uavs: usize, settings: &[&str]) -> Quotas {
        let count = format!("uavs.count={uavs}");
        let settings: Vec<&str> = settings.iter().copied().chain([&count[..]]).collect();
        Quotas::new(&Scenario::parse("", &settings).unwrap().check().unwrap())
    }

    fn cell(uav: usize, time_s: f64) -> CellOutcome {
        CellOutcome {
            uav: UavId(uav as u32),
            selected: 1,
            edge_model: None,
            energy_j: 0.0,
            time_s,
            shared_j: 0.0,
            shared_s: 0.0,
            samples: 1.0,
            moved: None,
            overrun: 0.0,
        }
    }

    /// By hand: times 1 and 4, mean 2.5, so factors sqrt(2.5) and sqrt(0.625) = 2 : 1. Of 12 devices in equal cells, 8 and 4.
    #[test]
    fn a_cell_four_times_as_slow_gets_half() {
        let mut paced = quotas(3, &[]);
        assert_eq!(paced.quotas(&[6, 6, 0]), [6.0, 6.0, 0.0]);
        let times = [cell(0, 1.0), cell(1, 4.0), cell(2, 0.0)];
        paced.observe(&times);
        let shared_out = paced.quotas(&[6, 6, 0]);
        for (quota, expected) in shared_out.iter().zip([8.0, 4.0, 0.0]) {
            assert!((quota - expected).abs() < 1e-12, "{shared_out:?}");
        }
        assert_eq!(paced.quotas(&[0, 0, 0]), [0.0; 3]);
        let mut equal = quotas(3, &["selection.pace=0"]);
        equal.observe(&times);
        assert_eq!(equal.quotas(&[6, 6, 0]), [6.0, 6.0, 0.0]);
    }

    /// Cells whose times grow with their devices, each from another base and at another rate, end together.
    #[test]
    fn unequal_cells_come_to_end_together() {
        let time_s = |uav: usize, devices: f64| 0.1 + [0.01, 0.02, 0.05][uav] * devices;
        let mut paced = quotas(3, &[]);
        let mut times = Vec::new();
        for _ in 0..12 {
            let quotas = paced.quotas(&[20, 20, 20]);
            times = (0..3).map(|uav| time_s(uav, quotas[uav])).collect();
            let cells: Vec<CellOutcome> = (0..3).map(|uav| cell(uav, times[uav])).collect();
            paced.observe(&cells);
        }
        let spread =
            times.iter().copied().fold(0.0, f64::max) / times.iter().copied().fold(9.0, f64::min);
        assert!(spread < 1.05, "{times:?}");
    }

    /// By hand, with 0.25 for a joule and 0.75 for a second: 2 s and 3 J cost 0.25 x 3 + (0.25 x 100 + 0.75) x 2 = 52.25 below a UAV that takes 100 W,
    /// and 0.25 x 3 + (0.25 x 40 + 0.75) x 2 = 22.25 below one that takes 40 W.
    #[test]
    fn who_hovers_counts_in_the_price_of_a_second() {
        let settings = [
            "uavs.count=2",
            "uavs.hover_power_w=100",
            "uavs.each=[{uav=1, hover_power_w=40}]",
            "weights.energy=0.25",
            "weights.time=0.75",
        ];
        let prices = Prices::new(&Scenario::parse("", &settings).unwrap().check().unwrap());
        let bill = Bill::new(2.0, 3.0);
        assert_eq!(
            [0, 1].map(|uav| prices.of(UavId(uav), bill)),
            [52.25, 22.25]
        );
    }

    /// Half of four devices are two, half of two are one.
    #[test]
    fn the_fittest_of_a_quota_are_taken() {
        let fitness = [vec![0.9, 0.1, 0.5, 0.29], vec![0.1, 0.2], vec![]];
        let quotas = quotas(3, &[]);
        let thresholds = |share| quotas.thresholds(&fitness, |_| share);
        assert_eq!(thresholds(Some(0.5)), [0.5, 0.2, f64::INFINITY]);
        assert_eq!(thresholds(Some(1.0)), [0.1, 0.1, f64::INFINITY]);
        assert_eq!(thresholds(Some(0.01)), [0.9, 0.2, f64::INFINITY]);
        assert_eq!(thresholds(None), [f64::INFINITY; 3]);
    }
}
