//! A run set down between two rounds, so that it can be taken up again as if nothing had happened.
//!
//! Random streams are keyed by round and have no state. What else the next round depends on is saved:
//! by the round loop for the world, the model and the books, and by each decision of the
//! method for itself, with [`encode`] and [`decode`].

mod state;

pub use state::{decode, encode, expect_nothing};
