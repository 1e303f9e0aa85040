//! A channel of one's own: Rayleigh fading, drawn anew for every link and round, over a power law.
//!
//! ```text
//! cargo run --release --example own_channel
//! ```
//!
//! Nothing else has to know about it: bandwidth, times, energies and outages follow from what it says.
#![allow(clippy::print_stdout, reason = "an example")]

use aerofed::nature::channel::{Channel, Path};
use aerofed::run::Run;
use aerofed::{Error, Method, Scenario, Simulation};
use rand::RngExt;

/// Gain d^-3, times an exponential draw: the power of a Rayleigh channel.
struct Rayleigh;

impl Channel for Rayleigh {
    fn gain(&self, path: &Path) -> f64 {
        let distance_m = path.ground_distance_m().hypot(path.height_m()).max(1.0);
        // The stream belongs to this link in this round: whoever asks again hears the same.
        let fading = -path.rng().random::<f64>().max(f64::MIN_POSITIVE).ln();
        distance_m.powi(-3) * fading
    }
}

pub(crate) fn main() -> Result<(), Error> {
    let settings = [
        "devices.count=40",
        "data.data_volume=400",
        "model.name=logistic",
        "training.learning_rate=0.05",
        "stop.max_rounds=5",
    ];
    let scenario = Scenario::parse("", &settings)?.check()?;
    for fading in [false, true] {
        let builder = Simulation::builder(&scenario);
        let builder = if fading {
            builder.channel(Rayleigh)
        } else {
            builder
        };
        let mut method = Method::of(&scenario)?;
        let mut run = Run::new(builder.build()?);
        while run.step(&mut method)?.is_some() {}
        let summary = run.finish(&method).summary;
        let name = if fading { "Rayleigh" } else { "power law" };
        println!(
            "{name:>9}: {:.1} % after {:.2} s and {:.2} kJ",
            summary.final_accuracy * 100.0,
            summary.total_time_s,
            summary.total_energy_j / 1e3
        );
    }
    Ok(())
}
