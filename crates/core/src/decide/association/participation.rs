//! How many devices train, all cells together.
//!
//! More devices make a merged update less noisy, and a round dearer. Let G be the update that everybody together would make, and S the variance of
//! single devices around it. The merged update of n devices has the mean square length |G|^2 + S / n, of which S / n is noise, so that it takes
//! in proportion to 1 + k S / (n |G|^2) rounds to get as far (for SGD: McCandlish et al., An Empirical Model of Large-Batch Training, 2018). Each round costs
//! f + c n. The product of both is least for
//!
//! ```text
//! n = sqrt(k S f / (|G|^2 c))
//! ```
//!
//! The aggregator estimates S and |G|^2 from what it gets anyway: edge models. With weights p_m, s the sum of p_m^2, q that of p_m |w_m - w|^2, and r = |w' - w|^2
//! of the new global model w', the noise of the merged update is S / n = s (q - r) / (1 - s), and |G|^2 = r - S / n. Both are smoothed over some
//! rounds, as shares of q, because updates become shorter. f and c come from the books.
//!
//! Early rounds, in which everything is progress, would ask for too few, and late ones, in which nothing is, for everybody. So n stays between
//! [`LEAST`] and [`MOST`] times the number of UAVs.

use serde::{Deserialize, Serialize};

use super::{CellOutcome, RoundOutcome};
use crate::scenario::ValidScenario;

/// Devices for each UAV at least, and in the first round, when nothing is known.
const LEAST: f64 = 4.0;
/// Devices for each UAV at most.
const MOST: f64 = 12.0;
/// What a round counts in smoothed values.
const SMOOTHING: f64 = 0.3;
/// The least share of a merged update's square length that is taken not to be noise.
const LEAST_SIGNAL: f64 = 0.02;
/// The least share of a round's cost that is taken not to go with the number of devices.
const LEAST_FIXED: f64 = 0.01;
/// The number of devices grows or shrinks at most by this factor from round to round.
const MOST_CHANGE: f64 = 2.0;

/// How many devices should train: a constant share, or as many as rounds so far tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Participation {
    /// Where it is constant.
    share: f64,
    /// k; 0: it is constant.
    noise_weight: f64,
    energy_weight: f64,
    time_weight: f64,
    /// Smoothed, as shares of q: S and |G|^2.
    spread: Option<(f64, f64)>,
    /// Smoothed: f and c.
    cost: Option<(f64, f64)>,
    /// n.
    devices: Option<f64>,
}

impl Participation {
    pub(super) fn new(scenario: &ValidScenario) -> Self {
        Self {
            share: scenario.selection.share,
            noise_weight: scenario.selection.noise_weight,
            energy_weight: scenario.weights.energy,
            time_weight: scenario.weights.time,
            spread: None,
            cost: None,
            devices: None,
        }
    }

    /// Whether it follows from what rounds tell.
    pub(super) fn is_measured(&self) -> bool {
        self.noise_weight > 0.0
    }

    /// The share of the devices that UAVs cover; of `covered`, only the numbers count.
    pub(super) fn share(&self, covered: &[Vec<f64>]) -> f64 {
        if !self.is_measured() {
            return self.share;
        }
        let cells = covered.iter().filter(|cell| !cell.is_empty()).count();
        let devices = self.devices.unwrap_or(LEAST * cells as f64);
        let covered: usize = covered.iter().map(Vec::len).sum();
        (devices / covered.max(1) as f64).min(1.0)
    }

    /// Learns from a round. One in which less than two edge models were merged says nothing.
    pub(super) fn observe(&mut self, outcome: &RoundOutcome) {
        let trained: usize = outcome.cells.iter().map(|cell| cell.selected).sum();
        let Some(noise) = Noise::of(outcome).filter(|_| self.is_measured() && trained > 0) else {
            return;
        };
        let n = trained as f64;
        let (spread, signal) = smooth(&mut self.spread, (n * noise.noise, noise.signal));
        let costs = self.costs(outcome, n);
        let (fixed, each) = smooth(&mut self.cost, costs);
        let signal = signal.max(LEAST_SIGNAL * (signal + spread / n));
        let best = (self.noise_weight * spread / signal * fixed / each).sqrt();
        let before = self.devices.unwrap_or(n);
        // Not clamp: what a damaged checkpoint says may be no number.
        let best = best.max(before / MOST_CHANGE).min(before * MOST_CHANGE);
        let uavs = outcome.cells.len() as f64;
        let best = best.max(LEAST * uavs).min(MOST * uavs);
        if best.is_finite() {
            self.devices = Some(best);
        }
    }

    /// f and c of a round in which n devices trained.
    fn costs(&self, outcome: &RoundOutcome, n: f64) -> (f64, f64) {
        let weigh =
            |joules: f64, seconds: f64| self.energy_weight * joules + self.time_weight * seconds;
        let shared_j: f64 = outcome.cells.iter().map(|cell| cell.shared_j).sum();
        let shared_s = outcome.cells.iter().map(|cell| cell.shared_s);
        let shared = weigh(shared_j, shared_s.fold(0.0, f64::max));
        let all = weigh(outcome.energy_j, outcome.time_s);
        ((all - shared).max(LEAST_FIXED * all), shared / n)
    }
}

/// What of a merged update is noise and what is not, as shares of the mean square length of edge updates.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Noise {
    noise: f64,
    signal: f64,
}

