//! Numbers among arguments, refused in the words of the command line.

use std::fmt::Display;
use std::ops::RangeInclusive;

use pyo3::prelude::*;

use crate::errors::refuse;

/// The seeds there are: a TOML file holds no larger one.
pub(crate) const SEEDS: RangeInclusive<i64> = 0..=i64::MAX;

/// What `threads` and `jobs` may be.
pub(crate) const THREADS: RangeInclusive<i64> = 1..=1024;

/// What `checkpoint_every` may be.
pub(crate) const CHECKPOINT_EVERY: RangeInclusive<i64> = 0..=10_000_000;

fn within<T: PartialOrd + Display>(
    name: &str,
    value: &T,
    allowed: &RangeInclusive<T>,
    kind: &str,
) -> PyResult<()> {
    if allowed.contains(value) {
        return Ok(());
    }
    let (least, most) = (allowed.start(), allowed.end());
    Err(refuse(format!(
        "`{name}` is {value}, allowed: a {kind} from {least} to {most}"
    )))
}

/// A whole number, 0 or more, of a range.
pub(crate) fn whole(name: &str, value: i64, allowed: RangeInclusive<i64>) -> PyResult<usize> {
    within(name, &value, &allowed, "whole number")?;
    usize::try_from(value).map_err(refuse)
}

/// A number of a range.
pub(crate) fn number(name: &str, value: f64, allowed: RangeInclusive<f64>) -> PyResult<f64> {
    within(name, &value, &allowed, "number")?;
    Ok(value)
}

/// A seed.
pub(crate) fn seed(name: &str, value: i64) -> PyResult<u64> {
    whole(name, value, SEEDS).map(|seed| seed as u64)
}

/// So many seeds from the first on.
pub(crate) fn seeds(count: i64, first: i64) -> PyResult<RangeInclusive<u64>> {
    let count = whole("seeds", count, 1..=1_000_000)? as i64;
    let first = whole("first_seed", first, 0..=i64::MAX - count)? as u64;
    Ok(first..=first + count as u64 - 1)
}
