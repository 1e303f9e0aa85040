//! The examples do what they say.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../examples/compare.rs"]
mod compare;
#[path = "../examples/draw_flights.rs"]
#[allow(dead_code, reason = "its main prints")]
mod draw_flights;

use draw_flights::Places;

#[test]
fn the_short_example_runs() {
    compare::main().unwrap();
}

#[test]
fn the_experiments_about_flights_are_as_they_were_drawn() {
    for (name, places) in [
        ("flights", Places::Anywhere),
        ("crowds", Places::Crowds),
        ("few", Places::Few),
    ] {
        let text = aerofed_experiment::built_in::named(name).unwrap();
        assert!(draw_flights::draw(20, places) == text, "draw {name} again");
    }
}
