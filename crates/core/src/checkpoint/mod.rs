//! A run set down between two rounds, so that it can be taken up again as if nothing had happened.
//!
//! Random streams are keyed by round and have no state. What else the next round depends on is saved:
//! by [`Run`](crate::run::Run) for the world, the model and the books, and by each decision of the
//! method for itself, with [`encode`] and [`decode`]. A [`Session`](crate::session::Session) keeps the bytes on disk.

mod file;
mod state;
mod store;

pub use file::{Fingerprint, Flaw, open, seal};
pub use state::{decode, encode, expect_nothing};
pub use store::list;
pub(crate) use store::{Checkpoints, remove_all, round_of};
