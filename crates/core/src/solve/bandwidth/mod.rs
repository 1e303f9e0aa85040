//! Who gets which bandwidth.

mod cell;
mod dual;
mod exact;
mod link;

pub use cell::{Cell, CellDevice, CellError, DeviceShare, LOCAL_ITERATIONS_MAX, Solution, transfer_time_s};
pub use exact::{GAP_TOLERANCE, Solver};
