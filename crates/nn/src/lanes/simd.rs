//! The one seam between kernels and instruction sets.
//!
//! Every implementation does the same fused operations in the same order, so all of them give the same bits.
#![allow(unsafe_code)]

use super::portable;
use crate::isa::Isa;

#[cfg(target_arch = "aarch64")]
use super::neon;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

/// Vector operations on [`Simd::LANES`] lanes of f32.
///
/// # Safety
/// Every method may only be called where the instruction set is available, which [`run`] makes sure of;
/// pointers must be valid for `LANES` values (or what the method says), without any alignment.
pub(crate) trait Simd: Copy {
    /// One vector.
    type V: Copy;
    /// Lanes of one vector, 8 or 16: where the order of sums matters, two vectors of 8 do as one of 16.
    const LANES: usize;
    /// Whether there are 32 registers of one vector each, rather than 16: larger register tiles.
    const WIDE: bool;

    unsafe fn splat(value: f32) -> Self::V;
    unsafe fn load(from: *const f32) -> Self::V;
    /// Bytes as numbers, 0 to 255.
    unsafe fn load_bytes(from: *const u8) -> Self::V;
    unsafe fn store(to: *mut f32, value: Self::V);
    /// Stores the first `count` lanes, fewer than all.
    #[inline(always)]
    unsafe fn store_first(to: *mut f32, value: Self::V, count: usize) {
        let mut lanes = [0.0f32; 16];
        // SAFETY: the caller vouches for `count` values at `to`; the array has room for all lanes.
        unsafe {
            Self::store(lanes.as_mut_ptr(), value);
            for (lane, value) in lanes.iter().enumerate().take(count) {
                to.add(lane).write(*value);
            }
        }
    }
    /// 8 values from each of two places, where there are 16 lanes; `low` alone where there are 8.
    #[inline(always)]
    unsafe fn load_two(low: *const f32, _high: *const f32) -> Self::V {
        // SAFETY: the caller keeps the trait's contract.
        unsafe { Self::load(low) }
    }
    /// The reverse.
    #[inline(always)]
    unsafe fn store_two(low: *mut f32, _high: *mut f32, value: Self::V) {
        // SAFETY: the caller keeps the trait's contract.
        unsafe { Self::store(low, value) }
    }
    /// 4 values from each of four places `step` values apart; 16 lanes, as [`load_two`](Self::load_two).
    #[inline(always)]
    unsafe fn load_four(from: *const f32, _step: usize) -> Self::V {
        // SAFETY: the caller keeps the trait's contract.
        unsafe { Self::load(from) }
    }
    /// The reverse.
    #[inline(always)]
    unsafe fn store_four(to: *mut f32, _step: usize, value: Self::V) {
        // SAFETY: the caller keeps the trait's contract.
        unsafe { Self::store(to, value) }
    }
    /// The values from `BY` on of two vectors that follow each other; 16 lanes, as [`load_two`](Self::load_two).
    #[inline(always)]
    unsafe fn slide<const BY: i32>(low: Self::V, _high: Self::V) -> Self::V {
        low
    }
    /// The same pointer, of which the compiler does not see where it comes from.
    #[inline(always)]
    fn opaque(pointer: *const f32) -> *const f32 {
        pointer
    }
    /// `a * b + c`, rounded once.
    unsafe fn fma(a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn sub(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn mul(a: Self::V, b: Self::V) -> Self::V;
    /// `a` where `a > b`, else `b`: a NaN in `b` stays.
    unsafe fn max(a: Self::V, b: Self::V) -> Self::V;
    /// Bit `l` is set where `a > b` in lane `l`.
    unsafe fn greater(a: Self::V, b: Self::V) -> u16;
    /// Bit `l` is set where `a == b` in lane `l`.
    unsafe fn equal(a: Self::V, b: Self::V) -> u16;
    /// `value` in lanes whose bit is set, 0 in the others.
    unsafe fn keep(mask: u16, value: Self::V) -> Self::V;
    /// `a` in lanes whose bit is set, `b` in the others.
    #[inline(always)]
    unsafe fn select(mask: u16, a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: the caller keeps the trait's contract.
        unsafe { Self::add(Self::keep(mask, a), Self::keep(!mask, b)) }
    }
    /// `2^n` for `n + 1.5 * 2^23`: the integer sits in the low bits of that sum.
    unsafe fn power_of_two(shifted: Self::V) -> Self::V;
    /// Sums of each vector's lanes, separately for lanes 0..8 and (with 16 lanes) 8..16.
    ///
    /// The tree is fixed: quarters `(l0 + l2) + (l1 + l3)`, then quarter + quarter.
    unsafe fn half_sums(vectors: &[Self::V; 16]) -> [[f32; 16]; 2];
    /// Row `l` of the source, `LANES` values, becomes lane `l` of `LANES` vectors `stride` values apart.
    unsafe fn transpose(rows: &[*const f32; 16], to: *mut f32, stride: usize);
}

/// A kernel with its arguments.
pub(crate) trait Task {
    /// Runs the kernel.
    ///
    /// # Safety
    /// The instruction set of `S` must be available. Implementations must be `#[inline(always)]`, so that
    /// they are compiled with it.
    unsafe fn run<S: Simd>(self);
}

/// Runs a kernel with the instruction set.
#[inline]
pub(crate) fn run<T: Task>(isa: Isa, task: T) {
    assert!(isa.is_supported(), "checked when the engine was made");
    match isa {
        // SAFETY: the assertion above says that this machine has the instruction set.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { avx512::enter(task) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { avx2::enter(task) },
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => neon::enter(task),
        _ => portable::enter(task),
    }
}

/// Bits of the first `count` lanes, of 16 at most.
#[inline(always)]
pub(super) fn first_lanes(count: usize) -> u16 {
    ((1u32 << count.min(16)) - 1) as u16
}

/// Stores as many lanes as there is room for.
///
/// # Safety
/// `to` must be valid for the smaller of `room` and `LANES` values.
#[inline(always)]
pub(super) unsafe fn store_within<S: Simd>(to: *mut f32, value: S::V, room: usize) {
    // SAFETY: the caller vouches for `to`.
    unsafe {
        if room >= S::LANES {
            S::store(to, value);
        } else {
            S::store_first(to, value, room);
        }
    }
}

/// Stores a comparison's bits beside those of the other half of 16 values: a byte for each half.
///
/// # Safety
/// `to` must be valid for 2 bytes (1 with 8 lanes).
#[inline(always)]
pub(crate) unsafe fn store_mask<S: Simd>(to: *mut u8, mask: u16) {
    // SAFETY: the caller vouches for `to`.
    unsafe {
        if S::LANES == 16 {
            to.cast::<[u8; 2]>().write(mask.to_le_bytes());
        } else {
            to.write(mask as u8);
        }
    }
}

/// Reads what [`store_mask`] wrote.
///
/// # Safety
/// `from` must be valid for 2 bytes (1 with 8 lanes).
#[inline(always)]
pub(crate) unsafe fn load_mask<S: Simd>(from: *const u8) -> u16 {
    // SAFETY: the caller vouches for `from`.
    unsafe {
        if S::LANES == 16 {
            u16::from_le_bytes(from.cast::<[u8; 2]>().read())
        } else {
            u16::from(from.read())
        }
    }
}

/// Adds the lane sums of up to 16 vectors to `sums[i]`: first lanes 0..8, then 8..16.
///
/// # Safety
/// As for [`Simd`].
#[inline(always)]
pub(crate) unsafe fn add_lane_sums<S: Simd>(vectors: &[S::V; 16], sums: &mut [f32; 16]) {
    // SAFETY: the caller vouches for the instruction set.
    let halves = unsafe { S::half_sums(vectors) };
    for half in halves.iter().take(S::LANES / 8) {
        for (sum, part) in sums.iter_mut().zip(half) {
            *sum += part;
        }
    }
}

/// `exp(x)` for `x <= 0` to about one unit in the last place; below -87 it stays at the value there, NaN stays NaN.
///
/// # Safety
/// As for [`Simd`].
#[inline(always)]
pub(crate) unsafe fn exp<S: Simd>(x: S::V) -> S::V {
    const SHIFT: f32 = 12_582_912.0; // 1.5 * 2^23: adding it rounds to an integer
    const LN2_HIGH: f32 = 0.693_359_4; // few bits, so that n * LN2_HIGH is exact
    const LN2_LOW: f32 = -2.121_944_4e-4;
    // Taylor's coefficients 1/7! .. 1/0!: |r| <= ln 2 / 2 makes the next term smaller than 1e-8.
    const TERMS: [f32; 8] = [
        1.0 / 5040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let x = S::max(S::splat(-87.0), x);
        let shifted = S::fma(x, S::splat(std::f32::consts::LOG2_E), S::splat(SHIFT));
        let n = S::sub(shifted, S::splat(SHIFT));
        let r = S::fma(n, S::splat(-LN2_HIGH), x);
        let r = S::fma(n, S::splat(-LN2_LOW), r);
        let mut sum = S::splat(TERMS[0]);
        for term in &TERMS[1..] {
            sum = S::fma(sum, r, S::splat(*term));
        }
        S::mul(sum, S::power_of_two(shifted))
    }
}
