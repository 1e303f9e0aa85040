//! Samples into lanes. Pixels become numbers on the way, in registers: nothing else keeps a sample as numbers.
#![allow(unsafe_code)]

use super::MapLayout;
use super::simd::{self, Group, Simd, Task};
use crate::isa::Isa;

/// Room for the rows of a transposition, as numbers.
type Block = [[f32; 16]; 16];

/// What samples are kept as.
pub(crate) trait Value: Copy + 'static {
    /// 0, for lanes without a sample.
    const ZERO: Self;

    /// What a network sees of it.
    fn seen(self) -> f32;

    /// As [`Simd::transpose`], of what a network sees.
    ///
    /// # Safety
    /// As for [`Simd`].
    unsafe fn transpose<S: Simd>(
        rows: &[*const Self; 16],
        numbers: &mut Block,
        to: *mut f32,
        stride: usize,
    );
}

impl Value for f32 {
    const ZERO: Self = 0.0;

    #[inline(always)]
    fn seen(self) -> f32 {
        self
    }

    #[inline(always)]
    unsafe fn transpose<S: Simd>(
        rows: &[*const Self; 16],
        _: &mut Block,
        to: *mut f32,
        stride: usize,
    ) {
        // SAFETY: the caller keeps the contract.
        unsafe { S::transpose(rows, to, stride) }
    }
}

impl Value for u8 {
    const ZERO: Self = 0;

    #[inline(always)]
    fn seen(self) -> f32 {
        f32::from(self) / 255.0
    }

    #[inline(always)]
    unsafe fn transpose<S: Simd>(
        rows: &[*const Self; 16],
        numbers: &mut Block,
        to: *mut f32,
        stride: usize,
    ) {
        // SAFETY: every row has `LANES` pixels, as the caller promises, and `numbers` has room for as many.
        unsafe {
            for (row, numbers) in rows.iter().zip(&mut *numbers).take(S::LANES) {
                S::store(numbers.as_mut_ptr(), by_255::<S>(S::load_bytes(*row)));
            }
            S::transpose(&numbers.each_ref().map(|row| row.as_ptr()), to, stride);
        }
    }
}

/// Numbers from 0 to 255, divided by 255 to the last bit (a test tries them all). The quotient by the rounded reciprocal is at most
/// a bit off, and what is left of the dividend says by how much: three operations, where a division takes as long as a dozen.
///
/// # Safety
/// As for [`Simd`].
#[inline(always)]
unsafe fn by_255<S: Simd>(numbers: S::V) -> S::V {
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let reciprocal = S::splat(1.0 / 255.0);
        let nearly = S::mul(numbers, reciprocal);
        let left = S::fma(nearly, S::splat(-255.0), numbers);
        S::fma(left, reciprocal, nearly)
    }
}

/// Writes samples (channel, row, column) into the lanes of a map; lanes without a sample get 0.
pub(crate) fn gather_samples<T: Value>(
    isa: Isa,
    group: Group,
    samples: &[&[T]],
    layout: &MapLayout,
    map: &mut [f32],
) {
    let values = layout.bare().vectors();
    assert!(samples.len() <= group.lanes() && samples.iter().all(|s| s.len() >= values));
    assert!(map.len() >= layout.vectors() * group.lanes());
    simd::run(
        isa,
        group,
        Gather {
            samples,
            layout,
            map,
        },
    );
}

struct Gather<'a, T> {
    samples: &'a [&'a [T]],
    layout: &'a MapLayout,
    map: &'a mut [f32],
}

impl<T: Value> Task for Gather<'_, T> {
    #[inline(always)]
    unsafe fn run<S: Simd, const G: usize>(self) {
        let layout = *self.layout;
        // Without a halo the whole sample is one row.
        let (rows, width) = match layout.halo {
            0 => (1, layout.vectors()),
            _ => (layout.channels * layout.height, layout.width),
        };
        let zeros = [T::ZERO; 16];
        let mut numbers = [[0.0; 16]; 16];
        for row in 0..rows {
            let to = match layout.halo {
                0 => 0,
                _ => {
                    let (channel, y) = (row / layout.height, row % layout.height);
                    layout.origin() + channel * layout.plane() + y * layout.row()
                }
            };
            if width < S::LANES {
                for lane in 0..G {
                    for x in 0..width {
                        let sample = self.samples.get(lane);
                        let seen = sample.map_or(0.0, |s| s[row * width + x].seen());
                        self.map[(to + x) * G + lane] = seen;
                    }
                }
                continue;
            }
            for x in (0..width).step_by(S::LANES) {
                // The last block reaches back over what is already done.
                let x = x.min(width - S::LANES);
                for half in 0..G / S::LANES {
                    let mut from = [zeros.as_ptr(); 16];
                    for (lane, from) in from.iter_mut().enumerate().take(S::LANES) {
                        if let Some(sample) = self.samples.get(half * S::LANES + lane) {
                            *from = sample[row * width + x..].as_ptr();
                        }
                    }
                    // SAFETY: the caller vouches for the instruction set; every row has `LANES` values from `x`
                    // on, and `gather_samples` checked that the map holds the layout.
                    unsafe {
                        let to = self.map.as_mut_ptr().add((to + x) * G + half * S::LANES);
                        T::transpose::<S>(&from, &mut numbers, to, G);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All 256 pixels in every lane, with each instruction set that is here, in rows wider and narrower than a vector.
    #[test]
    fn pixels_are_seen_as_their_quotients_to_the_last_bit() {
        let pixels: Vec<u8> = (0..=255).collect();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_supported()) {
            for group in [Group::Half, Group::Full] {
                let lanes = group.lanes();
                for (height, width, halo) in [(1, 256, 0), (64, 4, 1), (8, 32, 2)] {
                    let layout = MapLayout {
                        channels: 1,
                        height,
                        width,
                        halo,
                    };
                    let samples = vec![&pixels[..]; lanes - 1];
                    let mut map = vec![0.0; layout.vectors() * lanes];
                    gather_samples(isa, group, &samples, &layout, &mut map);
                    for (place, &pixel) in pixels.iter().enumerate() {
                        let (y, x) = (place / width, place % width);
                        let at = (layout.origin() + y * layout.row() + x) * lanes;
                        let due = (f32::from(pixel) / 255.0).to_bits();
                        let (own, empty) = map[at..at + lanes].split_at(lanes - 1);
                        assert!(own.iter().all(|value| value.to_bits() == due), "{pixel}");
                        assert_eq!(empty, [0.0]);
                    }
                }
            }
        }
    }
}
