//! The way between sender and receiver, and what senders keep of what did not arrive.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Codec;
use crate::vocabulary::{DeviceId, UavId};

/// Who sends an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Sender {
    /// To its UAV.
    Device(DeviceId),
    /// To the aggregator.
    Uav(UavId),
}

/// What did not arrive yet of the updates of everybody who has sent any; nobody's without error feedback.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Residuals(BTreeMap<Sender, Vec<f32>>);

/// A codec at work.
pub(crate) struct Air {
    codec: Box<dyn Codec>,
    residuals: Residuals,
}

impl Air {
    pub(crate) fn new(codec: Box<dyn Codec>) -> Self {
        Self {
            codec,
            residuals: Residuals::default(),
        }
    }

    /// Whether updates arrive as anything but what they were.
    pub(crate) fn is_lossy(&self) -> bool {
        self.codec.is_lossy()
    }

    /// Turns a model that began from `start` into the one that the receiver has when its update has arrived.
    pub(crate) fn send(&mut self, from: Sender, start: &[f32], model: &mut [f32]) {
        if !self.codec.is_lossy() {
            return;
        }
        let update = model;
        for (value, start) in update.iter_mut().zip(start) {
            *value -= start;
        }
        if self.codec.has_error_feedback() {
            let nothing = || vec![0.0; start.len()];
            let residual = self.residuals.0.entry(from).or_insert_with(nothing);
            for (value, left) in update.iter_mut().zip(residual.iter_mut()) {
                *value += *left;
                *left = *value;
            }
            self.codec.send_update(update);
            for (left, arrived) in residual.iter_mut().zip(update.iter()) {
                let rest = *left - arrived;
                // Training that diverged once is no reason to send nonsense ever after.
                *left = if rest.is_finite() { rest } else { 0.0 };
            }
        } else {
            self.codec.send_update(update);
        }
        for (value, start) in update.iter_mut().zip(start) {
            *value += start;
        }
    }

    /// Turns a model into what everybody has of it who gets it.
    pub(crate) fn send_model(&mut self, model: &mut [f32]) {
        self.codec.send_model(model);
    }

    /// What senders keep.
    pub(crate) fn residuals(&self) -> &Residuals {
        &self.residuals
    }

    /// Whether these can be what so many devices and UAVs keep of updates of so many parameters.
    pub(crate) fn could_have_kept(
        &self,
        residuals: &Residuals,
        devices: usize,
        uavs: usize,
        parameters: usize,
    ) -> bool {
        let fits = |(sender, residual): (&Sender, &Vec<f32>)| {
            let known = match sender {
                Sender::Device(id) => id.index() < devices,
                Sender::Uav(id) => id.index() < uavs,
            };
            known && residual.len() == parameters && residual.iter().all(|left| left.is_finite())
        };
        let all = &residuals.0;
        all.is_empty() || self.codec.has_error_feedback() && all.iter().all(fits)
    }

