//! Which classes a device's samples are of.

use std::collections::HashMap;

use aerofed_data::Dataset;
use rayon::prelude::*;

use super::holdings::DeviceSamples;
use crate::vocabulary::DeviceId;

/// How many samples of each class devices hold, for any number of devices: a mix that many have is there once, and only classes
/// that it has take room.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LabelMixes {
    /// The mix of each device.
    of_device: Vec<u32>,
    /// Where a mix's entries begin, and where the last one's end.
    starts: Vec<u32>,
    /// Class and samples of it.
    entries: Vec<(u8, u16)>,
}

/// Mixes by what they hold, while they are collected.
type Known = HashMap<Vec<(u8, u16)>, u32>;

/// Devices whose samples are looked at in one go.
const AT_ONCE: usize = 1 << 16;

impl LabelMixes {
    /// Of samples that are given by their numbers in a set.
    pub(crate) fn of(set: &Dataset, held: &[Vec<u32>]) -> Self {
        let (mut mixes, mut known) = (Self::default(), Known::new());
        for samples in held {
            mixes.push(mix_of(set, samples), &mut known);
        }
        mixes
    }

    /// Of devices.
    pub(crate) fn of_devices(set: &Dataset, held: &DeviceSamples) -> Self {
        let (mut mixes, mut known) = (Self::default(), Known::new());
        let all = held.len();
        for from in (0..all).step_by(AT_ONCE) {
            let some = (from..all.min(from + AT_ONCE)).into_par_iter();
            let some = some.map(|id| mix_of(set, &held.of(DeviceId(id as u32))));
            for mix in some.collect::<Vec<_>>() {
                mixes.push(mix, &mut known);
            }
        }
        mixes
    }

    /// One more device, with this mix.
    fn push(&mut self, mix: Vec<(u8, u16)>, known: &mut Known) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        let next = known.len() as u32;
        let number = *known.entry(mix).or_insert_with_key(|mix| {
            self.entries.extend_from_slice(mix);
            self.starts.push(self.entries.len() as u32);
            next
        });
        self.of_device.push(number);
    }

    /// How many different mixes there are.
    pub(crate) fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// What tells a device's mix from others; devices with the same number have the same mix.
    pub(crate) fn number(&self, device: DeviceId) -> u32 {
        self.of_device[device.index()]
    }

    /// Classes that a device has, each with its share; the shares sum to 1.
    pub(crate) fn shares(&self, device: DeviceId) -> impl Iterator<Item = (usize, f32)> + Clone {
        let mix = self.number(device) as usize;
        let (from, to) = (self.starts[mix], self.starts[mix + 1]);
        let own = &self.entries[from as usize..to as usize];
        let whole: u32 = own.iter().map(|(_, samples)| u32::from(*samples)).sum();
        own.iter()
            .map(move |(class, samples)| (usize::from(*class), f32::from(*samples) / whole as f32))
    }
}

/// Class and samples of it, of the classes that there are.
fn mix_of(set: &Dataset, samples: &[u32]) -> Vec<(u8, u16)> {
    let mut counts = vec![0; set.classes()];
    for &sample in samples {
        counts[usize::from(set.labels[sample as usize])] += 1;
    }
    entries(&counts)
}

fn entries(counts: &[usize]) -> Vec<(u8, u16)> {
    // More than so many samples a class say no more about the mix.
    let most = counts.iter().copied().max().unwrap_or(0);
    let scale = most.div_ceil(usize::from(u16::MAX)).max(1);
    let there = (0..=u8::MAX).zip(counts).filter(|(_, count)| **count > 0);
    there
        .map(|(class, &count)| (class, (count / scale).max(1) as u16))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_counts() {
        let (mut mixes, mut known) = (LabelMixes::default(), Known::new());
        let counts = [
            [3, 0, 1],
            [0, 0, 200_000],
            [100_000, 300_000, 1],
            [3, 0, 1],
            [6, 0, 2],
        ];
        for counts in counts {
            mixes.push(entries(&counts), &mut known);
        }
        let shares = |id| mixes.shares(DeviceId(id)).collect::<Vec<_>>();
        assert_eq!(shares(0), [(0, 0.75), (2, 0.25)]);
        assert_eq!(shares(1), [(2, 1.0)]);
        let third = shares(2);
        assert!((third[0].1 - 0.25).abs() < 1e-3, "{third:?}");
        assert!(third[2].1 > 0.0, "a class that is there is not forgotten");
        let numbers: Vec<u32> = (0..5).map(|id| mixes.number(DeviceId(id))).collect();
        assert_eq!(numbers, [0, 1, 2, 0, 3]);
        assert_eq!(shares(3), shares(4));
    }
}
