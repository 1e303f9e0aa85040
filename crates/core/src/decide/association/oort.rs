//! Guided selection after Oort (Lai et al., "Oort: Efficient Federated Learning via Guided Participant
//! Selection", OSDI 2021): devices whose data still teach the model much, and that are quick about it.
//!
//! utility = (|D| loss / largest in the cell + sqrt(0.1 ln R / R_last)) x (T / t)^α for t > T
//!
//! with the round R, the round R_last in which the device trained last, its time t of an edge round and
//! the preferred time T. |D| loss counts up to what 95 % of the devices stay below. A share ε of those selected never trained before; the others are
//! drawn by utility among those that reach 95 % of the last one needed.
//!
//! Departs from Oort: every UAV selects a share of the devices nearest to it, instead of one server a
//! number of clients. The loss is the mean over a device's local steps of all edge rounds, where Oort takes the root mean
//! square over its samples. T is a fixed quantile of the times seen, where Oort's pacer
//! relaxes it when utilities fall. New devices are drawn evenly, where Oort prefers fast ones. Nobody is
//! barred after many rounds.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::{Association, RoundOutcome, Scene, nearest_cells};
use crate::seed::Random;
use crate::world::DeviceId;
use crate::{Error, checkpoint, scenario};

/// Utilities down to this share of the last one needed take part in the draw.
const CUT_OFF: f64 = 0.95;
/// The quantile of gains at which larger ones are cut off.
const GAIN_CAP: f64 = 0.95;
/// Weight of not having trained for long.
const STALENESS_WEIGHT: f64 = 0.1;

/// Selection by utility.
#[derive(Clone, Debug)]
pub struct Oort {
    share: f64,
    config: scenario::Oort,
    /// Per device; none before it trained.
    known: Vec<Option<Known>>,
}

/// What is known of a device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Known {
    /// |D| x mean loss.
    gain: f64,
    time_s: f64,
    /// The last round in which it trained.
    round: usize,
}

/// What utilities are measured by.
#[derive(Clone, Copy, Debug)]
struct Usual {
    /// T.
    preferred_s: f64,
    /// Gains count up to this.
    most_gain: f64,
}

impl Oort {
    /// Takes a share (0 to 1) of the devices nearest to each UAV.
    #[must_use]
    pub fn new(share: f64, config: &scenario::Oort) -> Self {
        Self {
            share,
            config: config.clone(),
            known: Vec::new(),
        }
    }

    fn known(&self, device: DeviceId) -> Option<Known> {
        self.known.get(device.index()).copied().flatten()
    }

    /// ε in a round, from 1.
    fn exploration(&self, round: usize) -> f64 {
        let decayed = self.config.exploration_decay.powf(round as f64 - 1.0);
        (self.config.exploration * decayed).max(self.config.exploration_min)
    }

    /// What is usual among devices that trained.
    fn usual(&self) -> Usual {
        let of = |what: fn(&Known) -> f64| self.known.iter().flatten().map(what).collect();
        Usual {
            preferred_s: quantile(of(|k| k.time_s), self.config.preferred_time),
            most_gain: quantile(of(|k| k.gain), GAIN_CAP),
        }
    }

    /// What each of these devices, which trained before, is worth in a round.
    fn utilities(&self, known: &[Known], round: usize, usual: Usual) -> Vec<f64> {
        let capped = |k: &Known| k.gain.min(usual.most_gain);
        let largest = known.iter().map(capped).fold(0.0, f64::max);
        let utility = |k: &Known| {
            let gain = if largest > 0.0 {
                capped(k) / largest
            } else {
                0.0
            };
            let staleness = STALENESS_WEIGHT * (round as f64).ln() / k.round as f64;
            let speed = (usual.preferred_s / k.time_s).min(1.0);
            (gain + staleness.sqrt()) * speed.powf(self.config.speed_penalty)
        };
        known.iter().map(utility).collect()
    }

