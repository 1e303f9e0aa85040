//! Who gets which bandwidth.

mod cell;
mod dual;
mod exact;
mod iterations;
mod link;
pub mod palm;

pub use cell::{
    Cell, CellDevice, CellError, DeviceShare, LOCAL_ITERATIONS_MAX, Solution, transfer_time_s,
};
pub use exact::{GAP_TOLERANCE, Solver};
pub use iterations::{Method, Objective, Options, allocate, best_iterations};
