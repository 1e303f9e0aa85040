//! The short examples do what they say.

#[path = "../../examples/custom_method.rs"]
mod custom_method;
#[path = "../../examples/plan.rs"]
mod plan;
#[path = "../../examples/run.rs"]
mod run;

#[test]
fn the_short_examples_run() {
    custom_method::main().unwrap();
    plan::main().unwrap();
    run::main().unwrap();
}
