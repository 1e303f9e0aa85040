//! The short examples do what they say.

#[path = "../../examples/custom_method.rs"]
mod custom_method;
#[path = "../../examples/own_channel.rs"]
mod own_channel;
#[path = "../../examples/own_learner.rs"]
mod own_learner;
#[path = "../../examples/own_mobility.rs"]
mod own_mobility;
#[path = "../../examples/plan.rs"]
mod plan;
#[path = "../../examples/run.rs"]
mod run;

#[test]
fn the_short_examples_run() {
    custom_method::main().unwrap();
    own_channel::main().unwrap();
    own_learner::main().unwrap();
    own_mobility::main().unwrap();
    plan::main().unwrap();
    run::main().unwrap();
}
