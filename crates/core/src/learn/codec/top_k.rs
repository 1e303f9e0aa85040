//! The largest numbers alone.

use super::Codec;

/// Of an update, the `fraction` of largest size; the others arrive as 0. With each number goes its place, or a bit for every
/// place says whether it is there, whichever is less. Models are sent whole, in single precision: small weights are not nothing.
#[derive(Clone, Debug)]
pub struct TopK {
    fraction: f64,
    error_feedback: bool,
    /// Of the update at hand.
    sizes: Vec<u32>,
}

const VALUE_BITS: f64 = 32.0;

impl TopK {
    /// `fraction` of an update's numbers, rounded up, at least one. With `error_feedback`, senders add to their next update
    /// what did not arrive of the last.
    #[must_use]
    pub fn new(fraction: f64, error_feedback: bool) -> Self {
        Self {
            fraction,
            error_feedback,
            sizes: Vec::new(),
        }
    }

    /// k.
    fn kept(&self, parameters: usize) -> usize {
        let kept = (self.fraction * parameters as f64).ceil() as usize;
        kept.clamp(1.min(parameters), parameters)
    }
}

impl Codec for TopK {
    fn update_bits(&self, parameters: usize) -> f64 {
        let kept = self.kept(parameters) as f64;
        // A place among n is a number from 0 to n - 1.
        let place_bits = usize::BITS - parameters.saturating_sub(1).leading_zeros();
        let places = kept * f64::from(place_bits);
        kept * VALUE_BITS + places.min(parameters as f64)
    }

    fn model_bits(&self, parameters: usize) -> f64 {
        VALUE_BITS * parameters as f64
    }

    fn send_update(&mut self, update: &mut [f32]) {
        let kept = self.kept(update.len());
        if kept == update.len() {
            return;
        }
        // Sizes are ordered as their bits are, with what is not finite above all: it is sent.
        let size = |value: f32| value.to_bits() & i32::MAX as u32;
        self.sizes.clear();
        self.sizes.extend(update.iter().map(|value| size(*value)));
        let (_, least, larger) = self.sizes.select_nth_unstable(update.len() - kept);
        let least = *least;
        let larger = larger.iter().filter(|size| **size > least).count();
        // Of several as large as the least one, the first.
        let mut room = kept - larger;
        for value in update {
            let size = size(*value);
            let fits = size > least || (size == least && room > 0);
            if size == least && room > 0 {
                room -= 1;
            }
            if !fits {
                *value = 0.0;
            }
        }
    }

    fn send_model(&mut self, _: &mut [f32]) {}

    fn has_error_feedback(&self) -> bool {
        self.error_feedback
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(fraction: f64, values: &[f32]) -> Vec<f32> {
        let mut values = values.to_vec();
        TopK::new(fraction, true).send_update(&mut values);
        values
    }

    #[test]
    fn the_largest_arrive_and_of_equals_the_first() {
        let values = [0.5, -3.0, 2.0, 0.0, -2.0, 2.0, 1.0, -0.25];
        assert_eq!(
            sent(0.25, &values),
            [0.0, -3.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        );
        // 0.3 * 8 = 2.4, so three.
        assert_eq!(
            sent(0.3, &values),
            [0.0, -3.0, 2.0, 0.0, -2.0, 0.0, 0.0, 0.0]
        );
        assert_eq!(sent(1.0, &values), values);
        assert_eq!(sent(1e-6, &values)[1], -3.0);
        assert_eq!(sent(0.5, &[1.0; 4]), [1.0, 1.0, 0.0, 0.0]);
        assert!(sent(0.5, &[]).is_empty());
    }

    #[test]
    fn what_is_no_number_is_sent() {
        let arrived = sent(0.5, &[1e30, f32::NAN, 1.0, f32::NEG_INFINITY]);
        assert!(arrived[1].is_nan() && arrived[3] == f32::NEG_INFINITY);
        assert_eq!((arrived[0], arrived[2]), (0.0, 0.0));
    }

    /// 21840 parameters have places of 15 bits: 219 * (32 + 15) is less than 219 * 32 + 21840. For a tenth of them a bit for every
    /// place is less.
    #[test]
    fn places_or_a_bitmap_whichever_is_less() {
        let bits = |fraction, parameters| TopK::new(fraction, true).update_bits(parameters);
        assert_eq!(bits(0.01, 21_840), 219.0 * 47.0);
        assert_eq!(bits(0.1, 21_840), 2_184.0 * 32.0 + 21_840.0);
        assert_eq!(bits(0.5, 1024), 512.0 * 32.0 + 1024.0);
        assert_eq!(bits(0.001, 1024), 2.0 * (32.0 + 10.0));
        assert_eq!(bits(0.001, 1025), 2.0 * (32.0 + 11.0));
        assert_eq!(bits(0.5, 1), 32.0);
        assert_eq!(TopK::new(0.01, true).model_bits(100), 3_200.0);
    }
}
