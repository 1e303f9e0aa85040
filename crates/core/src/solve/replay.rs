//! A replay buffer: the latest transitions, to be drawn from at random.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::td3::Td3Error;
use crate::seed::Random;

/// One step of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// What the agent saw.
    pub state: Vec<f32>,
    /// What it did.
    pub action: Vec<f32>,
    /// What it got.
    pub reward: f32,
    /// What it saw then.
    pub next_state: Vec<f32>,
    /// Whether nothing can follow: the value of `next_state` is 0. An episode that is only cut short is not done.
    pub done: bool,
}

/// The latest `capacity` transitions; the oldest makes room for the newest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    state_dim: usize,
    action_dim: usize,
    capacity: usize,
    /// Row after row: state, action, next state, reward, 0 where done and else 1.
    rows: Vec<f32>,
    /// The row that the next transition goes to.
    next: usize,
}

/// Transitions drawn together, each part a matrix with a row per transition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// What the agent saw.
    pub states: Vec<f32>,
    /// What it did.
    pub actions: Vec<f32>,
    /// What it saw then.
    pub next_states: Vec<f32>,
    /// What it got.
    pub rewards: Vec<f32>,
    /// 0 where the transition is done, else 1.
    pub continues: Vec<f32>,
}

impl Replay {
    /// An empty buffer; memory comes with the transitions.
    #[must_use]
    pub fn new(state_dim: usize, action_dim: usize, capacity: usize) -> Self {
        Self {
            state_dim,
            action_dim,
            capacity,
            rows: Vec::new(),
            next: 0,
        }
    }

    fn width(&self) -> usize {
        2 * self.state_dim + self.action_dim + 2
    }

    /// Transitions held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len() / self.width()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a transition, in place of the oldest if there is no room.
    ///
    /// # Errors
    /// When a part has the wrong length or a value that is not finite: one of them would spoil every weight.
    pub fn push(&mut self, transition: &Transition) -> Result<(), Td3Error> {
        let Transition {
            state,
            action,
            reward,
            next_state,
            done,
        } = transition;
        check_values("state", state, self.state_dim)?;
        check_values("action", action, self.action_dim)?;
        check_values("next_state", next_state, self.state_dim)?;
        check_values("reward", &[*reward], 1)?;
        let last = [*reward, if *done { 0.0 } else { 1.0 }];
        let row = [state, action, next_state, last.as_slice()];
        let at = self.next * self.width();
        if at == self.rows.len() {
            row.iter()
                .for_each(|part| self.rows.extend_from_slice(part));
        } else {
            for (to, value) in self.rows[at..].iter_mut().zip(row.into_iter().flatten()) {
                *to = *value;
            }
        }
        self.next = (self.next + 1) % self.capacity;
        Ok(())
    }

    /// Fills `batch` with `count` transitions, each drawn from all; with none held, it stays empty.
    pub fn sample(&self, count: usize, rng: &mut Random, batch: &mut Batch) {
        batch.clear();
        if self.is_empty() {
            return;
        }
        for _ in 0..count {
            let at = rng.random_range(0..self.len());
            let row = &self.rows[at * self.width()..][..self.width()];
            let (state, row) = row.split_at(self.state_dim);
            let (action, row) = row.split_at(self.action_dim);
            let (next_state, last) = row.split_at(self.state_dim);
            batch.states.extend_from_slice(state);
            batch.actions.extend_from_slice(action);
            batch.next_states.extend_from_slice(next_state);
            batch.rewards.push(last[0]);
            batch.continues.push(last[1]);
        }
    }

    /// Whether it holds what [`Replay::new`] and [`Replay::push`] could have made, as one that was read from a file
    /// may not.
    pub(super) fn is_sound(&self, state_dim: usize, action_dim: usize, capacity: usize) -> bool {
        let same =
            (self.state_dim, self.action_dim, self.capacity) == (state_dim, action_dim, capacity);
        same && self.rows.len().is_multiple_of(self.width())
            && self.len() <= capacity
            && (self.next == self.len() || self.len() == capacity && self.next < capacity)
    }
}

impl Batch {
    fn clear(&mut self) {
        let Self {
            states,
            actions,
            next_states,
            rewards,
            continues,
        } = self;
        for part in [states, actions, next_states, rewards, continues] {
            part.clear();
        }
    }
}

/// Refuses a vector of the wrong length or with a value that is not finite.
pub(super) fn check_values(
    what: &'static str,
    values: &[f32],
    expected: usize,
) -> Result<(), Td3Error> {
    if values.len() != expected {
        let actual = values.len();
        return Err(Td3Error::Length {
            what,
            expected,
            actual,
        });
    }
    match values.iter().find(|value| !value.is_finite()) {
        Some(&value) => Err(Td3Error::NotFinite { what, value }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn numbered(number: f32) -> Transition {
        Transition {
            state: vec![number, number + 0.1],
            action: vec![number + 0.2],
            reward: number + 0.3,
            next_state: vec![number + 0.4, number + 0.5],
            done: number % 2.0 == 0.0,
        }
    }

    #[test]
    fn the_oldest_makes_room_and_parts_stay_together() {
        let mut replay = Replay::new(2, 1, 3);
        let (mut rng, mut batch) = (Random::seed_from_u64(1), Batch::default());
        replay.sample(5, &mut rng, &mut batch);
        assert_eq!(batch, Batch::default());
        for number in 0..5 {
            replay.push(&numbered(number as f32)).unwrap();
            assert_eq!(replay.len(), (number + 1).min(3));
            assert!(replay.is_sound(2, 1, 3) && !replay.is_sound(2, 1, 4));
        }
        replay.sample(300, &mut rng, &mut batch);
        let mut seen = [0; 5];
        for row in 0..300 {
            let number = batch.states[2 * row];
            seen[number as usize] += 1;
            let expected = numbered(number);
            assert_eq!(batch.states[2 * row..2 * row + 2], expected.state);
            assert_eq!(batch.actions[row..=row], expected.action);
            assert_eq!(batch.next_states[2 * row..2 * row + 2], expected.next_state);
            assert_eq!(batch.rewards[row], expected.reward);
            assert_eq!(batch.continues[row], f32::from(u8::from(!expected.done)));
        }
        assert_eq!(seen[..2], [0, 0]);
        // 100 expected, standard deviation 8.2.
        assert!(
            seen[2..].iter().all(|count| (60..140).contains(count)),
            "{seen:?}"
        );
    }

    #[test]
    fn what_would_spoil_the_weights_is_refused() {
        let mut replay = Replay::new(2, 1, 3);
        let short = Transition {
            next_state: vec![0.0],
            ..numbered(1.0)
        };
        let message = replay.push(&short).unwrap_err().to_string();
        assert_eq!(message, "`next_state` has 1 values, 2 are needed");
        let endless = Transition {
            reward: f32::NEG_INFINITY,
            ..numbered(1.0)
        };
        let message = replay.push(&endless).unwrap_err().to_string();
        assert_eq!(message, "`reward` holds -inf: every value must be finite");
        assert!(replay.is_empty());
    }
}
