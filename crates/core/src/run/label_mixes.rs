//! Which classes devices hold, as far as UAVs have heard.

use crate::learn::Task;

/// Training samples by device and class. A device that never told counts as having some of all classes.
pub(super) struct LabelMixes {
    classes: usize,
    /// Device after device; empty where nobody told anything.
    samples: Vec<f32>,
    /// Samples of each device, where nobody told anything.
    held: Vec<f32>,
    total: Vec<f64>,
}

impl LabelMixes {
    /// `outputs` are softmax outputs of each device's last local model on samples of its own, empty before it trained. Their mean is
    /// about its mix of labels: a local model knows the labels that it was trained on.
    pub(super) fn new(task: &Task, outputs: &[Vec<f32>]) -> Self {
        Self::of(&task.device_samples, task.classes, outputs)
    }

    /// The same of devices with so many samples of so many classes.
    pub(super) fn of(device_samples: &[u32], classes: usize, outputs: &[Vec<f32>]) -> Self {
        let held: Vec<f32> = device_samples.iter().map(|&n| n as f32).collect();
        if outputs.len() != held.len() || outputs.iter().all(Vec::is_empty) {
            let total = vec![held.iter().map(|&samples| f64::from(samples)).sum()];
            return Self {
                classes: 1,
                samples: Vec::new(),
                held,
                total,
            };
        }
        let classes = classes.max(1);
        let mut samples = vec![0.0; held.len() * classes];
        let mut total = vec![0.0; classes];
        let rows = samples.chunks_exact_mut(classes).zip(outputs).zip(&held);
        for ((row, outputs), held) in rows {
            let told = (outputs.len() / classes) as f32;
            for output in outputs.chunks_exact(classes) {
                let each = row.iter_mut().zip(output);
                each.for_each(|(sum, output)| *sum += output * held / told);
            }
            if told == 0.0 {
                row.fill(held / classes as f32);
            }
            for (total, samples) in total.iter_mut().zip(row) {
                *total += f64::from(*samples);
            }
        }
        Self {
            classes,
            samples,
            held,
            total,
        }
    }

    /// Samples of each class on all devices.
    pub(super) fn total(&self) -> &[f64] {
        &self.total
    }

    /// Adds a device's samples of each class, so many times.
    pub(super) fn add_to(&self, sums: &mut [f64], device: u32, times: f64) {
        let device = device as usize;
        match self.samples.get(device * self.classes..) {
            Some(rest) if !rest.is_empty() => {
                let row = sums.iter_mut().zip(&rest[..self.classes]);
                row.for_each(|(sum, samples)| *sum += times * f64::from(*samples));
            }
            _ => sums[0] += times * f64::from(self.held[device]),
        }
    }
}
