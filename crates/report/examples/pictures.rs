//! Runs the quick start and leaves its pictures in a folder:
//! `cargo run --release -p aerofed-report --example pictures -- FOLDER [path=value]...`

use std::error::Error;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use aerofed::scenario::QUICKSTART;
use aerofed::{Method, Scenario};
use aerofed_report::{map_svg, progress_svg, summary_table};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("which folder?")?);
    let settings: Vec<String> = arguments.collect();
    let scenario = Scenario::parse(QUICKSTART, &settings)?.check()?;
    let mut method = Method::of(&scenario)?;
    let outcome = aerofed::run(&scenario, &mut method, |_| ControlFlow::Continue(()))?;

    std::fs::create_dir_all(&folder)?;
    let progress = progress_svg(&outcome.summary, &outcome.records);
    std::fs::write(folder.join("progress.svg"), progress)?;
    if let Some(last) = outcome.records.last() {
        let map = map_svg(&outcome.world, last, scenario.places());
        std::fs::write(folder.join("map.svg"), map)?;
    }
    let table = summary_table(&outcome.summary);
    Ok(std::io::stdout().write_all(table.as_bytes())?)
}
