//! Runs thousands of rounds at small scale and watches the memory: `cargo run --release --example soak -- 5000`.
//! Everything is in it that a round can hold: bandwidth optimised, UAVs that leave, charge, return and redeploy,
//! devices that move. Fails when the second half of the run takes noticeably more memory than the first.
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::error::Error;
use std::time::Instant;

use aerofed::run_folder::RunFolder;
use aerofed::{Method, Scenario, Simulation};

const SCENARIO: &str = r#"
name = "soak"
allocation = { kind = "p1" }
[devices]
count = 20
[uavs]
# Little more than the way home takes, and links that keep everybody hovering for seconds: somebody is always low.
battery_j = 172000
recharge_w = 5000
bandwidth_up_hz = [2e4, 1e5]
[data]
data_volume = 200
[model]
name = "logistic"
[redeploy]
method = "two_stage"
[training]
max_edge_rounds = 2
[stop]
max_rounds = 10000000
"#;

const LINES: usize = 10;
/// Allocators keep what they were given: so much may come and go.
const SLACK_KIB: u64 = 2_048;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let rounds: usize = arguments.next().map_or(Ok(5_000), |text| text.parse())?;
    let settings: Vec<String> = arguments.collect();
    let scenario = Scenario::parse(SCENARIO, &settings)?.check()?;
    let mut method = Method::of(&scenario)?;
    let mut simulation = Simulation::builder(&scenario).threads(1).build()?;
    let out = std::env::temp_dir().join(format!("aerofed-soak-{}", std::process::id()));
    let mut folder = RunFolder::create(&out, &scenario, false)?;

    println!(
        "{:>8} {:>10} {:>12} {:>10} {:>8}",
        "rounds", "rounds/s", "clock_s", "events", "RSS_KiB"
    );
    let (started, mut events, mut resident_kib) = (Instant::now(), 0, Vec::new());
    for round in 1..=rounds {
        let Some(record) = simulation.step(&mut method)? else {
            println!("no UAV left after {} rounds", round - 1);
            break;
        };
        events += record.events.len();
        // Written and forgotten: a run that is to be plotted would keep its records.
        folder.append(&record)?;
        if round % rounds.div_ceil(LINES) == 0 || round == rounds {
            resident_kib.push(resident()?);
            println!(
                "{round:>8} {:>10.0} {:>12.0} {events:>10} {:>8}",
                round as f64 / started.elapsed().as_secs_f64(),
                record.clock_s,
                resident()?
            );
        }
    }
    folder.discard();
    if events == 0 {
        return Err("nothing ever happened: too few rounds to say anything".into());
    }
    let (first, second) = resident_kib.split_at(resident_kib.len() / 2);
    let most = |half: &[u64]| half.iter().copied().max().unwrap_or_default();
    if most(second) > most(first) + SLACK_KIB {
        return Err(format!("memory grew from {} to {} KiB", most(first), most(second)).into());
    }
    println!("memory is flat");
    Ok(())
}

/// What the process has in memory, KiB; 0 where the system does not say.
fn resident() -> Result<u64, Box<dyn Error>> {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else {
        return Ok(0);
    };
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    Ok(line.map_or(Ok(0), |text| text.trim().trim_end_matches(" kB").parse())?)
}
