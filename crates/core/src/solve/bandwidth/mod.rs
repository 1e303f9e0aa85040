//! How many local steps, and who gets which bandwidth: P1, Eqs. (28)-(41), for one UAV's cell in one edge round.
//!
//! With tau(b) = I / (b log2(1 + a / b)) the time to send a model over the band b, a = p g / N0, and
//! W = lambda_4 p_hover + lambda_5,
//!
//! ```text
//! minimise    sum_n [ lambda_4 p_n tau_up(b_n) + lambda_4 p_m tau_down(q_n) + H C_n ]
//!           + W max_n [ tau_up(b_n) + tau_down(q_n) + H t_n ]
//! subject to  sum b_n <= B_up,  sum q_n <= B_down,  b, q > 0.
//! ```
//!
//! [`Solver`] finds the global optimum for given H: three equations in three unknowns (two prices of bandwidth and the completion
//! time), solved by Newton's method in a handful of passes over the devices, each pass O(N). [`palm`] solves the same problem by
//! the augmented Lagrangian, as the paper does. [`allocate`] chooses H as well ([`Objective`]). Every [`Solution`] keeps its
//! budgets and carries its duality gap: the Lagrangian dual at the solver's own multipliers bounds every allocation from below, so
//! a bad answer cannot pass for a good one.
//!
//! Departs from the paper: U_n carries a factor p_n there, though the maximum is a time, not an energy (29); here it is W I.
//!
//! # Example
//! ```
//! use aerofed::solve::{Status, bandwidth::{Cell, CellDevice, Options, allocate}};
//!
//! let near = CellDevice {
//!     snr_up_hz: 1e11,
//!     snr_down_hz: 2e11,
//!     tx_power_w: 0.5,
//!     iteration_time_s: 2e-3,
//!     iteration_energy_j: 5e-3,
//! };
//! let far = CellDevice { snr_up_hz: 1e9, snr_down_hz: 2e9, ..near };
//! let cell = Cell {
//!     energy_weight: 0.5,
//!     time_weight: 0.5,
//!     hover_power_w: 100.0,
//!     bandwidth_up_hz: 6e7,
//!     bandwidth_down_hz: 6e7,
//!     model_bits_up: 698_880.0,
//!     model_bits_down: 698_880.0,
//!     broadcast_power_w: 0.8,
//!     local_iterations: Some(5),
//!     devices: vec![near, far],
//! };
//! let answer = allocate(&cell, &Options::default())?;
//! assert_eq!(answer.status, Status::Solved);
//! assert!(answer.devices[0].bandwidth_up_hz < answer.devices[1].bandwidth_up_hz);
//! assert!(answer.objective < cell.equal_split(5)?.objective);
//! # Ok::<(), aerofed::solve::bandwidth::CellError>(())
//! ```

mod cell;
mod device;
mod dual;
mod exact;
mod iterations;
mod link;
pub mod palm;

pub use crate::vocabulary::{Cell, CellDevice};
pub use cell::{
    CellError, DeviceShare, LEAST_SNR_HZ, LOCAL_ITERATIONS_MAX, MOST_SNR_HZ, Solution,
    transfer_time_s,
};
pub(crate) use exact::SavedSolver;
pub use exact::{GAP_TOLERANCE, Solver};
pub use iterations::{Method, Objective, Options, allocate, best_iterations};
