//! The examples do what they say.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../examples/compare.rs"]
mod compare;
#[path = "../examples/draw_flights.rs"]
#[allow(dead_code, reason = "its main prints")]
mod draw_flights;

#[test]
fn the_short_example_runs() {
    compare::main().unwrap();
}

#[test]
fn the_experiment_about_flights_is_as_it_was_drawn() {
    let text = aerofed_experiment::built_in::named("flights").unwrap();
    assert!(draw_flights::draw(20) == text, "draw it again");
}
