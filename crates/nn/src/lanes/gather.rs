//! Samples into lanes. Pixels become numbers on the way, in registers: nothing else keeps a sample as numbers.
#![allow(unsafe_code)]

use super::rows::copy_column;
use super::simd::{self, Simd, Task};
use super::{GROUP, MapLayout};
use crate::isa::Isa;

/// What samples are kept as.
pub(crate) trait Value: Copy + 'static {
    /// What a network sees of it.
    fn seen(self) -> f32;

    /// What a network sees of `LANES` of them.
    ///
    /// # Safety
    /// As for [`Simd`].
    unsafe fn load<S: Simd>(from: *const Self) -> S::V;
}

impl Value for f32 {
    #[inline(always)]
    fn seen(self) -> f32 {
        self
    }

    #[inline(always)]
    unsafe fn load<S: Simd>(from: *const Self) -> S::V {
        // SAFETY: the caller keeps the contract.
        unsafe { S::load(from) }
    }
}

impl Value for u8 {
    #[inline(always)]
    fn seen(self) -> f32 {
        f32::from(self) / 255.0
    }

    #[inline(always)]
    unsafe fn load<S: Simd>(from: *const Self) -> S::V {
        // SAFETY: the caller keeps the contract.
        unsafe { by_255::<S>(S::load_bytes(from)) }
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

/// Writes samples (channel, row, column) into a map.
pub(crate) fn gather_samples<T: Value>(
    isa: Isa,
    samples: &[&[T]],
    layout: &MapLayout,
    map: &mut [f32],
) {
    let values = layout.values();
    assert!(samples.len() <= GROUP && samples.iter().all(|s| s.len() >= values));
    assert!(map.len() >= layout.positions() * samples.len());
    let task = Gather {
        samples,
        layout,
        map,
    };
    simd::run(isa, task);
}

struct Gather<'a, T> {
    samples: &'a [&'a [T]],
    layout: &'a MapLayout,
    map: &'a mut [f32],
}

impl<T: Value> Task for Gather<'_, T> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let (layout, samples) = (*self.layout, self.samples.len());
        // Without a halo, and with columns in their order, the whole sample is one row.
        let (rows, width) = match layout.halo == 0 && !layout.parity {
            true => (1, layout.values()),
            false => (layout.channels * layout.height, layout.width),
        };
        let mut numbers = [[0.0f32; 16]; 16];
        let mut columns = [[0.0f32; 16]; 16];
        for row in 0..rows {
            let start = layout.row_start(row / layout.height, row % layout.height);
            let place = |x: usize| (start + layout.column(layout.halo + x)) * samples;
            if width < S::LANES {
                for (lane, sample) in self.samples.iter().enumerate() {
                    for x in 0..width {
                        self.map[place(x) + lane] = sample[row * width + x].seen();
                    }
                }
                continue;
            }
            for x in (0..width).step_by(S::LANES) {
                // The last block reaches back over what is already done.
                let x = x.min(width - S::LANES);
                // SAFETY: the caller vouches for the instruction set; every row has `LANES` values from `x` on, and
                // `gather_samples` checked that the map holds the layout.
                unsafe {
                    for half in 0..samples.div_ceil(S::LANES) {
                        let group = &self.samples[half * S::LANES..];
                        for (numbers, sample) in numbers.iter_mut().zip(group).take(S::LANES) {
                            let from = sample[row * width + x..].as_ptr();
                            S::store(numbers.as_mut_ptr(), T::load::<S>(from));
                        }
                        let rows = numbers.each_ref().map(|row| row.as_ptr());
                        let to = columns.as_mut_ptr().cast::<f32>().add(half * S::LANES);
                        S::transpose(&rows, to, 16);
                    }
                    let mut to = self.map.as_mut_ptr().add(place(x));
                    let mut next = self.map.as_mut_ptr().add(place(x + 1));
                    for from in columns.iter().take(S::LANES) {
                        copy_column::<S>(from.as_ptr(), samples, to);
                        // With columns apart by parity, two columns on is one place on.
                        let step = if layout.parity { to } else { next };
                        (to, next) = (next, step.wrapping_add(samples));
                    }
                }
            }
        }
    }
}

/// Writes samples as rows, `stride` values apart.
pub(crate) fn gather_rows<T: Value>(isa: Isa, samples: &[&[T]], stride: usize, rows: &mut [f32]) {
    assert!(samples.iter().all(|sample| sample.len() <= stride));
    assert!(rows.len() >= samples.len() * stride);
    let task = GatherRows {
        samples,
        stride,
        rows,
    };
    simd::run(isa, task);
}

struct GatherRows<'a, T> {
    samples: &'a [&'a [T]],
    stride: usize,
    rows: &'a mut [f32],
}

impl<T: Value> Task for GatherRows<'_, T> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        for (sample, row) in self.samples.iter().zip(self.rows.chunks_mut(self.stride)) {
            let whole = sample.len() / S::LANES * S::LANES;
            for at in (0..whole).step_by(S::LANES) {
                // SAFETY: the caller vouches for the instruction set; the vector ends inside the sample, which is
                // no longer than the row.
                unsafe {
                    let value = T::load::<S>(sample.as_ptr().add(at));
                    S::store(row.as_mut_ptr().add(at), value);
                }
            }
            for (to, from) in row[whole..].iter_mut().zip(&sample[whole..]) {
                *to = from.seen();
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
            for samples in [1, 7, 8, 10, 16] {
                let all = vec![&pixels[..]; samples];
                let sizes = [(1, 256, 0), (64, 4, 1), (8, 32, 2)];
                for ((height, width, halo), parity) in sizes
                    .into_iter()
                    .flat_map(|size| [(size, false), (size, true)])
                {
                    let layout = MapLayout {
                        channels: 1,
                        height,
                        width,
                        halo,
                        parity,
                    };
                    let mut map = vec![0.0; layout.positions() * samples];
                    gather_samples(isa, &all, &layout, &mut map);
                    let mut left = map.clone();
                    for (place, &pixel) in pixels.iter().enumerate() {
                        let (y, x) = (place / width, place % width);
                        let at = layout.row_start(0, y) + layout.column(halo + x);
                        let at = at * samples..(at + 1) * samples;
                        let due = (f32::from(pixel) / 255.0).to_bits();
                        assert!(
                            map[at.clone()].iter().all(|v| v.to_bits() == due),
                            "{pixel}"
                        );
                        left[at].fill(0.0);
                    }
                    assert!(left.iter().all(|v| *v == 0.0), "the halo stays zero");
                }
                let mut rows = vec![0.0; samples * 272];
                gather_rows(isa, &all, 272, &mut rows);
                for row in rows.chunks_exact(272) {
                    let seen = pixels.iter().map(|&pixel| f32::from(pixel) / 255.0);
                    assert!(seen.zip(row).all(|(due, v)| v.to_bits() == due.to_bits()));
                    assert_eq!(row[256..], [0.0; 16]);
                }
            }
        }
    }
}
