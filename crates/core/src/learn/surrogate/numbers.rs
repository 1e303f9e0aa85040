//! Exponentials and logarithms of single precision by plain arithmetic: the same bits on every machine, and loops over them are
//! done several at a time.

/// e to the power x, within 1 in a million; x is taken as between -80 and 80.
#[inline]
pub(super) fn exp(x: f32) -> f32 {
    // Adding and subtracting 1.5 x 2^23 rounds to a whole number.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-80.0, 80.0);
    let twos = (x * std::f32::consts::LOG2_E + ROUND) - ROUND;
    let r = (x - twos * 0.693_359_4) + twos * 2.121_944_4e-4;
    let series = 1.0
        + r * (1.0
            + r * (0.5
                + r * (0.166_666_67 + r * (0.041_666_66 + r * (0.008_333_33 + r * 0.001_388_9)))));
    series * f32::from_bits(((twos as i32 + 127) << 23) as u32)
}

/// The natural logarithm of a positive normal number, within 1 in a million of it or of 1.
#[inline]
pub(super) fn ln(x: f32) -> f32 {
    // x = 2^twos y, with y between 1/sqrt(2) and sqrt(2).
    let bits = x.max(f32::MIN_POSITIVE).to_bits() as i32 - 0x3f35_04f3;
    let twos = (bits >> 23) as f32;
    let y = f32::from_bits(((bits & 0x007f_ffff) + 0x3f35_04f3) as u32);
    // ln y = 2 artanh((y - 1) / (y + 1))
    let z = (y - 1.0) / (y + 1.0);
    let q = z * z;
    let series =
        2.0 * z * (1.0 + q * (0.333_333_34 + q * (0.2 + q * (0.142_857_15 + q * 0.111_111_1))));
    series + twos * std::f32::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_what_the_library_says() {
        for i in -7_900..7_900 {
            let x = i as f32 / 100.0;
            let (ours, exact) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((ours / exact - 1.0).abs() < 2e-6, "{x}: {ours} {exact}");
            let y = exact as f32;
            let (ours, exact) = (f64::from(ln(y)), f64::from(y).ln());
            assert!((ours - exact).abs() < 2e-6 * exact.abs().max(1.0), "{y}");
        }
        assert!(exp(f32::NAN).is_nan());
        assert!(exp(1e9).is_finite() && exp(-1e9) > 0.0);
        assert!(ln(0.0).is_finite());
    }
}
