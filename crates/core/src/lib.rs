//! Federated learning where the aggregators fly.
//!
//! Battery-limited UAVs collect model updates from moving devices, merge them, and hand the result
//! to one of their own. This crate simulates that: it trains real networks and accounts for every
//! second and every joule. Start reading at [`run`](mod@run), the round loop.
//!
//! A module imports only those to its left: [`vocabulary`], [`solve`], [`scenario`], [`nature`], [`world`], [`decide`], [`learn`],
//! [`method`], [`record`], [`run`](mod@run), [`session`].

mod books;
pub mod calibrate;
pub mod checkpoint;
pub mod decide;
pub mod disk;
pub mod environment;
mod error;
mod grid;
pub mod learn;
pub mod method;
pub mod nature;
pub mod pretrain;
pub mod reading;
pub mod record;
pub mod run;
pub mod run_folder;
pub mod scenario;
pub mod seed;
pub mod session;
pub mod solve;
pub mod vocabulary;
pub mod world;

pub use error::Error;
pub use method::Method;
pub use record::{RoundRecord, Summary};
pub use run::{Simulation, run};
pub use scenario::{Scenario, ValidScenario};
pub use vocabulary::geometry;

/// The version of this crate: what it writes says so, and runs of another version are not taken for its own.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The README's examples, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
