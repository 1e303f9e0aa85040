//! What a heap holds: things by a number, the greatest first, of equal ones the first.

use std::cmp::Ordering;

/// A thing, the number it is ranked by, and its place among others.
pub(super) struct Keyed<T> {
    pub(super) key: f64,
    pub(super) place: usize,
    pub(super) thing: T,
}

impl<T> Ord for Keyed<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_key = self.key.total_cmp(&other.key);
        by_key.then(other.place.cmp(&self.place))
    }
}

impl<T> PartialOrd for Keyed<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Keyed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Keyed<T> {}
