//! A pendulum to be swung up and held: the dynamics, reward and start of Gymnasium's `Pendulum-v1`, and an agent that
//! learns it. Also used by the example that draws the learning curve.

use std::f64::consts::PI;

use aerofed::seed::{Random, Stream, stream};
use aerofed::solve::replay::Transition;
use aerofed::solve::td3::{Settings, Td3, Td3Error};
use rand::RngExt;

/// Steps of an episode. It is cut short then, not done.
const EPISODE: usize = 200;
/// Steps with random actions before the policy takes over.
const RANDOM_STEPS: usize = 1000;

/// A rod of 1 m and 1 kg on a pivot, from 0 = upright. `libm` makes learning curves the same on every platform.
struct Pendulum {
    angle_rad: f64,
    speed_rad_s: f64,
}

impl Pendulum {
    fn new(rng: &mut Random) -> Self {
        Self {
            angle_rad: rng.random_range(-PI..PI),
            speed_rad_s: rng.random_range(-1.0..1.0),
        }
    }

    fn state(&self) -> Vec<f32> {
        let (sine, cosine) = libm::sincos(self.angle_rad);
        vec![cosine as f32, sine as f32, self.speed_rad_s as f32]
    }

    /// Applies a torque for 50 ms and returns the reward.
    fn step(&mut self, torque_nm: f64) -> f64 {
        let torque = torque_nm.clamp(-2.0, 2.0);
        let off = (self.angle_rad + PI).rem_euclid(2.0 * PI) - PI;
        let cost = off * off + 0.1 * self.speed_rad_s * self.speed_rad_s + 0.001 * torque * torque;
        let acceleration = 15.0 * libm::sin(self.angle_rad) + 3.0 * torque;
        self.speed_rad_s = (self.speed_rad_s + 0.05 * acceleration).clamp(-8.0, 8.0);
        self.angle_rad += 0.05 * self.speed_rad_s;
        -cost
    }
}

/// Mean return of the policy over `episodes` episodes, the same ones each time it is asked with that seed.
pub(crate) fn evaluate(agent: &mut Td3, seed: u64, episodes: u64) -> Result<f64, Td3Error> {
    let mut total = 0.0;
    for episode in 0..episodes {
        let mut pendulum = Pendulum::new(&mut stream(seed, Stream::Layout, 0, episode));
        for _ in 0..EPISODE {
            let action = agent.act(&pendulum.state())?;
            total += pendulum.step(f64::from(action[0]));
        }
    }
    Ok(total / episodes as f64)
}

fn settings(width: usize) -> Settings {
    Settings {
        hidden: vec![width; 2],
        action_low: -2.0,
        action_high: 2.0,
        actor_learning_rate: 1e-3,
        critic_learning_rate: 1e-3,
        batch_size: 128,
        learning_starts: RANDOM_STEPS,
        ..Settings::default()
    }
}

/// Learns for `steps` steps with two hidden layers of `width` units, one update each once there are enough. Shows
/// the agent to `every_1000` so often.
pub(crate) fn learn(
    width: usize,
    seed: u64,
    steps: usize,
    mut every_1000: impl FnMut(usize, &mut Td3) -> Result<(), Td3Error>,
) -> Result<Td3, Td3Error> {
    let mut rng = stream(seed, Stream::Association, 0, 0);
    let mut agent = Td3::new(settings(width), 3, 1, &mut rng)?;
    let mut pendulum = Pendulum::new(&mut rng);
    for step in 1..=steps {
        let state = pendulum.state();
        let action = if step <= RANDOM_STEPS {
            agent.random_action(&mut rng)
        } else {
            agent.explore(&state, &mut rng)?
        };
        let reward = pendulum.step(f64::from(action[0])) as f32;
        let next_state = pendulum.state();
        agent.remember(&Transition {
            state,
            action,
            reward,
            next_state,
            done: false,
        })?;
        agent.update(&mut rng)?;
        if step % EPISODE == 0 {
            pendulum = Pendulum::new(&mut rng);
        }
        if step % 1000 == 0 {
            every_1000(step, &mut agent)?;
        }
    }
    Ok(agent)
}
