//! Half precision.

use super::Codec;

/// IEEE 754 binary16, rounded to nearest, ties to even. Finite numbers too large for it arrive as its largest, 65504.
#[derive(Clone, Copy, Debug)]
pub struct F16;

const LARGEST: f32 = 65_504.0;
/// The least normal number, 2^-14. Below it the numbers are 2^-24 apart.
const LEAST_NORMAL: f32 = 6.103_515_6e-5;
/// Bits of the fraction that half precision has no room for.
const LOST: u32 = 23 - 10;

impl Codec for F16 {
    fn update_bits(&self, parameters: usize) -> f64 {
        self.model_bits(parameters)
    }

    fn model_bits(&self, parameters: usize) -> f64 {
        16.0 * parameters as f64
    }

    fn send_update(&mut self, update: &mut [f32]) {
        self.send_model(update);
    }

    fn send_model(&mut self, model: &mut [f32]) {
        model.iter_mut().for_each(|value| *value = rounded(*value));
    }
}

/// The nearest number of half precision.
fn rounded(value: f32) -> f32 {
    if !value.is_finite() {
        return value;
    }
    let size = value.abs();
    let near = if size < LEAST_NORMAL {
        // Numbers from 0.5 to 1 are 2^-24 apart as well: the sum is rounded as wanted.
        (size + 0.5) - 0.5
    } else {
        let bits = size.to_bits();
        let half = (1 << (LOST - 1)) - 1 + (bits >> LOST & 1);
        f32::from_bits((bits + half) >> LOST << LOST).min(LARGEST)
    };
    near.copysign(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a pattern of 16 bits means, by the definition of binary16.
    fn meaning(bits: u16) -> f64 {
        let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
        match exponent {
            0 => sign * fraction * 2f64.powi(-14),
            31 if fraction == 0.0 => sign * f64::INFINITY,
            31 => f64::NAN,
            _ => sign * (1.0 + fraction) * 2f64.powi(exponent - 15),
        }
    }

    /// IEEE 754-2019, 3.4 (binary16): every number of the format arrives as it is, and those half-way between two neighbours as
    /// the one whose last bit is 0.
    #[test]
    fn val_every_pattern_and_every_half_way_point_is_as_ieee_754_has_it() {
        for bits in 0..0x7c00u16 {
            let exact = meaning(bits) as f32;
            for sign in [1.0, -1.0] {
                let sent = sign * exact;
                assert_eq!(rounded(sent).to_bits(), sent.to_bits(), "{bits:#06x}");
            }
            if bits == 0x7bff {
                continue;
            }
            let next = meaning(bits + 1);
            let half_way = ((meaning(bits) + next) / 2.0) as f32;
            let even = if bits % 2 == 0 { exact } else { next as f32 };
            assert_eq!(rounded(half_way), even, "{bits:#06x}");
            assert_eq!(rounded(half_way.next_up()), next as f32, "{bits:#06x}");
            assert_eq!(rounded(half_way.next_down()), exact, "{bits:#06x}");
        }
    }

    /// Patterns as the standard's examples have them: 1/3, the largest, the least normal and the least number.
    #[test]
    fn val_known_patterns() {
        assert_eq!(f64::from(rounded(1.0 / 3.0)), meaning(0x3555));
        assert_eq!(f64::from(rounded(-2.0)), meaning(0xc000));
        assert_eq!(f64::from(LARGEST), meaning(0x7bff));
        assert_eq!(f64::from(LEAST_NORMAL), meaning(0x0400));
        assert_eq!(f64::from(rounded(5.96e-8)), meaning(0x0001));
    }

    #[test]
    fn too_large_is_the_largest_and_what_is_no_number_stays_so() {
        for large in [65_519.9, 65_520.0, 1e10, f32::MAX] {
            assert_eq!((rounded(large), rounded(-large)), (LARGEST, -LARGEST));
        }
        assert_eq!(rounded(f32::NEG_INFINITY), f32::NEG_INFINITY);
        assert!(rounded(f32::NAN).is_nan());
        assert_eq!(rounded(-1e-30).to_bits(), (-0.0f32).to_bits());
    }

    #[test]
    fn sixteen_bits_each() {
        assert_eq!((F16.update_bits(10), F16.model_bits(10)), (160.0, 160.0));
    }
}
