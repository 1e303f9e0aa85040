//! What will happen when: a priority queue on simulated time.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::vocabulary::UavId;

/// The next event of each UAV. The earliest comes out first; of several at the same moment, that of
/// the lowest UAV id, so that the order never depends on who was put in first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EventQueue<T> {
    waiting: BTreeMap<When, T>,
}

/// When something happens, and to whom.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct When {
    time_s: f64,
    uav: UavId,
}

impl Ord for When {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_time = self.time_s.total_cmp(&other.time_s);
        by_time.then(self.uav.cmp(&other.uav))
    }
}

impl PartialOrd for When {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for When {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for When {}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        Self {
            waiting: BTreeMap::new(),
        }
    }
}

impl<T> EventQueue<T> {
    /// Sets the UAV's next event; one that was waiting is dropped.
    pub(super) fn schedule(&mut self, time_s: f64, uav: UavId, event: T) {
        self.cancel(uav);
        self.waiting.insert(When { time_s, uav }, event);
    }

    /// The earliest event, with its time and UAV.
    pub(super) fn pop(&mut self) -> Option<(f64, UavId, T)> {
        let (when, event) = self.waiting.pop_first()?;
        Some((when.time_s, when.uav, event))
    }

    /// Drops what waits for a UAV.
    pub(super) fn cancel(&mut self, uav: UavId) {
        self.waiting.retain(|when, _| when.uav != uav);
    }

    /// What waits for a UAV.
    pub(super) fn get(&self, uav: UavId) -> Option<&T> {
        let mut waiting = self.waiting.iter();
        waiting
            .find(|(when, _)| when.uav == uav)
            .map(|(_, event)| event)
    }

    /// Everything that waits, with its time and UAV.
    pub(super) fn iter(&self) -> impl Iterator<Item = (f64, UavId, &T)> {
        self.waiting
            .iter()
            .map(|(when, event)| (when.time_s, when.uav, event))
    }

    /// How many UAVs have something waiting.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_ties_go_to_the_lower_id() {
        let mut queue = EventQueue::default();
        for (time_s, uav) in [(3.0, 4), (1.0, 2), (3.0, 0), (0.5, 9), (3.0, 1)] {
            queue.schedule(time_s, UavId(uav), uav * 10);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(
            order,
            [
                (0.5, UavId(9), 90),
                (1.0, UavId(2), 20),
                (3.0, UavId(0), 0),
                (3.0, UavId(1), 10),
                (3.0, UavId(4), 40),
            ]
        );
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn a_uav_has_one_event_and_can_lose_it() {
        let mut queue = EventQueue::default();
        queue.schedule(1.0, UavId(0), 'a');
        queue.schedule(2.0, UavId(0), 'b');
        queue.schedule(3.0, UavId(1), 'c');
        queue.cancel(UavId(1));
        assert_eq!(
            (queue.get(UavId(0)), queue.get(UavId(1))),
            (Some(&'b'), None)
        );
        assert_eq!(queue.pop(), Some((2.0, UavId(0), 'b')));
        assert_eq!(queue.pop(), None);
    }
}
