//! What a core could do at best: multiply-adds in registers and nothing else.
#![allow(unsafe_code)]

use super::simd::{self, Simd, Task};
use crate::isa::Isa;
use std::hint::black_box;

/// Independent sums: enough for two units with a latency of five cycles, few enough for 16 registers.
const CHAINS: usize = 12;

/// Does `rounds` rounds of multiply-adds and returns how many there were, lanes counted.
pub(crate) fn multiply_adds(isa: Isa, rounds: usize) -> f64 {
    let mut lanes = 0;
    let task = Peak {
        rounds,
        lanes: &mut lanes,
    };
    simd::run(isa, task);
    (rounds * CHAINS * lanes) as f64
}

struct Peak<'a> {
    rounds: usize,
    lanes: &'a mut usize,
}

impl Task for Peak<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        *self.lanes = S::LANES;
        // SAFETY: the caller vouches for the instruction set; the array holds `LANES` values.
        unsafe {
            let mut sums = [S::splat(black_box(1.0)); CHAINS];
            let (factor, term) = (S::splat(black_box(0.999)), S::splat(black_box(0.001)));
            for _ in 0..self.rounds {
                for sum in &mut sums {
                    *sum = S::fma(*sum, factor, term);
                }
            }
            for sum in sums {
                let mut out = [0.0f32; 16];
                S::store(out.as_mut_ptr(), sum);
                black_box(out);
            }
        }
    }
}
