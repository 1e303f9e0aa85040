//! AVX-512: one register holds 16 values, and there are 32 registers.
//!
//! The reason for every unsafe operation here is the contract of [`Simd`]: the caller runs on a machine
//! with these instructions and passes pointers to enough values.
#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use super::simd::{Simd, Task, first_lanes};
use core::arch::x86_64::*;

/// 16 lanes in one 512-bit register.
#[derive(Clone, Copy)]
pub(super) struct Avx512;

/// # Safety
/// The machine must have AVX-512 F, VL, BW and DQ.
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
pub(super) unsafe fn enter<T: Task>(task: T) {
    task.run::<Avx512>();
}

/// Adds lanes 0 + 2 and 1 + 3 of every quarter of two vectors, interleaved.
#[inline(always)]
unsafe fn add_pairs(a: __m512, b: __m512) -> __m512 {
    _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b))
}

/// Sums of every quarter of four vectors.
#[inline(always)]
unsafe fn quarter_sums(v: &[__m512; 16], at: usize) -> __m512 {
    let a = _mm512_castps_pd(add_pairs(v[at], v[at + 1]));
    let b = _mm512_castps_pd(add_pairs(v[at + 2], v[at + 3]));
    let low = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
    _mm512_add_ps(low, _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)))
}

/// Even quarters of both, plus odd quarters of both.
#[inline(always)]
unsafe fn add_quarters(a: __m512, b: __m512) -> __m512 {
    let even = _mm512_shuffle_f32x4::<0x88>(a, b);
    _mm512_add_ps(even, _mm512_shuffle_f32x4::<0xdd>(a, b))
}