impl Noise {
    fn of(outcome: &RoundOutcome) -> Option<Self> {
        let merged = || {
            let moved = |cell: &CellOutcome| Some((cell.samples, cell.moved?));
            outcome.cells.iter().filter_map(moved)
        };
        let samples: f64 = merged().map(|(samples, _)| samples).sum();
        let (mut q, mut s) = (0.0, 0.0);
        for (own, moved) in merged() {
            let p = own / samples;
            q += p * moved * moved;
            s += p * p;
        }
        let r = outcome.model_change.powi(2);
        let tells = q > 0.0 && q.is_finite() && r > 0.0 && r.is_finite() && s < 1.0;
        tells.then(|| {
            let noise = (s * (q - r) / (1.0 - s)).clamp(0.0, r);
            Self {
                noise: noise / q,
                signal: (r - noise) / q,
            }
        })
    }
}

fn smooth(so_far: &mut Option<(f64, f64)>, now: (f64, f64)) -> (f64, f64) {
    let value = so_far.get_or_insert(now);
    value.0 += SMOOTHING * (now.0 - value.0);
    value.1 += SMOOTHING * (now.1 - value.1);
    *value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use crate::vocabulary::Quality;
    use crate::world::UavId;

    fn participation(settings: &[&str]) -> Participation {
        Participation::new(&Scenario::parse("", settings).unwrap().check().unwrap())
    }

    /// Two cells with as many samples and ten devices each; of 500 J and 4 s, 100 J and 2 s go with them.
    fn cells(moved: [Option<f64>; 2]) -> [CellOutcome; 2] {
        let mut uav = 0;
        moved.map(|moved| {
            uav += 1;
            CellOutcome {
                uav: UavId(uav - 1),
                selected: 10,
                edge_model: None,
                energy_j: 200.0,
                time_s: 3.0,
                shared_j: 50.0,
                shared_s: 2.0,
                samples: 40.0,
                moved,
                overrun: 0.0,
            }
        })
    }

    fn outcome(cells: &[CellOutcome], model_change: f64) -> RoundOutcome<'_> {
        let quality = Quality {
            loss: 1.0,
            accuracy: 0.5,
        };
        RoundOutcome {
            round: 1,
            before: quality,
            after: quality,
            covered: 80,
            energy_j: 500.0,
            time_s: 4.0,
            model_change,
            cells,
            devices: &[],
        }
    }

    /// By hand: updates of length 1 at a right angle, s = 1/2, q = 1. Their mean has r = 1/2, all of it noise: (1 - 1/2) (1/2) / (1/2).
    /// At 60 degrees r = 3/4: the noise is 1/4, and 1/2 is not.
    #[test]
    fn noise_is_what_edge_updates_do_not_have_in_common() {
        let cells = cells([Some(1.0), Some(1.0)]);
        let noise = |r: f64| Noise::of(&outcome(&cells, r.sqrt())).unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(noise(0.5).noise, 0.5);
        close(noise(0.5).signal, 0.0);
        close(noise(0.75).noise, 0.25);
        close(noise(0.75).signal, 0.5);
        close(noise(1.0).noise, 0.0);
    }

    /// By hand: S = 20 x 1/4, |G|^2 = 1/2, f = 0.5 x (500 - 100) + 0.5 x (4 - 2) = 201, c = 0.5 x (100 + 2) / 20 = 2.55: with k = 1/2 it is
    /// sqrt(10 x 201 / 2.55 / 2) = 19.9 devices of 80.
    #[test]
    fn the_number_of_devices_worked_by_hand() {
        let mut measured = participation(&["selection.noise_weight=0.5"]);
        let covered = [vec![0.0; 50], vec![0.0; 30], vec![]];
        assert_eq!(measured.share(&covered), 8.0 / 80.0, "four for each UAV");
        measured.observe(&outcome(&cells([Some(1.0), Some(1.0)]), 0.75f64.sqrt()));
        let expected = (0.5f64 * 10.0 * 201.0 / 2.55).sqrt() / 80.0;
        assert!((measured.share(&covered) - expected).abs() < 1e-12);
        let mut constant = participation(&["selection.noise_weight=0"]);
        constant.observe(&outcome(&cells([Some(1.0), Some(1.0)]), 0.75f64.sqrt()));
        assert_eq!(constant.share(&covered), 0.2);
    }

    /// Nothing but noise would ask for everybody at once, and nothing but signal for nobody: from 20 devices of two UAVs to 12 for each, and to
    /// half as many, then 4 for each.
    #[test]
    fn the_number_changes_step_by_step_within_bounds() {
        let two = cells([Some(1.0), Some(1.0)]);
        for (r, devices) in [(0.5f64, [24.0, 24.0]), (1.0, [10.0, 8.0])] {
            let mut measured = participation(&["selection.noise_weight=2"]);
            for devices in devices {
                measured.observe(&outcome(&two, r.sqrt()));
                assert_eq!(measured.devices, Some(devices));
            }
        }
    }

    #[test]
    fn a_round_that_tells_nothing_changes_nothing() {
        let before = participation(&[]);
        assert!(before.is_measured());
        for (moved, model_change) in [
            ([None, None], 1.0),
            ([Some(1.0), None], 1.0),
            ([Some(0.0), Some(0.0)], 0.0),
            ([Some(f64::NAN), Some(1.0)], 1.0),
            ([Some(1.0), Some(1.0)], f64::INFINITY),
        ] {
            let mut after = before.clone();
            after.observe(&outcome(&cells(moved), model_change));
            assert_eq!(after, before, "{moved:?}");
        }
    }
}
