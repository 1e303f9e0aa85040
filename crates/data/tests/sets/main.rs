//! Data sets and how they are dealt out.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod cifar;
mod idx;
mod images;
mod partition;
mod pool;
mod users;
