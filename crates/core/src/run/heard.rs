//! What devices said about their data when they were last asked, for the rounds in which nobody asks.

use serde::{Deserialize, Serialize};

use crate::decide::Answers;
use crate::vocabulary::DeviceId;
use crate::world::Coverage;

/// The last answer of each device, to the UAV nearest to it. Flat arrays, because there may be a million devices; empty before the first answer.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Heard {
    /// R; not a number before the device was asked.
    differences: Vec<f32>,
    /// Mean probabilities of the classes, device after device.
    classes: Vec<f32>,
}

impl Heard {
    /// Whether it is of so many devices and classes, or empty.
    pub(super) fn is_of(&self, devices: usize, classes: usize) -> bool {
        let (heard, probabilities) = (self.differences.len(), self.classes.len());
        (heard == 0 || heard == devices) && probabilities == heard * classes
    }

    /// Keeps what each UAV was told by the devices that it is nearest to.
    pub(super) fn keep(&mut self, coverage: &Coverage, answers: &[Answers], classes: usize) {
        let devices = coverage.nearest.len();
        self.differences.resize(devices, f32::NAN);
        self.classes.resize(devices * classes, 0.0);
        for (uav, (cell, answers)) in (0..).zip(coverage.cells.iter().zip(answers)) {
            let is_nearest = |device: DeviceId| {
                coverage.nearest[device.index()].is_some_and(|nearest| nearest.0 == uav)
            };
            for (place, device) in cell.iter().enumerate() {
                if is_nearest(*device) {
                    let index = device.index();
                    self.differences[index] = answers.differences()[place] as f32;
                    let kept = &mut self.classes[index * classes..][..classes];
                    for (kept, said) in kept.iter_mut().zip(answers.classes(place)) {
                        *kept = *said as f32;
                    }
                }
            }
        }
    }

    /// What is known of a cell without asking. A device that was not asked yet counts as the average one: the mean difference of the others
    /// (1 where there are none), all classes alike.
    pub(super) fn recall(
        &self,
        cell: &[DeviceId],
        classes: usize,
        idle: impl Fn(DeviceId) -> usize,
    ) -> Answers {
        let difference_of = |device: &DeviceId| {
            let said = self.differences.get(device.index()).copied();
            said.filter(|said| !said.is_nan()).map(f64::from)
        };
        let (sum, known) = cell
            .iter()
            .filter_map(difference_of)
            .fold((0.0, 0usize), |(sum, known), said| (sum + said, known + 1));
        let average = if known > 0 { sum / known as f64 } else { 1.0 };
        let mut answers = Answers::with_capacity(cell.len(), classes);
        let mut said = vec![0.0; classes];
        for device in cell {
            let difference = difference_of(device);
            if difference.is_some() {
                let kept = &self.classes[device.index() * classes..][..classes];
                for (said, kept) in said.iter_mut().zip(kept) {
                    *said = f64::from(*kept);
                }
            } else {
                said.fill(1.0 / classes as f64);
            }
            answers.push(difference.unwrap_or(average), idle(*device), &said);
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::UavId;

    fn told(said: &[(f64, [f64; 2])]) -> Answers {
        let mut answers = Answers::with_capacity(said.len(), 2);
        for (difference, classes) in said {
            answers.push(*difference, 1, classes);
        }
        answers
    }

    /// Two UAVs and four devices; both cover device 1, which is nearer to the second, and nobody covers device 3.
    #[test]
    fn the_nearest_uavs_answer_counts_and_who_was_not_asked_is_average() {
        let devices = |numbers: &[u32]| numbers.iter().map(|n| DeviceId(*n)).collect::<Vec<_>>();
        let coverage = Coverage {
            cells: vec![devices(&[0, 1]), devices(&[1, 2])],
            nearest: vec![Some(UavId(0)), Some(UavId(1)), Some(UavId(1)), None],
        };
        let first = told(&[(0.5, [1.0, 0.0]), (9.0, [0.0, 1.0])]);
        let second = told(&[(0.25, [0.25, 0.75]), (0.75, [0.5, 0.5])]);
        let mut heard = Heard::default();
        assert!(heard.is_of(4, 2));
        heard.keep(&coverage, &[first, second], 2);
        assert!(heard.is_of(4, 2) && !heard.is_of(3, 2) && !heard.is_of(4, 3));

        let known = heard.recall(&devices(&[0, 1, 2, 3]), 2, |device| 1 + device.index());
        assert_eq!(known.differences(), [0.5, 0.25, 0.75, 0.5]);
        assert_eq!(known.rounds_idle(), [1, 2, 3, 4]);
        let classes: Vec<&[f64]> = (0..4).map(|place| known.classes(place)).collect();
        assert_eq!(classes, [[1.0, 0.0], [0.25, 0.75], [0.5, 0.5], [0.5, 0.5]]);
        let nothing = Heard::default().recall(&devices(&[2]), 2, |_| 1);
        assert_eq!(nothing.differences(), [1.0]);
    }
}