    fn select_cell(
        &self,
        nearest: &[DeviceId],
        round: usize,
        usual: Usual,
        rng: &mut Random,
    ) -> Vec<DeviceId> {
        let wanted = (self.share * nearest.len() as f64).ceil() as usize;
        let mut new = Vec::new();
        let (mut tried, mut known) = (Vec::new(), Vec::new());
        for &device in nearest {
            // One draw for everybody, so that what one device is does not move the draws of others.
            let draw: f64 = rng.random();
            match self.known(device) {
                None => new.push((draw, device)),
                Some(about) => {
                    tried.push((draw, device));
                    known.push(about);
                }
            }
        }
        let explored = (self.exploration(round) * wanted as f64).round() as usize;
        let exploited = (wanted - explored).min(tried.len());
        // Who is missing on one side is made up for on the other.
        let explored = (wanted - exploited).min(new.len());
        let exploited = wanted - explored;

        let utilities = self.utilities(&known, round, usual);
        let mut ranked = utilities.clone();
        ranked.sort_unstable_by(|a, b| b.total_cmp(a));
        let needed = exploited.checked_sub(1).and_then(|last| ranked.get(last));
        let cut_off = CUT_OFF * needed.copied().unwrap_or(0.0);
        // ln(draw) / weight: the largest of these are a draw without replacement by weight.
        let by_utility = tried.iter().zip(&utilities);
        let by_utility = by_utility.filter(|(_, utility)| **utility >= cut_off);
        let lots = by_utility.map(|((draw, device), utility)| (draw.ln() / utility, *device));
        let mut selected = largest(lots.collect(), exploited);
        selected.extend(largest(new, explored));
        selected.sort_unstable();
        selected
    }
}

/// The value that a share of all stay at or below; infinite when there are none.
fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let place = share * values.len().saturating_sub(1) as f64;
    values.get(place as usize).copied().unwrap_or(f64::INFINITY)
}

/// The devices with the largest numbers; ties go to the lower id.
fn largest(mut lots: Vec<(f64, DeviceId)>, count: usize) -> Vec<DeviceId> {
    lots.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    lots.into_iter().take(count).map(|(_, id)| id).collect()
}

impl Association for Oort {
    fn select(&mut self, scene: &Scene, rng: &mut Random) -> Vec<Vec<DeviceId>> {
        let usual = self.usual();
        nearest_cells(scene)
            .iter()
            .map(|nearest| self.select_cell(nearest, scene.round, usual, rng))
            .collect()
    }

    fn observe(&mut self, outcome: &RoundOutcome) {
        for device in outcome.devices {
            let index = device.device.index();
            if self.known.len() <= index {
                self.known.resize(index + 1, None);
            }
            let gain = f64::from(device.samples) * device.mean_loss;
            self.known[index] = Some(Known {
                gain: if gain.is_finite() { gain } else { 0.0 },
                time_s: device.edge_time_s,
                round: outcome.round,
            });
        }
    }

    fn save(&self) -> Vec<u8> {
        checkpoint::encode(&self.known)
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        self.known = checkpoint::decode("association", saved)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DeviceOutcome, Quality};
    use super::*;
    use crate::seed::{Stream, stream};
    use crate::world::UavId;

    fn oort(exploration: f64) -> Oort {
        let config = scenario::Oort {
            exploration,
            exploration_min: 0.0,
            ..scenario::Oort::default()
        };
        Oort::new(0.5, &config)
    }

    fn tell(oort: &mut Oort, round: usize, devices: &[(u32, f64, u32, f64)]) {
        let devices: Vec<DeviceOutcome> = devices
            .iter()
            .map(|&(id, mean_loss, samples, edge_time_s)| DeviceOutcome {
                device: DeviceId(id),
                uav: UavId(0),
                mean_loss,
                samples,
                edge_time_s,
            })
            .collect();
        oort.observe(&RoundOutcome {
            round,
            before: Quality::default(),
            after: Quality::default(),
            covered: 0,
            energy_j: 0.0,
            time_s: 0.0,
            model_change: 1.0,
            cells: &[],
            devices: &devices,
        });
    }

    fn pick(oort: &Oort, devices: u32, round: usize, seed: u64) -> Vec<u32> {
        let nearest: Vec<DeviceId> = (0..devices).map(DeviceId).collect();
        let mut rng = stream(seed, Stream::Association, round as u64, 0);
        let chosen = oort.select_cell(&nearest, round, oort.usual(), &mut rng);
        chosen.into_iter().map(|id| id.0).collect()
    }

