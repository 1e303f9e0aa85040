//! Which covered devices train, and with which UAV.

use rayon::prelude::*;

use super::answers::Answers;
use super::fitness::{self, Scores};
use crate::scenario::{self, Diversity};
use crate::seed::Random;
use crate::world::{Coverage, DeviceId, UavId, World};
use crate::{Error, checkpoint};

mod adaptive;
mod oort;
mod participation;
mod quota;
mod share;
mod threshold;

pub use adaptive::{Adaptive, AgentView};
pub use oort::Oort;
pub use quota::Quota;
pub use share::{Preference, Share};
pub use threshold::FixedThreshold;
pub(crate) use threshold::above;

pub use crate::vocabulary::Quality;

/// What the controller sees at the start of a global round.
#[non_exhaustive]
pub struct Scene<'a> {
    /// The global round, from 1.
    pub round: usize,
    /// Everybody's place and means.
    pub world: &'a World,
    /// Who covers whom.
    pub coverage: &'a Coverage,
    /// What covered devices said about their data, per UAV; empty unless needed.
    pub answers: &'a [Answers],
    /// How the global model does on the probe samples.
    pub quality: Quality,
}

impl Scene<'_> {
    /// α of every covered device, Eq. (5), per UAV in the order of its coverage.
    #[must_use]
    pub fn fitness(&self, config: &scenario::Fitness) -> Vec<Vec<f64>> {
        let clocks_hz = &self.world.devices.cpu_hz;
        self.fitness_by(config, |_, device| clocks_hz[device.index()])
    }

    /// The same where S^Fre goes by another measure of a device's processor with a UAV than its clock; more is better.
    pub(crate) fn fitness_by(
        &self,
        config: &scenario::Fitness,
        processor: impl Fn(UavId, DeviceId) -> f64 + Sync,
    ) -> Vec<Vec<f64>> {
        let uavs = (0..self.coverage.cells.len()).into_par_iter();
        uavs.map(|uav| self.fitness_with(uav, config, &processor))
            .collect()
    }

    fn fitness_with(
        &self,
        uav: usize,
        config: &scenario::Fitness,
        processor: &impl Fn(UavId, DeviceId) -> f64,
    ) -> Vec<f64> {
        let devices = &self.world.devices;
        let cell = &self.coverage.cells[uav];
        let uav_above = &self.world.uavs[uav];
        let distance_m = |device: &DeviceId| {
            let ground_m = devices.position[device.index()].distance(uav_above.position);
            ground_m.hypot(uav_above.altitude_m)
        };
        let distances_m: Vec<f64> = cell.iter().map(distance_m).collect();
        let processors: Vec<f64> = cell.iter().map(|d| processor(uav_above.id, *d)).collect();
        let scores_for =
            |differences: &[f64]| fitness::scores(differences, &distances_m, &processors);
        let each_by_itself = |scores: &[Scores]| scores.iter().map(|s| s.fitness(config)).collect();
        match (self.answers.get(uav), config.diversity) {
            (None, _) => each_by_itself(&scores_for(&vec![0.0; cell.len()])),
            (Some(answers), Diversity::Paper) => each_by_itself(&scores_for(answers.differences())),
            (Some(answers), Diversity::Marginal) => {
                let waiting = answers.differences().iter().zip(answers.rounds_idle());
                let differences: Vec<f64> = waiting
                    .map(|(difference, rounds)| difference * f64::from(*rounds))
                    .collect();
                fitness::marginal(&scores_for(&differences), answers, config)
            }
        }
    }
}

/// What an association must be shown, because it costs seconds and joules to find out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// What devices say about their data: UAVs train personal models, and devices compare them with their own.
    pub answers: bool,
    /// Rounds after a question to devices in which what they said last will do. With any, nobody is asked in the first round: personal models are
    /// trained while devices train, and nobody waits for them.
    pub spared_rounds: usize,
    /// How edge models do on the probe samples.
    pub edge_models: bool,
    /// How far edge models moved.
    pub moves: bool,
}

/// How training went for one device in a global round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceOutcome {
    /// Which device.
    pub device: DeviceId,
    /// The UAV it trained with.
    pub uav: UavId,
    /// Mean loss of its local steps over all edge rounds.
    pub mean_loss: f64,
    /// Training samples it holds.
    pub samples: u32,
    /// Seconds that one of its edge rounds took, t_dev.
    pub edge_time_s: f64,
}

