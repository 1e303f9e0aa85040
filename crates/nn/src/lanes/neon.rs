//! NEON: two 128-bit registers hold 8 values; 32 of them make 16 such vectors.
//!
//! The reason for every unsafe operation here is the contract of [`Simd`]: every 64-bit ARM has these
//! instructions, and the caller passes pointers to enough values.
#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use super::portable::Portable;
use super::simd::{Simd, Task};
use core::arch::aarch64::*;

/// 8 lanes in two 128-bit registers.
#[derive(Clone, Copy)]
pub(super) struct Neon;

/// Runs the kernel; NEON is part of the base instruction set.
pub(super) fn enter<T: Task>(task: T) {
    // SAFETY: every aarch64 machine has NEON.
    unsafe { task.run::<Neon>() };
}

type Pair = [float32x4_t; 2];

/// Applies an intrinsic of two arguments to both registers.
macro_rules! both {
    ($operation:ident, $a:expr, $b:expr) => {
        [$operation($a[0], $b[0]), $operation($a[1], $b[1])]
    };
}

/// One bit per lane of two comparison results.
#[inline(always)]
unsafe fn bits(set: [uint32x4_t; 2]) -> u16 {
    let weights: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
    let low = vaddvq_u32(vandq_u32(set[0], vld1q_u32(weights.as_ptr())));
    let high = vaddvq_u32(vandq_u32(set[1], vld1q_u32(weights.as_ptr().add(4))));
    (low + high) as u16
}

impl Simd for Neon {
    type V = Pair;
    const LANES: usize = 8;
    const WIDE: bool = false;

    #[inline(always)]
    unsafe fn splat(value: f32) -> Pair {
        [vdupq_n_f32(value); 2]
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Pair {
        [vld1q_f32(from), vld1q_f32(from.add(4))]
    }
    #[inline(always)]
    unsafe fn load_bytes(from: *const u8) -> Pair {
        let wide = vmovl_u8(vld1_u8(from));
        let (low, high) = (vmovl_u16(vget_low_u16(wide)), vmovl_high_u16(wide));
        [vcvtq_f32_u32(low), vcvtq_f32_u32(high)]
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, value: Pair) {
        vst1q_f32(to, value[0]);
        vst1q_f32(to.add(4), value[1]);
    }
    #[inline(always)]
    unsafe fn fma(a: Pair, b: Pair, c: Pair) -> Pair {
        [vfmaq_f32(c[0], a[0], b[0]), vfmaq_f32(c[1], a[1], b[1])]
    }
    #[inline(always)]
    unsafe fn add(a: Pair, b: Pair) -> Pair {
        both!(vaddq_f32, a, b)
    }
    #[inline(always)]
    unsafe fn sub(a: Pair, b: Pair) -> Pair {
        both!(vsubq_f32, a, b)
    }
    #[inline(always)]
    unsafe fn mul(a: Pair, b: Pair) -> Pair {
        both!(vmulq_f32, a, b)
    }
    #[inline(always)]
    unsafe fn max(a: Pair, b: Pair) -> Pair {
        // Not vmaxq: it treats NaN and signed zeros differently.
        let greater = both!(vcgtq_f32, a, b);
        [
            vbslq_f32(greater[0], a[0], b[0]),
            vbslq_f32(greater[1], a[1], b[1]),
        ]
    }
    #[inline(always)]
    unsafe fn greater(a: Pair, b: Pair) -> u16 {
        bits(both!(vcgtq_f32, a, b))
    }
    #[inline(always)]
    unsafe fn equal(a: Pair, b: Pair) -> u16 {
        bits(both!(vceqq_f32, a, b))
    }
    #[inline(always)]
    unsafe fn keep(mask: u16, value: Pair) -> Pair {
        let weights: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
        let wanted = vdupq_n_u32(u32::from(mask));
        let mut out = value;
        for (half, lanes) in out.iter_mut().enumerate() {
            let set = vtstq_u32(wanted, vld1q_u32(weights.as_ptr().add(4 * half)));
            *lanes = vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(*lanes), set));
        }
        out
    }
    #[inline(always)]
    unsafe fn power_of_two(shifted: Pair) -> Pair {
        let mut out = shifted;
        for lanes in &mut out {
            let exponent = vshlq_n_u32::<23>(vreinterpretq_u32_f32(*lanes));
            *lanes = vreinterpretq_f32_u32(vaddq_u32(exponent, vdupq_n_u32(0x3f80_0000)));
        }
        out
    }
    #[inline(always)]
    unsafe fn half_sums(vectors: &[Pair; 16]) -> [[f32; 16]; 2] {
        let mut plain = [[0.0; 8]; 16];
        for (array, vector) in plain.iter_mut().zip(vectors) {
            Self::store(array.as_mut_ptr(), *vector);
        }
        Portable::half_sums(&plain)
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const f32; 16], to: *mut f32, stride: usize) {
        Portable::transpose(rows, to, stride);
    }
}
