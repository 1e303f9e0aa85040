//! AVX2 with fused multiply-add: one register holds 8 values, and there are 16 registers.
//!
//! The reason for every unsafe operation here is the contract of [`Simd`]: the caller runs on a machine
//! with these instructions and passes pointers to enough values.
#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use super::simd::{Simd, Task};
use core::arch::x86_64::*;

/// 8 lanes in one 256-bit register.
#[derive(Clone, Copy)]
pub(super) struct Avx2;

/// # Safety
/// The machine must have AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn enter<T: Task>(task: T) {
    task.run::<Avx2>();
}

/// Adds lanes 0 + 2 and 1 + 3 of every quarter of two vectors, interleaved.
#[inline(always)]
unsafe fn add_pairs(a: __m256, b: __m256) -> __m256 {
    _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b))
}

/// Sums of both quarters of four vectors.
#[inline(always)]
unsafe fn quarter_sums(v: &[__m256; 16], at: usize) -> __m256 {
    let a = _mm256_castps_pd(add_pairs(v[at], v[at + 1]));
    let b = _mm256_castps_pd(add_pairs(v[at + 2], v[at + 3]));
    let low = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
    _mm256_add_ps(low, _mm256_castpd_ps(_mm256_unpackhi_pd(a, b)))
}

impl Simd for Avx2 {
    type V = __m256;
    const LANES: usize = 8;
    const WIDE: bool = false;

    #[inline(always)]
    unsafe fn splat(value: f32) -> __m256 {
        _mm256_set1_ps(value)
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m256 {
        _mm256_loadu_ps(from)
    }
    #[inline(always)]
    unsafe fn load_bytes(from: *const u8) -> __m256 {
        _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(from.cast())))
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, value: __m256) {
        _mm256_storeu_ps(to, value);
    }
    #[inline(always)]
    unsafe fn fma(a: __m256, b: __m256, c: __m256) -> __m256 {
        _mm256_fmadd_ps(a, b, c)
    }
    #[inline(always)]
    unsafe fn add(a: __m256, b: __m256) -> __m256 {
        _mm256_add_ps(a, b)
    }
    #[inline(always)]
    unsafe fn sub(a: __m256, b: __m256) -> __m256 {
        _mm256_sub_ps(a, b)
    }
    #[inline(always)]
    unsafe fn mul(a: __m256, b: __m256) -> __m256 {
        _mm256_mul_ps(a, b)
    }
    #[inline(always)]
    unsafe fn max(a: __m256, b: __m256) -> __m256 {
        _mm256_max_ps(a, b)
    }
    #[inline(always)]
    unsafe fn greater(a: __m256, b: __m256) -> u16 {
        _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(a, b)) as u16
    }
    #[inline(always)]
    unsafe fn equal(a: __m256, b: __m256) -> u16 {
        _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_EQ_OQ>(a, b)) as u16
    }
    #[inline(always)]
    unsafe fn keep(mask: u16, value: __m256) -> __m256 {
        let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        let set = _mm256_and_si256(_mm256_set1_epi32(i32::from(mask)), bits);
        _mm256_and_ps(value, _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, bits)))
    }
    #[inline(always)]
    unsafe fn power_of_two(shifted: __m256) -> __m256 {
        let exponent = _mm256_slli_epi32::<23>(_mm256_castps_si256(shifted));
        _mm256_castsi256_ps(_mm256_add_epi32(exponent, _mm256_set1_epi32(0x3f80_0000)))
    }
    #[inline(always)]
    unsafe fn half_sums(v: &[__m256; 16]) -> [[f32; 16]; 2] {
        let mut halves = [[0.0; 16]; 2];
        for block in 0..2 {
            let (a, b) = (quarter_sums(v, 8 * block), quarter_sums(v, 8 * block + 4));
            let low = _mm256_permute2f128_ps::<0x20>(a, b);
            let high = _mm256_permute2f128_ps::<0x31>(a, b);
            _mm256_storeu_ps(
                halves[0].as_mut_ptr().add(8 * block),
                _mm256_add_ps(low, high),
            );
        }
        halves
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const f32; 16], to: *mut f32, stride: usize) {
        let mut pairs = [_mm256_setzero_ps(); 8];
        for i in 0..4 {
            let (a, b) = (
                _mm256_loadu_ps(rows[2 * i]),
                _mm256_loadu_ps(rows[2 * i + 1]),
            );
            pairs[2 * i] = _mm256_unpacklo_ps(a, b);
            pairs[2 * i + 1] = _mm256_unpackhi_ps(a, b);
        }
        let mut fours = [_mm256_setzero_ps(); 8];
        for i in 0..2 {
            for half in 0..2 {
                let a = _mm256_castps_pd(pairs[4 * i + half]);
                let b = _mm256_castps_pd(pairs[4 * i + 2 + half]);
                fours[4 * i + 2 * half] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
                fours[4 * i + 2 * half + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
            }
        }
        for i in 0..4 {
            let (a, b) = (fours[i], fours[4 + i]);
            _mm256_storeu_ps(to.add(i * stride), _mm256_permute2f128_ps::<0x20>(a, b));
            _mm256_storeu_ps(
                to.add((4 + i) * stride),
                _mm256_permute2f128_ps::<0x31>(a, b),
            );
        }
    }
}