    /// By hand, in round 4: gains 20, 10, 20, 5; times 1, 1, 2, 1 with T = 1.
    #[test]
    fn utilities_worked_by_hand() {
        let mut oort = oort(0.0);
        let told = [(0, 2.0, 10, 1.0), (1, 1.0, 10, 1.0), (2, 1.0, 20, 2.0)];
        tell(&mut oort, 3, &told);
        tell(&mut oort, 1, &[(3, 0.5, 10, 1.0)]);
        assert_eq!(oort.usual().preferred_s, 1.0);
        let known: Vec<Known> = oort.known.iter().flatten().copied().collect();
        let utilities = oort.utilities(&known, 4, oort.usual());
        let late = (0.1 * 4f64.ln() / 3.0).sqrt();
        let expected = [
            1.0 + late,
            0.5 + late,
            (1.0 + late) * 0.25,
            0.25 + (0.1 * 4f64.ln()).sqrt(),
        ];
        for (utility, expected) in utilities.iter().zip(expected) {
            assert!((utility - expected).abs() < 1e-12, "{utilities:?}");
        }
    }

    /// Of 40 devices one has a gain of 1000; the largest but two, 37, is what counts at most.
    #[test]
    fn one_outlier_does_not_make_all_others_alike() {
        let mut oort = oort(0.0);
        let mut told: Vec<_> = (0..40).map(|id| (id, f64::from(id), 1, 1.0)).collect();
        told[39].1 = 1000.0;
        tell(&mut oort, 1, &told);
        let known: Vec<Known> = oort.known.iter().flatten().copied().collect();
        // In round 1 staleness counts nothing.
        let utilities = oort.utilities(&known, 1, oort.usual());
        assert_eq!(utilities[37..], [1.0, 1.0, 1.0]);
        assert_eq!(utilities[10], 10.0 / 37.0);
    }

    #[test]
    fn the_useful_are_taken_and_the_slow_are_not() {
        let mut oort = oort(0.0);
        let quick_and_bored = [(0, 0.1, 10, 1.0), (1, 0.1, 10, 1.0)];
        let quick_and_eager = [(2, 2.0, 10, 1.0), (3, 2.0, 10, 1.0)];
        let slow_and_eager = [(4, 2.0, 10, 9.0), (5, 2.0, 10, 9.0)];
        let all = [quick_and_bored, quick_and_eager, slow_and_eager].concat();
        tell(&mut oort, 1, &all);
        let mut picks = [0; 6];
        for seed in 0..200 {
            let picked = pick(&oort, 6, 2, seed);
            assert_eq!(picked.len(), 3);
            picked.iter().for_each(|id| picks[*id as usize] += 1);
        }
        assert_eq!(picks[4..], [0, 0], "{picks:?}");
        let (bored, eager) = (picks[0].max(picks[1]), picks[2].min(picks[3]));
        assert!(eager > 170 && bored < 130, "{picks:?}");
    }

    #[test]
    fn a_share_is_new_and_empty_sides_are_made_up_for() {
        let mut oort = oort(0.5);
        assert_eq!(pick(&oort, 9, 1, 1).len(), 5, "nobody trained yet");
        let told: Vec<_> = (0..4).map(|id| (id, 1.0, 10, 1.0)).collect();
        tell(&mut oort, 1, &told);
        let picked = pick(&oort, 8, 1, 2);
        assert_eq!(picked.iter().filter(|id| **id < 4).count(), 2, "{picked:?}");
        assert_eq!(pick(&oort, 4, 2, 3).len(), 2, "nobody is new");
        assert_eq!(oort.exploration(1), 0.5);
        assert!((oort.exploration(3) - 0.5 * 0.98 * 0.98).abs() < 1e-12);
    }

    #[test]
    fn what_it_knows_can_be_saved() {
        let mut oort = oort(0.3);
        tell(&mut oort, 1, &[(2, f64::NAN, 10, 1.0), (5, 1.0, 3, 0.5)]);
        let mut other = self::oort(0.3);
        other.restore(&oort.save()).unwrap();
        assert_eq!(other.known, oort.known);
        assert!(other.restore(&[9]).is_err());
    }
}
