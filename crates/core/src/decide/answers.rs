//! What UAVs hear from devices about their data.

/// What a UAV hears from the devices that it covers, which ran their small batches through the UAV's own model: one array per
/// quantity, in the order of its coverage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// R: how far each device's last local model is from the UAV's own, Eq. (6).
    differences: Vec<f64>,
    /// Rounds since each trained, or since the start if it never did; at least 1.
    rounds_idle: Vec<u32>,
    /// What the UAV's own model takes the small batches for: mean probabilities of the classes, device after device.
    classes: Vec<f64>,
    class_count: usize,
}

impl Answers {
    /// No answers yet, of so many devices that tell of so many classes.
    #[must_use]
    pub fn with_capacity(devices: usize, class_count: usize) -> Self {
        Self {
            differences: Vec::with_capacity(devices),
            rounds_idle: Vec::with_capacity(devices),
            classes: Vec::with_capacity(devices * class_count),
            class_count,
        }
    }

    /// The next device's answer. Classes beyond those that there are do not count, missing ones are 0.
    pub fn push(&mut self, difference: f64, rounds_idle: usize, classes: &[f64]) {
        self.differences.push(difference);
        self.rounds_idle
            .push(u32::try_from(rounds_idle).unwrap_or(u32::MAX));
        let given = classes.len().min(self.class_count);
        self.classes.extend_from_slice(&classes[..given]);
        let whole = self.differences.len() * self.class_count;
        self.classes.resize(whole, 0.0);
    }

    /// How many devices answered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.differences.len()
    }

    /// Whether none did.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.differences.is_empty()
    }

    /// R of each device.
    #[must_use]
    pub fn differences(&self) -> &[f64] {
        &self.differences
    }

    /// Rounds since each device trained.
    #[must_use]
    pub fn rounds_idle(&self) -> &[u32] {
        &self.rounds_idle
    }

    /// The classes of the device at this place.
    #[must_use]
    pub fn classes(&self, place: usize) -> &[f64] {
        &self.classes[place * self.class_count..][..self.class_count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_has_as_many_classes() {
        let mut answers = Answers::with_capacity(3, 2);
        answers.push(0.5, 1, &[0.25, 0.75]);
        answers.push(0.25, 7, &[1.0]);
        answers.push(0.0, usize::MAX, &[0.5, 0.25, 0.25]);
        assert_eq!((answers.len(), answers.is_empty()), (3, false));
        assert_eq!(answers.differences(), [0.5, 0.25, 0.0]);
        assert_eq!(answers.rounds_idle(), [1, 7, u32::MAX]);
        let classes: Vec<&[f64]> = (0..3).map(|place| answers.classes(place)).collect();
        assert_eq!(classes, [[0.25, 0.75], [1.0, 0.0], [0.5, 0.25]]);
    }
}
