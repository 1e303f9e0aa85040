//! Making counts fit the classes without giving any device a label it does not have.

use std::collections::VecDeque;

use super::deal::Counts;

/// Moves samples between the labels of a device until no class is asked for more than it has.
/// A device keeps its size and its labels (at least one sample of each). Says whether that was
/// possible.
///
/// Classes are the nodes of a graph; a device that holds labels a and b can turn samples of a
/// into samples of b. Each overdrawn class is relieved along the shortest such way to a class
/// with room.
pub(super) fn fit_to_pools(counts: &mut Counts, available: &[usize]) -> bool {
    let classes = available.len();
    let mut used = vec![0; classes];
    for device in counts.iter() {
        for (used, count) in used.iter_mut().zip(device) {
            *used += count;
        }
    }
    while let Some(start) = (0..classes).find(|&class| used[class] > available[class]) {
        let Some(way) = way_to_room(counts, &used, available, start) else {
            return false;
        };
        let Some(end) = way.last().map(|step| step.to) else {
            return false;
        };
        let by_steps = way.iter().map(|step| counts[step.device][step.from] - 1);
        let movable = by_steps.min().unwrap_or(0);
        let amount = movable
            .min(used[start] - available[start])
            .min(available[end] - used[end]);
        for step in way {
            counts[step.device][step.from] -= amount;
            counts[step.device][step.to] += amount;
        }
        used[start] -= amount;
        used[end] += amount;
    }
    true
}

/// A device that turns samples of one class into samples of another.
#[derive(Clone, Copy)]
struct Step {
    device: usize,
    from: usize,
    to: usize,
}

/// The shortest way from an overdrawn class to one with room; breadth first.
fn way_to_room(
    counts: &Counts,
    used: &[usize],
    available: &[usize],
    start: usize,
) -> Option<Vec<Step>> {
    let classes = available.len();
    let mut reached_by: Vec<Option<Step>> = vec![None; classes];
    let mut queue = VecDeque::from([start]);
    while let Some(from) = queue.pop_front() {
        if used[from] < available[from] {
            let mut way = Vec::new();
            let mut at = from;
            while let Some(step) = reached_by[at] {
                way.push(step);
                at = step.from;
            }
            way.reverse();
            return Some(way);
        }
        for (device, held) in counts.iter().enumerate() {
            if held[from] < 2 {
                continue;
            }
            for to in 0..classes {
                if held[to] > 0 && to != start && reached_by[to].is_none() {
                    reached_by[to] = Some(Step { device, from, to });
                    queue.push_back(to);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_devices_relieves_an_overdrawn_class() {
        // Class 0 is overdrawn by 2; only class 2 has room, reached over class 1.
        let mut counts = vec![vec![5, 5, 0], vec![0, 5, 5]];
        assert!(fit_to_pools(&mut counts, &[3, 10, 9]));
        assert_eq!(counts, [vec![3, 7, 0], vec![0, 3, 7]]);
    }

    #[test]
    fn labels_stay_and_the_impossible_is_said() {
        let mut counts = vec![vec![5, 5, 0]];
        assert!(!fit_to_pools(&mut counts, &[0, 20, 20]));
        let mut counts = vec![vec![5, 5, 0]];
        assert!(!fit_to_pools(&mut counts, &[4, 5, 20]));
    }
}
