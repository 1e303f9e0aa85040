//! TD3 against a task it is known to solve: returns near -150 are published for a pendulum that swings up and stays.
#![allow(clippy::unwrap_used, reason = "tests")]

mod pendulum;

/// An untrained policy gets about -1400.
#[test]
fn swings_up_a_pendulum() {
    for seed in 1..=3 {
        let mut agent = pendulum::learn(64, seed, 20_000, |_, _| Ok(())).unwrap();
        let mean_return = pendulum::evaluate(&mut agent, seed, 20).unwrap();
        assert!(mean_return > -200.0, "seed {seed}: {mean_return}");
    }
}