impl Simd for Avx512 {
    type V = __m512;
    const LANES: usize = 16;
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn splat(value: f32) -> __m512 {
        _mm512_set1_ps(value)
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m512 {
        _mm512_loadu_ps(from)
    }
    #[inline(always)]
    unsafe fn load_bytes(from: *const u8) -> __m512 {
        _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(from.cast())))
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, value: __m512) {
        _mm512_storeu_ps(to, value);
    }
    #[inline(always)]
    unsafe fn store_first(to: *mut f32, value: __m512, count: usize) {
        _mm512_mask_storeu_ps(to, first_lanes(count), value);
    }
    #[inline(always)]
    unsafe fn load_two(low: *const f32, high: *const f32) -> __m512 {
        let low = _mm512_castps256_ps512(_mm256_loadu_ps(low));
        _mm512_insertf32x8::<1>(low, _mm256_loadu_ps(high))
    }
    #[inline(always)]
    unsafe fn store_two(low: *mut f32, high: *mut f32, value: __m512) {
        _mm256_storeu_ps(low, _mm512_castps512_ps256(value));
        _mm256_storeu_ps(high, _mm512_extractf32x8_ps::<1>(value));
    }
    #[inline(always)]
    unsafe fn load_four(from: *const f32, step: usize) -> __m512 {
        let two = |from: *const f32| {
            let low = _mm256_castps128_ps256(_mm_loadu_ps(from));
            _mm256_insertf128_ps::<1>(low, _mm_loadu_ps(from.add(step)))
        };
        let low = _mm512_castps256_ps512(two(from));
        _mm512_insertf32x8::<1>(low, two(from.add(2 * step)))
    }
    #[inline(always)]
    unsafe fn store_four(to: *mut f32, step: usize, value: __m512) {
        _mm_storeu_ps(to, _mm512_castps512_ps128(value));
        _mm_storeu_ps(to.add(step), _mm512_extractf32x4_ps::<1>(value));
        _mm_storeu_ps(to.add(2 * step), _mm512_extractf32x4_ps::<2>(value));
        _mm_storeu_ps(to.add(3 * step), _mm512_extractf32x4_ps::<3>(value));
    }
    #[inline(always)]
    unsafe fn slide<const BY: i32>(low: __m512, high: __m512) -> __m512 {
        let (low, high) = (_mm512_castps_si512(low), _mm512_castps_si512(high));
        _mm512_castsi512_ps(_mm512_alignr_epi32::<BY>(high, low))
    }
    #[inline(always)]
    #[allow(clippy::pointers_in_nomem_asm_block)] // nothing is read there
    fn opaque(mut pointer: *const f32) -> *const f32 {
        // SAFETY: no instruction at all.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) pointer, options(pure, nomem, nostack, preserves_flags));
        }
        pointer
    }
    #[inline(always)]
    unsafe fn fma(a: __m512, b: __m512, c: __m512) -> __m512 {
        _mm512_fmadd_ps(a, b, c)
    }
    #[inline(always)]
    unsafe fn add(a: __m512, b: __m512) -> __m512 {
        _mm512_add_ps(a, b)
    }
    #[inline(always)]
    unsafe fn sub(a: __m512, b: __m512) -> __m512 {
        _mm512_sub_ps(a, b)
    }
    #[inline(always)]
    unsafe fn mul(a: __m512, b: __m512) -> __m512 {
        _mm512_mul_ps(a, b)
    }
    #[inline(always)]
    unsafe fn max(a: __m512, b: __m512) -> __m512 {
        _mm512_max_ps(a, b)
    }
    #[inline(always)]
    unsafe fn greater(a: __m512, b: __m512) -> u16 {
        _mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b)
    }
    #[inline(always)]
    unsafe fn equal(a: __m512, b: __m512) -> u16 {
        _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b)
    }
    #[inline(always)]
    unsafe fn keep(mask: u16, value: __m512) -> __m512 {
        _mm512_maskz_mov_ps(mask, value)
    }
    #[inline(always)]
    unsafe fn select(mask: u16, a: __m512, b: __m512) -> __m512 {
        _mm512_mask_blend_ps(mask, b, a)
    }
    #[inline(always)]
    unsafe fn power_of_two(shifted: __m512) -> __m512 {
        let exponent = _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted));
        _mm512_castsi512_ps(_mm512_add_epi32(exponent, _mm512_set1_epi32(0x3f80_0000)))
    }
    #[inline(always)]
    unsafe fn half_sums(v: &[__m512; 16]) -> [[f32; 16]; 2] {
        let a = add_quarters(quarter_sums(v, 0), quarter_sums(v, 4));
        let b = add_quarters(quarter_sums(v, 8), quarter_sums(v, 12));
        let mut halves = [[0.0; 16]; 2];
        _mm512_storeu_ps(halves[0].as_mut_ptr(), _mm512_shuffle_f32x4::<0x88>(a, b));
        _mm512_storeu_ps(halves[1].as_mut_ptr(), _mm512_shuffle_f32x4::<0xdd>(a, b));
        halves
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const f32; 16], to: *mut f32, stride: usize) {
        let mut pairs = [_mm512_setzero_ps(); 16];
        for i in 0..8 {
            let (a, b) = (
                _mm512_loadu_ps(rows[2 * i]),
                _mm512_loadu_ps(rows[2 * i + 1]),
            );
            pairs[2 * i] = _mm512_unpacklo_ps(a, b);
            pairs[2 * i + 1] = _mm512_unpackhi_ps(a, b);
        }
        let mut fours = [_mm512_setzero_ps(); 16];
        for i in 0..4 {
            for half in 0..2 {
                let a = _mm512_castps_pd(pairs[4 * i + half]);
                let b = _mm512_castps_pd(pairs[4 * i + 2 + half]);
                fours[4 * i + 2 * half] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
                fours[4 * i + 2 * half + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
            }
        }
        for i in 0..4 {
            let (a, b) = (fours[i], fours[4 + i]);
            let (c, d) = (fours[8 + i], fours[12 + i]);
            let (even, odd) = (
                _mm512_shuffle_f32x4::<0x88>(a, b),
                _mm512_shuffle_f32x4::<0xdd>(a, b),
            );
            let (even2, odd2) = (
                _mm512_shuffle_f32x4::<0x88>(c, d),
                _mm512_shuffle_f32x4::<0xdd>(c, d),
            );
            _mm512_storeu_ps(
                to.add(i * stride),
                _mm512_shuffle_f32x4::<0x88>(even, even2),
            );
            _mm512_storeu_ps(
                to.add((4 + i) * stride),
                _mm512_shuffle_f32x4::<0x88>(odd, odd2),
            );
            _mm512_storeu_ps(
                to.add((8 + i) * stride),
                _mm512_shuffle_f32x4::<0xdd>(even, even2),
            );
            _mm512_storeu_ps(
                to.add((12 + i) * stride),
                _mm512_shuffle_f32x4::<0xdd>(odd, odd2),
            );
        }
    }
}