/// How a global round went for one UAV's cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellOutcome {
    /// Which UAV.
    pub uav: UavId,
    /// Devices that trained.
    pub selected: usize,
    /// The edge model; none without one, or when nobody needs to know.
    pub edge_model: Option<Quality>,
    /// What its edge rounds took from the UAV and its devices, J.
    pub energy_j: f64,
    /// How long they lasted, s.
    pub time_s: f64,
    /// Of that energy, what goes with the number of devices, because they train and share the band, J.
    pub shared_j: f64,
    /// Of that time, the same, s.
    pub shared_s: f64,
    /// Samples behind the edge model.
    pub samples: f64,
    /// How far the edge model is from the model that the UAV began with, ||w_m - w||_2; none without one, or when nobody needs to know.
    pub moved: Option<f64>,
    /// By how much the slowest device would have missed its deadline, had it not been sent away,
    /// relative to the deadline; 0 when nobody would have.
    pub overrun: f64,
}

/// What the controller hears at the end of a global round.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RoundOutcome<'a> {
    /// The global round, from 1.
    pub round: usize,
    /// The global model that the round began with.
    pub before: Quality,
    /// The global model that it ended with.
    pub after: Quality,
    /// Devices that some UAV covered.
    pub covered: usize,
    /// What the round took, J, without flights and leaks: those do not follow from who is chosen.
    pub energy_j: f64,
    /// How long it lasted, s, without flights.
    pub time_s: f64,
    /// How far the global model moved, ||w_g - w_(g-1)||_2.
    pub model_change: f64,
    /// Every UAV's cell, by id.
    pub cells: &'a [CellOutcome],
    /// Everybody who trained, except under UAVs that went down: nobody hears from those.
    pub devices: &'a [DeviceOutcome],
}

/// Chooses the devices of every cell.
pub trait Association: Send {
    /// Per UAV, the devices that train with it this round. A device may be chosen by one UAV that
    /// covers it, or by none.
    fn select(&mut self, scene: &Scene, rng: &mut Random) -> Vec<Vec<DeviceId>>;

    /// What it wants to know.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Told at the end of a round how it went.
    fn observe(&mut self, _outcome: &RoundOutcome) {}

    /// What it carries from round to round, see [`checkpoint`].
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes up what [`save`](Self::save) gave.
    ///
    /// # Errors
    /// When that is not the state of such a part.
    fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        checkpoint::expect_nothing("association", saved)
    }
}

/// Every covered device, each with its nearest UAV.
#[derive(Clone, Copy, Debug)]
pub struct All;

impl Association for All {
    fn select(&mut self, scene: &Scene, _: &mut Random) -> Vec<Vec<DeviceId>> {
        nearest_cells(scene)
    }
}

/// A selection that somebody else made.
pub(crate) struct Prescribed {
    /// Per UAV.
    pub(crate) selection: Vec<Vec<DeviceId>>,
}

impl Association for Prescribed {
    fn select(&mut self, _: &Scene, _: &mut Random) -> Vec<Vec<DeviceId>> {
        std::mem::take(&mut self.selection)
    }
}

/// Every covered device with its nearest UAV.
fn nearest_cells(scene: &Scene) -> Vec<Vec<DeviceId>> {
    let mut cells = vec![Vec::new(); scene.world.uavs.len()];
    for (device, nearest) in scene.coverage.nearest.iter().enumerate() {
        if let Some(uav) = nearest {
            cells[uav.index()].push(DeviceId(device as u32));
        }
    }
    cells
}

/// Gives each device to the UAV with which it scores highest among those that want it (ties: the
/// lower id). `scores` are in the order of coverage, `wants` is asked with UAV and score.
fn highest(
    coverage: &Coverage,
    scores: &[Vec<f64>],
    wants: impl Fn(usize, f64) -> bool,
) -> Vec<Vec<(f64, DeviceId)>> {
    let mut best: Vec<Option<(f64, usize)>> = vec![None; coverage.nearest.len()];
    for (uav, (cell, scores)) in coverage.cells.iter().zip(scores).enumerate() {
        for (device, &score) in cell.iter().zip(scores) {
            let best = &mut best[device.index()];
            if wants(uav, score) && best.is_none_or(|(other, _)| score > other) {
                *best = Some((score, uav));
            }
        }
    }
    let mut cells = vec![Vec::new(); coverage.cells.len()];
    for (device, best) in best.into_iter().enumerate() {
        if let Some((score, uav)) = best {
            cells[uav].push((score, DeviceId(device as u32)));
        }
    }
    cells
}

