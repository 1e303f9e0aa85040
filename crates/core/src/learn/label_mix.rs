//! Which classes a device's samples are of.

use aerofed_data::Dataset;

use crate::vocabulary::DeviceId;

/// How many samples of each class devices hold, for any number of devices: only classes that a device has take room.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LabelMixes {
    /// Where a device's entries begin, and where the last one's end.
    starts: Vec<u32>,
    /// Class and samples of it.
    entries: Vec<(u8, u16)>,
}

impl LabelMixes {
    /// Of samples that are given by their numbers in a set.
    pub(crate) fn of(set: &Dataset, held: &[Vec<u32>]) -> Self {
        let mut mixes = Self {
            starts: vec![0],
            entries: Vec::new(),
        };
        let mut counts = vec![0usize; set.classes()];
        for samples in held {
            for &sample in samples {
                counts[usize::from(set.labels[sample as usize])] += 1;
            }
            mixes.push(&counts);
            counts.fill(0);
        }
        mixes
    }

    /// One more device, with so many samples of each class.
    pub(crate) fn push(&mut self, counts: &[usize]) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        // More than so many samples a class say no more about the mix.
        let most = counts.iter().copied().max().unwrap_or(0);
        let scale = most.div_ceil(usize::from(u16::MAX)).max(1);
        for (class, &count) in (0..=u8::MAX).zip(counts) {
            if count > 0 {
                let samples = (count / scale).max(1) as u16;
                self.entries.push((class, samples));
            }
        }
        self.starts.push(self.entries.len() as u32);
    }

    /// Classes that a device has, each with its share; the shares sum to 1.
    pub(crate) fn shares(&self, device: DeviceId) -> impl Iterator<Item = (usize, f32)> + Clone {
        let (from, to) = (self.starts[device.index()], self.starts[device.index() + 1]);
        let own = &self.entries[from as usize..to as usize];
        let whole: u32 = own.iter().map(|(_, samples)| u32::from(*samples)).sum();
        own.iter()
            .map(move |(class, samples)| (usize::from(*class), f32::from(*samples) / whole as f32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_counts() {
        let mut mixes = LabelMixes::default();
        mixes.push(&[3, 0, 1]);
        mixes.push(&[0, 0, 200_000]);
        mixes.push(&[100_000, 300_000, 1]);
        let shares = |id| mixes.shares(DeviceId(id)).collect::<Vec<_>>();
        assert_eq!(shares(0), [(0, 0.75), (2, 0.25)]);
        assert_eq!(shares(1), [(2, 1.0)]);
        let third = shares(2);
        assert!((third[0].1 - 0.25).abs() < 1e-3, "{third:?}");
        assert!(third[2].1 > 0.0, "a class that is there is not forgotten");
    }
}
