//! The native half of the Python package `aerofed`: the classes and functions that `python/aerofed` is written with.

mod batch;
mod compare;
mod csv;
mod environment;
mod errors;
mod json;
mod model;
mod numbers;
mod parts;
mod plans;
mod round;
mod run;
mod scenario;
mod set_up;
mod simulation;
mod sweep;
mod table;

use pyo3::prelude::*;

/// What the Python half of the package is built on; not for use by itself.
#[pymodule]
mod _aerofed {
    #[pymodule_export]
    use crate::compare::{NativeComparison, compare};
    #[pymodule_export]
    use crate::environment::NativeEnvironments;
    #[pymodule_export]
    use crate::plans::{allocate, deploy};
    #[pymodule_export]
    use crate::round::Round;
    #[pymodule_export]
    use crate::run::{NativeRun, load_run};
    #[pymodule_export]
    use crate::scenario::{NativeScenario, defaults, meant, methods, scenarios};
    #[pymodule_export]
    use crate::set_up::NativeMethod;
    #[pymodule_export]
    use crate::simulation::NativeSimulation;
    #[pymodule_export]
    use crate::sweep::{NativeSweep, sweep};
    #[pymodule_export]
    use crate::table::NativeTable;

    #[pymodule_export]
    const VERSION: &str = aerofed::VERSION;
}
