//! Mobility of one's own: everybody drifts north-east with the wind between rounds, and stays at the border. Devices that move
//! all the time, and may leave a cell in the middle of a round, implement `Walk` instead (`nature::mobility`).
//!
//! ```text
//! cargo run --release --example own_mobility
//! ```
#![allow(clippy::print_stdout, reason = "an example")]

use aerofed::geometry::Point;
use aerofed::nature::mobility::{Mobility, Surroundings};
use aerofed::seed::Random;
use aerofed::{Error, Method, Scenario, Simulation};
use rand::RngExt;

/// Metres from one global round to the next.
struct Drift {
    east_m: f64,
    north_m: f64,
}

impl Mobility for Drift {
    fn next(&self, at: Point, around: &Surroundings, rng: &mut Random) -> Point {
        // Its own stream for every device and round.
        let haste = 0.5 + rng.random::<f64>();
        Point::new(
            (at.x_m + haste * self.east_m).min(around.width_m),
            (at.y_m + haste * self.north_m).min(around.height_m),
        )
    }
}

pub(crate) fn main() -> Result<(), Error> {
    let settings = [
        "devices.count=60",
        "data.data_volume=300",
        "model.name=logistic",
    ];
    let scenario = Scenario::parse("", &settings)?.check()?;
    let mut method = Method::of(&scenario)?;
    let mut simulation = Simulation::builder(&scenario)
        .mobility(Drift {
            east_m: 2_000.0,
            north_m: 1_000.0,
        })
        .build()?;
    for _ in 0..6 {
        let Some(record) = simulation.step(&mut method)? else {
            break;
        };
        let devices = &simulation.world().devices.position;
        let east_m = devices.iter().map(|at| at.x_m).sum::<f64>() / devices.len() as f64;
        println!(
            "round {}: {} of {} devices covered, {:.1} km from the western border on average",
            record.round,
            record.covered,
            devices.len(),
            east_m / 1e3
        );
    }
    Ok(())
}