/// Says what is wrong with a selection, if anything: it must be a partition of covered devices.
pub(crate) fn flaw(selection: &[Vec<DeviceId>], coverage: &Coverage) -> Option<String> {
    if selection.len() != coverage.cells.len() {
        return Some(format!(
            "{} cells for {} UAVs",
            selection.len(),
            coverage.cells.len()
        ));
    }
    let mut taken = vec![false; coverage.nearest.len()];
    for (uav, (chosen, covered)) in selection.iter().zip(&coverage.cells).enumerate() {
        for device in chosen {
            if covered.binary_search(device).is_err() {
                return Some(format!(
                    "UAV {uav} selects device {}, which it does not cover",
                    device.0
                ));
            }
            if std::mem::replace(&mut taken[device.index()], true) {
                return Some(format!("device {} is selected twice", device.0));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use crate::seed::{Stream, stream};
    use crate::world::UavId;

    /// A world in which everybody's model differs from a UAV's own by a number of its own, and holds one of three classes.
    fn with_scene<T>(look: impl FnOnce(&Scene) -> T) -> T {
        let scenario = Scenario::default().check().unwrap();
        let world = World::new(&scenario, vec![10; 150], 6_272.0);
        let coverage = world.coverage();
        let answers: Vec<Answers> = coverage
            .cells
            .iter()
            .enumerate()
            .map(|(uav, cell)| {
                let mut answers = Answers::with_capacity(cell.len(), 3);
                for device in cell {
                    let difference = f64::from(device.0 * 7 % 13) + uav as f64;
                    let classes = [0, 1, 2].map(|class| f64::from(u8::from(device.0 % 3 == class)));
                    answers.push(difference, 1, &classes);
                }
                answers
            })
            .collect();
        look(&Scene {
            round: 1,
            world: &world,
            coverage: &coverage,
            answers: &answers,
            quality: Quality::default(),
        })
    }

    fn every_kind() -> Vec<Box<dyn Association>> {
        let scenario = Scenario::default().check().unwrap();
        let (share, fitness) = (0.2, scenario.fitness);
        let by = |preference| Box::new(Share { preference, share });
        vec![
            Box::new(All),
            by(Preference::Random),
            by(Preference::Fitness(fitness.distance_alone())),
            by(Preference::Fitness(fitness.difference_alone())),
            Box::new(FixedThreshold {
                threshold: 0.4,
                fitness,
            }),
            Box::new(Adaptive::new(&scenario)),
            Box::new(Oort::new(share, &scenario.methods.oort)),
        ]
    }

    #[test]
    fn every_selection_is_a_partition_of_covered_devices() {
        with_scene(|scene| {
            for mut association in every_kind() {
                let cells = association.select(scene, &mut stream(1, Stream::Association, 1, 0));
                assert_eq!(flaw(&cells, scene.coverage), None);
                assert!(cells.iter().any(|cell| !cell.is_empty()));
            }
        });
    }

    #[test]
    fn all_takes_every_covered_device_and_a_share_takes_its_share() {
        with_scene(|scene| {
            let mut rng = stream(1, Stream::Association, 1, 0);
            let mut count = |association: &mut dyn Association| -> usize {
                let cells = association.select(scene, &mut rng);
                cells.iter().map(Vec::len).sum()
            };
            let covered = scene.coverage.covered();
            assert_eq!(count(&mut All), covered);
            let fitness = scenario::Fitness::default();
            for preference in [
                Preference::Random,
                Preference::Fitness(fitness.distance_alone()),
                Preference::Fitness(fitness.difference_alone()),
            ] {
                let share = 0.3;
                let taken = count(&mut Share { preference, share });
                // Rounded up in each of five cells.
                let exact = 0.3 * covered as f64;
                assert!((exact..exact + 5.0).contains(&(taken as f64)), "{taken}");
            }
        });
    }

    #[test]
    fn a_share_by_distance_holds_nobody_farther_than_those_left_out() {
        with_scene(|scene| {
            let by_distance = scenario::Fitness::default().distance_alone();
            let mut nearest = Share {
                preference: Preference::Fitness(by_distance),
                share: 0.4,
            };
            let cells = nearest.select(scene, &mut stream(1, Stream::Association, 1, 0));
            let scores = scene.fitness(&by_distance);
            for (uav, cell) in cells.iter().enumerate() {
                let score = |device: &DeviceId| {
                    let at = scene.coverage.cells[uav].binary_search(device).unwrap();
                    scores[uav][at]
                };
                let worst_in = cell.iter().map(score).fold(1.0, f64::min);
                let only_mine = |device: &&DeviceId| {
                    let covers = |c: &&Vec<DeviceId>| c.binary_search(device).is_ok();
                    scene.coverage.cells.iter().filter(covers).count() == 1
                };
                let left_out = scene.coverage.cells[uav].iter().filter(only_mine);
                let mut left_out = left_out.filter(|device| cell.binary_search(device).is_err());
                assert!(left_out.all(|device| score(device) <= worst_in));
            }
        });
    }

    /// One UAV's devices 0, 3, 6, ... hold the same class: by themselves they may be the best, together they are not.
    #[test]
    fn marginal_fitness_takes_one_of_each_class_and_the_papers_does_not() {
        with_scene(|scene| {
            let classes_of_best = |diversity: Diversity| {
                let weights = scenario::Fitness {
                    diversity,
                    ..scenario::Fitness::default().difference_alone()
                };
                let spread = |(cell, alphas): (&Vec<DeviceId>, Vec<f64>)| {
                    let mut ranked: Vec<(f64, u32)> = alphas
                        .into_iter()
                        .zip(cell.iter().map(|d| d.0 % 3))
                        .collect();
                    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
                    let best: std::collections::BTreeSet<u32> =
                        ranked[..3].iter().map(|(_, class)| *class).collect();
                    best.len()
                };
                let fitness = scene.fitness(&weights);
                let cells = scene.coverage.cells.iter().zip(fitness);
                cells.map(spread).collect::<Vec<usize>>()
            };
            assert_eq!(classes_of_best(Diversity::Marginal), [3; 5]);
            assert_ne!(classes_of_best(Diversity::Paper), [3; 5]);
        });
    }

    #[test]
    fn who_has_not_trained_for_long_comes_first() {
        with_scene(|scene| {
            let of_cell = |cell: &Vec<DeviceId>| {
                let mut answers = Answers::with_capacity(cell.len(), 2);
                for (place, device) in cell.iter().enumerate() {
                    let classes = [f64::from(device.0 % 2), f64::from((device.0 + 1) % 2)];
                    answers.push(1.0, if place == 2 { 3 } else { 1 }, &classes);
                }
                answers
            };
            let answers: Vec<Answers> = scene.coverage.cells.iter().map(of_cell).collect();
            let scene = Scene {
                answers: &answers,
                ..*scene
            };
            let by_data = scenario::Fitness::default().difference_alone();
            for alphas in scene.fitness(&by_data) {
                // The first of them counts in full; another with its classes adds nothing, others a third.
                let most_of_others = alphas.iter().enumerate().filter(|(place, _)| *place != 2);
                let most_of_others = most_of_others.map(|(_, alpha)| *alpha).fold(0.0, f64::max);
                assert!((alphas[2] - 1.0).abs() < 1e-12, "{alphas:?}");
                assert!((most_of_others - 1.0 / 3.0).abs() < 1e-12, "{alphas:?}");
            }
        });
    }

    /// Two UAVs cover device 1: it goes where it scores higher, if that UAV wants it at all.
    #[test]
    fn a_device_that_two_want_goes_to_the_higher_score() {
        let id = DeviceId;
        let coverage = Coverage {
            cells: vec![vec![id(0), id(1)], vec![id(1), id(2)]],
            nearest: vec![Some(UavId(0)), Some(UavId(0)), Some(UavId(1))],
        };
        let ids = |cells: Vec<Vec<(f64, DeviceId)>>| -> Vec<Vec<u32>> {
            let numbers = |cell: Vec<(f64, DeviceId)>| cell.iter().map(|(_, d)| d.0).collect();
            cells.into_iter().map(numbers).collect()
        };
        let scores = [vec![0.5, 0.6], vec![0.7, 0.2]];
        let at_least = |beta: [f64; 2]| ids(highest(&coverage, &scores, |uav, s| s >= beta[uav]));
        assert_eq!(at_least([0.0, 0.0]), [vec![0], vec![1, 2]]);
        assert_eq!(at_least([0.55, 0.5]), [vec![], vec![1]]);
        assert_eq!(at_least([0.0, 0.8]), [vec![0, 1], vec![]]);
        let equal = [vec![0.5, 0.6], vec![0.6, 0.2]];
        assert_eq!(
            ids(highest(&coverage, &equal, |_, _| true)),
            [vec![0, 1], vec![2]]
        );
    }

    #[test]
    fn flaws_are_found() {
        let id = DeviceId;
        let coverage = Coverage {
            cells: vec![vec![id(0), id(1)], vec![id(1)]],
            nearest: vec![Some(UavId(0)), Some(UavId(0))],
        };
        assert_eq!(flaw(&[vec![id(0)], vec![id(1)]], &coverage), None);
        assert!(flaw(&[vec![id(0)]], &coverage).is_some());
        assert!(flaw(&[vec![], vec![id(0)]], &coverage).is_some());
        assert!(flaw(&[vec![id(1)], vec![id(1)]], &coverage).is_some());
    }
}
