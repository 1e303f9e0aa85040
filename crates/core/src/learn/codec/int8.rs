//! Eight bits a number.

use super::Codec;

/// Each block of 256 numbers as whole numbers from -127 to 127, and one scale in single precision: its largest number over 127.
/// Rounded to nearest, ties to even.
#[derive(Clone, Copy, Debug)]
pub struct Int8 {
    /// Whether senders add to their next update what did not arrive of the last.
    pub error_feedback: bool,
}

const BLOCK: usize = 256;
const SCALE_BITS: f64 = 32.0;
/// The largest whole number.
const MOST: f32 = 127.0;
/// Numbers of this size are 1 apart: what is added to it is rounded to a whole number.
const ROUNDING: f32 = 12_582_912.0;

impl Codec for Int8 {
    fn update_bits(&self, parameters: usize) -> f64 {
        self.model_bits(parameters)
    }

    fn model_bits(&self, parameters: usize) -> f64 {
        8.0 * parameters as f64 + SCALE_BITS * parameters.div_ceil(BLOCK) as f64
    }

    fn send_update(&mut self, update: &mut [f32]) {
        self.send_model(update);
    }

    fn send_model(&mut self, model: &mut [f32]) {
        model.chunks_mut(BLOCK).for_each(send_block);
    }

    fn has_error_feedback(&self) -> bool {
        self.error_feedback
    }
}

/// A block with a number that is not finite has such a scale, and nothing of it arrives as a finite number.
fn send_block(block: &mut [f32]) {
    // Sizes are ordered as their bits are, with what is not finite above all.
    let sizes = block.iter().map(|value| value.to_bits() & i32::MAX as u32);
    let scale = f32::from_bits(sizes.fold(0, u32::max)) / MOST;
    if scale == 0.0 {
        block.fill(0.0);
        return;
    }
    for value in block {
        let whole = (*value / scale + ROUNDING) - ROUNDING;
        *value = whole.clamp(-MOST, MOST) * scale;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(values: &[f32]) -> Vec<f32> {
        let mut values = values.to_vec();
        let mut codec = Int8 {
            error_feedback: true,
        };
        codec.send_update(&mut values);
        values
    }

    /// By hand: the largest is 254, so the scale is 2. 3 / 2 = 1.5 and 5 / 2 = 2.5 are ties, which go to 2.
    #[test]
    fn a_block_worked_by_hand() {
        let values = [254.0, -254.0, 3.0, 5.0, -1.0, 0.9, 7.2, 0.0];
        assert_eq!(sent(&values), [254.0, -254.0, 4.0, 4.0, 0.0, 0.0, 8.0, 0.0]);
    }

    #[test]
    fn blocks_have_scales_of_their_own() {
        let mut values = vec![127.0; 256];
        values.extend([0.5, 1.27]);
        let arrived = sent(&values);
        assert_eq!(arrived[..256], values[..256]);
        assert!((arrived[256] - 0.5).abs() <= 0.005 && (arrived[257] - 1.27).abs() < 1e-6);
    }

    /// No number is off by more than half a step.
    #[test]
    fn errors_are_at_most_half_a_step() {
        let values: Vec<f32> = (0..1000)
            .map(|i| ((i * 7919 % 1000) as f32 - 500.0) / 37.0)
            .collect();
        for (block, arrived) in values.chunks(256).zip(sent(&values).chunks(256)) {
            let step = block.iter().fold(0f32, |most, v| most.max(v.abs())) / 127.0;
            for (value, arrived) in block.iter().zip(arrived) {
                assert!((value - arrived).abs() <= 0.5001 * step);
            }
        }
    }

    #[test]
    fn extremes_make_no_nonsense_and_what_is_no_number_is_seen() {
        assert_eq!(sent(&[0.0, -0.0]), [0.0, 0.0]);
        assert_eq!(sent(&[1e-45, -1e-45]), [0.0, 0.0]);
        assert_eq!(sent(&[2f32.powi(127), 1.0])[1], 0.0);
        assert!((sent(&[-3e38])[0] / -3e38 - 1.0).abs() < 1e-6);
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut values = vec![1.0; 300];
            values[7] = odd;
            let arrived = sent(&values);
            assert!(arrived[..256].iter().all(|value| !value.is_finite()));
            assert!(arrived[256..].iter().all(|value| *value == 1.0));
        }
    }

    #[test]
    fn eight_bits_each_and_a_scale_for_each_block() {
        let codec = Int8 {
            error_feedback: true,
        };
        assert_eq!(codec.update_bits(256), 8.0 * 256.0 + 32.0);
        assert_eq!(codec.model_bits(257), 8.0 * 257.0 + 64.0);
    }
}
