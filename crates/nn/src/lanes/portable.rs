//! Plain Rust on arrays of 8, for machines without a kernel of their own and as the measure of the others.
#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use super::simd::{Simd, Task};

/// 8 lanes in an array.
#[derive(Clone, Copy)]
pub(super) struct Portable;

/// Runs the kernel with the fused multiply-add of the machine where there is one: `f32::mul_add` gives
/// the same bits without it, but slowly.
pub(super) fn enter<T: Task>(task: T) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("fma") {
        // SAFETY: the machine has FMA, as just asked.
        unsafe { enter_fma(task) };
        return;
    }
    // SAFETY: arrays need no special instructions.
    unsafe { task.run::<Portable>() };
}

/// # Safety
/// The machine must have FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "fma")]
unsafe fn enter_fma<T: Task>(task: T) {
    task.run::<Portable>();
}

/// Applies an operation lane by lane; a macro, because a closure would not be sure to be inlined.
macro_rules! each_lane {
    ($lane:ident => $value:expr) => {{
        let mut out = [0.0f32; 8];
        for $lane in 0..8 {
            out[$lane] = $value;
        }
        out
    }};
}

/// Bits of a comparison lane by lane.
macro_rules! mask_lanes {
    ($lane:ident => $value:expr) => {{
        let mut mask = 0u16;
        for $lane in 0..8 {
            mask |= u16::from($value) << $lane;
        }
        mask
    }};
}

impl Simd for Portable {
    type V = [f32; 8];
    const LANES: usize = 8;
    const WIDE: bool = false;

    #[inline(always)]
    unsafe fn splat(value: f32) -> [f32; 8] {
        [value; 8]
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> [f32; 8] {
        from.cast::<[f32; 8]>().read_unaligned()
    }
    #[inline(always)]
    unsafe fn load_bytes(from: *const u8) -> [f32; 8] {
        let bytes = from.cast::<[u8; 8]>().read();
        each_lane!(l => f32::from(bytes[l]))
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, value: [f32; 8]) {
        to.cast::<[f32; 8]>().write_unaligned(value);
    }
    #[inline(always)]
    unsafe fn fma(a: [f32; 8], b: [f32; 8], c: [f32; 8]) -> [f32; 8] {
        each_lane!(l => a[l].mul_add(b[l], c[l]))
    }
    #[inline(always)]
    unsafe fn add(a: [f32; 8], b: [f32; 8]) -> [f32; 8] {
        each_lane!(l => a[l] + b[l])
    }
    #[inline(always)]
    unsafe fn sub(a: [f32; 8], b: [f32; 8]) -> [f32; 8] {
        each_lane!(l => a[l] - b[l])
    }
    #[inline(always)]
    unsafe fn mul(a: [f32; 8], b: [f32; 8]) -> [f32; 8] {
        each_lane!(l => a[l] * b[l])
    }
    #[inline(always)]
    unsafe fn max(a: [f32; 8], b: [f32; 8]) -> [f32; 8] {
        each_lane!(l => if a[l] > b[l] { a[l] } else { b[l] })
    }
    #[inline(always)]
    unsafe fn greater(a: [f32; 8], b: [f32; 8]) -> u16 {
        mask_lanes!(l => a[l] > b[l])
    }
    #[inline(always)]
    unsafe fn equal(a: [f32; 8], b: [f32; 8]) -> u16 {
        mask_lanes!(l => a[l] == b[l])
    }
    #[inline(always)]
    unsafe fn keep(mask: u16, value: [f32; 8]) -> [f32; 8] {
        each_lane!(l => if mask >> l & 1 == 1 { value[l] } else { 0.0 })
    }
    #[inline(always)]
    unsafe fn power_of_two(shifted: [f32; 8]) -> [f32; 8] {
        each_lane!(l => f32::from_bits((shifted[l].to_bits() << 23).wrapping_add(0x3f80_0000)))
    }
    #[inline(always)]
    unsafe fn half_sums(v: &[[f32; 8]; 16]) -> [[f32; 16]; 2] {
        let mut halves = [[0.0; 16]; 2];
        for (sum, a) in halves[0].iter_mut().zip(v) {
            *sum = ((a[0] + a[2]) + (a[1] + a[3])) + ((a[4] + a[6]) + (a[5] + a[7]));
        }
        halves
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const f32; 16], to: *mut f32, stride: usize) {
        for (lane, row) in rows.iter().take(8).enumerate() {
            for position in 0..8 {
                *to.add(position * stride + lane) = *row.add(position);
            }
        }
    }
}
