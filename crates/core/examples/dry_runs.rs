//! How long many dry runs take: the paper's scenario without training, one seed after another, on all cores.
//!
//! ```text
//! cargo run --release --example dry_runs -- 1000 cehfed
//! cargo run --release --example dry_runs -- 1000 cehfed association.kind=td3
//! ```
#![allow(clippy::print_stdout, reason = "an example")]

use std::time::Instant;

use aerofed::learn::DataStore;
use aerofed::run::Run;
use aerofed::{Error, Method, Scenario, Simulation};
use rayon::prelude::*;

/// Accuracy and joules at the end of a run.
fn dry_run(seed: usize, settings: &[String], data: &DataStore) -> Result<(f64, f64), Error> {
    let mut all = vec![format!("seed={seed}"), "learner=surrogate".into()];
    all.extend_from_slice(settings);
    let scenario = Scenario::parse(aerofed::scenario::PAPER, &all)?.check()?;
    let mut method = Method::of(&scenario)?;
    let builder = Simulation::builder(&scenario).threads(1);
    let mut run = Run::new(builder.data(data.get(&scenario)?).build()?);
    while run.step(&mut method)?.is_some() {}
    let summary = run.finish(&method).summary;
    Ok((summary.final_accuracy, summary.total_energy_j))
}

pub(crate) fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let runs = arguments.next().and_then(|text| text.parse().ok());
    let runs: usize = runs.unwrap_or(10);
    let method = arguments.next().unwrap_or_else(|| "cehfed".into());
    let mut settings = vec![format!("method={method}")];
    settings.extend(arguments);
    let (data, start) = (DataStore::new(), Instant::now());
    let ends = (1..=runs).into_par_iter();
    let ends: Vec<(f64, f64)> = ends
        .map(|seed| dry_run(seed, &settings, &data))
        .collect::<Result<_, _>>()?;
    let seconds = start.elapsed().as_secs_f64();
    let mean = |what: fn(&(f64, f64)) -> f64| ends.iter().map(what).sum::<f64>() / runs as f64;
    println!(
        "{runs} dry runs of {method} in {seconds:.1} s, {:.1} ms each on {} threads; {:.1} % and {:.0} J on average",
        1e3 * seconds / runs as f64,
        rayon::current_num_threads(),
        100.0 * mean(|end| end.0),
        mean(|end| end.1),
    );
    Ok(())
}
