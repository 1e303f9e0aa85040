//! The short example does what it says.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../examples/compare.rs"]
mod compare;

#[test]
fn the_short_example_runs() {
    compare::main().unwrap();
}