    /// Takes up what [`residuals`](Self::residuals) gave.
    pub(crate) fn restore(&mut self, residuals: Residuals) {
        self.residuals = residuals;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{F16, Int8, TopK};
    use super::*;

    const DEVICE: Sender = Sender::Device(DeviceId(0));

    /// An update that is new in every round, of `size` numbers.
    fn update(round: usize, size: usize) -> Vec<f32> {
        let value = |i: usize| ((round * 37 + i * 101) % 199) as f32 / 99.0 - 1.0 + 0.01 * i as f32;
        (0..size).map(value).collect()
    }

    /// How far what arrived in many rounds is from what was sent, in the number where that is worst.
    fn backlog(codec: impl Codec + 'static, rounds: usize) -> f64 {
        let size = 300;
        let mut air = Air::new(Box::new(codec));
        let mut behind = vec![0.0f64; size];
        for round in 0..rounds {
            let mut model = update(round, size);
            for (sum, value) in behind.iter_mut().zip(&model) {
                *sum += f64::from(*value);
            }
            air.send(DEVICE, &vec![0.0; size], &mut model);
            for (sum, value) in behind.iter_mut().zip(&model) {
                *sum -= f64::from(*value);
            }
        }
        behind.iter().fold(0.0, |most, left| most.max(left.abs()))
    }

    /// With error feedback the sum of what arrived follows the sum of what was sent: what is behind does not grow. Without, most
    /// of a sparse update is lost for good.
    #[test]
    fn with_error_feedback_nothing_is_lost_for_good() {
        let top = |feedback| TopK::new(0.1, feedback);
        assert!(backlog(top(true), 2000) < 1.2 * backlog(top(true), 400));
        assert!(backlog(top(false), 2000) > 4.0 * backlog(top(false), 400));
        let eight = |error_feedback| Int8 { error_feedback };
        assert!(backlog(eight(true), 2000) < 0.05);
        assert!(backlog(eight(false), 2000) > 4.0 * backlog(eight(true), 2000));
    }

    /// Two sendings by hand, of half the numbers: [1, 3] leaves [1, 0]; [1.5, 2] and that make [2.5, 2], of which 2.5 is sent.
    #[test]
    fn two_sendings_worked_by_hand() {
        let mut air = Air::new(Box::new(TopK::new(0.5, true)));
        let start = [10.0, 20.0];
        let mut model = [11.0, 23.0];
        air.send(DEVICE, &start, &mut model);
        assert_eq!(model, [10.0, 23.0]);
        assert_eq!(air.residuals.0[&DEVICE], [1.0, 0.0]);
        let mut other = [11.0, 20.5];
        air.send(Sender::Uav(UavId(0)), &start, &mut other);
        assert_eq!(other, [11.0, 20.0], "everybody keeps their own");
        let mut model = [11.5, 22.0];
        air.send(DEVICE, &start, &mut model);
        assert_eq!(model, [12.5, 20.0]);
        assert_eq!(air.residuals.0[&DEVICE], [0.0, 2.0]);
    }

    #[test]
    fn diverged_training_is_seen_and_forgotten() {
        let codecs: [Box<dyn Codec>; 3] = [
            Box::new(F16),
            Box::new(Int8 {
                error_feedback: true,
            }),
            Box::new(TopK::new(0.5, true)),
        ];
        for codec in codecs {
            let mut air = Air::new(codec);
            let start = [1.0, 2.0];
            for odd in [f32::NAN, f32::INFINITY] {
                let mut model = [odd, 3.0];
                air.send(DEVICE, &start, &mut model);
                assert!(!model[0].is_finite());
                assert!(air.residuals.0.values().flatten().all(|r| r.is_finite()));
            }
            let mut model = [1.5, 2.5];
            air.send(DEVICE, &start, &mut model);
            assert!(model.iter().all(|value| value.is_finite()), "{model:?}");
        }
    }

    #[test]
    fn what_others_kept_is_refused() {
        let mut air = Air::new(Box::new(TopK::new(0.5, true)));
        air.send(DEVICE, &[0.0, 0.0], &mut [1.0, 2.0]);
        let fits = |air: &Air, kept: &Residuals| air.could_have_kept(kept, 1, 1, 2);
        let kept = air.residuals().clone();
        assert!(fits(&air, &kept) && fits(&air, &Residuals::default()));
        let with = |sender, residual| {
            let mut other = kept.clone();
            other.0.insert(sender, residual);
            other
        };
        for (sender, residual) in [
            (Sender::Device(DeviceId(1)), vec![0.0; 2]),
            (Sender::Uav(UavId(1)), vec![0.0; 2]),
            (DEVICE, vec![0.0; 3]),
            (DEVICE, vec![0.0, f32::NAN]),
        ] {
            assert!(!fits(&air, &with(sender, residual)));
        }
        assert!(!fits(&Air::new(Box::new(F16)), &kept));
    }
}
