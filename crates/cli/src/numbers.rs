//! Numbers on the command line, refused in words.

use std::ops::RangeInclusive;

/// Reads a whole number of a range.
pub(crate) fn whole<T: TryFrom<u64>>(
    allowed: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.trim().parse().ok();
        let number = number.filter(|number| allowed.contains(number));
        let read = number.and_then(|number| T::try_from(number).ok());
        read.ok_or_else(|| {
            let (least, most) = (allowed.start(), allowed.end());
            format!("allowed: a whole number from {least} to {most}")
        })
    }
}

/// Reads a number of a range.
pub(crate) fn number(
    allowed: RangeInclusive<f64>,
) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.trim().parse().ok();
        number
            .filter(|number| allowed.contains(number))
            .ok_or_else(|| {
                let (least, most) = (allowed.start(), allowed.end());
                format!("allowed: a number from {least} to {most}")
            })
    }
}

/// Reads a number of seeds.
pub(crate) fn seed_count(text: &str) -> Result<u64, String> {
    whole(1..=1_000_000)(text)
}

/// Reads a seed: a TOML file holds no larger one.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    whole(0..=i64::MAX as u64)(text)
}

/// Reads over how many rounds accuracies are averaged.
pub(crate) fn smooth_rounds(text: &str) -> Result<usize, String> {
    whole(1..=1_000)(text)
}

/// Reads a number of global rounds: what a scenario may ask for.
pub(crate) fn rounds(text: &str) -> Result<u64, String> {
    whole(1..=10_000_000)(text)
}
